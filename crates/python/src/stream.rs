//! Dictionaries of streams (SQUEAK), and their merging (DISQUEAK).

use crate::array::{Matrix, Number, each_type, to_array, vector, view};
use crate::bytes::{from_bytes, to_bytes};
use crate::error::Outcome;
use crate::kernel::Spec;
use crate::run::{Stop, run};
use crate::watched::Watched;
use nystrom::leverage::SqueakState;
use nystrom::prelude::*;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Any<'py> = Bound<'py, PyAny>;
/// The state; the points of the dictionary, their positions in the stream and their weights; and
/// the number of points seen.
type OfStream<'py> = (Bound<'py, PyBytes>, Any<'py>, Vec<u64>, Vec<f64>, u64);

/// The parameters of SQUEAK, which must be equal in streams that are merged.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Law {
    gamma: f64,
    copies: u32,
    epsilon: f64,
    most: usize,
}

impl Law {
    /// The stream with this state, or an empty one whose positions start at `first`.
    fn stream<T: Number>(
        &self,
        kernel: crate::kernel::Shared<T>,
        stop: &Stop,
        dim: usize,
        (state, first): (Option<SqueakState<T>>, u64),
    ) -> Outcome<Squeak<Watched<T>, T>> {
        let Law { gamma, copies, epsilon, most } = *self;
        let params = SqueakParams { epsilon, max_dictionary: most, ..SqueakParams::new(copies) };
        let kernel = Watched { kernel, stop: stop.clone() };
        let mut stream = Squeak::new(kernel, dim, T::lit(gamma), params)?.starting_at(first);
        if let Some(state) = state {
            stream.resume(state)?;
        }
        Ok(stream)
    }
}

/// Adds the rows of X to the stream with this `state`, or to an empty one whose positions start at
/// `first`. `settle` shrinks the dictionary at the end.
#[pyfunction]
#[pyo3(signature = (spec, X, state, law, *, settle, seed, first=0, n_jobs=None))]
pub fn squeak<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: Matrix<'py>,
    state: Option<Vec<u8>>,
    law: Law,
    settle: bool,
    seed: u64,
    first: u64,
    n_jobs: Option<isize>,
) -> PyResult<OfStream<'py>> {
    each_type!(X, x: T => {
        let (points, kernel) = (Points::from_rows(view(&x)?), spec.kernel::<T>()?);
        let state: Option<SqueakState<T>> = state.as_deref().map(from_bytes).transpose()?;
        let stream = run(py, n_jobs, |stop| {
            let mut stream = law.stream(kernel, stop, points.dim(), (state, first))?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            stream.push(points, rng)?;
            if settle {
                stream.settle(rng)?;
            }
            Ok(stream)
        })?;
        let dictionary = stream.dictionary();
        let Z = to_array(py, dictionary.points().as_cols().transpose()).into_any();
        let state = PyBytes::new(py, &to_bytes(&stream.state())?);
        let positions = dictionary.positions().to_vec();
        Ok((state, Z, positions, dictionary.weights(), stream.n_seen()))
    })
}

/// Merges two states. Only the type and the number of columns of Z are used, which are those of the
/// points.
#[pyfunction]
#[pyo3(signature = (spec, Z, left, right, law, *, seed, n_jobs=None))]
pub fn squeak_merge<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    Z: Matrix<'py>,
    left: Vec<u8>,
    right: Vec<u8>,
    law: Law,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    each_type!(Z, z: T => {
        let (dim, kernel) = (view(&z)?.ncols(), spec.kernel::<T>()?);
        let [left, right] = [from_bytes(&left)?, from_bytes(&right)?];
        let stream = run(py, n_jobs, |stop| {
            let mut stream = law.stream::<T>(kernel.clone(), stop, dim, (Some(left), 0))?;
            let other = law.stream(kernel, stop, dim, (Some(right), 0))?;
            stream.merge(&other, &mut Pcg64::seed_from_u64(seed))?;
            Ok(stream)
        })?;
        Ok(PyBytes::new(py, &to_bytes(&stream.state())?))
    })
}

/// Lower estimates of the ridge leverage scores of the rows of X, with respect to all points that
/// the stream has seen.
#[pyfunction]
#[pyo3(signature = (spec, X, state, law, n_jobs=None))]
pub fn squeak_scores<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: Matrix<'py>,
    state: Vec<u8>,
    law: Law,
    n_jobs: Option<isize>,
) -> PyResult<Any<'py>> {
    each_type!(X, x: T => {
        let (points, kernel) = (Points::from_rows(view(&x)?), spec.kernel::<T>()?);
        let state = from_bytes(&state)?;
        let scores = run(py, n_jobs, |stop| {
            let stream = law.stream::<T>(kernel, stop, points.dim(), (Some(state), 0))?;
            Ok(stream.scores(points)?)
        })?;
        Ok(vector(py, scores).into_any())
    })
}
