//! A uniform sample of rows; samples of parts of the rows can be merged.

use crate::error::Result;
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom_data::{Categories, Cell, Column, Table, Values};
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;

/// The `capacity` rows of the lowest priorities. The priority of a row is a random number that
/// depends only on its number among all rows. So all sets of `capacity` rows have the same
/// probability, and the sample does not depend on the order of the rows or on the process that
/// reads them.
///
/// Source: bottom-k sampling, E. Cohen & H. Kaplan, *Summarizing data using bottom-k sketches*,
/// PODC 2007.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reservoir {
    capacity: usize,
    priorities: Streams,
    /// The highest priority first.
    kept: BinaryHeap<Kept>,
    columns: Vec<(String, Cells)>,
}

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Kept {
    priority: u64,
    /// The number of the row among all rows.
    row: u64,
    /// The line of the row, in formats that have lines.
    line: Option<u64>,
    /// The position of its cells in the columns.
    place: usize,
}

#[derive(Debug, Serialize, Deserialize)]
enum Cells {
    Numbers(Vec<f64>),
    Text(Vec<Option<Box<str>>>),
}

impl Reservoir {
    /// # Randomness
    /// The key of the priorities.
    pub fn new(capacity: usize, rng: &mut dyn Rng) -> Self {
        let priorities = Streams::from_rng(rng);
        Reservoir { capacity, priorities, kept: BinaryHeap::new(), columns: Vec::new() }
    }

    /// Offers some rows of a block; `first` is the number of its first row among all rows.
    pub fn offer(&mut self, block: &Table, rows: &[usize], first: u64) {
        if self.columns.is_empty() {
            let cells = |column: &Column| match column.values {
                Values::Numbers(_) => Cells::Numbers(Vec::new()),
                Values::Categories(_) | Values::Sparse(_) => Cells::Text(Vec::new()),
            };
            self.columns = block.columns().iter().map(|c| (c.name.clone(), cells(c))).collect();
        }
        for &row in rows {
            let number = first + row as u64;
            // its priority: all rows have different ones
            let priority = self.priorities.child(number).key();
            let Some(place) = self.admit(priority, (number, block.line(row))) else { continue };
            for ((_, cells), column) in self.columns.iter_mut().zip(block.columns()) {
                cells.set(place, column.cell(row));
            }
        }
    }

    /// The position for the cells of a row, if its priority is among the lowest.
    fn admit(&mut self, priority: u64, (row, line): (u64, Option<u64>)) -> Option<usize> {
        let place = self.kept.len();
        if place < self.capacity {
            self.kept.push(Kept { priority, row, line, place });
            return Some(place);
        }
        let mut highest = self.kept.peek_mut().filter(|highest| highest.priority > priority)?;
        let place = highest.place;
        *highest = Kept { priority, row, line, place };
        Some(place)
    }

    /// Offers the rows in another reservoir with the same key, which saw other rows.
    pub fn merge(&mut self, other: Reservoir) {
        if self.columns.is_empty() {
            (self.kept, self.columns) = (other.kept, other.columns);
            return;
        }
        for theirs in other.kept {
            let of = (theirs.row, theirs.line);
            let Some(place) = self.admit(theirs.priority, of) else { continue };
            for ((_, ours), (_, cells)) in self.columns.iter_mut().zip(&other.columns) {
                ours.set(place, cells.get(theirs.place));
            }
        }
    }

    /// The number among all rows, and the line, of each row in the reservoir, in increasing order.
    pub fn rows(&self) -> Vec<(u64, u64)> {
        let of = |kept: &Kept| (kept.row, kept.line.unwrap_or(kept.row + 1));
        let mut rows: Vec<(u64, u64)> = self.kept.iter().map(of).collect();
        rows.sort_unstable();
        rows
    }

    /// The rows in the reservoir as a table, in the order of all rows.
    ///
    /// # Errors
    /// That of [`Table::new`], which does not occur for the rows of a source.
    pub fn table(self, source: &str) -> Result<Table> {
        let mut kept = self.kept.into_vec();
        kept.sort_unstable_by_key(|kept| kept.row);
        let places: Vec<usize> = kept.iter().map(|kept| kept.place).collect();
        let columns = self.columns.into_iter().map(|(name, cells)| cells.column(name, &places));
        Ok(Table::new(source, columns.collect())?)
    }
}

