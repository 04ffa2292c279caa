//! Fits to tables that do not fit in memory.

mod bytes;
mod calibrating;
mod certifying;
mod choosing;
mod class_sample;
mod copies;
mod dictionary;
mod drawing;
mod features;
mod given;
mod iterating;
mod leaves;
mod level_means;
mod logistic;
mod places;
mod points;
mod ranks;
mod readings;
mod ready;
mod recipe;
mod reservoir;
mod saved;
mod scoring;
mod source;
mod summing;
mod survey;

pub use choosing::{StreamPath, StreamReport};
pub use dictionary::WeightedRows;
pub use drawing::{DrawnRow, DrawnRows};
pub use leaves::SavedLeaves;
pub use points::{PointRecipe, PointRows, StreamPoints};
pub use ranks::{Alone, Ranks};
pub use readings::Readings;
pub use recipe::Recipe;
pub use saved::{iterations_from_bytes, iterations_to_bytes};
pub use source::{TableBlocks, TableSource};
pub use summing::Summing;
pub use survey::Survey;

use crate::classes::ClassWeights;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::search::{Fitted, Search};
use nystrom::prelude::*;

/// Finds the best fit for rows beyond memory, in two passes over blocks of them:
///
/// 1. [`survey`](Self::survey): one pass counts rows, levels of texts and missing values, and adds
///    up means and standard deviations. It keeps a uniform sample of rows, the reservoir;
/// 2. [`search`](Self::search): the best fit for the reservoir, as [`Fit`] finds it, with the
///    columns treated as all rows ask for;
/// 3. [`level_means_over`](Self::level_means_over), where the search chose means of the target by
///    level: one more pass, which sums them over all rows;
/// 4. [`recipe`](Self::recipe): landmarks, drawn from the reservoir;
/// 5. [`Recipe::sum`]: a second pass adds up the normal equations of all rows;
/// 6. [`Summing::finish`]: λ by generalised cross-validation, from the same sums. Or by
///    leave-one-out errors from a third pass ([`StreamPath`]). Or, with [`Recipe::folds_after`] in
///    the place of 5, by folds in the same pass ([`Summing::by_folds`]).
///
/// In the place of 4, [`recipe_in_span`](Self::recipe_in_span) fits in the span of a sketch of the
/// reservoir, such as an accumulation. In the place of 5 and 6, [`Recipe::iterate_over`] fits at
/// one λ, with a pass for each iteration. After [`recipe_of_all`](Self::recipe_of_all) every row is
/// a centre. [`Recipe::certify_over`] says how far the model is from exact regression.
///
/// Classes are those of all rows. The loss is that of squares, as sums over rows are; then
/// [`Recipe::logistic_over`] tries the logistic loss, with a pass for each Newton step.
/// Probabilities are calibrated to the last fit on rows of the reservoir, each with the value of
/// the fit that leaves it and its copies out; an iterative fit leaves some rows out for that.
///
/// Copies of rows are found in the reservoir. If there are any, generalised cross-validation counts
/// different rows, folds keep copies together, centres are different rows, and no text becomes
/// means of the target. Leave-one-out errors are refused.
///
/// Three things about columns are those of the reservoir. They are medians (which stand for missing
/// values), the curves of skewed columns with their moments, and levels where a text has more than
/// 65,536. All else is of all rows.
///
/// The model depends on the rows and their order, on the seed and the options. It does not depend
/// on blocks, files or threads, nor on how many processes shared the passes
/// ([`survey_over`](Self::survey_over), [`Recipe::sum_after`], [`Summing::merge_over`]).
///
/// # Cost
/// Reading, and n·m kernel values and 2nm² flops of the second pass. Memory: that of the search on
/// the reservoir, then 4m² numbers of 8 bytes and a block; 8m² more at the end.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Effort, Fit, StreamFit, TableBlocks};
/// let a: Vec<f64> = (0..3000).map(|i| f64::from(i * 7 % 3000) / 500.0).collect();
/// let y: Vec<f64> = a.iter().map(|a| a.sin()).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap();
/// let mut blocks = TableBlocks::new(&table, 500);
/// let fit = Fit { work: Some(1e8), ..Fit::default() };
/// let stream = StreamFit { fit, reservoir: 300, landmarks: 40 };
/// let rng = &mut Pcg64::seed_from_u64(0);
/// let survey = stream.survey(&mut blocks, ["y"], &mut |_| {}, rng)?;
/// let found = stream.search(&survey, &mut (), rng)?;
/// let recipe = stream.recipe(&survey, found.model, rng)?;
/// let mut sum = recipe.sum()?;
/// sum.run(&mut blocks, &mut |_| Ok(()))?;
/// let (model, report) = sum.finish(&[1e-2, 1e-4, 1e-6, 1e-8])?;
/// assert_eq!(report.rows, 3000);
/// let new = Table::new("new", vec![Column::numbers("a", vec![1.05])]).unwrap();
/// assert!((model.predict(&new)?.values[(0, 0)] - 1.05_f64.sin()).abs() < 1e-3);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct StreamFit {
    /// Columns, weights, task, and the effort of the search. Rows cannot be set aside for
    /// intervals, groups or times.
    pub fit: Fit,
    /// Rows of the sample on which the search works.
    pub reservoir: usize,
    /// Centres of the last fit, or as many as the reservoir has rows.
    pub landmarks: usize,
}

impl StreamFit {
    /// Refuses what needs all rows at once, before any is read.
    ///
    /// # Errors
    /// [`Error::Option`] with what helps.
    pub fn check(&self) -> Result<()> {
        let refuse = |option, problem: &str| Err(Error::Option { option, problem: problem.into() });
        if self.fit.calibrate.is_some() || self.fit.deviations {
            return refuse(
                "calibrate",
                "needs the table in memory; drop the option, or fit in memory",
            );
        }
        if self.fit.class_weights != ClassWeights::Equal {
            let problem = "needs class counts before the pass; drop the option, or fit in memory";
            return refuse("class-weights", problem);
        }
        if self.fit.split.column().is_some() {
            let problem = "needs the table in memory; drop the option, or fit in memory";
            return refuse("group or time-column", problem);
        }
        if self.reservoir < crate::problem::FEWEST {
            return refuse("reservoir", "needs at least 3 rows; 10,000 or more are usual");
        }
        if self.landmarks == 0 {
            return refuse("landmarks", "must be at least 1");
        }
        Ok(())
    }

    /// The best fit for the reservoir: kernel, metric, treatment of the columns. Its model predicts
    /// on its own.
    ///
    /// # Errors
    /// As [`Fit::table`].
    ///
    /// # Randomness
    /// As [`Fit::table`].
    pub fn search(
        &self,
        survey: &Survey,
        progress: &mut dyn Progress,
        rng: &mut dyn Rng,
    ) -> Result<Fitted> {
        let work = self.fit.checked_work()?;
        let problem = problem(&self.fit, survey, rng)?;
        Search::new(&self.fit, problem, work, progress, rng)?.with_landmarks_only().run()
    }
}

/// The rows of the reservoir as a problem, with what is known of all rows.
fn problem(fit: &Fit, survey: &Survey, rng: &mut dyn Rng) -> Result<Problem> {
    let known = (survey.counts(), &survey.sums);
    Problem::new(fit, &survey.table, &survey.targets, known, rng)
}
