//! Kernel ridge regression with any sketch.

use crate::Problem;
use crate::features::{FeatureRows, Source, Whitener};
use crate::{FitReport, KrrModel, SolvedBy, Solver};
use faer::{ColMut, Mat, MatMut};
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use nystrom_sketch::{ProductBuffer, Sketch, SketchProduct};
use std::ops::Range;

/// Whether KS is computed tile by tile in every pass, as for a support of at most n/4 rows, or once
/// and stored.
pub(crate) fn is_streamed<T: Scalar>(sketch: &dyn Sketch<T>) -> bool {
    sketch.support().len() <= sketch.n() / 4
}

/// Kernel ridge regression with f restricted to the span of a sketch S (n × m, random or not):
///
/// ```text
/// f_S(x) = k(x, X)Sθ,   θ = (SᵀK²S + nλSᵀKS)⁻¹SᵀKy      (equation (3) of the paper)
/// ```
///
/// the minimiser of (1/n) Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖² over f = Σ_i (Sθ)_i k(·, x_i) and, if
/// `intercept`, b. At the x_i it is kernel ridge regression with K_S = KS(SᵀKS)⁻¹SᵀK in place of K.
/// It depends on S through its span only: scaling the columns of S changes nothing. A sketch
/// with one entry per column is [`NystromKrr`](crate::NystromKrr) with those rows as landmarks, to
/// the bit.
///
/// The matrix of the formula as printed has the squared condition number of KS, which is
/// numerically singular for a smooth kernel. Here the stages of [`NystromKrr`](crate::NystromKrr)
/// are taken with SᵀKS for W and KS for C: SᵀKS + δI = RRᵀ, normal equations of KSR⁻ᵀ, θ = R⁻ᵀβ.
/// For very small λ the QR factorisation of KSR⁻ᵀ replaces its normal equations ([`Solver`]).
///
/// The centres of the model are the points at the u rows of S that are not zero. A prediction costs
/// u kernel values. For an [`Accumulation`](nystrom_sketch::Accumulation) of s terms u ≤ sm, for a
/// dense sketch u = n.
///
/// # Cost
/// nu + u² kernel values, the product KS (2nsm flops for an accumulation of s terms, 2n²m for a
/// dense sketch) and 2nm² + m³ flops. Memory for u ≤ n/4: um·8 bytes for the u rows of KS, and what
/// [`NystromKrr`](crate::NystromKrr) takes. For larger u, KS is computed once and kept: nm numbers
/// more and at most n² − u²/2 kernel values, n²/2 for a dense sketch.
///
/// # Source
/// Y. Chen, Y. Yang, *Accumulations of Projections — A Unified Framework for Random Sketches in
/// Kernel Ridge Regression*, AISTATS 2021 (arXiv:2103.04031), equation (3).
///
/// # Departures
/// θ is not computed by the printed formula, and δ (ε·tr SᵀKS/10, more only if the factorisation
/// fails; reported) shrinks the fit by rounding level.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::SketchedKrr;
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Accumulation;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..400).map(|i| i as f64 / 100.0).collect(); // 400 points on [0, 4)
/// let y = Mat::from_fn(400, 1, |i, _| (3.0 * x[i]).sin());
/// let sketch =
///     Accumulation::uniform(4).sample(400, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// let krr = SketchedKrr::new(Gaussian::new(0.5)?, Ridge::PerSample(1e-6));
/// let model = krr.fit((Points::from_slice(&x), &y), &sketch)?;
/// let f = model.predict(Points::from_slice(&[1.234]))?;
/// assert!((f[(0, 0)] - 3.702_f64.sin()).abs() < 0.01);
/// // centres: distinct rows among 4·20 draws
/// assert!(model.report().m <= 80);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SketchedKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]) for `fit`, `()` for `path`.
    pub ridge: R,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// Normal equations or QR.
    pub solver: Solver,
}

