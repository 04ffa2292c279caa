//! Delimited text: CSV, TSV, semicolons, or runs of white space.

use std::io::Read;
use std::path::Path;

use crate::builder::{ColumnBuilder, distinct_names};
use crate::column::ColumnRef;
use crate::error::{DataError, Place, Problem, Result};
use crate::format::open;
use crate::number::number;
use crate::records::{Record, Records};
use crate::table::Table;

/// Reads delimited text, plain or gzip.
///
/// By default: fields separated by commas, a header, every column numeric, no missing-value marker. Everything else is said
/// by the caller, so that a surprise in the file is an error and not a silent NaN.
///
/// * Fields may be quoted with `"`; a quote inside is doubled; a quoted field may hold delimiters and line ends.
/// * Lines end in `\n`, `\r\n` or `\r`. Blank lines are passed over. White space around a field is dropped.
///
/// ```
/// use nystrom_data::{Csv, Encoding};
///
/// let text = "sex;length;rings\r\nM;0.455;15\r\n\"F\";NA;9\r\n";
/// let table = Csv::new().delimiter(b';').missing(["NA"]).text(["sex"]).read(text.as_bytes(), "abalone.csv")?;
/// assert_eq!(table.names().collect::<Vec<_>>(), ["sex", "length", "rings"]);
/// let complete = table.drop_missing_rows().encode("sex", Encoding::OneHot)?;
/// assert_eq!((complete.rows(), complete.columns().len()), (1, 4)); // sex=F, sex=M, length, rings
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csv {
    split: Split,
    header: Header,
    missing: Vec<String>,
    text: Vec<ColumnRef>,
    infer_text: bool,
    skip_lines: u64,
}

/// Where fields end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    At(u8),
    WhiteSpace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Header {
    FirstLine,
    Numbered,
    Given(Vec<String>),
}

impl Default for Csv {
    fn default() -> Self {
        Csv::new()
    }
}

impl Csv {
    /// Commas, a header, numbers only, no missing-value marker.
    pub fn new() -> Self {
        Csv {
            split: Split::At(b','),
            header: Header::FirstLine,
            missing: Vec::new(),
            text: Vec::new(),
            infer_text: false,
            skip_lines: 0,
        }
    }

