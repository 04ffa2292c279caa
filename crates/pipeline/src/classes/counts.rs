//! How many rows each text of a target has, in one table or in the parts of one.

use nystrom_data::{Column, Values};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use super::Classes;

/// The most texts that a pass over a table counts: ten spellings of each class.
const MOST: usize = 1000;

/// The different values of a target, as names of classes, with their rows. Missing values are
/// left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassCounts {
    counts: BTreeMap<String, u64>,
    rows: u64,
    /// Whether there are more than a pass counts; then none is counted.
    too_many: bool,
}

impl ClassCounts {
    /// Of all rows of a column, whatever their number.
    pub fn of(column: &Column) -> ClassCounts {
        let rows = match &column.values {
            Values::Numbers(values) => values.len(),
            Values::Categories(text) => text.codes.len(),
        };
        let counts = in_rows(column, 0..rows);
        let known = counts.values().sum();
        ClassCounts { counts: counts.into_iter().collect(), rows: known, too_many: false }
    }

    /// Adds some rows of a column.
    pub fn add(&mut self, column: &Column, rows: &[usize]) {
        if !self.too_many {
            let counts = in_rows(column, rows.iter().copied());
            self.rows += counts.values().sum::<u64>();
            self.take(counts);
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, later: ClassCounts) {
        self.rows += later.rows;
        self.too_many |= later.too_many;
        self.take(later.counts);
    }

    fn take(&mut self, counts: impl IntoIterator<Item = (String, u64)>) {
        for (name, count) in counts {
            *self.counts.entry(name).or_default() += count;
        }
        self.too_many |= self.counts.len() > MOST;
        if self.too_many {
            self.counts.clear();
        }
    }

    /// The names and their rows, in the order of the names; nothing if they are too many.
    pub fn all(&self) -> Option<Vec<(&str, u64)>> {
        let all = || self.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        (!self.too_many).then(all)
    }

    /// The rows of all names.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

fn in_rows(column: &Column, rows: impl IntoIterator<Item = usize>) -> HashMap<String, u64> {
    match &column.values {
        Values::Numbers(values) => {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for value in rows.into_iter().map(|row| values[row]).filter(|value| !value.is_nan()) {
                *counts.entry((value + 0.0).to_bits()).or_default() += 1; //          −0 is 0
            }
            let named = |(bits, count)| (Classes::name_of(f64::from_bits(bits)), count);
            counts.into_iter().map(named).collect()
        }
        Values::Categories(text) => {
            let mut counts = vec![0; text.levels.len()];
            let codes = rows.into_iter().filter_map(|row| text.codes[row]);
            codes.for_each(|code| counts[code as usize] += 1);
            let known = text.levels.iter().cloned().zip(counts).filter(|(_, count)| *count > 0);
            known.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_merge_to_the_counts_of_all() {
        let values = vec![1.0, -0.0, f64::NAN, 0.0, 2.5, 1.0, 1.0];
        let column = Column::numbers("y", values);
        let all = ClassCounts::of(&column);
        assert_eq!(all.all().unwrap(), [("0", 2), ("1", 3), ("2.5", 1)]);
        assert_eq!(all.rows(), 6);
        for cut in 0..=7 {
            let (mut first, mut second) = (ClassCounts::default(), ClassCounts::default());
            first.add(&column, &(0..cut).collect::<Vec<_>>());
            second.add(&column, &(cut..7).collect::<Vec<_>>());
            first.merge(second);
            assert_eq!(first, all, "cut at {cut}");
        }
        let many = Column::numbers("y", (0..2000).map(f64::from).collect());
        let mut counts = ClassCounts::default();
        counts.add(&many, &(0..2000).collect::<Vec<_>>());
        assert!(counts.all().is_none());
        assert_eq!(ClassCounts::of(&many).all().unwrap().len(), 2000);
    }
}