impl<T: Scalar, K: Kernel<T> + Clone> SketchedKrr<K, Ridge<T>> {
    /// Fits y (n × t) at the n points x of the problem.
    ///
    /// # Errors
    /// Those of [`NystromKrr::fit`](crate::NystromKrr::fit), with the sketch in place of the
    /// centres; [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for a kernel value that is
    /// not.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        sketch: &dyn Sketch<T>,
    ) -> Result<KrrModel<K, T>> {
        let samples = problem.into();
        samples.check(&self.kernel)?;
        let mu = self.ridge.absolute(samples.x.len())?.f64(); //             nλ
        self.with_features(samples, sketch, 1, |rows, row, report| {
            // β = (ΦᵀΦ + nλI)⁻¹Φᵀy, Φ = KSR⁻ᵀ
            let solved = self.solver.solve(rows, mu, row)?;
            let about = report.reason.clone();
            let mut report = solved.report(report);
            report.reason = format!("{}; {about}", report.reason);
            if is_streamed(sketch) {
                report.kernel_entries += ((solved.passes - 1) * report.n * report.m) as u64;
            }
            let solution = solved.solution;
            let intercept = rows.intercepts(solution.b);
            // Sθ, θ = R⁻ᵀβ
            let theta = sketch.expand(rows.whitener.unwhiten(solution.beta).as_ref());
            let centers = samples.x.gather(sketch.support().into());
            let centers = centers.points();
            let b = intercept.as_deref();
            KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), b, report)
        })
    }
}

impl<K, R> SketchedKrr<K, R> {
    /// Without intercept, the solver chosen from λ.
    pub fn new(kernel: K, ridge: R) -> Self {
        SketchedKrr { kernel, ridge, intercept: false, solver: Solver::Auto }
    }

    /// Calls `solve` with the whitened rows of KS, about ‖(KS)_i‖², and sizes and costs of a fit
    /// that goes over the rows `passes` times.
    pub(crate) fn with_features<T: Scalar, Out>(
        &self,
        samples: Problem<'_, T>,
        sketch: &dyn Sketch<T>,
        passes: usize,
        solve: impl FnOnce(&mut FeatureRows<'_, T>, f64, FitReport) -> Result<Out>,
    ) -> Result<Out>
    where
        K: Kernel<T>,
    {
        let (n, u) = (samples.x.len(), sketch.support().len());
        validate::same_size("rows of the sketch against number of points", n, sketch.n())?;
        let k = KernelMatrix::new(&self.kernel, samples.x)?;
        let product = SketchProduct::new(&k, sketch)?;
        let on_support = product.on_support()?; //                           KS on the support
        // SᵀKS + δI = RRᵀ; a path, which takes two passes, chooses no way to solve
        let is_auto = passes == 1 && self.solver == Solver::Auto;
        let whitener = Whitener::new(product.gram(on_support.as_ref()).as_ref(), is_auto)?;
        // ‖(KS)_i‖², the mean over the support
        let row = on_support.squared_norm_l2() / u as f64;
        let streamed = is_streamed(sketch);
        let kept = if streamed { None } else { Some(product.stored(on_support.as_ref())?) };
        drop(on_support);
        let rows = if streamed { passes * n } else { n - u };
        let report = FitReport {
            m: u,
            jitter: whitener.jitter,
            reason: format!("a sketch of {} columns on {u} rows", sketch.width()),
            kernel_entries: product.support_entries() + (rows * u) as u64,
            ..FitReport::of_all(SolvedBy::NormalEquations, samples)
        };
        let source = SketchRows { kernel: &self.kernel, product, kept };
        solve(&mut FeatureRows::new(&samples, &source, &whitener, self.intercept)?, row, report)
    }
}

/// g(x_i) = row i of KS, computed when asked for or kept.
pub(crate) struct SketchRows<'a, T, K> {
    pub kernel: &'a K,
    pub product: SketchProduct<'a, T>,
    pub kept: Option<Mat<T>>,
}

impl<T: Scalar, K: Kernel<T>> Source<T> for SketchRows<'_, T, K> {
    fn features(&self) -> usize {
        self.product.sketch().width()
    }

    fn fill(
        &self,
        out: MatMut<'_, T>,
        _: Points<'_, T>,
        rows: Range<usize>,
        buffer: &mut Option<ProductBuffer<T>>,
    ) {
        match &self.kept {
            Some(KS) => out.transpose_mut().copy_from(KS.as_ref().subrows(rows.start, rows.len())),
            None => {
                let buffer = buffer.get_or_insert_with(|| self.product.buffer());
                self.product.tile_into(out.transpose_mut(), rows.into(), buffer);
            }
        }
    }

    fn diagonal(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.kernel.diag_into(out, x);
    }
}
