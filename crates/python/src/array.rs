//! Views of numpy arrays as matrices, without a copy whatever their strides.
//!
//! The one file with `unsafe`. An array that another thread writes to while it is read gives
//! undefined numbers, as in NumPy itself, but nothing else. No index depends on the entries.

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use nystrom::faer::{Mat, MatMut, MatRef};
use nystrom::linalg_core::Scalar;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The two types of numbers that the library computes with.
pub trait Number: Scalar + Element + Serialize + DeserializeOwned {}
impl Number for f32 {}
impl Number for f64 {}

/// A matrix of either type.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    /// Of `float64`.
    F64(PyReadonlyArray2<'py, f64>),
    /// Of `float32`.
    F32(PyReadonlyArray2<'py, f32>),
}

/// Runs `$body` with `$x` as the array and `$T` as the type of its numbers.
macro_rules! each_type {
    ($matrix:expr, $x:ident: $T:ident => $body:expr) => {
        match $matrix {
            $crate::array::Matrix::F64($x) => {
                type $T = f64;
                $body
            }
            $crate::array::Matrix::F32($x) => {
                type $T = f32;
                $body
            }
        }
    };
}
pub(crate) use each_type;

/// The rows of an array, as they lie in memory.
pub fn view<'a, T: Number>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<MatRef<'a, T>> {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    let (size, data) = (size_of::<T>() as isize, array.data());
    let [down, right] = [array.strides()[0], array.strides()[1]];
    if rows * cols > 0 && (down % size != 0 || right % size != 0 || !data.is_aligned()) {
        let text = "an array whose numbers do not lie on their boundaries cannot be read in \
                    place; pass numpy.ascontiguousarray(X)";
        return Err(PyTypeError::new_err(text));
    }
    // Safety: numpy holds rows × cols numbers at these strides, aligned as just checked, for as
    // long as the borrow lasts. `Element` types have no invalid bit patterns.
    Ok(unsafe { MatRef::from_raw_parts(data.cast_const(), rows, cols, down / size, right / size) })
}

/// A new array of zeros, and the matrix to fill it through: row-major, so that its transpose has
/// contiguous columns.
pub fn new_array<'py, T: Number>(
    py: Python<'py>,
    rows: usize,
    cols: usize,
) -> (Bound<'py, PyArray2<T>>, MatMut<'static, T>) {
    let array = PyArray2::<T>::zeros(py, [rows, cols], false);
    // Safety: the array is new, row-major and ours until it is returned; callers drop the matrix
    // before they do.
    let out = unsafe { MatMut::from_raw_parts_mut(array.data(), rows, cols, cols as isize, 1) };
    (array, out)
}

/// A copy of a matrix as an array.
pub fn to_array<'py, T: Number>(py: Python<'py>, a: MatRef<'_, T>) -> Bound<'py, PyArray2<T>> {
    let (array, mut out) = new_array(py, a.nrows(), a.ncols());
    out.copy_from(a);
    array
}

/// A vector as an array.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// An array of the type of another one.
pub fn same_type<'py, T: Number>(
    array: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<PyReadonlyArray2<'py, T>> {
    array.extract().map_err(|_| {
        PyTypeError::new_err(format!("{what} must be a matrix of {}, as X is", T::NAME))
    })
}

/// The entries of a matrix, copied.
pub fn owned<T: Number>(array: &PyReadonlyArray2<'_, T>) -> PyResult<Mat<T>> {
    Ok(view(array)?.to_owned())
}
