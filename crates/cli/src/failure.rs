//! What can go wrong, which status the program ends with, and what would help.

use nystrom_data::{DataError, Problem};
use std::io;
use std::process::ExitCode;

pub type Result<T> = anyhow::Result<T>;

/// Errors of the program itself; those of the library come as they are.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("{file}: {problem}")]
    Model { file: String, problem: String },
    #[error("{file}: cannot be written ({source}); check the folder and its permissions")]
    Output { file: String, source: io::Error },
    #[error("standard output: {0}")]
    Stdout(#[from] io::Error),
}

pub const USAGE: u8 = 2;
pub const DATA: u8 = 3;
pub const MEMORY: u8 = 4;
pub const NOT_CONVERGED: u8 = 5;

/// Prints the error, with what would help on this command line, and gives the status.
pub fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    if let Some(help) = error.chain().find_map(|cause| cause.downcast_ref()).and_then(help) {
        eprintln!("help: {help}");
    }
    ExitCode::from(status(error))
}

fn status(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return match failure {
                Failure::Usage(_) => USAGE,
                Failure::Model { .. } => DATA,
                Failure::Output { .. } | Failure::Stdout(_) => 1,
            };
        }
        if cause.is::<DataError>() {
            return DATA;
        }
        if let Some(error) = cause.downcast_ref::<nystrom::Error>() {
            use nystrom::Error::*;
            return match error {
                OutOfBudget { .. } => MEMORY,
                InvalidParameter { .. } | TooMany { .. } | RankDeficient { .. } => USAGE,
                NonFinite { .. } | Incompatible { .. } => DATA,
                _ => 1,
            };
        }
    }
    1
}

/// The library names its own functions as remedies; these are the options that call them.
fn help(error: &DataError) -> Option<&'static str> {
    Some(match error {
        DataError::At { problem: Problem::NotANumber { .. }, .. } => {
            "--drop COLUMN leaves a column out, --missing TEXT marks missing values, --no-header takes the first line as \
             data, --delimiter says what separates fields"
        }
        DataError::At { problem: Problem::NotFinite { .. }, .. } => "--missing NaN --drop-missing leaves such rows out",
        DataError::At { problem: Problem::NumericHeader, .. } => "--no-header takes the first line as data",
        DataError::At { problem: Problem::RaggedRow { .. }, .. } => "--delimiter says what separates fields",
        DataError::TextColumn { .. } => "--drop COLUMN leaves it out; text is not encoded by this program",
        DataError::MissingValues { .. } => {
            "--drop-missing leaves out rows with missing values, --drop COLUMN the column"
        }
        DataError::ConstantFeatures { .. } => "--drop COLUMN,… leaves them out, --no-standardize keeps them",
        DataError::UnknownFormat { .. } => "--format says what it is",
        DataError::UnknownColumn { .. } => "columns can be named or numbered from 1; -1 is the last",
        _ => return None,
    })
}

pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| match cause.downcast_ref::<Failure>() {
        Some(Failure::Stdout(source)) => is(source),
        _ => false,
    })
}
