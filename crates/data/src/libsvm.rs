//! The sparse text format of libsvm and svmlight.

use std::io::Read;
use std::ops::ControlFlow;

use crate::column::Column;
use crate::column::distinct_names;
use crate::error::{Place, Problem, Result, place::excerpt};
use crate::lines::{Line, Lines, Spot};
use crate::number::number;
use crate::table::Table;

/// Reads rows `label index:value index:value …`, plain or gzip, into a dense table.
///
/// Indices count from 1 and increase; those left out are zero. `#` starts a comment. The table has
/// the label columns first (`label`, unless [`label_parts`](Libsvm::label_parts) names them), then
/// `f1`, `f2`, …, up to the greatest index.
///
/// ```
/// use nystrom_data::Libsvm;
///
/// let table = Libsvm::new().read("+1 1:0.5 3:2\n-1 2:1 # second\n".as_bytes(), "t.libsvm")?;
/// assert_eq!(table.numbers("label")?, [1.0, -1.0]);
/// assert_eq!(table.numbers("f3")?, [2.0, 0.0]);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Libsvm {
    separator: char,
    labels: Vec<String>,
    features: Option<usize>,
    at_least: usize,
    max_features: usize,
    max_zeros: usize,
}

impl Default for Libsvm {
    fn default() -> Self {
        Libsvm::new()
    }
}

impl Libsvm {
    /// One label; as many features as the greatest index, at most 1 048 576; at most 2²⁷ zeros (1
    /// GiB) added.
    pub fn new() -> Self {
        Libsvm {
            separator: ';',
            labels: vec!["label".to_owned()],
            features: None,
            at_least: 0,
            max_features: 1 << 20,
            max_zeros: 1 << 27,
        }
    }

