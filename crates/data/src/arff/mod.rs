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

/// Reads ARFF files, plain or compressed.
///
/// * Attribute types `numeric`, `real` and `integer` give numbers; `string`, `date` and lists `{a,
///   b, …}` give categories, those of a list in declared order. Dates become ISO texts if their
///   format is declared, and stay as written otherwise. Ranges `[0, 1]` and weights `{5}` after a
///   type are ignored. Relational attributes are errors.
/// * A value that is not in its declared list becomes a category after the declared ones.
///   Attributes of the same name are numbered. [`Table::notes`] says so in both cases.
/// * Rows may be sparse, `{index value, …}`, with indices from 0. A cell that a sparse row leaves
///   out is 0 in a column of numbers, the first declared value in a nominal column, and missing in
///   a column of texts or dates. (When Weka writes sparse rows, it leaves out the first text of a
///   column: that text is lost.)
/// * `?` means "missing". `%` starts a comment. Keywords may be in upper or lower case. Names and
///   values may be quoted with `'` or `"`; a `\` before a quote makes it part of the text. In rows
///   without commas, blanks separate the cells.
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
    /// A reader whose sparse rows may leave out at most 2²⁷ cells (1 GiB) in all.
    pub fn new() -> Self {
        Arff { max_zeros: 1 << 27 }
    }

    /// Sets the most cells (8 bytes each) that the sparse rows of a file may leave out in all.
    #[must_use]
    pub fn max_zeros(mut self, count: usize) -> Self {
        self.max_zeros = count;
        self
    }

    /// Reads all of `reader`, plain or compressed. Errors call the file `name`.
    ///
    /// Time is linear in the length of the text plus the number of cells. Memory: the table plus
    /// one line.
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with line and column of the first error in the file,
    /// [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        self.rows(reader, name, None)?.into_table(name)
    }

    /// Reads all of a file as it is found ([`Format::found`](crate::Format::found)). A column of
    /// numbers becomes text if one of its cells is not a number, or if its position is in `texts`.
    /// For the former, the file is read a second time.
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

    /// Reads the rows. With `found`, cells are taken as they are found, and the columns at these
    /// positions are text.
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
