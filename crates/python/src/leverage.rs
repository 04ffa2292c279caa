//! Leverage scores and landmarks. Methods have the same names as on the command line.

use crate::array::{Number, each_type, to_array, vector};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::rows::AnyRows;
use crate::run::{Stop, run};
use crate::watched::Watched;
use nystrom::kernels::KernelMatrix;
use nystrom::leverage::Stationary;
use nystrom::prelude::*;
use nystrom::sketch::Uniform;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Any<'py> = Bound<'py, PyAny>;
type Estimator<'a, T> = Box<dyn RidgeLeverage<T> + 'a>;
type Selector<'a, T> = Box<dyn LandmarkSelector<T> + 'a>;

/// SQUEAK's number of copies of every row, as on the command line.
const COPIES: u32 = 8;
/// The number of steps of the Markov chain that draws landmarks by a k-DPP.
const CHAIN_STEPS: usize = 3000;
/// The default number of columns for fast scores.
const COLUMNS: usize = 1000;

/// The parameters of the methods, besides the matrix.
struct Setting<'a, T> {
    points: Points<'a, T>,
    stationary: Option<Box<dyn Stationary + Send>>,
    ridge: Ridge<T>,
    columns: usize,
}

impl<T: Number> Setting<'_, T> {
    fn estimator(&self, method: &str) -> PyResult<Estimator<'_, T>> {
        Ok(match method {
            "exact" => Box::new(Exact),
            "fast" => Box::new(AlaouiMahoney { columns: self.columns }),
            "recursive" => Box::new(RecursiveRls::default()),
            "bless" => Box::new(Bless::default()),
            "bless-r" => Box::new(BlessR::default()),
            "squeak" => Box::new(SqueakParams::new(COPIES)),
            "sa" if self.points.is_sparse() => {
                let text = "spectral analysis (sa) needs dense rows; pass X.toarray(), or use \
                            another method";
                return Err(PyValueError::new_err(text));
            }
            "sa" => match &self.stationary {
                Some(kernel) => Box::new(SpectralLeverage::new(&**kernel, self.points)),
                None => return Err(PyValueError::new_err("sa needs a stationary kernel")),
            },
            _ => return Err(unknown(method, SCORES)),
        })
    }

    fn selector(&self, method: &str) -> PyResult<Selector<'_, T>> {
        let walk = KDppChain {
            start: RpCholesky::default(),
            steps: CHAIN_STEPS,
            rule: SwapRule::Metropolis,
        };
        Ok(match method {
            "uniform" => Box::new(Uniform::default()),
            "diagonal" => Box::new(Diagonal { draw: Draw::WithoutReplacement }),
            "rpcholesky" => Box::new(RpCholesky::default()),
            "greedy" => Box::new(Greedy::default()),
            "sparse-greedy" => Box::new(SparseGreedy::default()),
            "kmeans++" => Box::new(KMeansPlusPlus),
            "adaptive" => Box::new(AdaptivePartial::default()),
            "leverage" => Box::new(RecursiveNystrom::default()),
            "kdpp" => Box::new(walk),
            "kdpp-exact" => Box::new(KDpp),
            _ => match scores_of(method) {
                Some(scores) => Box::new(LeverageProportional {
                    estimator: self.estimator(scores)?,
                    ridge: self.ridge,
                    draw: Draw::WithoutReplacement,
                }),
                None => return Err(unknown(method, LANDMARKS)),
            },
        })
    }
}

const SCORES: &str = "exact, fast, recursive, bless, bless-r, squeak, sa";
const LANDMARKS: &str = "uniform, rpcholesky, greedy, sparse-greedy, kmeans++, adaptive, \
     diagonal, leverage, leverage-exact, leverage-fast, bless, bless-r, squeak, sa, kdpp, \
     kdpp-exact";

/// The name of the leverage scores in proportion to which a method draws landmarks.
fn scores_of(method: &str) -> Option<&str> {
    match method {
        "leverage-exact" => Some("exact"),
        "leverage-fast" => Some("fast"),
        "bless" | "bless-r" | "squeak" | "sa" => Some(method),
        _ => None,
    }
}

fn unknown(method: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("there is no method {method:?}; the methods are {known}"))
}

/// The stationary kernel if the method is `sa`, the only one that needs it.
fn stationary(spec: &Spec<'_>, method: &str) -> PyResult<Option<Box<dyn Stationary + Send>>> {
    (method == "sa").then(|| spec.stationary()).transpose()
}

