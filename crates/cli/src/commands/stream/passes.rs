//! The passes after the first of a fit by sums: normal equations, and leave-one-out errors.

use super::checkpoint::{Folder, SavedSums};
use super::input::StreamInput;
use super::job::{Job, lambdas};
use super::sizes::passes;
use crate::args::Lambda;
use crate::failure::{Result, of_pipeline};
use nystrom::krr::RowSums;
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe, SavedLeaves, StreamReport, Summing};
use std::time::{Duration, Instant};

/// The default time between checkpoints, in seconds.
const EVERY: f64 = 60.0;

impl Job<'_> {
    /// Time between checkpoints.
    pub fn every(&self) -> Duration {
        Duration::from_secs_f64(self.args.stream.checkpoint_every.unwrap_or(EVERY))
    }

    /// On process 0, the model from the sums over all rows.
    pub fn sum(
        &self,
        (recipe, bytes): (&Recipe, &[u8]),
        input: &mut StreamInput,
        folder: Option<&Folder>,
    ) -> Result<Option<(Model, StreamReport)>> {
        let ranks = self.ranks;
        let Some(Lambda::Folds(folds)) = self.args.lambda else {
            if passes(self.args) > 2 {
                recipe.check_leave_one_out().map_err(of_pipeline)?;
            }
            let begin = |saved: &[SavedLeaves]| recipe.sum_after(ranks, saved);
            let found = self.choose(self.summed(begin, bytes, input, folder)?, input)?;
            return self.logistic(recipe, found, input);
        };
        // a fresh generator: the same folds on every process, and after a checkpoint
        let rng = &mut Pcg64::seed_from_u64(self.args.run.seed);
        let begin = |saved: &[SavedLeaves]| recipe.folds_after(ranks, saved, folds, rng);
        let mut sum = self.summed(begin, bytes, input, folder)?;
        self.session.progress.stage("choosing λ", None);
        sum.merge_over(ranks).map_err(of_pipeline)?;
        let found = (ranks.rank() == 0).then(|| sum.by_folds(&lambdas(self.args)));
        self.logistic(recipe, found.transpose().map_err(of_pipeline)?, input)
    }

    /// For classes, unless λ is given: on process 0, the better of this model and the model with
    /// logistic loss.
    fn logistic(
        &self,
        recipe: &Recipe,
        found: Option<(Model, StreamReport)>,
        input: &mut StreamInput,
    ) -> Result<Option<(Model, StreamReport)>> {
        let lambdas = lambdas(self.args);
        if lambdas.len() < 2 || !recipe.tries_logistic() {
            return Ok(found);
        }
        self.session.progress.stage("logistic loss, one pass for each Newton step", None);
        let rows = input.files.rows();
        let mut source = input.watched("a pass", rows, (self.session, self.ranks));
        recipe.logistic_over(self.ranks, &mut source, found, &lambdas).map_err(of_pipeline)
    }

    /// The sums of the second pass. `begin` makes the sums over no rows, for the leaves that are
    /// not in the checkpoint.
    fn summed<'r, S: RowSums<f64>>(
        &self,
        begin: impl FnOnce(&[SavedLeaves]) -> nystrom_pipeline::Result<Summing<'r, S>>,
        bytes: &[u8],
        input: &mut StreamInput,
        folder: Option<&Folder>,
    ) -> Result<Summing<'r, S>> {
        let before = match folder {
            Some(folder) => Some((folder, folder.sums(bytes, self.ranks)?)),
            None => None,
        };
        let saved = before.as_ref().map_or_else(Vec::new, |(_, saved)| saved.leaves());
        let mut sum = begin(&saved).map_err(of_pipeline)?;
        if let Some((folder, saved)) = &before {
            sum = folder.resume(saved, bytes, sum)?;
        }
        if before.as_ref().is_some_and(|(_, saved)| !saved.is_empty()) {
            let row = sum.row();
            self.session.say(&format!("going on from the checkpoint at row {row}"));
        }
        let save = before.as_ref().map(|(folder, saved)| (*folder, saved, bytes));
        self.second_pass(&mut sum, input, save)?;
        Ok(sum)
    }

    /// Runs the second pass, with checkpoints.
    fn second_pass<S: RowSums<f64>>(
        &self,
        sum: &mut Summing<'_, S>,
        input: &mut StreamInput,
        save: Option<(&Folder, &SavedSums, &[u8])>,
    ) -> Result<()> {
        let every = self.every();
        let keep = |sum: &mut Summing<'_, S>| {
            let Some((folder, saved, recipe)) = save else { return };
            if let Err(error) = folder.save_sums(sum, recipe, saved) {
                // the previous checkpoint is still there
                let row = sum.row();
                self.session.warn(&format!("warning: no checkpoint at row {row}: {error:#}"));
            }
        };
        let mut last = Instant::now();
        self.pass(2, sum, input, &mut |sum| {
            if last.elapsed() >= every {
                keep(sum);
                last = Instant::now();
            }
            Ok(())
        })?;
        // if a later pass fails or is killed, the next run continues after this one
        if passes(self.args) > 2 || self.args.certify.is_some() {
            keep(sum);
        }
        Ok(())
    }

    /// Runs a pass, with its progress.
    fn pass<S: RowSums<f64>>(
        &self,
        number: usize,
        sum: &mut Summing<'_, S>,
        input: &mut StreamInput,
        pause: &mut dyn FnMut(&mut Summing<'_, S>) -> nystrom_pipeline::Result<()>,
    ) -> Result<()> {
        let (pass, rows) = (format!("pass {number} of {}", passes(self.args)), input.files.rows());
        let mut source = input.watched(&pass, rows, (self.session, self.ranks));
        sum.run(&mut source, pause).map_err(of_pipeline)?;
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
        let (ranks, lambdas) = (self.ranks, lambdas(self.args));
        let found = if passes(self.args) > 2 {
            let path = sum.path_over(ranks, &lambdas).map_err(of_pipeline)?;
            let mut errors = path.errors_over(ranks).map_err(of_pipeline)?;
            self.pass(3, &mut errors, input, &mut |_| Ok(()))?;
            errors.merge_over(ranks).map_err(of_pipeline)?;
            (ranks.rank() == 0).then(|| path.by_leave_one_out(errors))
        } else {
            self.session.progress.stage("choosing λ", None);
            sum.merge_over(ranks).map_err(of_pipeline)?;
            (ranks.rank() == 0).then(|| sum.finish(&lambdas))
        };
        found.transpose().map_err(of_pipeline)
    }
}
