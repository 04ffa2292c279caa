//! Columns from records, block by block.

use std::io::Read;
use std::ops::ControlFlow;

use super::{Csv, Header};
use crate::builder::ColumnBuilder;
use crate::column::{distinct_names, numbered_names};
use crate::delimiter::Split;
use crate::error::{DataError, Place, Problem, Result};
use crate::lines::Spot;
use crate::number::{has_decimal_comma, number};
use crate::records::{Record, Records};

/// A block of rows that were read.
pub(crate) struct Grown {
    pub columns: Vec<ColumnBuilder>,
    /// The line of each row.
    pub lines: Vec<u64>,
    /// Where reading can continue after the block; `None` in a compressed file.
    pub end: Option<Spot>,
    /// Notes on the file up to the end of the block.
    pub notes: Vec<String>,
}

/// Appends a field to a column. `None` is a missing value, the number is the line.
pub(crate) type Push =
    fn(&mut ColumnBuilder, Option<&str>, u64) -> std::result::Result<(), Problem>;

/// The names of the columns, and their line if they are in the file.
type Names = (Vec<String>, Option<u64>);

impl Csv {
    /// All columns, to which `push` appends each field, and the line of each row.
    pub(super) fn grow(
        &self,
        mut reader: impl Read,
        name: &str,
        push: Push,
    ) -> Result<(Vec<ColumnBuilder>, Vec<u64>)> {
        let mut all = None;
        self.grow_blocks(&mut reader, name, (None, usize::MAX), push, &mut |grown| {
            all = Some((grown.columns, grown.lines));
            Ok(ControlFlow::Continue(()))
        })?;
        all.ok_or_else(|| empty(name))
    }

    /// Reads blocks of `rows` rows, from `from` or from the start of the file. Each block is given
    /// to `each`, until it breaks or the file ends.
    pub(crate) fn grow_blocks(
        &self,
        reader: &mut dyn Read,
        name: &str,
        (from, rows): (Option<Spot>, usize),
        push: Push,
        each: &mut dyn FnMut(Grown) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.check_delimiter()?;
        let mut records = match from {
            Some(spot) => Records::resume(reader, name, self.split, spot)?,
            None => Records::new(reader, name, self.split, (self.skip_lines, self.found))?,
        };
        let split = records.split;
        let mut names = self.names_of(&mut records, name)?;
        let fresh = |(names, line): &Names| self.columns(names.clone(), name, *line);
        let mut columns = names.as_ref().map(fresh).transpose()?;
        let (mut lines, mut first) = (Vec::new(), true);
        while let Some(record) = records.next()? {
            let numbered = || ((1..=record.len()).map(|i| format!("c{i}")).collect(), None);
            let names = names.get_or_insert_with(numbered);
            let growing = match &mut columns {
                Some(columns) => columns,
                None => columns.insert(fresh(&*names)?),
            };
            self.push(growing, &record, (std::mem::take(&mut first), split), push)?;
            lines.push(record.number);
            if lines.len() == rows {
                let columns = columns.take().unwrap_or_default();
                let (lines, end) = (std::mem::take(&mut lines), records.spot());
                let notes = records.notes();
                if each(Grown { columns, lines, end, notes })?.is_break() {
                    return Ok(());
                }
            }
        }
        match columns {
            Some(columns) if !lines.is_empty() => {
                let (end, notes) = (records.spot(), records.notes());
                each(Grown { columns, lines, end, notes }).map(drop)
            }
            _ if !first => Ok(()),
            Some(_) if self.header == Header::FirstLine => {
                Err(Problem::NoRows.at(Place::new(name)))
            }
            _ => Err(empty(name)),
        }
    }

