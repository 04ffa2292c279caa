//! The plan of passes over the rows: how the memory allowed is divided, and the cost of each pass.

use super::input::StreamInput;
use super::{certify, iterate};
use crate::args::{FitArgs, Lambda, Selection};
use crate::failure::{Failure, Result, usage};
use crate::plan;
use crate::search::Budget;
use crate::session::Session;
use crate::speed::Speed;
use crate::summary::Summary;
use crate::text::{self, number, rounded};
use nystrom::krr::IterativeOptions;
use nystrom::prelude::*;
use nystrom_pipeline::{Family, Recipe, Task, WeightedRows, largest_fitting};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Bytes assumed for the program itself, its threads and the reserve of the allocator.
const PROGRAM: u64 = 38 << 20;
/// The smallest number of bytes beside [`PROGRAM`] with which any work starts.
const LEAST: u64 = 8 << 20;
/// The default of `--reservoir`, unless memory is short.
const RESERVOIR: u64 = 50_000;
/// The number of copies of the reservoir for which a search has memory.
const COPIES: u64 = 10;
/// The limit of work does not reduce the default number of landmarks below this.
const FEW: usize = 300;

/// The sizes that all passes share.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct BlockSizes {
    /// The memory allowed in all, in bytes.
    memory: u64,
    /// The bytes of [`PROGRAM`] and of the pages of Parquet files.
    taken: u64,
    /// Rows in a block.
    pub block: usize,
    /// Rows in the uniform sample.
    pub reservoir: usize,
    /// The number of rows, estimated unless the headers of the files have it.
    rows: f64,
    /// Whether they have it.
    stated: bool,
    /// The bytes of the files.
    bytes: u64,
    /// The estimated seconds of one pass that only reads.
    reading: f64,
}

/// The sizes of a fit.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Sizes {
    pub shared: BlockSizes,
    /// Bytes that the search may hold.
    pub search: u64,
    pub landmarks: usize,
    /// Rows whose kernel values with every row are evaluated: landmarks, or the rows of their sums.
    centers: usize,
    /// With --all-rows: the bytes that its passes may hold, and the bytes that they are estimated
    /// to hold.
    pairs: Option<[u64; 2]>,
}

impl Sizes {
    /// The sizes for these files, after reading their first block.
    pub fn of(args: &FitArgs, input: &mut StreamInput, budget: &Budget) -> Result<Sizes> {
        let asked = args.stream.reservoir;
        let (shared, rest) = BlockSizes::of(input, (budget.memory(), asked), "a fit in blocks")?;
        let BlockSizes { memory, rows, .. } = shared;
        let (columns, reservoir) = (input.numbers() as u64, shared.reservoir as u64);
        let leaves = args.stream.leaves.unwrap_or(1);
        let pairs = args
            .stream
            .all_rows
            .then(|| all_pairs(args, input, (rows, rest, shared.taken)))
            .transpose()?;
        let uniform = args.landmarks.is_none_or(|spec| spec.method == Selection::Uniform);
        let certify = certify::rows_to_draw(args)?.unwrap_or(0) as u64;
        let certifying = |m: u64| match certify {
            0 => 0,
            // factors; kernel values of a tile; the drawn rows in every pending sum
            rows => 24 * m * m + 8192 * (m + rows) + 64 * rows * (columns + 8),
        };
        let centers = |m: u64| match args.accumulate {
            Some(each) => (m * each as u64).min(reservoir),
            None => m,
        };
        let sums = args.accumulate.is_some();
        let folds = if let Some(Lambda::Folds(folds)) = args.lambda { folds } else { 1 };
        let fitting = |m: u64| {
            let (m, centers) = (m as usize, centers(m) as usize);
            let sketch = if sums { Recipe::bytes_of_sketch(m, centers) } else { 0 };
            let fit = match iterate::iterates(args) {
                true => Recipe::bytes_iterating(centers, uniform && !sums),
                false => Recipe::bytes(m, leaves, folds),
            };
            sketch + fit
        };
        let bytes_of = |m: u64| fitting(m).max(certifying(centers(m)));
        let fits = |m: u64| bytes_of(m) <= 7 * rest / 10;
        if certifying(1) > 7 * rest / 10 {
            return Err(certify::refuse(certify, memory));
        }
        let landmarks = match args.landmarks {
            _ if pairs.is_some() => rows as u64,
            Some(spec) if fits(spec.count as u64) => {
                plan::selection_from_sample(spec, shared.reservoir, 4 * rest / 10)?;
                spec.count as u64
            }
            Some(spec) => {
                let needed = shared.taken + bytes_of(spec.count as u64) * 10 / 7;
                let budget = memory;
                let what = "the second pass with this many landmarks";
                return Err(nystrom::Error::OutOfBudget { what, needed, budget }.into());
            }
            None => {
                let work = budget.work();
                let affords =
                    |m: usize| m <= FEW || Recipe::work(rows, m, columns as usize) <= work;
                let most = reservoir.min(rows as u64).max(4) / 4;
                largest_fitting(1, most as usize, |m| fits(m as u64) && affords(m)) as u64
            }
        };
        let (search, centers) = (4 * rest / 10, centers(landmarks) as usize);
        Ok(Sizes { shared, search, landmarks: landmarks as usize, centers, pairs })
    }

