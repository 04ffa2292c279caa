//! Rows of bytes as points for kernels of bits.

use crate::array::to_array;
use crate::error::raised;
use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use nystrom::kernels::Bits;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The rows of an n × b array of bytes, row-major, as points of 8·b bits.
#[pyfunction]
pub fn pack_bits<'py>(
    py: Python<'py>,
    X: PyReadonlyArray2<'py, u8>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let bytes = X.as_slice().map_err(|_| PyTypeError::new_err("X must be row-major"))?;
    let bits = Bits::<f64>::from_bytes(bytes, 8 * X.shape()[1]).map_err(raised)?;
    Ok(to_array(py, bits.points().as_cols().transpose()))
}
