//! Sums over the cells of a column, which can be merged.

use super::bits::BitSums;
use super::sparse::refuse_sparse;
use super::{ColumnOptions, Marks};
use crate::counts::TextCounts;
use crate::error::Result;
use crate::exact_sum::ExactSum;
use nystrom_data::{Column, Values};
use serde::{Deserialize, Serialize};

/// The largest number of levels that are counted. If there are more, their shares are those of the
/// reservoir.
pub(crate) const MOST_LEVELS: usize = 1 << 16;
/// The smallest number of rows whose numbers 1, 2, 3, … are row numbers.
pub(super) const MANY: usize = 10;

/// The sums over a column.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ColumnSums {
    Numbers(NumberSums),
    Text(TextSums),
    Bits(BitSums),
}

/// Sums over numbers, of which some may be missing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct NumberSums {
    known: u64,
    gaps: u64,
    sum: ExactSum,
    squares: ExactSum,
    least: f64,
    greatest: f64,
    /// The first and the last value, if all are whole numbers and increase.
    run: Option<(f64, f64)>,
}

/// Counts of texts, of which some may be missing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TextSums {
    rows: usize,
    counts: TextCounts<MOST_LEVELS>,
}

impl ColumnSums {
    /// The sums over no rows, for columns of the kind of this one.
    pub fn like(column: &Column, options: &ColumnOptions) -> Self {
        match column.values {
            _ if options.fingerprint.as_ref() == Some(&column.name) => {
                ColumnSums::Bits(BitSums::default())
            }
            Values::Numbers(_) => ColumnSums::Numbers(NumberSums::default()),
            Values::Categories(_) | Values::Sparse(_) => ColumnSums::Text(TextSums::default()),
        }
    }

    /// Adds some rows of a block; `place` is the place of a row in words.
    ///
    /// # Errors
    /// Those of [`BitSums::add`] for fingerprints.
    pub fn add(
        &mut self,
        column: &Column,
        options: &ColumnOptions,
        rows: &[usize],
        place: &dyn Fn(usize) -> String,
    ) -> Result<()> {
        match (self, &column.values) {
            (ColumnSums::Bits(sums), _) => {
                return sums.add(column, &Marks::of(options), rows, place);
            }
            (ColumnSums::Numbers(sums), Values::Numbers(values)) => {
                rows.iter().for_each(|&row| sums.add(values[row]));
            }
            (ColumnSums::Text(sums), Values::Categories(_)) => {
                sums.rows += rows.len();
                sums.counts.add(&column.values, rows);
            }
            (_, values @ Values::Sparse(_)) => return refuse_sparse(&column.name, values),
            // a source does not change the kind of a column
            _ => {}
        }
        Ok(())
    }

    /// Adds the sums over the rows after these.
    pub fn merge(&mut self, later: Self) {
        match (self, later) {
            (ColumnSums::Numbers(sums), ColumnSums::Numbers(later)) => sums.merge(&later),
            (ColumnSums::Text(sums), ColumnSums::Text(later)) => {
                sums.rows += later.rows;
                sums.counts.merge(later.counts);
            }
            (ColumnSums::Bits(sums), ColumnSums::Bits(later)) => sums.merge(later),
            _ => {}
        }
    }

    pub fn numbers(&self) -> Option<&NumberSums> {
        match self {
            ColumnSums::Numbers(sums) => Some(sums),
            ColumnSums::Text(_) | ColumnSums::Bits(_) => None,
        }
    }

    pub fn bits(&self) -> Option<&BitSums> {
        match self {
            ColumnSums::Bits(sums) => Some(sums),
            _ => None,
        }
    }

    /// The number of rows of each level, and of all rows; `None` if there are too many levels.
    pub fn levels(&self) -> Option<(Vec<(usize, &str)>, usize)> {
        let ColumnSums::Text(TextSums { rows, counts }) = self else { return None };
        let levels = counts.all()?.into_iter().map(|(level, count)| (count as usize, level));
        Some((levels.collect(), *rows))
    }