    /// Fields are separated by this ASCII character, e.g. `b'\t'`.
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.split = Split::At(delimiter);
        self
    }

    /// Fields are separated by one or more blanks or tabs; quotes then have no meaning.
    ///
    /// ```
    /// let reader = nystrom_data::Csv::new().white_space().header(false);
    /// let table = reader.read("  0.1   2\n 0.30  4\n".as_bytes(), "housing.data")?;
    /// assert_eq!(table.numbers("c2")?, [2.0, 4.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn white_space(mut self) -> Self {
        self.split = Split::WhiteSpace;
        self
    }

    /// Whether the first line holds names (the default). Without, columns are called `c1`, `c2`, ….
    pub fn header(mut self, present: bool) -> Self {
        self.header = if present { Header::FirstLine } else { Header::Numbered };
        self
    }

    /// Names for a file without a header, one per column.
    ///
    /// ```
    /// let table = nystrom_data::Csv::new().names(["x", "y"]).read("1,2\n".as_bytes(), "xy.csv")?;
    /// assert_eq!(table.numbers("y")?, [2.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.header = Header::Given(names.into_iter().map(Into::into).collect());
        self
    }

    /// Fields that mean "missing" in every column, e.g. `["NA", "?", ""]`.
    pub fn missing<S: Into<String>>(mut self, markers: impl IntoIterator<Item = S>) -> Self {
        self.missing = markers.into_iter().map(Into::into).collect();
        self
    }

    /// Columns that hold text: they become categories.
    pub fn text<C: Into<ColumnRef>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.text = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Also takes a column as text if its first value that is not missing is not a number.
    pub fn infer_text(mut self) -> Self {
        self.infer_text = true;
        self
    }

    /// Passes over this many lines at the start of the file.
    pub fn skip_lines(mut self, lines: u64) -> Self {
        self.skip_lines = lines;
        self
    }

    /// Reads the file at `path`. See [`read`](Csv::read).
    pub fn read_path(&self, path: impl AsRef<Path>) -> Result<Table> {
        let (file, name) = open(path.as_ref())?;
        self.read(file, &name)
    }

    /// Reads all of `reader`, plain or gzip; `name` stands for the file in errors.
    ///
    /// Time is linear in the text. Memory is that of the table plus one row.
    ///
    /// # Errors
    /// [`DataError::At`] with the line and column of the first thing that is wrong, [`DataError::BadDelimiter`],
    /// [`DataError::UnknownColumn`] if [`text`](Csv::text) names a column that is not there, [`DataError::Io`].
    pub fn read(&self, mut reader: impl Read, name: &str) -> Result<Table> {
        if let Split::At(delimiter) = self.split
            && (!delimiter.is_ascii() || b"\"\r\n".contains(&delimiter))
        {
            return Err(DataError::BadDelimiter { delimiter });
        }
        let mut records = Records::new(&mut reader, name, self.split, self.skip_lines)?;
        let mut columns: Option<Vec<ColumnBuilder>> = match &self.header {
            Header::FirstLine => {
                let Some(record) = records.next()? else { return Err(empty(name)) };
                Some(self.columns(record.header()?, name, Some(record.number))?)
            }
            Header::Given(names) => Some(self.columns(names.clone(), name, None)?),
            Header::Numbered => None,
        };
        let mut rows = 0;
        while let Some(record) = records.next()? {
            let columns = match &mut columns {
                Some(columns) => columns,
                None => {
                    columns.insert(self.columns((1..=record.len()).map(|i| format!("c{i}")).collect(), name, None)?)
                }
            };
            self.push(columns, &record, rows == 0)?;
            rows += 1;
        }
        match columns {
            Some(columns) if rows > 0 => Table::new(name, columns.into_iter().map(ColumnBuilder::finish).collect()),
            Some(_) if self.header == Header::FirstLine => Err(Problem::NoRows.at(Place::new(name))),
            _ => Err(empty(name)),
        }
    }

    fn columns(&self, names: Vec<String>, file: &str, line: Option<u64>) -> Result<Vec<ColumnBuilder>> {
        let place = Place { line, ..Place::new(file) };
        distinct_names(names.iter().map(String::as_str), |position| place.clone().field(position + 1))?;
        let mut is_text = vec![false; names.len()];
        for wanted in &self.text {
            match wanted.position(names.iter().map(String::as_str)) {
                Some(position) => is_text[position] = true,
                None => return Err(crate::table::unknown_column(file, wanted, names.iter().map(String::as_str))),
            }
        }
        let build = |(name, text): (String, bool)| match (text, self.infer_text) {
            (true, _) => ColumnBuilder::text(name),
            (false, true) => ColumnBuilder::inferred(name),
            (false, false) => ColumnBuilder::numbers(name),
        };
        Ok(names.into_iter().zip(is_text).map(build).collect())
    }

    fn push(&self, columns: &mut [ColumnBuilder], record: &Record<'_>, first: bool) -> Result<()> {
        if record.len() != columns.len() {
            return Err(Problem::RaggedRow { expected: columns.len(), found: record.len() }.at(record.place()));
        }
        let width = columns.len();
        for (i, column) in columns.iter_mut().enumerate() {
            let text = record.field(i);
            let field = (!self.missing.iter().any(|marker| marker == text)).then_some(text);
            column.push(field).map_err(|problem| {
                let better = || self.remedy(text, width, first);
                problem.with_remedy(better).at(record.place().field(i + 1).column(&column.name))
            })?;
        }
        Ok(())
    }

    /// The likeliest reason why `text` is not a number.
    fn remedy(&self, text: &str, width: usize, first_row: bool) -> String {
        let decimal_comma = text.contains(',') && number(&text.replacen(',', ".", 1)).is_ok();
        let other = [(';', "semicolons"), ('\t', "tabs"), (',', "commas"), (' ', "blanks")]
            .into_iter()
            .find(|(c, _)| width == 1 && text.contains(*c));
        if decimal_comma && self.split != Split::At(b',') {
            "decimal commas are not read: write a point".to_owned()
        } else if let Some((_, what)) = other {
            format!("is the delimiter right? The field holds {what}; see `Csv::delimiter` and `Csv::white_space`")
        } else if first_row && self.header == Header::Numbered {
            "if this line holds names, say `header(true)`; if the column holds text, name it with `Csv::text`"
                .to_owned()
        } else {
            "correct it; or, if it marks a missing value, list it with `Csv::missing`; or, if the column holds \
                text, name \
             it with `Csv::text`"
                .to_owned()
        }
    }
}

impl Record<'_> {
    /// The fields as names.
    fn header(&self) -> Result<Vec<String>> {
        let names: Vec<String> = (0..self.len()).map(|i| self.field(i).to_owned()).collect();
        if names.iter().all(|name| number(name).is_ok()) {
            return Err(Problem::NumericHeader.at(self.place()));
        }
        Ok(names)
    }
}

fn empty(name: &str) -> DataError {
    Problem::Empty { expected: "rows of fields" }.at(Place::new(name))
}
