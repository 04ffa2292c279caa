//! Kernel ridge regression: exact, with landmarks, and by Falkon.

use crate::array::{Number, each_type, same_type, to_array, vector, view};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::rows::{AnyRows, Rows};
use crate::run::{Stop, run};
use crate::watched::Watched;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use nystrom::faer::Mat;
use nystrom::krr::{
    Extras, FitReport, FullKrr, Iteration, IterationReport, IterativeOptions, Krill, LambdaPath,
    Problem,
};
use nystrom::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;

/// The largest number of rows for which exact regression may factor the kernel matrix, by default.
/// The factorisation takes 4n² bytes.
const MOST_DIRECT: usize = 12_000;
/// From this number of rows, exact regression tries iterations before a factorisation, by default.
const TRIAL_FROM: usize = 2000;
/// The maximum number of iterations of that trial, which takes less time than a factorisation.
const TRIAL_ITERATIONS: usize = 40;
/// The relative residual that the trial must reach to replace a factorisation.
const TRIAL_RESIDUAL: f64 = 1e-10;

type Any<'py> = Bound<'py, PyAny>;
pub type Fitted<T> = (Mat<T>, Vec<T>, Summary);
/// Coefficients, constants, the best ridge of each target, all errors, and the report.
type OfPath<'py> = (Any<'py>, Any<'py>, Vec<usize>, Any<'py>, Bound<'py, PyDict>);

/// The report of a fit for Python.
#[derive(Default)]
pub struct Summary {
    solver: String,
    reason: String,
    iterations: Option<IterationReport>,
}

impl Summary {
    fn of(report: &FitReport, iterations: Option<IterationReport>) -> Summary {
        let solver = format!("{:?}", report.solver);
        Summary { solver, reason: report.reason.clone(), iterations }
    }

    fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("solver", &self.solver)?;
        told.set_item("reason", &self.reason)?;
        if let Some(report) = &self.iterations {
            told.set_item("iterations", report.iterations)?;
            told.set_item("residual", report.residual)?;
            told.set_item("stop", format!("{:?}", report.stop))?;
            told.set_item("notice", &report.notice)?;
        }
        Ok(told)
    }
}

/// X, Y and weights of one type.
pub struct Sample<'py, T: Number> {
    x: Rows<'py, T>,
    y: PyReadonlyArray2<'py, T>,
    weights: Option<Vec<T>>,
}

impl<'py, T: Number> Sample<'py, T> {
    pub fn new(
        x: impl Into<Rows<'py, T>>,
        y: &Any<'py>,
        weights: Option<&Any<'py>>,
    ) -> PyResult<Self> {
        let of_type = |weights: &Any<'py>| -> PyResult<Vec<T>> {
            let array: PyReadonlyArray1<'_, T> = weights.extract().map_err(|_| {
                PyTypeError::new_err(format!("weights must be a vector of {}, as X is", T::NAME))
            })?;
            Ok(array.as_array().iter().copied().collect())
        };
        let weights = weights.map(of_type).transpose()?;
        Ok(Sample { x: x.into(), y: same_type(y, "Y")?, weights })
    }

    pub fn problem(&self) -> PyResult<Problem<'_, T>> {
        let weights = self.weights.as_deref();
        Ok(Problem { x: self.x.points()?, y: view(&self.y)?, weights })
    }
}

/// Coefficients, constants and the report as Python objects.
pub fn to_python<'py, T: Number>(
    py: Python<'py>,
    (coefficients, intercept, told): Fitted<T>,
) -> PyResult<(Any<'py>, Any<'py>, Bound<'py, PyDict>)> {
    let coefficients = to_array(py, coefficients.as_ref()).into_any();
    Ok((coefficients, vector(py, intercept).into_any(), told.dict(py)?))
}

pub fn parts<T: Number>(
    model: &KrrModel<Watched<T>, T>,
    iterations: Option<IterationReport>,
) -> Fitted<T> {
    let told = Summary::of(model.report(), iterations);
    (model.coefficients().to_owned(), model.intercept().to_vec(), told)
}