    /// `options` with the memory that an iterative fit may hold.
    pub fn within(&self, options: IterativeOptions) -> IterativeOptions {
        IterativeOptions { memory: self.pairs.map(|[budget, _]| budget), ..options }
    }

    /// The estimated seconds of the second pass.
    fn summing(&self, d: usize) -> nystrom::Result<f64> {
        let x = Mat::from_fn(1000, d.max(1), |i, j| ((i * (j + 3)) % 97) as f64 / 97.0);
        let kernel = Family::Gaussian.kernel(1.0, d)?;
        let speed = Speed::measure(&kernel, Points::from_rows(x.as_ref()));
        let (u, m) = (self.centers as f64, self.landmarks as f64);
        let flops = if self.pairs.is_some() { 2.0 * m } else { 2.0 * m * m };
        let work = self.shared.rows * (u * speed.value + flops * speed.flop);
        Ok(work.max(self.shared.reading))
    }

    /// Prints the plan; with --plan as a summary on standard output.
    pub fn announce(
        &self,
        input: &StreamInput,
        budget: &Budget,
        args: &FitArgs,
        session: &Session<'_>,
    ) -> Result<()> {
        let BlockSizes { memory, block, reservoir, rows, bytes, reading, .. } = self.shared;
        let d = input.features();
        let more = if iterate::iterates(args) { ", and one for each iteration" } else { "" };
        let (files, m, passes) = (input.files.paths().len(), self.landmarks, passes(args));
        let summing = self.summing(d)?;
        let (each, all) = (text::duration(summing), text::bytes(memory));
        let (count, size) = (text::count(files, "file"), text::bytes(bytes));
        let mut summary = Summary::of("fit");
        let about = number(rounded(rows, 2));
        let plan = format!("{passes} passes over {count}, {size} each{more}; about {about} rows");
        summary.line("plan", plan);
        let first =
            format!("columns and a sample of {reservoir} rows, {}", text::duration(reading));
        summary.line("first pass", first);
        let given = args.kernel.is_given();
        let search = match given {
            true => "none: the kernel is given".into(),
            false => budget.describe(budget.seconds()?),
        };
        summary.line("search", search);
        let second = match (self.pairs, args.accumulate) {
            (Some(_), _) => "collect all rows on every process".into(),
            (_, Some(rows)) => format!("{m} sums of {rows} rows, {each} each"),
            _ => format!("{m} landmarks, {each} each"),
        };
        let label = if passes == 2 { "second pass" } else { "second and third pass" };
        summary.line(label, second);
        summary.line("memory", format!("at most {all} in all; blocks of {block} rows"));
        if let Some([_, needed]) = self.pairs {
            let each =
                if args.gpu.gpu.is_some() { "on the card" } else { &*format!("{each} each") };
            let text = format!("all pairs of rows, {each}; {} for a process", text::bytes(needed));
            summary.line("iterations", text);
        }
        if let Some((text, of_card)) = args.gpu.plan(rows, d.max(1), input.targets.len())? {
            summary.line("card", text);
            summary.value("card", of_card);
        }
        if let Some(drawn) = certify::rows_to_draw(args)? {
            let values = number(rounded(rows * (3 * self.centers + drawn) as f64, 2));
            let drawn = text::count(drawn, "row");
            let text = format!("from {drawn}: three more passes, {values} kernel values");
            summary.line("certificate", text);
        }
        if let Some(passes) = depends(args) {
            summary.line("more passes", passes);
        }
        if !args.plan {
            session.say(&summary.said());
            return Ok(());
        }
        summary.value("passes", passes);
        summary.value("files", files);
        summary.value("bytes", bytes);
        summary.value("rows", rounded(rows, 2));
        summary.value("landmarks", m);
        summary.value("reservoir", reservoir);
        summary.value("memory", memory);
        summary.value("seconds", [reading, summing]);
        summary.print(session, false)
    }
}

