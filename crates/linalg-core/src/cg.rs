//! Preconditioned conjugate gradients, advanced step by step by the caller.

use crate::tridiagonal::eigenvalue_ratio;
use crate::{Result, Scalar, validate};
use faer::{Mat, MatMut, MatRef};

/// An n × n symmetric positive definite matrix A, given by its products A·x, with a preconditioner
/// M⁻¹ ≈ A⁻¹.
///
/// A system may multiply by a nearby matrix Â in place of A where that is cheaper. It then bounds
/// ‖Â − A‖₂ by [`error`](Self::error), and [`apply_exactly`](Self::apply_exactly) multiplies by A.
pub trait LinearSystem<T> {
    /// out = A·x (or Â·x), n × t, all columns at once.
    ///
    /// # Errors
    /// Those of the implementation, as of one that reads files. The run ends and returns the error.
    fn apply(&mut self, out: MatMut<'_, T>, x: MatRef<'_, T>) -> Result<()>;
    /// out = M⁻¹·r, M symmetric positive definite.
    fn precondition(&mut self, out: MatMut<'_, T>, r: MatRef<'_, T>);

    /// out = A·x, n × t, for true residuals; differs from [`apply`](Self::apply) only if that
    /// multiplies by a nearby Â.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn apply_exactly(&mut self, out: MatMut<'_, T>, x: MatRef<'_, T>) -> Result<()> {
        self.apply(out, x)
    }
    /// A bound on ‖Â − A‖₂; 0 if `apply` is exact. If no bound is known it is 0, too, and every
    /// true residual takes [`apply_exactly`](Self::apply_exactly).
    fn error(&self) -> f64 {
        0.0
    }
    /// Gives up the nearby Â, so that `apply` is exact from now on. Returns false if `apply` was
    /// already exact.
    fn fall_back(&mut self) -> bool {
        false
    }
}

/// The state of a conjugate gradient run on A·X = B (X and B n × t), which the caller advances step
/// by step and can monitor, verify or stop at any step.
///
/// Every column has its own step lengths, so the iterates are those of t separate runs.
/// [`Solve`](crate::Solve) runs all steps in one call. A step costs one application of A and one of
/// M⁻¹; the state takes 5nt numbers of memory.
///
/// Source: Hestenes & Stiefel 1952; Saad, *Iterative Methods for Sparse Linear Systems*, algorithm
/// 9.1, and section 6.7.3 for the eigenvalue estimates.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef, mat};
/// use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result, ops};
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
/// let mut cg = ConjugateGradients::start(&mut a, b.as_ref(), None)?;
/// while cg.residual() > 1e-10 && cg.step(&mut a, 1e-10)? {}
/// // ‖b − Ax‖/‖b‖, recomputed
/// assert!(cg.true_residual(&mut a, b.as_ref())? < 1e-10);
/// // after two steps both eigenvalues are known
/// assert!((cg.condition() - 4.618 / 2.382).abs() < 1e-3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConjugateGradients<T> {
    pub(crate) x: Mat<T>,
    pub(crate) r: Mat<T>,
    pub(crate) z: Mat<T>,
    pub(crate) p: Mat<T>,
    pub(crate) q: Mat<T>,
    pub(crate) rho: Vec<f64>,
    pub(crate) b_norm: Vec<f64>,
    pub(crate) residuals: Vec<f64>,
    /// For each column, (α, β) of every step since the last (re)start. They determine the entries
    /// of the column's Lanczos matrix.
    pub(crate) steps: Vec<Vec<(f64, f64)>>,
    /// The largest ratio of Ritz values before the last restart.
    pub(crate) condition: f64,
}

