//! Counts of flops in dense operations and of kernel values, for tests of documented costs (feature
//! `count-work`).
//!
//! [`Counted`](crate::Counted) counts the entries evaluated of one matrix. This module counts the
//! work of the **whole process**, in all threads, so that only one measurement can run at a time.
//! Without the feature nothing is counted, and the functions below are empty.
//!
//! # Convention
//! A dense operation is counted where faer is called, or in a loop of this workspace that replaces
//! a call of faer, so that no operation is counted twice: a blocked Cholesky factorisation is the
//! sum of its panels, solves and products. An addition and a multiplication are one flop each, in
//! any precision. The counts are those of G. Golub and C. Van Loan, *Matrix computations*:
//!
//! | operation | flops |
//! |---|---|
//! | product, m × k by k × n | 2mnk |
//! | one triangle, with the diagonal, of a product, m × k by k × m | m(m + 1)k |
//! | triangular solve, n × n for t columns | n²t |
//! | Cholesky factor, n × n | n³/3 |
//! | QR factor R, n × p, n ≥ p; its Qᵀ applied to t columns | 2p²(n − p/3); 2pt(2n − p) |
//! | symmetric eigendecomposition, n × n | 9n³ |
//! | symmetric band (b subdiagonals) to tridiagonal; eigenvalues of the latter | 6n²b; 16n² |
//! | LU factors of such a band; a solve with them | 4nb²; 6nb |
//! | singular values and thin U, n × p, n ≥ p; V as well | 6np² + 11p³; 6np² + 20p³ |
//!
//! Lower-order work on vectors (sums, scalings, norms, the recurrences of conjugate gradients) is
//! not counted. Flops inside a kernel are not counted either; its values are counted as entries. A
//! Gram block counts all its entries, although only one triangle is evaluated and then mirrored.
//!
//! [`side_by_side`] marks pieces of work that can run at the same time, whether or not they do, for
//! the length of the critical path (`span`).
//!
//! ```
//! use faer::{Accum, Mat};
//! use nystrom_linalg_core::{ops, work};
//! let (a, mut b) = (Mat::<f64>::zeros(30, 20), Mat::zeros(30, 10));
//! let x = Mat::zeros(20, 10);
//! let ((), work) =
//!     work::counted(|| ops::matmul(b.as_mut(), Accum::Replace, a.as_ref(), x.as_ref(), 1.0));
//! assert_eq!((work.flops, work.entries), (2 * 30 * 20 * 10, 0));
//! ```

#[cfg(feature = "count-work")]
pub use counters::{Work, counted, for_threads};

/// Collects the spans of pieces of work that can run at the same time; see [`side_by_side`].
#[derive(Debug, Default)]
pub struct Pieces {
    #[cfg(feature = "count-work")]
    longest: std::sync::atomic::AtomicU64,
}

/// Runs `f`, whose [pieces](Pieces::piece) can run at the same time: together they add to the span
/// only the span of the longest piece.
#[inline(always)]
pub fn side_by_side<R>(f: impl FnOnce(&Pieces) -> R) -> R {
    let pieces = Pieces::default();
    let result = f(&pieces);
    #[cfg(feature = "count-work")]
    counters::add(&counters::SPAN, pieces.longest.into_inner());
    result
}

impl Pieces {
    /// Runs `f` as one of the pieces.
    #[inline(always)]
    pub fn piece<R>(&self, f: impl FnOnce() -> R) -> R {
        #[cfg(feature = "count-work")]
        return counters::spanned(&self.longest, f);
        #[cfg(not(feature = "count-work"))]
        f()
    }
}

/// Up to this many threads the piece size is fixed, tuned for one thread.
const FEW_THREADS: usize = 8;

/// The least number of pieces to cut work into, where the cut does not change the bits of the
/// result: the number of threads if that is above 8, otherwise 1.
#[must_use]
pub fn pieces_wanted() -> usize {
    #[cfg(feature = "count-work")]
    let threads = counters::threads();
    #[cfg(not(feature = "count-work"))]
    let threads = rayon::current_num_threads();
    if threads > FEW_THREADS { threads } else { 1 }
}

#[cfg(feature = "count-work")]
mod counters {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    pub(super) static FLOPS: AtomicU64 = AtomicU64::new(0);
    pub(super) static ENTRIES: AtomicU64 = AtomicU64::new(0);
    pub(super) static DIAGONAL: AtomicU64 = AtomicU64::new(0);
    pub(super) static SPAN: AtomicU64 = AtomicU64::new(0);
    static THREADS: AtomicU64 = AtomicU64::new(0);

