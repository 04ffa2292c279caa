//! Conjugate gradients until the true residual is small, with a monitor; a run can be saved and
//! resumed.

use crate::cg::{ConjugateGradients, LinearSystem};
use crate::{Error, Result, SavedSolve, Scalar, validate};
use faer::{Mat, MatRef};

/// Why an iterative solve ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The true residual is within the tolerance.
    Converged,
    /// The limit on iterations is reached.
    IterationLimit,
    /// Rounding errors prevent a further decrease of the residual: the tolerance is below what the
    /// condition of the system allows.
    Stalled,
    /// The monitor asked to stop.
    Asked,
    /// The monitor failed, with this message.
    MonitorFailed(String),
}

/// The result of an iterative solve.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PcgReport {
    /// Why the solve ended.
    pub stop: Stop,
    /// Iterations done.
    pub iterations: usize,
    /// The *true* relative residual ‖b − Ax‖/‖b‖ at the end, the largest over the right-hand sides.
    /// For a system with an [`error`](LinearSystem::error), a bound on this residual.
    pub residual: f64,
    /// Whether `residual` is within the tolerance.
    pub converged: bool,
    /// Relative residual by the recurrence (largest over the right-hand sides) after each
    /// iteration.
    pub history: Vec<f64>,
    /// Estimate of the condition number of the preconditioned system, from below.
    pub condition: f64,
}

impl PcgReport {
    /// `Ok` if converged to this tolerance, that of the run.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with the true residual.
    pub fn check(&self, tolerance: f64) -> Result<()> {
        if self.converged {
            return Ok(());
        }
        let PcgReport { iterations, residual, .. } = *self;
        Err(Error::NotConverged { iterations, residual, tolerance })
    }
}

/// Conjugate gradients on A·X = B (n × t) until the *true* relative residual ‖b − Ax‖₂/‖b‖₂ of
/// every column is within the tolerance, with a monitor.
///
/// Every column has its own step lengths, so the iterates are those of t separate runs. A column
/// that has converged, or whose curvature pᵀAp is no longer positive, makes no further steps while
/// the others continue. The last iterate is kept whether or not the run converged: the
/// [report](PcgReport) says which, and [`PcgReport::check`] turns failure into an error.
///
/// By rounding, the residual of the recurrence drifts away from the true residual. When the
/// recurrence reaches the tolerance, the true residual is computed. If it is too large, the run
/// restarts from the current x and the true residual. The run has stalled if such a round does not
/// halve the true residual. For a system that applies a nearby Â, these rounds are iterative
/// refinement: before a run counts as stalled, because no column can make a step or a round brings
/// no gain, the system [falls back](LinearSystem::fall_back) to A.
///
/// A state [saved](Self::save) after an iteration can be [resumed](Self::resume); the result has
/// the bits of an uninterrupted run.
///
/// # Cost
/// An iteration applies A and M⁻¹ once, and every computation of the true residual applies A once
/// more; 5nt numbers of memory.
///
/// # Source
/// Hestenes & Stiefel 1952; Saad, *Iterative Methods for Sparse Linear Systems*, algorithm 9.1.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef, mat};
/// use nystrom_linalg_core::{LinearSystem, Result, Solve, Stop, ops};
/// struct Plain(Mat<f64>);
/// impl LinearSystem<f64> for Plain {
///     fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>) -> Result<()> {
///         ops::matmul(out, Accum::Replace, self.0.as_ref(), x, 1.0);
///         Ok(())
///     }
///     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
///         out.copy_from(r);
///     }
/// }
/// let (mut a, b) = (Plain(mat![[4.0, 1.0], [1.0, 3.0]]), mat![[1.0], [2.0]]);
/// let b = b.as_ref();
/// // the first of two iterations, then saved
/// let (mut first, mut saved) = (Solve::start(&mut a, b, None)?, None);
/// first.run(&mut a, b, 1e-8, 100, &mut |solve| {
///     saved = Some(solve.save());
///     Some(Stop::Asked)
/// })?;
/// // resumed, possibly in another process
/// let mut second = Solve::resume(&saved.unwrap(), &mut a, b)?;
/// assert!(second.run(&mut a, b, 1e-8, 100, &mut |_| None)?.converged);
/// assert_eq!(second.iterations(), 2);
/// assert!((second.cg().x()[(0, 0)] - 1.0 / 11.0).abs() < 1e-12);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Solve<T> {
    cg: ConjugateGradients<T>,
    history: Vec<f64>,
    /// The true residual at the end of the last round; none before the first round ends.
    verified: Option<f64>,
    /// Whether `cg.r` was computed as b − Ax (not by the recurrence).
    is_true: bool,
    fell_back: bool,
}