    /// The label consists of several numbers with `separator` between them, each a column of its
    /// own.
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
        self
    }

    /// The number of features, for files (such as test sets) in which the last ones may not occur.
    /// Greater indices are errors.
    pub fn features(mut self, count: usize) -> Self {
        self.features = Some(count);
        self
    }

    /// As [`features`](Libsvm::features), but greater indices are columns as well.
    ///
    /// ```
    /// let table = nystrom_data::Libsvm::new().at_least(3).read("1 2:5\n".as_bytes(), "t.libsvm")?;
    /// assert_eq!(table.names().collect::<Vec<_>>(), ["label", "f1", "f2", "f3"]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn at_least(mut self, count: usize) -> Self {
        self.at_least = count;
        self
    }

    /// The greatest index that is believed.
    pub fn max_features(mut self, count: usize) -> Self {
        self.max_features = count;
        self
    }

    /// How many zeros (8 bytes each) the dense table may hold beyond the values in the file.
    pub fn max_zeros(mut self, count: usize) -> Self {
        self.max_zeros = count;
        self
    }

    /// Reads all of `reader`, plain or gzip; `name` stands for the file in errors.
    ///
    /// Time is linear in the text plus the dense table. The dense table is allocated only after the
    /// whole file was read and its size was checked against [`max_zeros`](Libsvm::max_zeros).
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with the line and field (the label is field 1) of
    /// the first thing that is wrong, [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, mut reader: impl Read, name: &str) -> Result<Table> {
        let mut lines = Lines::new(&mut reader, name)?;
        let mut rows = self.rows();
        while let Some(line) = lines.next()? {
            self.push(&mut rows, line)?;
        }
        let features = self.features.unwrap_or(rows.greatest.max(self.at_least));
        self.table(rows, features, name)
    }

    /// The greatest index of a file, or the number of features that was asked for.
    pub(crate) fn greatest(&self, mut reader: impl Read, name: &str) -> Result<usize> {
        if let Some(features) = self.features {
            return Ok(features);
        }
        let mut lines = Lines::new(&mut reader, name)?;
        let mut greatest = self.at_least;
        while let Some(line) = lines.next()? {
            let mut row = self.rows();
            self.push(&mut row, line)?;
            greatest = greatest.max(row.greatest);
        }
        Ok(greatest)
    }

    /// The rows of `reader` in blocks, from a spot of the file or from its start, as long as `each`
    /// asks for more. The number of features must have been said.
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
        let (mut block, features) = (self.rows(), self.features.unwrap_or(self.at_least));
        let mut any = false;
        while let Some(line) = lines.next()? {
            self.push(&mut block, line)?;
            if block.ends.len() == rows {
                let full = std::mem::replace(&mut block, self.rows());
                any = true;
                if each(self.table(full, features, name)?, lines.spot())?.is_break() {
                    return Ok(());
                }
            }
        }
        if block.ends.is_empty() && any {
            return Ok(());
        }
        each(self.table(block, features, name)?, lines.spot()).map(drop)
    }

    fn rows(&self) -> Rows {
        Rows { labels: vec![Vec::new(); self.labels.len()], ..Rows::default() }
    }

    fn table(&self, mut rows: Rows, features: usize, name: &str) -> Result<Table> {
        if rows.ends.is_empty() {
            return Err(
                Problem::Empty { expected: "rows `label index:value …`" }.at(Place::new(name))
            );
        }
        let (n, stored) = (rows.ends.len(), rows.entries.len());
        let zeros = n as u128 * features as u128 - stored as u128;
        if zeros > self.max_zeros as u128 {
            return Err(
                Problem::TooSparse { rows: n, features, stored, zeros }.at(Place::new(name))
            );
        }
        let numbers = std::mem::take(&mut rows.numbers);
        let columns = rows.into_columns(&self.labels, features);
        distinct_names(columns.iter().map(|column| column.name.as_str()), |i| {
            Place::new(name).field(i + 1)
        })?;
        Table::with_lines(name, columns, numbers)
    }

    fn push(&self, rows: &mut Rows, line: Line<'_>) -> Result<()> {
        let text = line.text.split('#').next().unwrap_or_default();
        let mut fields = text.split_ascii_whitespace().enumerate();
        let Some((_, label)) = fields.next() else { return Ok(()) };
        self.push_label(rows, label, line)?;
        let mut previous = 0;
        for (i, field) in fields {
            let (index, value) = self
                .pair(field, previous)
                .map_err(|problem| problem.at(line.place().field(i + 1)))?;
            rows.entries.push((index as u32, value));
            previous = index;
        }
        rows.greatest = rows.greatest.max(previous as usize);
        rows.ends.push(rows.entries.len());
        rows.numbers.push(line.number);
        Ok(())
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
        for ((part, name), column) in parts.iter().zip(&self.labels).zip(&mut rows.labels) {
            column.push(number(part).map_err(|problem| {
                let better = || match part {
                    pair if pair.contains(':') => {
                        "a row starts with its label, then come the pairs `index:value`"
                    }
                    _ => {
                        "labels are numbers; if they have several parts, see `Libsvm::label_parts`"
                    }
                };
                problem.with_remedy(|| better().to_owned()).at(place().column(name))
            })?);
        }
        Ok(())
    }

    /// `index:value`, after a pair with index `previous` (0 at the start of a row).
    fn pair(&self, field: &str, previous: u64) -> std::result::Result<(u64, f64), Problem> {
        let not_a_pair = || Problem::NotAPair { text: excerpt(field) };
        let (index, value) = field.split_once(':').ok_or_else(not_a_pair)?;
        if index.is_empty() || !index.bytes().all(|b| b.is_ascii_digit()) {
            return Err(not_a_pair());
        }
        // u32 is what a row stores; the parse fails only for numbers too great for u64, given that
        // all are digits.
        let limit = self.features.unwrap_or(self.max_features).min(u32::MAX as usize);
        let index = match index.parse::<u64>() {
            Ok(index) if index <= limit as u64 => index,
            _ => return Err(Problem::IndexTooLarge { text: excerpt(index), limit }),
        };
        match index {
            0 => Err(Problem::IndexZero),
            _ if index == previous => Err(Problem::IndexDuplicate { index }),
            _ if index < previous => Err(Problem::IndexNotIncreasing { index, previous }),
            _ => Ok((index, number(value)?)),
        }
    }
}

/// The rows of a file as they are written: only the values that are there.
#[derive(Default)]
struct Rows {
    /// One per label part.
    labels: Vec<Vec<f64>>,
    /// Index from 1 and value, row after row.
    entries: Vec<(u32, f64)>,
    /// Where each row ends in `entries`.
    ends: Vec<usize>,
    /// Its line.
    numbers: Vec<u64>,
    greatest: usize,
}

impl Rows {
    fn into_columns(self, names: &[String], features: usize) -> Vec<Column> {
        let mut dense = vec![vec![0.0; self.ends.len()]; features];
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            for &(index, value) in &self.entries[start..end] {
                dense[index as usize - 1][row] = value;
            }
            start = end;
        }
        let labels = names
            .iter()
            .zip(self.labels)
            .map(|(name, values)| Column::numbers(name.clone(), values));
        let features = dense
            .into_iter()
            .enumerate()
            .map(|(i, values)| Column::numbers(format!("f{}", i + 1), values));
        labels.chain(features).collect()
    }
}
