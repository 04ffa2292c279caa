//! Kernel regression with the losses of quantiles and of Huber, with landmarks.

use super::landmarks::Landmarked;
use super::newton::{self, RowLoss};
use crate::{Centers, KrrModel, Problem};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};

/// The loss L(r) of a residual r = y − f − b.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Loss {
    /// The pinball loss, whose minimiser is a conditional quantile, smoothed at its corner:
    /// τr + h ln(1 + e^{−r/h}), which tends to max{τr, (τ − 1)r} for h → 0. With τ = ½ it is half
    /// the absolute value.
    Quantile {
        /// τ in (0, 1), the share of targets below f.
        share: f64,
        /// h > 0, in units of the targets. The fit is that of the quantile of y + hε with ε of the
        /// logistic distribution, so that h should be small beside the residuals.
        width: f64,
    },
    /// ½r² up to |r| = δ, then δ(|r| − ½δ).
    Huber {
        /// δ > 0, in units of the targets.
        threshold: f64,
    },
}

impl Loss {
    fn check(self) -> Result<()> {
        match self {
            Loss::Quantile { share, width } => {
                let inside = share > 0.0 && share < 1.0;
                validate::require(inside, "share of a quantile", share, "between 0 and 1")?;
                validate::positive("width of a quantile loss", width)
            }
            Loss::Huber { threshold } => validate::positive("threshold of Huber's loss", threshold),
        }
    }

    /// L(r).
    ///
    /// ```
    /// use nystrom_krr::Loss;
    /// let quantile = Loss::Quantile { share: 0.9, width: 1e-9 };
    /// assert!((quantile.at(2.0) - 1.8).abs() < 1e-8 && (quantile.at(-2.0) - 0.2).abs() < 1e-8);
    /// assert_eq!(Loss::Huber { threshold: 1.0 }.at(-3.0), 2.5);
    /// ```
    pub fn at(self, r: f64) -> f64 {
        match self {
            Loss::Quantile { share, width } => {
                share * r + (-r).max(0.0) + width * (-r.abs() / width).exp().ln_1p()
            }
            Loss::Huber { threshold } if r.abs() <= threshold => 0.5 * r * r,
            Loss::Huber { threshold } => threshold * (r.abs() - 0.5 * threshold),
        }
    }
}

/// The loss of each column.
struct OfColumns<'a>(&'a [Loss]);

impl RowLoss for OfColumns<'_> {
    fn value(&self, j: usize, y: f64, f: f64) -> f64 {
        self.0[j].at(y - f)
    }

    /// The quadratic function that is nowhere below the loss and touches it at f: a step of it
    /// never increases the objective.
    fn step(&self, j: usize, y: f64, f: f64) -> (f64, f64) {
        let r = y - f;
        match self.0[j] {
            Loss::Quantile { share, width } => {
                let s = r / width;
                // tanh(s/2)/(2r), by Jaakkola & Jordan's bound of ln(1 + e^{−s})
                let h = if s.abs() < 1e-3 { 0.25 / width } else { (0.5 * s).tanh() / (2.0 * r) };
                (h, f + (share - 1.0 / (1.0 + s.exp())) / h)
            }
            Loss::Huber { threshold } if r.abs() <= threshold => (1.0, y),
            Loss::Huber { threshold } => (threshold / r.abs(), y),
        }
    }
}

