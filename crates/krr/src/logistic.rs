//! Kernel logistic regression by Newton's method.

use crate::rows::{FeatureRows, KernelRows};
use crate::source::Input;
use crate::whitener::Whitener;
use crate::{Centers, FitReport, KrrModel, Problem, Solver};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};

/// Newton steps at most for one ridge, …
const STEPS: usize = 40;
/// … halvings of a step, …
const HALVINGS: i32 = 30;
/// … and the decrease of the objective, relative to it, below which they end.
const ENOUGH: f64 = 1e-7;
/// The same on the way to the ridge that was asked for, …
const UNDERWAY: f64 = 1e-2;
/// … which begins at this λ, and goes on by this ratio.
const FIRST: f64 = 0.1;
const RATIO: f64 = 0.1;
/// p(1 − p) counts as at least this much.
const FLAT: f64 = 1e-12;

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
/// A Newton step is a weighted regression of [`NystromKrr`](crate::NystromKrr): with p_i the
/// present probability of +1, its weights are h_i = w_i p_i(1 − p_i) and its targets f(x_i) + b +
/// w_i(1_{y_i = 1} − p_i)/h_i. Newton's method may need long for a small λ. So the ridge falls from
/// λ = 0.1 to the one asked for, and each solution is where the next begins.
///
/// # Cost
/// 2nm kernel values and 2nm² flops (see [`Solver`]) a step, some 2 to 4 steps a ridge and column.
/// m² and n + 1024·m numbers of memory. The bits do not depend on the number of threads.
///
/// # Source
/// U. Marteau-Ferey, F. Bach, A. Rudi, *Globally convergent Newton methods for ill-conditioned
/// generalized self-concordant losses*, NeurIPS 2019 (arXiv:1907.01771), Algorithm 1.
///
/// # Departures
/// Steps are solved directly where the authors iterate, and halved until the objective falls where
/// they bound it. The ridge falls by a fixed ratio.
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
}

impl<K, R> LogisticKrr<K, R> {
    /// With an intercept.
    pub fn new(kernel: K, ridge: R) -> Self {
        LogisticKrr { kernel, ridge, intercept: true }
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
        let n = problem.x.len();
        validate::not_empty("points (n)", n)?;
        let mu = self.ridge.absolute(n)?.f64();
        let above = (0..).map(|step| FIRST * n as f64 * RATIO.powi(step));
        let way: Vec<f64> = above.take_while(|above| *above > mu / RATIO.sqrt()).collect();
        let (kernel, intercept) = (self.kernel.clone(), self.intercept);
        let path = LogisticKrr { kernel, ridge: (), intercept };
        let mut found = None;
        path.each(problem, centers.into(), [&way, &[mu]], |model| {
            found = Some(model);
            true
        })?;
        found.ok_or(Error::Empty { what: "ridges" })
    }
}

impl<K> LogisticKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. With an intercept.
    pub fn without_ridge(kernel: K) -> Self {
        LogisticKrr::new(kernel, ())
    }

    /// The fits at all these ridges, given from the largest to the smallest, each from where the
    /// one before it ended. `goes_on` is given each as it is found; where it says no, that was the
    /// last.
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
        validate::not_empty("ridges of the path", ridges.len())?;
        validate::not_empty("points (n)", problem.x.len())?;
        let mus = ridges.iter().map(|ridge| ridge.absolute(problem.x.len()));
        let mus = mus.map(|mu| Ok(mu?.f64())).collect::<Result<Vec<f64>>>()?;
        self.each(problem, centers.into(), [&[], &mus], goes_on)
    }

    /// The fits at `mus`, after going there by way of others.
    fn each<T: Scalar>(
        &self,
        problem: Problem<'_, T>,
        centers: Centers<'_, T>,
        [way, mus]: [&[f64]; 2],
        mut goes_on: impl FnMut(KrrModel<K, T>) -> bool,
    ) -> Result<()>
    where
        K: Kernel<T> + Clone,
    {
        problem.check(&self.kernel)?;
        check_signs(problem.y)?;
        let centers = centers.points(problem.x, &self.kernel)?;
        let centers = Points::from_cols(centers.as_ref());
        let whitener = Whitener::new(&self.kernel, centers)?; //     W + δI = RRᵀ
        let newton = Newton { of: self, problem, centers, whitener: &whitener };
        let t = problem.y.ncols();
        let mut at: Vec<State> = (0..t).map(|_| newton.start()).collect();
        let mut report = None;
        let wanted = mus.iter().map(|mu| (*mu, ENOUGH));
        for (mu, enough) in way.iter().map(|mu| (*mu, UNDERWAY)).chain(wanted) {
            for (j, at) in at.iter_mut().enumerate() {
                report = Some(newton.minimise(at, j, mu, enough, report.take())?);
            }
            let Some(report) = report.clone().filter(|_| enough == ENOUGH) else { continue };
            let beta = Mat::from_fn(centers.len(), t, |i, j| at[j].beta[(i, 0)]);
            let b: Vec<f64> = at.iter().map(|at| at.b).collect();
            if !goes_on(newton.model(beta, &b, FitReport { t, ridge: mu, ..report })?) {
                break;
            }
        }
        Ok(())
    }
}

/// f of one column: β in whitened coordinates, b, and f(x_i) + b.
struct State {
    beta: Mat<f64>,
    b: f64,
    f: Vec<f64>,
}

