//! What can be wrong with a table, an option or a model file.

use nystrom_data::DataError;

/// Errors of this crate; those of the numerics and of the tables come as they are.
///
/// ```
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Error, Fit};
/// use nystrom::prelude::*;
/// let y = Column::numbers("y", vec![2.0; 5]);
/// let table = Table::new("t", vec![Column::numbers("a", vec![1., 2., 3., 4., 5.]), y]).unwrap();
/// let error = Fit::default().table(&table, ["y"], &mut Pcg64::seed_from_u64(0)).unwrap_err();
/// assert!(matches!(error, Error::ConstantTarget { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Of the numerics.
    #[error(transparent)]
    Numerics(#[from] nystrom::Error),
    /// Of the table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A column that is needed is absent.
    #[error("{table}: there is no column {column:?}; there are {available}")]
    NoColumn {
        /// Where the table came from.
        table: String,
        /// The name that was looked for.
        column: String,
        /// The first names that exist.
        available: String,
    },
    /// A column is used for two things that exclude each other.
    #[error("column {column:?} has two uses, {first} and {second}; give each its own column")]
    UsedTwice {
        /// The column.
        column: String,
        /// One use.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// No column is left to predict from.
    #[error("no feature is left: {why}; keep at least one")]
    NoFeatures {
        /// What became of the columns.
        why: String,
    },
    /// Nothing can be learnt from so few rows.
    #[error(
        "there is nothing to learn from {rows} row{}; at least 3 are needed",
        if *rows == 1 { "" } else { "s" }
    )]
    TooFewRows {
        /// How many there are.
        rows: usize,
    },
    /// The target has one value.
    #[error(
        "the target {target:?} is {value} in every row, so that there is nothing to learn; take \
         another target"
    )]
    ConstantTarget {
        /// Its name.
        target: String,
        /// Its value.
        value: f64,
    },
    /// A class that no row had when the model was fitted.
    #[error(
        "the class {class:?} of the target {target:?} was in no row that was fitted; leave its \
         rows out, or fit the model again with some"
    )]
    UnknownClass {
        /// The target.
        target: String,
        /// The class.
        class: String,
    },
    /// Intervals asked of a model without calibration rows.
    #[error(
        "the model has no rows set aside for intervals; fit it again with some (--calibrate 0.1)"
    )]
    NotCalibrated,
    /// Standard deviations asked of a model that kept nothing for them.
    #[error("the model has no standard deviations; fit it again with --std")]
    NoDeviations,
    /// Too few calibration rows for intervals so wide.
    #[error(
        "intervals of level {level} need {needed} calibration rows, and the model has {rows}; set \
         more aside, or take a lower level"
    )]
    FewCalibrationRows {
        /// The level, 1 − α.
        level: f64,
        /// How many there are.
        rows: usize,
        /// 1/α.
        needed: usize,
    },
    /// Probabilities asked of a regression.
    #[error(
        "the model predicts the number {target:?}, and only classes have probabilities; fit it \
         again as a classification (--task classification), or ask for predictions"
    )]
    NoClasses {
        /// The target.
        target: String,
    },
    /// A number that must be there is missing, or is none.
    #[error("the column {column:?} {what}; {remedy}")]
    Values {
        /// The column.
        column: String,
        /// What is wrong with its values.
        what: String,
        /// What helps.
        remedy: &'static str,
    },
    /// The work or the memory allowed is too small for anything.
    #[error("{what} needs {needed:.3e} {unit}, and {allowed:.3e} are allowed; allow more")]
    Budget {
        /// For what.
        what: &'static str,
        /// The least that it takes.
        needed: f64,
        /// What is allowed.
        allowed: f64,
        /// `bytes` or `operations`.
        unit: &'static str,
    },
    /// An option outside its range.
    #[error("{option}: {problem}")]
    Option {
        /// The option.
        option: &'static str,
        /// What is wrong, and what helps.
        problem: String,
    },
    /// What cannot be gone on from.
    #[error("the checkpoint cannot be used: {problem}")]
    Checkpoint {
        /// What is wrong with it, and what helps.
        problem: String,
    },
    /// Bytes that are no model.
    #[error("{problem}")]
    File {
        /// What is wrong with them, and what helps.
        problem: String,
    },
}

impl Error {
    /// [`Error::Values`] of a column.
    pub(crate) fn values(column: &str, what: impl Into<String>, remedy: &'static str) -> Error {
        Error::Values { column: column.to_owned(), what: what.into(), remedy }
    }
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The first of these names, and how many more there are.
pub(crate) fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("{name:?}")).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Where a row of a table stands, in words.
pub(crate) fn place(table: &nystrom_data::Table, row: usize) -> String {
    match table.line(row) {
        Some(line) => format!("line {line}"),
        None => format!("row {}", row + 1),
    }
}
