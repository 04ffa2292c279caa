//! Fits to tables that are larger than memory, and leverage scores of their rows.
//!
//! A table is read block by block, in passes over all its rows. `source` says how blocks are read,
//! `survey` counts all rows in the first pass and keeps a sample of them in a `reservoir`. For a
//! fit, `recipe` holds all that the later passes need: columns, kernel and centres. A pass prepares
//! blocks (`prepared_block`) and adds them up (`summing`) along a tree whose leaves can be divided
//! among `processes` and saved (`checkpoint`). `choose_lambda`, `iterating` and `logistic` make
//! models of such sums. For leverage scores, `points` has the place of `recipe`; `dictionary`
//! and `drawing` use it, as `greedy` does for diverse rows. `embedding` makes
//! coordinates, clusters and a two-sample test of sums of kernel values with landmarks
//! (`span_sums`).

mod calibrating;
mod checkpoint;
mod choose_lambda;
mod class_sample;
mod copies;
mod dictionary;
mod drawing;
mod embedding;
mod features;
mod first_pass;
mod given_kernel;
mod greedy;
mod iterating;
mod level_means;
mod logistic;
mod points;
mod prepared_block;
mod processes;
mod readings;
mod recipe;
mod reservoir;
mod saved_leaves;
mod sections;
mod source;
mod span_sums;
mod summing;
mod used_rows;

pub use checkpoint::{iterations_from_bytes, iterations_to_bytes};
pub use choose_lambda::{StreamPath, StreamReport};
pub use dictionary::WeightedRows;
pub use drawing::{DrawnRow, DrawnRows};
pub use embedding::of_row;
pub use first_pass::TableSurvey;
pub use greedy::GreedyRows;
pub use points::{PointRecipe, PointRows, StreamPoints};
pub use processes::{Alone, Ranks};
pub use readings::Readings;
pub use recipe::Recipe;
pub use saved_leaves::SavedLeaves;
pub use source::{TableBlocks, TableSource};
pub use span_sums::LandmarkSpan;
pub use summing::Summing;

use crate::classes::ClassWeights;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::loss::TargetLoss;
use crate::problem::TableProblem;
use crate::progress::Progress;
use crate::search::{Fitted, Search};
use crate::target::TargetScale;
use nystrom::prelude::*;

/// Finds the best fit for a table that is larger than memory, in two passes over blocks of its
/// rows:
///
/// 1. [`survey`](Self::survey): the first pass counts rows, levels of categories and missing
///    values, and computes means and standard deviations. It keeps a uniform sample of the rows,
///    the reservoir;
/// 2. [`search`](Self::search) finds the best fit for the reservoir, like [`Fit`], with features
///    that the statistics of all rows determine;
/// 3. [`level_means_over`](Self::level_means_over): if the search chose target means by level, one
///    more pass computes these means over all rows;
/// 4. [`recipe`](Self::recipe) draws landmarks from the reservoir;
/// 5. [`Recipe::sum`]: the second pass sums the normal equations over all rows;
/// 6. [`Summing::finish`] chooses λ by generalised cross-validation, from the same sums.
///
/// Alternatives to step 6: [`StreamPath`] chooses λ by leave-one-out errors from a third pass. With
/// [`Recipe::folds_after`] instead of step 5, [`Summing::by_folds`] chooses λ by cross-validation
/// without another pass. Instead of step 4, [`recipe_in_span`](Self::recipe_in_span) fits in the
/// span of a sketch of the reservoir, such as an accumulation. Instead of steps 5 and 6,
/// [`Recipe::iterate_over`] fits at one λ, with one pass for each iteration; after
/// [`recipe_of_all`](Self::recipe_of_all), every row is a centre. [`Recipe::certify_over`] bounds
/// the distance of the model to exact regression.
///
/// The classes are those of all rows. The fit minimises squared errors, whose normal equations are
/// sums over rows; then [`Recipe::logistic_over`] tries the logistic loss, with one pass for each
/// Newton step. Probabilities are calibrated on rows of the reservoir, each predicted by the fit
/// without this row and its copies. An iterative fit leaves some rows out for this purpose.
///
/// Copies of rows are detected in the reservoir. If there are copies, generalised cross-validation
/// counts only different rows, folds keep copies together, centres are different rows, no category
/// becomes target means, and leave-one-out errors are refused.
///
/// Three properties of columns are computed from the reservoir: medians (which replace missing
/// values), the curves of columns (logarithms or ranks) with their moments, and the levels of a
/// category that has more than 65,536 levels. All other properties are computed from all rows.
///
/// The model depends on the rows and their order, on the seed and on the options. It does not
/// depend on blocks, files, threads, or the number of processes that share the passes
/// ([`survey_over`](Self::survey_over), [`Recipe::sum_after`], [`Summing::merge_over`]).
///
/// # Cost
/// Reading twice; n·m kernel values and 2nm² flops in the second pass. Memory: that of the search
/// on the reservoir, then 4m² numbers of 8 bytes and two blocks; 8m² more at the end.
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
/// let survey = stream.survey(&mut blocks, ["y"], rng)?;
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
    /// Columns, weights, task, and the limits of the search. Calibration, standard deviations,
    /// class weights, and a split by group or time are refused.
    pub fit: Fit,
    /// The number of rows in the sample that the search uses.
    pub reservoir: usize,
    /// The number of centres of the final fit, at most the number of rows in the reservoir.
    pub landmarks: usize,
}

impl StreamFit {
    /// Refuses options that need all rows at once, before any row is read.
    ///
    /// # Errors
    /// [`Error::Option`] for the first such option.
    pub fn check(&self) -> Result<()> {
        let memory = "needs the table in memory; drop the option, or fit in memory";
        let counts = "needs class counts before the pass; drop the option, or fit in memory";
        let reservoir = "needs at least 3 rows; 10,000 or more are usual";
        let Fit { calibrate, deviations, class_weights, split, target_scale, loss, .. } = &self.fit;
        let scaled = target_scale.is_some_and(|scale| scale != TargetScale::Plain);
        let refused = [
            (calibrate.is_some() || *deviations, "calibrate or std", memory),
            (*class_weights != ClassWeights::Equal, "class-weights", counts),
            (split.column().is_some(), "group or time-column", memory),
            (scaled, "target-scale", memory),
            (*loss != TargetLoss::Squares, "loss", memory),
            (self.reservoir < crate::problem::FEWEST, "reservoir", reservoir),
            (self.landmarks == 0, "landmarks", "must be at least 1"),
        ];
        match refused.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, option, problem)) => Err(Error::Option { option, problem: problem.into() }),
            None => Ok(()),
        }
    }

    /// The best fit for the reservoir: kernel, metric and treatment of the columns. The returned
    /// model can predict by itself.
    ///
    /// # Errors
    /// Those of [`Fit::table`].
    ///
    /// # Randomness
    /// That of [`Fit::table`].
    pub fn search(
        &self,
        survey: &TableSurvey,
        progress: &mut dyn Progress,
        rng: &mut dyn Rng,
    ) -> Result<Fitted> {
        let work = self.fit.checked_work()?;
        let problem = problem(&self.fit, survey, rng)?;
        Search::new(&self.fit, problem, work, progress, rng)?.with_landmarks_only().run()
    }
}

/// The rows of the reservoir as a problem, with what is known of all rows.
fn problem(fit: &Fit, survey: &TableSurvey, rng: &mut dyn Rng) -> Result<TableProblem> {
    let known = (survey.counts(), &survey.all.columns);
    TableProblem::new(fit, &survey.table, &survey.targets, known, rng)
}
