//! What a weighted sample of rows must satisfy, checked densely.

use faer::{Mat, MatRef};
use nystrom_leverage::Dictionary;
use nystrom_linalg_core::{Cholesky, JitterLadder, Scalar, SymmetricEigen, ops};

/// L with LLᵀ = K (up to a shift of 10·ε·tr K), n × n: row i is the feature vector φ_i.
pub fn features(k: MatRef<'_, f64>) -> Mat<f64> {
    Cholesky::with_jitter(k, JitterLadder::shifted()).unwrap().lower().to_owned()
}

/// (1 − ε)(ΦᵀΦ + μI) ⪯ ΦᵀSSᵀΦ + μI ⪯ (1 + ε)(ΦᵀΦ + μI), that is ‖P − P̃‖ ≤ ε, by two Cholesky
/// factorisations.
pub fn is_accurate(phi: &Mat<f64>, dictionary: &Dictionary<f64>, mu: f64, epsilon: f64) -> bool {
    let n = phi.nrows();
    let mut scaled = phi.clone(); // rows times w_i − 1
    let mut w = vec![0.0; n];
    dictionary.indices().iter().zip(dictionary.weights()).for_each(|(&i, w_i)| w[i] = *w_i);
    for j in 0..n {
        (0..n).for_each(|i| scaled[(i, j)] *= w[i] - 1.0);
    }
    let product = |a: &Mat<f64>| ops::times(phi.transpose(), a.as_ref());
    let (full, difference) = (product(phi), product(&scaled)); // ΦᵀΦ, ΦᵀSSᵀΦ − ΦᵀΦ
    let positive = |sign: f64| {
        let a = Mat::from_fn(n, n, |i, j| {
            epsilon * (full[(i, j)] + if i == j { mu } else { 0.0 }) + sign * difference[(i, j)]
        });
        Cholesky::with_jitter(a.as_ref(), JitterLadder { steps: 0, ..JitterLadder::default() })
            .is_ok()
    };
    positive(1.0) && positive(-1.0)
}

/// Tropp 2015, Theorem 7.7.1, for independent inclusions with p_i ≥ min(1, q·l_i): ‖P − P̃‖ > ε has
/// probability at most 8·d_eff·(1 + μ/σ_1)·exp(−qε²/(2(1 + ε/3))).
///
/// (Each summand is at most l_i/p_i ≤ 1/q in norm and the variance is at most P/q, of trace d_eff/q
/// and norm σ_1/(σ_1 + μ)/q; 4 times the intrinsic dimension of its dilation.)
pub fn bernstein(d_eff: f64, mu: f64, sigma_1: f64, q: f64, epsilon: f64) -> f64 {
    8.0 * d_eff
        * (1.0 + mu / sigma_1)
        * (-q * epsilon * epsilon / (2.0 * (1.0 + epsilon / 3.0))).exp()
}

pub fn eigenvalues(k: MatRef<'_, f64>) -> Vec<f64> {
    SymmetricEigen::new(k).unwrap().values().iter().map(|s| s.max(0.0)).collect()
}

pub fn d_eff(eigenvalues: &[f64], mu: f64) -> f64 {
    eigenvalues.iter().map(|s| s / (s + mu)).sum()
}

/// E w_i = 1 for every row: the mean of `repeats` runs is within 6 empirical standard errors, none
/// of which may exceed `largest_se`.
pub fn assert_unbiased(
    n: usize,
    repeats: usize,
    largest_se: f64,
    mut sample: impl FnMut() -> Dictionary<f64>,
) {
    let (mut sum, mut squares) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..repeats {
        let d = sample();
        for (&i, w) in d.indices().iter().zip(d.weights()) {
            sum[i] += w;
            squares[i] += w * w;
        }
    }
    for i in 0..n {
        let (r, mean) = (repeats as f64, sum[i] / repeats as f64);
        let se = ((squares[i] / r - mean * mean).max(0.0) / r).sqrt();
        assert!(se <= largest_se, "row {i}: the standard error {se} leaves the test without power");
        assert!((mean - 1.0).abs() <= 6.0 * se + 1e-12, "row {i}: E w = {mean} ± {se}");
    }
}

pub fn assert_close<T: Scalar>(a: &[T], b: &[T], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a.f64() - b.f64()).abs() <= tolerance, "row {i}: {a} against {b}");
    }
}

/// exp(−|i − j|/n): full rank, half of the trace in one eigenvalue, the others falling as j⁻²;
/// d_eff is small beside n.
pub fn ornstein_uhlenbeck(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| (-(i as f64 - j as f64).abs() / n as f64).exp())
}

/// `k` with zeros in the given rows and columns.
pub fn without_rows(mut k: Mat<f64>, rows: &[usize]) -> Mat<f64> {
    for &r in rows {
        (0..k.nrows()).for_each(|i| {
            k[(i, r)] = 0.0;
            k[(r, i)] = 0.0;
        });
    }
    k
}
