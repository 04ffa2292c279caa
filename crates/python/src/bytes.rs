//! What Python keeps as bytes, so that it pickles: CBOR, which has every number.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as bytes.
pub fn to_bytes(value: &impl Serialize) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| wrong(&error.to_string()))?;
    Ok(bytes)
}

/// The value in these bytes.
pub fn from_bytes<V: DeserializeOwned>(bytes: &[u8]) -> PyResult<V> {
    ciborium::from_reader(bytes).map_err(|error| wrong(&error.to_string()))
}

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("damaged, or of another version of nystrom: {what}"))
}