    pub fn has_too_many_levels(&self) -> bool {
        matches!(self, ColumnSums::Text(sums) if sums.counts.all().is_none())
    }
}

impl NumberSums {
    pub(super) fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.gaps += 1;
            self.run = None;
            return;
        }
        let first = self.known == 0;
        self.run = match self.run {
            _ if value.fract() != 0.0 => None,
            Some((start, last)) if value > last => Some((start, value)),
            None if first && self.gaps == 0 => Some((value, value)),
            _ => None,
        };
        self.least = if first { value } else { self.least.min(value) };
        self.greatest = if first { value } else { self.greatest.max(value) };
        self.known += 1;
        self.sum.add(value);
        self.squares.add_product(value, value);
    }

    fn merge(&mut self, later: &NumberSums) {
        if later.rows() == 0 {
            return;
        }
        if self.rows() == 0 {
            self.clone_from(later);
            return;
        }
        self.run = match (self.run, later.run) {
            (Some((start, last)), Some((next, end))) if next > last => Some((start, end)),
            _ => None,
        };
        if later.known > 0 {
            let first = self.known == 0;
            self.least = if first { later.least } else { self.least.min(later.least) };
            self.greatest = if first { later.greatest } else { self.greatest.max(later.greatest) };
        }
        self.known += later.known;
        self.gaps += later.gaps;
        self.sum.merge(&later.sum);
        self.squares.merge(&later.squares);
    }

    pub fn rows(&self) -> usize {
        (self.known + self.gaps) as usize
    }

    pub fn gaps(&self) -> usize {
        self.gaps as usize
    }

    /// Whether all values that are not missing are equal.
    pub fn is_constant(&self) -> bool {
        self.least == self.greatest
    }

    /// The largest absolute value.
    pub fn largest(&self) -> f64 {
        self.greatest.abs().max(self.least.abs())
    }

    /// The smallest value.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// Whether the values number the rows: 0, 1, 2, … or 1, 2, 3, … in their order. Up to half of
    /// the numbers may be absent.
    pub fn numbers_rows(&self) -> bool {
        let known = self.known as f64;
        let dense = |(start, last): (f64, f64)| {
            (0.0..MANY as f64).contains(&start) && last - start < 2.0 * known
        };
        self.run.is_some_and(dense) && self.known >= MANY as u64
    }

    /// The mean and standard deviation, where `fill` replaces missing values; equal values have
    /// deviation 1. `None` if they are not finite.
    pub fn moments(&self, fill: f64) -> Option<(f64, f64)> {
        let (known, gaps) = (self.known as f64, self.gaps as f64);
        let n = known + gaps;
        // without rounding where all are the same
        let of_known = if self.is_constant() { self.least } else { self.sum.value() / known };
        let mut weight = ExactSum::default();
        weight.add(known);
        let square = self.squares.squares_about(of_known, &self.sum, &weight);
        let mean = of_known + (fill - of_known) * (gaps / n);
        // two groups, about their common mean
        let between = (fill - of_known).powi(2) * (known / n) * (gaps / n);
        let scale = (square / n + between).sqrt();
        if scale == 0.0 {
            return mean.is_finite().then_some((mean, 1.0));
        }
        (mean.is_finite() && scale.is_finite()).then_some((mean, scale))
    }
}

/// The sums that determine the weighted mean and standard deviation of a target.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TargetSums {
    weight: ExactSum,
    sum: ExactSum,
    squares: ExactSum,
}

impl TargetSums {
    pub fn add(&mut self, value: f64, weight: f64) {
        self.weight.add(weight);
        self.sum.add_product(weight, value);
        self.squares.add_square(weight, value);
    }

    pub fn merge(&mut self, later: &TargetSums) {
        self.weight.merge(&later.weight);
        self.sum.merge(&later.sum);
        self.squares.merge(&later.squares);
    }

