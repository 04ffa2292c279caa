//! Falkon and KRILL over rows that Python has, wherever they are: a pass for each iteration.
//!
//! The client runs [`falkon_passes`]. Each of its passes is a call of a Python function. That has
//! [`row_sums`] of all parts of the rows made where they are, and merged.

use crate::array::{Matrix, Number, each_type, same_type, to_array, view};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::regression::{Sample, given_back, parts, watch};
use crate::run::{Ask, run, run_asking};
use crate::watched::Watched;
use numpy::PyReadonlyArray2;
use nystrom::krr::{
    CenterProducts, Extras, IterativeOptions, Krill, PassInput, Problem, RowPasses, RowSums,
};
use nystrom::prelude::*;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

type Any<'py> = Bound<'py, PyAny>;

/// What a pass depends on, for Python: `None`, an array or a number.
fn told<'py>(py: Python<'py>, input: &PassInput) -> PyResult<Any<'py>> {
    match input {
        PassInput::Nothing => Ok(py.None().into_bound(py)),
        PassInput::Along(u) => Ok(to_array(py, u.as_ref()).into_any()),
        PassInput::Embedded(key) => Ok(key.into_pyobject(py)?.into_any()),
        _ => Err(PyNotImplementedError::new_err("a pass that Python cannot ask for")),
    }
}

/// The same as Python gives it back.
fn heard(asked: &Any<'_>) -> PyResult<PassInput> {
    if asked.is_none() {
        return Ok(PassInput::Nothing);
    }
    if let Ok(key) = asked.extract() {
        return Ok(PassInput::Embedded(key));
    }
    let u: PyReadonlyArray2<'_, f64> = same_type(asked, "the vectors")?;
    Ok(PassInput::Along(view(&u)?.to_owned()))
}

/// What sums are made of.
enum Parts<'a, T> {
    /// Rows, and how many come before them.
    Rows(Problem<'a, T>, u64),
    /// Other sums, in their order.
    Sums(&'a [Vec<u8>]),
}

/// The sums over these parts, as bytes.
fn added<T: Number, S: RowSums<T>>(empty: S, parts: Parts<'_, T>) -> Outcome<Vec<u8>> {
    let mut all = empty.empty();
    match parts {
        Parts::Rows(rows, before) => {
            all = empty.empty_at(before);
            all.accumulate(rows)?;
            all.close()?;
        }
        Parts::Sums(others) => {
            others.iter().try_for_each(|bytes| all.merge(empty.read(bytes)?))?;
        }
    }
    Ok(all.to_bytes())
}

/// Rows that Python has.
struct Elsewhere<'a> {
    ask: Ask<'a, PassInput, Vec<u8>>,
}

/// For every T at once it might be in the way of another crate's `RowSource`.
macro_rules! passes {
    ($($T:ty),*) => { $(
        impl RowPasses<$T> for Elsewhere<'_> {
            fn pass<S: RowSums<$T>>(&mut self, empty: S) -> nystrom::Result<S> {
                empty.read(&(self.ask)(empty.input().clone()))
            }
        }
    )* };
}
passes!(f32, f64);

/// What the rows of X answer to what a pass asks, as bytes; `before` rows come before them.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, Z, asked, *, before, n_jobs=None))]
pub fn row_sums<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: Matrix<'py>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    Z: Any<'py>,
    asked: Any<'py>,
    before: u64,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    each_type!(X, x: T => {
        let sample = Sample::<T>::new(x, &Y, weights.as_ref())?;
        let Z = same_type::<T>(&Z, "the centres")?;
        let (problem, kernel, Z) = (sample.problem()?, spec.kernel::<T>()?, view(&Z)?);
        let input = heard(&asked)?;
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let (centers, targets) = (Points::from_rows(Z), problem.y.ncols());
            let empty = CenterProducts::new(&kernel, centers, targets, input)?;
            added(empty, Parts::Rows(problem, before))
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// The answers of different rows as one, in their order.
#[pyfunction]
#[pyo3(signature = (spec, Z, answers, asked, *, targets, n_jobs=None))]
pub fn merge_row_sums<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    Z: Matrix<'py>,
    answers: Vec<Vec<u8>>,
    asked: Any<'py>,
    targets: usize,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    each_type!(Z, z: T => {
        let (kernel, Z) = (spec.kernel::<T>()?, view(&z)?);
        let input = heard(&asked)?;
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let empty = CenterProducts::new(&kernel, Points::from_rows(Z), targets, input)?;
            added(empty, Parts::Sums(&answers))
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// The fit at the centres Z to rows that `ask` has: `ask(asked)` gives the answer of all of them to
/// what a pass asks. By Falkon if each centre stands for as many rows as the others, otherwise by
/// KRILL.
#[pyfunction]
#[pyo3(signature = (spec, Z, targets, penalty, ask, *, uniform, intercept, tolerance,
    max_iterations, memory, seed, n_jobs=None))]
pub fn falkon_passes<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    Z: Matrix<'py>,
    targets: usize,
    penalty: f64,
    ask: Py<PyAny>,
    uniform: bool,
    intercept: bool,
    tolerance: f64,
    max_iterations: usize,
    memory: Option<u64>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, Bound<'py, PyDict>)> {
    let options = IterativeOptions { tolerance, max_iterations, memory };
    let answer = |py: Python<'_>, input: PassInput| {
        ask.call1(py, (told(py, &input)?,))?.extract::<Vec<u8>>(py)
    };
    each_type!(Z, z: T => {
        let (kernel, Z) = (spec.kernel::<T>()?, view(&z)?);
        let (centers, ridge) = (Points::from_rows(Z), Ridge::PerSample(T::lit(penalty)));
        let fitted = run_asking(py, n_jobs, |stop, ask| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let mut watch = watch(stop);
            let extras = Extras { monitor: Some(&mut watch), ..Extras::default() };
            let mut rows = Elsewhere { ask };
            let fit = if uniform {
                let falkon = Falkon { intercept, options, ..Falkon::new(kernel, ridge) };
                falkon.fit_passes(&mut rows, centers, targets, extras)?
            } else {
                let krill = Krill { intercept, options, ..Krill::new(kernel, ridge) };
                let rng = &mut Pcg64::seed_from_u64(seed);
                krill.fit_passes(&mut rows, centers, targets, extras, rng)?
            };
            Ok(parts(&fit.model, Some(fit.report)))
        }, answer)?;
        given_back(py, fitted)
    })
}