/// A monitor that interrupts an iterative fit when `stop` is set.
pub fn watch<'a, T: Number>(
    stop: &'a Stop,
) -> impl FnMut(&nystrom::krr::Iteration<'_, Watched<T>, T>) -> nystrom::krr::Verdict + Send + 'a {
    |_| {
        stop.check();
        Ok(ControlFlow::Continue(()))
    }
}

/// Tries conjugate gradients, which usually take less time than a factorisation. `None` if they are
/// unlikely to converge within [`TRIAL_ITERATIONS`], or do not, or need too much memory.
fn try_iterations<T: Number>(
    krr: &FullKrr<Watched<T>, T>,
    problem: Problem<'_, T>,
    stop: &Stop,
) -> Outcome<Option<Fitted<T>>> {
    let tolerance = TRIAL_RESIDUAL.max(10.0 * T::EPS);
    let half = 4 * (problem.x.len() as u64).pow(2); // the bytes of the Cholesky factor
    let memory = Some(krr.options.memory.unwrap_or(half));
    let options = IterativeOptions { tolerance, max_iterations: TRIAL_ITERATIONS, memory };
    let mut watch = |so_far: &Iteration<'_, Watched<T>, T>| {
        stop.check();
        let needed = so_far.number as f64 * tolerance.ln() / so_far.residual.ln();
        let hopeless = so_far.number >= 8 && !(0.0..=TRIAL_ITERATIONS as f64).contains(&needed);
        Ok(if hopeless { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let extras = Extras { monitor: Some(&mut watch), ..Extras::default() };
    let krr = FullKrr { options, ..krr.clone() };
    match krr.fit_with(problem, extras, &mut Pcg64::seed_from_u64(0)) {
        Ok(fit) if fit.converged() => Ok(Some(parts(&fit.model, Some(fit.report)))),
        Ok(_) | Err(nystrom::Error::OutOfBudget { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Exact regression α = (K + μI)⁻¹y on all rows, by a factorisation if `direct` is true, or by
/// conjugate gradients if it is false. If it is `None`: by a factorisation below 2000 rows, by
/// conjugate gradients above 12,000; in between a few iterations are tried before a factorisation.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, mu, *, intercept, direct, tolerance, max_iterations,
    memory, seed, n_jobs=None))]
pub fn exact<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    mu: f64,
    intercept: bool,
    direct: Option<bool>,
    tolerance: f64,
    max_iterations: usize,
    memory: Option<u64>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, Bound<'py, PyDict>)> {
    let options = IterativeOptions { tolerance, max_iterations, memory };
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let (problem, kernel) = (sample.problem()?, spec.kernel::<T>()?);
        let ridge = Ridge::Absolute(T::lit(mu));
        let fitted = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let krr = FullKrr { intercept, options, ..FullKrr::new(kernel.clone(), ridge) };
            let n = problem.x.len();
            let tries = direct.is_none() && (TRIAL_FROM..=MOST_DIRECT).contains(&n);
            let tried = tries.then(|| try_iterations(&krr, problem, stop)).transpose()?;
            if let Some(fitted) = tried.flatten() {
                return Ok(fitted);
            }
            if direct.unwrap_or(n <= MOST_DIRECT) {
                let krr = ExactKrr { intercept, ..ExactKrr::new(kernel, ridge) };
                return Ok(parts(&krr.fit(problem)?, None));
            }
            let mut watch = watch(stop);
            let extras = Extras { monitor: Some(&mut watch), ..Extras::default() };
            let fit = krr.fit_with(problem, extras, &mut Pcg64::seed_from_u64(seed))?;
            Ok(parts(&fit.model, Some(fit.report)))
        })?;
        to_python(py, fitted)
    })
}

/// Regression with the centres Z, solved by iterations: by Falkon if the centres are a uniform
/// sample (`uniform`), otherwise by KRILL.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, Z, mu, *, uniform, intercept, tolerance, max_iterations,
    memory, seed, n_jobs=None))]
