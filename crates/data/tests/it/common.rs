//! Helpers of the integration tests.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use nystrom_data::{DataError, Problem, Result, Table, catalog};

/// `bytes` as one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads as the one set of the catalog that comes in FANN's format.
pub fn read_fann(mut bytes: &[u8], name: &str) -> Result<Table> {
    (catalog::find("pumadyn-32fm")?.read)(&mut bytes, name)
}

/// Line, field and column name of the error, the problem, and the whole message.
pub struct Complaint {
    pub line: Option<u64>,
    pub field: Option<usize>,
    pub column: Option<String>,
    pub problem: Problem,
    pub message: String,
}

impl Complaint {
    pub fn at(&self) -> (Option<u64>, Option<usize>, Option<&str>) {
        (self.line, self.field, self.column.as_deref())
    }
}

/// The complaint about a file that must be refused, with the file named.
pub fn refused(result: Result<Table>, file: &str) -> Complaint {
    let error = result.expect_err("the file should be refused");
    let message = error.to_string();
    assert!(message.starts_with(file), "{message} does not name {file}");
    let DataError::At { place, problem } = error else { panic!("no place: {message}") };
    assert_eq!(place.file, file);
    assert!(message.contains(';') || message.contains('?'), "no remedy: {message}");
    Complaint { line: place.line, field: place.field, column: place.column, problem, message }
}
