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
            Problem::Pipeline(error) => PyValueError::new_err(in_python(&error.to_string())),
            Problem::Raised(error) => error,
        }
    }
}

/// An error of the library as an exception, for code outside [`run`](crate::run::run).
pub fn raised(error: nystrom::Error) -> PyErr {
    Problem::from(error).into()
}

/// Options of the command line whose parameter has another name, or takes no value there.
const RENAMED: [(&str, &str); 5] = [
    ("--task classification", "KernelClassifier"),
    ("--task regression", "KernelRegressor"),
    ("--day-first", "day_first=True"),
    ("--std", "deviations=True"),
    ("--weights", "sample_weight"),
];

/// A message of the pipeline with parameters in place of options: `calibrate=0.1` for
/// `--calibrate 0.1`.
#[pyfunction]
pub fn in_python(text: &str) -> String {
    let renamed = RENAMED.iter();
    let text = renamed.fold(text.to_owned(), |text, (option, name)| text.replace(option, name));
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(part.len());
        if end == 0 {
            out += &format!("--{part}");
            continue;
        }
        let (name, rest) = part.split_at(end);
        out += &format!("{}={}", name.replace('-', "_"), rest.strip_prefix(' ').unwrap_or(rest));
    }
    out
}
