//! A fit block by block, and the first pass of every command.

use super::input::{StreamInput, Watched};
use super::process_files::ProcessFiles;
use super::watch::PassWatch;
use crate::args::FitArgs;
use crate::failure::Result;
use crate::search::Budget;
use crate::session::Session;
use nystrom_pipeline::{StreamFit, TableSource, TableSurvey};

/// A fit block by block, as its passes need it.
pub struct BlockFit<'a> {
    pub args: &'a FitArgs,
    pub stream: &'a StreamFit,
    pub budget: &'a Budget,
    pub session: &'a Session<'a>,
}

/// The survey, on process 0.
type SurveyResult = nystrom_pipeline::Result<Option<TableSurvey>>;

/// The first of `passes` passes, in which every process surveys its share of the files. The survey
/// is on process 0.
pub fn first_pass(
    input: &mut StreamInput,
    passes: usize,
    session: &Session<'_>,
    survey: impl FnOnce((&mut dyn TableSource, u64)) -> SurveyResult,
) -> Result<Option<TableSurvey>> {
    let mut ours = ProcessFiles::of(&input.files, session)?;
    let watch = PassWatch::new(session, &format!("pass 1 of {passes}"), (None, ours.bytes));
    let (unwanted, readings) = (&input.unwanted[..], &input.readings);
    let mut source = Watched { files: &mut ours.files, unwanted, readings, watch };
    let survey = survey((&mut source, ours.first))?;
    source.watch.end();
    input.files.restore(ours.record(session)?)?;
    session.notes(survey.iter().flat_map(TableSurvey::notes));
    session.notes(input.strays());
    Ok(survey)
}
