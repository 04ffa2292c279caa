//! Kernel principal components, spectral embedding and kernel k-means.

use crate::array::{each_type, to_array, vector};
use crate::kernel::Spec;
use crate::leverage::matrix;
use crate::rows::AnyRows;
use crate::run::run;
use nystrom::prelude::*;
use nystrom::sketch::{KernelKMeans, KernelPca, SpectralEmbedding};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Any<'py> = Bound<'py, PyAny>;

/// The principal components with the landmarks `rows` of X: θ (m × p), the offsets, and what is
/// known of them.
#[pyfunction]
#[pyo3(signature = (spec, X, rows, components, n_jobs=None))]
pub fn kernel_pca<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    rows: Vec<usize>,
    components: usize,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Vec<f64>, Bound<'py, PyDict>)> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        let found = run(py, n_jobs, |stop| {
            let k = matrix(kernel, stop, points)?;
            let landmarks = Landmarks::new(points.len(), rows)?;
            Ok(KernelPca { components }.fit(&k, &landmarks)?)
        })?;
        let told = PyDict::new(py);
        told.set_item("variances", vector(py, found.variances().to_vec()))?;
        told.set_item("shares", vector(py, found.shares()))?;
        told.set_item("total", found.total_variance())?;
        told.set_item("left_over", found.left_over())?;
        told.set_item("exact_share", found.exact_share().to_vec())?;
        told.set_item("subspace_bound", found.subspace_bound())?;
        let offsets = found.offsets().iter().map(|b| Scalar::f64(*b)).collect();
        Ok((to_array(py, found.weights()).into_any(), offsets, told))
    })
}

/// The spectral embedding with the landmarks `rows` of X: θ (m × (1 + p)), the first column for the
/// degrees; the eigenvalues; and tr(K − L)/tr K.
#[pyfunction]
#[pyo3(signature = (spec, X, rows, components, n_jobs=None))]
pub fn spectral_embedding<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    rows: Vec<usize>,
    components: usize,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, f64)> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        let found = run(py, n_jobs, |stop| {
            let k = matrix(kernel, stop, points)?;
            let landmarks = Landmarks::new(points.len(), rows)?;
            Ok(SpectralEmbedding { components }.fit(&k, &landmarks)?)
        })?;
        let eigenvalues = vector(py, found.eigenvalues().to_vec()).into_any();
        Ok((to_array(py, found.weights()).into_any(), eigenvalues, found.left_over()))
    })
}

/// The clusters with the landmarks `rows` of X: θ (m × k) and the offsets, with which the nearest
/// centre of a point has the smallest value; the labels; and what is known of them.
#[pyfunction]
#[pyo3(signature = (spec, X, rows, clusters, starts, iterations, seed, n_jobs=None))]
pub fn kernel_k_means<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    rows: Vec<usize>,
    clusters: usize,
    starts: usize,
    iterations: usize,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Vec<f64>, Any<'py>, Bound<'py, PyDict>)> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        let found = run(py, n_jobs, |stop| {
            let k = matrix(kernel, stop, points)?;
            let landmarks = Landmarks::new(points.len(), rows)?;
            let how = KernelKMeans { clusters, starts, iterations };
            Ok(how.fit(&k, &landmarks, &mut Pcg64::seed_from_u64(seed))?)
        })?;
        let told = PyDict::new(py);
        told.set_item("inertia", found.inertia())?;
        told.set_item("cost_bounds", found.cost_bounds().to_vec())?;
        told.set_item("iterations", found.iterations())?;
        told.set_item("converged", found.converged())?;
        let labels = found.labels().iter().map(|&label| label as i64).collect();
        let offsets = found.offsets().iter().map(|b| Scalar::f64(*b)).collect();
        let labels = vector::<i64>(py, labels).into_any();
        Ok((to_array(py, found.weights()).into_any(), offsets, labels, told))
    })
}