impl<T: Scalar> ConjugateGradients<T> {
    /// A run that starts at x = `x0` (n × t), or at 0 without `x0`.
    ///
    /// # Errors
    /// [`Shape`](crate::Error::Shape) if `x0` does not have the shape of `b`,
    /// [`NonFinite`](crate::Error::NonFinite) for either; those of
    /// [`LinearSystem::apply`].
    pub fn start(
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        x0: Option<MatRef<'_, T>>,
    ) -> Result<Self> {
        validate::finite("right-hand side", b)?;
        let (n, t) = (b.nrows(), b.ncols());
        let zeros = || Mat::zeros(n, t);
        let b_norm = norms(b);
        let mut cg = ConjugateGradients {
            x: zeros(),
            r: b.to_owned(), //                                 r = b − Ax
            z: zeros(),
            p: zeros(),
            q: zeros(),
            rho: vec![],
            b_norm,
            residuals: vec![],
            steps: vec![],
            condition: 1.0,
        };
        if let Some(x0) = x0 {
            validate::same_size("rows of the start", n, x0.nrows())?;
            validate::same_size("columns of the start", t, x0.ncols())?;
            validate::finite("start", x0)?;
            cg.x.copy_from(x0);
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
    pub fn step(&mut self, system: &mut dyn LinearSystem<T>, tolerance: f64) -> Result<bool> {
        let t = self.rho.len();
        system.apply(self.q.as_mut(), self.p.as_ref())?; //     q = Ap
        let curvature = dots(self.p.as_ref(), self.q.as_ref());
        let usable = |x: f64| x > 0.0 && x.is_finite();
        let moves = |j: &usize| {
            self.residuals[*j] > tolerance && usable(curvature[*j]) && usable(self.rho[*j])
        };
        let moving: Vec<usize> = (0..t).filter(moves).collect();
        if moving.is_empty() {
            return Ok(false);
        }
        let alpha = |rho: f64, j: usize| rho / curvature[j];
        for &j in &moving {
            let alpha = T::lit(alpha(self.rho[j], j)); //       α = ρ/pᵀAp
            for i in 0..self.x.nrows() {
                self.x[(i, j)] += alpha * self.p[(i, j)];
                self.r[(i, j)] -= alpha * self.q[(i, j)];
            }
        }
        system.precondition(self.z.as_mut(), self.r.as_ref());
        let rho_next = dots(self.r.as_ref(), self.z.as_ref());
        for &j in &moving {
            let ratio = rho_next[j] / self.rho[j];
            let beta = T::lit(ratio);
            for i in 0..self.x.nrows() {
                self.p[(i, j)] = self.z[(i, j)] + beta * self.p[(i, j)];
            }
            self.steps[j].push((alpha(self.rho[j], j), ratio));
            self.rho[j] = rho_next[j];
        }
        self.residuals = self.relative();
        Ok(true)
    }

    /// Recomputes r = b − Ax (one exact application of A) and returns
    /// [`residual`](Self::residual), which is then the true relative residual. Call
    /// [`restart`](Self::restart) before the next step.
    ///
    /// # Errors
    /// Those of [`LinearSystem::apply_exactly`].
    pub fn true_residual(
        &mut self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
    ) -> Result<f64> {
        system.apply_exactly(self.r.as_mut(), self.x.as_ref())?;
        self.subtract_from(b);
        Ok(self.residual())
    }

    /// Recomputes r and returns a bound on the true relative residual if the bound is at most
    /// `tolerance`, or else the true relative residual.
    ///
    /// For a system with a nearby Â the bound is ‖b − Ax‖ ≤ ‖b − Âx‖ + ‖Â − A‖·‖x‖; A is applied
    /// exactly only if this bound is above the tolerance. Without Â, A is applied exactly.
    ///
    /// # Errors
    /// As [`true_residual`](Self::true_residual).
    pub fn verify(
        &mut self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
        tolerance: f64,
    ) -> Result<f64> {
        let error = system.error();
        if error > 0.0 {
            system.apply(self.r.as_mut(), self.x.as_ref())?;
            self.subtract_from(b);
            for (j, x) in norms(self.x.as_ref()).into_iter().enumerate() {
                let b = if self.b_norm[j] > 0.0 { self.b_norm[j] } else { 1.0 };
                self.residuals[j] += error * x / b;
            }
            if self.residual() <= tolerance {
                return Ok(self.residual());
            }
        }
        self.true_residual(system, b)
    }

    /// r = b − r, and the relative residuals of the new r.
    fn subtract_from(&mut self, b: MatRef<'_, T>) {
        for j in 0..b.ncols() {
            for i in 0..b.nrows() {
                self.r[(i, j)] = b[(i, j)] - self.r[(i, j)];
            }
        }
        self.residuals = self.relative();
    }

    /// Restarts the recurrence at the current x and r, without the previous search directions. One
    /// application of M⁻¹.
    pub fn restart(&mut self, system: &mut dyn LinearSystem<T>) {
        self.condition = self.condition();
        system.precondition(self.z.as_mut(), self.r.as_ref());
        self.p.copy_from(&self.z);
        self.rho = dots(self.r.as_ref(), self.z.as_ref()); //   ρ = rᵀM⁻¹r
        self.residuals = self.relative();
        self.steps = vec![vec![]; self.rho.len()];
    }

    /// x, n × t.
    pub fn x(&self) -> MatRef<'_, T> {
        self.x.as_ref()
    }

    /// r = b − Ax as updated by the recurrence, n × t.
    pub fn r(&self) -> MatRef<'_, T> {
        self.r.as_ref()
    }

