//! Falkon.

use super::preconditioner::Preconditioner;
use super::restricted::Restricted;
use super::{Extras, IterativeFit, IterativeOptions};
use crate::{Centers, Problem};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar};
use nystrom_sketch::Sketch;

/// Kernel ridge regression restricted to m centres by preconditioned conjugate gradients: the f of
/// [`NystromKrr`](crate::NystromKrr) without its O(nm²).
///
/// ```text
/// Hθ = K_nmᵀy,   H = K_nmᵀK_nm + nλK_mm,   B = (1/√n)T⁻¹A⁻¹,   T = chol(K_mm),
///     A = chol(TΩTᵀ/n + λI):   conjugate gradients on BᵀHB.
/// ```
///
/// Ω = diag(ω), where centre j represents ω_j points ([`Centers`]): n/m for uniform sampling, the
/// weights of a [`Dictionary`](nystrom_sketch::Dictionary) otherwise. The paper writes M for m, and
/// W = ΩM/n for Ω. Leverage-sampled centres without their weights take about twice the iterations.
/// If every point is a centre, BᵀHB = I.
///
/// K_nm is evaluated tile by tile, each entry once per iteration for both products, or stored as
/// far as [`memory`](IterativeOptions::memory) allows. Kernel values are computed in the scalar
/// type; products, sums, factors and vectors are in `f64`.
///
/// The run stops when the **true** residual satisfies ‖K_nmᵀy − Hθ‖ ≤ tolerance·‖K_nmᵀy‖ for every
/// target, in the norm of (K_mm + δI)⁻¹. This residual is the gradient of the objective in the
/// space of k, relative to the gradient at f = 0. The last model is returned whether or not the run
/// converged; the [report](crate::IterationReport) has the reason for the end and the residual.
///
/// # Cost
/// An iteration takes nm kernel values, or none where K_nm is stored, and 4nmt + 4m²t flops. The
/// factors take m² kernel values, m³/3 + (2m³/3 + 256m²) + m³/3 flops and 16m² bytes;
/// [`MemoryPlan`](crate::MemoryPlan) has the other bytes. The bits do not depend on the number of
/// threads.
///
/// # Source
/// A. Rudi, L. Carratino, L. Rosasco, *FALKON: an optimal large scale kernel method*, NeurIPS 2017
/// (arXiv:1705.10958), algorithm 1; for uniform centres A is that of the authors' code,
/// chol(TTᵀ/m + λI) (`FalkonML/falkon`, `flk_preconditioner.py`). The paper has a form for weighted
/// centres too; the one here is derived. With ω_j points like z_j, K_nmᵀK_nm becomes K_mm Ω K_mm.
/// With T on both sides it becomes TΩTᵀ. Tests hold it to BᵀHB = I when every point is a centre,
/// and to the condition number with and without weights.
///
/// # Departures
/// Conjugate gradients run on H in the coordinates β = Tθ with the preconditioner nAᵀA. The
/// iterates are the same in exact arithmetic, and the residual is the gradient named above. T
/// factors K_mm + δI, δ = ε·tr K_mm/10 or the first tenfold of it that succeeds, and H contains
/// K_mm + δI in place of K_mm, as in `NystromKrr`. The authors' code stops on the preconditioned
/// residual.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Falkon, IterativeOptions};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::{Dictionary, Draw};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin());
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let centers = Dictionary::uniform(2000, 60, Draw::WithoutReplacement, rng)?;
/// let falkon = Falkon::new(Gaussian::new(0.1)?, Ridge::PerSample(1e-6));
/// let fit = falkon.fit((Points::from_slice(&x), &y), &centers)?;
/// assert!(fit.converged() && fit.report.iterations < 40);
/// let f = fit.model.predict(Points::from_slice(&[0.123]))?;
/// assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Falkon<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// When to stop, and how much memory to take.
    pub options: IterativeOptions,
}

impl<K, T> Falkon<K, T> {
    /// Without intercept, to a residual of 1e-6, nothing kept.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        Falkon { kernel, ridge, intercept: false, options: IterativeOptions::default() }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Falkon<K, T> {
    /// Fits y (n × t) at the n points x of the problem; `centers` is a `&Dictionary`, `&Landmarks`
    /// or [`Points`](nystrom_kernels::Points).
    ///
    /// # Errors
    /// Before the first iteration: [`Empty`](nystrom_linalg_core::Error::Empty),
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite),
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a ridge, weight or
    /// tolerance that is not positive. [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) if
    /// the memory allowed holds no fit. A run that does not converge is not an error: see
    /// [`IterativeFit::into_model`].
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
    ) -> Result<IterativeFit<K, T>> {
        self.fit_with(problem, centers, Extras::default())
    }

    /// As [`fit`](Self::fit), with a warm start or a monitor.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Extras, Falkon, Stop, metrics::rmse};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Landmarks;
    /// use std::ops::ControlFlow;
    /// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
    /// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin() + 0.3 * (i as f64 * 9.7).sin());
    /// let centers = Landmarks::new(1500, (0..1500).step_by(30).collect())?;
    /// let (train, valid) =
    ///     (Points::from_slice(&x).slice(0..1500), Points::from_slice(&x).slice(1500..2000));
    /// let mut best = f64::INFINITY;
    /// let mut plateau = |iteration: &nystrom_krr::Iteration<'_, _, f64>| {
    ///     let error =
    ///         rmse(iteration.model()?.predict(valid)?.as_ref(), y.as_ref().subrows(1500, 500))?;
    ///     if error > 0.999 * best {
    ///         return Ok(ControlFlow::Break(()));
    ///     }
    ///     best = error;
    ///     Ok(ControlFlow::Continue(()))
    /// };
    /// let extras = Extras { monitor: Some(&mut plateau), ..Extras::default() };
    /// let falkon = Falkon::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-6));
    /// let fit = falkon.fit_with((train, y.subrows(0, 1500)), &centers, extras)?;
    /// assert_eq!(fit.report.stop, Stop::Asked);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`fit`](Self::fit); [`Shape`](nystrom_linalg_core::Error::Shape) for a start of another
    /// size.
    pub fn fit_with<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        self.restricted().fit(problem.into(), centers.into(), extras)
    }

    /// As [`fit`](Self::fit), with f restricted to the span of a sketch S as in
    /// [`SketchedKrr`](crate::SketchedKrr). KS takes the place of K_nm, and SᵀKS that of K_mm.
    /// Because E\[SSᵀ\] = I, Ω = diag(c²) for the scales c of the columns.
    ///
    /// If at most n/4 rows of S are not zero, KS is computed by tiles in every pass, or stored as
    /// far as the memory allows. For a denser S it is computed once and stored: nm numbers for m
    /// columns.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::Falkon;
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Accumulation;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
    /// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin());
    /// let sketch =
    ///     Accumulation::uniform(4).sample(2000, 30, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
    /// let falkon = Falkon::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-4));
    /// let fit = falkon.fit_sketch((Points::from_slice(&x), &y), &sketch)?;
    /// assert!(fit.converged() && fit.model.report().m <= 120);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`fit`](Self::fit), with the sketch in place of the centres.
    pub fn fit_sketch<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        sketch: &dyn Sketch<T>,
    ) -> Result<IterativeFit<K, T>> {
        self.restricted().fit_sketch(problem.into(), sketch)
    }

    pub(super) fn restricted(&self) -> Restricted<'_, K, T> {
        let Falkon { kernel, ridge, intercept, options } = self;
        let (ridge, intercept) = (*ridge, *intercept);
        Restricted { kernel, ridge, intercept, options, preconditioner: Preconditioner::Falkon }
    }
}
