//! Passes over rows without a target, block by block: the kernel and a sample from a first pass,
//! and dictionaries.

use super::block_fit::first_pass;
use super::check_again;
use super::input::StreamInput;
use super::sizes::PointSizes;
use crate::args::{LandmarkSpec, Output, PointArgs, ScoreMethod};
use crate::commands::select::{self, Setting};
use crate::failure::{Result, usage};
use crate::input::{Data, left_out};
use crate::kernel;
use crate::output::check_writable;
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom_pipeline::{
    Error, LandmarkSpan, PointRecipe, StreamPoints, TableSource, TableSurvey, WeightedRows,
};
use std::path::Path;

/// The default of `--leaves`.
const LEAVES: usize = 8;

/// A command on rows without a target, as its passes need it.
#[derive(Clone, Copy)]
pub struct BlockPoints<'a> {
    pub of: &'a PointArgs,
    /// A second table, whose rows come after those of the first.
    pub other: Option<&'a Path>,
    pub session: &'a Session<'a>,
    /// The number of passes over the rows.
    pub passes: usize,
}

/// The results of the first pass.
pub struct Surveyed {
    pub input: StreamInput,
    pub recipe: PointRecipe,
    pub sizes: PointSizes,
    /// A uniform sample of the rows, on process 0.
    pub sample: Option<Data>,
}

/// Refuses sparse rows, kernel options without effect, an input that cannot be read twice, and an
/// output that cannot be written.
pub fn check(of: &PointArgs, sparse: bool, output: &Output, session: &Session<'_>) -> Result<()> {
    if sparse {
        return Err(usage(
            "--sparse reads all rows of one file at once; name one file, without --stream, \
             --reservoir and --leaves",
        ));
    }
    of.kernel.check()?;
    check_again(&of.data.data)?;
    check_writable(output, &[&of.data.data], session)
}

/// Refuses output that is not CSV, for `what` has one line for each row.
pub fn check_csv(what: &str, output: &Output, session: &Session<'_>) -> Result<()> {
    if output.is_npy() || (session.json && output.is_stdout()) {
        return Err(usage(format!(
            "block by block, {what} are written as CSV with one line for each row; name a .csv file"
        )));
    }
    Ok(())
}

