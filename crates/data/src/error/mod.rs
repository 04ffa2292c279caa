//! One error type for the crate: every variant names the place, the offending text or number, and
//! the remedy.

pub(crate) mod place;
mod problem;

pub use place::Place;
pub use problem::Problem;

/// `Result` with [`DataError`].
pub type Result<T> = std::result::Result<T, DataError>;

/// What can go wrong between a file and a matrix.
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
        /// Where.
        place: Box<Place>,
        /// What.
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
        /// What the system says.
        source: std::io::Error,
    },
    /// The name of a file does not tell its format.
    #[error(
        "{file}: the format cannot be told from the name; rename it to .csv, .tsv, .txt, .arff, \
         .libsvm or .npy (.gz may \
            follow), or name the reader"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
    },
    /// A delimiter cannot separate fields.
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
    /// A column of text is used as numbers.
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
    /// A column of numbers is used as text.
    #[error(
        "{table}: column {column:?} holds numbers, so there is nothing to encode; leave it as it is"
    )]
    NumericColumn {
        /// Where the table came from.
        table: String,
        /// The column.
        column: String,
    },
    /// An explicit order of categories is not the set of categories.
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
    /// A table with missing values is used as a matrix.
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
        /// The first such row, from 0.
        row: usize,
        /// Its line in the file, from 1, if the format has lines.
        line: Option<u64>,
    },
    /// A row number is out of range.
    #[error("{table}: there is no row {row}: it has {rows} rows, counted from 0")]
    NoSuchRow {
        /// Where the table came from.
        table: String,
        /// The number asked for.
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
    /// No feature is left beside the target.
    #[error("{table}: there is no column beside the target; keep at least one feature")]
    NoFeatures {
        /// Where the table came from.
        table: String,
    },
    /// Two lengths that must agree do not.
    #[error("{what}: expected {expected}, got {found}; make them agree")]
    Length {
        /// Which lengths.
        what: String,
        /// The length asked for.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// Tables to be stacked have different columns.
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
        /// The column in the other.
        found: String,
    },
    /// A file that can only be read as a whole.
    #[error("{file}: cannot be read block by block: {why}")]
    NotStreamed {
        /// The file.
        file: String,
        /// Why, and what helps.
        why: String,
    },
    /// A file is not the one that was read before.
    #[error(
        "{file}: is not what it was when it was first read: {what}; leave the files alone until \
         the work is done, and start again"
    )]
    Changed {
        /// The file.
        file: String,
        /// What differs.
        what: String,
    },
    /// The same rows twice.
    #[error("{other} and {file} hold the same rows; leave one of them out")]
    SameRows {
        /// The later of the two files.
        file: String,
        /// The earlier.
        other: String,
    },
    /// A folder or pattern without files.
    #[error("{pattern}: no file is there; check the folder, and put a pattern in quotes")]
    NoFiles {
        /// As it was given.
        pattern: String,
    },
    /// Features have one value only, so that they have no standard deviation to divide by.
    #[error(
        "the features {features} have the same value in every row; drop them or choose \
         `Constant::ScaleByOne`"
    )]
    ConstantFeatures {
        /// Their names.
        features: String,
    },
    /// A feature is not finite or spans more than `f64` can hold.
    #[error(
        "feature {feature:?} has no finite mean and standard deviation; remove values that are \
         not finite or rescale it"
    )]
    NotStandardizable {
        /// Its name.
        feature: String,
    },
    /// The catalog has no such data set.
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
        /// Which files, where to get them, their shape and checksums, in words.
        String,
    ),
    /// A file is not the one that the catalog knows.
    #[error(
        "{file}: its uncompressed bytes have SHA-256 {found}, expected {expected}, and its \
         numbers are others, too; get it \
            again ({where_to_get}), or, if the difference is known and harmless, load it with \
            `Verify::ShapeOnly`"
    )]
    ChecksumMismatch {
        /// The path.
        file: String,
        /// The digest that the catalog knows, in hexadecimal.
        expected: String,
        /// The digest of the file.
        found: String,
        /// The public source.
        where_to_get: String,
    },
    /// A data set has the right shape and other numbers than the catalog knows.
    #[error(
        "{what}: its numbers are not those of the catalog (identity {found}, expected \
         {expected}); remove it and get \
            the set again ({where_to_get})"
    )]
    IdentityMismatch {
        /// The file, and the data set that it should be.
        what: String,
        /// The identity that the catalog knows, in hexadecimal.
        expected: String,
        /// The identity of what was read.
        found: String,
        /// The public source.
        where_to_get: String,
    },
    /// A file or data set has another shape than the catalog knows.
    #[error(
        "{what}: {found_rows} rows × {found_columns} columns, expected {rows} × {columns}; get it \
         again \
            ({where_to_get})"
    )]
    ShapeMismatch {
        /// The file or the data set.
        what: String,
        /// The number of rows that the catalog knows.
        rows: usize,
        /// The number of columns that the catalog knows.
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
    /// The system failed to read this file.
    pub(crate) fn io(file: &str) -> impl Fn(std::io::Error) -> DataError + Copy {
        move |source| DataError::Io { file: file.to_owned(), source }
    }

    /// The place in a file, if the text of a file is what is wrong.
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

    /// What is wrong there, if the text of a file is what is wrong.
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
