//! Solves a direct fit in one of three ways, and says when each is safe: normal equations whitened
//! after the pass, normal equations of whitened features, or QR. The first two are computed with
//! products of either precision. `path/features.rs` chooses by the same rules between the last two.

use crate::features::{FeatureRows, KernelRows};
use crate::sums::{Accumulator, NormalSums, Products, QrSums, Solution};
use crate::{FitReport, SolvedBy};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Scalar};

/// Normal equations are taken while nλ ≥ `SAFETY`·ε·Σ w_i k(x_i, x_i).
const SAFETY: f64 = 10.0;

/// The value of `SAFETY` for products of a tile in `f32` that are summed in `f64`. No error is
/// larger than a tile's, and those of the tiles average out.
///
/// At this boundary, and to a tenth of it, test errors are within 0.1 % of those of QR. (n =
/// 20,000, m = 1000, in three and in ten dimensions; `docs/performance.md`.)
const SAFETY_OF_TILES: f64 = 1.0;

/// Sums are whitened instead of tiles while nλ ≥ `ONCE_SAFETY`·ε·tr CᵀC·tr (W + δI)⁻¹. The
/// relative error of the fit is then below 1/16 in the worst case. The largest seen at this
/// boundary is 10⁻⁵ (W numerically singular), the usual 10⁻⁹ or less.
const ONCE_SAFETY: f64 = 4.0;

/// Down to `ONCE_TRIED`/m times that bound, whitening once is tried, and refined by exact
/// residuals. Errors of random signs come to about 1/m of the worst case.
const ONCE_TRIED: f64 = 1.0;

/// How [`NystromKrr`](crate::NystromKrr) solves min ‖√w(y − Φβ)‖² + nλ‖β‖², Φ = CR⁻ᵀ the n × m
/// whitened features.
///
/// Rounding errors of a Gram matrix act like a change of nλ by their norm:
///
/// * ΦᵀΦ from whitened tiles is wrong by at most c·ε·tr ΦᵀΦ, harmless while λ ≫ ε·k(x, x);
/// * CᵀC + nλRRᵀ is R times the whitened equations times Rᵀ. In terms of these it is wrong by at
///   most c·ε·tr CᵀC·tr (W + δI)⁻¹, harmless for well-separated centres at moderate λ. It saves
///   half of the flops.
/// * a QR factorisation of Φ never squares Φ and is wrong by ε·‖Φ‖ only. That is harmless while √λ
///   ≫ ε, hence for every λ of practical use. It costs (3 + m/768)nm² + 27m³ flops instead of 2nm²,
///   on one thread: twice as many at m = 700, five times at m = 5000.
///
/// ε is that of the *products*. Products of tiles in `f32` can be taken in `f64`. The rounding of
/// the tiles themselves is an error of Φ, which is not squared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Solver {
    /// The cheapest method that is safe; the report names it and the reason.
    ///
    /// 1. [`WhitenOnce`](Solver::WhitenOnce) if nλ ≥ 4·ε·tr CᵀC·tr (W + δI)⁻¹. The right side is
    ///    estimated from W before the pass and checked after it. In `f64` the method is also tried
    ///    down to 1/m of this bound; a pass with the exact residual must then show that the fit at
    ///    the rows is within 10⁻⁸. A few such passes, of nm kernel values each, may refine it.
    /// 2. [`NormalEquations`](Solver::NormalEquations) if nλ ≥ 10·ε·Σ w_i k(x_i, x_i). For products
    ///    in `f32`, whose sums are in `f64`, 1·ε is enough.
    /// 3. [`Qr`](Solver::Qr), also if a Cholesky factorisation fails.
    ///
    /// The first two take products in the scalar type if its ε allows, and otherwise in `f64`. For
    /// k(x, x) = 1, QR is taken below λ = 2·10⁻¹⁵, and products in `f32` down to 1.2·10⁻⁷.
    #[default]
    Auto,
    /// Normal equations of C in the coordinates θ, with products in the scalar type. Only the
    /// solution is whitened: nm² flops.
    WhitenOnce,
    /// Normal equations of the whitened features, products of a tile in the scalar type and their
    /// sums in `f64`: 2nm² flops.
    NormalEquations,
    /// Streamed Householder QR of the whitened features, in `f64` whatever the scalar type:
    /// (3 + m/768)nm² + 27m³ flops. The triangle of the earlier rows and a tile of 1024 rows are
    /// factored together.
    Qr,
}

