//! The rows of an ARFF file.

use std::collections::BTreeSet;

use super::fields::{Field, row_fields, weight};
use super::header::{Attribute, Header};
use super::sparse;
use crate::builder::ColumnBuilder;
use crate::error::{Problem, Result, place::excerpt, place::list};
use crate::lines::Line;
use crate::table::Table;

/// Columns that grow row by row.
pub(super) struct Rows {
    attributes: Vec<Attribute>,
    columns: Vec<ColumnBuilder>,
    /// The line of each row.
    lines: Vec<u64>,
    pub notes: Vec<String>,
    /// Whether cells are taken as they are found ([`Format::found`](crate::Format::found)).
    found: bool,
    /// Columns in which cells that a sparse row leaves out are missing, and there is such a cell.
    gaps: BTreeSet<usize>,
    /// Number of cells that sparse rows write.
    stored: usize,
    /// Number of cells that sparse rows leave out.
    zeros: usize,
    /// The greatest value of `zeros` allowed.
    max_zeros: usize,
}

impl Rows {
    pub fn new(header: Header, found: Option<&[usize]>, max_zeros: usize) -> Rows {
        let Header { attributes, notes } = header;
        let as_texts = |j: usize| found.is_some_and(|texts| texts.contains(&j));
        let columns = attributes.iter().enumerate().map(|(j, of)| of.column(as_texts(j))).collect();
        let (found, lines, gaps) = (found.is_some(), Vec::new(), BTreeSet::new());
        let (stored, zeros) = (0, 0);
        Rows { attributes, columns, lines, notes, found, gaps, stored, zeros, max_zeros }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds the row `text`, which is `line` without its comment.
    pub fn push(&mut self, text: &str, line: &Line<'_>) -> Result<()> {
        let at = |problem: Problem| problem.at(line.place());
        if let Some(weight) = weight(text) {
            return Err(at(Problem::ArffWeight { text: excerpt(weight.trim()) }));
        }
        self.lines.push(line.number);
        let width = self.columns.len();
        if text.starts_with('{') {
            let cells = sparse::cells(text, width).map_err(at)?;
            return self.push_sparse(cells, line);
        }
        let fields = row_fields(text, width).map_err(at)?;
        if fields.len() != width {
            return Err(at(Problem::RaggedRow { expected: width, found: fields.len() }));
        }
        (0..width).try_for_each(|j| self.push_cell(j, &fields[j], line))
    }

    fn push_sparse(&mut self, cells: Vec<(usize, Field<'_>)>, line: &Line<'_>) -> Result<()> {
        let features = self.columns.len();
        self.stored += cells.len();
        self.zeros += features - cells.len();
        if self.zeros > self.max_zeros {
            let (rows, stored, zeros) = (self.lines.len(), self.stored, self.zeros as u128);
            return Err(Problem::TooSparse { rows, features, stored, zeros }.at(line.place()));
        }
        let mut cells = cells.into_iter().peekable();
        for j in 0..features {
            if let Some((_, field)) = cells.next_if(|(index, _)| *index == j) {
                self.push_cell(j, &field, line)?;
                continue;
            }
            let value = self.attributes[j].left_out();
            if value.is_none() {
                self.gaps.insert(j);
            }
            self.columns[j].push(value).map_err(|problem| problem.at(line.place()))?;
        }
        Ok(())
    }

    fn push_cell(&mut self, j: usize, field: &Field<'_>, line: &Line<'_>) -> Result<()> {
        let column = &mut self.columns[j];
        // a column that will be read again as text is not parsed
        let is_missing = column.read_again || !field.quoted && field.text == "?";
        // dates in the declared format become ISO texts, others stay as written
        let date = self.attributes[j].date(&field.text);
        let value = (!is_missing).then(|| date.as_deref().unwrap_or(&field.text));
        // a quoted text is never a missing-value marker
        let pushed = match self.found && !(field.quoted && column.is_text()) {
            true => column.push_found(value, line.number, &[]),
            false => column.push(value),
        };
        pushed.map_err(|problem| {
            let better = "correct it; or write `?` if it is missing; or declare the attribute as \
                          string";
            let place = line.place().field(j + 1).column(&column.name);
            problem.with_remedy(|| better.to_owned()).at(place)
        })
    }

    /// The positions of columns that have to be read again as text.
    pub fn to_read_again(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&j| self.columns[j].read_again).collect()
    }

    pub fn into_table(mut self, name: &str) -> Result<Table> {
        self.notes.extend(self.columns.iter().filter_map(ColumnBuilder::notes));
        if !self.gaps.is_empty() {
            let names = list(self.gaps.iter().map(|&j| &self.columns[j].name));
            self.notes.push(format!("texts that sparse rows leave out are missing: {names}"));
        }
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Table::with_lines(name, columns, self.lines)?.noted(self.notes, Vec::new()))
    }
}
