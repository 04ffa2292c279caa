//! Rows of a stream that are copies of others, by those of the reservoir.

use super::{StreamFit, TableSurvey};
use crate::error::Result;
use crate::numbers::Numbered;
use crate::problem::{compared, look, taken};
use crate::repeats;

/// That rows are copied, and how often.
pub(super) struct Copies {
    /// The different rows of the reservoir, by the first of their copies.
    pub first: Vec<usize>,
    /// A lower bound on the number of different rows among all, near it where all are copied
    /// equally often.
    pub different: f64,
}

impl StreamFit {
    /// What the reservoir says of copies among all rows; nothing if it has none.
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
        let Some(groups) = repeats::copies(&numbered, &compared)? else { return Ok(None) };
        let sizes = || groups.iter().map(|same| same.len() as f64);
        let (rows, all) = (sizes().sum::<f64>(), survey.all.used as f64);
        let pairs: f64 = sizes().map(|k| k * (k - 1.0)).sum();
        let times = 1.0 + pairs * (all - 1.0) / (rows * (rows - 1.0));
        let different = (all / times).max(groups.len() as f64);
        Ok(Some(Copies { first: groups.iter().map(|same| same[0]).collect(), different }))
    }
}
