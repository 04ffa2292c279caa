//! `nystrom scores`.

use super::select::{self, Setting};
use crate::args::{ScoreMethod, Scores};
use crate::failure::{Failure, Result};
use crate::input::{self, Data};
use crate::kernel::{self, AnyKernel};
use crate::output::{Columns, LINE, Values, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;

/// The default of `--columns`.
const COLUMNS: usize = 1000;

pub fn run(args: &Scores) -> Result<()> {
    let (session, mut rng) = Session::start(&args.run)?;
    check_writable(&args.output, &[&args.data.data])?;
    check(args)?;
    let data = input::points(&args.data, &args.run, &session)?;
    let (x, points) = (&data.x, Points::from_rows(data.x.as_ref()));
    let kernel = kernel::kernel(&args.kernel, points, session.progress.meter(), &mut rng)?;
    let columns = args.columns.unwrap_or(COLUMNS.min(x.nrows()));
    let setting = Setting { kernel: &kernel, points, lambda: args.lambda };
    let step = step(args.method, columns, setting);
    plan::announce(&session, &kernel, points, &[("computing scores by this method", &step)])?;

    session.progress.step("computing scores", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let estimator = match args.copies {
        Some(copies) => Box::new(SqueakParams::new(copies)),
        None => select::estimator(args.method, columns, setting)?,
    };
    let scores = estimator.scores(&matrix, Ridge::PerSample(args.lambda), &mut rng)?;
    session.progress.clear();
    let (rows, lines) = (Values::Counts(&data.rows), Values::Counts(&data.lines));
    Columns(vec![("row", rows), (LINE, lines), ("score", Values::Numbers(&scores))])
        .write(&args.output, &session)?;
    report(args, &session, &kernel, &scores, &data)
}

/// Refuses an option that has no effect.
pub fn check(args: &Scores) -> Result<()> {
    let wrong = [
        ("--columns", args.columns.is_some() && args.method != ScoreMethod::Fast, "fast"),
        ("--copies", args.copies.is_some() && args.method != ScoreMethod::Squeak, "squeak"),
    ];
    if let Some((option, _, method)) = wrong.iter().find(|(_, wrong, _)| *wrong) {
        let text = format!("{option} has no effect on this method; add --method {method}");
        return Err(Failure::Usage(text).into());
    }
    args.kernel.check()
}

/// The step of a method, with the counts in its documentation.
fn step(method: ScoreMethod, columns: usize, setting: Setting<'_>) -> Step {
    let n = setting.points.len();
    let (rows, p) = (n as f64, columns as f64);
    match method {
        ScoreMethod::Exact => plan::exact_scores("exact scores (n × n)", n),
        ScoreMethod::Fast => {
            let bytes = (8.0 * rows * p).min(67e6) + 24.0 * p * p;
            Step::new(
                format!("scores from {columns} columns"),
                Some(2.0 * rows * p),
                Some(2.0 * rows * p * p),
                bytes,
            )
        }
        ScoreMethod::Sa => Step::tried(
            "scores from the density of the rows",
            select::trial(method, setting),
            16.0 * rows,
        ),
        _ => {
            Step::tried("scores against a dictionary", select::trial(method, setting), 16.0 * rows)
        }
    }
}

fn report(
    args: &Scores,
    session: &Session,
    kernel: &AnyKernel,
    scores: &[f64],
    data: &Data,
) -> Result<()> {
    let d_eff: f64 = scores.iter().sum();
    let highest = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
    let mut summary = Summary::of("scores");
    summary.line(
        "scores",
        format!("of {}, lambda {}", text::count(scores.len(), "row"), number(args.lambda)),
    );
    summary.line("kernel", kernel::describe(kernel));
    summary.line("effective dimension", format!("{} (the sum of the scores)", number(d_eff)));
    summary.line("highest", format!("{} in line {}", number(scores[highest]), data.lines[highest]));
    summary.value("rows", scores.len());
    summary.value("lambda", args.lambda);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("effective_dimension", d_eff);
    summary.value("highest", scores[highest]);
    summary.value("highest_row", data.rows[highest]);
    summary.value("highest_line", data.lines[highest]);
    summary.value("constant", &data.constant);
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    if args.output.is_stdout() {
        summary.value("scores", scores);
    }
    summary.print(session, args.output.is_stdout())
}