/// The ridge leverage scores \[K(K + μI)⁻¹\]_ii of all rows.
#[pyfunction]
#[pyo3(signature = (spec, X, mu, method, columns, seed, n_jobs=None))]
pub fn leverage_scores<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    mu: f64,
    method: &str,
    columns: Option<usize>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Any<'py>> {
    each_type!(X, x: T => {
        let points = x.points()?;
        let ridge = Ridge::Absolute(T::lit(mu));
        let columns = columns.unwrap_or(COLUMNS.min(points.len()));
        let setting = Setting { points, stationary: stationary(&spec, method)?, ridge, columns };
        let kernel = spec.kernel::<T>()?;
        let scores = run(py, n_jobs, move |stop| {
            let k = matrix(kernel, stop, points)?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            Ok(setting.estimator(method)?.scores(&k, ridge, rng)?)
        })?;
        Ok(vector(py, scores).into_any())
    })
}

/// The indices of rows chosen as landmarks.
#[pyfunction]
#[pyo3(signature = (spec, X, count, method, mu, seed, n_jobs=None))]
pub fn landmarks<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    count: usize,
    method: &str,
    mu: f64,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Any<'py>> {
    each_type!(X, x: T => {
        let points = x.points()?;
        let (ridge, columns) = (Ridge::Absolute(T::lit(mu)), (2 * count).min(points.len()));
        let setting = Setting { points, stationary: stationary(&spec, method)?, ridge, columns };
        let kernel = spec.kernel::<T>()?;
        let chosen = run(py, n_jobs, move |stop| {
            let k = matrix(kernel, stop, points)?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            Ok(setting.selector(method)?.select(&k, count, rng)?)
        })?;
        let rows = chosen.indices().iter().map(|&row| row as i64).collect();
        Ok(vector(py, rows).into_any())
    })
}

/// Randomly pivoted Cholesky: pivots, F with FFᵀ ≈ K, and tr(K − FFᵀ).
#[pyfunction]
#[pyo3(signature = (spec, X, count, tolerance, seed, n_jobs=None))]
pub fn rp_cholesky<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    count: usize,
    tolerance: f64,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, f64)> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        let found = run(py, n_jobs, |stop| {
            let k = matrix(kernel, stop, points)?;
            let how = RpCholesky { tolerance, ..RpCholesky::default() };
            Ok(how.factor(&k, count, &mut Pcg64::seed_from_u64(seed))?)
        })?;
        let pivots = found.pivots().iter().map(|&row| row as i64).collect();
        let factor = to_array(py, found.factor()).into_any();
        Ok((vector(py, pivots).into_any(), factor, found.trace_error()))
    })
}

/// Compares the scores of a method with exact scores at random rows.
#[pyfunction]
#[pyo3(signature = (spec, X, mu, method, columns, rows, seed, n_jobs=None))]
pub fn audit<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    mu: f64,
    method: &str,
    columns: Option<usize>,
    rows: usize,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    each_type!(X, x: T => {
        let points = x.points()?;
        let ridge = Ridge::Absolute(T::lit(mu));
        let columns = columns.unwrap_or(COLUMNS.min(points.len()));
        let setting = Setting { points, stationary: stationary(&spec, method)?, ridge, columns };
        let kernel = spec.kernel::<T>()?;
        let n = points.len();
        let report = run(py, n_jobs, move |stop| {
            let k = matrix(kernel, stop, points)?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            let audit = Audit { rows, ..Audit::default() };
            Ok(audit.of_estimator(&k, ridge, &*setting.estimator(method)?, rng)?)
        })?;
        let told = PyDict::new(py);
        let rows = report.reference.rows.iter().map(|&row| row as i64).collect();
        told.set_item("rows", vector::<i64>(py, rows))?;
        told.set_item("scores", vector(py, report.reference.scores.clone()))?;
        told.set_item("estimates", vector(py, report.estimates.clone()))?;
        told.set_item("errors", vector(py, report.reference.errors.clone()))?;
        told.set_item("mean_ratio", report.mean_ratio())?;
        told.set_item("effective_dimension", report.d_eff_estimate(n))?;
        Ok(told)
    })
}

/// The kernel matrix of the points. Its evaluation is interrupted when `stop` is set.
pub fn matrix<'a, T: Number>(
    kernel: crate::kernel::Shared<T>,
    stop: &Stop,
    points: Points<'a, T>,
) -> Outcome<KernelMatrix<'a, T, Watched<T>>> {
    Ok(KernelMatrix::new(Watched { kernel, stop: stop.clone() }, points)?)
}
