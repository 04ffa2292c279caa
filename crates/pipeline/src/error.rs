//! Errors about tables, options and model files.

use nystrom_data::DataError;

/// Errors of this crate. Numerical errors and errors of tables are passed on unchanged.
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
    /// A numerical error.
    #[error(transparent)]
    Numerics(#[from] nystrom::Error),
    /// An error of a table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A required column does not exist.
    #[error("{table}: there is no column {column:?}; there are {available}")]
    NoColumn {
        /// Where the table came from.
        table: String,
        /// The name of the required column.
        column: String,
        /// The first names of the columns that exist.
        available: String,
    },
    /// A column has two uses that exclude each other.
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
        /// Why no column is a feature.
        why: String,
    },
    /// The table has fewer than 3 rows that can be used.
    #[error(
        "there is nothing to learn from {rows} row{}; at least 3 are needed",
        if *rows == 1 { "" } else { "s" }
    )]
    TooFewRows {
        /// The number of rows that can be used.
        rows: usize,
    },
    /// The target has the same value in every row.
    #[error(
        "the target {target:?} is {value} in every row, so that there is nothing to learn; take \
         another target"
    )]
    ConstantTarget {
        /// The name of the target.
        target: String,
        /// Its value.
        value: f64,
    },
    /// A class that no fitted row had.
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
    /// Intervals were requested of a model that was fitted without calibration.
    #[error(
        "the model has no rows set aside for intervals; fit it again with calibration: \
         --calibrate 0.1, or with fewer than 5000 rows --calibrate cv:10"
    )]
    NotCalibrated,
    /// Standard deviations were requested of a model that was fitted without them.
    #[error("the model has no standard deviations; fit it again with --std")]
    NoDeviations,
    /// There are too few calibration rows for intervals of this level.
    #[error(
        "intervals of level {level} need {needed} calibration rows, and the model has {rows}; set \
         more rows aside, or choose a lower level"
    )]
    FewCalibrationRows {
        /// The level, 1 − α.
        level: f64,
        /// The number of calibration rows.
        rows: usize,
        /// The smallest number of calibration rows for this level.
        needed: usize,
    },
    /// Probabilities were requested of a regression.
    #[error(
        "the model predicts the number {target:?}, and only classes have probabilities; fit it \
         again as a classification (--task classification), or ask for predictions"
    )]
    NoClasses {
        /// The target.
        target: String,
    },
    /// A column lacks values that it must have, or has values that cannot be used.
    #[error("the column {column:?} {what}; {remedy}")]
    Values {
        /// The column.
        column: String,
        /// What is wrong with its values.
        what: String,
        /// What the caller can do.
        remedy: &'static str,
    },
    /// A text is no fingerprint.
    #[error("the column {column:?} has no fingerprint in {place}: {problem}")]
    Fingerprint {
        /// The column.
        column: String,
        /// The line or row of the text.
        place: String,
        /// What is wrong with the text, and what the caller can do.
        problem: String,
    },
    /// An explanation was requested of a model whose kernel has no derivatives.
    #[error(
        "the kernel {kernel} has no derivatives, from which columns are explained; explain a \
         model of another kernel"
    )]
    NoDerivatives {
        /// The kernel.
        kernel: String,
    },
    /// An explanation was requested of a model of sparse rows.
    #[error(
        "the model has {features} sparse features, which are not explained one by one; for an \
         explanation, fit a table with a column for each feature"
    )]
    SparseFeatures {
        /// The number of features.
        features: usize,
    },
    /// An option has a value outside its range.
    #[error("{option}: {problem}")]
    Option {
        /// The option.
        option: &'static str,
        /// What is wrong, and what the caller can do.
        problem: String,
    },
    /// A checkpoint from which the fit cannot continue.
    #[error("the checkpoint cannot be used: {problem}")]
    Checkpoint {
        /// What is wrong with it, and what the caller can do.
        problem: String,
    },
    /// Bytes that are not a model file.
    #[error("{problem}")]
    File {
        /// What is wrong with them, and what the caller can do.
        problem: String,
    },
}

impl Error {
    /// [`Error::Values`] of a row without a value in the column by which rows are split.
    pub(crate) fn misses_split(table: &nystrom_data::Table, name: &str, row: usize) -> Error {
        let remedy = "fill it in, leave out the row, or split by another column";
        Error::values(name, format!("misses its value in {}", place(table, row)), remedy)
    }

    /// [`Error::UsedTwice`] of a column.
    pub(crate) fn used_twice(column: &str, first: &'static str, second: &'static str) -> Error {
        Error::UsedTwice { column: column.to_owned(), first, second }
    }

    /// [`Error::Values`] of a column.
    pub(crate) fn values(column: &str, what: impl Into<String>, remedy: &'static str) -> Error {
        Error::Values { column: column.to_owned(), what: what.into(), remedy }
    }
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The first 12 of these names, quoted, and the number of the others, for a message.
///
/// ```
/// use nystrom_pipeline::first_names;
/// assert_eq!(first_names(["a", "b"].into_iter()), r#""a", "b""#);
/// assert!(first_names(["a"; 15].into_iter()).ends_with(" and 3 more"));
/// ```
pub fn first_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("{name:?}")).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// The line of a row of a table, or its number, in words.
pub(crate) fn place(table: &nystrom_data::Table, row: usize) -> String {
    match table.line(row) {
        Some(line) => format!("line {line}"),
        None => format!("row {}", row + 1),
    }
}
