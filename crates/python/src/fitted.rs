//! Models built from centres and coefficients: their predictions, and certificates of their
//! distance from exact regression.

use crate::array::{Number, each_type, new_array, same_type, view};
use crate::error::raised;
use crate::kernel::Spec;
use crate::regression::Sample;
use crate::rows::{AnyRows, Rows};
use crate::run::run;
use crate::watched::Watched;
use nystrom::faer::MatRef;
use nystrom::krr::{FitReport, SolvedBy};
use nystrom::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

type Any<'py> = Bound<'py, PyAny>;

/// Builds a model from its parts. n, μ and whether a constant was fitted are those of its fit, of
/// which nothing else is known.
fn model<T: Number>(
    kernel: Watched<T>,
    centers: Points<'_, T>,
    coefficients: MatRef<'_, T>,
    (constants, intercept): (Vec<T>, bool),
    (n, mu): (usize, f64),
) -> nystrom::Result<KrrModel<Watched<T>, T>> {
    let report = FitReport {
        n,
        m: centers.len(),
        d: centers.dim(),
        t: coefficients.ncols(),
        intercept,
        ridge: mu,
        jitter: 0.0,
        solver: SolvedBy::NormalEquations,
        reason: String::new(),
        condition: 1.0,
        kernel_entries: 0,
        steps: 0,
    };
    KrrModel::new(kernel, centers.to_owned(), coefficients.to_owned(), constants, report)
}

/// f(x) = Σ_j θ_j k(x, z_j) + b at the rows of X.
#[pyfunction]
#[pyo3(signature = (spec, X, Z, coefficients, intercept, n_jobs=None))]
pub fn predict<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Z: Any<'py>,
    coefficients: Any<'py>,
    intercept: Vec<f64>,
    n_jobs: Option<isize>,
) -> PyResult<Any<'py>> {
    each_type!(X, x: T => {
        let theta = same_type::<T>(&coefficients, "coefficients")?;
        let Z = Rows::<T>::same_type(&Z, "Z")?;
        let (x, Z, theta) = (x.points()?, Z.points()?, view(&theta)?);
        let (kernel, b) = (spec.kernel::<T>()?, intercept.iter().map(|b| T::lit(*b)).collect());
        let (array, out) = new_array::<T>(py, x.len(), theta.ncols());
        run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let model = model(kernel, Z, theta, (b, false), (Z.len(), 1.0))?;
            Ok(model.predict_into(out, x)?)
        })?;
        Ok(array.into_any())
    })
}

/// Bounds the distance of a fit from exact regression at the same ridge μ, with a constant if the
/// fit has one. Returns `CertificateReport` and its verdict as JSON.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, Z, coefficients, intercept, mu, *, fit_intercept, rows,
    passes, confidence, tolerance, memory, seed, n_jobs=None))]
pub fn certificate<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    Z: Any<'py>,
    coefficients: Any<'py>,
    intercept: Vec<f64>,
    mu: f64,
    fit_intercept: bool,
    rows: usize,
    passes: Option<usize>,
    confidence: f64,
    tolerance: f64,
    memory: Option<u64>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(String, String)> {
    Ridge::Absolute(mu).absolute(1).map_err(raised)?;
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let theta = same_type::<T>(&coefficients, "coefficients")?;
        let Z = Rows::<T>::same_type(&Z, "Z")?;
        let (problem, Z, theta) = (sample.problem()?, Z.points()?, view(&theta)?);
        let (kernel, b) = (spec.kernel::<T>()?, intercept.iter().map(|b| T::lit(*b)).collect());
        let report = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let model = model(kernel, Z, theta, (b, fit_intercept), (problem.x.len(), mu))?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            Ok(match passes {
                None => Certificate { rows, confidence, tolerance }.certify(&model, problem, rng)?,
                Some(passes) => {
                    let tight = TightCertificate { passes, tolerance, memory };
                    tight.certify(&model, problem, rng)?
                }
            })
        })?;
        let json = |error: serde_json::Error| PyTypeError::new_err(error.to_string());
        let verdict = serde_json::to_string(&report.closeness()).map_err(json)?;
        Ok((serde_json::to_string(&report).map_err(json)?, verdict))
    })
}
