//! Enumeration of all subsets: the oracle of every sampler here.
#![allow(non_snake_case)]

pub mod dd;

use faer::{Mat, MatRef};
pub use nystrom_linalg_core::testing::{Broken, Evaluated, rng, same_at_any_thread_count};
use nystrom_linalg_core::{PsdMatrix, Result, random};
use nystrom_sketch::{KMeansPlusPlus, LandmarkSelector, Landmarks, RpCholesky, Uniform};
use rand::Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Gaussian kernel of a width at which determinants range over some orders of magnitude.
    Gaussian,
    /// Linear kernel in 4 dimensions: rank 4, unequal diagonal.
    LowRank,
    /// Exponential kernel: slowly falling eigenvalues.
    Rough,
    /// Gaussian kernel on points each occurring twice: many sets without volume.
    Doubled,
}

pub const KINDS: [Kind; 4] = [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled];

/// A matrix of the given kind on n random points.
pub fn psd(kind: Kind, n: usize, seed: u64) -> Mat<f64> {
    let x: Mat<f64> = random::standard_normal(n, 4, &mut rng(seed));
    let at = |i: usize| if kind == Kind::Doubled { i / 2 } else { i };
    Mat::from_fn(n, n, |i, j| {
        let (x, y) = (x.row(at(i)), x.row(at(j)));
        let r2 = (x - y).squared_norm_l2();
        match kind {
            Kind::Gaussian | Kind::Doubled => (-r2 / 4.0).exp(),
            Kind::LowRank => (0..4).map(|c| x[c] * y[c]).sum(),
            Kind::Rough => (-r2.sqrt() / 2.0).exp(),
        }
    })
}

pub fn as_f32(a: &Mat<f64>) -> Mat<f32> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32)
}

/// All subsets of 0..n of size c, each increasing.
pub fn subsets(n: usize, c: usize) -> Vec<Vec<usize>> {
    (0_u32..1 << n)
        .filter(|mask| mask.count_ones() as usize == c)
        .map(|mask| (0..n).filter(|i| mask >> i & 1 == 1).collect())
        .collect()
}

pub fn principal(k: MatRef<'_, f64>, C: &[usize]) -> Mat<f64> {
    Mat::from_fn(C.len(), C.len(), |i, j| k[(C[i], C[j])])
}

/// det A by Gaussian elimination with row pivoting; 1 for an empty matrix.
pub fn det(a: &Mat<f64>) -> f64 {
    let (n, mut a, mut det) = (a.nrows(), a.clone(), 1.0);
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())).unwrap();
        if a[(p, k)] == 0.0 {
            return 0.0;
        }
        if p != k {
            for j in 0..n {
                (a[(p, j)], a[(k, j)]) = (a[(k, j)], a[(p, j)]);
            }
            det = -det;
        }
        det *= a[(k, k)];
        for i in k + 1..n {
            let f = a[(i, k)] / a[(k, k)];
            for j in k..n {
                a[(i, j)] -= f * a[(k, j)];
            }
        }
    }
    det
}

/// The subsets of size c and their probabilities det K_CC / Σ det; determinants at rounding level
/// count as 0.
pub fn law(k: MatRef<'_, f64>, c: usize) -> Vec<(Vec<usize>, f64)> {
    let sets = subsets(k.nrows(), c);
    let scale = |C: &Vec<usize>| C.iter().map(|&i| k[(i, i)]).product::<f64>();
    let volume = |C: &Vec<usize>| {
        Some(det(&principal(k, C))).filter(|d| *d > 1e-13 * scale(C)).unwrap_or(0.0)
    };
    let volumes: Vec<f64> = sets.iter().map(volume).collect();
    let total: f64 = volumes.iter().sum();
    sets.into_iter().zip(volumes.into_iter().map(|v| v / total)).collect()
}