impl BlockPoints<'_> {
    /// The files and the sizes of the passes, which are announced.
    pub fn open(self) -> Result<(StreamInput, PointSizes)> {
        let BlockPoints { of, other, session, .. } = self;
        let mut input = session.succeeded_on_all(StreamInput::of_points(of, other))?;
        session.notes(&input.notes);
        let reservoir = of.blocks.reservoir;
        let sizes = session.on_first(|| PointSizes::of(session.memory, reservoir, &mut input))?;
        let sizes: PointSizes = session.ranks.share(sizes)?;
        sizes.announce(&input, self.passes, session);
        Ok((input, sizes))
    }

    /// The first pass, and the kernel.
    pub fn survey(
        self,
        (mut input, sizes): (StreamInput, PointSizes),
        rng: &mut dyn Rng,
    ) -> Result<Surveyed> {
        let BlockPoints { of, session, .. } = self;
        input.files.set_block_rows(sizes.shared.block);
        let columns = input.fit.columns.clone();
        let leaves = of.blocks.leaves.unwrap_or(LEAVES);
        let stream = StreamPoints { columns, reservoir: sizes.shared.reservoir, leaves };
        // a separate generator, so that the kernel is the same as in memory if the sample has all
        // rows
        let mut of_sample = self.streams().stream(0);
        let survey = first_pass(&mut input, self.passes, session, |of| {
            stream.survey_over(session.ranks, of, &mut of_sample)
        })?;
        let found = survey.map(|survey| self.settings(&stream, &survey, rng)).transpose();
        let found = session.succeeded_on_all(found)?;
        let bytes = found.as_ref().map(|(recipe, _)| recipe.to_bytes()).transpose()?;
        let bytes = session.ranks.broadcast(bytes.unwrap_or_default());
        let (recipe, sample) = match found {
            Some((recipe, sample)) => (recipe, Some(sample)),
            None => (PointRecipe::from_bytes(&stream, &bytes)?, None),
        };
        Ok(Surveyed { input, recipe, sizes, sample })
    }

    /// Columns and kernel, and the sample.
    fn settings(
        self,
        stream: &StreamPoints,
        survey: &TableSurvey,
        rng: &mut dyn Rng,
    ) -> Result<(PointRecipe, Data)> {
        let columns = stream.columns(survey).map_err(crate::input::nothing_to_compare)?;
        let constant = left_out(&columns, self.session);
        let x = stream.reservoir(survey, &columns)?;
        let meter = self.session.meter();
        let kernel = kernel::kernel(&self.of.kernel, Points::from_rows(x.as_ref()), meter, rng)?;
        let places = survey.sampled().iter().map(|(row, line)| (*row as usize, *line as usize));
        let (rows, lines) = places.unzip();
        Ok((
            stream.recipe(survey, columns, kernel),
            Data { x, sparse: None, rows, lines, constant },
        ))
    }

    /// Random streams that do not depend on the random numbers drawn for the kernel.
    pub fn streams(&self) -> Streams {
        Streams::from_key(self.of.run.seed)
    }

    /// A dictionary of all rows at λ, on every process: squeak makes it by the second pass, the
    /// other methods make it from the sample.
    pub fn dictionary(
        self,
        surveyed: &mut Surveyed,
        (method, copies, lambda): (ScoreMethod, Option<u32>, f64),
        rng: &mut dyn Rng,
    ) -> Result<WeightedRows> {
        let Surveyed { input, recipe, sizes, sample } = surveyed;
        let ranks = self.session.ranks;
        if method == ScoreMethod::Squeak {
            let params = copies.map_or_else(SqueakParams::default, SqueakParams::new);
            let params = SqueakParams { max_dictionary: sizes.members, ..params };
            let rng = &mut self.streams().stream(1);
            return self.pass(2, input, |source| {
                let found = recipe.disqueak_over(ranks, source, (lambda, params), rng);
                found.map_err(|error| match error {
                    Error::Numerics(nystrom::Error::DictionaryFull { size, .. }) => {
                        sizes.refuse(size).into()
                    }
                    other => other.into(),
                })
            });
        }
        let of = |Data { x, .. }: &Data| -> Result<WeightedRows> {
            self.session.stage("making a dictionary from the sample", None);
            let points = Points::from_rows(x.as_ref());
            let setting = Setting { kernel: recipe.kernel(), points, lambda };
            let matrix = KernelMatrix::new(recipe.kernel(), points)?;
            let estimator = select::estimator(method, 0, setting)?;
            let found = estimator.dictionary(&matrix, Ridge::PerSample(lambda), rng)?;
            Ok(WeightedRows::of_sample(x.as_ref(), &found, recipe.rows())?)
        };
        let found = self.session.succeeded_on_all(sample.as_ref().map(of).transpose())?;
        Ok(ranks.share(found)?)
    }

    /// Chooses rows of the sample, with their weights if `weighted`, as in memory.
    pub fn choose(
        self,
        (spec, weighted, lambda): (LandmarkSpec, bool, f64),
        (recipe, sizes, sample): (&PointRecipe, &PointSizes, &Data),
        rng: &mut dyn Rng,
    ) -> Result<(Vec<usize>, Option<Vec<f64>>)> {
        let (kernel, points) = (recipe.kernel(), sample.points());
        let step = plan::selection_from_sample(spec, points.len(), sizes.work)?;
        self.session.step("choosing landmarks", &step);
        let matrix = KernelMatrix::new(kernel, points)?;
        select::choose(spec, weighted, Setting { kernel, points, lambda }, &matrix, rng)
    }

    /// The span of rows of the sample, which process 0 has, on every process.
    pub fn span(
        self,
        recipe: &PointRecipe,
        of_first: Option<(&Data, &[usize])>,
    ) -> Result<LandmarkSpan> {
        let of = |(Data { x, .. }, chosen): (&Data, &[usize])| -> Vec<f64> {
            chosen.iter().flat_map(|&i| (0..x.ncols()).map(move |k| x[(i, k)])).collect()
        };
        let z = self.session.ranks.share(of_first.map(of))?;
        Ok(LandmarkSpan::new(recipe, Points::from_row_major(&z, recipe.dim()))?)
    }

    /// Adds the numbers of rows in the sample, of passes and of processes.
    pub fn describe(self, reservoir: Option<usize>, summary: &mut Summary) {
        summary.value("reservoir", reservoir);
        summary.value("passes", self.passes);
        summary.value("processes", self.session.ranks.size());
    }

    /// A later pass over the rows, with its progress.
    pub fn pass<A>(
        self,
        number: usize,
        input: &mut StreamInput,
        read: impl FnOnce(&mut dyn TableSource) -> Result<A>,
    ) -> Result<A> {
        let pass = format!("pass {number} of {}", self.passes);
        let mut source = input.later_pass(&pass, self.session);
        let found = read(&mut source)?;
        source.watch.end();
        Ok(found)
    }
}
