//! A run of conjugate gradients to a true residual, which can be watched, saved and gone on with.

use crate::cg::{ConjugateGradients, LinearSystem};
use crate::{Error, Result, SavedSolve, Scalar, validate};
use faer::{Mat, MatRef};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOptions {
    /// Relative residual ‖b − Ax‖₂/‖b‖₂ that every right-hand side must reach.
    pub tolerance: f64,
    /// Most iterations. Each applies A once. Every check of the true residual applies it once more;
    /// of a system with an [`error`](LinearSystem::error) the nearby Â, and A only where the bound
    /// by Â is above the tolerance.
    pub max_iterations: usize,
}

impl Default for PcgOptions {
    /// 1e-8 within 100 iterations.
    fn default() -> Self {
        PcgOptions { tolerance: 1e-8, max_iterations: 100 }
    }
}

/// Why an iterative solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PcgEnd {
    /// The true residual is within the tolerance.
    Converged,
    /// The largest number of iterations was done.
    IterationLimit,
    /// Rounding errors let the residual fall no further.
    Stalled,
    /// Whoever looked on said so.
    Stopped,
}

/// What an iterative solve did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PcgReport {
    /// Why it ended.
    pub end: PcgEnd,
    /// Iterations done.
    pub iterations: usize,
    /// The *true* relative residual ‖b − Ax‖/‖b‖ at the end, the largest over the right-hand sides;
    /// a bound on it for a system with an [`error`](LinearSystem::error).
    pub residual: f64,
    /// Whether `residual` is within the tolerance.
    pub converged: bool,
    /// The recurrence's relative residual (largest over the right-hand sides) after each iteration.
    pub history: Vec<f64>,
}

impl PcgReport {
    /// `Ok` if converged.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with the true residual.
    pub fn check(&self, options: &PcgOptions) -> Result<()> {
        if self.converged {
            return Ok(());
        }
        let (iterations, residual, tolerance) = (self.iterations, self.residual, options.tolerance);
        Err(Error::NotConverged { iterations, residual, tolerance })
    }
}

/// Conjugate gradients on A·X = B until the *true* relative residual of every column is within the
/// tolerance: [`pcg`](crate::pcg()) for a [`LinearSystem`], with a monitor.
///
/// The recurrence's residual drifts from the true one by rounding. Where it claims convergence the
/// true one is computed. If that is too large, the run begins again from there with what it has.
/// It has stalled if such a round does not halve the true residual. Where the system applies a
/// nearby Â, such rounds are iterative refinement. A column that cannot move, or a round without
/// gain, then lets the system [fall back](LinearSystem::fall_back) before it counts as stalled.
///
/// What [`save`](Self::save) gives after an iteration goes on by [`resume`](Self::resume) to the
/// bits of a run that was never interrupted.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef, mat};
/// use nystrom_linalg_core::{LinearSystem, PcgOptions, Solve, ops};
/// struct Plain(Mat<f64>);
/// impl LinearSystem<f64> for Plain {
///     fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
///         ops::matmul(out, Accum::Replace, self.0.as_ref(), x, 1.0);
///     }
///     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
///         out.copy_from(r);
///     }
/// }
/// let (mut a, b) = (Plain(mat![[4.0, 1.0], [1.0, 3.0]]), mat![[1.0], [2.0]]);
/// let (b, options) = (b.as_ref(), PcgOptions::default());
/// // the first of two iterations
/// let (mut first, mut saved) = (Solve::start(&mut a, b, None)?, None);
/// first.run(&mut a, b, &options, &mut |solve| { saved = Some(solve.save()); true })?;
/// // in another process, another day
/// let mut second = Solve::resume(&saved.unwrap(), &mut a, b)?;
/// assert!(second.run(&mut a, b, &options, &mut |_| false)?.converged);
/// assert_eq!(second.iterations(), 2);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Solve<T> {
    cg: ConjugateGradients<T>,
    history: Vec<f64>,
    /// The true residual of the last round, if there was one.
    verified: Option<f64>,
    /// Whether the residual at hand is b − Ax.
    is_true: bool,
    fell_back: bool,
}

impl<T: Scalar> Solve<T> {
    /// From `x0`, or 0.
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

    /// From what was saved for the same system and right-hand side. One application of M⁻¹, by
    /// whose bits it is known that they are the same.
    ///
    /// # Errors
    /// [`Incompatible`](crate::Error::Incompatible) for a state of another system or right-hand
    /// side, one of another instruction set, and one that is damaged.
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

    /// Goes on until the tolerance is reached, or as many iterations are done from the first one
    /// on, or `look` answers true. `look` is shown the state after every iteration.
    ///
    /// # Errors
    /// [`InvalidParameter`](crate::Error::InvalidParameter) for a tolerance that is not positive.
    pub fn run(
        &mut self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        options: &PcgOptions,
        look: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<PcgReport> {
        let PcgOptions { tolerance, max_iterations } = *options;
        validate::positive("tolerance", tolerance)?;
        if self.is_true && !self.history.is_empty() {
            self.cg.restart(system); // a run that had come to its end
        }
        let end = loop {
            if self.cg.residual() <= tolerance {
                if !self.is_true {
                    self.cg.verify(system, b, tolerance);
                }
                self.is_true = true;
                if self.cg.residual() <= tolerance {
                    break PcgEnd::Converged;
                }
                if self.verified.is_none_or(|verified| self.cg.residual() <= verified / 2.0) {
                    self.verified = Some(self.cg.residual());
                } else if !self.fall_back(system) {
                    break PcgEnd::Stalled;
                }
                self.cg.restart(system);
            }
            if self.history.len() >= max_iterations {
                break PcgEnd::IterationLimit;
            }
            if !self.cg.step(system, tolerance) {
                if !self.fall_back(system) {
                    break PcgEnd::Stalled;
                }
                self.cg.true_residual(system, b);
                self.is_true = true;
                self.cg.restart(system);
                continue;
            }
            self.is_true = false;
            self.history.push(self.cg.residual());
            if look(self) {
                break PcgEnd::Stopped;
            }
        };
        if !self.is_true {
            self.cg.verify(system, b, f64::INFINITY);
            self.is_true = true;
        }
        let (residual, history) = (self.cg.residual(), self.history.clone());
        let (iterations, converged) = (history.len(), residual <= tolerance);
        Ok(PcgReport { end, iterations, residual, converged, history })
    }

    fn fall_back(&mut self, system: &mut dyn LinearSystem<T>) -> bool {
        let fell = system.fall_back();
        if fell {
            (self.verified, self.fell_back) = (None, true);
        }
        fell
    }

    /// What [`resume`](Self::resume) goes on from.
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

    /// The iterate, its residuals and the condition number so far.
    pub fn cg(&self) -> &ConjugateGradients<T> {
        &self.cg
    }

    /// x, n × t.
    pub fn into_x(self) -> Mat<T> {
        self.cg.into_x()
    }
}