/// The sizes that rounding errors are compared with.
pub(crate) struct Scales {
    /// nλ.
    pub mu: f64,
    /// Σ w_i k(x_i, x_i) ≥ tr ΦᵀΦ.
    pub trace: f64,
    /// tr CᵀC·tr (W + δI)⁻¹, or an estimate of it.
    pub once: f64,
}

impl Scales {
    /// The smallest nλ at which whitening after the pass is safe with products of this ε.
    pub fn once_safe(&self, eps: f64) -> f64 {
        ONCE_SAFETY * eps * self.once
    }

    /// The smallest nλ at which it is tried with m centres and checked.
    pub fn once_tried(&self, m: usize) -> f64 {
        ONCE_TRIED / m as f64 * self.once_safe(f64::EPSILON)
    }
}

/// The smallest nλ at which normal equations of whitened tiles are safe, all rounding being with
/// this ε; `trace` is Σ w_i k(x_i, x_i).
pub(crate) fn safe(trace: f64, eps: f64) -> f64 {
    SAFETY * eps * trace
}

/// A solution, its method, and its passes over the rows.
pub(crate) struct Solved {
    pub solution: Solution,
    pub choice: Choice,
    pub passes: usize,
}

impl Solved {
    /// The report of the fit; `sizes` has the sizes.
    pub fn report(&self, sizes: FitReport) -> FitReport {
        let (solution, Choice { by, reason, .. }) = (&self.solution, &self.choice);
        FitReport {
            ridge: solution.mu,
            solver: *by,
            reason: reason.clone(),
            condition: solution.condition,
            ..sizes
        }
    }
}

/// The method chosen, and why.
pub(crate) struct Choice {
    pub by: SolvedBy,
    pub products: Products,
    pub reason: String,
}

impl Choice {
    /// Solves by the sums of tiles that are not whitened. If `auto` and the result is not safe, the
    /// inner `Err` has the number of passes over the rows.
    fn whiten_once<T: Scalar>(
        &self,
        stream: &FeatureRows<'_, T>,
        mu: f64,
        auto: bool,
    ) -> Result<std::result::Result<Solved, usize>> {
        let (whitener, by) = (stream.whitener, SolvedBy::WhitenOnce);
        let sums = NormalSums::over(stream, self.products)?; //                     CᵀC, Cᵀy
        let once = sums.trace(whitener.order()) * whitener.inverse_trace;
        let scales = Scales { mu, trace: stream.totals.trace, once };
        let (solution, passes, reason) =
            if !auto || (self.by == by && mu >= scales.once_safe(self.products.eps::<T>())) {
                match sums.solve_unwhitened(mu, stream.shift.is_some(), whitener) {
                    Err(Error::NotPositiveDefinite { .. }) if auto => return Ok(Err(1)),
                    other => (other?, 0, self.reason.clone()),
                }
            } else if T::EPS == f64::EPSILON {
                let (solution, passes) = sums.solve_refined(stream, mu)?;
                let Some(solution) = solution else { return Ok(Err(1 + passes)) };
                let by = format!("within 1e-8 by the exact residual, in {passes} passes more");
                (solution, passes, format!("whitened after the pass, {by}"))
            } else {
                return Ok(Err(1));
            };
        let choice = Choice { by, products: self.products, reason };
        Ok(Ok(Solved { solution, choice, passes: 1 + passes }))
    }
}

impl Solver {
    /// [`solve`](Self::solve) for the rows k_Z(x_i) of `source`, and the report of the fit.
    pub(crate) fn solve_at<T: Scalar, K: Kernel<T>>(
        self,
        source: &KernelRows<'_, T, K>,
        stream: &mut FeatureRows<'_, T>,
        mu: f64,
    ) -> Result<(Solution, FitReport)> {
        // ‖k_Z(x)‖², the mean over the centres
        let row = stream.whitener.squared_norm / source.centers.len() as f64;
        let solved = self.solve(stream, mu, row)?;
        let report = solved.report(source.report(stream, solved.passes));
        Ok((solved.solution, report))
    }

