//! The passes after the first of a fit by sums: normal equations, and leave-one-out errors.

use super::block_fit::BlockFit;
use super::checkpoint::Folder;
use super::input::StreamInput;
use super::sizes::passes;
use crate::args::Lambda;
use crate::failure::Result;
use nystrom::krr::RowSums;
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe, SavedLeaves, StreamReport, Summing};

impl BlockFit<'_> {
    /// On process 0, the model from the sums over all rows.
    pub fn sum(
        &self,
        (recipe, bytes): (&Recipe, &[u8]),
        input: &mut StreamInput,
        folder: Option<&Folder<'_>>,
    ) -> Result<Option<(Model, StreamReport)>> {
        let (session, ranks) = (self.session, self.session.ranks);
        let Some(Lambda::Folds(folds)) = self.args.lambda else {
            if passes(self.args) > 2 {
                recipe.check_leave_one_out()?;
            }
            let begin = |saved: &[SavedLeaves]| recipe.sum_after(ranks, saved);
            let found = self.choose(self.summed(begin, bytes, input, folder)?, input)?;
            return self.logistic(recipe, found, input);
        };
        // a fresh generator: the same folds on every process, and after a checkpoint
        let rng = &mut Pcg64::seed_from_u64(self.args.run.seed);
        let begin = |saved: &[SavedLeaves]| recipe.folds_after(ranks, saved, folds, rng);
        let mut sum = self.summed(begin, bytes, input, folder)?;
        session.stage("choosing λ", None);
        sum.merge_over(ranks)?;
        let found = session.is_first().then(|| sum.by_folds(&self.args.grid()));
        self.logistic(recipe, found.transpose()?, input)
    }

    /// For classes, unless λ is given: on process 0, the better of this model and the model with
    /// logistic loss.
    fn logistic(
        &self,
        recipe: &Recipe,
        found: Option<(Model, StreamReport)>,
        input: &mut StreamInput,
    ) -> Result<Option<(Model, StreamReport)>> {
        let (session, lambdas) = (self.session, self.args.grid());
        if lambdas.len() < 2 || !recipe.tries_logistic() {
            return Ok(found);
        }
        session.stage("logistic loss, one pass for each Newton step", None);
        let mut source = input.later_pass("a pass", session);
        Ok(recipe.logistic_over(session.ranks, &mut source, found, &lambdas)?)
    }

    /// The sums of the second pass, with checkpoints. `begin` makes the sums over no rows, for the
    /// leaves that are not in the checkpoint.
    fn summed<'r, S: RowSums<f64>>(
        &self,
        begin: impl FnOnce(&[SavedLeaves]) -> nystrom_pipeline::Result<Summing<'r, S>>,
        bytes: &[u8],
        input: &mut StreamInput,
        folder: Option<&Folder<'_>>,
    ) -> Result<Summing<'r, S>> {
        let Some(folder) = folder else {
            let mut sum = begin(&[])?;
            self.pass(2, &mut sum, input, &mut |_| Ok(()))?;
            return Ok(sum);
        };
        let saved = folder.sums(bytes)?;
        let mut sum = folder.resume(&saved, bytes, begin(&saved.leaves())?)?;
        if !saved.files.is_empty() {
            let row = sum.row();
            self.session.say(&format!("going on from the checkpoint at row {row}"));
        }
        let mut saver = folder.saver();
        self.pass(2, &mut sum, input, &mut |sum| {
            if saver.is_due() {
                saver.save_sums(sum, bytes, &saved);
            }
            Ok(())
        })?;
        // if a later pass fails or is killed, the next run continues after this one
        if passes(self.args) > 2 || self.args.certify.is_some() {
            saver.save_sums(&sum, bytes, &saved);
        }
        Ok(sum)
    }

    /// Runs a pass, with its progress.
    fn pass<S: RowSums<f64>>(
        &self,
        number: usize,
        sum: &mut Summing<'_, S>,
        input: &mut StreamInput,
        pause: &mut dyn FnMut(&mut Summing<'_, S>) -> nystrom_pipeline::Result<()>,
    ) -> Result<()> {
        let pass = format!("pass {number} of {}", passes(self.args));
        let mut source = input.later_pass(&pass, self.session);
        sum.run(&mut source, pause)?;
        source.watch.end();
        if number == 2 {
            self.session.notes(sum.notes());
        }
        Ok(())
    }

    /// On process 0, the model: λ is chosen from the sums, or by one more pass.
    fn choose(
        &self,
        mut sum: Summing<'_>,
        input: &mut StreamInput,
    ) -> Result<Option<(Model, StreamReport)>> {
        let (session, ranks, lambdas) = (self.session, self.session.ranks, self.args.grid());
        let found = if passes(self.args) > 2 {
            let path = sum.path_over(ranks, &lambdas)?;
            let mut errors = path.errors_over(ranks)?;
            self.pass(3, &mut errors, input, &mut |_| Ok(()))?;
            errors.merge_over(ranks)?;
            session.is_first().then(|| path.by_leave_one_out(errors))
        } else {
            session.stage("choosing λ", None);
            sum.merge_over(ranks)?;
            session.is_first().then(|| sum.finish(&lambdas))
        };
        Ok(found.transpose()?)
    }
}