    /// z = M⁻¹r, n × t.
    pub fn z(&self) -> MatRef<'_, T> {
        self.z.as_ref()
    }

    /// ρ = rᵀM⁻¹r of every column.
    pub fn rho(&self) -> &[f64] {
        &self.rho
    }

    /// Keeps the state of these columns only, in the order given, and drops the others.
    ///
    /// # Panics
    /// If an index is not below t.
    pub fn keep(&mut self, columns: &[usize]) {
        let condition = self.condition();
        for matrix in [&mut self.x, &mut self.r, &mut self.z, &mut self.p, &mut self.q] {
            *matrix = Mat::from_fn(matrix.nrows(), columns.len(), |i, j| matrix[(i, columns[j])]);
        }
        for numbers in [&mut self.rho, &mut self.b_norm, &mut self.residuals] {
            *numbers = columns.iter().map(|&j| numbers[j]).collect();
        }
        self.steps = columns.iter().map(|&j| self.steps[j].clone()).collect();
        self.condition = condition;
    }

    /// x, n × t.
    pub fn into_x(self) -> Mat<T> {
        self.x
    }

    /// ‖r‖₂/‖b‖₂ for every column (‖r‖₂ where b = 0), with r of the recurrence.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// The largest of [`residuals`](Self::residuals); NaN if any of them is NaN.
    pub fn residual(&self) -> f64 {
        self.residuals.iter().fold(0.0, |a: f64, &b| if a >= b || a.is_nan() { a } else { b })
    }

    /// Estimate of the condition number of M^(−1/2)AM^(−1/2): the largest ratio of Ritz values of
    /// M⁻¹A in any column so far. The estimate is a lower bound and soon close. It is 1 before the
    /// second step, and at most 1e18.
    pub fn condition(&self) -> f64 {
        self.steps.iter().map(|steps| ritz_ratio(steps)).fold(self.condition, f64::max)
    }

    pub(crate) fn relative(&self) -> Vec<f64> {
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
pub(crate) fn dots<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Vec<f64> {
    (0..a.ncols())
        .map(|j| (0..a.nrows()).map(|i| a[(i, j)].f64() * b[(i, j)].f64()).sum())
        .collect()
}

/// Euclidean norms of columns, correct also where the sum of squares overflows or underflows.
pub(crate) fn norms<T: Scalar>(a: MatRef<'_, T>) -> Vec<f64> {
    let norm = |(j, square): (usize, f64)| {
        if (f64::MIN_POSITIVE..f64::INFINITY).contains(&square) {
            square.sqrt()
        } else {
            (0..a.nrows()).fold(0.0, |norm: f64, i| norm.hypot(a[(i, j)].f64()))
        }
    };
    dots(a, a).into_iter().enumerate().map(norm).collect()
}
