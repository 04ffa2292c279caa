//! The rows of the reservoir on which probabilities of classes are calibrated.

use super::TableSurvey;
use super::features::features;
use super::first_pass::place;
use crate::columns::Known;
use crate::copied_rows::mixed;
use crate::error::Result;
use crate::examples::gather;
use crate::fit::Fit;
use crate::model::Model;
use crate::numbers::weights_of;
use crate::target::indicators;
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::Problem;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The largest number of different rows on which probabilities are calibrated.
const MOST: usize = 4000;
/// An iterative fit leaves out one in this many rows of the reservoir.
const HELD: usize = 5;
/// The fewest and the most rows that an iterative fit leaves out, if these are at most a quarter.
const HELD_ROWS: (usize, usize) = (50, 1000);
/// Fewer different rows than this are too few to calibrate probabilities.
const FEWEST: usize = 10;
/// More rows than a reservoir has: counts below it do not overflow.
const MOST_COUNTED: usize = 1 << 30;
/// A row that more than one in this many rows equals is not left out.
const OFTEN: usize = 100;
/// No row is left out if more than one row in this many equals another by chance: only rare rows
/// would be left out.
const BY_CHANCE: usize = 10;

/// Rows of the reservoir with their classes: all, or as many as 4000 at random. Copies are taken
/// together; rows that are equal by chance are not.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ClassSample {
    dim: usize,
    /// The mapped features of each row, row by row.
    x: Vec<f64>,
    /// The class of each row.
    pub labels: Vec<usize>,
    /// The total weight of a row and its copies in the reservoir.
    pub weights: Vec<f64>,
    /// The total weight of a row and its copies among all rows, estimated from the reservoir.
    copies: Vec<f64>,
    /// The number of equal rows in the reservoir.
    rows: Vec<usize>,
    /// The key of the features, before the linear map, and the class.
    keys: Vec<u64>,
    /// Whether too many rows equal others by chance, so that none is left out.
    by_chance: bool,
    /// The number of rows of each class in the reservoir.
    of_class: Vec<usize>,
}

impl ClassSample {
    /// The sample of the reservoir; `None` for a regression. `copied`: rows are copies of others.
    pub fn of(
        fit: &Fit,
        survey: &TableSurvey,
        found: &Model,
        copied: bool,
    ) -> Result<Option<ClassSample>> {
        let (table, Some(classes)) = (&survey.table, &found.classes) else { return Ok(None) };
        let n = table.rows();
        let labels = classes.of(table.column(classes.target.as_str())?)?;
        let weighed = weights_of(fit, table, &(0..n).collect::<Vec<_>>(), place)?;
        let weighed =
            weighed.map(|w| w.iter().map(|w| w / survey.mean_weight).collect::<Vec<f64>>());
        let weight = |row: usize| weighed.as_ref().map_or(1.0, |w| w[row]);
        let y = indicators(classes.names.len(), &found.targets, &labels);
        let known = Known { y: y.as_ref(), weights: weighed.as_deref() };
        let x = features(&found.columns, table, Some(known))?.x;
        let keys: Vec<u64> = (0..n).map(|row| key(x.row(row).iter(), labels[row])).collect();
        let mut equal: HashMap<u64, (usize, usize, f64)> = HashMap::new();
        for (row, &key) in keys.iter().enumerate() {
            let group = equal.entry(key).or_insert((row, 0, 0.0));
            (group.1, group.2) = (group.1 + 1, group.2 + weight(row));
        }
        let repeated: usize = equal.values().map(|(_, rows, _)| *rows).filter(|k| *k > 1).sum();
        // in the order of random numbers
        let mut first: Vec<usize> = (0..n).collect();
        if copied {
            first.retain(|row| equal[&keys[*row]].0 == *row);
            first.sort_unstable_by_key(|row| keys[*row]);
        } else {
            first.sort_unstable_by_key(|row| mixed(keys[*row] ^ *row as u64));
        }
        first.truncate(MOST);
        let rows = |row: &usize| equal[&keys[*row]].1;
        let own = |row: &usize| if copied { equal[&keys[*row]].2 } else { weight(*row) };
        let chosen = found.mapped(gather(x.as_ref(), &first));
        // each row of the reservoir stands for this many of all
        let times = (survey.all.used as f64 - 1.0) / (n as f64 - 1.0).max(1.0);
        let copies = |row: &usize| match (copied, rows(row) as f64) {
            (true, rows) => own(row) / rows * (1.0 + (rows - 1.0) * times),
            (false, _) => own(row),
        };
        let mut of_class = vec![0; classes.names.len()];
        labels.iter().for_each(|&class| of_class[class] += 1);
        Ok(Some(ClassSample {
            dim: chosen.ncols(),
            x: chosen.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect(),
            labels: first.iter().map(|&row| labels[row]).collect(),
            weights: first.iter().map(own).collect(),
            copies: first.iter().map(copies).collect(),
            rows: first.iter().map(rows).collect(),
            keys: first.iter().map(|row| keys[*row]).collect(),
            by_chance: !copied && BY_CHANCE * repeated > n,
            of_class,
        }))
    }

