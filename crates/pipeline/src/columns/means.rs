//! Categories with many levels as the mean of the target in their level.

use nystrom::faer::MatRef;
use nystrom_data::Categories;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Bounds of the weight of the overall mean.
const PRIOR: (f64, f64) = (1.0, 1000.0);

/// The targets of the rows that columns are fitted to, standardised, n × t, and their weights.
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
/// a is the ratio of the variance within levels to that between them, as an analysis of variance
/// estimates it. A row that was fitted leaves its own target out: S_l − y and n_l − 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelMeans {
    /// n_l and the sums of t targets.
    levels: BTreeMap<String, (f64, Vec<f64>)>,
    /// The same of missing texts.
    missing: (f64, Vec<f64>),
    /// m.
    overall: Vec<f64>,
    /// a.
    prior: f64,
}

impl LevelMeans {
    /// Of a column in these rows.
    pub fn of(text: &Categories, known: Known<'_>, rows: &[usize]) -> LevelMeans {
        let t = known.y.ncols();
        let none = || (0.0, vec![0.0; t]);
        let mut sums = vec![none(); text.levels.len() + 1];
        let (mut all, mut squares) = (none(), 0.0);
        for &row in rows {
            let place = text.codes[row].map_or(text.levels.len(), |code| code as usize);
            let weight = known.weight(row);
            for sum in [&mut sums[place], &mut all] {
                sum.0 += weight;
                (0..t).for_each(|j| sum.1[j] += weight * known.y[(row, j)]);
            }
            squares += weight * (0..t).map(|j| known.y[(row, j)].powi(2)).sum::<f64>();
        }
        let overall: Vec<f64> =
            all.1.iter().map(|sum| sum / all.0.max(f64::MIN_POSITIVE)).collect();
        let prior = prior(&sums, &all, squares);
        let missing = sums.pop().unwrap_or_else(none);
        let levels = text.levels.iter().cloned().zip(sums).filter(|(_, (count, _))| *count > 0.0);
        LevelMeans { levels: levels.collect(), missing, overall, prior }
    }

    /// t.
    pub fn width(&self) -> usize {
        self.overall.len()
    }

    /// Its levels.
    pub fn levels(&self) -> impl Iterator<Item = &String> {
        self.levels.keys()
    }

    /// Whether a level has a mean.
    pub fn knows(&self, level: &str) -> bool {
        self.levels.contains_key(level)
    }

    /// The means of rows, one after another; `own`: the targets of rows that were fitted. Of levels
    /// that were not there it is the overall mean.
    pub fn means(&self, text: &Categories, own: Option<Known<'_>>) -> Vec<f64> {
        let place: HashMap<&str, &(f64, Vec<f64>)> =
            self.levels.iter().map(|(level, sums)| (level.as_str(), sums)).collect();
        let known: Vec<Option<&(f64, Vec<f64>)>> =
            text.levels.iter().map(|level| place.get(level.as_str()).copied()).collect();
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

    /// What no fit would have written.
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

/// The variance within levels over that between them, from sums by level and of all.
fn prior(levels: &[(f64, Vec<f64>)], all: &(f64, Vec<f64>), squares: f64) -> f64 {
    let of = |(count, sums): &(f64, Vec<f64>)| match *count > 0.0 {
        true => sums.iter().map(|sum| sum * sum).sum::<f64>() / count,
        false => 0.0,
    };
    let present = levels.iter().filter(|(count, _)| *count > 0.0).count() as f64;
    let (n, t) = (all.0, all.1.len() as f64);
    let by_level: f64 = levels.iter().map(of).sum();
    let within = (squares - by_level) / (t * (n - present).max(1.0));
    let even = n - levels.iter().map(|(count, _)| count * count).sum::<f64>() / n;
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
}
