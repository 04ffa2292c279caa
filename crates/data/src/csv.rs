//! Delimited text: CSV, TSV, semicolons, or runs of white space.

use std::io::Read;

use crate::builder::ColumnBuilder;
use crate::column::{ColumnRef, distinct_names};
use crate::delimiter::Split;
use crate::error::{DataError, Place, Problem, Result};
use crate::number::{has_decimal_comma, number};
use crate::records::{Record, Records};
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
pub struct Csv {
    split: Split,
    header: Header,
    missing: Vec<String>,
    text: Vec<ColumnRef>,
    infer_text: bool,
    decimal_comma: bool,
    skip_lines: u64,
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
        let reader_of_numbers = Csv { infer_text: false, ..self.clone() };
        let (mut columns, lines) = reader_of_numbers.grow(reader, name, ColumnBuilder::survey)?;
        let doubts = columns.iter_mut().map(|column| std::mem::take(&mut column.doubts)).collect();
        let table = Table::with_lines(
            name,
            columns.into_iter().map(ColumnBuilder::finish).collect(),
            lines,
        )?;
        Ok(Survey { table, doubts })
    }

    /// The columns, grown field by field by `push`, and the line of each row.
    fn grow(
        &self,
        mut reader: impl Read,
        name: &str,
        push: Push,
    ) -> Result<(Vec<ColumnBuilder>, Vec<u64>)> {
        if let Split::At(delimiter) = self.split
            && (!delimiter.is_ascii() || b"\"\r\n".contains(&delimiter))
        {
            return Err(DataError::BadDelimiter { delimiter });
        }
        let mut records = Records::new(&mut reader, name, self.split, self.skip_lines)?;
        let split = records.split;
        let mut columns: Option<Vec<ColumnBuilder>> = match &self.header {
            Header::FirstLine => {
                let Some(record) = records.next()? else { return Err(empty(name)) };
                Some(self.columns(record.header()?, name, Some(record.number))?)
            }
            Header::Given(names) => Some(self.columns(names.clone(), name, None)?),
            Header::Numbered => None,
        };
        let mut lines = Vec::new();
        while let Some(record) = records.next()? {
            let columns = match &mut columns {
                Some(columns) => columns,
                None => columns.insert(self.columns(
                    (1..=record.len()).map(|i| format!("c{i}")).collect(),
                    name,
                    None,
                )?),
            };
            self.push(columns, &record, (lines.is_empty(), split), push)?;
            lines.push(record.number);
        }
        match columns {
            Some(columns) if !lines.is_empty() => Ok((columns, lines)),
            Some(_) if self.header == Header::FirstLine => {
                Err(Problem::NoRows.at(Place::new(name)))
            }
            _ => Err(empty(name)),
        }
    }

    fn columns(
        &self,
        names: Vec<String>,
        file: &str,
        line: Option<u64>,
    ) -> Result<Vec<ColumnBuilder>> {
        let place = Place { line, ..Place::new(file) };
        distinct_names(names.iter().map(String::as_str), |position| {
            place.clone().field(position + 1)
        })?;
        let mut is_text = vec![false; names.len()];
        for wanted in &self.text {
            match wanted.position(names.iter().map(String::as_str)) {
                Some(position) => is_text[position] = true,
                None => {
                    return Err(crate::table::unknown_column(
                        file,
                        wanted,
                        names.iter().map(String::as_str),
                    ));
                }
            }
        }
        let build = |(name, text): (String, bool)| match (text, self.infer_text) {
            (true, _) => ColumnBuilder::text(name),
            (false, true) => ColumnBuilder::inferred(name),
            (false, false) => ColumnBuilder::numbers(name),
        };
        let build = |named| build(named).decimal_comma(self.decimal_comma);
        Ok(names.into_iter().zip(is_text).map(build).collect())
    }

    fn push(
        &self,
        columns: &mut [ColumnBuilder],
        record: &Record<'_>,
        (first, split): (bool, Split),
        push: Push,
    ) -> Result<()> {
        if record.len() != columns.len() {
            return Err(Problem::RaggedRow { expected: columns.len(), found: record.len() }
                .at(record.place()));
        }
        let width = columns.len();
        for (i, column) in columns.iter_mut().enumerate() {
            let text = record.field(i);
            let field =
                (!self.missing.iter().any(|marker| marker == text || both_nan(marker, text)))
                    .then_some(text);
            push(column, field, record.number).map_err(|problem| {
                let better = || self.remedy(text, width, (first, split));
                problem.with_remedy(better).at(record.place().field(i + 1).column(&column.name))
            })?;
        }
        Ok(())
    }

    /// The likeliest reason why `text` is not a number.
    fn remedy(&self, text: &str, width: usize, (first_row, split): (bool, Split)) -> String {
        let other = [(';', "semicolons"), ('\t', "tabs"), (',', "commas"), (' ', "blanks")]
            .into_iter()
            .find(|(c, _)| width == 1 && text.contains(*c));
        if self.decimal_comma && text.contains('.') {
            "with decimal commas a point may mean anything; take it out".to_owned()
        } else if has_decimal_comma(text) && split != Split::At(b',') {
            "decimal commas are read only if the reader is told so: `Csv::decimal_comma`".to_owned()
        } else if let Some((_, what)) = other {
            format!(
                "is the delimiter right? The field holds {what}; see `Csv::delimiter` and \
                 `Csv::white_space`"
            )
        } else if first_row && self.header == Header::Numbered {
            "if this line holds names, say `header(true)`; if the column holds text, name it with \
             `Csv::text`"
                .to_owned()
        } else {
            "correct it; or, if it marks a missing value, list it with `Csv::missing`; or, if the \
             column holds \
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

/// How a field is appended to a column; the number is that of its line.
type Push = fn(&mut ColumnBuilder, Option<&str>, u64) -> std::result::Result<(), Problem>;

/// Whether both are a spelling of "not a number".
fn both_nan(marker: &str, text: &str) -> bool {
    let is_nan = |text: &str| text.len() <= 4 && text.parse::<f64>().is_ok_and(f64::is_nan);
    is_nan(marker) && is_nan(text)
}

fn empty(name: &str) -> DataError {
    Problem::Empty { expected: "rows of fields" }.at(Place::new(name))
}
