//! `nystrom fit --tolerance` and `--all-rows` block by block, with one pass for each iteration.

use super::checkpoint::Folder;
use super::input::StreamInput;
use super::job::Job;
use crate::args::{Fit, Lambda};
use crate::failure::{Failure, Result, of_pipeline};
use crate::kernel::AnyKernel;
use crate::text::number;
use nystrom::krr::{Extras, Iteration, IterationReport, IterativeOptions, Verdict};
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe, StreamReport};
use std::ops::ControlFlow;
use std::time::Instant;

/// The λ and the options of an iterative fit, if the fit is iterative.
pub fn lambda_and_options(args: &Fit) -> Result<Option<(f64, IterativeOptions)>> {
    if !iterates(args) {
        return Ok(None);
    }
    let option = if args.stream.all_rows { "--all-rows" } else { "--tolerance" };
    let usual = IterativeOptions::default();
    let tolerance = args.tolerance.unwrap_or(usual.tolerance);
    match args.lambda {
        Some(Lambda::Given(lambda)) => Ok(Some((lambda, IterativeOptions { tolerance, ..usual }))),
        _ => {
            let text = format!(
                "{option} needs one λ, because an iterative fit makes no sums from which λ could \
                 be chosen; add --lambda NUMBER, such as the λ that a fit to a part of the rows \
                 finds"
            );
            Err(Failure::Usage(text).into())
        }
    }
}

/// Whether the fit is iterative.
pub fn iterates(args: &Fit) -> bool {
    args.tolerance.is_some() || args.stream.all_rows
}

impl Job<'_> {
    /// The model, on every process.
    pub fn iterate(
        &self,
        (lambda, options): (f64, IterativeOptions),
        (recipe, bytes): (&Recipe, &[u8]),
        input: &mut StreamInput,
        folder: Option<&Folder>,
    ) -> Result<(Model, StreamReport, IterationReport)> {
        let (session, ranks) = (self.session, self.ranks);
        let saved = folder.map_or(Ok(None), |folder| folder.solve(bytes, ranks))?;
        if saved.is_some() {
            session.say("going on from the checkpoint of the iterations");
        }
        let every = self.every();
        let (mut last, writes) = (Instant::now(), ranks.rank() == 0);
        let mut monitor = |iteration: &Iteration<'_, AnyKernel, f64>| -> Verdict {
            let Iteration { number: count, residual, .. } = *iteration;
            session.say(&format!("iteration {count}: relative residual {}", number(residual)));
            if let Some(folder) = folder.filter(|_| writes && last.elapsed() >= every) {
                if let Err(error) = folder.save_solve(bytes, &iteration.state()) {
                    session
                        .warn(&format!("warning: no checkpoint at iteration {count}: {error:#}"));
                }
                last = Instant::now();
            }
            Ok(ControlFlow::Continue(()))
        };
        let extras =
            Extras { resume: saved.as_ref(), monitor: Some(&mut monitor), ..Extras::default() };
        let rows = input.files.rows();
        let mut source = input.watched("a pass", rows, (session, ranks));
        // the same state of the generator with and without a checkpoint
        let rng = &mut Pcg64::seed_from_u64(self.args.run.seed);
        recipe.iterate_over(ranks, &mut source, (lambda, options), extras, rng).map_err(of_pipeline)
    }
}
