//! ARFF, the attribute-relation file format of Weka.

mod fields;
mod header;
mod rows;
mod sparse;

use std::io::Read;

use crate::error::{Place, Problem, Result};
use crate::lines::Lines;
use crate::table::Table;
use fields::without_comment;
use header::Header;
use rows::Rows;

/// Reads ARFF files, plain or gzip.
///
/// * Attribute types `numeric`, `real` and `integer` give numbers; `string`, `date` and lists `{a,
///   b, …}` give categories, the latter in declared order. Dates are ISO texts if their format is
///   declared; otherwise they stay as they are written. Ranges
///   `[0, 1]` and weights `{5}` behind a type change no value. Relational attributes are errors.
/// * A value that its list does not declare becomes a category behind the declared ones. Attributes
///   of the same name are numbered. [`Table::notes`] tells both.
/// * Rows may be sparse, `{index value, …}`, with indices from 0. A cell that they leave out is 0,
///   the first declared value, or missing in columns of texts and dates. (Weka leaves out the first
///   text of a column when it writes sparse rows: that text is lost.)
/// * `?` means "missing". `%` starts a comment. Keywords may be in upper or lower case. Names and
///   values may be quoted with `'` or `"`, with `\` before a quote that is text. Blanks separate
///   the cells of rows without commas.
///
/// ```
/// use nystrom_data::Arff;
///
/// let text = "% three rows\n@RELATION t\n@attribute x real\n@attribute 'wind dir' {N, S}\n\
///     @data\n1.5, S\n?, N\n{1 S}\n";
/// let table = Arff::new().read(text.as_bytes(), "t.arff")?;
/// assert_eq!(table.categories("wind dir")?.get(0), Some("S"));
/// assert_eq!(table.drop_missing_rows().numbers("x")?, [1.5, 0.0]);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Arff {
    max_zeros: usize,
}

impl Default for Arff {
    fn default() -> Self {
        Arff::new()
    }
}

impl Arff {
    /// A reader; sparse rows may leave out at most 2²⁷ cells (1 GiB).
    pub fn new() -> Self {
        Arff { max_zeros: 1 << 27 }
    }

    /// How many cells (8 bytes each) the table may hold that sparse rows leave out.
    #[must_use]
    pub fn max_zeros(mut self, count: usize) -> Self {
        self.max_zeros = count;
        self
    }

    /// Reads all of `reader`, plain or gzip; `name` stands for the file in errors.
    ///
    /// Time is linear in the text and the cells of the table. Memory is that of the table plus one
    /// line.
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with the line and column of the first thing that is
    /// wrong, [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        self.rows(reader, name, None)?.into_table(name)
    }

    /// Reads all of a file as it is found. Numbers with a cell that is none, and those at the
    /// positions `texts`, are texts, for which the file is read again.
    pub(crate) fn found<'a>(
        &self,
        read: &dyn Fn() -> Result<Box<dyn Read + 'a>>,
        name: &str,
        texts: &[usize],
    ) -> Result<Table> {
        let mut rows = self.rows(read()?, name, Some(texts))?;
        let again = rows.to_read_again();
        if !again.is_empty() {
            rows = self.rows(read()?, name, Some(&[texts, &again].concat()))?;
        }
        rows.into_table(name)
    }

    /// The rows; `found` says that cells are taken as they are found, and which columns are texts.
    fn rows(&self, mut reader: impl Read, name: &str, found: Option<&[usize]>) -> Result<Rows> {
        let mut lines = Lines::new(&mut reader, name)?;
        let mut rows = Rows::new(Header::read(&mut lines)?, found, self.max_zeros);
        while let Some(line) = lines.next()? {
            let text = without_comment(line.text).trim();
            if !text.is_empty() {
                rows.push(text, &line)?;
            }
        }
        if rows.is_empty() {
            return Err(Problem::NoRows.at(Place::new(name)));
        }
        rows.notes.extend(lines.notes());
        Ok(rows)
    }
}
