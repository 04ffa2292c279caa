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
use nystrom::dpp::{Effort, stationary_meetings};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{Draw, Uniform};

/// Up to this many rows, `--method auto` decomposes the n × n matrix.
const EXACT_UP_TO: usize = 2000;
/// The rule of the swap chain.
const RULE: SwapRule = SwapRule::Metropolis;
/// The start of the swap chain with `--within`.
const START: Uniform = Uniform { draw: Draw::WithoutReplacement };
/// The numbers of steps at which `--within` bounds the distance.
const LOOKS: [usize; 5] = [3000, 12_000, 48_000, 192_000, 768_000];
/// `--within d` runs 7/d pairs of chains: enough to show the distance d even if one pair has not
/// met.
const PAIRS: f64 = 7.0;
/// The smallest distance of `--within`, for which 7000 pairs run.
const LEAST: f64 = 0.001;

pub fn run(args: &Sample) -> Result<()> {
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
    plan::announce(&session, &kernel, points, &[("drawing by this method", &step)])?;

    session.progress.step("drawing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let Drawn { subsets, how, steps, distance, effort } = drawn(&matrix, args, how, &mut rng)?;
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
            how.describe(steps)
        ),
    );
    summary.line("kernel", kernel::describe(&kernel));
    if let Some(Effort { trials, values, .. }) = effort {
        summary.line("work", format!("{trials} trials, {values} kernel values"));
        summary.value("trials", trials);
        summary.value("kernel_values", values);
    }
    if let Some(distance) = distance {
        let bound = format!("at most {distance:.4}, with 95 % confidence");
        summary.line("distance", bound);
        summary.value("steps", steps);
        summary.value("distance", distance);
    }
    summary.value("exact", how != How::Chain);
    summary.value("subsets", rows.chunks(args.size).collect::<Vec<_>>());
    summary.value("lines", lines.chunks(args.size).collect::<Vec<_>>());
    summary.value("constant", &constant);
    summary.value("rows", x.nrows());
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
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
            let problem = "--steps has no effect on exact draws; add --method swap";
            return Err(Failure::Usage(problem.into()).into());
        }
        match args.within {
            Some(_) if args.method != Sampler::Swap => {
                let problem = "--within is for the swap chain; add --method swap";
                Err(Failure::Usage(problem.into()).into())
            }
            Some(within) if !(LEAST..1.0).contains(&within) => {
                let problem = format!("--within {within}: it must be between {LEAST} and 1");
                Err(Failure::Usage(problem).into())
            }
            _ => Ok(how),
        }
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
            How::Spectrum if args.draws == 1 => {
                plan::square("eigenvalues, a few eigenvectors (n × n)", n, 2.5, 1.5)
            }
            How::Spectrum => plan::square("eigendecomposition (n × n)", n, 3.0, 9.0),
            How::Rejection => {
                let Rejection { dictionary, sample, .. } = Rejection::of_size(args.size);
                let (m, sampled) = (dictionary.min(n) as f64, sample.min(n) as f64);
                let bytes = 8.0 * (4.0 * rows + 2.0 * sampled * m + k.powi(4));
                Step::new("exact draws by rejection", None, None, bytes)
            }
            How::Chain if args.within.is_some() => {
                let what = "steps of the swap chain, until it is close to the k-DPP";
                Step::new(what, None, None, 24.0 * k * k)
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

/// The subsets, and the method that drew them.
struct Drawn {
    subsets: Vec<Landmarks>,
    how: How,
    steps: usize,
    /// The bound on the distance with `--within`.
    distance: Option<f64>,
    /// The work of the rejection sampler.
    effort: Option<Effort>,
}

/// Draws the subsets. With `--method auto`, if the rejection sampler accepts nothing, the swap
/// chain draws them.
fn drawn(k: &dyn PsdMatrix<f64>, args: &Sample, how: How, rng: &mut dyn Rng) -> Result<Drawn> {
    let steps = steps(args);
    let plain = |subsets, how| Drawn { subsets, how, steps, distance: None, effort: None };
    Ok(match (how, args.within) {
        (How::Spectrum, _) => plain(exactly(k, args.size, args.draws, rng)?, how),
        (How::Chain, Some(within)) => {
            let (steps, distance) = mixed(k, args.size, within, rng)?;
            let afresh = |_| {
                let mut chain = SwapChain::start(k, args.size, &START, RULE, rng)?;
                chain.run(steps, rng)?;
                Ok(chain.landmarks())
            };
            let subsets = (0..args.draws).map(afresh).collect::<Result<_>>()?;
            Drawn { subsets, how, steps, distance: Some(distance), effort: None }
        }
        (How::Chain, None) => plain(by_chain(k, args, steps, rng)?, how),
        (How::Rejection, _) => match by_rejection(k, args.size, args.draws, rng) {
            Ok((subsets, effort)) => Drawn { effort: Some(effort), ..plain(subsets, how) },
            Err(Error::NotAccepted { .. }) if args.method == Sampler::Auto => {
                plain(by_chain(k, args, steps, rng)?, How::Chain)
            }
            Err(error) => return Err(error.into()),
        },
    })
}

/// The number of steps after which a chain from [`START`] is within the distance `within` of the
/// k-DPP, and the bound that shows it. The bound has 95 % confidence, a union bound over [`LOOKS`].
fn mixed(
    k: &dyn PsdMatrix<f64>,
    size: usize,
    within: f64,
    rng: &mut dyn Rng,
) -> Result<(usize, f64)> {
    let pairs = (PAIRS / within).ceil() as usize;
    let exact = if k.dim() <= EXACT_UP_TO {
        exactly(k, size, pairs, rng)?
    } else {
        by_rejection(k, size, pairs, rng)?.0
    };
    let mut bound = 1.0;
    for steps in LOOKS {
        let meetings = stationary_meetings(k, size, &START, RULE, &exact, steps, rng)?;
        bound = meetings.distance(steps, 0.05 / LOOKS.len() as f64)?;
        if bound <= within {
            return Ok((steps, bound));
        }
    }
    let most = LOOKS[LOOKS.len() - 1];
    Err(Failure::Data(format!(
        "--within {within} is not reached: after {most} steps the chain is known to be within \
         {bound:.3} of the k-DPP; draw exactly, with --method rejection"
    ))
    .into())
}

fn by_rejection(
    k: &dyn PsdMatrix<f64>,
    size: usize,
    draws: usize,
    rng: &mut dyn Rng,
) -> std::result::Result<(Vec<Landmarks>, Effort), Error> {
    let mut k_dpp = RejectionKDpp::new(k, size, Rejection::of_size(size), rng)?;
    let subsets = (0..draws).map(|_| k_dpp.sample(rng)).collect::<std::result::Result<_, _>>()?;
    Ok((subsets, k_dpp.effort()))
}

fn exactly(
    k: &dyn PsdMatrix<f64>,
    size: usize,
    draws: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<Landmarks>> {
    if draws == 1 {
        return Ok(vec![LEnsemble::draw_of_size(k, size, rng)?]);
    }
    let ensemble = LEnsemble::of_size(k, size)?;
    let k_dpp = ensemble.k_dpp(size)?;
    Ok((0..draws).map(|_| k_dpp.sample(rng)).collect())
}

/// Draws from one chain, with `steps` steps before each draw.
fn by_chain(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    steps: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<Landmarks>> {
    let mut chain = SwapChain::start(k, args.size, &RpCholesky::default(), RULE, rng)?;
    let mut draw = || {
        chain.run(steps, rng)?;
        Ok(chain.landmarks())
    };
    (0..args.draws).map(|_| draw()).collect()
}
