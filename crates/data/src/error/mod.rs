//! The error type of the crate. Every variant names the place, the offending text or number, and
//! the remedy.

pub(crate) mod place;
mod problem;

pub use place::Place;
pub use problem::Problem;

/// `Result` with [`DataError`].
pub type Result<T> = std::result::Result<T, DataError>;

/// An error in reading a file or in preparing a table.
///
/// ```
/// use nystrom_data::{Csv, DataError, Problem};
///
/// let error = Csv::new().read("a,b\n1,2\n3,x\n".as_bytes(), "t.csv").unwrap_err();
/// let DataError::At { place, problem } = &error else { panic!() };
/// assert_eq!((place.line, place.field, place.column.as_deref()), (Some(3), Some(2), Some("b")));
/// assert!(matches!(problem, Problem::NotANumber { text, .. } if text == "x"));
/// assert!(error.to_string().starts_with(r#"t.csv:3, column 2 ("b"): "x" is not a number; "#));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The text of a file is wrong.
    #[error("{place}: {problem}")]
    At {
        /// The place in the file.
        place: Box<Place>,
        /// What is wrong there.
        problem: Problem,
    },
    /// A file could not be opened because it does not exist.
    #[error("{file}: there is no such file (looked in {looked_in}); check the path")]
    NotFound {
        /// The path as given.
        file: String,
        /// The folder in which it was looked for.
        looked_in: String,
    },
    /// The system failed to open or read a file.
    #[error("{file}: cannot be read ({source}); check the path and its permissions")]
    Io {
        /// The display name of the file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The format of a file cannot be told from its name.
    #[error(
        "{file}: the format cannot be told from the name; rename it to .csv, .tsv, .txt, .arff, \
         .libsvm or .npy (.gz may \
            follow), or name the reader"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
    },
    /// This byte cannot be a delimiter.
    #[error(
        "the byte {delimiter:#04x} cannot be a delimiter; use an ASCII character other than a \
         quote or a line end"
    )]
    BadDelimiter {
        /// The delimiter as given.
        delimiter: u8,
    },
    /// A table has no such column.
    #[error("{table}: there is no column {wanted}; there are {count}: {available}")]
    UnknownColumn {
        /// Where the table came from.
        table: String,
        /// What was asked for.
        wanted: String,
        /// How many columns there are.
        count: usize,
        /// The names that exist.
        available: String,
    },
    /// A column of text was used as numbers.
    #[error(
        "{table}: column {column:?} holds text such as {example:?}; `encode` it as numbers or \
         `drop_columns` it"
    )]
    TextColumn {
        /// Where the table came from.
        table: String,
        /// The column.
        column: String,
        /// One of its values.
        example: String,
    },
    /// A column of numbers was used as text.
    #[error(
        "{table}: column {column:?} holds numbers, so there is nothing to encode; leave it as it is"
    )]
    NumericColumn {
        /// Where the table came from.
        table: String,
        /// The column.
        column: String,
    },
    /// A column of sparse rows was used as numbers or as text.
    #[error(
        "{table}: column {column:?} holds sparse rows, of many numbers each; take another column \
         here"
    )]
    SparseColumn {
        /// Where the table came from.
        table: String,
        /// The column.
        column: String,
    },
    /// The parts of sparse rows do not fit together.
    #[error("sparse row {row} (from 0): {problem}")]
    SparseRows {
        /// The first row that is wrong, from 0.
        row: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// An explicit order of categories does not list each category exactly once.
    #[error(
        "{table}: the order given for column {column:?} does not list {value:?} exactly once; \
         list every value of \
            the column once"
    )]
    BadOrder {
        /// Where the table came from.
        table: String,
        /// The column.
        column: String,
        /// The value that is missing or listed twice.
        value: String,
    },
    /// A table with missing values was used as a matrix.
    #[error(
        "{table}: column {column:?} has {count} missing (or infinite) values, the first in {}; \
            `drop_missing_rows` or `drop_columns` first",
        place::line_or_row(*line, *row)
    )]
    MissingValues {
        /// Where the table came from.
        table: String,
        /// The first column with missing values.
        column: String,
        /// How many of its values are missing.
        count: usize,
        /// The first row with a missing value, from 0.
        row: usize,
        /// Line of that row in the file, from 1, if the format has lines.
        line: Option<u64>,
    },
    /// A row number is out of range.
    #[error("{table}: there is no row {row}; the {rows} rows count from 0")]
    NoSuchRow {
        /// Where the table came from.
        table: String,
        /// The row number asked for.
        row: usize,
        /// The number of rows.
        rows: usize,
    },
    /// No rows are left, or none were given.
    #[error("{table}: there are no rows; at least one is needed")]
    NoRows {
        /// Where the table came from.
        table: String,
    },
    /// The target is the only column.
    #[error("{table}: there is no column beside the target; keep at least one feature")]
    NoFeatures {
        /// Where the table came from.
        table: String,
    },
    /// Two lengths that must be equal differ.
    #[error("{what}: expected {expected}, got {found}; make them agree")]
    Length {
        /// Which lengths.
        what: String,
        /// The length asked for.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// Tables that were to be stacked have different columns.
    #[error(
        "{table}: column {position} is {found}, but {expected} in {first}; stack only tables with \
         the same columns \
            in the same order"
    )]
    StackMismatch {
        /// Where the first table came from.
        first: String,
        /// Where the other table came from.
        table: String,
        /// Position of the column, from 0.
        position: usize,
        /// The column in the first table.
        expected: String,
        /// The column in the other table.
        found: String,
    },
    /// A file of this format can only be read as a whole.
    #[error("{file}: cannot be read block by block: {why}")]
    NotStreamed {
        /// The file.
        file: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// A file has changed since it was first read.
    #[error(
        "{file}: the file has changed since it was first read: {what}; start again, and leave the \
         files as they are until the work is done"
    )]
    Changed {
        /// The file.
        file: String,
        /// What differs.
        what: String,
    },
    /// Two files hold the same rows.
    #[error("{other} and {file} hold the same rows; leave one of them out")]
    SameRows {
        /// The later of the two files.
        file: String,
        /// The earlier.
        other: String,
    },
    /// A folder has no files, or no file matches a pattern.
    #[error("{pattern}: no file is there; check the folder, and put a pattern in quotes")]
    NoFiles {
        /// The folder or pattern as given.
        pattern: String,
    },
    /// Features are constant, so that their standard deviation is 0.
    #[error(
        "the features {features} have the same value in every row; drop them or choose \
         `Constant::ScaleByOne`"
    )]
    ConstantFeatures {
        /// Their names.
        features: String,
    },
    /// A feature has values that are not finite, or its range exceeds the greatest `f64`.
    #[error(
        "feature {feature:?} has no finite mean and standard deviation; remove values that are \
         not finite or rescale it"
    )]
    NotStandardizable {
        /// Its name.
        feature: String,
    },
    /// The catalog has no data set of this name.
    #[error("there is no data set called {name:?}; there are {known}")]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A file of a data set is absent.
    #[error("{0}")]
    DatasetMissing(
        /// The message: which files, where to get them, their shape and checksums.
        String,
    ),
    /// The checksum of a file is not that of the catalog.
    #[error(
        "{file}: its uncompressed bytes have SHA-256 {found}, expected {expected}, and its \
         numbers differ, too; get it again ({where_to_get}), or, if the difference is known and \
         harmless, load it with `Verify::ShapeOnly`"
    )]
    ChecksumMismatch {
        /// The path.
        file: String,
        /// The catalog's digest, in hexadecimal.
        expected: String,
        /// The digest of the file.
        found: String,
        /// The public source.
        where_to_get: String,
    },
    /// A data set has the catalog's shape, but other numbers.
    #[error(
        "{what}: its numbers are not those of the catalog (identity {found}, expected \
         {expected}); remove it and get \
            the set again ({where_to_get})"
    )]
    IdentityMismatch {
        /// The file, and the data set that it was read as.
        what: String,
        /// The catalog's identity of the data set, in hexadecimal.
        expected: String,
        /// The identity of the numbers that were read.
        found: String,
        /// The public source.
        where_to_get: String,
    },
    /// A file or data set does not have the catalog's shape.
    #[error(
        "{what}: {found_rows} rows × {found_columns} columns, expected {rows} × {columns}; get it \
         again \
            ({where_to_get})"
    )]
    ShapeMismatch {
        /// The file or the data set.
        what: String,
        /// The catalog's number of rows.
        rows: usize,
        /// The catalog's number of columns.
        columns: usize,
        /// The number of rows found.
        found_rows: usize,
        /// The number of columns found.
        found_columns: usize,
        /// The public source.
        where_to_get: String,
    },
}

impl DataError {
    /// Makes an error of the system's error for this file.
    pub(crate) fn io(file: &str) -> impl Fn(std::io::Error) -> DataError + Copy {
        move |source| DataError::Io { file: file.to_owned(), source }
    }

    /// The error for a column of sparse rows.
    pub(crate) fn sparse(table: &str, column: &str) -> DataError {
        DataError::SparseColumn { table: table.to_owned(), column: column.to_owned() }
    }

    /// The place in the file, for an error in the text of a file.
    ///
    /// ```
    /// let error = nystrom_data::Csv::new().read("".as_bytes(), "t.csv").unwrap_err();
    /// assert_eq!(error.place().unwrap().file, "t.csv");
    /// ```
    pub fn place(&self) -> Option<&Place> {
        match self {
            DataError::At { place, .. } => Some(place),
            _ => None,
        }
    }

    /// What is wrong at that place, for an error in the text of a file.
    ///
    /// ```
    /// use nystrom_data::{Csv, Problem};
    /// let error = Csv::new().read("a\n".as_bytes(), "t.csv").unwrap_err();
    /// assert_eq!(error.problem(), Some(&Problem::NoRows));
    /// ```
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            DataError::At { problem, .. } => Some(problem),
            _ => None,
        }
    }
}
