//! Data, dense oracles and values computed elsewhere, shared by the tests.
#![allow(non_snake_case, clippy::excessive_precision)]

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{KrrModel, Problem, RowSource};
pub use nystrom_linalg_core::testing::{rng, same_at_any_thread_count};
use nystrom_linalg_core::{Result, RowTree, Scalar, random};
use std::sync::atomic::{AtomicU64, Ordering};

pub fn gaussian(ell: f64) -> Gaussian {
    Gaussian::new(ell).unwrap()
}

/// Coefficients and intercepts.
pub fn bits<T: Scalar>(model: &KrrModel<Gaussian, T>) -> Vec<u64> {
    let theta = model.coefficients().col_iter().flat_map(|col| col.iter());
    theta.chain(model.intercept()).map(|x| x.f64().to_bits()).collect()
}

/// Rows for what is to be refused before any row is read.
pub struct Unread;

impl RowSource<f64> for Unread {
    fn each_block(&mut self, _: &mut dyn FnMut(Problem<'_, f64>) -> Result<()>) -> Result<()> {
        panic!("the rows were read")
    }
}

/// A problem in memory, in blocks of a given number of rows, the last one perhaps smaller.
#[derive(Debug, Clone)]
pub struct Blocks<'a, T>(Problem<'a, T>, usize);

impl<'a, T: Scalar> Blocks<'a, T> {
    pub fn new(problem: impl Into<Problem<'a, T>>, rows: usize) -> Self {
        Blocks(problem.into(), rows)
    }
}

impl<T: Scalar> RowSource<T> for Blocks<'_, T> {
    fn each_block(&mut self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        let Blocks(Problem { x, y, weights }, size) = *self;
        RowTree::tiles(0..x.len(), size).try_for_each(|rows| {
            let weights = weights.map(|w| &w[rows.clone()]);
            let y = y.subrows(rows.start, rows.len());
            visit(Problem { x: x.slice(rows), y, weights })
        })
    }
}

/// n standard normal points in ℝ^d (as rows) and t noisy smooth targets.
pub fn sample<T: Scalar>(n: usize, d: usize, t: usize, seed: u64) -> (Mat<T>, Mat<T>) {
    let mut rng = rng(seed);
    let x: Mat<f64> = random::standard_normal(n, d, &mut rng);
    let noise: Mat<f64> = random::standard_normal(n, t, &mut rng);
    let y = Mat::from_fn(n, t, |i, j| {
        let s: f64 = (0..d).map(|k| x[(i, k)] * (1.0 + 0.3 * k as f64)).sum();
        T::lit((s + j as f64).sin() + 0.1 * noise[(i, j)])
    });
    (Mat::from_fn(n, d, |i, k| T::lit(x[(i, k)])), y)
}

/// Weights in 0, ½, 1, …, 3½, about one in eight of them 0.
pub fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 5 + 3) % 8) as f64 / 2.0).collect()
}

/// Solves a dense system by LU with partial pivoting: the oracle's solver, unrelated to the
/// crate's.
pub fn lu(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    a.partial_piv_lu().solve(b)
}

/// Exact weighted KRR with optional intercept from the bordered system [K + nλD⁻¹, 1; 1ᵀ, 0],
/// points of weight 0 removed. Returns predictions at `at` and b.
pub fn oracle_exact(
    k: &impl Kernel<f64>,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    w: &[f64],
    mu: f64,
    intercept: bool,
    at: MatRef<'_, f64>,
) -> (Mat<f64>, Vec<f64>) {
    let keep: Vec<usize> = (0..x.nrows()).filter(|&i| w[i] > 0.0).collect();
    let (n, t, p) = (keep.len(), y.ncols(), keep.len() + usize::from(intercept));
    let xs = Mat::from_fn(n, x.ncols(), |i, c| x[(keep[i], c)]);
    let K = k.gram(Points::from_rows(xs.as_ref()));
    let a = Mat::from_fn(p, p, |i, j| match (i < n, j < n) {
        (true, true) => K[(i, j)] + if i == j { mu / w[keep[i]] } else { 0.0 },
        (false, false) => 0.0,
        _ => 1.0,
    });
    let b = Mat::from_fn(p, t, |i, j| if i < n { y[(keep[i], j)] } else { 0.0 });
    let s = lu(&a, &b);
    let C = k.eval(Points::from_rows(at), Points::from_rows(xs.as_ref()));
    let b: Vec<f64> = (0..t).map(|j| if intercept { s[(n, j)] } else { 0.0 }).collect();
    let f = C * s.as_ref().subrows(0, n);
    (Mat::from_fn(at.nrows(), t, |i, j| f[(i, j)] + b[j]), b)
}

