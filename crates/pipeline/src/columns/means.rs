//! Target means by level, the features of categories with many levels.

use crate::exact_sum::ExactSum;
use nystrom::faer::{MatRef, RowRef};
use nystrom_data::Categories;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The smallest and the largest weight a of the overall mean.
const PRIOR: (f64, f64) = (1.0, 1000.0);

/// The standardised targets (n × t) and the weights of the rows to which columns are fitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub y: MatRef<'a, f64>,
    pub weights: Option<&'a [f64]>,
}

impl Known<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }
}

/// Means by level, shrunk to the overall mean: (S_l + a·m)/(n_l + a) for the sum S_l of the target
/// over the n_l rows of a level.
///
/// a is the ratio of the variance within levels to the variance between levels, estimated by an
/// analysis of variance. The mean of a fitted row leaves out its own target: S_l − y and n_l − 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelMeans {
    /// n_l and the sums of t targets.
    levels: BTreeMap<String, (f64, Vec<f64>)>,
    /// n_l and the sums of the rows without a text.
    missing: (f64, Vec<f64>),
    /// m of each target.
    overall: Vec<f64>,
    /// The weight a of the overall mean.
    prior: f64,
}

/// The sums of the targets in each level. Sums over parts of the rows, merged in any order, have
/// the bits of one sum over all rows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LevelSums {
    levels: BTreeMap<String, Sum>,
    missing: Sum,
    /// Σ w·y² over all rows and targets.
    squares: ExactSum,
    /// Whether there were more levels than the limit.
    too_many: bool,
}

/// Σ w and Σ w·y of t targets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Sum {
    count: ExactSum,
    of: Vec<ExactSum>,
}

impl Sum {
    fn add(&mut self, weight: f64, y: RowRef<'_, f64>) {
        self.of.resize(y.ncols(), ExactSum::default());
        self.count.add(weight);
        self.of.iter_mut().zip(y.iter()).for_each(|(sum, y)| sum.add_product(weight, *y));
    }

    fn merge(&mut self, later: &Sum) {
        self.of.resize(self.of.len().max(later.of.len()), ExactSum::default());
        self.count.merge(&later.count);
        self.of.iter_mut().zip(&later.of).for_each(|(sum, later)| sum.merge(later));
    }

    fn value(&self, t: usize) -> (f64, Vec<f64>) {
        let sum = |j: usize| self.of.get(j).map_or(0.0, ExactSum::value);
        (self.count.value(), (0..t).map(sum).collect())
    }
}

impl LevelSums {
    /// Adds these rows of a column.
    pub fn add(&mut self, text: &Categories, known: Known<'_>, rows: impl Iterator<Item = usize>) {
        let mut sums = vec![Sum::default(); text.levels.len()];
        for row in rows {
            let (weight, y) = (known.weight(row), known.y.row(row));
            match text.codes[row] {
                Some(code) => sums[code as usize].add(weight, y),
                None => self.missing.add(weight, y),
            }
            y.iter().for_each(|y| self.squares.add_square(weight, *y));
        }
        for (level, sum) in text.levels.iter().zip(&sums).filter(|(_, sum)| !sum.of.is_empty()) {
            self.level(level).merge(sum);
        }
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, later: &LevelSums) {
        later.levels.iter().for_each(|(level, sum)| self.level(level).merge(sum));
        self.missing.merge(&later.missing);
        self.squares.merge(&later.squares);
        self.too_many |= later.too_many;
    }

    /// If there are more levels than `most`, keeps only the levels of `sample`.
    pub fn limit(&mut self, most: usize, sample: &LevelMeans) {
        self.too_many |= self.levels.len() > most;
        if self.too_many {
            self.levels.retain(|level, _| sample.knows(level));
        }
    }

    fn level(&mut self, level: &str) -> &mut Sum {
        self.levels.entry(level.to_owned()).or_default()
    }