    /// The minimiser β of ‖√w(y − Φβ − b)‖² + nλ‖β‖², its method and why; `row` is about ‖g(x)‖².
    /// If a method chosen by `Auto` proves not to be safe, the next one is taken.
    pub(crate) fn solve<T: Scalar>(
        self,
        stream: &mut FeatureRows<'_, T>,
        mu: f64,
        row: f64,
    ) -> Result<Solved> {
        let (whitener, intercept, auto) =
            (stream.whitener, stream.shift.is_some(), self == Solver::Auto);
        let once = stream.totals.weight * row * whitener.inverse_trace;
        let scales = Scales { mu, trace: stream.totals.trace, once };
        let mut choice = self.choose::<T>(&scales);
        let mut passes = 0;
        let tried = auto && T::EPS == f64::EPSILON && mu >= scales.once_tried(whitener.order());
        if choice.by == SolvedBy::WhitenOnce || (choice.by == SolvedBy::NormalEquations && tried) {
            stream.whiten_tiles = false;
            match choice.whiten_once(stream, mu, auto)? {
                Ok(solved) => return Ok(solved),
                Err(tried) => (stream.whiten_tiles, passes) = (true, tried),
            }
            choice = self.choose::<T>(&Scales { once: f64::INFINITY, ..scales });
            choice.reason =
                format!("whitening after the pass turned out not to be safe; {}", choice.reason);
        }
        while choice.by == SolvedBy::NormalEquations {
            passes += 1;
            match NormalSums::over(stream, choice.products)?.solve(mu, intercept) {
                Err(Error::NotPositiveDefinite { .. }) if auto => {}
                other => return Ok(Solved { solution: other?, choice, passes }),
            }
            choice.reason = "the normal equations were not positive definite".into();
            match choice.products {
                Products::Scalar if T::EPS > f64::EPSILON => choice.products = Products::Double,
                _ => choice.by = SolvedBy::Qr,
            }
        }
        let solution = QrSums::over(stream, Products::Double)?.solve(mu, intercept)?;
        Ok(Solved { solution, choice, passes: passes + 1 })
    }

    /// The method of the caller, or the first safe one of five (two methods, each with products of
    /// two precisions, and QR) in the order of their costs. In `f32` the second and the third cost
    /// the same; the more accurate comes first.
    pub(crate) fn choose<T: Scalar>(self, scales: &Scales) -> Choice {
        use Products::{Double, Scalar};
        use SolvedBy::{NormalEquations, Qr, WhitenOnce};
        let mu = scales.mu;
        let asked = |by| Choice { by, products: Scalar, reason: "asked for".into() };
        match self {
            Solver::WhitenOnce => return asked(WhitenOnce),
            Solver::NormalEquations => return asked(NormalEquations),
            Solver::Qr => return asked(Qr),
            Solver::Auto => {}
        }
        let ways = [
            (WhitenOnce, Scalar),
            (WhitenOnce, Double),
            (NormalEquations, Scalar),
            (NormalEquations, Double),
        ];
        for (by, products) in ways {
            let eps = products.eps::<T>();
            let (bound, what) = match by {
                WhitenOnce => (scales.once_safe(eps), "4*eps*tr(C'C)*tr(inv W)"),
                _ if eps > f64::EPSILON => (SAFETY_OF_TILES * eps * scales.trace, "eps*trace"),
                _ => (safe(scales.trace, eps), "10*eps*trace"),
            };
            if mu >= bound {
                let wide = if eps < T::EPS { ", products in f64" } else { "" };
                let reason = format!("n*lambda = {mu:.3e} is at least {what} = {bound:.3e}{wide}");
                return Choice { by, products, reason };
            }
        }
        let bound = safe(scales.trace, f64::EPSILON);
        Choice {
            reason: format!("n*lambda = {mu:.3e} is below 10*eps*trace = {bound:.3e}"),
            ..asked(Qr)
        }
    }
}