/// Kernel regression with a [`Loss`], with f restricted to the span of k(·, z_1), …, k(·, z_m):
///
/// ```text
/// minimise  (1/n) Σ_i w_i L(y_i − f(x_i) − b) + (λ/2)‖f‖²
///     over   f = Σ_j θ_j k(·, z_j)  and, if `intercept`, b.
/// ```
///
/// Several columns of y are as many problems, with a loss each. A step minimises a quadratic bound
/// of the objective (iteratively reweighted least squares), by a weighted
/// [`NystromKrr`](crate::NystromKrr).
///
/// # Cost
/// A step takes 2nm kernel values, which are evaluated once if `memory` holds nm numbers, and 2nm²
/// flops (see [`Solver`](crate::Solver)). There are at most 40 steps for each ridge and column.
/// Memory: m² + n + 1024·m numbers beside that. The bits do not depend on the number of threads.
///
/// # Source
/// The loss of quantiles: R. Koenker, G. Bassett, *Regression quantiles*, Econometrica 46, 1978; I.
/// Takeuchi, Q. Le, T. Sears, A. Smola, *Nonparametric quantile estimation*, JMLR 7, 2006, who
/// also penalise by ‖f‖². Its smoothing: X. He, X. Pan, K. M. Tan, W.-X. Zhou, *Smoothed quantile
/// regression with large-scale inference*, J. Econometrics 232, 2023 (arXiv:2012.05187), with the
/// logistic kernel. The bound: D. Hunter, K. Lange, *Quantile regression via an MM algorithm*, J.
/// Comput. Graph. Stat. 9, 2000; T. Jaakkola, M. Jordan, *Bayesian parameter estimation via
/// variational methods*, Stat. Comput. 10, 2000. Huber's loss: P. Huber, *Robust estimation
/// of a location parameter*, Ann. Math. Stat. 35, 1964.
///
/// # Departures
/// The ridge falls from λ = 0.1 to that of the caller, and the steps of each ridge start from the
/// solution before.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Loss, LossKrr};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// let x: Vec<f64> = (0..300).map(|i| f64::from(i) / 100.0).collect();
/// // noise between 0 and 1 about a line: nine tenths of the targets are below x + 0.9
/// let noise = |i: usize| (i as f64 * 0.618_034).fract();
/// let y = Mat::from_fn(300, 1, |i, _| x[i] + noise(i));
/// let landmarks = Landmarks::new(300, (0..300).step_by(10).collect())?;
/// let loss = Loss::Quantile { share: 0.9, width: 1e-3 };
/// let krr = LossKrr::new(Gaussian::new(1.0)?, vec![loss], Ridge::PerSample(1e-4));
/// let model = krr.fit((Points::from_slice(&x), &y), &landmarks)?;
/// let f = model.predict(Points::from_slice(&[1.0, 2.0]))?;
/// assert!((f[(0, 0)] - 1.9).abs() < 0.05 && (f[(1, 0)] - 2.9).abs() < 0.05);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LossKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// The loss L of each column of y.
    pub losses: Vec<Loss>,
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

impl<K, R> LossKrr<K, R> {
    /// With an intercept, without memory for kernel values, until a step gains less than 1e-6.
    pub fn new(kernel: K, losses: Vec<Loss>, ridge: R) -> Self {
        LossKrr { kernel, losses, ridge, intercept: true, memory: None, tolerance: 1e-6 }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> LossKrr<K, Ridge<T>> {
    /// Fits y (n × t) at the n points x of the problem, with these centres.
    ///
    /// # Errors
    /// As [`NystromKrr::fit`](crate::NystromKrr::fit), and
    /// [`Error::InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a share
    /// outside (0, 1), and for a width or threshold that is not positive;
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) unless there are t losses.
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

impl<K> LossKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. With an intercept.
    pub fn without_ridge(kernel: K, losses: Vec<Loss>) -> Self {
        LossKrr::new(kernel, losses, ())
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

impl<K, R> LossKrr<K, R> {
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
        problem.check(&self.kernel)?;
        validate::same_size("losses of the columns", problem.y.ncols(), self.losses.len())?;
        self.losses.iter().try_for_each(|loss| loss.check())?;
        validate::positive("tolerance", self.tolerance)?;
        let centers = centers.points(problem.x, &self.kernel)?;
        let points = [centers.points(), problem.x];
        let mut regression = Landmarked::new(&self.kernel, self.intercept, points, self.memory)?;
        newton::follow(&mut regression, (problem, &OfColumns(&self.losses)), way, goes_on)
    }
}
