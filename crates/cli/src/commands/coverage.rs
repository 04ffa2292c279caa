//! The shares of known values that are in their prediction intervals.

use crate::summary::Summary;
use crate::text;
use nystrom::faer::Mat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// For each target, the rows whose value is known and those of them whose value is in its interval.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Covered(Vec<[usize; 2]>);

impl Covered {
    /// The counts of the known values of each target, `actual`, between the lower and upper ends
    /// `ends` of intervals, n × t each; none without intervals.
    pub fn of(ends: Option<[&Mat<f64>; 2]>, actual: &[Option<Vec<f64>>]) -> Covered {
        let Some([lower, upper]) = ends else { return Covered::default() };
        let of_target = |(j, actual): (usize, &Option<Vec<f64>>)| {
            let y = actual.iter().flatten().enumerate().filter(|(_, y)| !y.is_nan());
            let inside = |(i, y): &(usize, &f64)| (lower[(*i, j)]..=upper[(*i, j)]).contains(*y);
            [y.clone().count(), y.filter(inside).count()]
        };
        Covered(actual.iter().enumerate().map(of_target).collect())
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: &Covered) {
        self.0.resize(self.0.len().max(other.0.len()), [0; 2]);
        for (ours, theirs) in self.0.iter_mut().zip(&other.0) {
            ours.iter_mut().zip(theirs).for_each(|(count, more)| *count += more);
        }
    }

    /// Adds the share of each target, for intervals of level `level`.
    pub fn report(&self, level: f64, names: &[String], summary: &mut Summary) {
        let mut shares = BTreeMap::new();
        for (name, &[rows, inside]) in names.iter().zip(&self.0).filter(|(_, of)| of[0] > 0) {
            let share = inside as f64 / rows as f64;
            let [percent, aim] = [share, level].map(|share| text::number(100.0 * share));
            let rows = text::count(rows, "row");
            summary
                .line("intervals", format!("{name}: {percent} % of {rows} inside (aim {aim} %)"));
            shares.insert(name, share);
        }
        summary.value("level", level);
        summary.value("coverage", shares);
    }
}
