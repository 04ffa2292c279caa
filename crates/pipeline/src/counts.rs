//! Counts of the rows of each text of a column, which can be merged.

use nystrom_data::{Categories, Values};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The number of rows of each text, if there are at most `MOST` texts. Numbers count as their
/// texts; missing values are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TextCounts<const MOST: usize> {
    counts: BTreeMap<String, u64>,
    /// Whether there are more than `MOST` texts; then none is counted.
    too_many: bool,
}

impl<const MOST: usize> TextCounts<MOST> {
    /// The counts of all rows of a column, for any number of texts.
    pub fn of(values: &Values) -> Self {
        TextCounts { counts: in_rows(values, None).into_iter().collect(), too_many: false }
    }

    /// Adds some rows of a column.
    pub fn add(&mut self, values: &Values, rows: &[usize]) {
        if !self.too_many {
            self.take(in_rows(values, Some(rows)));
        }
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, later: Self) {
        self.too_many |= later.too_many;
        self.take(later.counts);
    }

    fn take(&mut self, counts: impl IntoIterator<Item = (String, u64)>) {
        for (text, count) in counts {
            *self.counts.entry(text).or_default() += count;
        }
        self.too_many |= self.counts.len() > MOST;
        if self.too_many {
            self.counts.clear();
        }
    }

    /// The texts with their numbers of rows, in the order of the texts; `None` if there are too
    /// many.
    pub fn all(&self) -> Option<Vec<(&str, u64)>> {
        let all = || self.counts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        (!self.too_many).then(all)
    }

    /// The number of rows of all texts.
    pub fn rows(&self) -> u64 {
        self.counts.values().sum()
    }
}

/// The number of rows of each text among these rows of a column (`None`: all).
fn in_rows(values: &Values, rows: Option<&[usize]>) -> HashMap<String, u64> {
    match values {
        Values::Numbers(values) => {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            let mut add = |value: &f64| {
                if !value.is_nan() {
                    *counts.entry((value + 0.0).to_bits()).or_default() += 1; //     −0 is 0
                }
            };
            match rows {
                None => values.iter().for_each(add),
                Some(rows) => rows.iter().for_each(|&row| add(&values[row])),
            }
            let named = |(bits, count)| (name_of(f64::from_bits(bits)), count);
            counts.into_iter().map(named).collect()
        }
        Values::Categories(text) => {
            let counts = counted(text, rows).into_iter();
            counts.map(|(count, level)| (level.to_owned(), count as u64)).collect()
        }
        Values::Sparse(_) => HashMap::new(), // which have no texts
    }
}

/// Bits that are equal if two cells of a column are, and only then; of sparse rows, but for chance.
pub(crate) fn bits_of(values: &Values, row: usize) -> u64 {
    match values {
        Values::Numbers(values) => (values[row] + 0.0).to_bits(), //   0 and −0 are equal
        Values::Categories(text) => text.codes[row].map_or(u64::MAX, u64::from),
        Values::Sparse(rows) => {
            let (places, values) = rows.row(row);
            let word = |hash: u64, word: u64| {
                (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
            };
            let pairs = places.iter().zip(values);
            pairs.fold(1, |hash, (k, v)| word(word(hash, u64::from(*k)), v.to_bits()))
        }
    }
}

/// The text of a number.
pub(crate) fn name_of(value: f64) -> String {
    // −0 is 0
    format!("{}", value + 0.0)
}

/// The levels that occur in these rows (`None`: in all), each with its number of rows.
pub(crate) fn counted<'a>(text: &'a Categories, rows: Option<&[usize]>) -> Vec<(usize, &'a str)> {
    let mut counts = vec![0; text.levels.len()];
    let mut add = |code: &Option<u32>| code.iter().for_each(|code| counts[*code as usize] += 1);
    match rows {
        None => text.codes.iter().for_each(add),
        Some(rows) => rows.iter().for_each(|&row| add(&text.codes[row])),
    }
    let levels = counts.into_iter().zip(text.levels.iter().map(String::as_str));
    levels.filter(|(count, _)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_merge_to_the_counts_of_all() {
        let values = Values::Numbers(vec![1.0, -0.0, f64::NAN, 0.0, 2.5, 1.0, 1.0]);
        let all = TextCounts::<1000>::of(&values);
        assert_eq!(all.all().unwrap(), [("0", 2), ("1", 3), ("2.5", 1)]);
        assert_eq!(all.rows(), 6);
        for cut in 0..=7 {
            let (mut first, mut second) = (TextCounts::default(), TextCounts::default());
            first.add(&values, &(0..cut).collect::<Vec<_>>());
            second.add(&values, &(cut..7).collect::<Vec<_>>());
            first.merge(second);
            assert_eq!(first, all, "cut at {cut}");
        }
        let many = Values::Numbers((0..2000).map(f64::from).collect());
        let mut counts = TextCounts::<1000>::default();
        counts.add(&many, &(0..2000).collect::<Vec<_>>());
        assert!(counts.all().is_none());
        assert_eq!(TextCounts::<1000>::of(&many).all().unwrap().len(), 2000);
    }
}
