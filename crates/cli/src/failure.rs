//! What can go wrong, which status the program ends with, and what would help.

use nystrom_data::{DataError, Problem};
use std::io;

pub type Result<T> = anyhow::Result<T>;

/// Errors of the program itself; those of the library come as they are.
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
    /// More memory is needed than is allowed.
    #[error("{0}")]
    Memory(String),
    /// With which status another process ends, which tells why.
    #[error("another process failed")]
    Elsewhere(u8),
}

pub const USAGE: u8 = 2;
pub const DATA: u8 = 3;
pub const MEMORY: u8 = 4;
pub const NOT_CONVERGED: u8 = 5;

/// Prints the error, with what would help on this command line, and gives the status. At once, so
/// that nothing that others print comes in between.
pub fn report(error: &anyhow::Error) -> u8 {
    let help =
        error.chain().find_map(help).map_or_else(String::new, |help| format!("help: {help}\n"));
    let words: Vec<String> = error.chain().map(words).collect();
    let text = format!("error: {}\n{help}", words.join(": "));
    eprint!("{text}");
    status(error)
}

pub fn status(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return match failure {
                Failure::Usage(_) => USAGE,
                Failure::Memory(_) => MEMORY,
                Failure::Model { .. } | Failure::Data(_) => DATA,
                Failure::Output { .. } | Failure::Stdout(_) => 1,
                Failure::Elsewhere(status) => *status,
            };
        }
        if cause.is::<DataError>() {
            return DATA;
        }
        if let Some(error) = cause.downcast_ref::<nystrom::Error>() {
            use nystrom::Error::*;
            return match error {
                OutOfBudget { .. } => MEMORY,
                InvalidParameter { name: LARGEST_VALUE, .. } => DATA,
                InvalidParameter { .. } | TooMany { .. } | RankDeficient { .. } | Empty { .. } => {
                    USAGE
                }
                NonFinite { .. } | InvalidWeight { .. } | Incompatible { .. } => DATA,
                _ => 1,
            };
        }
    }
    1
}

/// What the library calls the value that overflows where a kernel has no bound.
const LARGEST_VALUE: &str = "largest k(x, x)";

/// An error in words of the command line: the library names its own functions as remedies.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    use nystrom::Error::{InvalidParameter, InvalidWeight, NonFinite};
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(DataError::At { place, problem }), _) => match problem {
            Problem::NotANumber { text, .. } => format!(
                "{place}: {text:?} is not a number; \
                                                         correct it"
            ),
            Problem::NumericHeader => format!(
                "{place}: the header holds only numbers, so it \
                                               looks like data"
            ),
            Problem::IndexTooLarge { text, limit } => format!(
                "{place}: index {text} is above \
                {limit}; correct it"
            ),
            Problem::TooSparse { rows, features, .. } => {
                format!(
                    "{place}: {rows} rows of {features} features are too many to hold with their \
                     zeros; keep fewer features"
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
            "the kernel has the value {value}, with which nothing can be computed; rescale the \
             features, or take another \
             --bandwidth, --degree or --kernel"
        ),
        (_, Some(InvalidParameter { requirement, .. })) if requirement.contains("Density::") => {
            "sa finds no density of so few rows in so many dimensions; take recursive or bless \
             scores, which need none, or \
             drop features"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// The options that help.
fn help(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let help = match error.downcast_ref()? {
        DataError::At { problem: Problem::NumericHeader, .. } => {
            "--no-header takes the first line as data"
        }
        DataError::At { problem: Problem::RaggedRow { .. }, .. } => {
            "--delimiter says what separates fields; numbers with a decimal comma need another \
             delimiter, or quotes"
        }
        DataError::At { problem: Problem::NpyHeader { .. }, .. } => "--format says what it is",
        DataError::UnknownColumn { .. } => {
            "columns can be named or numbered from 1, -1 is the last; --delimiter says what \
             separates them"
        }
        _ => return None,
    };
    Some(help.into())
}

/// An error of the pipeline as the program tells its own: what is wrong with numbers or tables
/// comes as it is.
pub fn of_pipeline(error: nystrom_pipeline::Error) -> anyhow::Error {
    use nystrom_pipeline::Error::*;
    match error {
        Numerics(error) => error.into(),
        Data(error) => error.into(),
        Budget { unit: "bytes", needed, allowed, what } => {
            nystrom::Error::OutOfBudget { what, needed: needed as u64, budget: allowed as u64 }
                .into()
        }
        Checkpoint { problem } => Failure::Data(format!("the checkpoint: {problem}")).into(),
        Option { .. } | UsedTwice { .. } | Budget { .. } => {
            Failure::Usage(error.to_string()).into()
        }
        other => Failure::Data(other.to_string()).into(),
    }
}

pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| match cause.downcast_ref::<Failure>() {
        Some(Failure::Stdout(source)) => is(source),
        _ => false,
    })
}