/// The sizes of passes over rows without a target.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PointSizes {
    pub shared: BlockSizes,
    /// The largest number of members of a dictionary.
    pub members: usize,
    /// Bytes that dictionaries, or the work on the sample, may hold.
    pub work: u64,
}

impl PointSizes {
    /// The sizes for these files, after reading their first block.
    pub fn of(
        memory: Option<u64>,
        asked: Option<usize>,
        input: &mut StreamInput,
    ) -> Result<PointSizes> {
        let stated = input.files.stated_rows()?; // before a thread reads ahead
        let (mut shared, rest) = BlockSizes::of(input, (memory, asked), "work in blocks")?;
        shared.rows = stated.map_or(shared.rows, |rows| rows as f64);
        shared.stated = stated.is_some();
        let (columns, work) = (input.numbers(), 6 * rest / 10);
        let fits = |m: usize| WeightedRows::bytes(m, columns) <= work;
        let members = largest_fitting(1, (1 << 24) - 1, fits);
        Ok(PointSizes { shared, members, work })
    }

    /// The number of rows, if it is known before they are read.
    pub fn stated_rows(&self) -> Option<u64> {
        self.shared.stated.then_some(self.shared.rows as u64)
    }

    /// Checks that `needed` bytes of a greedy choice fit: it has the memory alone, but for the
    /// sample and the blocks that are read.
    pub fn check_choice(&self, needed: u64) -> nystrom::Result<()> {
        let (what, needed) = ("the greedy choice in blocks", self.shared.taken + needed / 8 * 10);
        let step = plan::Step::new(what, None, None, needed as f64).named(what);
        step.check(Some(self.shared.memory))
    }

    /// The error for a dictionary that is too large for the memory allowed.
    pub fn refuse(&self, size: usize) -> Failure {
        let text = format!(
            "the dictionary needs {size} rows, and the {} allowed hold at most {}; allow more \
             --memory, or choose a larger λ",
            text::bytes(self.shared.memory),
            self.members
        );
        Failure::Memory(text)
    }

    /// Prints the plan.
    pub fn announce(&self, input: &StreamInput, passes: usize, session: &Session<'_>) {
        let PointSizes { shared, members, .. } = self;
        let BlockSizes { memory, block, reservoir, rows, bytes, reading, .. } = *shared;
        session.say(&format!(
            "plan: at most {passes} passes over {}, {} each, read in {}; about {} rows\nmemory: at \
             most {} in all; blocks of {block} rows, a sample of {reservoir}, a dictionary of at \
             most {members}",
            text::count(input.files.paths().len(), "file"),
            text::bytes(bytes),
            text::duration(reading),
            number(rounded(rows, 2)),
            text::bytes(memory),
        ));
    }
}

/// The bytes that a fit with every row as a centre may hold, and an estimate of those that it
/// holds.
fn all_pairs(
    args: &FitArgs,
    input: &StreamInput,
    (rows, rest, taken): (f64, u64, u64),
) -> Result<[u64; 2]> {
    let (budget, d) = (7 * rest / 10, input.features());
    let full = FullKrr::new(Family::Gaussian.kernel(1.0, d)?, Ridge::PerSample(1.0));
    let options = IterativeOptions { memory: Some(budget), ..full.options };
    let size = [rows as usize, d, args.regression.target.len().max(1)];
    match (FullKrr { options, ..full }).memory_in_passes(size) {
        Ok(plan) => Ok([budget, plan.total()]),
        Err(nystrom::Error::OutOfBudget { what, needed, budget }) => {
            let (needed, budget) = (taken + needed / 7 * 10, taken + budget / 7 * 10);
            Err(nystrom::Error::OutOfBudget { what, needed, budget }.into())
        }
        Err(error) => Err(error.into()),
    }
}