    /// Whether this can be a sample of rows with d features and this many classes.
    pub fn is_sound(&self, d: usize, classes: usize) -> bool {
        let n = self.labels.len();
        let lists = [self.weights.len(), self.copies.len(), self.rows.len(), self.keys.len()];
        let numbers = self.x.iter().chain(&self.weights).chain(&self.copies);
        self.dim == d
            && self.x.len() == n * d
            && lists == [n; 4]
            && self.labels.iter().all(|class| *class < classes)
            && self.of_class.len() == classes
            && self.of_class.iter().chain(&self.rows).all(|rows| *rows <= MOST_COUNTED)
            && numbers.clone().all(|number| number.is_finite())
            && self.weights.iter().chain(&self.copies).all(|weight| *weight >= 0.0)
    }

    /// The mapped features of the rows.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_rows(MatRef::from_row_major_slice(&self.x, self.labels.len(), self.dim))
    }

    /// The rows with targets, weighted like their copies among all rows together.
    pub fn problem<'a>(&'a self, y: &'a Mat<f64>) -> Problem<'a, f64> {
        Problem::new(self.points(), y.as_ref()).weighted(&self.copies)
    }

    /// The keys of the rows that an iterative fit leaves out.
    pub fn to_hold(&self) -> HashSet<u64> {
        let n: usize = self.of_class.iter().sum();
        let goal = (n / HELD).clamp(HELD_ROWS.0, HELD_ROWS.1).min(n / 4);
        let (mut held, mut of_class) = (0, vec![0; self.of_class.len()]);
        let mut keys = HashSet::new();
        for (i, &class) in self.labels.iter().enumerate() {
            let (rows, of_all) = (self.rows[i], self.of_class[class]);
            let is_rare = rows <= (n / OFTEN).max(1) && 2 * (of_class[class] + rows) <= of_all;
            let is_new = !keys.contains(&self.keys[i]);
            if is_rare && is_new && held + rows <= goal {
                (held, of_class[class]) = (held + rows, of_class[class] + rows);
                keys.insert(self.keys[i]);
            }
        }
        if self.by_chance || keys.len() < FEWEST { HashSet::new() } else { keys }
    }

    /// The rows with these keys, or all if there are none.
    pub fn held_out(&self, held: &HashSet<u64>) -> ClassSample {
        let is_held = |i: &usize| held.is_empty() || held.contains(&self.keys[*i]);
        let rows: Vec<usize> = (0..self.labels.len()).filter(is_held).collect();
        let row = |i: usize| self.x[i * self.dim..(i + 1) * self.dim].iter().copied();
        ClassSample {
            dim: self.dim,
            x: rows.iter().flat_map(|&i| row(i)).collect(),
            labels: rows.iter().map(|&i| self.labels[i]).collect(),
            weights: rows.iter().map(|&i| self.weights[i]).collect(),
            ..ClassSample::default()
        }
    }
}

/// A pseudo-random number that rows with equal features and class share.
pub(super) fn key<'a>(features: impl Iterator<Item = &'a f64>, class: usize) -> u64 {
    let next = |hash: u64, bits: u64| mixed(hash ^ bits);
    let bits = features.map(|value| (value + 0.0).to_bits()); //                       −0 is 0
    bits.fold(mixed(class as u64), next)
}
