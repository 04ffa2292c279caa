//! Preconditioned conjugate gradients, advanced step by step by the caller.

use crate::tridiagonal::eigenvalue_ratio;
use crate::{Result, validate};
use faer::{Mat, MatMut, MatRef};

/// An n × n symmetric positive definite matrix A, given by its products A·x, with a preconditioner
/// M⁻¹ ≈ A⁻¹.
///
/// A system may multiply by a nearby matrix Â in place of A where that is cheaper. It then bounds
/// ‖Â − A‖₂ by [`error`](Self::error).
pub trait LinearSystem {
    /// out = A·x, n × t, all columns at once; or Â·x, unless it has to be `exact`.
    ///
    /// # Errors
    /// Those of the implementation, as of one that reads files. The run ends and returns the error.
    fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, exact: bool) -> Result<()>;
    /// out = M⁻¹·r, M symmetric positive definite.
    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>);

    /// A bound on ‖Â − A‖₂; 0 if `apply` is exact. If no bound is known it is 0, too, and every
    /// true residual takes an exact product.
    fn error(&self) -> f64 {
        0.0
    }
    /// Gives up the nearby Â, so that `apply` is exact from now on. Returns false if `apply` was
    /// already exact.
    fn fall_back(&mut self) -> bool {
        false
    }
}

/// Conjugate gradients on A·X = B (X and B n × t), which the caller advances step by step, or
/// [runs](Self::run) until the residual is small.
///
/// Every column has its own step lengths, so the iterates are those of t separate runs. A step
/// costs one application of A and one of M⁻¹; the state takes 5nt numbers of memory.
///
/// Source: Hestenes & Stiefel 1952; Saad, *Iterative Methods for Sparse Linear Systems*, algorithm
/// 9.1, and section 6.7.3 for the eigenvalue estimates.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef, mat};
/// use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result, ops};
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
/// let mut cg = ConjugateGradients::start(&mut a, b.as_ref(), None)?;
/// while cg.residual() > 1e-10 && cg.step(&mut a, 1e-10)? {}
/// // ‖b − Ax‖/‖b‖, recomputed
/// assert!(cg.true_residual(&mut a, b.as_ref())? < 1e-10);
/// // after two steps both eigenvalues are known
/// assert!((cg.condition() - 4.618 / 2.382).abs() < 1e-3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConjugateGradients {
    pub(crate) at: State,
    pub(crate) z: Mat<f64>,
    pub(crate) q: Mat<f64>,
    pub(crate) residuals: Vec<f64>,
    /// Whether r was computed as b − Ax (not by the recurrence).
    pub(crate) is_true: bool,
}

/// What determines all further iterations.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct State {
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub x: Mat<f64>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub r: Mat<f64>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub p: Mat<f64>,
    pub rho: Vec<f64>,
    pub b_norm: Vec<f64>,
    /// For each column, (α, β) of every step since the last (re)start. They determine the entries
    /// of the column's Lanczos matrix.
    pub steps: Vec<Vec<(f64, f64)>>,
    /// The largest ratio of Ritz values before the last restart.
    pub condition: f64,
    /// The residual by the recurrence after each iteration of a run.
    pub history: Vec<f64>,
    /// The true residual at the end of the last round; none before the first round ends.
    pub verified: Option<f64>,
    pub fell_back: bool,
}

impl ConjugateGradients {
    /// A run that starts at x = `x0` (n × t), or at 0 without `x0`.
    ///
    /// # Errors
    /// [`Shape`](crate::Error::Shape) if `x0` does not have the shape of `b`,
    /// [`NonFinite`](crate::Error::NonFinite) for either; those of
    /// [`LinearSystem::apply`].
    pub fn start(
        system: &mut dyn LinearSystem,
        b: MatRef<'_, f64>,
        x0: Option<MatRef<'_, f64>>,
    ) -> Result<Self> {
        validate::finite("right-hand side", b)?;
        let (n, t) = (b.nrows(), b.ncols());
        let zeros = || Mat::zeros(n, t);
        let at = State {
            x: zeros(),
            r: b.to_owned(), //                                 r = b − Ax
            p: zeros(),
            rho: vec![],
            b_norm: norms(b),
            steps: vec![],
            condition: 1.0,
            history: vec![],
            verified: None,
            fell_back: false,
        };
        let (z, q, residuals) = (zeros(), zeros(), vec![]);
        let mut cg = ConjugateGradients { at, z, q, residuals, is_true: true };
        if let Some(x0) = x0 {
            validate::same_size("rows of the start", n, x0.nrows())?;
            validate::same_size("columns of the start", t, x0.ncols())?;
            validate::finite("start", x0)?;
            cg.at.x.copy_from(x0);
            cg.true_residual(system, b)?;
        }
        cg.restart(system);
        Ok(cg)
    }

