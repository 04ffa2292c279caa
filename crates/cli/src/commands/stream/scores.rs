//! `nystrom scores` block by block.

use super::input::StreamInput;
use super::ordered_output::OrderedOutput;
use super::points::{self, BlockPoints, Surveyed};
use crate::args::{ScoreMethod, Scores};
use crate::commands::scores::{self, ScoresReport};
use crate::failure::{Result, usage};
use crate::output::{ResultColumns, ResultValues};
use crate::session::Session;
use crate::text;
use nystrom_pipeline::ExactSum;
use nystrom_pipeline::{PointRows, Ranks};
use serde::{Deserialize, Serialize};

/// Computes scores on the processes of a job. Process 0 writes them.
pub fn run_on_ranks(args: &Scores, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, ranks)?;
    session.succeeded_on_all(check(args, &session))?;
    let Scores { of, method, lambda, .. } = args;
    let passes = if *method == ScoreMethod::Squeak { 3 } else { 2 };
    let job = BlockPoints { of, other: None, session: &session, passes };
    let mut surveyed = job.survey(job.open()?, &mut rng)?;
    let dictionary = job.dictionary(&mut surveyed, (*method, args.copies, *lambda), &mut rng)?;
    let mut output = OrderedOutput::open(&args.output, &session)?;
    let mut totals = Totals::default();
    let Surveyed { input, recipe, sample, .. } = &mut surveyed;
    job.pass(passes, input, |source| {
        recipe.scores_over(ranks, source, (&dictionary, *lambda), |tile, scores| {
            totals.add(tile, scores);
            let mut columns = ResultColumns::of_blocks(&tile.rows, &tile.lines);
            columns.push("score", ResultValues::Numbers(scores.to_vec()));
            output.write(&columns)
        })
    })?;
    output.finish(&session)?;
    let totals = session.ranks.merge(totals, Totals::merge)?;
    let Some((totals, sample)) = totals.zip(sample.as_ref()) else { return Ok(()) };

    let sampled = (passes == 2).then_some(sample.rows.len());
    let of = sampled.map_or_else(|| "all rows".to_owned(), |s| format!("a sample of {s} rows"));
    let (members, method) = (dictionary.len(), text::option(method));
    let highest = totals.highest.unwrap_or_default();
    let file = file_of(input, highest.1);
    let found = ScoresReport {
        kernel: recipe.kernel(),
        rows: totals.rows as usize,
        d_eff: totals.sum.value(),
        highest,
        constant: &sample.constant,
    };
    let dictionary = format!("{members} rows by {method}, of {of}");
    let mut summary = found.describe(args, Some((dictionary, &file)));
    summary.value("dictionary", members);
    summary.value("highest_file", file);
    job.describe(sampled, &mut summary);
    summary.print(&session, args.output.is_stdout())
}

fn check(args: &Scores, session: &Session<'_>) -> Result<()> {
    scores::check(args)?;
    if let ScoreMethod::Exact | ScoreMethod::Fast | ScoreMethod::Sa = args.method {
        return Err(usage(format!(
            "--method {} needs all rows at once; block by block, choose squeak, recursive, bless \
             or bless-r",
            text::option(&args.method)
        )));
    }
    points::check_csv("scores", &args.output, session)?;
    points::check(&args.of, args.rows.sparse, &args.output, session)
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