    /// The means of t targets.
    pub fn means(&self, t: usize) -> LevelMeans {
        let mut all = self.missing.clone();
        self.levels.values().for_each(|sum| all.merge(sum));
        let (all, missing) = (all.value(t), self.missing.value(t));
        let overall = all.1.iter().map(|sum| sum / all.0.max(f64::MIN_POSITIVE)).collect();
        let levels = self.levels.iter().map(|(level, sum)| (level.clone(), sum.value(t)));
        let levels: BTreeMap<_, _> = levels.filter(|(_, (count, _))| *count > 0.0).collect();
        let prior = prior(levels.values().chain([&missing]), &all, self.squares.value());
        LevelMeans { levels, missing, overall, prior }
    }
}

impl LevelMeans {
    /// The means of a column over these rows.
    pub fn of(text: &Categories, known: Known<'_>, rows: &[usize]) -> LevelMeans {
        let mut sums = LevelSums::default();
        sums.add(text, known, rows.iter().copied());
        sums.means(known.y.ncols())
    }

    /// The total weight of the rows in the means.
    pub fn rows(&self) -> f64 {
        self.missing.0 + self.levels.values().map(|(count, _)| count).sum::<f64>()
    }

    /// The number of targets, t.
    pub fn width(&self) -> usize {
        self.overall.len()
    }

    /// The levels that have a mean.
    pub fn levels(&self) -> impl Iterator<Item = &String> {
        self.levels.keys()
    }

    /// Whether a level has a mean.
    pub fn knows(&self, level: &str) -> bool {
        self.levels.contains_key(level)
    }

    /// The means of the levels of rows, t for each row. `own` are the targets of the rows if they
    /// were fitted; each mean leaves out the row's own target. An unknown level has the overall
    /// mean.
    pub fn means(&self, text: &Categories, own: Option<Known<'_>>) -> Vec<f64> {
        let known: Vec<Option<&(f64, Vec<f64>)>> =
            text.levels.iter().map(|level| self.levels.get(level)).collect();
        let t = self.width();
        let mut out = Vec::with_capacity(t * text.codes.len());
        for (row, code) in text.codes.iter().enumerate() {
            let sums = match code {
                Some(code) => known[*code as usize],
                None => Some(&self.missing),
            };
            let (count, of) = sums.map_or((0.0, &[][..]), |(count, of)| (*count, &of[..]));
            let weight = own.as_ref().map_or(0.0, |own| own.weight(row)).min(count);
            for j in 0..t {
                let own = own.as_ref().map_or(0.0, |own| weight * own.y[(row, j)]);
                let sum = of.get(j).copied().unwrap_or(0.0) - own;
                let total = count - weight + self.prior;
                out.push((sum + self.prior * self.overall[j]) / total);
            }
        }
        out
    }

    /// Whether a fit can have made these means.
    pub fn is_sound(&self) -> bool {
        let t = self.width();
        let sound = |(count, sums): &(f64, Vec<f64>)| {
            count.is_finite()
                && *count >= 0.0
                && sums.len() == t
                && sums.iter().all(|s| s.is_finite())
        };
        t > 0
            && self.overall.iter().all(|mean| mean.is_finite())
            && self.prior.is_finite()
            && self.prior > 0.0
            && sound(&self.missing)
            && self.levels.values().all(sound)
    }
}