    /// One step for every column whose relative residual is above `tolerance`. Returns false, with
    /// x unchanged, if no such column can make a step: pᵀAp or ρ = rᵀM⁻¹r is not positive, or
    /// overflows `f64`.
    ///
    /// # Errors
    /// Those of [`LinearSystem::apply`]; x is then unchanged.
    pub fn step(&mut self, system: &mut dyn LinearSystem, tolerance: f64) -> Result<bool> {
        let t = self.at.rho.len();
        system.apply(self.q.as_mut(), self.at.p.as_ref(), false)?; //     q = Ap
        let curvature = dots(self.at.p.as_ref(), self.q.as_ref());
        let usable = |x: f64| x > 0.0 && x.is_finite();
        let moves = |j: &usize| {
            self.residuals[*j] > tolerance && usable(curvature[*j]) && usable(self.at.rho[*j])
        };
        let moving: Vec<usize> = (0..t).filter(moves).collect();
        if moving.is_empty() {
            return Ok(false);
        }
        let alpha = |rho: f64, j: usize| rho / curvature[j];
        for &j in &moving {
            let alpha = alpha(self.at.rho[j], j); //               α = ρ/pᵀAp
            for i in 0..self.at.x.nrows() {
                self.at.x[(i, j)] += alpha * self.at.p[(i, j)];
                self.at.r[(i, j)] -= alpha * self.q[(i, j)];
            }
        }
        system.precondition(self.z.as_mut(), self.at.r.as_ref());
        let rho_next = dots(self.at.r.as_ref(), self.z.as_ref());
        for &j in &moving {
            let beta = rho_next[j] / self.at.rho[j];
            for i in 0..self.at.x.nrows() {
                self.at.p[(i, j)] = self.z[(i, j)] + beta * self.at.p[(i, j)];
            }
            self.at.steps[j].push((alpha(self.at.rho[j], j), beta));
            self.at.rho[j] = rho_next[j];
        }
        (self.residuals, self.is_true) = (self.at.relative(), false);
        Ok(true)
    }

    /// Recomputes r = b − Ax (one exact application of A) and returns
    /// [`residual`](Self::residual), which is then the true relative residual. Call
    /// [`restart`](Self::restart) before the next step.
    ///
    /// # Errors
    /// Those of [`LinearSystem::apply`].
    pub fn true_residual(
        &mut self,
        system: &mut dyn LinearSystem,
        b: MatRef<'_, f64>,
    ) -> Result<f64> {
        system.apply(self.at.r.as_mut(), self.at.x.as_ref(), true)?;
        self.subtract_from(b);
        Ok(self.residual())
    }

    /// r = b − r, and the relative residuals of the new r.
    pub(crate) fn subtract_from(&mut self, b: MatRef<'_, f64>) {
        for j in 0..b.ncols() {
            for i in 0..b.nrows() {
                self.at.r[(i, j)] = b[(i, j)] - self.at.r[(i, j)];
            }
        }
        (self.residuals, self.is_true) = (self.at.relative(), true);
    }

    /// Restarts the recurrence at the current x and r, without the previous search directions. One
    /// application of M⁻¹.
    pub fn restart(&mut self, system: &mut dyn LinearSystem) {
        self.at.condition = self.condition();
        system.precondition(self.z.as_mut(), self.at.r.as_ref());
        self.at.p.copy_from(&self.z);
        self.at.rho = dots(self.at.r.as_ref(), self.z.as_ref()); //   ρ = rᵀM⁻¹r
        self.residuals = self.at.relative();
        self.at.steps = vec![vec![]; self.at.rho.len()];
    }