    /// The number of rows. Fields are not parsed.
    pub(crate) fn count(&self, reader: &mut dyn Read, name: &str) -> Result<u64> {
        const BLOCK: usize = 1 << 16;
        let plain = Csv { missing: Vec::new(), ..self.clone() };
        let mut count = 0;
        plain.grow_blocks(reader, name, (None, BLOCK), |_, _, _| Ok(()), &mut |grown| {
            count += grown.lines.len() as u64;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// This reader with the delimiter guessed from the first lines of a file, if it is to be
    /// guessed.
    pub(crate) fn settled(&self, reader: &mut dyn Read, name: &str) -> Result<Csv> {
        let split = Records::new(reader, name, self.split, (self.skip_lines, self.found))?.split;
        Ok(Csv { split, ..self.clone() })
    }

    fn check_delimiter(&self) -> Result<()> {
        match self.split {
            Split::At(delimiter) if !delimiter.is_ascii() || b"\"\r\n".contains(&delimiter) => {
                Err(DataError::BadDelimiter { delimiter })
            }
            _ => Ok(()),
        }
    }

    /// The names of the columns; `None` if they are numbered, so that the first row tells how many
    /// there are.
    fn names_of(&self, records: &mut Records<'_>, file: &str) -> Result<Option<Names>> {
        if records.shape.commented && !matches!(self.header, Header::FirstLine) {
            records.next()?;
        }
        Ok(match &self.header {
            Header::FirstLine => {
                let row_names = self.found && records.shape.row_names;
                let Some(record) = records.next()? else { return Err(empty(file)) };
                let (names, number) = (record.header()?, record.number);
                if !self.found {
                    return Ok(Some((names, Some(number))));
                }
                let unnamed = row_names.then(String::new); // row names have no name
                let (names, note) = numbered_names(unnamed.into_iter().chain(names).collect());
                records.notes.extend(note);
                Some((names, Some(number)))
            }
            Header::Given(names) => Some((names.clone(), None)),
            Header::Numbered => None,
        })
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
            (false, _) if self.skips_numbers => ColumnBuilder::skipped(name),
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
        let fits = record.len() == columns.len() || self.found && record.fits(columns);
        if !fits {
            return Err(Problem::RaggedRow { expected: columns.len(), found: record.len() }
                .at(record.place()));
        }
        let width = columns.len();
        for (i, column) in columns.iter_mut().enumerate() {
            let text = if i < record.len() { record.field(i) } else { "" };
            let field =
                (!self.missing.iter().any(|marker| marker == text || both_nan(marker, text)))
                    .then_some(text);
            let pushed = match self.found {
                true => column.push_found(field, record.number, &self.kept),
                false => push(column, field, record.number),
            };
            pushed.map_err(|problem| {
                let better = || self.remedy(text, width, (first, split));
                problem.with_remedy(better).at(record.place().field(i + 1).column(&column.name))
            })?;
        }
        Ok(())
    }

    /// A remedy for the likeliest reason why `text` is not a number.
    fn remedy(&self, text: &str, width: usize, (first_row, split): (bool, Split)) -> String {
        let other = [(';', "semicolons"), ('\t', "tabs"), (',', "commas"), (' ', "blanks")]
            .into_iter()
            .find(|(c, _)| width == 1 && text.contains(*c));
        if self.decimal_comma && text.contains('.') {
            "with decimal commas, the meaning of a point is unclear; remove the point".to_owned()
        } else if has_decimal_comma(text) && split != Split::At(b',') {
            "decimal commas are read only with `Csv::decimal_comma`".to_owned()
        } else if let Some((_, what)) = other {
            format!(
                "check the delimiter: the field holds {what}; see `Csv::delimiter` and \
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
    /// Whether the row fits the columns: fields beyond the last column are empty, and columns for
    /// which it has no field have no name.
    fn fits(&self, columns: &[ColumnBuilder]) -> bool {
        let width = columns.len();
        let unnamed = |j: usize| columns[j].name == format!("unnamed {}", j + 1);
        (width..self.len()).all(|i| self.field(i).is_empty()) && (self.len()..width).all(unnamed)
    }

    /// The fields as names.
    fn header(&self) -> Result<Vec<String>> {
        let names: Vec<String> = (0..self.len()).map(|i| self.field(i).to_owned()).collect();
        if names.iter().all(|name| number(name).is_ok()) {
            return Err(Problem::NumericHeader.at(self.place()));
        }
        Ok(names)
    }
}

/// Whether both are spellings of NaN.
fn both_nan(marker: &str, text: &str) -> bool {
    let is_nan = |text: &str| text.len() <= 4 && text.parse::<f64>().is_ok_and(f64::is_nan);
    is_nan(marker) && is_nan(text)
}

fn empty(name: &str) -> DataError {
    Problem::Empty { expected: "rows of fields" }.at(Place::new(name))
}