    /// The mean and the standard deviation, 1 if it is 0.
    pub fn moments(&self) -> (f64, f64) {
        let weight = self.weight.value();
        let mean = self.sum.value() / weight;
        let square = self.squares.squares_about(mean, &self.sum, &self.weight);
        let scale = (square / weight).sqrt();
        (mean, if scale > 0.0 { scale } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_data::Categories;

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
        assert!(!follows(&numbers[..5]));
        // half of them may have been taken away
        let every = |step: usize| numbers.iter().map(|v| v * step as f64).collect::<Vec<f64>>();
        assert!(follows(&numbers[2..]) && follows(&every(2)) && !follows(&every(3)));
        assert!(!follows(&numbers.iter().map(|v| v + 10.0).collect::<Vec<f64>>()));
        assert!(!follows(&[&numbers[..], &[5.0]].concat()));
        assert!(!follows(&[&numbers[..], &[f64::NAN]].concat()));
    }

    /// Cut anywhere, in three parts that are merged from the right: what one pass finds.
    #[test]
    fn parts_merge_to_the_sums_of_all() {
        let numbers = |i: usize| if i == 7 { f64::NAN } else { (i as f64 - 3.0) / 7.0 };
        let counting = |i: usize| i as f64;
        let sums = |rows: std::ops::Range<usize>, of: &dyn Fn(usize) -> f64| {
            let mut sums = NumberSums::default();
            rows.for_each(|i| sums.add(of(i)));
            sums
        };
        let found = |sums: &NumberSums| {
            let moments = sums.moments(0.3).map(|(mean, scale)| (mean.to_bits(), scale.to_bits()));
            (moments, sums.numbers_rows(), sums.rows(), sums.gaps(), sums.largest())
        };
        for of in [&numbers as &dyn Fn(usize) -> f64, &counting] {
            let all = found(&sums(0..20, of));
            for (a, b) in (0..=20).flat_map(|a| (a..=20).map(move |b| (a, b))) {
                let [mut left, mut middle, right] = [0..a, a..b, b..20].map(|rows| sums(rows, of));
                middle.merge(&right);
                left.merge(&middle);
                assert_eq!(found(&left), all, "cut at {a} and {b}");
            }
        }
        let many = || counted((0..MOST_LEVELS).map(|i| Some(i.to_string())));
        let (mut twice, mut more) = (many(), many());
        twice.merge(many());
        assert!(twice.levels().unwrap().0.contains(&(2, "7")));
        more.merge(counted([Some("one more".to_owned())].into_iter()));
        assert!(more.has_too_many_levels());
    }

    fn counted(texts: impl Iterator<Item = Option<String>>) -> ColumnSums {
        let mut sums = ColumnSums::Text(TextSums::default());
        let (mut levels, mut known) = (Vec::new(), std::collections::HashMap::new());
        let mut code = |text: String| {
            *known.entry(text.clone()).or_insert_with(|| {
                levels.push(text);
                levels.len() as u32 - 1
            })
        };
        let codes: Vec<Option<u32>> = texts.map(|text| text.map(&mut code)).collect();
        let rows: Vec<usize> = (0..codes.len()).collect();
        let values = Values::Categories(Categories { levels, codes });
        let column = Column { name: "t".to_owned(), values };
        let place = |row: usize| row.to_string();
        sums.add(&column, &ColumnOptions::default(), &rows, &place).unwrap();
        sums
    }

    #[test]
    fn texts_are_counted_until_they_are_too_many() {
        let texts = (0..MOST_LEVELS).map(|i| Some(i.to_string()));
        let mut all = counted(texts.chain([Some("0".to_owned()), None]));
        let (counts, rows) = all.levels().unwrap();
        assert_eq!((counts.len(), rows), (MOST_LEVELS, MOST_LEVELS + 2));
        assert!(counts.contains(&(2, "0")));
        all.merge(counted([Some("one more".to_owned())].into_iter()));
        assert!(all.has_too_many_levels() && all.levels().is_none());
    }
}
