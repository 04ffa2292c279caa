//! The rows of a libsvm file in sparse form, as written.

use super::shape::Shape;
use super::spelled::Spelled;
use crate::column::Column;
use crate::error::Problem;

#[derive(Default)]
pub(super) struct Rows {
    /// One column for each part of the label.
    pub labels: Vec<Spelled>,
    pub queries: Spelled,
    /// Indices and values, row after row.
    pub entries: Vec<(u32, f64)>,
    /// Where each row ends in `entries`.
    pub ends: Vec<usize>,
    /// The line of each row.
    pub numbers: Vec<u64>,
    pub shape: Shape,
}

impl Rows {
    pub fn new(labels: usize) -> Rows {
        let columns = (0..labels).map(|_| Spelled::default()).collect();
        Rows { labels: columns, shape: Shape::of_labels(labels), ..Rows::default() }
    }

    /// Ends the row, which is on this line, and sorts its entries by index.
    ///
    /// # Errors
    /// An index that occurs twice, with the position of its second pair in the row.
    pub fn end(&mut self, line: u64) -> Result<(), (usize, Problem)> {
        let start = self.ends.last().copied().unwrap_or(0);
        let row = &mut self.entries[start..];
        if !row.is_sorted_by(|(before, _), (index, _)| before < index) {
            let written: Vec<u32> = row.iter().map(|(index, _)| *index).collect();
            row.sort_by_key(|(index, _)| *index);
            if let Some(&[(index, _), _]) = row.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let mut places = (0..written.len()).filter(|&place| written[place] == index);
                let second = places.nth(1).unwrap_or_default();
                return Err((second, Problem::IndexDuplicate { index: index.into() }));
            }
        }
        self.ends.push(self.entries.len());
        self.numbers.push(line);
        Ok(())
    }

    /// The dense columns of `count` features, named `f` and their index from `first` (0 or 1).
    pub fn features(&self, first: usize, count: usize) -> Vec<Column> {
        let mut dense = vec![vec![0.0; self.ends.len()]; count];
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            for &(index, value) in &self.entries[start..end] {
                dense[index as usize - first][row] = value;
            }
            start = end;
        }
        let name = |i: usize| format!("f{}", first + i);
        dense.into_iter().enumerate().map(|(i, values)| Column::numbers(name(i), values)).collect()
    }
}
