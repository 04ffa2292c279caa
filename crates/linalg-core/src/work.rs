//! What was done, counted: flops of dense operations and values of kernels, for tests of cost
//! claims (feature `count-work`).
//!
//! [`Counted`](crate::Counted) sees what is asked of one matrix. This module sees all that the
//! **whole process** does, whatever thread does it and whoever asks: one measurement at a time.
//! Without the feature there is no count, and the calls below are empty.
//!
//! # Convention
//! A dense operation counts where it is handed to faer, or where a loop of our own stands in for
//! it. So nothing counts twice. A blocked Cholesky factorisation is the sum of its panels,
//! solves and products. An addition and a multiplication are a flop each, in any precision. Counts
//! are those of the textbooks (G. Golub, C. Van Loan, *Matrix computations*):
//!
//! | operation | flops |
//! |---|---|
//! | product, m × k by k × n | 2mnk |
//! | one triangle of a product, m × k by k × m | m(m + 1)k |
//! | triangular solve, n × n for t columns | n²t |
//! | Cholesky factor, n × n | n³/3 |
//! | QR factor R, n × p, n ≥ p; its Qᵀ applied to t columns | 2p²(n − p/3); 2pt(2n − p) |
//! | symmetric eigendecomposition, n × n | 9n³ |
//! | b subdiagonals to one; eigenvalues of one | 6n²b; 16n² |
//! | LU factors of b subdiagonals; a solve | 4nb²; 6nb |
//! | singular values and thin U, n × p, n ≥ p; V as well | 6np² + 11p³; 6np² + 20p³ |
//!
//! Work of lower order on vectors (sums, scalings, norms, the recurrences of conjugate gradients)
//! does not count. Nor does what goes on inside a kernel: its values count as entries. Those of a
//! Gram block count in full, although one triangle is evaluated and mirrored.
//!
//! [`side_by_side`] says what could be done at the same time, whatever does it.
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

/// Pieces that may be done at the same time; see [`side_by_side`].
#[derive(Debug, Default)]
pub struct Pieces {
    #[cfg(feature = "count-work")]
    longest: std::sync::atomic::AtomicU64,
}

/// Runs `f`, whose pieces may be done at the same time: the span of them all is that of the
/// longest.
#[inline(always)]
pub fn side_by_side<R>(f: impl FnOnce(&Pieces) -> R) -> R {
    let pieces = Pieces::default();
    let result = f(&pieces);
    #[cfg(feature = "count-work")]
    counters::add(&counters::SPAN, pieces.longest.into_inner());
    result
}

impl Pieces {
    /// A piece.
    #[inline(always)]
    pub fn piece<R>(&self, f: impl FnOnce() -> R) -> R {
        #[cfg(feature = "count-work")]
        return counters::spanned(&self.longest, f);
        #[cfg(not(feature = "count-work"))]
        f()
    }
}

/// So many threads have fixed pieces, the fastest for one.
const FEW_THREADS: usize = 8;

/// How many pieces are to be offered at least, if that costs no bit. It is the number of threads
/// where that is more than 8.
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

    /// Work done, by the convention of the [module](super).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Work {
        /// Floating-point operations of dense linear algebra.
        pub flops: u64,
        /// Kernel values in blocks.
        pub entries: u64,
        /// Kernel values k(x, x) asked for on their own.
        pub diagonal_entries: u64,
        /// Flops of the longest chain, no two of which can be done at the same time: what is left
        /// with any number of threads. Right in a pool of one thread.
        pub span: u64,
    }

    /// What `f` returns, and the work that the process did meanwhile.
    pub fn counted<R>(f: impl FnOnce() -> R) -> (R, Work) {
        let counts = || [&FLOPS, &ENTRIES, &DIAGONAL, &SPAN].map(|count| count.load(Relaxed));
        let before = counts();
        let result = f();
        let after = counts();
        let [flops, entries, diagonal_entries, span] =
            std::array::from_fn(|i| after[i].saturating_sub(before[i]));
        (result, Work { flops, entries, diagonal_entries, span })
    }

    /// Runs `f` with work cut as for so many threads, whatever the pool has.
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

    /// A piece of several, of which the longest counts.
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

/// That many flops.
#[inline(always)]
pub fn flops(count: usize) {
    add!(FLOPS, count as u64);
    add!(SPAN, count as u64);
}

/// A block of rows × cols kernel values.
#[inline(always)]
pub fn entries(rows: usize, cols: usize) {
    add!(ENTRIES, rows as u64 * cols as u64);
}

/// n values k(x, x).
#[inline(always)]
pub fn diagonal_entries(n: usize) {
    add!(DIAGONAL, n as u64);
}

/// A product of m × k by k × n.
#[inline(always)]
pub fn product(m: usize, n: usize, k: usize) {
    flops(2 * m * n * k);
}

/// One triangle, with the diagonal, of a product of m × k by k × m.
#[inline(always)]
pub fn triangle_of_product(m: usize, k: usize) {
    flops(m * (m + 1) * k);
}

/// A triangular solve of order n for t columns.
#[inline(always)]
pub fn triangular_solve(n: usize, t: usize) {
    flops(n * n * t);
}

/// A Cholesky factorisation of order n.
#[inline(always)]
pub fn cholesky(n: usize) {
    flops(n * n * n / 3);
}

/// R of the QR factorisation of an n × p matrix, n ≥ p, with Qᵀ applied to t more columns.
#[inline(always)]
pub fn qr(n: usize, p: usize, t: usize) {
    flops(2 * p * p * n - 2 * p * p * p / 3 + 2 * p * t * (2 * n - p));
}

/// A symmetric eigendecomposition of order n, with vectors.
#[inline(always)]
pub fn symmetric_eigen(n: usize) {
    flops(9 * n * n * n);
}

/// The singular values and thin left vectors of an n × p matrix or its transpose, `right` ones as
/// well if so.
#[inline(always)]
pub fn svd(n: usize, p: usize, right: bool) {
    let (n, p) = (n.max(p), n.min(p));
    flops(6 * n * p * p + if right { 20 } else { 11 } * p * p * p);
}
