//! The sparse text format of libsvm and svmlight.

mod rows;
mod shape;
mod sparse;
mod spelled;

pub use sparse::SparseTable;

use std::io::Read;
use std::ops::ControlFlow;

use crate::column::{Column, distinct_names};
use crate::error::{Place, Problem, Result, place::excerpt};
use crate::lines::{Line, Lines, Spot};
use crate::number::number;
use crate::table::Table;
use rows::Rows;
use shape::Shape;

/// Reads rows `label index:value index:value …`, plain or compressed, into a dense table.
///
/// The table has first the column of labels (`label`, or the names given to
/// [`label_parts`](Libsvm::label_parts)), then `qid` if a row has one, then `f1`, `f2`, …, up to
/// the greatest index.
///
/// * Features that a row leaves out are zero. The indices of a row may be in any order. If a row of
///   the file has the index 0, the features are `f0`, `f1`, ….
/// * A column of labels holds text, as written, if one of its values is not a number, such as
///   `spam` or `1,3`, or is a whole number beyond 2⁵³. The same holds for `qid`, which is missing
///   in rows without one.
/// * `#` starts a comment.
///
/// ```
/// use nystrom_data::Libsvm;
///
/// let table = Libsvm::new().read("+1 1:0.5 3:2\n-1 2:1 # second\n".as_bytes(), "t.libsvm")?;
/// assert_eq!(table.numbers("label")?, [1.0, -1.0]);
/// assert_eq!(table.numbers("f3")?, [2.0, 0.0]);
/// let ranks = Libsvm::new().read("2 qid:7 1:0.5\n".as_bytes(), "t.libsvm")?;
/// assert_eq!(ranks.names().collect::<Vec<_>>(), ["label", "qid", "f1"]);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Libsvm {
    separator: char,
    labels: Vec<String>,
    features: Option<usize>,
    /// Columns that the table has even if no row shows them.
    known: Shape,
    max_features: usize,
    max_zeros: usize,
}

impl Default for Libsvm {
    fn default() -> Self {
        Libsvm::new()
    }
}

impl Libsvm {
    /// A reader with the defaults: one label; as many features as the greatest index, which is at
    /// most 1 048 576; at most 2²⁷ added zeros (1 GiB).
    pub fn new() -> Self {
        Libsvm {
            separator: ';',
            labels: vec!["label".to_owned()],
            features: None,
            known: Shape::of_labels(1),
            max_features: 1 << 20,
            max_zeros: 1 << 27,
        }
    }

