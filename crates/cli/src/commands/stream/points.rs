//! Passes over rows without a target, block by block: the kernel and a sample from a first pass,
//! and dictionaries.

use super::agree::{agree, share};
use super::check_again;
use super::input::StreamInput;
use super::job::first_pass;
use super::sizes::PointSizes;
use crate::args::{BlockArgs, DataArgs, KernelArgs, Output, RunArgs, ScoreMethod};
use crate::commands::select::{self, Setting};
use crate::failure::{Result, of_pipeline};
use crate::kernel;
use crate::output::check_writable;
use crate::session::Session;
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom_pipeline::{
    Error, PointRecipe, Ranks, StreamPoints, Survey, TableSource, WeightedRows,
};

/// The default of `--leaves`.
const LEAVES: usize = 8;

/// A command on rows without a target, as its passes need it.
#[derive(Clone, Copy)]
pub struct PointsJob<'a> {
    pub data: &'a DataArgs,
    pub kernel: &'a KernelArgs,
    pub blocks: &'a BlockArgs,
    pub run: &'a RunArgs,
    pub session: &'a Session,
    pub ranks: &'a dyn Ranks,
    /// The number of passes over the rows.
    pub passes: usize,
}

/// The results of the first pass.
pub struct Surveyed {
    pub input: StreamInput,
    pub recipe: PointRecipe,
    pub sizes: PointSizes,
    /// The columns that were left out because they carry no information.
    pub constant: Vec<String>,
    /// The sample, on process 0.
    pub sample: Option<Sampled>,
}

/// A uniform sample of the rows.
pub struct Sampled {
    /// The features that the kernel takes, s × d.
    pub x: Mat<f64>,
    /// The number of each row among all rows, and its line.
    pub rows: Vec<(u64, u64)>,
}

/// Refuses an input that cannot be read twice, and an output that cannot be written.
pub fn check(data: &DataArgs, output: &Output, ranks: &dyn Ranks) -> Result<()> {
    check_again(data)?;
    if ranks.rank() == 0 {
        check_writable(output, &[&data.data])?;
    }
    Ok(())
}

impl PointsJob<'_> {
    /// The first pass, and the kernel.
    pub fn survey(self, rng: &mut dyn Rng) -> Result<Surveyed> {
        let PointsJob { blocks, run, session, ranks, .. } = self;
        let mut input = agree(ranks, StreamInput::of_points(self.data))?;
        session.notes(&input.notes);
        let sizes = match ranks.rank() {
            0 => PointSizes::of(session.memory, blocks.reservoir, &mut input).map(Some),
            _ => Ok(None),
        };
        let sizes: PointSizes = share(ranks, agree(ranks, sizes)?)?;
        sizes.announce(&input, self.passes, session);
        input.files.set_block_rows(sizes.shared.block);
        let columns = crate::input::options(self.data, run);
        let leaves = blocks.leaves.unwrap_or(LEAVES);
        let stream = StreamPoints { columns, reservoir: sizes.shared.reservoir, leaves };
        // a separate generator, so that the kernel is the same as in memory if the sample has all
        // rows
        let mut of_sample = self.streams().stream(0);
        let survey = first_pass(&mut input, self.passes, (session, ranks), |of| {
            stream.survey_over(ranks, of, &mut |_| {}, &mut of_sample)
        })?;
        let found = survey.map(|survey| self.settings(&stream, &survey, rng)).transpose();
        let found = agree(ranks, found)?;
        let bytes = found.as_ref().map(|(recipe, ..)| recipe.to_bytes()).transpose();
        let bytes = ranks.broadcast(bytes.map_err(of_pipeline)?.unwrap_or_default());
        let (recipe, constant, sample) = match found {
            Some((recipe, constant, sample)) => (recipe, constant, Some(sample)),
            None => {
                let recipe = PointRecipe::from_bytes(&stream, &bytes).map_err(of_pipeline)?;
                (recipe, Vec::new(), None)
            }
        };
        Ok(Surveyed { input, recipe, sizes, constant, sample })
    }

    /// Columns and kernel, the columns that were left out, and the sample.
    fn settings(
        self,
        stream: &StreamPoints,
        survey: &Survey,
        rng: &mut dyn Rng,
    ) -> Result<(PointRecipe, Vec<String>, Sampled)> {
        let columns = stream.columns(survey).map_err(crate::input::nothing_to_compare)?;
        self.session.notes(columns.dropped());
        let constant = columns.dropped().iter().map(|dropped| dropped.column.clone()).collect();
        let x = stream.reservoir(survey, &columns).map_err(of_pipeline)?;
        let points = Points::from_rows(x.as_ref());
        let meter = self.session.progress.meter();
        let kernel = kernel::kernel(self.kernel, points, meter, rng)?;
        let sample = Sampled { x, rows: survey.sampled().to_vec() };
        Ok((stream.recipe(survey, columns, kernel), constant, sample))
    }

    /// Random streams that do not depend on the random numbers drawn for the kernel.
    pub fn streams(&self) -> Streams {
        Streams::from_key(self.run.seed)
    }

    /// A dictionary of all rows at λ, on every process: squeak makes it by the second pass, the
    /// other methods make it from the sample.
    pub fn dictionary(
        self,
        surveyed: &mut Surveyed,
        (method, copies, lambda): (ScoreMethod, Option<u32>, f64),
        rng: &mut dyn Rng,
    ) -> Result<WeightedRows> {
        let Surveyed { input, recipe, sizes, sample, .. } = surveyed;
        let ranks = self.ranks;
        if method == ScoreMethod::Squeak {
            let params = copies.map_or_else(SqueakParams::default, SqueakParams::new);
            let params = SqueakParams { max_dictionary: sizes.members, ..params };
            let rng = &mut self.streams().stream(1);
            return self.pass(2, input, recipe, |source| {
                let found = recipe.disqueak_over(ranks, source, (lambda, params), rng);
                found.map_err(|error| match error {
                    Error::Numerics(nystrom::Error::DictionaryFull { size, .. }) => {
                        sizes.refuse(size).into()
                    }
                    other => of_pipeline(other),
                })
            });
        }
        let of = |Sampled { x, .. }: &Sampled| -> Result<WeightedRows> {
            self.session.progress.stage("making a dictionary from the sample", None);
            let points = Points::from_rows(x.as_ref());
            let setting = Setting { kernel: recipe.kernel(), points, lambda };
            let matrix = KernelMatrix::new(recipe.kernel(), points)?;
            let estimator = select::estimator(method, 0, setting)?;
            let found = estimator.dictionary(&matrix, Ridge::PerSample(lambda), rng)?;
            let found = WeightedRows::of_sample(x.as_ref(), &found, recipe.rows());
            found.map_err(of_pipeline)
        };
        let found = agree(ranks, sample.as_ref().map(of).transpose())?;
        WeightedRows::shared(ranks, found).map_err(of_pipeline)
    }

    /// A later pass over the rows, with its progress.
    pub fn pass<A>(
        self,
        number: usize,
        input: &mut StreamInput,
        recipe: &PointRecipe,
        read: impl FnOnce(&mut dyn TableSource) -> Result<A>,
    ) -> Result<A> {
        let pass = format!("pass {number} of {}", self.passes);
        let of = (self.session, self.ranks);
        let mut source = input.watched(&pass, Some(recipe.rows()), of);
        let found = read(&mut source)?;
        source.watch.end();
        Ok(found)
    }
}
