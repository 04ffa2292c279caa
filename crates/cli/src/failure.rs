//! Errors of the program: their messages, the exit status of each, and the options that mend them.

use crate::console::for_terminal;
use nystrom_data::{DataError, Problem};
use std::io;

pub type Result<T> = anyhow::Result<T>;

/// Errors of the program itself; errors of the library are passed on unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    /// The data cannot be used.
    #[error("{0}")]
    Data(String),
    #[error("{file}: {problem}")]
    Model { file: String, problem: String },
    #[error("{file}: cannot be written ({source}); check the folder and its permissions")]
    Output { file: String, source: io::Error },
    #[error("standard output: {0}")]
    Stdout(#[from] io::Error),
    /// The command needs more memory than it is allowed.
    #[error("{0}")]
    Memory(String),
    /// Another process of the job failed, ends with this status and prints the error.
    #[error("another process failed")]
    Elsewhere(u8),
}

/// The error of a command line that cannot be followed.
pub fn usage(text: impl Into<String>) -> anyhow::Error {
    Failure::Usage(text.into()).into()
}

/// The error of data that cannot be used.
pub fn data(text: impl Into<String>) -> anyhow::Error {
    Failure::Data(text.into()).into()
}

pub const USAGE: u8 = 2;
pub const DATA: u8 = 3;
pub const MEMORY: u8 = 4;
pub const NOT_CONVERGED: u8 = 5;

/// Prints the error and the option that mends it, and returns the exit status. One write, so that
/// the output of other processes cannot come in between.
pub fn report(error: &anyhow::Error) -> u8 {
    let help =
        error.chain().find_map(help).map_or_else(String::new, |help| format!("help: {help}\n"));
    let words: Vec<String> = error.chain().map(words).collect();
    let text = for_terminal(&format!("error: {}\n{help}", words.join(": "))) + "\n";
    eprint!("{text}");
    status(error)
}

pub fn status(error: &anyhow::Error) -> u8 {
    error.chain().find_map(status_of).unwrap_or(1)
}

fn status_of(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return Some(match failure {
            Failure::Usage(_) => USAGE,
            Failure::Memory(_) => MEMORY,
            Failure::Model { .. } | Failure::Data(_) => DATA,
            Failure::Output { .. } | Failure::Stdout(_) => 1,
            Failure::Elsewhere(status) => *status,
        });
    }
    if let Some(error) = cause.downcast_ref::<nystrom_pipeline::Error>() {
        use nystrom_pipeline::Error::*;
        return Some(match error {
            Numerics(error) => return status_of(error),
            Option { .. } | UsedTwice { .. } => USAGE,
            _ => DATA,
        });
    }
    if let Some(error) = cause.downcast_ref::<nystrom::Error>() {
        use nystrom::Error::*;
        return Some(match error {
            OutOfBudget { .. } => MEMORY,
            InvalidParameter { name: LARGEST_VALUE, .. } => DATA,
            InvalidParameter { .. } | TooMany { .. } | RankDeficient { .. } | Empty { .. } => USAGE,
            Dependent { .. } | Quota { .. } | Sparse { .. } => USAGE,
            NonFinite { .. } | InvalidWeight { .. } | Incompatible { .. } => DATA,
            Coordinate { .. } | Bits { .. } => DATA,
            _ => 1,
        });
    }
    cause.is::<DataError>().then_some(DATA)
}

/// The library's name of the value that overflows for an unbounded kernel.
const LARGEST_VALUE: &str = "largest k(x, x)";

/// The message of an error, with options of the command line as the remedy instead of functions of
/// the library.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    use nystrom::Error::{Coordinate, InvalidParameter, InvalidWeight, NonFinite, Sparse};
    if let Some(error) = error.downcast_ref() {
        use nystrom_pipeline::Error::{Checkpoint, Data, Numerics};
        return match error {
            Numerics(error) => words(error),
            Data(error) => words(error),
            Checkpoint { problem } => format!("the checkpoint: {problem}"),
            other => other.to_string(),
        };
    }
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(DataError::At { place, problem }), _) => match problem {
            Problem::NotANumber { text, .. } => {
                format!("{place}: {text:?} is not a number; correct it")
            }
            Problem::NumericHeader => {
                format!("{place}: the header holds only numbers, so it looks like data")
            }
            Problem::IndexTooLarge { text, limit } => {
                format!("{place}: index {text} is above {limit}; correct it")
            }
            Problem::TooSparse { rows, features, .. } => {
                format!(
                    "{place}: {rows} rows of {features} features are too large for a matrix that \
                     stores its zeros; add --sparse (fit, landmarks, scores, sample and embed), \
                     or keep fewer features"
                )
            }
            other => format!("{place}: {other}"),
        },
        (
            _,
            Some(
                NonFinite { value, .. }
                | InvalidWeight { value, .. }
                | InvalidParameter { name: LARGEST_VALUE, value, .. },
            ),
        ) if !value.is_finite() => format!(
            "the kernel has the value {value}, which is not a finite number; rescale the features, \
             or choose another --bandwidth, --degree or --kernel"
        ),
        // of sparse rows; columns of a table are checked by name
        (_, Some(Coordinate { row, col, value, requirement }))
            if requirement.contains("negative") =>
        {
            format!(
                "row {row} (the first is 0) has the value {value} in feature {} (the first is 1), \
                 and the kernel min-max needs counts, which are at least 0; correct it, or choose \
                 another --kernel such as laplacian-l1",
                col + 1
            )
        }
        (_, Some(Sparse { .. })) => "this method or kernel needs every feature of a row, also its \
                                     zeros; leave out --sparse, or choose another method \
                                     or kernel"
            .to_owned(),
        (_, Some(InvalidParameter { requirement, .. })) if requirement.contains("Density::") => {
            "sa finds no density of the rows, which are too few for so many features; take \
             recursive or bless scores, which need no density, or drop features"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// The options that mend an error.
fn help(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(nystrom_pipeline::Error::Data(error)) = error.downcast_ref() {
        return help(error);
    }
    Some(match error.downcast_ref()? {
        DataError::At { problem: Problem::NumericHeader, .. } => {
            "--no-header reads the first line as data"
        }
        DataError::At { problem: Problem::RaggedRow { .. }, .. } => {
            "--delimiter sets the character that separates fields; numbers with a decimal comma \
             need another delimiter, or quotes"
        }
        DataError::At { problem: Problem::NpyHeader { .. }, .. } => {
            "if the file has another format, name it with --format"
        }
        DataError::UnknownColumn { .. } => {
            "columns can be named, or numbered from 1 (-1 is the last); --delimiter sets the \
             character that separates them"
        }
        _ => return None,
    })
}

pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut failures = error.chain().filter_map(|cause| cause.downcast_ref::<Failure>());
    failures.any(|failure| {
        matches!(failure, Failure::Stdout(source) if source.kind() == io::ErrorKind::BrokenPipe)
    })
}
