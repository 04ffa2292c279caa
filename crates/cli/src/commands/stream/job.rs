//! Shared parts of the passes of a fit block by block.

use super::input::{StreamInput, Watched};
use super::share::Share;
use super::watch::{Watch, named};
use crate::args::{Fit, Lambda};
use crate::commands::fit_plan;
use crate::failure::{Result, of_pipeline};
use crate::search::Budget;
use crate::session::Session;
use nystrom_pipeline::{Ranks, StreamFit, Survey, TableSource};

/// A fit block by block, as its passes need it.
pub struct Job<'a> {
    pub args: &'a Fit,
    pub stream: &'a StreamFit,
    pub budget: &'a Budget,
    pub session: &'a Session,
    pub ranks: &'a dyn Ranks,
}

/// The first of `passes` passes, in which every process surveys its share of the files. The survey
/// is on process 0.
pub fn first_pass(
    input: &mut StreamInput,
    passes: usize,
    (session, ranks): (&Session, &dyn Ranks),
    survey: impl FnOnce((&mut dyn TableSource, u64)) -> nystrom_pipeline::Result<Option<Survey>>,
) -> Result<Option<Survey>> {
    let mut share = Share::of(&input.files, ranks)?;
    let name = named(&format!("pass 1 of {passes}"), ranks);
    let watch = Watch::new(session, &name, (None, share.bytes));
    let (unwanted, readings) = (&input.unwanted[..], &input.readings);
    let mut source = Watched { files: &mut share.files, unwanted, readings, watch };
    let survey = survey((&mut source, share.first)).map_err(of_pipeline)?;
    source.watch.end();
    input.files.restore(share.record(ranks)?)?;
    session.notes(survey.iter().flat_map(Survey::notes));
    session.notes(input.strays());
    Ok(survey)
}

pub fn lambdas(args: &Fit) -> Vec<f64> {
    match args.lambda {
        Some(Lambda::Given(lambda)) => vec![lambda],
        _ => fit_plan::lambdas(args).values(),
    }
}
