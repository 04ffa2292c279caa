//! `nystrom scores`.

use crate::args::{ScoreMethod, Scores};
use crate::failure::{Failure, Result};
use crate::input::{Input, Scaling};
use crate::kernel::AnyKernel;
use crate::output::{Columns, Values, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::leverage::SpectralLeverage;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use std::process::ExitCode;

/// Columns of the fast scores unless said otherwise.
const COLUMNS: usize = 1000;
/// Copies of every row in a SQUEAK dictionary.
const COPIES: u32 = 8;

pub fn run(args: &Scores) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    check_writable(args.output.as_ref())?;
    validate::positive("--lambda", args.lambda)?;
    if args.columns.is_some() && args.method != ScoreMethod::Fast {
        return Err(Failure::Usage("--columns means nothing to this method; say --method fast".into()).into());
    }
    session.progress.stage("reading", None);
    let data = Input::read(&args.data, None)?.drop_missing(&args.data)?.points()?;
    let scaling = Scaling::fit(data.x.as_ref(), &data.features, !args.run.no_standardize)?;
    let x = Scaling::apply(scaling.as_ref(), data.x)?;
    let points = Points::from_rows(x.as_ref());
    let kernel = AnyKernel::new(&args.kernel, points, session.progress.meter(), &mut rng)?;
    let columns = args.columns.unwrap_or(COLUMNS.min(x.nrows()));
    let step = step(args.method, x.nrows(), columns);
    plan::announce(&session, x.nrows(), x.ncols(), &[("computing the scores this way", &step)])?;

    session.progress.stage("computing scores", step.kernel_values);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let estimator: Box<dyn RidgeLeverage<f64> + '_> = match args.method {
        ScoreMethod::Exact => Box::new(Exact),
        ScoreMethod::Fast => Box::new(AlaouiMahoney { columns }),
        ScoreMethod::Recursive => Box::new(RecursiveRls::default()),
        ScoreMethod::Bless => Box::new(Bless::default()),
        ScoreMethod::BlessR => Box::new(BlessR::default()),
        ScoreMethod::Squeak => Box::new(SqueakParams::new(COPIES)),
        ScoreMethod::Sa => Box::new(SpectralLeverage::new(kernel.stationary()?, points)),
    };
    let scores = estimator.scores(&matrix, Ridge::PerSample(args.lambda), &mut rng)?;
    session.progress.clear();
    let columns = [("row", Values::Counts(&data.rows)), ("score", Values::Numbers(&scores))];
    Columns(columns.into()).write(args.output.as_deref(), &session)?;
    report(args, &session, &kernel, &scores, &data.rows)
}

/// The counts that each method's documentation states.
fn step(method: ScoreMethod, n: usize, columns: usize) -> Step {
    let (rows, p) = (n as f64, columns as f64);
    match method {
        ScoreMethod::Exact => plan::square("exact scores (n × n)", n, 2.0, 1.0),
        ScoreMethod::Fast => {
            let bytes = (8.0 * rows * p).min(67e6) + 24.0 * p * p;
            Step::new(format!("scores from {columns} columns"), Some(2.0 * rows * p), Some(2.0 * rows * p * p), bytes)
        }
        ScoreMethod::Sa => Step::new("scores from the density of the rows", Some(0.0), None, 16.0 * rows),
        _ => Step::new("scores against a dictionary", None, None, 16.0 * rows),
    }
}

fn report(args: &Scores, session: &Session, kernel: &AnyKernel, scores: &[f64], rows: &[usize]) -> Result<ExitCode> {
    let d_eff: f64 = scores.iter().sum();
    let highest = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
    let mut summary = Summary::default();
    summary.line("scores", format!("of {}, lambda {}", text::count(scores.len(), "row"), number(args.lambda)));
    summary.line("kernel", kernel.describe());
    summary.line("effective dimension", format!("{} (the sum of the scores)", number(d_eff)));
    summary.line("highest", format!("{} in row {}", number(scores[highest]), rows[highest]));
    summary.value("rows", scores.len());
    summary.value("lambda", args.lambda);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("effective_dimension", d_eff);
    summary.value("highest", scores[highest]);
    summary.value("highest_row", rows[highest]);
    summary.value("seed", args.run.seed);
    match &args.output {
        Some(output) => {
            summary.line("written", output.display().to_string());
            summary.value("output", output);
        }
        None => summary.value("scores", scores),
    }
    summary.print(session, args.output.is_none())?;
    Ok(ExitCode::SUCCESS)
}
