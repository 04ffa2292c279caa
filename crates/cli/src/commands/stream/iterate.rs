//! `nystrom fit --tolerance` and `--all-rows` block by block, with one pass for each iteration.

use super::block_fit::BlockFit;
use super::checkpoint::Folder;
use super::input::StreamInput;
use crate::args::{FitArgs, Lambda};
use crate::console::Console;
use crate::failure::{Result, usage};
use crate::kernel::AnyKernel;
use crate::text::number;
use nystrom::krr::{Device, Extras, Iteration, IterationReport, IterativeOptions, Verdict};
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe, StreamReport};
use std::ops::ControlFlow;

/// The λ and the options of an iterative fit, if the fit is iterative.
pub fn lambda_and_options(args: &FitArgs) -> Result<Option<(f64, IterativeOptions)>> {
    if !iterates(args) {
        return Ok(None);
    }
    let option = if args.stream.all_rows { "--all-rows" } else { "--tolerance" };
    let usual = IterativeOptions::default();
    let tolerance = args.tolerance.unwrap_or(usual.tolerance);
    match args.lambda {
        Some(Lambda::Given(lambda)) => Ok(Some((lambda, IterativeOptions { tolerance, ..usual }))),
        _ => Err(usage(format!(
            "{option} needs one λ, because an iterative fit makes no sums from which λ could be \
             chosen; add --lambda NUMBER, such as the λ that a fit to a part of the rows finds"
        ))),
    }
}

/// Whether the fit is iterative.
pub fn iterates(args: &FitArgs) -> bool {
    args.tolerance.is_some() || args.stream.all_rows
}

impl BlockFit<'_> {
    /// The model, on every process.
    pub fn iterate(
        &self,
        (lambda, options): (f64, IterativeOptions),
        (recipe, bytes): (&Recipe, &[u8]),
        input: &mut StreamInput,
        folder: Option<&Folder<'_>>,
    ) -> Result<(Model, StreamReport, IterationReport)> {
        let session = self.session;
        let saved = folder.map_or(Ok(None), |folder| folder.solve(bytes))?;
        if saved.is_some() {
            session.say("going on from the checkpoint of the iterations");
        }
        let console: &Console = session;
        let mut saver = folder.filter(|_| session.is_first()).map(Folder::saver);
        let mut monitor = |iteration: &Iteration<'_, AnyKernel, f64>| -> Verdict {
            let Iteration { number: count, residual, .. } = *iteration;
            console.say(&format!("iteration {count}: relative residual {}", number(residual)));
            if let Some(saver) = saver.as_mut().filter(|saver| saver.is_due()) {
                saver.save_solve(bytes, &iteration.state(), count);
            }
            Ok(ControlFlow::Continue(()))
        };
        let device = self.args.gpu.device();
        let extras = Extras {
            resume: saved.as_ref(),
            monitor: Some(&mut monitor),
            device: device.as_ref().map(|device| &**device as &dyn Device<AnyKernel, f64>),
            ..Extras::default()
        };
        let mut source = input.later_pass("a pass", session);
        // the same state of the generator with and without a checkpoint
        let rng = &mut Pcg64::seed_from_u64(self.args.run.seed);
        let how = (lambda, options);
        Ok(recipe.iterate_over(session.ranks, &mut source, how, extras, rng)?)
    }
}
