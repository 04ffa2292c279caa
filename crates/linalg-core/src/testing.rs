//! Matrices and oracles for tests of code that uses this crate (feature `testing`), among them
//! [`check_psd_matrix`], a test of the contract of [`PsdMatrix`]. The functions here panic on
//! misuse.

mod psd_matrix;

pub use crate::simd_ones::every_way_of_counting_ones;
pub use psd_matrix::check_psd_matrix;

use crate::{Cholesky, Indices, PsdMatrix, Scalar, SymmetricEigen, random};
use faer::{ColMut, Mat, MatMut, MatRef};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::mpsc;
use std::time::Duration;

/// The generator that the tests use, with the given seed.
pub fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Kinds of psd matrices on which approximations are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Gaussian kernel: full rank, fast decay of eigenvalues.
    Gaussian,
    /// Linear kernel in 3 dimensions: rank 3, unequal diagonal.
    LowRank,
    /// Exponential kernel: slow decay of eigenvalues.
    Rough,
    /// Gaussian kernel on points that all occur twice: exactly singular.
    Doubled,
}

impl Kind {
    /// All four kinds.
    pub const ALL: [Kind; 4] = [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled];
}

/// The n × n matrix of the given kind on n standard normal points in ℝ³ (⌈n/2⌉ for
/// [`Kind::Doubled`]).
///
/// ```
/// use nystrom_linalg_core::testing::{Kind, psd, smallest_eigenvalue};
/// let k = psd(Kind::Doubled, 6, 1);
/// assert_eq!(k[(0, 4)], k[(1, 5)]);
/// assert!(smallest_eigenvalue(k.as_ref()).abs() < 1e-14);
/// ```
pub fn psd(kind: Kind, n: usize, seed: u64) -> Mat<f64> {
    let x: Mat<f64> = random::standard_normal(n, 3, &mut rng(seed));
    let at = |i: usize| if kind == Kind::Doubled { i / 2 } else { i };
    Mat::from_fn(n, n, |i, j| {
        let (x, y) = (x.row(at(i)), x.row(at(j)));
        let r2 = (x - y).squared_norm_l2();
        match kind {
            Kind::Gaussian | Kind::Doubled => (-r2 / 2.0).exp(),
            Kind::LowRank => (0..3).map(|c| x[c] * y[c]).sum(),
            Kind::Rough => (-r2.sqrt()).exp(),
        }
    })
}

/// The smallest eigenvalue of a symmetric matrix.
pub fn smallest_eigenvalue(a: MatRef<'_, f64>) -> f64 {
    *SymmetricEigen::new(a).unwrap().values().last().unwrap()
}

/// The largest eigenvalue of a symmetric matrix.
pub fn largest_eigenvalue(a: MatRef<'_, f64>) -> f64 {
    SymmetricEigen::new(a).unwrap().values()[0]
}

/// A⁻¹b for a well-conditioned psd A.
pub fn solve(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut x = b.to_owned();
    Cholesky::new(a).unwrap().solve_in_place(x.as_mut());
    x
}

/// The matrix as a stored n × n matrix.
pub fn whole<T: Scalar>(a: &dyn PsdMatrix<T>) -> Mat<T> {
    a.block((0..a.dim()).into(), (0..a.dim()).into())
}

/// The n × n matrix with entries given by a function, evaluated on every access.
///
/// ```
/// use nystrom_linalg_core::testing::{Evaluated, check_psd_matrix};
/// check_psd_matrix(&Evaluated { n: 20, entry: |i: usize, j| (i.min(j) + 1) as f64 });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Evaluated<F> {
    /// The order of the matrix.
    pub n: usize,
    /// `entry(i, j)` is entry (i, j).
    pub entry: F,
}

impl<T: Scalar, F: Fn(usize, usize) -> T + Sync> PsdMatrix<T> for Evaluated<F> {
    fn dim(&self) -> usize {
        self.n
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, idx: Indices<'_>) {
        idx.iter().enumerate().for_each(|(t, i)| out[t] = (self.entry)(i, i));
    }

    fn block_into(&self, mut out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        for (t, j) in cols.iter().enumerate() {
            rows.iter().enumerate().for_each(|(s, i)| out[(s, t)] = (self.entry)(i, j));
        }
    }
}

/// The identity matrix, except for given bad values; the order may be 0.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The order of the matrix.
    pub n: usize,
    /// (i, j, value): the value of entries (i, j) and (j, i).
    pub bad: Vec<(usize, usize, f64)>,
}

impl Broken {
    fn evaluated(&self) -> Evaluated<impl Fn(usize, usize) -> f64 + Sync> {
        let entry = |i: usize, j: usize| {
            let here = |b: &&(usize, usize, f64)| (b.0, b.1) == (i, j) || (b.0, b.1) == (j, i);
            self.bad.iter().find(here).map_or(if i == j { 1.0 } else { 0.0 }, |b| b.2)
        };
        Evaluated { n: self.n, entry }
    }
}

impl PsdMatrix<f64> for Broken {
    fn dim(&self) -> usize {
        self.n
    }

    fn diag_into(&self, out: ColMut<'_, f64>, idx: Indices<'_>) {
        self.evaluated().diag_into(out, idx);
    }

    fn block_into(&self, out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
        self.evaluated().block_into(out, rows, cols);
    }
}

/// Runs `f` on its own thread and fails if it has not ended after half an hour: it will not, on any
/// machine.
///
/// # Panics
/// If `f` panics, or does not end.
pub fn soon(what: &str, f: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        f();
        let _ = done.send(());
    });
    if wait.recv_timeout(Duration::from_secs(1800)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{what}: no end in sight");
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs `f` in pools of 1, 2 and 8 threads and returns the result, which must be the same in all.
///
/// # Panics
/// If results differ, at the caller's line.
#[track_caller]
pub fn same_at_any_thread_count<R: PartialEq + Send>(f: impl Fn() -> R + Sync) -> R {
    same_in_pools(&[1, 2, 8].map(pool), f)
}

/// Runs `f` in each of these pools and returns the result, which must be the same in all.
///
/// # Panics
/// If results differ, at the caller's line; if `pools` is empty.
#[track_caller]
pub fn same_in_pools<R: PartialEq + Send>(pools: &[ThreadPool], f: impl Fn() -> R + Sync) -> R {
    let (first, others) = pools.split_first().unwrap();
    let result = first.install(&f);
    for other in others {
        let [a, b] = [first, other].map(ThreadPool::current_num_threads);
        assert!(other.install(&f) == result, "differs between {a} and {b} threads");
    }
    result
}

/// A pool of `threads` threads.
pub fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
