//! Errors of the library as exceptions with the same message.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An error that ends a computation.
pub enum Problem {
    /// An error of the library.
    Numerics(nystrom::Error),
    /// An error of the pipeline.
    Pipeline(Box<nystrom_pipeline::Error>),
    /// An exception of Python.
    Raised(PyErr),
}

pub type Outcome<T> = Result<T, Problem>;

impl From<nystrom::Error> for Problem {
    fn from(error: nystrom::Error) -> Self {
        Problem::Numerics(error)
    }
}

impl From<nystrom_pipeline::Error> for Problem {
    fn from(error: nystrom_pipeline::Error) -> Self {
        Problem::Pipeline(Box::new(error))
    }
}

impl From<PyErr> for Problem {
    fn from(error: PyErr) -> Self {
        Problem::Raised(error)
    }
}

impl From<Problem> for PyErr {
    fn from(problem: Problem) -> PyErr {
        match problem {
            Problem::Numerics(error) => PyValueError::new_err(error.to_string()),
            Problem::Pipeline(error) => PyValueError::new_err(error.to_string()),
            Problem::Raised(error) => error,
        }
    }
}

/// An error of the library as an exception, for code outside [`run`](crate::run::run).
pub fn raised(error: nystrom::Error) -> PyErr {
    Problem::from(error).into()
}
