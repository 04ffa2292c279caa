//! Rows as points: NumPy arrays, or sparse matrices of SciPy.

use crate::array::{Number, Typed, same_type, view};
use crate::error::raised;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use nystrom::kernels::{Points, SparseRows};
use nystrom::linalg_core::validate;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

type Any<'py> = Bound<'py, PyAny>;

/// Rows of either type of numbers.
pub type AnyRows<'py> = Typed<Rows<'py, f64>, Rows<'py, f32>>;

/// Rows of numbers of type `T`.
pub enum Rows<'py, T: Number> {
    /// An array, read in place.
    Dense(PyReadonlyArray2<'py, T>),
    /// A copy of a sparse matrix in the format CSR.
    Sparse(SparseRows<T>),
}

impl<'py, T: Number> Rows<'py, T> {
    /// Extracts rows whose type is `T`, the type of X; a `TypeError` otherwise. `what` names the
    /// rows in the error.
    pub fn same_type(object: &Any<'py>, what: &str) -> PyResult<Self> {
        Ok(match is_sparse(object)? {
            true => Rows::Sparse(csr(object, what)?),
            false => Rows::Dense(same_type(object, what)?),
        })
    }

    /// The rows as points.
    pub fn points(&self) -> PyResult<Points<'_, T>> {
        Ok(match self {
            Rows::Dense(array) => Points::from_rows(view(array)?),
            Rows::Sparse(rows) => rows.points(),
        })
    }
}

impl<'py, T: Number> From<PyReadonlyArray2<'py, T>> for Rows<'py, T> {
    fn from(array: PyReadonlyArray2<'py, T>) -> Self {
        Rows::Dense(array)
    }
}

impl<'py, T: Number> FromPyObject<'_, 'py> for Rows<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(match is_sparse(&object)? {
            true => Rows::Sparse(csr(&object, "X")?),
            false => Rows::Dense(object.extract()?),
        })
    }
}

fn is_sparse(object: &Any<'_>) -> PyResult<bool> {
    object.hasattr("indptr")
}

/// Copies a matrix in the format CSR. No row may have a column twice.
fn csr<T: Number>(matrix: &Any<'_>, what: &str) -> PyResult<SparseRows<T>> {
    let format: String = matrix.getattr("format")?.extract()?;
    let values = matrix.getattr("data")?;
    let values = values.extract::<PyReadonlyArray1<'_, T>>().ok().filter(|_| format == "csr");
    let values = values.ok_or_else(|| {
        PyTypeError::new_err(format!("{what} must be rows of {}, dense or CSR", T::NAME))
    })?;
    let (n, dim) = matrix.getattr("shape")?.extract()?;
    let starts: Vec<usize> = integers(&matrix.getattr("indptr")?)?;
    validate::same_size("starts of sparse rows", n, starts.len().saturating_sub(1))
        .map_err(raised)?;
    let values = values.as_array().iter().copied().collect();
    SparseRows::new(dim, starts, integers(&matrix.getattr("indices")?)?, values).map_err(raised)
}

/// The types of indices in SciPy.
#[derive(FromPyObject)]
enum Indices<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

/// Copies an array of indices.
fn integers<I: TryFrom<i64>>(array: &Any<'_>) -> PyResult<Vec<I>> {
    let copied: Option<Vec<I>> = match array.extract()? {
        Indices::Short(short) => {
            short.as_array().iter().map(|&i| i64::from(i).try_into().ok()).collect()
        }
        Indices::Long(long) => long.as_array().iter().map(|&i| i.try_into().ok()).collect(),
    };
    copied.ok_or_else(|| {
        PyValueError::new_err("an index of a sparse matrix is negative, or is 2^32 or more")
    })
}