/// What the steps share.
struct Newton<'a, T, K> {
    of: &'a LogisticKrr<K, ()>,
    problem: Problem<'a, T>,
    centers: Points<'a, T>,
    whitener: &'a Whitener<T>,
}

impl<T: Scalar, K: Kernel<T> + Clone> Newton<'_, T, K> {
    /// f = 0.
    fn start(&self) -> State {
        let (n, m) = (self.problem.x.len(), self.centers.len());
        State { beta: Mat::zeros(m, 1), b: 0.0, f: vec![0.0; n] }
    }

    /// Newton steps for column j at this ridge, until they gain less than `enough`.
    fn minimise(
        &self,
        at: &mut State,
        j: usize,
        mu: f64,
        enough: f64,
        mut report: Option<FitReport>,
    ) -> Result<FitReport> {
        let mut value = self.objective(at, j, mu);
        for _ in 0..STEPS {
            let (next, of_step) = self.step(at, j, mu)?;
            let before = report.map_or(0, |report| report.kernel_entries);
            let kernel_entries = before + of_step.kernel_entries;
            report = Some(FitReport { kernel_entries, ..of_step });
            let shorter = (0..HALVINGS).map(|times| at.towards(&next, 0.5_f64.powi(times)));
            let valued = shorter.map(|state| (self.objective(&state, j, mu), state));
            let Some((less, state)) = valued.into_iter().find(|(less, _)| *less < value) else {
                break;
            };
            let gain = value - less;
            (value, *at) = (less, state);
            if gain <= enough * value {
                break;
            }
        }
        report.ok_or(Error::Empty { what: "Newton steps" })
    }

    /// Σ_i w_i ln(1 + e^{−y_i f_i}) + (nλ/2)‖β‖².
    fn objective(&self, at: &State, j: usize, mu: f64) -> f64 {
        let loss = |(i, f): (usize, &f64)| {
            let against = -self.problem.y[(i, j)].f64() * f;
            self.problem.weight(i) * (against.max(0.0) + (-against.abs()).exp().ln_1p())
        };
        at.f.iter().enumerate().map(loss).sum::<f64>() + 0.5 * mu * at.beta.squared_norm_l2()
    }

    /// The minimiser of the objective's quadratic model.
    fn step(&self, at: &State, j: usize, mu: f64) -> Result<(State, FitReport)> {
        let n = self.problem.x.len();
        let (mut h, mut z) = (vec![T::zero(); n], Mat::zeros(n, 1));
        for (i, &f) in at.f.iter().enumerate() {
            let y = self.problem.y[(i, j)].f64();
            let p = 1.0 / (1.0 + (-f).exp()); //                         of +1
            let missing = y / (1.0 + (y * f).exp()); //                  1_{y = 1} − p
            let curvature = (p * (1.0 - p)).max(FLAT);
            h[i] = T::lit(self.problem.weight(i) * curvature);
            z[(i, 0)] = T::lit(f + missing / curvature);
        }
        let rows = Problem { y: z.as_ref(), weights: Some(&h), ..self.problem };
        let source = KernelRows { kernel: &self.of.kernel, centers: self.centers };
        let input = Input::Memory(rows);
        let mut stream = FeatureRows::of(input, &source, self.whitener, self.of.intercept)?;
        let row = self.whitener.squared_norm / self.centers.len() as f64;
        // β = (ΦᵀHΦ + nλI)⁻¹ΦᵀHz
        let solved = Solver::Auto.solve(&mut stream, mu, row)?;
        let report = solved.report(source.report(&stream, solved.passes + 1));
        let b = stream.intercepts(solved.solution.b)[0];
        let beta = solved.solution.beta;
        let model = self.model(beta.clone(), &[b], report.clone())?;
        let f = model.predict(self.problem.x)?;
        Ok((State { beta, b, f: (0..n).map(|i| f[(i, 0)].f64()).collect() }, report))
    }

    fn model(&self, beta: Mat<f64>, b: &[f64], report: FitReport) -> Result<KrrModel<K, T>> {
        let theta = self.whitener.unwhiten(beta); //                     θ = R⁻ᵀβ
        KrrModel::from_parts(self.of.kernel.clone(), self.centers, theta.as_ref(), b, report)
    }
}

impl State {
    /// The point at this share of the way to another.
    fn towards(&self, other: &State, share: f64) -> State {
        let between = |a: f64, b: f64| a + share * (b - a);
        State {
            beta: Mat::from_fn(self.beta.nrows(), 1, |i, _| {
                between(self.beta[(i, 0)], other.beta[(i, 0)])
            }),
            b: between(self.b, other.b),
            f: self.f.iter().zip(&other.f).map(|(a, b)| between(*a, *b)).collect(),
        }
    }
}

/// Every target is −1 or 1.
fn check_signs<T: Scalar>(y: MatRef<'_, T>) -> Result<()> {
    let all = (0..y.ncols()).flat_map(|j| (0..y.nrows()).map(move |i| y[(i, j)].f64()));
    match all.into_iter().find(|y| y.abs() != 1.0) {
        Some(value) => Err(Error::InvalidParameter {
            name: "targets of a logistic regression",
            value,
            requirement: "-1 or 1",
        }),
        None => Ok(()),
    }
}
