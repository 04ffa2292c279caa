//! One fit of the sample in a given metric, at the best of a grid of ridges.

use super::sample::Sample;
use crate::input::Samples;
use crate::normal_equations::{NormalEquations, Products};
use crate::rows::{FeatureRows, KernelRows};
use crate::whitener::Whitener;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Accum, Mat, MatMut};
use nystrom_kernels::{DifferentiableKernel, Points};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, ops};

/// λ = 10^e for these e.
const EXPONENTS: std::ops::RangeInclusive<i32> = -9..=0;

/// A fit and its error.
pub(super) struct Fit<K> {
    pub model: KrrModel<K, f64>,
    pub exponent: i32,
    /// Leave-one-out RMSE.
    pub error: f64,
}

/// What every ridge has in common.
struct Equations<'a> {
    /// ΦᵀDΦ.
    A: Mat<f64>,
    /// ΦᵀDy.
    B: Mat<f64>,
    /// φ of the rows to judge by, m × v.
    phi: Mat<f64>,
    sample: &'a Sample,
}

/// The fit to `sample` with its points at `x` (d × n) and the first `landmarks` of them as centres.
///
/// From the exponent `start` downhill on the grid of ridges, by the leave-one-out error of the
/// first `judged` rows.
pub(super) fn fit<K: DifferentiableKernel<f64> + Clone>(
    kernel: K,
    sample: &Sample,
    x: Points<'_, f64>,
    [landmarks, judged]: [usize; 2],
    start: i32,
) -> Result<Fit<K>> {
    let centers = x.slice(0..landmarks);
    let samples = Samples { x, y: sample.y.as_ref(), weights: Some(&sample.weights) };
    kernel.check_points(x)?;
    let whitener = Whitener::new(&kernel, centers)?; //           W + δI = RRᵀ
    let source = KernelRows { kernel: &kernel, centers, x };
    let rows = FeatureRows::new(&source, &whitener, samples, false);
    let sums = NormalEquations::accumulate(&rows, Products::Scalar).centered(false);
    let mut phi = kernel.eval(centers, x.slice(0..judged)); //    φ = R⁻¹k_Z
    whitener.whiten(phi.as_mut());
    let equations = Equations { A: sums.A, B: sums.B, phi, sample };
    let (exponent, error, beta) = downhill(start, |e| equations.at(10_f64.powi(e)))?;
    let theta = whitener.unwhiten(beta); //                       θ = R⁻ᵀβ
    let ridge = sample.len() as f64 * 10_f64.powi(exponent);
    let report = FitReport { ridge, solver: SolvedBy::NormalEquations, ..source.report(&rows, 1) };
    let b = vec![0.0; sample.y.ncols()];
    let model = KrrModel::from_parts(kernel.clone(), centers, theta.as_ref(), &b, report)?;
    Ok(Fit { model, exponent, error })
}

impl Equations<'_> {
    /// The leave-one-out RMSE at λ, and β = (A + nλI)⁻¹B.
    ///
    /// y_i − f₋ᵢ(x_i) = (y_i − f(x_i))/(1 − h_i), h_i = w_i φ_iᵀ(A + nλI)⁻¹φ_i.
    fn at(&self, lambda: f64) -> Result<(f64, Mat<f64>)> {
        let (m, v) = self.phi.shape();
        let mu = self.sample.len() as f64 * lambda;
        let fill = |mut out: MatMut<'_, f64>| {
            out.copy_from(&self.A);
            ops::add_to_diagonal(out, mu);
        };
        let factor = Cholesky::<f64>::from_fill(m, fill, JitterLadder::default())?;
        let mut beta = self.B.clone();
        factor.solve_in_place(beta.as_mut());
        let mut residuals = Mat::from_fn(v, beta.ncols(), |i, j| self.sample.y[(i, j)]);
        ops::matmul(residuals.as_mut(), Accum::Add, self.phi.transpose(), beta.as_ref(), -1.0);
        let mut half = self.phi.clone();
        factor.forward_in_place(half.as_mut()); //                L⁻¹φ_i
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..v {
            let w = self.sample.weights[i];
            let h = w * half.col(i).squared_norm_l2();
            let left_out = (1.0 - h).max(f64::EPSILON);
            let squares: f64 = residuals.row(i).iter().map(|r| (r / left_out).powi(2)).sum();
            sum += w * squares;
            total += w;
        }
        Ok(((sum / total).sqrt(), beta))
    }
}

/// The first minimum of `at` on the grid when walking from `start`, downwards first.
fn downhill(
    start: i32,
    at: impl Fn(i32) -> Result<(f64, Mat<f64>)>,
) -> Result<(i32, f64, Mat<f64>)> {
    let (error, beta) = at(start)?;
    let mut best = (start, error, beta);
    for step in [-1, 1] {
        while EXPONENTS.contains(&(best.0 + step)) {
            let (error, beta) = at(best.0 + step)?;
            if error >= best.1 {
                break;
            }
            best = (best.0 + step, error, beta);
        }
        if best.0 != start {
            break;
        }
    }
    Ok(best)
}
