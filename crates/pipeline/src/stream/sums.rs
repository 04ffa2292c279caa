//! What one pass over a column adds up to.

use nystrom_data::{Column, Values};
use std::collections::BTreeMap;

/// Levels of a text that are counted. With more, their shares are those of the reservoir.
const MOST_LEVELS: usize = 1 << 16;
/// Rows from which numbers 1, 2, 3, … are taken to number them.
const MANY: u64 = 10;

/// A column of all rows.
#[derive(Debug, Clone)]
pub(crate) enum ColumnSums {
    Numbers(NumberSums),
    Text(TextSums),
}

/// Numbers of which some may be missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberSums {
    known: u64,
    gaps: u64,
    mean: f64,
    /// Σ(v − mean)².
    square: f64,
    least: f64,
    greatest: f64,
    /// The last value, if every value so far was one more than that before.
    last: Option<f64>,
}

/// Texts of which some may be missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextSums {
    rows: usize,
    counts: BTreeMap<String, usize>,
    too_many: bool,
}

impl ColumnSums {
    /// Of no rows of a column like this one.
    pub fn like(column: &Column) -> Self {
        match column.values {
            Values::Numbers(_) => ColumnSums::Numbers(NumberSums::default()),
            Values::Categories(_) => ColumnSums::Text(TextSums::default()),
        }
    }

    /// Adds some rows of a block.
    pub fn add(&mut self, values: &Values, rows: &[usize]) {
        match (self, values) {
            (ColumnSums::Numbers(sums), Values::Numbers(values)) => {
                rows.iter().for_each(|&row| sums.add(values[row]));
            }
            (ColumnSums::Text(sums), Values::Categories(text)) => {
                rows.iter().for_each(|&row| sums.add(text.get(row)));
            }
            // a source does not change the kind of a column
            _ => {}
        }
    }

    pub fn numbers(&self) -> Option<&NumberSums> {
        match self {
            ColumnSums::Numbers(sums) => Some(sums),
            ColumnSums::Text(_) => None,
        }
    }

    /// How often each level occurs, and the rows; nothing if there are too many levels.
    pub fn levels(&self) -> Option<(Vec<(usize, &String)>, usize)> {
        match self {
            ColumnSums::Text(TextSums { rows, counts, too_many: false }) => {
                Some((counts.iter().map(|(level, count)| (*count, level)).collect(), *rows))
            }
            _ => None,
        }
    }

    /// Whether a text has more levels than are counted.
    pub fn has_too_many_levels(&self) -> bool {
        matches!(self, ColumnSums::Text(TextSums { too_many: true, .. }))
    }
}

impl NumberSums {
    /// Welford's update: no digits are lost in columns far from 0, and the sums are those of the
    /// rows in their order, whatever the blocks.
    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.gaps += 1;
            self.last = None;
            return;
        }
        let first = self.known == 0;
        self.last = match self.last {
            Some(last) if value == last + 1.0 => Some(value),
            None if first && self.gaps == 0 && matches!(value, 0.0 | 1.0) => Some(value),
            _ => None,
        };
        self.least = if first { value } else { self.least.min(value) };
        self.greatest = if first { value } else { self.greatest.max(value) };
        self.known += 1;
        let before = value - self.mean;
        self.mean += before / self.known as f64;
        self.square += before * (value - self.mean);
    }

    pub fn rows(&self) -> usize {
        (self.known + self.gaps) as usize
    }

    pub fn gaps(&self) -> usize {
        self.gaps as usize
    }

    /// Whether all values that are there are the same.
    pub fn is_constant(&self) -> bool {
        self.least == self.greatest
    }

    /// The greatest absolute value.
    pub fn largest(&self) -> f64 {
        self.greatest.abs().max(self.least.abs())
    }

    /// Any value.
    pub fn some(&self) -> f64 {
        self.least
    }

    /// Whether the values are 0, 1, 2, … or 1, 2, 3, … in the order of the rows.
    pub fn numbers_rows(&self) -> bool {
        self.last.is_some() && self.known >= MANY
    }

    /// Mean and standard deviation with `fill` in the place of missing values, and the deviation 1
    /// of equal values; `None` if they are not finite.
    pub fn moments(&self, fill: f64) -> Option<(f64, f64)> {
        let (known, gaps) = (self.known as f64, self.gaps as f64);
        let n = known + gaps;
        let mean = self.mean + (fill - self.mean) * (gaps / n);
        // two groups, about their common mean
        let between = (fill - self.mean).powi(2) * (known / n) * (gaps / n);
        let scale = (self.square / n + between).sqrt();
        if scale == 0.0 {
            return mean.is_finite().then_some((mean, 1.0));
        }
        (mean.is_finite() && scale.is_finite()).then_some((mean, scale))
    }
}

impl TextSums {
    fn add(&mut self, text: Option<&str>) {
        self.rows += 1;
        let Some(text) = text.filter(|_| !self.too_many) else { return };
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MOST_LEVELS {
            self.counts.insert(text.to_owned(), 1);
        } else {
            self.too_many = true;
            self.counts.clear();
        }
    }
}

/// Mean and standard deviation of a target, by the weights of its rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct TargetSums {
    weight: f64,
    mean: f64,
    square: f64,
}

impl TargetSums {
    /// West's update.
    pub fn add(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        let before = value - self.mean;
        self.mean += before * (weight / self.weight);
        self.square += weight * before * (value - self.mean);
    }

    /// Mean and scale.
    pub fn moments(&self) -> (f64, f64) {
        let scale = (self.square / self.weight).sqrt();
        (self.mean, if scale > 0.0 { scale } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_filled_column() {
        let values = [1e9 + 1.0, f64::NAN, 1e9 + 4.0, 1e9 + 4.0, f64::NAN, 1e9 - 2.0];
        let mut sums = NumberSums::default();
        values.iter().for_each(|&v| sums.add(v));
        let filled = values.map(|v| if v.is_nan() { 1e9 + 3.0 } else { v });
        let mean = 1e9 + filled.iter().map(|v| v - 1e9).sum::<f64>() / 6.0;
        let square = filled.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 6.0;
        let (found, scale) = sums.moments(1e9 + 3.0).unwrap();
        assert!((found - mean).abs() < 1e-6 && (scale / square.sqrt() - 1.0).abs() < 1e-7);
        assert_eq!((sums.rows(), sums.gaps(), sums.is_constant()), (6, 2, false));
    }

    #[test]
    fn identifiers_are_found_in_the_order_of_the_rows() {
        let follows = |values: &[f64]| {
            let mut sums = NumberSums::default();
            values.iter().for_each(|&v| sums.add(v));
            sums.numbers_rows()
        };
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        assert!(follows(&numbers) && follows(&numbers[1..]));
        assert!(!follows(&numbers[..5]) && !follows(&numbers[2..]));
        assert!(!follows(&[&numbers[..], &[5.0]].concat()));
        assert!(!follows(&[&numbers[..], &[f64::NAN]].concat()));
    }

    #[test]
    fn texts_are_counted_until_they_are_too_many() {
        let mut sums = TextSums::default();
        for i in 0..MOST_LEVELS {
            sums.add(Some(&i.to_string()));
        }
        sums.add(Some("0"));
        sums.add(None);
        let all = ColumnSums::Text(sums.clone());
        let (counts, rows) = all.levels().unwrap();
        assert_eq!((counts.len(), rows), (MOST_LEVELS, MOST_LEVELS + 2));
        assert!(counts.contains(&(2, &"0".to_owned())));
        sums.add(Some("one more"));
        let all = ColumnSums::Text(sums);
        assert!(all.has_too_many_levels() && all.levels().is_none());
    }
}