impl<T: Scalar> Solve<T> {
    /// A run that starts at x = `x0` (n × t), or at 0 without `x0`.
    ///
    /// # Errors
    /// Those of [`ConjugateGradients::start`].
    pub fn start(
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        x0: Option<MatRef<'_, T>>,
    ) -> Result<Self> {
        let cg = ConjugateGradients::start(system, b, x0)?;
        Ok(Solve { cg, history: Vec::new(), verified: None, is_true: true, fell_back: false })
    }

    /// Continues a saved run, for the same system and right-hand side. M⁻¹ is applied once: the
    /// bits of rᵀM⁻¹r and ‖b‖ must be those saved.
    ///
    /// # Errors
    /// [`Incompatible`](crate::Error::Incompatible) if the state belongs to another preconditioner,
    /// right-hand side or instruction set, or is damaged.
    pub fn resume(
        saved: &SavedSolve<T>,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
    ) -> Result<Self> {
        let cg = saved.resume(system, b)?;
        if saved.fell_back {
            system.fall_back();
        }
        let SavedSolve { ref history, verified, fell_back, .. } = *saved;
        Ok(Solve { cg, history: history.clone(), verified, is_true: false, fell_back })
    }

    /// Iterates until the relative residual of every column is at most `tolerance`, the run stalls,
    /// `max_iterations` iterations are done (those before a [`resume`](Self::resume) included), or
    /// `look` returns a reason to stop. `look` is called with the state after every iteration.
    ///
    /// Every iteration applies A once, and every check of the true residual once more. For a system
    /// with an [`error`](LinearSystem::error) the check applies the nearby Â, and then A only if the
    /// bound by Â is above the tolerance.
    ///
    /// # Errors
    /// [`InvalidParameter`](crate::Error::InvalidParameter) for a tolerance that is not positive;
    /// those of [`LinearSystem::apply`].
    pub fn run(
        &mut self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        tolerance: f64,
        max_iterations: usize,
        look: &mut dyn FnMut(&Self) -> Option<Stop>,
    ) -> Result<PcgReport> {
        validate::positive("tolerance", tolerance)?;
        if self.is_true && !self.history.is_empty() {
            self.cg.restart(system); // an earlier call of `run` had ended
        }
        let stop = loop {
            if self.cg.residual() <= tolerance {
                self.verify(system, b, tolerance)?;
                if self.cg.residual() <= tolerance {
                    break Stop::Converged;
                }
                if self.verified.is_none_or(|verified| self.cg.residual() <= verified / 2.0) {
                    self.verified = Some(self.cg.residual());
                } else if !self.fall_back(system) {
                    break Stop::Stalled;
                }
                self.cg.restart(system);
            }
            if self.history.len() >= max_iterations {
                break Stop::IterationLimit;
            }
            if !self.cg.step(system, tolerance)? {
                if !self.fall_back(system) {
                    break Stop::Stalled;
                }
                self.cg.true_residual(system, b)?;
                self.is_true = true;
                self.cg.restart(system);
                continue;
            }
            self.is_true = false;
            self.history.push(self.cg.residual());
            if let Some(stop) = look(self) {
                break stop;
            }
        };
        self.verify(system, b, f64::INFINITY)?;
        let (residual, history) = (self.cg.residual(), self.history.clone());
        let (iterations, converged) = (history.len(), residual <= tolerance);
        let condition = self.cg.condition();
        Ok(PcgReport { stop, iterations, residual, converged, history, condition })
    }

    /// Computes the residual as [`ConjugateGradients::verify`] does, unless it is the true one.
    fn verify(
        &mut self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        tolerance: f64,
    ) -> Result<()> {
        if !self.is_true {
            self.cg.verify(system, b, tolerance)?;
            self.is_true = true;
        }
        Ok(())
    }

    fn fall_back(&mut self, system: &mut dyn LinearSystem<T>) -> bool {
        let fell = system.fall_back();
        if fell {
            (self.verified, self.fell_back) = (None, true);
        }
        fell
    }

    /// The state from which [`resume`](Self::resume) continues.
    #[must_use]
    pub fn save(&self) -> SavedSolve<T> {
        let cg = &self.cg;
        SavedSolve {
            x: cg.x.clone(),
            r: cg.r.clone(),
            p: cg.p.clone(),
            rho: cg.rho.clone(),
            b_norm: cg.b_norm.clone(),
            steps: cg.steps.clone(),
            condition: cg.condition,
            history: self.history.clone(),
            verified: self.verified,
            fell_back: self.fell_back,
        }
    }

    /// Iterations done.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// The iterate, its residuals and the estimate of the condition number.
    pub fn cg(&self) -> &ConjugateGradients<T> {
        &self.cg
    }

    /// x, n × t.
    pub fn into_x(self) -> Mat<T> {
        self.cg.into_x()
    }
}
