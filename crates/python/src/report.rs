//! The report of a search.

use crate::bytes::{from_bytes, to_bytes};
use nystrom_pipeline::Why;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The report of a search.
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

    /// The columns that were left out, with reasons, except columns with one value or none.
    fn left_out(&self) -> Vec<String> {
        let of_no_value = |why: &Why| matches!(why, Why::Constant(_) | Why::Empty);
        let left_out = self.0.dropped.iter().filter(|dropped| !of_no_value(&dropped.why));
        left_out.map(ToString::to_string).collect()
    }

    /// The report as JSON.
    fn json(&self) -> PyResult<String> {
        let text = serde_json::to_string(&self.0);
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
