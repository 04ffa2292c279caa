//! NumPy arrays as matrices, without a copy, for any strides.
//!
//! This is the only file with `unsafe`. If another thread writes to an array while it is read, the
//! numbers that are read are undefined, as in NumPy itself; indices do not depend on the entries.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods, dtype,
};
use nystrom::faer::{Mat, MatMut, MatRef};
use nystrom::linalg_core::Scalar;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The floating-point types of the library.
pub trait Number: Scalar + Element + Serialize + DeserializeOwned {}
impl Number for f32 {}
impl Number for f64 {}

/// An object whose `dtype` is one of two types.
pub enum Typed<A, B> {
    /// Any other type than `float32`. Its extraction fails if the type is not `float64`.
    F64(A),
    /// The type `float32`.
    F32(B),
}

/// A two-dimensional array of either type.
pub type Matrix<'py> = Typed<PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f32>>;

impl<'a, 'py, A, B> FromPyObject<'a, 'py> for Typed<A, B>
where
    A: FromPyObject<'a, 'py>,
    B: FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let single = dtype::<f32>(object.py());
        Ok(match object.getattr("dtype").is_ok_and(|found| found.eq(&single).unwrap_or(false)) {
            true => Typed::F32(object.extract().map_err(Into::into)?),
            false => Typed::F64(object.extract().map_err(Into::into)?),
        })
    }
}

/// Runs `$body` with `$x` as the object and `$T` as the type of its numbers.
macro_rules! each_type {
    ($typed:expr, $x:ident: $T:ident => $body:expr) => {
        match $typed {
            $crate::array::Typed::F64($x) => {
                type $T = f64;
                $body
            }
            $crate::array::Typed::F32($x) => {
                type $T = f32;
                $body
            }
        }
    };
}
pub(crate) use each_type;

/// A matrix view of an array, with its rows and columns.
///
/// # Errors
/// A `TypeError` if the entries are not aligned, or a stride is not a multiple of their size.
pub fn view<'a, T: Number>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<MatRef<'a, T>> {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    let (size, data) = (size_of::<T>() as isize, array.data());
    let [down, right] = [array.strides()[0], array.strides()[1]];
    if rows * cols > 0 && (down % size != 0 || right % size != 0 || !data.is_aligned()) {
        let text = "the numbers of the array are not aligned in memory; pass \
                    numpy.ascontiguousarray(X)";
        return Err(PyTypeError::new_err(text));
    }
    // Safety: NumPy holds rows × cols numbers at these strides for as long as the borrow lasts, and
    // their alignment was checked above. `Element` types have no invalid bit patterns.
    Ok(unsafe { MatRef::from_raw_parts(data.cast_const(), rows, cols, down / size, right / size) })
}

/// A new row-major array of zeros, and a mutable view of it to write through. The transpose of the
/// view has contiguous columns.
pub fn new_array<'py, T: Number>(
    py: Python<'py>,
    rows: usize,
    cols: usize,
) -> (Bound<'py, PyArray2<T>>, MatMut<'static, T>) {
    let array = PyArray2::<T>::zeros(py, [rows, cols], false);
    // Safety: the array is new and row-major, and nothing else refers to it until a caller returns
    // it to Python; callers drop the view before.
    let out = unsafe { MatMut::from_raw_parts_mut(array.data(), rows, cols, cols as isize, 1) };
    (array, out)
}

/// Copies a matrix to a new array.
pub fn to_array<'py, T: Number>(py: Python<'py>, a: MatRef<'_, T>) -> Bound<'py, PyArray2<T>> {
    let (array, mut out) = new_array(py, a.nrows(), a.ncols());
    out.copy_from(a);
    array
}

/// Moves a vector to a new array.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// Extracts an array whose type is `T`, the type of X; a `TypeError` otherwise. `what` names the
/// array in the error.
pub fn same_type<'py, T: Number>(
    array: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<PyReadonlyArray2<'py, T>> {
    array.extract().map_err(|_| {
        PyTypeError::new_err(format!("{what} must be a matrix of {}, like X", T::NAME))
    })
}

/// Copies an array to a new matrix.
pub fn owned<T: Number>(array: &PyReadonlyArray2<'_, T>) -> PyResult<Mat<T>> {
    Ok(view(array)?.to_owned())
}