/// Subset of regressors from the augmented plain normal equations [C 1]ᵀD[C 1] + nλ[W 0; 0 0].
pub fn oracle_nystrom(
    k: &impl Kernel<f64>,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    z: MatRef<'_, f64>,
    w: &[f64],
    mu: f64,
    intercept: bool,
    at: MatRef<'_, f64>,
) -> (Mat<f64>, Vec<f64>) {
    let (n, m, t, p) = (x.nrows(), z.nrows(), y.ncols(), z.nrows() + usize::from(intercept));
    let C = k.eval(Points::from_rows(x), Points::from_rows(z));
    let W = k.gram(Points::from_rows(z));
    let F = Mat::from_fn(n, p, |i, j| if j < m { C[(i, j)] } else { 1.0 });
    let DF = Mat::from_fn(n, p, |i, j| w[i] * F[(i, j)]);
    let mut a = F.transpose() * &DF;
    for j in 0..m {
        for i in 0..m {
            a[(i, j)] += mu * W[(i, j)];
        }
    }
    let s = lu(&a, &(DF.transpose() * y));
    let G = k.eval(Points::from_rows(at), Points::from_rows(z));
    let b: Vec<f64> = (0..t).map(|j| if intercept { s[(m, j)] } else { 0.0 }).collect();
    let f = G * s.as_ref().subrows(0, m);
    (Mat::from_fn(at.nrows(), t, |i, j| f[(i, j)] + b[j]), b)
}

/// max |a − b|.
pub fn distance<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let mut worst = 0.0_f64;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let gap = (a[(i, j)].f64() - b[(i, j)].f64()).abs();
            assert!(gap.is_finite());
            worst = worst.max(gap);
        }
    }
    worst
}

/// The problem of the reference values: 96 dyadic points in [0, 1), dyadic targets (polynomial plus
/// a quadratic residue as noise), 8 test points, and dyadic weights, some 0.
pub struct Reference {
    pub x: Vec<f64>,
    pub y: Mat<f64>,
    pub at: Vec<f64>,
    pub weights: Vec<f64>,
}

pub fn reference() -> Reference {
    let x: Vec<f64> = (0..96).map(|i| ((i * 37) % 256) as f64 / 256.0).collect();
    let y = Mat::from_fn(96, 1, |i, _| {
        4.0 * x[i] * (1.0 - x[i]) - 0.5 + (((i * i * 29 + 11 * i) % 64) as f64 / 64.0 - 0.5) / 4.0
    });
    let at = (0..8).map(|i| i as f64 / 8.0 + 1.0 / 32.0).collect();
    let weights =
        (0..96).map(|i| if i % 7 == 0 { 0.0 } else { (i % 4) as f64 / 2.0 + 0.25 }).collect();
    Reference { x, y, at, weights }
}

/// max |f − values| over the 8 test points.
pub fn off<T: Scalar>(f: &Mat<T>, values: &[f64; 9]) -> f64 {
    (0..8).map(|i| (f[(i, 0)].f64() - values[i]).abs()).fold(0.0, f64::max)
}