impl BlockSizes {
    /// Sets the number of rows of a block and reads the first block. Also returns the bytes of
    /// memory beside [`PROGRAM`]; `what` names the work if they are too few.
    fn of(
        input: &mut StreamInput,
        (memory, asked): (Option<u64>, Option<usize>),
        what: &'static str,
    ) -> Result<(BlockSizes, u64)> {
        let pages = input.files.page_bytes()?;
        let memory = memory.unwrap_or((2 << 30) + pages);
        let columns = input.numbers() as u64;
        let taken = PROGRAM + pages;
        let rest = memory.checked_sub(taken).filter(|rest| *rest >= LEAST);
        let rest = rest.ok_or_else(|| too_little(what, memory, pages))?;
        let block = (rest / 32).min(8 << 20) / (8 * columns);
        let block = (block / 1024 * 1024).clamp(1024, 1 << 16) as usize;
        input.files.set_block_rows(block);
        let bytes = input.files.bytes()?;
        let (rows, reading) = first_block(input, bytes)?;
        let reservoir = reservoir(asked, columns, rest)?;
        let stated = false;
        Ok((BlockSizes { memory, taken, block, reservoir, rows, stated, bytes, reading }, rest))
    }
}

/// The error for memory that no block fits into.
fn too_little(what: &'static str, budget: u64, pages: u64) -> anyhow::Error {
    let needed = PROGRAM + pages + LEAST;
    if pages <= LEAST {
        return nystrom::Error::OutOfBudget { what, needed, budget }.into();
    }
    let text = format!(
        "{what} needs {}, of which {} are for pages of all columns of a Parquet file, more than \
         the {} allowed; allow more --memory, or write the files with smaller row groups",
        text::bytes(needed),
        text::bytes(pages),
        text::bytes(budget)
    );
    Failure::Memory(text).into()
}

/// The number of rows in the uniform sample.
fn reservoir(asked: Option<usize>, columns: u64, rest: u64) -> Result<usize> {
    let largest = 3 * rest / 10 / (8 * columns * COPIES);
    let reservoir = asked.map_or(RESERVOIR.min(largest), |asked| asked as u64);
    if reservoir > largest {
        return Err(usage(format!(
            "--reservoir {reservoir} needs more than --memory allows; write at most --reservoir \
             {largest}"
        )));
    }
    Ok(reservoir as usize)
}

/// The passes that depend on the results of the search and the first pass, in words.
fn depends(args: &FitArgs) -> Option<String> {
    let means = (!args.kernel.is_given()).then_some("one if the search chooses means by level");
    let classes = args.search.task != Some(Task::Regression)
        && args.grid().len() > 1
        && !iterate::iterates(args);
    let steps = classes.then_some("up to eight for the logistic loss of classes");
    let passes: Vec<&str> = means.into_iter().chain(steps).collect();
    (!passes.is_empty()).then(|| passes.join(", "))
}

/// The number of passes over the rows: three with leave-one-out errors, else two.
pub fn passes(args: &FitArgs) -> usize {
    if args.lambda == Some(Lambda::Auto) { 3 } else { 2 }
}

/// The estimated number of rows, and the estimated seconds of reading them all, from the first
/// block.
fn first_block(input: &mut StreamInput, bytes: u64) -> Result<(f64, f64)> {
    let start = Instant::now();
    input.files.start(0)?;
    let rows = input.files.next_block()?.map_or(0, |table| table.rows());
    let seconds = start.elapsed().as_secs_f64();
    let behind = match input.files.bytes_read() {
        0 => 8 * rows as u64 * input.files.names().len() as u64, // of numbers
        behind => behind,
    };
    let times = bytes as f64 / behind.clamp(1, bytes.max(1)) as f64;
    Ok((rows as f64 * times, seconds * times))
}
