//! ln K̃ as a polynomial in ln p, so that n scores cost O(n).

use nystrom_linalg_core::{Error, Result};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The polynomial is accepted once the absolute values of the last eighth of its Chebyshev
/// coefficients sum to at most this. The sum estimates the relative error of K̃.
const TOLERANCE: f64 = 1e-11;
const FIRST_DEGREE: usize = 16;
const MAX_DEGREE: usize = 8192;

/// The Chebyshev interpolant of ln K̃ on an interval of ln p, with relative error of K̃ below about
/// 1e-10.
///
/// ln K̃ is analytic in the strip |Im ln p| < π, so the coefficients decay geometrically: by a
/// factor of about e^{−2π/w} per degree on an interval of length w.
pub(crate) struct ScoreTable {
    center: f64,
    half: f64,
    /// c_0/2, c_1, c_2, …
    coefficients: Vec<f64>,
    nodes: usize,
}

impl ScoreTable {
    /// Interpolates `f` on \[low, high\], doubling the degree until the coefficients have decayed.
    /// The values at the old nodes are reused.
    pub(crate) fn new(
        low: f64,
        high: f64,
        f: &(dyn Fn(f64) -> Result<f64> + Sync),
    ) -> Result<Self> {
        let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
        if half <= 1e-12 * center.abs().max(1.0) {
            return Ok(ScoreTable { center, half: 1.0, coefficients: vec![f(center)?], nodes: 1 });
        }
        let node = |j: usize, degree: usize| center + half * (PI * j as f64 / degree as f64).cos();
        let mut degree = FIRST_DEGREE;
        let mut values = evaluate((0..=degree).map(|j| node(j, degree)).collect(), f)?;
        loop {
            let coefficients = chebyshev(&values);
            let tail: f64 = coefficients[degree - degree / 8..].iter().map(|c| c.abs()).sum();
            if tail <= TOLERANCE {
                let kept =
                    coefficients.iter().rposition(|c| c.abs() > 1e-14).map_or(1, |last| last + 1);
                let nodes = degree + 1;
                return Ok(ScoreTable {
                    center,
                    half,
                    coefficients: coefficients[..kept].to_vec(),
                    nodes,
                });
            }
            if degree == MAX_DEGREE {
                return Err(Error::NotConverged {
                    iterations: degree,
                    residual: tail,
                    tolerance: TOLERANCE,
                });
            }
            let between = evaluate((0..degree).map(|j| node(2 * j + 1, 2 * degree)).collect(), f)?;
            values = interleave(&values, &between);
            degree *= 2;
        }
    }

    /// ln K̃ at ln p, by Clenshaw's recurrence. Outside the interval the value at its end is
    /// returned.
    pub(crate) fn at(&self, ln_p: f64) -> f64 {
        let x = ((ln_p - self.center) / self.half).clamp(-1.0, 1.0);
        let (mut b1, mut b2) = (0.0, 0.0);
        for &c in self.coefficients[1..].iter().rev() {
            (b1, b2) = (2.0 * x * b1 - b2 + c, b1);
        }
        x * b1 - b2 + self.coefficients[0]
    }

    /// The number of evaluations of K̃.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }
}

fn evaluate(nodes: Vec<f64>, f: &(dyn Fn(f64) -> Result<f64> + Sync)) -> Result<Vec<f64>> {
    let values: Vec<Result<f64>> = nodes.into_par_iter().map(f).collect();
    values.into_iter().collect() // in order, so that the first error is returned
}

fn interleave(old: &[f64], new: &[f64]) -> Vec<f64> {
    (0..old.len() + new.len()).map(|j| if j % 2 == 0 { old[j / 2] } else { new[j / 2] }).collect()
}

/// Coefficients of the interpolant through `values` at cos(πj/N), j = 0, …, N, the first halved.
fn chebyshev(values: &[f64]) -> Vec<f64> {
    let degree = values.len() - 1;
    let cosines: Vec<f64> =
        (0..2 * degree).map(|j| (PI * j as f64 / degree as f64).cos()).collect();
    let coefficient = |k: usize| {
        let inner: f64 = (1..degree).map(|j| values[j] * cosines[j * k % (2 * degree)]).sum();
        let ends = 0.5 * (values[0] + values[degree] * cosines[degree * k % (2 * degree)]);
        let scale = if k == 0 || k == degree { 1.0 } else { 2.0 };
        scale * (inner + ends) / degree as f64
    };
    (0..=degree).into_par_iter().map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_an_analytic_function_within_the_stated_error() {
        // ln(1 + e^u)-like: singular at ±iπ, as ln K̃ is
        for (low, high) in [(-3.0, 2.0), (-40.0, 10.0), (-300.0, 300.0)] {
            let f = |u: f64| -0.5 * (1.0 + u.min(0.0).exp() / (-u.max(0.0)).exp()).ln();
            let exact = |u: f64| -0.5 * (u.max(0.0) + (-u.abs()).exp().ln_1p());
            let table = ScoreTable::new(low, high, &|u| Ok(exact(u))).unwrap();
            let mut worst = 0.0_f64;
            for i in 0..=10_000 {
                let u = low + (high - low) * i as f64 / 10_000.0;
                worst = worst.max((table.at(u) - exact(u)).abs());
            }
            assert!(worst < 1e-10, "[{low}, {high}]: {worst:e} with {} nodes", table.nodes());
            assert!((f(0.0) - exact(0.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn one_point_and_a_rough_function() {
        let table = ScoreTable::new(1.0, 1.0, &|u| Ok(2.0 * u)).unwrap();
        assert_eq!((table.at(1.0), table.at(9.0), table.nodes()), (2.0, 2.0, 1));
        let rough = ScoreTable::new(-1.0, 1.0, &|u| Ok(u.abs()));
        assert!(matches!(rough, Err(Error::NotConverged { .. })));
    }
}