    /// x, n × t.
    pub fn x(&self) -> MatRef<'_, f64> {
        self.at.x.as_ref()
    }

    /// r = b − Ax as updated by the recurrence, n × t.
    pub fn r(&self) -> MatRef<'_, f64> {
        self.at.r.as_ref()
    }

    /// z = M⁻¹r, n × t.
    pub fn z(&self) -> MatRef<'_, f64> {
        self.z.as_ref()
    }

    /// ρ = rᵀM⁻¹r of every column.
    pub fn rho(&self) -> &[f64] {
        &self.at.rho
    }

    /// Keeps the state of these columns only, in the order given, and drops the others.
    ///
    /// # Panics
    /// If an index is not below t.
    pub fn keep(&mut self, columns: &[usize]) {
        let condition = self.condition();
        for matrix in [&mut self.at.x, &mut self.at.r, &mut self.z, &mut self.at.p, &mut self.q] {
            *matrix = Mat::from_fn(matrix.nrows(), columns.len(), |i, j| matrix[(i, columns[j])]);
        }
        for numbers in [&mut self.at.rho, &mut self.at.b_norm, &mut self.residuals] {
            *numbers = columns.iter().map(|&j| numbers[j]).collect();
        }
        self.at.steps = columns.iter().map(|&j| self.at.steps[j].clone()).collect();
        self.at.condition = condition;
    }

    /// ‖r‖₂/‖b‖₂ for every column (‖r‖₂ where b = 0), with r of the recurrence.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// Iterations of [runs](Self::run).
    pub fn iterations(&self) -> usize {
        self.at.history.len()
    }

    /// [`residual`](Self::residual) by the recurrence after each iteration of a [run](Self::run).
    pub fn history(&self) -> &[f64] {
        &self.at.history
    }

    /// The largest of [`residuals`](Self::residuals); NaN if any of them is NaN.
    pub fn residual(&self) -> f64 {
        self.residuals.iter().fold(0.0, |a: f64, &b| if a >= b || a.is_nan() { a } else { b })
    }

    /// Estimate of the condition number of M^(−1/2)AM^(−1/2): the largest ratio of Ritz values of
    /// M⁻¹A in any column so far. The estimate is a lower bound and soon close. It is 1 before the
    /// second step, and at most 1e18.
    pub fn condition(&self) -> f64 {
        self.at.steps.iter().map(|steps| ritz_ratio(steps)).fold(self.at.condition, f64::max)
    }
}

impl State {
    /// ‖r‖₂/‖b‖₂ for every column (‖r‖₂ where b = 0).
    pub fn relative(&self) -> Vec<f64> {
        norms(self.r.as_ref())
            .iter()
            .zip(&self.b_norm)
            .map(|(r, b)| if *b > 0.0 { r / b } else { *r })
            .collect()
    }
}

/// λ_max/λ_min of the Lanczos matrix given by the step lengths α_k, β_k of conjugate gradients:
/// T_kk = 1/α_k + β_(k−1)/α_(k−1), T_(k,k+1)² = β_k/α_k².
fn ritz_ratio(steps: &[(f64, f64)]) -> f64 {
    let before = std::iter::once(0.0).chain(steps.iter().map(|(alpha, beta)| beta / alpha));
    let diagonal: Vec<f64> =
        steps.iter().zip(before).map(|((alpha, _), before)| 1.0 / alpha + before).collect();
    let squares: Vec<f64> = steps.iter().map(|(alpha, beta)| beta / alpha.powi(2)).collect();
    eigenvalue_ratio(&diagonal, &squares[..steps.len().saturating_sub(1)])
}

/// Column-wise inner products, summed in `f64`.
pub(crate) fn dots(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[(i, j)]).sum()).collect()
}

/// Euclidean norms of columns, correct also where the sum of squares overflows or underflows.
pub(crate) fn norms(a: MatRef<'_, f64>) -> Vec<f64> {
    let norm = |(j, square): (usize, f64)| {
        if (f64::MIN_POSITIVE..f64::INFINITY).contains(&square) {
            square.sqrt()
        } else {
            (0..a.nrows()).fold(0.0, |norm: f64, i| norm.hypot(a[(i, j)]))
        }
    };
    dots(a, a).into_iter().enumerate().map(norm).collect()
}