pub fn falkon<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    Z: Any<'py>,
    mu: f64,
    uniform: bool,
    intercept: bool,
    tolerance: f64,
    max_iterations: usize,
    memory: Option<u64>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, Bound<'py, PyDict>)> {
    let options = IterativeOptions { tolerance, max_iterations, memory };
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let Z = Rows::<T>::same_type(&Z, "the centres")?;
        let (problem, kernel, centers) = (sample.problem()?, spec.kernel::<T>()?, Z.points()?);
        let ridge = Ridge::Absolute(T::lit(mu));
        let fitted = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let mut watch = watch(stop);
            let extras = Extras { monitor: Some(&mut watch), ..Extras::default() };
            let fit = if uniform {
                let falkon = Falkon { intercept, options, ..Falkon::new(kernel, ridge) };
                falkon.fit_with(problem, centers, extras)?
            } else {
                let krill = Krill { intercept, options, ..Krill::new(kernel, ridge) };
                krill.fit_with(problem, centers, extras, &mut Pcg64::seed_from_u64(seed))?
            };
            Ok(parts(&fit.model, Some(fit.report)))
        })?;
        to_python(py, fitted)
    })
}

/// Nyström regression with the centres Z at the best of the ridges `mus`, one for all targets or,
/// with `per_target`, one for each. The matrix of errors has a row for every ridge, with the
/// leave-one-out error, the GCV error, d_eff, the training error, and the leave-one-out error of
/// every target. It is empty if there is one ridge.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, Z, mus, *, intercept, gcv, per_target, n_jobs=None))]
pub fn nystrom_path<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    Z: Any<'py>,
    mus: Vec<f64>,
    intercept: bool,
    gcv: bool,
    per_target: bool,
    n_jobs: Option<isize>,
) -> PyResult<OfPath<'py>> {
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let Z = Rows::<T>::same_type(&Z, "the centres")?;
        let (problem, kernel, centers) = (sample.problem()?, spec.kernel::<T>()?, Z.points()?);
        let ridges: Vec<Ridge<T>> = mus.iter().map(|mu| Ridge::Absolute(T::lit(*mu))).collect();
        let (fitted, best, errors) = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            if let [ridge] = ridges[..] {
                let krr = NystromKrr { intercept, ..NystromKrr::new(kernel, ridge) };
                let model = krr.fit(problem, centers)?;
                return Ok((parts(&model, None), vec![0; problem.y.ncols()], Mat::zeros(0, 0)));
            }
            let krr = NystromKrr { intercept, ..NystromKrr::without_ridge(kernel) };
            let path = krr.path(problem, centers, &ridges)?;
            best_of(&path, gcv, per_target, problem.y.ncols())
        })?;
        let (coefficients, intercept, told) = to_python(py, fitted)?;
        Ok((coefficients, intercept, best, to_array(py, errors.as_ref()).into_any(), told))
    })
}

/// The model at the best ridge for all targets or for each, the indices of these ridges, and the
/// matrix of errors.
fn best_of<T: Number>(
    path: &LambdaPath<Watched<T>, T>,
    gcv: bool,
    per_target: bool,
    targets: usize,
) -> Outcome<(Fitted<T>, Vec<usize>, Mat<f64>)> {
    let points = path.points();
    let errors = Mat::from_fn(points.len(), 4 + targets, |l, c| match c {
        0 => points[l].loo,
        1 => points[l].gcv,
        2 => points[l].d_eff,
        3 => points[l].training,
        _ => points[l].loo_by_target[c - 4],
    });
    let smallest = |column: usize| {
        (1..points.len())
            .fold(0, |best, l| if errors[(l, column)] < errors[(best, column)] { l } else { best })
    };
    let together = smallest(usize::from(gcv));
    let best: Vec<usize> =
        (0..targets).map(|j| if per_target { smallest(4 + j) } else { together }).collect();
    let mut fitted = parts(&path.model_at(points[best[0]].ridge)?, None);
    for (j, &l) in best.iter().enumerate().skip(1).filter(|(_, l)| **l != best[0]) {
        let model = path.model_at(points[l].ridge)?;
        fitted.0.col_mut(j).copy_from(model.coefficients().col(j));
        fitted.1[j] = model.intercept()[j];
    }
    Ok((fitted, best, errors))
}