/// The ratio a of the variance within levels to the variance between them, from the sums of each
/// level and of all rows.
fn prior<'a>(
    levels: impl Iterator<Item = &'a (f64, Vec<f64>)> + Clone,
    all: &(f64, Vec<f64>),
    squares: f64,
) -> f64 {
    let of = |(count, sums): &(f64, Vec<f64>)| match *count > 0.0 {
        true => sums.iter().map(|sum| sum * sum).sum::<f64>() / count,
        false => 0.0,
    };
    let present = levels.clone().filter(|(count, _)| *count > 0.0).count() as f64;
    let (n, t) = (all.0, all.1.len() as f64);
    let by_level: f64 = levels.clone().map(of).sum();
    let within = (squares - by_level) / (t * (n - present).max(1.0));
    let even = n - levels.map(|(count, _)| count * count).sum::<f64>() / n;
    let between = ((by_level - of(all)) / t - (present - 1.0) * within) / even.max(1.0);
    let ratio = within / between.max(f64::MIN_POSITIVE);
    if ratio.is_finite() { ratio.clamp(PRIOR.0, PRIOR.1) } else { PRIOR.1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::faer::Mat;

    fn text(codes: &[u32]) -> Categories {
        let levels = (0..4).map(|level| format!("l{level}")).collect();
        Categories { levels, codes: codes.iter().map(|code| Some(*code)).collect() }
    }

    /// The mean of a row that was fitted is that of a fit without it, at the same a.
    #[test]
    fn a_row_that_was_fitted_leaves_its_own_target_out() {
        let codes = [0, 0, 0, 1, 1, 2];
        let y = Mat::from_fn(6, 2, |i, j| (i * i) as f64 - 3.0 * j as f64);
        let known = Known { y: y.as_ref(), weights: None };
        let all: Vec<usize> = (0..6).collect();
        let means = LevelMeans::of(&text(&codes), known, &all);
        let own = means.means(&text(&codes), Some(known));
        for row in 0..6 {
            let others: Vec<usize> = all.iter().copied().filter(|other| *other != row).collect();
            let without = LevelMeans {
                overall: means.overall.clone(),
                prior: means.prior,
                ..LevelMeans::of(&text(&codes), known, &others)
            };
            let found = without.means(&text(&codes), None);
            for j in 0..2 {
                assert!((own[2 * row + j] - found[2 * row + j]).abs() < 1e-12, "{row} {j}");
            }
        }
    }

    #[test]
    fn a_level_never_seen_is_the_overall_mean() {
        let y = Mat::from_fn(3, 1, |i, _| i as f64);
        let known = Known { y: y.as_ref(), weights: None };
        let means = LevelMeans::of(&text(&[0, 0, 1]), known, &[0, 1, 2]);
        assert_eq!(means.means(&text(&[3]), None), [1.0]);
        assert_eq!(means.levels().count(), 2);
        assert!(means.is_sound());
    }

    /// Where levels explain everything they are hardly shrunk, where they explain nothing entirely.
    #[test]
    fn shrinkage_follows_what_levels_explain() {
        let codes: Vec<u32> = (0..400).map(|i| i % 4).collect();
        let rows: Vec<usize> = (0..400).collect();
        let prior = |of: &dyn Fn(usize) -> f64| {
            let y = Mat::from_fn(400, 1, |i, _| of(i));
            LevelMeans::of(&text(&codes), Known { y: y.as_ref(), weights: None }, &rows).prior
        };
        assert_eq!(prior(&|i| (i % 4) as f64), PRIOR.0);
        assert!(prior(&|i| ((i / 4) % 2) as f64) > 100.0);
    }

    /// Cut anywhere and merged in any order: the same bits. Beyond the limit the levels of a sample
    /// are kept, whatever came first.
    #[test]
    fn parts_merge_to_the_means_of_all() {
        let codes: Vec<u32> = (0..50).map(|i| i * 7 % 4).collect();
        let y = Mat::from_fn(50, 2, |i, j| ((i * i + 5 * j) % 17) as f64 / 7.0 - 1.0);
        let weights: Vec<f64> = (0..50).map(|i| 0.3 + f64::from(i % 3)).collect();
        let known = Known { y: y.as_ref(), weights: Some(&weights) };
        let part = |rows: std::ops::Range<usize>| {
            let mut sums = LevelSums::default();
            sums.add(&text(&codes), known, rows);
            sums
        };
        let all = part(0..50);
        for cut in 0..50 {
            let (mut left, mut right) = (part(0..cut), part(cut..50));
            let early = left.clone();
            left.merge(&right);
            right.merge(&early);
            assert_eq!((left.means(2), right.means(2)), (all.means(2), all.means(2)), "{cut}");
        }
        let sample = LevelMeans::of(&text(&[2; 50]), known, &[0]);
        let mut few = part(0..50);
        few.limit(4, &sample);
        assert_eq!(few.means(2), all.means(2));
        few.limit(3, &sample);
        few.merge(&part(0..50));
        few.limit(3, &sample);
        assert_eq!(few.means(2).levels().collect::<Vec<_>>(), ["l2"]);
    }
}
