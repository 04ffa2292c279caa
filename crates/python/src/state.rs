//! Fits by states: rows are reduced to a state, states are merged, and the final state is solved.
//! Python sees states as bytes.

use crate::array::{Matrix, Number, each_type, same_type, to_array, vector, view};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::regression::Sample;
use crate::run::run;
use crate::watched::Watched;
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::{NormalEquations, RowSums};
use nystrom::prelude::*;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Any<'py> = Bound<'py, PyAny>;
type State<T> = NormalEquations<Watched<T>, T>;
/// Coefficients, constants, the index of the best ridge, and the error at each ridge.
type Solved<'py> = (Any<'py>, Any<'py>, usize, Vec<f64>);

/// As [`Solved`], before the conversion to Python objects.
type Best<T> = (Mat<T>, Vec<T>, usize, Vec<f64>);

/// The parameters that all states of a fit share. `offset` has one number for each target, and is
/// `None` if no constant is fitted.
struct Kind<T: Number> {
    kernel: Watched<T>,
    offset: Option<Vec<f64>>,
    targets: usize,
}

impl<T: Number> Kind<T> {
    /// The state of no rows with these centres.
    fn empty(&self, Z: MatRef<'_, T>) -> nystrom::Result<State<T>> {
        let (kernel, Z) = (self.kernel.clone(), Points::from_rows(Z));
        match &self.offset {
            Some(offset) => NormalEquations::with_intercept(kernel, Z, offset),
            None => NormalEquations::new(kernel, Z, self.targets),
        }
    }
}

/// Adds the rows of X to `state`, and returns the state for the centres Z. `before` holds the
/// centres of `state` if they are not Z.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, Z, state, *, offset, before=None, n_jobs=None))]
pub fn accumulate<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: Matrix<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    Z: Any<'py>,
    state: Option<Vec<u8>>,
    offset: Option<Vec<f64>>,
    before: Option<Any<'py>>,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let Z = same_type::<T>(&Z, "the centres")?;
        let before = before.map(|Z| same_type::<T>(&Z, "the centres before")).transpose()?;
        let before = before.as_ref().map(view).transpose()?;
        let (problem, kernel, Z) = (sample.problem()?, spec.kernel::<T>()?, view(&Z)?);
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let kind = Kind { kernel, offset, targets: problem.y.ncols() };
            let mut seen = match (&state, before) {
                (Some(bytes), Some(before)) => {
                    kind.empty(before)?.read(bytes)?.onto(Points::from_rows(Z))?
                }
                (Some(bytes), None) => kind.empty(Z)?.read(bytes)?,
                (None, _) => kind.empty(Z)?,
            };
            seen.accumulate(problem)?;
            Ok(seen.to_bytes())
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// Merges states of different rows, in their order.
#[pyfunction]
#[pyo3(signature = (spec, Z, states, *, offset, targets, n_jobs=None))]
pub fn merge<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    Z: Matrix<'py>,
    states: Vec<Vec<u8>>,
    offset: Option<Vec<f64>>,
    targets: usize,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    each_type!(Z, z: T => {
        let (kernel, Z) = (spec.kernel::<T>()?, view(&z)?);
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let empty = Kind { kernel, offset, targets }.empty(Z)?;
            let mut all: Option<State<T>> = None;
            for bytes in &states {
                let state = empty.read(bytes)?;
                match &mut all {
                    None => all = Some(state),
                    Some(all) => all.merge(state)?,
                }
            }
            Ok(all.unwrap_or(empty).to_bytes())
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// Fits the rows of a state at the best of the ridges `mus`, chosen by generalised
/// cross-validation.
#[pyfunction]
#[pyo3(signature = (spec, Z, state, mus, *, offset, targets, n_jobs=None))]
pub fn solve<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    Z: Matrix<'py>,
    state: Vec<u8>,
    mus: Vec<f64>,
    offset: Option<Vec<f64>>,
    targets: usize,
    n_jobs: Option<isize>,
) -> PyResult<Solved<'py>> {
    each_type!(Z, z: T => {
        let (kernel, Z) = (spec.kernel::<T>()?, view(&z)?);
        let (theta, b, best, errors) = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let mut seen = Kind { kernel, offset, targets }.empty(Z)?.read(&state)?;
            best_of(&mut seen, &mus)
        })?;
        Ok((to_array(py, theta.as_ref()).into_any(), vector(py, b).into_any(), best, errors))
    })
}

/// Coefficients, constants, the index of the ridge with the smallest error, and all errors.
fn best_of<T: Number>(seen: &mut State<T>, mus: &[f64]) -> Outcome<Best<T>> {
    let ridges: Vec<Ridge<T>> = mus.iter().map(|mu| Ridge::Absolute(T::lit(*mu))).collect();
    let path = seen.path(&ridges)?;
    let errors: Vec<f64> = path.points().iter().map(|point| point.gcv).collect();
    let smaller = |best: usize, l| if errors[l] < errors[best] { l } else { best };
    let best = (1..errors.len()).fold(0, smaller);
    let model = path.model_at(path.points()[best].ridge)?;
    Ok((model.coefficients().to_owned(), model.intercept().to_vec(), best, errors))
}
