//! Numeric features from the columns of a table, without a regression.

use crate::array::to_array;
use crate::bytes::{from_bytes, to_bytes};
use crate::error::Problem;
use crate::model::{ColumnsGiven, words};
use crate::table::{Given, table};
use nystrom_pipeline::{Columns, Shape};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

type Any<'py> = Bound<'py, PyAny>;

/// How each column becomes features.
#[pyclass(frozen, module = "nystrom._native")]
pub struct Features(Columns);

/// Decides how the columns of a table become features.
#[pyfunction]
pub fn fit_features(columns: Vec<Given<'_>>, options: ColumnsGiven) -> PyResult<Features> {
    let columns = Columns::fit(&table(&columns)?, &options.options()?, &[], Shape::PLAIN);
    Ok(Features(columns.map_err(Problem::from)?))
}

#[pymethods]
impl Features {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Features(from_bytes(bytes)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        let bytes = PyBytes::new(py, &to_bytes(&self.0)?);
        Ok((py.get_type::<Features>().getattr("from_bytes")?, (bytes,)))
    }

    /// The features of other rows, n × d, and notes about them.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
    ) -> PyResult<(Any<'py>, Vec<String>)> {
        let applied = self.0.apply(&table(&columns)?).map_err(Problem::from)?;
        Ok((to_array(py, applied.x.as_ref()).into_any(), words(&applied.notes)))
    }

    /// The text columns, the names of the features, and the columns left out with reasons.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, told) = (&self.0, PyDict::new(py));
        let texts = columns.names().filter(|name| columns.is_text(name));
        told.set_item("texts", texts.collect::<Vec<_>>())?;
        told.set_item("features", columns.features())?;
        let dropped = columns.dropped().iter();
        told.set_item("dropped", dropped.map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(told)
    }
}
