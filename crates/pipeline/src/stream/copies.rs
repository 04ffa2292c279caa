//! Detects copies of rows in the reservoir, and estimates the number of different rows of a stream.

use super::{StreamFit, TableSurvey};
use crate::copied_rows;
use crate::error::Result;
use crate::numbers::Numbered;
use crate::problem::{compared, look, taken};

/// The different rows of a stream that has copies.
pub(super) struct Copies {
    /// The first row of each group of copies in the reservoir.
    pub first: Vec<usize>,
    /// A lower bound on the number of different rows among all rows; it is close if all rows have
    /// the same number of copies.
    pub different: f64,
}

impl StreamFit {
    /// The copies among all rows, estimated from the reservoir; `None` if it has no copies.
    ///
    /// Of N rows, of which row i occurs c_i times, a sample of r holds on average
    /// Σ c_i(c_i − 1)/2 · r(r − 1)/(N(N − 1)) pairs of copies. So their number gives Σ c_i²/N,
    /// which is at least the mean of c_i. And there are at least as many different rows as in the
    /// sample.
    pub(super) fn copies(&self, survey: &TableSurvey) -> Result<Option<Copies>> {
        let (fit, targets, counts) = (&self.fit, &survey.targets, survey.counts());
        let numbered = Numbered::with_task(fit, &survey.table, targets, counts)?.0.table;
        let mut looked = look(fit, &numbered, &taken(fit, targets)?, &survey.all.columns)?;
        let compared = compared(fit, &mut looked, &numbered, targets)?;
        let Some(groups) = copied_rows::copies(&numbered, &compared)? else { return Ok(None) };
        let sizes = || groups.iter().map(|same| same.len() as f64);
        let (rows, all) = (sizes().sum::<f64>(), survey.all.used as f64);
        let pairs: f64 = sizes().map(|k| k * (k - 1.0)).sum();
        let times = 1.0 + pairs * (all - 1.0) / (rows * (rows - 1.0));
        let different = (all / times).max(groups.len() as f64);
        Ok(Some(Copies { first: groups.iter().map(|same| same[0]).collect(), different }))
    }
}