// Computed with mpmath 1.3 at 60 digits from the same dyadic inputs (Gaussian kernel, ℓ = 1/4;
// Nyström with the first 16 points as centres): LU of the plain normal equations CᵀDC + nλW
// (bordered by the intercept), and of K + nλD⁻¹. First the predictions at the 8 test points, then
// the intercept.
pub const NYSTROM_1E3: [f64; 9] = [
    -0.39085435825534255,
    -0.01195971183896595,
    0.28720572617513242,
    0.44891531679571881,
    0.50118157882057538,
    0.43408857572012664,
    0.20367512312460877,
    -0.16158013500830965,
    0.0,
];
pub const NYSTROM_1E3_WEIGHTED_INTERCEPT: [f64; 9] = [
    -0.3026856854139751,
    -0.017567391046492055,
    0.27158891368889647,
    0.45655435594704252,
    0.51461544770855562,
    0.44022259921288584,
    0.20496593739485054,
    -0.15670454680440976,
    -0.1414693829451941,
];
pub const NYSTROM_1E12: [f64; 9] = [
    -0.41780454021117803,
    0.043958265822781141,
    0.25748173841076665,
    0.45937981495949097,
    0.50296254614835391,
    0.4387341285772921,
    0.18191800968983975,
    -0.11209162737873328,
    0.0,
];
pub const NYSTROM_1E12_WEIGHTED_INTERCEPT: [f64; 9] = [
    -0.29122316426992995,
    0.0289433004687944,
    0.2788456644491669,
    0.45386072072119128,
    0.51332921080619168,
    0.45482995305732497,
    0.17342832843724549,
    -0.097629578155663946,
    411.69728475981588,
];
pub const EXACT_1E3: [f64; 9] = [
    -0.39085436037874843,
    -0.011959705265469241,
    0.28720571630501577,
    0.4489153122535121,
    0.50118160782175243,
    0.43408855913859313,
    0.20367505616311466,
    -0.1615798978240896,
    0.0,
];
pub const EXACT_1E3_WEIGHTED_INTERCEPT: [f64; 9] = [
    -0.30268566666348691,
    -0.017567383141961385,
    0.27158890763023436,
    0.45655435218009342,
    0.51461546946870582,
    0.44022258961033198,
    0.20496588480405865,
    -0.15670437593415538,
    -0.14146899126925865,
];
pub const EXACT_1E8: [f64; 9] = [
    -0.44389301611758653,
    0.018412772478805432,
    0.26671246636735247,
    0.46297124150509936,
    0.49062205523650437,
    0.45227867739557943,
    0.17885551931082841,
    -0.12705411617701446,
    0.0,
];
/// As NYSTROM_1E12 with ℓ = 1/8: cond(W) = 1.7e9, where LU in NumPy on the plain normal equations
/// is off by 6.7e-5.
pub const NYSTROM_EIGHTH_1E12: [f64; 9] = [
    -0.41556976765795419,
    0.050957498075744711,
    0.2639230716769976,
    0.4501806879718035,
    0.49484426553087584,
    0.45188476807395503,
    0.18622033004734872,
    -0.13633241496636332,
    0.0,
];

/// A kernel that counts the entries of the blocks it is asked for.
#[derive(Debug)]
pub struct Counting<K> {
    inner: K,
    entries: AtomicU64,
}

impl<K> Counting<K> {
    pub fn new(inner: K) -> Self {
        Counting { inner, entries: AtomicU64::new(0) }
    }

    /// Entries since this was last asked.
    pub fn entries(&self) -> u64 {
        self.entries.swap(0, Ordering::Relaxed)
    }
}

impl<K: Kernel<f64>> Kernel<f64> for Counting<K> {
    fn eval_into(&self, out: faer::MatMut<'_, f64>, x: Points<'_, f64>, y: Points<'_, f64>) {
        self.entries.fetch_add((x.len() * y.len()) as u64, Ordering::Relaxed);
        self.inner.eval_into(out, x, y);
    }

    fn diag_into(&self, out: faer::ColMut<'_, f64>, x: Points<'_, f64>) {
        self.inner.diag_into(out, x);
    }
}

/// √(Σ w a²/Σ w) of column j.
pub fn rms(a: &Mat<f64>, w: &[f64], j: usize) -> f64 {
    let total: f64 = w.iter().sum();
    ((0..a.nrows()).map(|i| w[i] * a[(i, j)].powi(2)).sum::<f64>() / total).sqrt()
}
