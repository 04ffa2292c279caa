//! The rows of the reservoir on which probabilities of classes are calibrated.

use super::Survey;
use super::features::features;
use super::survey::weights;
use crate::columns::Known;
use crate::error::Result;
use crate::fit::Fit;
use crate::model::Model;
use crate::target::indicators;
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::Problem;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Different rows on which probabilities are calibrated, at most.
const MOST: usize = 4000;
/// Of the rows of the reservoir, the share that an iterative fit leaves out is one in this many.
const HELD: usize = 5;
/// The fewest and the most rows that an iterative fit leaves out, if these are at most a quarter.
const HELD_ROWS: (usize, usize) = (50, 1000);
/// Fewer different rows than this say nothing of probabilities.
const FEWEST: usize = 10;
/// A row that more than one in this many rows equals is not left out.
const OFTEN: usize = 100;

/// Different rows of the reservoir with their classes: all, or as many as 4000 at random.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ClassSample {
    dim: usize,
    /// The features of each row as the kernel sees them, row by row.
    x: Vec<f64>,
    labels: Vec<usize>,
    /// What a row and its copies in the reservoir weigh together.
    pub weights: Vec<f64>,
    /// What the row and its copies among all rows weigh together, by those in the reservoir.
    copies: Vec<f64>,
    /// How many rows of the reservoir are equal.
    rows: Vec<usize>,
    /// Of features and class, before the linear map.
    keys: Vec<u64>,
    /// How many rows of the reservoir each class has, and all have.
    of_class: Vec<usize>,
}

impl ClassSample {
    /// Of the reservoir; none of a regression.
    pub fn of(fit: &Fit, survey: &Survey, found: &Model) -> Result<Option<ClassSample>> {
        let (table, Some(classes)) = (&survey.table, &found.classes) else { return Ok(None) };
        let n = table.rows();
        let labels = classes.of(table.column(classes.target.as_str())?)?;
        let own = weights(fit, table, &(0..n).collect::<Vec<_>>())?;
        let own = own.map(|w| w.iter().map(|w| w / survey.mean_weight).collect::<Vec<f64>>());
        let weight = |row: usize| own.as_ref().map_or(1.0, |w| w[row]);
        let y = indicators(classes.names.len(), &found.targets, &labels);
        let known = Known { y: y.as_ref(), weights: own.as_deref() };
        let x = features(&found.columns, table, Some(known))?;
        let mut groups: HashMap<u64, (usize, usize, f64)> = HashMap::new();
        for (row, &class) in labels.iter().enumerate() {
            let group = groups.entry(key(x.row(row).iter(), class)).or_insert((row, 0, 0.0));
            (group.1, group.2) = (group.1 + 1, group.2 + weight(row));
        }
        let mut groups: Vec<(u64, (usize, usize, f64))> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|(key, _)| *key); //        in the order of random numbers
        groups.truncate(MOST);
        let first: Vec<usize> = groups.iter().map(|(_, (row, ..))| *row).collect();
        let chosen = Mat::from_fn(first.len(), x.ncols(), |i, j| x[(first[i], j)]);
        let chosen = found.mapped(chosen);
        // each row of the reservoir stands for this many of all
        let times = (survey.used as f64 - 1.0) / (n as f64 - 1.0).max(1.0);
        let copies = |rows: usize, weight: f64| {
            let each = weight / rows as f64;
            each * (1.0 + (rows as f64 - 1.0) * times)
        };
        let mut of_class = vec![0; classes.names.len()];
        labels.iter().for_each(|&class| of_class[class] += 1);
        Ok(Some(ClassSample {
            dim: chosen.ncols(),
            x: chosen.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect(),
            labels: first.iter().map(|&row| labels[row]).collect(),
            weights: groups.iter().map(|(_, (.., weight))| *weight).collect(),
            copies: groups.iter().map(|(_, (_, rows, weight))| copies(*rows, *weight)).collect(),
            rows: groups.iter().map(|(_, (_, rows, _))| *rows).collect(),
            keys: groups.iter().map(|(key, _)| *key).collect(),
            of_class,
        }))
    }

    /// The class of each row.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Its rows as the kernel sees them.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_rows(MatRef::from_row_major_slice(&self.x, self.labels.len(), self.dim))
    }

    /// Its rows with targets; each weighs what it and its copies among all rows weigh.
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
            if is_rare && held + rows <= goal {
                (held, of_class[class]) = (held + rows, of_class[class] + rows);
                keys.insert(self.keys[i]);
            }
        }
        if keys.len() < FEWEST { HashSet::new() } else { keys }
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

/// A number that rows of equal features and class share, and that is as good as random.
pub(super) fn key<'a>(features: impl Iterator<Item = &'a f64>, class: usize) -> u64 {
    // the finaliser of SplitMix64, Steele, Lea & Flood, OOPSLA 2014
    let mixed = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let next = |hash: u64, bits: u64| mixed(hash.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ bits);
    let bits = features.map(|value| (value + 0.0).to_bits()); //                       −0 is 0
    bits.fold(mixed(class as u64), next)
}
