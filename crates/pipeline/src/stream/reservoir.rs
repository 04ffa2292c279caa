//! A uniform sample of rows that come one after another.

use crate::error::Result;
use nystrom::prelude::*;
use nystrom_data::{Categories, Cell, Column, Table, Values};

/// Rows that stand for all: after n rows any `capacity` of them with the same probability.
///
/// Source: algorithm R, J. Vitter, *Random sampling with a reservoir*, ACM TOMS 11, 1985.
#[derive(Debug)]
pub(crate) struct Reservoir {
    capacity: usize,
    seen: u64,
    columns: Vec<(String, Kept)>,
}

#[derive(Debug)]
enum Kept {
    Numbers(Vec<f64>),
    Text(Vec<Option<Box<str>>>),
}

impl Reservoir {
    pub fn new(capacity: usize) -> Self {
        Reservoir { capacity, seen: 0, columns: Vec::new() }
    }

    /// Offers some rows of a block.
    ///
    /// # Randomness
    /// A place for each row behind the first `capacity`.
    pub fn offer(&mut self, block: &Table, rows: &[usize], rng: &mut dyn Rng) {
        if self.columns.is_empty() {
            let kept = |column: &Column| match column.values {
                Values::Numbers(_) => Kept::Numbers(Vec::new()),
                Values::Categories(_) => Kept::Text(Vec::new()),
            };
            self.columns = block.columns().iter().map(|c| (c.name.clone(), kept(c))).collect();
        }
        for &row in rows {
            let place = match usize::try_from(self.seen) {
                Ok(seen) if seen < self.capacity => Some(seen),
                _ => {
                    let place = rng.random_range(0..=self.seen);
                    usize::try_from(place).ok().filter(|place| *place < self.capacity)
                }
            };
            self.seen += 1;
            let Some(place) = place else { continue };
            for ((_, kept), column) in self.columns.iter_mut().zip(block.columns()) {
                kept.set(place, column.cell(row));
            }
        }
    }

    /// The rows kept, as a table.
    ///
    /// # Errors
    /// That of [`Table::new`], for what a source does not give.
    pub fn table(self, source: &str) -> Result<Table> {
        let columns = self.columns.into_iter().map(|(name, kept)| kept.column(name)).collect();
        Ok(Table::new(source, columns)?)
    }
}

impl Kept {
    fn set(&mut self, place: usize, cell: Option<Cell<'_>>) {
        fn put<T>(values: &mut Vec<T>, place: usize, value: T) {
            match values.get_mut(place) {
                Some(old) => *old = value,
                None => values.push(value),
            }
        }
        match (self, cell) {
            (Kept::Numbers(values), Some(Cell::Number(v))) => put(values, place, v),
            (Kept::Numbers(values), _) => put(values, place, f64::NAN),
            (Kept::Text(values), Some(Cell::Text(text))) => put(values, place, Some(text.into())),
            (Kept::Text(values), _) => put(values, place, None),
        }
    }

    fn column(self, name: String) -> Column {
        let texts = match self {
            Kept::Numbers(values) => return Column::numbers(name, values),
            Kept::Text(texts) => texts,
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

    /// Each of 40 rows is among 10 of them with probability ¼: over 4000 draws 1000 times, with a
    /// deviation of √(4000·3/16) = 27.4. Six of them are left out by all 40 with 8e-8.
    #[test]
    fn every_row_is_as_likely() {
        let numbers = Column::numbers("i", (0..40).map(f64::from).collect());
        let table = Table::new("t", vec![numbers]).unwrap();
        let rng = &mut Pcg64::seed_from_u64(1);
        let mut counts = [0_i32; 40];
        for _ in 0..4000 {
            let mut reservoir = Reservoir::new(10);
            for rows in [0..7, 7..40] {
                reservoir.offer(&table, &rows.collect::<Vec<_>>(), rng);
            }
            let kept = reservoir.table("r").unwrap();
            assert_eq!(kept.rows(), 10);
            kept.numbers("i").unwrap().iter().for_each(|i| counts[*i as usize] += 1);
        }
        assert!(counts.iter().all(|count| (count - 1000).abs() < 165), "{counts:?}");
    }
}
