//! `nystrom scores`.

use super::select::{self, Setting};
use crate::args::{ScoreMethod, Scores};
use crate::failure::{Result, usage};
use crate::input;
use crate::kernel::{self, AnyKernel};
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;
use nystrom_pipeline::Alone;

/// The default of `--columns`.
const COLUMNS: usize = 1000;

pub fn run(args: &Scores) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, &Alone)?;
    check_writable(&args.output, &[&args.of.data.data], &session)?;
    check(args)?;
    let data = input::points(&args.of, args.rows.sparse, &session)?;
    let points = data.points();
    let kernel = kernel::kernel(&args.of.kernel, points, session.meter(), &mut rng)?;
    let columns = args.columns.unwrap_or(COLUMNS.min(points.len()));
    let setting = Setting { kernel: &kernel, points, lambda: args.lambda };
    let step = step(args.method, columns, setting);
    plan::announce(&session, &kernel, points, std::slice::from_ref(&step))?;

    session.step("computing scores", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let estimator = match args.copies {
        Some(copies) => Box::new(SqueakParams::new(copies)),
        None => select::estimator(args.method, columns, setting)?,
    };
    let scores = estimator.scores(&matrix, Ridge::PerSample(args.lambda), &mut rng)?;
    session.clear();
    let highest = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
    let (row, line) = (data.rows[highest] as u64, data.lines[highest] as u64);
    let found = ScoresReport {
        kernel: &kernel,
        rows: scores.len(),
        d_eff: scores.iter().sum(),
        highest: (scores[highest], row, line),
        constant: &data.constant,
    };
    let mut summary = found.describe(args, None);
    if args.output.is_stdout() {
        summary.value("scores", &scores);
    }
    let mut columns = ResultColumns::of_rows(data.rows.clone(), data.lines.clone());
    columns.push("score", ResultValues::Numbers(scores));
    columns.write(&args.output, &session)?;
    summary.print(&session, args.output.is_stdout())
}

/// Refuses an option that has no effect.
pub fn check(args: &Scores) -> Result<()> {
    let options = [
        ("--columns", args.columns.is_some(), ScoreMethod::Fast),
        ("--copies", args.copies.is_some(), ScoreMethod::Squeak),
    ];
    if let Some((option, method)) = kernel::of_another(args.method, &options) {
        return Err(usage(format!("{option} has no effect on this method; add --method {method}")));
    }
    args.of.kernel.check()
}

/// The step of a method.
fn step(method: ScoreMethod, columns: usize, setting: Setting<'_>) -> Step {
    let what = match method {
        ScoreMethod::Exact => "exact scores (n × n)".to_owned(),
        ScoreMethod::Fast => format!("scores from {columns} columns"),
        ScoreMethod::Sa => "scores from the density of the rows".to_owned(),
        _ => "scores against a dictionary".to_owned(),
    };
    let (n, trial) = (setting.points.len(), select::trial(method, setting));
    plan::scores(what, method, columns, n, trial).named("computing scores by this method")
}

/// The scores in short.
pub struct ScoresReport<'a> {
    pub kernel: &'a AnyKernel,
    /// The number of rows.
    pub rows: usize,
    /// The sum of the scores.
    pub d_eff: f64,
    /// The largest score, and the number and the line of its row.
    pub highest: (f64, u64, u64),
    pub constant: &'a [String],
}

impl ScoresReport<'_> {
    /// The summary. For scores block by block, `blocks` has the description of the dictionary, and
    /// the file with the highest score.
    pub fn describe(&self, args: &Scores, blocks: Option<(String, &str)>) -> Summary {
        let mut summary = Summary::of("scores");
        let (score, row, line) = self.highest;
        let label = if blocks.is_some() { "scores in blocks" } else { "scores" };
        let rows = text::count(self.rows, "row");
        summary.line(label, format!("of {rows}, lambda {}", number(args.lambda)));
        summary.line("kernel", kernel::describe(self.kernel));
        let file = match blocks {
            Some((dictionary, file)) => {
                summary.line("dictionary", dictionary);
                format!(" of {file}")
            }
            None => String::new(),
        };
        let d_eff = format!("{} (the sum of the scores)", number(self.d_eff));
        summary.line("effective dimension", d_eff);
        summary.line("highest", format!("{} in line {line}{file}", number(score)));
        summary.value("rows", self.rows);
        summary.value("lambda", args.lambda);
        summary.value("bandwidth", self.kernel.bandwidth());
        summary.value("effective_dimension", self.d_eff);
        summary.value("highest", score);
        summary.value("highest_row", row);
        summary.value("highest_line", line);
        summary.value("constant", self.constant);
        summary.value("seed", args.of.run.seed);
        summary.written(&args.output);
        summary
    }
}
