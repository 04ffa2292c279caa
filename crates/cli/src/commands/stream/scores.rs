//! `nystrom scores` block by block.

use super::agree::{agree, together};
use super::input::StreamInput;
use super::ordered_output::OrderedOutput;
use super::points::{self, PointsJob, Surveyed};
use crate::args::{ScoreMethod, Scores};
use crate::commands::scores;
use crate::failure::{Failure, Result, of_pipeline};
use crate::kernel;
use crate::output::{Columns, LINE, Values};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use clap::ValueEnum;
use nystrom::linalg_core::ExactSum;
use nystrom_pipeline::{PointRows, Ranks, WeightedRows};
use serde::{Deserialize, Serialize};

/// Computes scores on the processes of a job. Process 0 writes them.
pub fn run_over(args: &Scores, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::of_process(&args.run, ranks)?;
    agree(ranks, check(args, ranks))?;
    let Scores { data, kernel, blocks, run, method, lambda, .. } = args;
    let passes = if *method == ScoreMethod::Squeak { 3 } else { 2 };
    let job = PointsJob { data, kernel, blocks, run, session: &session, ranks, passes };
    let mut surveyed = job.survey(&mut rng)?;
    let sampled = (passes == 2).then_some(surveyed.sample.as_ref().map_or(0, |s| s.rows.len()));
    let dictionary = job.dictionary(&mut surveyed, (*method, args.copies, *lambda), &mut rng)?;
    let mut to = OrderedOutput::open(&args.output, ranks)?;
    let mut totals = Totals::default();
    let Surveyed { input, recipe, .. } = &mut surveyed;
    job.pass(passes, input, recipe, |source| {
        recipe
            .scores_over(ranks, source, (&dictionary, *lambda), |tile, scores| {
                totals.add(tile, scores);
                write(&mut to, tile, scores)
            })
            .map_err(pipeline_error)
    })?;
    to.finish(ranks)?;
    let Some(totals) = together(ranks, totals, Totals::merge)? else { return Ok(()) };
    report(args, (&surveyed, &dictionary, sampled), &totals, (&session, ranks))
}

fn check(args: &Scores, ranks: &dyn Ranks) -> Result<()> {
    scores::check(args)?;
    if let ScoreMethod::Exact | ScoreMethod::Fast | ScoreMethod::Sa = args.method {
        let text = format!(
            "--method {} needs all rows at once; block by block, choose squeak, recursive, bless \
             or bless-r",
            name(args.method)
        );
        return Err(Failure::Usage(text).into());
    }
    if args.output.is_npy() || (args.run.json && args.output.is_stdout()) {
        let text = "block by block, scores are written as CSV with one line for each row; name a \
                    .csv file";
        return Err(Failure::Usage(text.into()).into());
    }
    points::check(&args.data, &args.output, ranks)
}

fn name(method: ScoreMethod) -> String {
    method.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// An error of the pipeline inside `error`, as an error of the program.
pub fn pipeline_error(error: anyhow::Error) -> anyhow::Error {
    match error.downcast() {
        Ok(error) => of_pipeline(error),
        Err(error) => error,
    }
}

fn write(to: &mut OrderedOutput, tile: &PointRows, scores: &[f64]) -> Result<()> {
    let counts = |numbers: &[u64]| numbers.iter().map(|&i| i as usize).collect::<Vec<_>>();
    let (rows, lines) = (counts(&tile.rows), counts(&tile.lines));
    let (rows, lines) = (Values::Counts(&rows), Values::Counts(&lines));
    to.write(&Columns(vec![("row", rows), (LINE, lines), ("score", Values::Numbers(scores))]))
}

/// The totals of the scores for the summary, which can be merged.
#[derive(Default, Serialize, Deserialize)]
struct Totals {
    rows: u64,
    sum: ExactSum,
    /// The largest score, its row and line.
    highest: Option<(f64, u64, u64)>,
}

impl Totals {
    fn add(&mut self, tile: &PointRows, scores: &[f64]) {
        self.rows += scores.len() as u64;
        for (i, &score) in scores.iter().enumerate() {
            self.sum.add(score);
            self.offer(Some((score, tile.rows[i], tile.lines[i])));
        }
    }

    fn offer(&mut self, other: Option<(f64, u64, u64)>) {
        let is_higher = |(score, ..): &(f64, u64, u64)| {
            self.highest.is_none_or(|(highest, ..)| *score > highest)
        };
        self.highest = other.filter(is_higher).or(self.highest);
    }

    /// Adds the totals of the rows after these.
    fn merge(&mut self, later: Totals) {
        self.rows += later.rows;
        self.sum.merge(&later.sum);
        self.offer(later.highest);
    }
}

fn report(
    args: &Scores,
    (surveyed, dictionary, sampled): (&Surveyed, &WeightedRows, Option<usize>),
    totals: &Totals,
    (session, ranks): (&Session, &dyn Ranks),
) -> Result<()> {
    let Surveyed { input, recipe, constant, .. } = surveyed;
    let (score, row, line) = totals.highest.unwrap_or_default();
    let file = file_of(input, row);
    let (d_eff, kernel) = (totals.sum.value(), recipe.kernel());
    let rows = text::count(totals.rows as usize, "row");
    let of = sampled.map_or_else(|| "all rows".to_owned(), |s| format!("a sample of {s} rows"));
    let (members, method) = (dictionary.len(), name(args.method));
    let mut summary = Summary::of("scores");
    summary.line("scores in blocks", format!("of {rows}, lambda {}", number(args.lambda)));
    summary.line("kernel", kernel::describe(kernel));
    summary.line("dictionary", format!("{members} rows by {method}, of {of}"));
    summary.line("effective dimension", format!("{} (the sum of the scores)", number(d_eff)));
    summary.line("highest", format!("{} in line {line} of {file}", number(score)));
    summary.value("rows", totals.rows);
    summary.value("lambda", args.lambda);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("dictionary", members);
    summary.value("reservoir", sampled);
    summary.value("effective_dimension", d_eff);
    summary.value("highest", score);
    summary.value("highest_row", row);
    summary.value("highest_line", line);
    summary.value("highest_file", file);
    summary.value("constant", constant);
    summary.value("passes", if sampled.is_some() { 2 } else { 3 });
    summary.value("processes", ranks.size());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(session, args.output.is_stdout())
}

/// The file that holds a row.
pub fn file_of(input: &StreamInput, row: u64) -> String {
    let mut before = 0;
    for (name, rows) in input.files.rows_by_file().unwrap_or_default() {
        before += rows;
        if row < before {
            return name.to_owned();
        }
    }
    String::new()
}
