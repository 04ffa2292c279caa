//! Conjugate gradients until the true residual is small, with a monitor; a run can be saved and
//! resumed.

use crate::cg::{ConjugateGradients, LinearSystem, norms};
use crate::{Result, SavedSolve, validate};
use faer::MatRef;

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

impl ConjugateGradients {
    /// Iterates until the *true* relative residual ‖b − Ax‖₂/‖b‖₂ of every column is at most
    /// `tolerance`, the run stalls, `max_iterations` iterations are done (those before a
    /// [`resume`](Self::resume) included), or `look` returns a reason to stop. `look` is called
    /// with the state after every iteration.
    ///
    /// A column that has converged, or whose curvature pᵀAp is no longer positive, makes no further
    /// steps while the others continue. The last iterate is kept whether or not the run converged.
    ///
    /// By rounding, the residual of the recurrence drifts away from the true residual. When the
    /// recurrence reaches the tolerance, the true residual is computed. If it is too large, the run
    /// restarts from the current x and the true residual. The run has stalled if such a round does
    /// not halve the true residual. For a system that applies a nearby Â, these rounds are
    /// iterative refinement: before a run counts as stalled, because no column can make a step or a
    /// round brings no gain, the system [falls back](LinearSystem::fall_back) to A.
    ///
    /// A state [saved](Self::save) after an iteration can be [resumed](Self::resume); the result
    /// has the bits of an uninterrupted run.
    ///
    /// # Cost
    /// An iteration applies A and M⁻¹ once, and every check of the true residual A once more. For a
    /// system with an [`error`](LinearSystem::error) the check applies the nearby Â: ‖b − Ax‖ ≤
    /// ‖b − Âx‖ + ‖Â − A‖·‖x‖. Only if this bound is above the tolerance, A is applied. At the end
    /// [`residual`](Self::residual) is the true one, or that bound.
    ///
    /// # Errors
    /// [`InvalidParameter`](crate::Error::InvalidParameter) for a tolerance that is not positive;
    /// those of [`LinearSystem::apply`].
    ///
    /// ```
    /// use faer::{Accum, Mat, MatMut, MatRef, mat};
    /// use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result, Stop, ops};
    /// struct Plain(Mat<f64>);
    /// impl LinearSystem for Plain {
    ///     fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
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
    /// let (mut first, mut saved) = (ConjugateGradients::start(&mut a, b, None)?, None);
    /// first.run(&mut a, b, 1e-8, 100, &mut |cg| {
    ///     saved = Some(cg.save());
    ///     Some(Stop::Asked)
    /// })?;
    /// // resumed, possibly in another process
    /// let mut second = ConjugateGradients::resume(&saved.unwrap(), &mut a, b)?;
    /// assert_eq!(second.run(&mut a, b, 1e-8, 100, &mut |_| None)?, Stop::Converged);
    /// assert_eq!(second.iterations(), 2);
    /// assert!((second.x()[(0, 0)] - 1.0 / 11.0).abs() < 1e-12);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn run(
        &mut self,
        system: &mut dyn LinearSystem,
        b: MatRef<'_, f64>,
        tolerance: f64,
        max_iterations: usize,
        look: &mut dyn FnMut(&Self) -> Option<Stop>,
    ) -> Result<Stop> {
        validate::positive("tolerance", tolerance)?;
        if self.is_true && !self.at.history.is_empty() {
            self.restart(system); // an earlier call of `run` had ended
        }
        let stop = loop {
            if self.residual() <= tolerance {
                self.verify(system, b, tolerance)?;
                if self.residual() <= tolerance {
                    break Stop::Converged;
                }
                if self.at.verified.is_none_or(|verified| self.residual() <= verified / 2.0) {
                    self.at.verified = Some(self.residual());
                } else if !self.fall_back(system) {
                    break Stop::Stalled;
                }
                self.restart(system);
            }
            if self.at.history.len() >= max_iterations {
                break Stop::IterationLimit;
            }
            if !self.step(system, tolerance)? {
                if !self.fall_back(system) {
                    break Stop::Stalled;
                }
                self.true_residual(system, b)?;
                self.restart(system);
                continue;
            }
            self.at.history.push(self.residual());
            if let Some(stop) = look(self) {
                break stop;
            }
        };
        self.verify(system, b, f64::INFINITY)?;
        Ok(stop)
    }

    /// Computes the true residual, or a bound on it that is at most `tolerance`, unless the
    /// residual is the true one.
    fn verify(
        &mut self,
        system: &mut dyn LinearSystem,
        b: MatRef<'_, f64>,
        tolerance: f64,
    ) -> Result<()> {
        let error = system.error();
        if !self.is_true && error > 0.0 {
            system.apply(self.at.r.as_mut(), self.at.x.as_ref(), false)?;
            self.subtract_from(b);
            for (j, x) in norms(self.at.x.as_ref()).into_iter().enumerate() {
                let b = if self.at.b_norm[j] > 0.0 { self.at.b_norm[j] } else { 1.0 };
                self.residuals[j] += error * x / b;
            }
            self.is_true = self.residual() <= tolerance;
        }
        if !self.is_true {
            self.true_residual(system, b)?;
        }
        Ok(())
    }

    fn fall_back(&mut self, system: &mut dyn LinearSystem) -> bool {
        let fell = system.fall_back();
        if fell {
            (self.at.verified, self.at.fell_back) = (None, true);
        }
        fell
    }

    /// The state from which [`resume`](Self::resume) continues.
    #[must_use]
    pub fn save(&self) -> SavedSolve {
        SavedSolve(self.at.clone())
    }
}