    /// Counts of work, by the convention of the [module](super).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Work {
        /// Floating-point operations of dense linear algebra.
        pub flops: u64,
        /// Kernel values in blocks.
        pub entries: u64,
        /// Kernel values k(x, x) evaluated outside blocks.
        pub diagonal_entries: u64,
        /// Flops on the critical path: the longest chain of operations that must run one after the
        /// other, whatever the number of threads. Correct only if measured in a pool of one thread.
        pub span: u64,
    }

    /// The result of `f`, and the work of the process while `f` ran.
    pub fn counted<R>(f: impl FnOnce() -> R) -> (R, Work) {
        let counts = || [&FLOPS, &ENTRIES, &DIAGONAL, &SPAN].map(|count| count.load(Relaxed));
        let before = counts();
        let result = f();
        let after = counts();
        let [flops, entries, diagonal_entries, span] =
            std::array::from_fn(|i| after[i].saturating_sub(before[i]));
        (result, Work { flops, entries, diagonal_entries, span })
    }

    /// Runs `f` with its work cut into pieces as for `threads` threads, whatever the size of the
    /// pool.
    pub fn for_threads<R>(threads: usize, f: impl FnOnce() -> R) -> R {
        THREADS.store(threads as u64, Relaxed);
        let result = f();
        THREADS.store(0, Relaxed);
        result
    }

    pub(super) fn threads() -> usize {
        match THREADS.load(Relaxed) {
            0 => rayon::current_num_threads(),
            threads => threads as usize,
        }
    }

    /// Runs `f` as one of several pieces: its span is compared with `longest`, not added to `SPAN`.
    pub(super) fn spanned<R>(longest: &AtomicU64, f: impl FnOnce() -> R) -> R {
        let before = SPAN.load(Relaxed);
        let result = f();
        longest.fetch_max(SPAN.swap(before, Relaxed).saturating_sub(before), Relaxed);
        result
    }

    pub(super) fn add(to: &AtomicU64, count: u64) {
        to.fetch_add(count, Relaxed);
    }
}

/// Adds `count` to one of the counters; empty without the feature.
macro_rules! add {
    ($counter:ident, $count:expr) => {{
        #[cfg(feature = "count-work")]
        counters::add(&counters::$counter, $count);
        #[cfg(not(feature = "count-work"))]
        let _ = $count;
    }};
}

/// Counts `count` flops, also on the critical path.
#[inline(always)]
pub fn flops(count: usize) {
    add!(FLOPS, count as u64);
    add!(SPAN, count as u64);
}

/// Counts a block of rows × cols kernel values.
#[inline(always)]
pub fn entries(rows: usize, cols: usize) {
    add!(ENTRIES, rows as u64 * cols as u64);
}

/// Counts n values k(x, x).
#[inline(always)]
pub fn diagonal_entries(n: usize) {
    add!(DIAGONAL, n as u64);
}

/// Counts a product of m × k by k × n.
#[inline(always)]
pub fn product(m: usize, n: usize, k: usize) {
    flops(2 * m * n * k);
}

/// Counts one triangle, with the diagonal, of a product of m × k by k × m.
#[inline(always)]
pub fn triangle_of_product(m: usize, k: usize) {
    flops(m * (m + 1) * k);
}

/// Counts a triangular solve of order n for t columns.
#[inline(always)]
pub fn triangular_solve(n: usize, t: usize) {
    flops(n * n * t);
}

/// Counts a Cholesky factorisation of order n.
#[inline(always)]
pub fn cholesky(n: usize) {
    flops(n * n * n / 3);
}

/// Counts the factor R in the QR factorisation of an n × p matrix, n ≥ p, and Qᵀ applied to t
/// columns.
#[inline(always)]
pub fn qr(n: usize, p: usize, t: usize) {
    flops(2 * p * p * n - 2 * p * p * p / 3 + 2 * p * t * (2 * n - p));
}

/// Counts a symmetric eigendecomposition of order n, with vectors.
#[inline(always)]
pub fn symmetric_eigen(n: usize) {
    flops(9 * n * n * n);
}

/// Counts the singular values and thin left singular vectors of an n × p matrix or its transpose,
/// and the right singular vectors if `right`.
#[inline(always)]
pub fn svd(n: usize, p: usize, right: bool) {
    let (n, p) = (n.max(p), n.min(p));
    flops(6 * n * p * p + if right { 20 } else { 11 } * p * p * p);
}
