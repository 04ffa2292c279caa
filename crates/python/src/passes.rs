//! Falkon and KRILL over rows that Python distributes. Each iteration is one pass over the rows.
//!
//! The client runs [`falkon_passes`], which calls a Python function once per pass. That function
//! has [`row_sums`] computed for each part of the rows, on the process that has the part, and
//! merges the results with [`merge_row_sums`].

use crate::array::{Matrix, Number, each_type, same_type, to_array, view};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::regression::{Sample, parts, to_python, watch};
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

/// The input of a pass as a Python object: `None`, an array or a number.
fn input_to_python<'py>(py: Python<'py>, input: &PassInput) -> PyResult<Any<'py>> {
    match input {
        PassInput::Nothing => Ok(py.None().into_bound(py)),
        PassInput::Along(u) => Ok(to_array(py, u.as_ref()).into_any()),
        PassInput::Embedded(key) => Ok(key.into_pyobject(py)?.into_any()),
        _ => Err(PyNotImplementedError::new_err("this kind of pass has no Python interface")),
    }
}

/// The input of a pass from the Python object that [`input_to_python`] made.
fn input_from_python(asked: &Any<'_>) -> PyResult<PassInput> {
    if asked.is_none() {
        return Ok(PassInput::Nothing);
    }
    if let Ok(key) = asked.extract() {
        return Ok(PassInput::Embedded(key));
    }
    let u: PyReadonlyArray2<'_, f64> = same_type(asked, "the vectors")?;
    Ok(PassInput::Along(view(&u)?.to_owned()))
}

/// The origin of sums.
enum Parts<'a, T> {
    /// Rows, and the number of rows before them.
    Rows(Problem<'a, T>, u64),
    /// Sums over consecutive sets of rows, in their order.
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

/// Rows on other processes, over which Python makes the passes.
struct Elsewhere<'a> {
    ask: Ask<'a, PassInput, Vec<u8>>,
}

/// Implements [`RowPasses`] for each type. A generic implementation could overlap with that for all
/// row sources.
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

/// The sums over the rows of X that a pass asks for, as bytes. `before` is the number of earlier
/// rows.
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
        let input = input_from_python(&asked)?;
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let (centers, targets) = (Points::from_rows(Z), problem.y.ncols());
            let empty = CenterProducts::new(&kernel, centers, targets, input)?;
            added(empty, Parts::Rows(problem, before))
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// Merges the sums over consecutive sets of rows, in their order.
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
        let input = input_from_python(&asked)?;
        let bytes = run(py, n_jobs, |stop| {
            let kernel = Watched { kernel, stop: stop.clone() };
            let empty = CenterProducts::new(&kernel, Points::from_rows(Z), targets, input)?;
            added(empty, Parts::Sums(&answers))
        })?;
        Ok(PyBytes::new(py, &bytes))
    })
}

/// Fits rows on other processes, with the centres Z. `ask(asked)` returns the sums over all rows
/// that a pass asks for. The solver is Falkon if the centres are a uniform sample (`uniform`),
/// otherwise KRILL.
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
        ask.call1(py, (input_to_python(py, &input)?,))?.extract::<Vec<u8>>(py)
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
        to_python(py, fitted)
    })
}