    /// Splits the label at `separator` into several parts, each of which is a column with one of
    /// these names.
    ///
    /// ```
    /// let reader = nystrom_data::Libsvm::new().label_parts(';', ["class", "concentration"]);
    /// let table = reader.read("1;50.5 1:15596.2 2:1.868\n".as_bytes(), "batch.dat")?;
    /// assert_eq!(table.numbers("concentration")?, [50.5]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn label_parts<S: Into<String>>(
        mut self,
        separator: char,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        self.separator = separator;
        self.labels = names.into_iter().map(Into::into).collect();
        self.known.text_labels = vec![false; self.labels.len()];
        self
    }

    /// Sets the greatest index, for files such as test sets in which the last features may not
    /// occur. Greater indices are errors.
    pub fn features(mut self, count: usize) -> Self {
        self.features = Some(count);
        self
    }

    /// Like [`features`](Libsvm::features), but greater indices are columns as well.
    ///
    /// ```
    /// let table = nystrom_data::Libsvm::new().at_least(3).read("1 2:5\n".as_bytes(), "t.libsvm")?;
    /// assert_eq!(table.names().collect::<Vec<_>>(), ["label", "f1", "f2", "f3"]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn at_least(mut self, count: usize) -> Self {
        self.known.greatest = count;
        self
    }

    /// Adds a column `f0` even if the index 0 does not occur.
    ///
    /// ```
    /// let reader = nystrom_data::Libsvm::new().zero_based();
    /// let table = reader.read("1 1:5\n".as_bytes(), "t.libsvm")?;
    /// assert_eq!(table.names().collect::<Vec<_>>(), ["label", "f0", "f1"]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn zero_based(mut self) -> Self {
        self.known.from_zero = true;
        self
    }

    /// This reader for several files that together have the columns `shape`.
    pub(crate) fn settled(&self, shape: Shape) -> Self {
        Libsvm {
            features: Some(self.features.unwrap_or(shape.greatest)),
            known: shape,
            ..self.clone()
        }
    }

    /// Sets the greatest index that is accepted.
    pub fn max_features(mut self, count: usize) -> Self {
        self.max_features = count;
        self
    }

    /// Sets the most zeros (8 bytes each) that the dense table may hold in addition to the values
    /// in the file.
    pub fn max_zeros(mut self, count: usize) -> Self {
        self.max_zeros = count;
        self
    }

    /// Reads all of `reader`, plain or compressed. Errors call the file `name`.
    ///
    /// Time is linear in the length of the text plus the size of the dense table. The dense table
    /// is allocated after the whole file was read and its size was checked against
    /// [`max_zeros`](Libsvm::max_zeros).
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with line and field (the label is field 1) of the
    /// first error in the file, [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, mut reader: impl Read, name: &str) -> Result<Table> {
        let mut lines = Lines::new(&mut reader, name)?;
        let rows = self.rest(&mut lines)?;
        Ok(self.table(rows, name)?.noted(lines.notes(), Vec::new()))
    }

    /// The rows of all lines that are left.
    fn rest(&self, lines: &mut Lines<'_>) -> Result<Rows> {
        let mut rows = self.rows();
        while let Some(line) = lines.next()? {
            self.push(&mut rows, line)?;
        }
        Ok(rows)
    }

    /// The columns of a file.
    pub(crate) fn shape(&self, mut reader: impl Read, name: &str) -> Result<Shape> {
        let mut lines = Lines::new(&mut reader, name)?;
        let mut shape = self.known.clone();
        while let Some(line) = lines.next()? {
            let mut row = self.rows();
            self.push(&mut row, line)?;
            shape.merge(&row.shape);
        }
        Ok(shape)
    }

    /// The number of columns of labels, which come first.
    pub(crate) fn labels(&self) -> usize {
        self.labels.len()
    }

    /// Reads blocks of `rows` rows, from `from` or from the start of the file. Each block is given
    /// to `each`, until it breaks or the file ends. Blocks have the same columns if the reader is
    /// [`settled`](Self::settled).
    pub(crate) fn blocks(
        &self,
        reader: &mut dyn Read,
        name: &str,
        (from, rows): (Option<Spot>, usize),
        each: &mut dyn FnMut(Table, Option<Spot>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut lines = match from {
            Some(spot) => Lines::resume(reader, name, spot)?,
            None => Lines::new(reader, name)?,
        };
        let (mut block, mut any) = (self.rows(), false);
        while let Some(line) = lines.next()? {
            self.push(&mut block, line)?;
            if block.ends.len() == rows {
                let full = std::mem::replace(&mut block, self.rows());
                any = true;
                if each(self.table(full, name)?, lines.spot())?.is_break() {
                    return Ok(());
                }
            }
        }
        if block.ends.is_empty() && any {
            return Ok(());
        }
        each(self.table(block, name)?, lines.spot()).map(drop)
    }

    fn rows(&self) -> Rows {
        Rows::new(self.labels.len())
    }

    fn table(&self, rows: Rows, name: &str) -> Result<Table> {
        let at = |problem: Problem| problem.at(Place::new(name));
        let (shape, features) = self.shape_of(&rows, name)?;
        let (n, stored) = (rows.ends.len(), rows.entries.len());
        let zeros = n as u128 * features as u128 - stored as u128;
        if zeros > self.max_zeros as u128 {
            return Err(at(Problem::TooSparse { rows: n, features, stored, zeros }));
        }
        let mut columns = self.label_columns(&rows, &shape, name)?;
        columns.extend(rows.features(shape.first(), features));
        distinct_names(columns.iter().map(|column| column.name.as_str()), |i| {
            Place::new(name).field(i + 1)
        })?;
        Table::with_lines(name, columns, rows.numbers)
    }

    /// The columns of these rows, at least one, and the number of features.
    fn shape_of(&self, rows: &Rows, name: &str) -> Result<(Shape, usize)> {
        if rows.ends.is_empty() {
            let problem = Problem::Empty { expected: "rows `label index:value …`" };
            return Err(problem.at(Place::new(name)));
        }
        let mut shape = self.known.clone();
        shape.merge(&rows.shape);
        let greatest = self.features.unwrap_or(shape.greatest);
        let features = greatest.saturating_add(usize::from(shape.from_zero));
        if features == 0 {
            self.check_labels_are_numbers(rows, name)?;
        }
        Ok((shape, features))
    }

    /// The columns of labels, and `qid` if there is one.
    fn label_columns(&self, rows: &Rows, shape: &Shape, name: &str) -> Result<Vec<Column>> {
        let at = |problem: Problem| problem.at(Place::new(name));
        let mut columns = Vec::new();
        for ((label, texts), name) in rows.labels.iter().zip(&shape.text_labels).zip(&self.labels) {
            columns.push(label.column(name, *texts).map_err(at)?);
        }
        if shape.queries {
            columns.push(rows.queries.column("qid", shape.text_queries).map_err(at)?);
        }
        Ok(columns)
    }

    /// Returns an error if a row has a label that is not a number: the rows have no features, and
    /// the file has another format.
    fn check_labels_are_numbers(&self, rows: &Rows, name: &str) -> Result<()> {
        let texts = rows.labels.iter().flat_map(|label| label.iter().zip(&rows.numbers));
        let remedy = "rows of libsvm files are `label index:value …`; name the format of the file";
        for (text, &line) in texts {
            let problem =
                number(text).err().map(|problem| problem.with_remedy(|| remedy.to_owned()));
            if let Some(problem) = problem {
                return Err(problem.at(Place::new(name).line(line).field(1)));
            }
        }
        Ok(())
    }

    fn push(&self, rows: &mut Rows, line: Line<'_>) -> Result<()> {
        let text = line.text.split('#').next().unwrap_or_default();
        let mut fields = text.split_ascii_whitespace();
        let Some(label) = fields.next() else { return Ok(()) };
        self.push_label(rows, label, line)?;
        let at = |field: usize| move |problem: Problem| problem.at(line.place().field(field));
        let query = fields.clone().next().and_then(|field| field.strip_prefix("qid:"));
        let mut first = 2;
        match query.filter(|query| !query.is_empty()) {
            Some(query) => {
                fields.next();
                first = 3;
                rows.shape.queries = true;
                rows.shape.text_queries |= rows.queries.push(query).map_err(at(2))?;
            }
            None => rows.queries.push_missing(),
        }
        for (i, field) in fields.enumerate() {
            let (index, value) = self.pair(field).map_err(at(first + i))?;
            rows.entries.push((index, value));
            rows.shape.greatest = rows.shape.greatest.max(index as usize);
            rows.shape.from_zero |= index == 0;
        }
        rows.end(line.number).map_err(|(i, problem)| at(first + i)(problem))
    }

    fn push_label(&self, rows: &mut Rows, label: &str, line: Line<'_>) -> Result<()> {
        let place = || line.place().field(1);
        let expected = self.labels.len();
        let parts: Vec<&str> =
            if expected == 1 { vec![label] } else { label.split(self.separator).collect() };
        if parts.len() != expected {
            return Err(Problem::LabelParts { text: excerpt(label), expected, found: parts.len() }
                .at(place()));
        }
        for (i, part) in parts.into_iter().enumerate() {
            let at = |problem: Problem| problem.at(place().column(&self.labels[i]));
            if part.contains(':') {
                let remedy = "a row starts with its label, then come the pairs `index:value`";
                return Err(at(Problem::NotANumber { text: excerpt(part), remedy: remedy.into() }));
            }
            rows.shape.text_labels[i] |= rows.labels[i].push(part).map_err(at)?;
        }
        Ok(())
    }

    /// Parses `index:value`.
    fn pair(&self, field: &str) -> std::result::Result<(u32, f64), Problem> {
        let not_a_pair = || Problem::NotAPair { text: excerpt(field) };
        let (index, value) = field.split_once(':').ok_or_else(not_a_pair)?;
        if index.is_empty() || !index.bytes().all(|b| b.is_ascii_digit()) {
            return Err(not_a_pair());
        }
        // all characters are digits, so that only a number too large for `u32` fails to parse
        let limit = self.features.unwrap_or(self.max_features).min(u32::MAX as usize);
        match index.parse::<u32>() {
            Ok(index) if index as usize <= limit => Ok((index, number(value)?)),
            _ => Err(Problem::IndexTooLarge { text: excerpt(index), limit }),
        }
    }
}
