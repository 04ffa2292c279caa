//! The errors that the text of a file can contain.

use super::{DataError, Place, place::excerpt};

/// What is wrong at a [`Place`]. Every message ends with the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A gzip file is cut off.
    #[error("the gzip data break off after {bytes} uncompressed bytes; fetch the file again")]
    GzipTruncated {
        /// How many bytes could be uncompressed.
        bytes: u64,
    },
    /// A gzip file is damaged.
    #[error(
        "the gzip data are damaged after {bytes} uncompressed bytes ({reason}); fetch the file \
         again"
    )]
    GzipCorrupt {
        /// How many bytes could be uncompressed.
        bytes: u64,
        /// The decoder's message.
        reason: String,
    },
    /// A Zstandard file breaks off or is damaged.
    #[error(
        "the Zstandard data break off or are damaged after {bytes} uncompressed bytes ({reason}); \
         fetch the file again"
    )]
    Zstd {
        /// How many bytes could be uncompressed.
        bytes: u64,
        /// The decoder's message.
        reason: String,
    },
    /// The text is not UTF-8.
    #[error(
        "byte {byte} of the line ({value:#04x}) is not UTF-8; convert the file, e.g. `iconv -f \
         LATIN1 -t UTF-8`"
    )]
    BadUtf8 {
        /// Position of the first wrong byte in its line, from 1.
        byte: usize,
        /// Its value.
        value: u8,
    },
    /// A line is longer than readers accept.
    #[error(
        "the line is longer than {limit} bytes; check that the file is a text table with line ends"
    )]
    LineTooLong {
        /// The greatest length that is read.
        limit: usize,
    },
    /// The file has only blank lines and comments.
    #[error("the file is empty; expected {expected}")]
    Empty {
        /// What a file of this format starts with.
        expected: &'static str,
    },
    /// No row follows the header.
    #[error("there are no rows of data after the header; is the file complete?")]
    NoRows,
    /// The number of fields of a row differs from that of the header or of earlier rows.
    #[error(
        "the row has {found} fields, expected {expected}; check the delimiter, quotes and missing \
         fields"
    )]
    RaggedRow {
        /// The number of fields that the header or the first row has.
        expected: usize,
        /// The number of fields found.
        found: usize,
    },
    /// A cell that should be a number is not one.
    #[error("{text:?} is not a number; {remedy}")]
    NotANumber {
        /// The text, shortened.
        text: String,
        /// What to do.
        remedy: String,
    },
    /// A number is NaN, infinite, or too large for `f64`.
    #[error(
        "{text:?} is not a finite number; mark missing values as missing, or drop the row from \
         the file"
    )]
    NotFinite {
        /// The text, shortened.
        text: String,
    },
    /// The line read as the header holds only numbers.
    #[error(
        "the header holds only numbers, so it looks like data; say `header(false)`, or, if these \
         really are names, \
            give \
         them with `names` and pass over the line with `skip_lines(1)`"
    )]
    NumericHeader,
    /// Two columns have the same name.
    #[error("column {first} has the name {name:?} as well; give each column a name of its own")]
    DuplicateColumn {
        /// The name, shortened.
        name: String,
        /// Position of the first column of that name, from 1.
        first: usize,
    },
    /// A quoted field is never closed.
    #[error(
        "a quoted field starts here and is not closed; add the closing quote, or double a quote \
         that is text"
    )]
    UnclosedQuote,
    /// An ARFF file ends before its `@data` line.
    #[error("there is no @data line; an ARFF file needs one between the attributes and the rows")]
    ArffNoData,
    /// An ARFF file has an `@data` line but declares no attribute.
    #[error("@data comes before any @attribute; declare one attribute per column")]
    ArffNoAttributes,
    /// A line in the header of an ARFF file is not a declaration.
    #[error(
        "{text:?} is not an ARFF declaration; expected @relation, `@attribute name type` or @data \
         (is the @data \
            line missing?)"
    )]
    ArffDeclaration {
        /// The line, shortened.
        text: String,
    },
    /// The type of an ARFF attribute is unknown or not supported.
    #[error(
        "the attribute type {text:?} is not supported; use numeric, real, integer, string, date \
         or a list {{a, b, …}}, and leave relational attributes out"
    )]
    ArffType {
        /// The type, shortened.
        text: String,
    },
    /// A sparse ARFF row is not a list of indices and values.
    #[error(
        "{text:?} is not a sparse row such as {{0 1.5, 3 'a b'}}, pairs of an index from 0 and a \
         value; correct it, or put quotes around values with blanks"
    )]
    ArffSparse {
        /// The row, shortened.
        text: String,
    },
    /// An index in a sparse ARFF row is not less than the number of attributes.
    #[error(
        "there is no attribute {text}; indices count the {attributes} declared attributes from 0"
    )]
    ArffIndex {
        /// The index as written, shortened.
        text: String,
        /// The number of declared attributes.
        attributes: usize,
    },
    /// An ARFF row ends in a weight, which is not supported.
    #[error(
        "the row has the weight {{{text}}}, and weights of rows are not supported; put them into \
         an attribute of their own"
    )]
    ArffWeight {
        /// The weight, shortened.
        text: String,
    },
    /// A libsvm label does not have as many parts as names were given.
    #[error("the label {text:?} has {found} parts, expected {expected}; see `Libsvm::label_parts`")]
    LabelParts {
        /// The label, shortened.
        text: String,
        /// The number of names given.
        expected: usize,
        /// The number of parts found.
        found: usize,
    },
    /// A libsvm field after the label is not `index:value`.
    #[error(
        "{text:?} is not `index:value` with an integer index; sparse rows look like `label 1:0.5 \
         4:2`"
    )]
    NotAPair {
        /// The field, shortened.
        text: String,
    },
    /// An index of a sparse ARFF row is smaller than the one before it.
    #[error("index {index} comes after {previous}; sort the indices of each row")]
    IndexNotIncreasing {
        /// The index.
        index: u64,
        /// The index before it.
        previous: u64,
    },
    /// An index occurs twice in a sparse row.
    #[error("index {index} occurs twice in the row; remove one of them")]
    IndexDuplicate {
        /// The index.
        index: u64,
    },
    /// A libsvm index is greater than allowed.
    #[error(
        "index {text} is above {limit}; correct it, or raise the limit with \
         `Libsvm::max_features` (or `features`)"
    )]
    IndexTooLarge {
        /// The index as written, shortened.
        text: String,
        /// The greatest index allowed.
        limit: usize,
    },
    /// Sparse rows would need more zeros in a dense table than allowed.
    #[error(
        "{rows} rows of {features} features would add {zeros} zeros to the {stored} values in the \
         file; raise the limit with `max_zeros` of the reader, or keep fewer features"
    )]
    TooSparse {
        /// Number of rows read so far.
        rows: usize,
        /// Number of columns of the dense table.
        features: usize,
        /// Number of values written in the file.
        stored: usize,
        /// Number of zeros that the dense table would hold in addition.
        zeros: u128,
    },
    /// An npy file does not start with a valid header.
    #[error(
        "this is not a complete .npy file: {what}; write it with `numpy.save`, or name the format \
         that it has"
    )]
    NpyHeader {
        /// What is wrong.
        what: String,
    },
    /// An npy array does not hold numbers.
    #[error(
        "the array holds {text}, not numbers; save it as float64, e.g. `numpy.save(file, \
         x.astype(float))`"
    )]
    NpyType {
        /// The type, shortened.
        text: String,
    },
    /// An npy array is neither a vector nor a matrix.
    #[error(
        "the array has shape {shape}, and is not a matrix with one case per row; reshape it to \
         two dimensions"
    )]
    NpyShape {
        /// The shape of the array.
        shape: String,
    },
    /// An npy file does not hold as many bytes as its header says.
    #[error(
        "the header promises {rows} × {columns} numbers of {size} bytes, but {found} bytes \
         follow; is the file complete?"
    )]
    NpyLength {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Bytes per number.
        size: usize,
        /// Bytes after the header.
        found: usize,
    },
    /// A Parquet file is damaged, or uses a feature of the format that is not supported.
    #[error(
        "the Parquet file cannot be read ({reason}); write it again, with the compression `zstd`, \
         `snappy`, `gzip` or none"
    )]
    Parquet {
        /// The decoder's message.
        reason: String,
    },
    /// A Parquet column holds neither numbers nor text.
    #[error(
        "the column holds {holds}, neither numbers nor text; write the file without it, or as \
         numbers"
    )]
    ParquetType {
        /// What it holds.
        holds: String,
    },
    /// The first line of a FANN file is not three positive integers.
    #[error(
        "{text:?} is not a FANN header; expected three positive integers `rows inputs outputs`"
    )]
    FannHeader {
        /// The line, shortened.
        text: String,
    },
    /// The number of values in a line of a FANN file differs from its header.
    #[error(
        "the line has {found} values, but the header promises {expected} {what} per row; check \
         the header or the line"
    )]
    FannValues {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// The number in the header.
        expected: u64,
        /// The number of values found.
        found: usize,
    },
    /// The number of rows of a FANN file differs from its header.
    #[error(
        "the header promises {expected} rows but {found}; check the header, or whether the file \
         is complete"
    )]
    FannRows {
        /// The number in the header.
        expected: u64,
        /// How many follow, in words.
        found: String,
    },
}

impl Problem {
    /// Makes an error of this problem at `place`.
    pub(crate) fn at(self, place: Place) -> DataError {
        DataError::At { place: Box::new(place), problem: self }
    }

    pub(crate) fn not_a_number(text: &str) -> Self {
        let remedy = if text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok() {
            "decimal commas are read only with `Csv::decimal_comma`; set it, or write points"
        } else {
            "write it as a number, e.g. -1.5e3"
        };
        Problem::NotANumber { text: excerpt(text), remedy: remedy.to_owned() }
    }

    /// Replaces the remedy of [`Problem::NotANumber`] by one that fits the format better.
    pub(crate) fn with_remedy(self, better: impl FnOnce() -> String) -> Self {
        match self {
            Problem::NotANumber { text, .. } => Problem::NotANumber { text, remedy: better() },
            other => other,
        }
    }
}
