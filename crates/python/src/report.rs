//! What a search tried.

use crate::bytes::{from_bytes, to_bytes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What a search tried.
#[pyclass(frozen, module = "nystrom._native")]
pub struct Report(pub nystrom_pipeline::Report);

#[pymethods]
impl Report {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        from_bytes(bytes).map(Report)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = PyBytes::new(py, &to_bytes(&self.0)?);
        Ok((py.get_type::<Report>().getattr("from_bytes")?, (bytes,)))
    }

    /// As JSON.
    fn json(&self) -> PyResult<String> {
        let text = serde_json::to_string(&self.0);
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
