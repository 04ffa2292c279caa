//! `nystrom sample`.

use super::select::CHAIN_STEPS;
use crate::args::{Sample, Sampler};
use crate::failure::{Failure, Result};
use crate::input::{self, Data};
use crate::kernel;
use crate::output::{Columns, LINE, Values, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::dpp::Effort;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use std::process::ExitCode;

/// Rows up to which `auto` is exact.
const EXACT_UP_TO: usize = 2000;

pub fn run(args: &Sample) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    check_writable(&args.output, &[&args.data.data])?;
    validate::not_empty("number of subsets (--draws)", args.draws)?;
    let Data { x, rows: numbers, lines, constant, .. } =
        input::points(&args.data, &args.run, &session)?;
    let points = Points::from_rows(x.as_ref());
    validate::at_most("rows in a subset (--size)", args.size, x.nrows())?;
    let how = How::of(args, x.nrows())?;
    let kernel = kernel::kernel(&args.kernel, points, session.progress.meter(), &mut rng)?;
    let step = how.step(x.nrows(), args);
    plan::announce(&session, &kernel, points, &[("drawing this way", &step)])?;

    session.progress.step("drawing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let (subsets, how, effort) = drawn(&matrix, args, how, &mut rng)?;
    session.progress.clear();
    let draws: Vec<usize> = (0..args.draws).flat_map(|draw| vec![draw; args.size]).collect();
    let rows: Vec<usize> =
        subsets.iter().flat_map(|subset| subset.indices()).map(|&i| numbers[i]).collect();
    let lines: Vec<usize> =
        subsets.iter().flat_map(|subset| subset.indices()).map(|&i| lines[i]).collect();
    let columns = [
        ("draw", Values::Counts(&draws)),
        ("row", Values::Counts(&rows)),
        (LINE, Values::Counts(&lines)),
    ];
    Columns(columns.into()).write(&args.output, &session)?;

    let mut summary = Summary::of("sample");
    summary.line(
        "drawn",
        format!(
            "{} of {} rows each, {}",
            text::count(args.draws, "subset"),
            args.size,
            how.describe(steps(args))
        ),
    );
    summary.line("kernel", kernel::describe(&kernel));
    if let Some(Effort { trials, values, .. }) = effort {
        summary.line("work", format!("{trials} trials, {values} kernel values"));
        summary.value("trials", trials);
        summary.value("kernel_values", values);
    }
    summary.value("exact", how != How::Chain);
    summary.value("subsets", rows.chunks(args.size).collect::<Vec<_>>());
    summary.value("lines", lines.chunks(args.size).collect::<Vec<_>>());
    summary.value("constant", &constant);
    summary.value("rows", x.nrows());
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// How subsets are drawn.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Spectrum,
    Rejection,
    Chain,
}

impl How {
    fn of(args: &Sample, n: usize) -> Result<Self> {
        let how = match args.method {
            Sampler::Exact => How::Spectrum,
            Sampler::Rejection => How::Rejection,
            Sampler::Swap => How::Chain,
            Sampler::Auto if n <= EXACT_UP_TO => How::Spectrum,
            Sampler::Auto if Rejection::suits(n, args.size) => How::Rejection,
            Sampler::Auto => How::Chain,
        };
        if how != How::Chain && args.steps.is_some() {
            let problem = "--steps means nothing to exact draws; say --method swap";
            return Err(Failure::Usage(problem.into()).into());
        }
        Ok(how)
    }

    fn describe(self, steps: usize) -> String {
        match self {
            How::Spectrum => "exactly".into(),
            How::Rejection => "exactly, by rejection".into(),
            How::Chain => format!("by {steps} steps of the swap chain each"),
        }
    }

    fn step(self, n: usize, args: &Sample) -> Step {
        let (rows, k) = (n as f64, args.size as f64);
        let walked = (steps(args) * args.draws) as f64;
        match self {
            How::Spectrum => plan::square("eigendecomposition (n × n)", n, 3.0, 9.0),
            How::Rejection => {
                let Rejection { dictionary, sample, .. } = Rejection::of_size(args.size);
                let (m, sampled) = (dictionary.min(n) as f64, sample.min(n) as f64);
                let bytes = 8.0 * (4.0 * rows + 2.0 * sampled * m + k.powi(4));
                Step::new("exact draws by rejection", None, None, bytes)
            }
            How::Chain => Step::new(
                format!("{walked} steps of the swap chain"),
                Some(rows * k + walked * k),
                Some(rows * k * k + walked * k * k),
                8.0 * (rows * k + 3.0 * k * k),
            ),
        }
    }
}

/// Steps of the chain before each draw.
fn steps(args: &Sample) -> usize {
    args.steps.unwrap_or(CHAIN_STEPS)
}

/// The subsets, how they were drawn in the end, and the work of rejection. Where the choice was
/// ours and nothing is accepted, the chain draws.
fn drawn(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    how: How,
    rng: &mut dyn Rng,
) -> Result<(Vec<Landmarks>, How, Option<Effort>)> {
    Ok(match how {
        How::Spectrum => (exactly(k, args, rng)?, how, None),
        How::Chain => (by_chain(k, args, steps(args), rng)?, how, None),
        How::Rejection => match by_rejection(k, args, rng) {
            Ok((subsets, effort)) => (subsets, how, Some(effort)),
            Err(Error::NotAccepted { .. }) if args.method == Sampler::Auto => {
                (by_chain(k, args, steps(args), rng)?, How::Chain, None)
            }
            Err(error) => return Err(error.into()),
        },
    })
}

fn by_rejection(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    rng: &mut dyn Rng,
) -> std::result::Result<(Vec<Landmarks>, Effort), Error> {
    let mut k_dpp = RejectionKDpp::new(k, args.size, Rejection::of_size(args.size), rng)?;
    let subsets =
        (0..args.draws).map(|_| k_dpp.sample(rng)).collect::<std::result::Result<_, _>>()?;
    Ok((subsets, k_dpp.effort()))
}

fn exactly(k: &dyn PsdMatrix<f64>, args: &Sample, rng: &mut dyn Rng) -> Result<Vec<Landmarks>> {
    let ensemble = LEnsemble::new(k)?;
    let k_dpp = ensemble.k_dpp(args.size)?;
    Ok((0..args.draws).map(|_| k_dpp.sample(rng)).collect())
}

/// One chain; each draw is `steps` steps after the one before.
fn by_chain(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    steps: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<Landmarks>> {
    let mut chain =
        SwapChain::start(k, args.size, &RpCholesky::default(), SwapRule::Metropolis, rng)?;
    let mut draw = || {
        chain.run(steps, rng)?;
        Ok(chain.landmarks())
    };
    (0..args.draws).map(|_| draw()).collect()
}