/// Draws against a law by χ² at a false-alarm rate of 1e-6, cells of an expected count below 10
/// pooled; a draw outside the support fails at once. Draws may come in any order of items.
pub fn assert_follows(
    law: &[(Vec<usize>, f64)],
    draws: usize,
    mut draw: impl FnMut() -> Vec<usize>,
    what: &str,
) {
    let mut counts: HashMap<Vec<usize>, f64> = HashMap::new();
    for _ in 0..draws {
        let mut C = draw();
        C.sort_unstable();
        *counts.entry(C).or_default() += 1.0;
    }
    let (mut chi2, mut cells, mut pooled, mut outside) = (0.0, 0, (0.0, 0.0), draws as f64);
    for (C, p) in law {
        let (seen, expected) = (counts.get(C).copied().unwrap_or(0.0), p * draws as f64);
        outside -= seen;
        assert!(
            *p > 0.0 || seen == 0.0,
            "{what}: {C:?} has probability 0 and was drawn {seen} times"
        );
        if expected >= 10.0 {
            chi2 += (seen - expected).powi(2) / expected;
            cells += 1;
        } else {
            pooled = (pooled.0 + seen, pooled.1 + expected);
        }
    }
    assert_eq!(outside, 0.0, "{what}: draws that are no subsets");
    if pooled.1 >= 10.0 {
        chi2 += (pooled.0 - pooled.1).powi(2) / pooled.1;
        cells += 1;
    } else {
        // Bennett: a Poisson-like count of mean below 10 exceeds 40 with probability below 1e-10
        assert!(pooled.0 < 40.0, "{what}: {} draws where {} were expected", pooled.0, pooled.1);
    }
    if cells > 1 {
        let limit = ChiSquared::new(cells as f64 - 1.0).unwrap().inverse_cdf(1.0 - 1e-6);
        assert!(chi2 < limit, "{what}: χ² = {chi2:.1} above {limit:.1} with {cells} cells");
    }
}

/// Counts of single items by Bernstein: an item of variance v strays by t or more with probability
/// at most 2·exp(−t²/(2v + 2t/3)), which is 1e-9 at t = a + √(a² + 6av), a = ln(2e9)/3.
pub fn assert_close_counts(p: &[f64], draws: usize, mut draw: impl FnMut() -> Vec<usize>) {
    let mut counts = vec![0.0; p.len()];
    for _ in 0..draws {
        draw().into_iter().for_each(|i| counts[i] += 1.0);
    }
    for (i, (count, p)) in counts.iter().zip(p).enumerate() {
        let (expected, a) = (p * draws as f64, 2e9_f64.ln() / 3.0);
        let margin = a + (a * a + 6.0 * a * expected * (1.0 - p)).sqrt();
        assert!(
            (count - expected).abs() < margin,
            "item {i}: {count} against {expected} ± {margin}"
        );
    }
}

/// The first items, dependent or not: a user's choice.
struct Given;

impl LandmarkSelector<f64> for Given {
    fn select(&self, k: &dyn PsdMatrix<f64>, m: usize, _: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::new(k.dim(), (0..m).collect())
    }
}

/// Where a chain may start.
pub fn starts() -> [(&'static str, Box<dyn LandmarkSelector<f64>>); 4] {
    [
        ("uniform", Box::new(Uniform::default())),
        ("k-means++", Box::new(KMeansPlusPlus)),
        ("pivots", Box::new(RpCholesky::default())),
        ("given", Box::new(Given)),
    ]
}

/// The mean of successive states' values, which are correlated, against what is expected: the
/// standard error is that of means of batches of 50, and six of them are allowed.
pub fn assert_mean(values: &[f64], exact: f64, what: &str) {
    let batches: Vec<f64> =
        values.chunks(50).map(|b| b.iter().sum::<f64>() / b.len() as f64).collect();
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let variance =
        batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (batches.len() - 1) as f64;
    let margin = 6.0 * (variance / batches.len() as f64).sqrt();
    assert!(
        (mean - exact).abs() < margin && margin < 0.1 * exact,
        "{what}: {mean} against {exact} ± {margin}"
    );
}

/// tr(K − K̃_C), by elimination of the columns C.
pub fn trace_error(k: MatRef<'_, f64>, C: &[usize]) -> f64 {
    let mut residual = k.to_owned();
    for &p in C {
        let pivot = residual[(p, p)];
        if pivot <= 1e-13 * k[(p, p)] {
            continue;
        }
        let column: Vec<f64> = (0..k.nrows()).map(|i| residual[(i, p)]).collect();
        for j in 0..k.nrows() {
            for i in 0..k.nrows() {
                residual[(i, j)] -= column[i] * column[j] / pivot;
            }
        }
    }
    (0..k.nrows()).map(|i| residual[(i, i)].max(0.0)).sum()
}

/// e_j of the principal minors: Σ_{|C| = j} det K_CC.
pub fn elementary_by_minors(k: MatRef<'_, f64>, j: usize) -> f64 {
    subsets(k.nrows(), j).iter().map(|C| det(&principal(k, C))).sum()
}
