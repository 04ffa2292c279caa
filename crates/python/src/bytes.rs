//! Values as bytes, which Python can pickle. The format is CBOR, which has NaN and infinities.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Serialises a value.
pub fn to_bytes(value: &impl Serialize) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| wrong(&error.to_string()))?;
    Ok(bytes)
}

/// Deserialises a value.
///
/// # Errors
/// A `ValueError` if the bytes are damaged or written by another version.
pub fn from_bytes<V: DeserializeOwned>(bytes: &[u8]) -> PyResult<V> {
    ciborium::from_reader(bytes).map_err(|error| wrong(&error.to_string()))
}

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("damaged, or written by another version of nystrom: {what}"))
}
