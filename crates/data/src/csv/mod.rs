//! Delimited text: fields separated by commas, tabs, semicolons, other characters, or white space.

mod blocks;

pub(crate) use blocks::Grown;

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use crate::bad_cells::Survey;
use crate::builder::ColumnBuilder;
use crate::column::ColumnRef;
use crate::delimiter::Split;
#[cfg(doc)]
use crate::error::DataError;
use crate::error::{Place, Problem, Result};
use crate::open::open;
use crate::table::Table;

/// Reads delimited text, plain or compressed.
///
/// By default, fields are separated by commas, there is a header, every column is numeric, and
/// there is no missing-value marker. The caller states everything else, so that unexpected content
/// is an error instead of a silent NaN.
///
/// * Fields may be quoted with `"`. A quote inside a quoted field is doubled. A quoted field may
///   contain delimiters and line ends.
/// * Lines end in `\n`, `\r\n` or `\r`. Blank lines are skipped. White space around a field is
///   removed.
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
    /// Whether columns are read as they are found ([`Format::found`](crate::Format::found)).
    found: bool,
    /// Texts that are values although they are missing-value markers.
    kept: Vec<String>,
    /// Whether columns that are not text are skipped without parsing.
    skips_numbers: bool,
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
    /// A reader with the defaults: commas, a header, numbers only, no missing-value marker.
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
            skips_numbers: false,
        }
    }

    /// Sets the ASCII character that separates fields, e.g. `b'\t'`.
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.split = Split::At(delimiter);
        self
    }

    /// Separates fields at runs of blanks and tabs. Quotes then have no meaning.
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

    /// Separates fields by the first of tabs, semicolons, vertical bars, commas and blanks that
    /// splits each of the first lines into the same number of fields.
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

    /// Reads numbers with a decimal comma: `1,5`. A number with a point is then an error, since its
    /// meaning is unclear. Fields must not be separated by commas, unless they are quoted.
    pub fn decimal_comma(mut self) -> Self {
        self.decimal_comma = true;
        self
    }

    /// Whether the first line holds the names of the columns (the default). Otherwise they are
    /// called `c1`, `c2`, ….
    pub fn header(mut self, present: bool) -> Self {
        self.header = if present { Header::FirstLine } else { Header::Numbered };
        self
    }

    /// Sets the names of the columns of a file without a header, one per column.
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

    /// Sets the texts that mean "missing" in every column, e.g. `["NA", "?", ""]`. A marker `nan`
    /// means all spellings of it.
    pub fn missing<S: Into<String>>(mut self, markers: impl IntoIterator<Item = S>) -> Self {
        self.missing = markers.into_iter().map(Into::into).collect();
        self
    }

    /// Sets texts that are values although they are missing-value markers when a table is read as
    /// it is [found](crate::Format::found): for example `NA` for Namibia.
    pub fn not_missing<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.kept = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Reads columns as they are found; their first values decide whether they are text.
    pub(crate) fn taking_all(self) -> Self {
        Csv { found: true, infer_text: true, ..self }
    }

    /// Reads a table as it is found. Columns of numbers with a later cell that is not a number are
    /// read a second time, as text.
    pub(crate) fn found<'a>(
        &self,
        read: &dyn Fn() -> Result<Box<dyn Read + 'a>>,
        name: &str,
        texts: &[usize],
    ) -> Result<Table> {
        let csv = self.clone().taking_all().text(texts.iter().copied());
        let mut first = csv.grow_all(read()?, name)?;
        let again: Vec<usize> =
            (0..first.columns.len()).filter(|&j| first.columns[j].read_again).collect();
        let mut notes = first.notes;
        notes.extend(
            first.columns.iter().filter(|c| !c.read_again).filter_map(ColumnBuilder::notes),
        );
        if !again.is_empty() {
            let csv = Csv { skips_numbers: true, ..csv.text(again.iter().copied()) };
            let second = csv.grow_all(read()?, name)?;
            for (column, texts) in first.columns.iter_mut().zip(second.columns) {
                if !texts.is_skipped() {
                    *column = texts;
                }
            }
        }
        let columns = first.columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Table::with_lines(name, columns, first.lines)?.noted(notes, Vec::new()))
    }

    /// The first `rows` rows of `reader`, as they are found.
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

    /// Whether columns are read as they are found.
    pub(crate) fn is_found(&self) -> bool {
        self.found
    }

    /// Reads the columns with these names as text, and no others.
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

    /// Reads these columns as text; they become categories.
    pub fn text<C: Into<ColumnRef>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.text = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Reads the columns at these positions as text, and no others.
    pub(crate) fn only_text(self, columns: impl IntoIterator<Item = usize>) -> Self {
        Csv { infer_text: false, ..self.text(columns) }
    }

    /// Also reads a column as text if its first value that is not missing is not a number.
    pub fn infer_text(mut self) -> Self {
        self.infer_text = true;
        self
    }

    /// Skips this many lines at the start of the file.
    pub fn skip_lines(mut self, lines: u64) -> Self {
        self.skip_lines = lines;
        self
    }

    /// Reads all of `reader`, plain or compressed. Errors call the file `name`.
    ///
    /// Time is linear in the length of the text. Memory: the table plus one row.
    ///
    /// # Errors
    /// [`DataError::At`] with line and column of the first error in the file,
    /// [`DataError::BadDelimiter`], [`DataError::UnknownColumn`] if [`text`](Csv::text) names a
    /// column that is not there, [`DataError::Io`].
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        let (columns, lines) = self.grow(reader, name, |column, field, _| column.push(field))?;
        Table::with_lines(name, columns.into_iter().map(ColumnBuilder::finish).collect(), lines)
    }

    /// Reads all of `reader` like [`read`](Csv::read), but lists cells that are not numbers instead
    /// of failing. In the table they are missing.
    ///
    /// # Errors
    /// Those of [`read`](Csv::read) that do not concern a single cell.
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

    /// Like [`survey`](Csv::survey), for the first `rows` rows of the file at `path`.
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
