//! `nystrom test` block by block.

use super::check_again;
use super::points::{BlockPoints, Surveyed};
use crate::args::TestArgs;
use crate::commands::two_sample::{describe, step};
use crate::failure::Result;
use crate::session::Session;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{TwoSample, Uniform};
use nystrom_data::find_files;
use nystrom_pipeline::Ranks;

/// Kernel and landmarks from a sample of the rows of both tables, then a pass that sums kernel
/// values over random bins, on the processes of a job.
pub fn run_on_ranks(args: &TestArgs, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, ranks)?;
    session.succeeded_on_all(check(args))?;
    let TestArgs { of, other, .. } = args;
    let job = BlockPoints { of, other: Some(other), session: &session, passes: 2 };
    let files = session.succeeded_on_all(find_files(&of.data.data))?.len();
    let mut surveyed = job.survey(job.open()?, &mut rng)?;
    let Surveyed { input, recipe, sample, sizes } = &mut surveyed;
    let by_file = input.files.rows_by_file().unwrap_or_default();
    let first: u64 = by_file.iter().take(files).map(|(_, rows)| rows).sum();
    let first = recipe.rows_before(first);
    let step = step(recipe.rows() as usize, args.landmarks, args).named("comparing");
    step.check(Some(sizes.work))?;

    let chosen = sample.as_ref().map(|sample| -> Result<Landmarks> {
        let m = args.landmarks.min(sample.rows.len());
        let matrix = KernelMatrix::new(recipe.kernel(), sample.points())?;
        Ok(Uniform::default().select(&matrix, m, &mut rng)?)
    });
    let chosen = session.succeeded_on_all(chosen.transpose())?;
    let span = job.span(recipe, sample.as_ref().zip(chosen.as_ref().map(Landmarks::indices)))?;
    let test = TwoSample { permutations: args.permutations, bins: args.bins };
    let found = job.pass(2, input, |source| {
        let rng = &mut job.streams().stream(1); // the same on all processes
        Ok(recipe.two_sample_over(ranks, source, &span, (test, first), rng)?)
    })?;
    session.clear();
    let Some(sample) = sample else { return Ok(()) };

    let (m, rows) = (span.landmarks().len(), [first, recipe.rows() - first]);
    let mut summary = describe(args, (recipe.kernel(), m), rows.map(|n| n as usize), &found);
    summary.value("constant", &sample.constant);
    job.describe(Some(sample.rows.len()), &mut summary);
    summary.print(&session, false)
}

fn check(args: &TestArgs) -> Result<()> {
    validate::not_empty("number of landmarks (--landmarks)", args.landmarks)?;
    [&*args.of.data.data, &*args.other].into_iter().try_for_each(check_again)
}