impl Cells {
    fn set(&mut self, place: usize, cell: Option<Cell<'_>>) {
        fn put<T>(values: &mut Vec<T>, place: usize, value: T) {
            match values.get_mut(place) {
                Some(old) => *old = value,
                None => values.push(value),
            }
        }
        match (self, cell) {
            (Cells::Numbers(values), Some(Cell::Number(v))) => put(values, place, v),
            (Cells::Numbers(values), _) => put(values, place, f64::NAN),
            (Cells::Text(values), Some(Cell::Text(text))) => put(values, place, Some(text.into())),
            (Cells::Text(values), _) => put(values, place, None),
        }
    }

    fn get(&self, place: usize) -> Option<Cell<'_>> {
        match self {
            Cells::Numbers(values) => values.get(place).copied().map(Cell::Number),
            Cells::Text(texts) => texts.get(place)?.as_deref().map(Cell::Text),
        }
    }

    fn column(self, name: String, places: &[usize]) -> Column {
        let texts: Vec<Option<Box<str>>> = match self {
            Cells::Numbers(values) => {
                return Column::numbers(name, places.iter().map(|&place| values[place]).collect());
            }
            Cells::Text(mut texts) => places.iter().map(|&place| texts[place].take()).collect(),
        };
        let mut levels: Vec<String> = texts.iter().flatten().map(|text| text.to_string()).collect();
        levels.sort_unstable();
        levels.dedup();
        let code = |text: &str| levels.partition_point(|level| **level < *text) as u32;
        let codes = texts.iter().map(|text| text.as_deref().map(code)).collect();
        Column { name, values: Values::Categories(Categories { levels, codes }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: u32) -> Table {
        let text = (0..n).map(|i| (i % 3 > 0).then(|| i % 3 - 1)).collect();
        let levels = vec!["one".to_owned(), "two".to_owned()];
        let text = Values::Categories(Categories { levels, codes: text });
        let numbers = Column::numbers("i", (0..n).map(f64::from).collect());
        Table::new("t", vec![numbers, Column { name: "t".into(), values: text }]).unwrap()
    }

    /// Each of 40 rows is among 10 of them with probability ¼: over 4000 draws 1000 times, with a
    /// deviation of √(4000·3/16) = 27.4. Six of them are left out by all 40 with 8e-8.
    #[test]
    fn every_row_is_as_likely() {
        let table = numbers(40);
        let rng = &mut Pcg64::seed_from_u64(1);
        let mut counts = [0_i32; 40];
        for _ in 0..4000 {
            let mut reservoir = Reservoir::new(10, rng);
            for rows in [0..7, 7..40] {
                reservoir.offer(&table, &rows.collect::<Vec<_>>(), 0);
            }
            let kept = reservoir.table("r").unwrap();
            assert_eq!(kept.rows(), 10);
            kept.numbers("i").unwrap().iter().for_each(|i| counts[*i as usize] += 1);
        }
        assert!(counts.iter().all(|count| (count - 1000).abs() < 165), "{counts:?}");
    }

    /// Three parts, of which one may be empty, keep what one keeps that sees all.
    #[test]
    fn parts_keep_the_same_rows() {
        let (table, all): (Table, Vec<usize>) = (numbers(60), (0..60).collect());
        let reservoir = || Reservoir::new(10, &mut Pcg64::seed_from_u64(5));
        let mut whole = reservoir();
        whole.offer(&table, &all, 0);
        let whole = whole.table("r").unwrap();
        for (a, b) in [(0, 0), (0, 60), (13, 13), (5, 50), (20, 40)] {
            let parts = [0..a, a..b, b..60].map(|rows| {
                let mut part = reservoir();
                if !rows.is_empty() {
                    let block = table.select_rows(&all[rows.clone()]).unwrap();
                    part.offer(&block, &all[..rows.len()], rows.start as u64);
                }
                part
            });
            let [mut left, mut middle, right] = parts;
            middle.merge(right);
            left.merge(middle);
            assert_eq!(left.table("r").unwrap(), whole, "cut at {a} and {b}");
        }
    }
}
