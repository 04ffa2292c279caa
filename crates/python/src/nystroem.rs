//! Nyström features φ(x) = R⁻¹k_Z(x), where W = k(Z, Z) = RRᵀ.

use crate::array::{Matrix, Number, each_type, new_array, same_type, to_array, view};
use crate::error::raised;
use crate::kernel::Spec;
use crate::rows::{AnyRows, Rows};
use crate::run::run;
use nystrom::faer::reborrow::*;
use nystrom::faer::{Mat, MatRef};
use nystrom::kernels::Kernel;
use nystrom::linalg_core::{Cholesky, JitterLadder, ops, validate};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The number of rows whose features are computed at a time, in place in the output.
const ROWS: usize = 1024;

/// R and R⁻¹ with W + δI = RRᵀ, both lower triangular. δ is the smallest shift with which the
/// library's factorisation succeeds.
#[pyfunction]
#[pyo3(signature = (W, n_jobs=None))]
pub fn nystroem_factor<'py>(
    py: Python<'py>,
    W: Matrix<'py>,
    n_jobs: Option<isize>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    each_type!(W, w: T => {
        let w = view(&w)?;
        let (factor, inverse) = run(py, n_jobs, |_| {
            validate::same_size("columns of a square matrix", w.nrows(), w.ncols())?;
            let factor = Cholesky::<T>::with_jitter(w, JitterLadder::shifted())?;
            let mut inverse = Mat::<T>::identity(w.nrows(), w.nrows());
            factor.forward_in_place(inverse.as_mut());
            Ok((factor.lower().to_owned(), inverse))
        })?;
        let lower = |a: Mat<T>| {
            let a = Mat::from_fn(a.nrows(), a.ncols(), |i, j| if i < j { 0.0 } else { a[(i, j)] });
            to_array(py, a.as_ref()).into_any()
        };
        Ok((lower(factor), lower(inverse)))
    })
}

/// The features φ of the rows of X, n × m. `Z` holds the landmarks. Without `Z`, X is the matrix
/// k(X, Z) of the rows.
///
/// The features are computed in place in the result; no other memory grows with n.
#[pyfunction]
#[pyo3(signature = (spec, X, Z, R, n_jobs=None))]
pub fn nystroem_features<'py>(
    py: Python<'py>,
    spec: Option<Spec<'py>>,
    X: AnyRows<'py>,
    Z: Option<Bound<'py, PyAny>>,
    R: Bound<'py, PyAny>,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    each_type!(X, x: T => {
        let R = same_type::<T>(&R, "the factor R")?;
        let kernel = spec.as_ref().zip(Z.as_ref());
        let kernel = kernel.map(|(spec, Z)| Ok::<_, PyErr>((spec, Rows::same_type(Z, "Z")?)));
        features::<T>(py, kernel.transpose()?, &x, view(&R)?, n_jobs)
    })
}

fn features<'py, T: Number>(
    py: Python<'py>,
    kernel: Option<(&Spec<'py>, Rows<'py, T>)>,
    x: &Rows<'py, T>,
    R: MatRef<'_, T>,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (points, m) = (x.points()?, R.nrows());
    let against = kernel
        .as_ref()
        .map(|(spec, Z)| Ok::<_, PyErr>((spec.watched::<T>(&Default::default())?, Z.points()?)))
        .transpose()?;
    if against.is_none() && points.is_sparse() {
        return Err(PyTypeError::new_err("the matrix k(X, Z) must not be sparse"));
    }
    let columns = against.as_ref().map_or(points.dim(), |(_, Z)| Z.len());
    validate::same_size("landmarks against the order of R", m, columns).map_err(raised)?;
    let (array, out) = new_array::<T>(py, points.len(), m);
    run(py, n_jobs, |stop| {
        // m × n, with contiguous columns
        let mut out = out.transpose_mut();
        let against = against
            .map(|(kernel, Z)| (crate::watched::Watched { stop: stop.clone(), ..kernel }, Z));
        match &against {
            Some((kernel, Z)) => {
                kernel.check_points(points)?;
                Z.check_same_dim(points)?;
            }
            None => validate::finite("kernel matrix", points.as_cols().transpose())?,
        }
        for start in (0..points.len()).step_by(ROWS) {
            stop.check();
            let rows = start..points.len().min(start + ROWS);
            let mut tile = out.rb_mut().subcols_mut(start, rows.len());
            match &against {
                Some((kernel, Z)) => {
                    kernel.eval_into(tile.rb_mut(), *Z, points.slice(rows));
                }
                None => tile.copy_from(points.slice(rows).as_cols()),
            }
            ops::solve_lower(R, tile); // φ = R⁻¹k_Z
        }
        Ok(())
    })?;
    Ok(array.into_any())
}
