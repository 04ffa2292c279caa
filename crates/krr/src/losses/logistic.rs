//! Kernel logistic regression with landmarks.

use super::landmarks::Landmarked;
use super::newton::{self, RowLoss};
use crate::{Centers, KrrModel, Problem, step_of_newton};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};

/// Kernel logistic regression with f restricted to the span of k(·, z_1), …, k(·, z_m):
///
/// ```text
/// minimise  (1/n) Σ_i w_i ln(1 + e^{−y_i (f(x_i) + b)}) + (λ/2)‖f‖²
///     over   f = Σ_j θ_j k(·, z_j)  and, if `intercept`, b;    y_i = ±1.
/// ```
///
/// f + b is the logarithm of the odds, 1/(1 + e^{−f−b}) the probability of +1. Several columns of
/// y are as many problems, as in one-versus-rest.
///
/// A Newton step is a weighted regression by [`NystromKrr`](crate::NystromKrr). If p_i is the
/// present probability of +1, its weights are h_i = w_i p_i(1 − p_i) and its targets f(x_i) + b +
/// w_i(1_{y_i = 1} − p_i)/h_i. Newton's method can be slow for a small λ. So the ridge falls from
/// λ = 0.1 to that of the caller, and the steps of each ridge start from the solution before.
///
/// # Cost
/// A step takes 2nm kernel values, which are evaluated once if `memory` holds nm numbers, and 2nm²
/// flops (see [`Solver`](crate::Solver)). There are about 2 to 4 steps for each ridge and column.
/// Memory: m² + n + 1024·m numbers beside that. The bits do not depend on the number of threads.
///
/// # Source
/// U. Marteau-Ferey, F. Bach, A. Rudi, *Globally convergent Newton methods for ill-conditioned
/// generalized self-concordant losses*, NeurIPS 2019 (arXiv:1907.01771), Algorithm 1.
///
/// # Departures
/// Steps are solved directly; the authors iterate. Steps are halved until the objective falls; the
/// authors bound it. The ridge falls by a fixed ratio.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::LogisticKrr;
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// let x: Vec<f64> = (0..200).map(|i| i as f64 / 100.0).collect();
/// // the classes change at 0.5 and 1.5
/// let y = Mat::from_fn(200, 1, |i, _| if (x[i] - 1.0).abs() < 0.5 { 1.0 } else { -1.0 });
/// let landmarks = Landmarks::new(200, (0..200).step_by(10).collect())?;
/// let logistic = LogisticKrr::new(Gaussian::new(0.3)?, Ridge::PerSample(1e-4));
/// let model = logistic.fit((Points::from_slice(&x), &y), &landmarks)?;
/// let odds = model.predict(Points::from_slice(&[0.2, 1.0]))?;
/// assert!(odds[(0, 0)] < -2.0 && odds[(1, 0)] > 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogisticKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]) for `fit`, `()` for `path`.
    pub ridge: R,
    /// Whether to fit a constant b, not penalised, one per column.
    pub intercept: bool,
    /// Bytes for kernel values that are kept between steps, from the first rows on; `None`: none
    /// are. The model is the same.
    pub memory: Option<u64>,
    /// Steps end when they decrease the objective by a smaller share than this.
    pub tolerance: f64,
}

impl<K, R> LogisticKrr<K, R> {
    /// With an intercept, without memory for kernel values, until a step gains less than 1e-7.
    pub fn new(kernel: K, ridge: R) -> Self {
        LogisticKrr { kernel, ridge, intercept: true, memory: None, tolerance: 1e-7 }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> LogisticKrr<K, Ridge<T>> {
    /// Fits y (n × t, all ±1) at the n points x of the problem, with these centres.
    ///
    /// # Errors
    /// As [`NystromKrr::fit`](crate::NystromKrr::fit), and
    /// [`Error::InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a y that is
    /// neither −1 nor 1.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
    ) -> Result<KrrModel<K, T>> {
        let problem = problem.into();
        let way = newton::way(problem.x.len(), self.ridge, self.tolerance)?;
        newton::last(|goes_on| self.each(problem, centers.into(), &way, goes_on))
    }
}

impl<K> LogisticKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. With an intercept.
    pub fn without_ridge(kernel: K) -> Self {
        LogisticKrr::new(kernel, ())
    }

    /// The fits at these ridges, from the largest to the smallest; each starts from the one before.
    /// `goes_on` receives each model and returns whether to continue.
    ///
    /// # Errors
    /// As `fit`, and `Empty` without ridges.
    pub fn path<'a, T: Scalar>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        ridges: &[Ridge<T>],
        goes_on: impl FnMut(KrrModel<K, T>) -> bool,
    ) -> Result<()>
    where
        K: Kernel<T> + Clone,
    {
        let problem = problem.into();
        let path = newton::path(problem.x.len(), ridges, self.tolerance)?;
        self.each(problem, centers.into(), &path, goes_on)
    }
}

impl<K, R> LogisticKrr<K, R> {
    fn each<T: Scalar>(
        &self,
        problem: Problem<'_, T>,
        centers: Centers<'_, T>,
        way: &[newton::Stop],
        goes_on: impl FnMut(KrrModel<K, T>) -> bool,
    ) -> Result<()>
    where
        K: Kernel<T> + Clone,
    {
        check(problem, &self.kernel)?;
        validate::positive("tolerance", self.tolerance)?;
        let centers = centers.points(problem.x, &self.kernel)?;
        let points = [centers.points(), problem.x];
        let mut regression = Landmarked::new(&self.kernel, self.intercept, points, self.memory)?;
        newton::follow(&mut regression, (problem, &Logistic), way, goes_on)
    }
}

/// ln(1 + e^{−yf}) for y = ±1.
pub(super) struct Logistic;

impl RowLoss for Logistic {
    fn value(&self, _: usize, y: f64, f: f64) -> f64 {
        let against = -y * f;
        against.max(0.0) + (-against.abs()).exp().ln_1p()
    }

    fn step(&self, _: usize, y: f64, f: f64) -> (f64, f64) {
        step_of_newton(f, y > 0.0)
    }
}

/// Returns a typed error for a sample whose targets are not all −1 or 1.
pub(super) fn check<T: Scalar>(problem: Problem<'_, T>, kernel: &impl Kernel<T>) -> Result<()> {
    problem.check(kernel)?;
    let y = problem.y;
    let all = (0..y.ncols()).flat_map(|j| (0..y.nrows()).map(move |i| y[(i, j)].f64()));
    all.into_iter().try_for_each(|y| {
        validate::require(y.abs() == 1.0, "targets of a logistic regression", y, "-1 or 1")
    })
}
