//! Tables from Python. A column holds numbers, or text as levels and codes.

use numpy::PyReadonlyArray1;
use nystrom_data::{Categories, Column, Table, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One column: `(name, numbers)`, or `(name, levels, codes)` with −1 for a missing text.
#[derive(FromPyObject)]
pub enum Given<'py> {
    /// A column of numbers, NaN where one is missing.
    Numbers(String, PyReadonlyArray1<'py, f64>),
    /// A column of text: levels, and the index of each row's level.
    Texts(String, Vec<String>, PyReadonlyArray1<'py, i32>),
}

/// The table of these columns.
pub fn table(columns: &[Given<'_>]) -> PyResult<Table> {
    let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
    Table::new("the data", columns).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn column(given: &Given<'_>) -> PyResult<Column> {
    Ok(match given {
        Given::Numbers(name, values) => {
            Column::numbers(name, values.as_array().iter().copied().collect())
        }
        Given::Texts(name, levels, codes) => {
            let known =
                |code: &i32| u32::try_from(*code).is_ok_and(|c| (c as usize) < levels.len());
            let codes = codes.as_array();
            if let Some(code) = codes.iter().find(|code| **code != -1 && !known(code)) {
                let text = format!("the column {name:?} has the code {code}, but no such level");
                return Err(PyValueError::new_err(text));
            }
            let codes = codes.iter().map(|&code| u32::try_from(code).ok()).collect();
            let text = Categories { levels: levels.clone(), codes };
            Column { name: name.clone(), values: Values::Categories(text) }
        }
    })
}
