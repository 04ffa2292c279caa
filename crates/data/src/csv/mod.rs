//! Delimited text: CSV, TSV, semicolons, or runs of white space.

mod blocks;

pub(crate) use blocks::Grown;

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use crate::builder::ColumnBuilder;
use crate::column::ColumnRef;
use crate::delimiter::Split;
#[cfg(doc)]
use crate::error::DataError;
use crate::error::{Place, Problem, Result};
use crate::open::open;
use crate::survey::Survey;
use crate::table::Table;

/// Reads delimited text, plain or gzip.
///
/// By default: fields separated by commas, a header, every column numeric, no missing-value marker.
/// Everything else is said by the caller, so that a surprise in the file is an error and not a
/// silent NaN.
///
/// * Fields may be quoted with `"`; a quote inside is doubled; a quoted field may hold delimiters
///   and line ends.
/// * Lines end in `\n`, `\r\n` or `\r`. Blank lines are passed over. White space around a field is
///   dropped.
///
/// ```
/// use nystrom_data::{Csv, Encoding};
///
/// let text = "sex;length;rings\r\nM;0.455;15\r\n\"F\";NA;9\r\n";
/// let table = Csv::new()
///     .delimiter(b';')
///     .missing(["NA"])
///     .text(["sex"])
///     .read(text.as_bytes(), "abalone.csv")?;
/// assert_eq!(table.names().collect::<Vec<_>>(), ["sex", "length", "rings"]);
/// let complete = table.drop_missing_rows().encode("sex", Encoding::OneHot)?;
/// assert_eq!((complete.rows(), complete.columns().len()), (1, 4)); // sex=F, sex=M, length, rings
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Csv {
    split: Split,
    header: Header,
    missing: Vec<String>,
    text: Vec<ColumnRef>,
    infer_text: bool,
    decimal_comma: bool,
    skip_lines: u64,
    /// Whether columns are taken as they are found.
    found: bool,
    /// Texts that are values, though they usually mark a missing one.
    kept: Vec<String>,
    /// Whether columns that are not text are passed over.
    passes: bool,
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
            decimal_comma: false,
            skip_lines: 0,
            found: false,
            kept: Vec::new(),
            passes: false,
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

    /// Fields are separated by what splits the first lines into equally many: tabs, semicolons,
    /// vertical bars, commas or blanks, in this order.
    ///
    /// ```
    /// let reader = nystrom_data::Csv::new().guess_delimiter().decimal_comma();
    /// let table = reader.read("a;b\n1,5;2\n".as_bytes(), "export.csv")?;
    /// assert_eq!(table.numbers("a")?, [1.5]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn guess_delimiter(mut self) -> Self {
        self.split = Split::Guess;
        self
    }

    /// Numbers have a comma for the point: `1,5`. A number with a point is then an error, as it
    /// could mean anything. Fields must be separated by something else, or quoted.
    pub fn decimal_comma(mut self) -> Self {
        self.decimal_comma = true;
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

    /// Fields that mean "missing" in every column, e.g. `["NA", "?", ""]`. `nan` stands for all its
    /// spellings.
    pub fn missing<S: Into<String>>(mut self, markers: impl IntoIterator<Item = S>) -> Self {
        self.missing = markers.into_iter().map(Into::into).collect();
        self
    }

    /// Texts that are values, though they usually mark a missing one, where a table is read as it
    /// is [found](crate::Format::found): `NA` for Namibia, say.
    pub fn not_missing<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.kept = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Takes columns as they are found; their first values decide whether they are texts.
    pub(crate) fn taking_all(self) -> Self {
        Csv { found: true, infer_text: true, ..self }
    }

    /// Reads all of `reader` as it is found.
    pub(crate) fn found<'a>(
        &self,
        read: &dyn Fn() -> Result<Box<dyn Read + 'a>>,
        name: &str,
        texts: &[usize],
    ) -> Result<Table> {
        let csv = self.clone().taking_all().text(texts.iter().copied());
        let mut first = csv.grow_all(read()?, name)?;
        let again: Vec<usize> =
            (0..first.columns.len()).filter(|&j| first.columns[j].again).collect();
        let mut notes = first.notes;
        notes.extend(first.columns.iter().filter(|c| !c.again).filter_map(ColumnBuilder::notes));
        if !again.is_empty() {
            let csv = Csv { passes: true, ..csv.text(again.iter().copied()) };
            let second = csv.grow_all(read()?, name)?;
            for (column, texts) in first.columns.iter_mut().zip(second.columns) {
                if !texts.is_passed() {
                    *column = texts;
                }
            }
        }
        let columns = first.columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Table::with_lines(name, columns, first.lines)?.noted(notes, Vec::new()))
    }

    /// The first rows of `reader` as they are found.
    pub(crate) fn found_head(
        &self,
        mut reader: impl Read,
        name: &str,
        rows: usize,
    ) -> Result<Grown> {
        let mut first = None;
        let push = |column: &mut ColumnBuilder, field: Option<&str>, _: u64| column.push(field);
        self.grow_blocks(&mut reader, name, (None, rows), push, &mut |grown| {
            first = Some(grown);
            Ok(ControlFlow::Break(()))
        })?;
        first.ok_or_else(|| Problem::NoRows.at(Place::new(name)))
    }

    /// Whether columns are taken as they are found.
    pub(crate) fn is_found(&self) -> bool {
        self.found
    }

    /// Columns of these names hold text, and no others do.
    pub(crate) fn only_text_named(self, names: impl IntoIterator<Item = String>) -> Self {
        Csv { infer_text: false, ..self.text(names) }
    }

    fn grow_all(&self, mut reader: impl Read, name: &str) -> Result<Grown> {
        let mut all = None;
        let push = |column: &mut ColumnBuilder, field: Option<&str>, _: u64| column.push(field);
        self.grow_blocks(&mut reader, name, (None, usize::MAX), push, &mut |grown| {
            all = Some(grown);
            Ok(ControlFlow::Continue(()))
        })?;
        all.ok_or_else(|| Problem::Empty { expected: "rows of fields" }.at(Place::new(name)))
    }

    /// Columns that hold text: they become categories.
    pub fn text<C: Into<ColumnRef>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.text = columns.into_iter().map(Into::into).collect();
        self
    }

    /// These columns hold text, and no others do.
    pub(crate) fn only_text(self, columns: impl IntoIterator<Item = usize>) -> Self {
        Csv { infer_text: false, ..self.text(columns) }
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

    /// Reads all of `reader`, plain or gzip; `name` stands for the file in errors.
    ///
    /// Time is linear in the text. Memory is that of the table plus one row.
    ///
    /// # Errors
    /// [`DataError::At`] with the line and column of the first thing that is wrong,
    /// [`DataError::BadDelimiter`], [`DataError::UnknownColumn`] if [`text`](Csv::text) names a
    /// column that is not there, [`DataError::Io`].
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        let (columns, lines) = self.grow(reader, name, |column, field, _| column.push(field))?;
        Table::with_lines(name, columns.into_iter().map(ColumnBuilder::finish).collect(), lines)
    }

    /// Reads all of `reader` as [`read`](Csv::read) does, but passes over cells that are no
    /// numbers: they are missing in the table, and listed beside it.
    ///
    /// # Errors
    /// Those of [`read`](Csv::read) that are not about one cell.
    ///
    /// ```
    /// let survey = nystrom_data::Csv::new().survey("a,b\n1,x\nnan,2\n".as_bytes(), "t.csv")?;
    /// assert_eq!(
    ///     (survey.doubts[0].texts[0].text.as_str(), survey.doubts[0].texts[0].line),
    ///     ("nan", 3)
    /// );
    /// assert_eq!(survey.table.numbers("b")?[1], 2.0);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn survey(&self, reader: impl Read, name: &str) -> Result<Survey> {
        self.survey_first(reader, name, usize::MAX)
    }

    /// As [`survey`](Csv::survey), of the first `rows` rows of the file at `path`.
    ///
    /// # Errors
    /// [`DataError::NotFound`], [`DataError::Io`], and those of [`survey`](Csv::survey).
    pub fn survey_head(&self, path: impl AsRef<Path>, rows: usize) -> Result<Survey> {
        let (file, name) = open(path.as_ref())?;
        self.survey_first(file, &name, rows)
    }

    fn survey_first(&self, mut reader: impl Read, name: &str, rows: usize) -> Result<Survey> {
        let reader_of_numbers = Csv { infer_text: false, ..self.clone() };
        let mut first = None;
        let (from, push) = ((None, rows), ColumnBuilder::survey);
        reader_of_numbers.grow_blocks(&mut reader, name, from, push, &mut |grown| {
            first = Some(grown);
            Ok(ControlFlow::Break(()))
        })?;
        let Some(Grown { mut columns, lines, .. }) = first else {
            return Err(Problem::NoRows.at(Place::new(name)));
        };
        let doubts = columns.iter_mut().map(|column| std::mem::take(&mut column.doubts)).collect();
        let table = Table::with_lines(
            name,
            columns.into_iter().map(ColumnBuilder::finish).collect(),
            lines,
        )?;
        Ok(Survey { table, doubts })
    }
}
