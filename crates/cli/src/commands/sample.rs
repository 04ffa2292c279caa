//! `nystrom sample`.

use super::select::CHAIN_STEPS;
use crate::args::{Sample, Sampler};
use crate::failure::{Result, data, usage};
use crate::input;
use crate::kernel;
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::dpp::{Effort, stationary_meetings};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{Draw, Uniform};
use nystrom_pipeline::Alone;

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
    let (session, mut rng) = Session::start(&args.run, &Alone)?;
    check_writable(&args.output, &[&args.data.data], &session)?;
    validate::not_empty("number of subsets (--draws)", args.draws)?;
    let data = input::points(&args.data, &args.run, &session)?;
    let points = Points::from_rows(data.x.as_ref());
    let n = points.len();
    validate::at_most("rows in a subset (--size)", args.size, n)?;
    let method = method(args, n)?;
    let kernel = kernel::kernel(&args.kernel, points, session.meter(), &mut rng)?;
    let step = step(method, n, args).named("drawing by this method");
    plan::announce(&session, &kernel, points, std::slice::from_ref(&step))?;

    session.step("drawing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let Drawn { subsets, method, steps, distance, effort } =
        drawn(&matrix, args, method, &mut rng)?;
    session.clear();
    let draws = (0..args.draws).flat_map(|draw| vec![draw; args.size]).collect();
    let indices = subsets.iter().flat_map(|subset| subset.indices()).copied();
    let (rows, lines) = data.at(indices);
    let mut columns = ResultColumns::default();
    columns.push("draw", ResultValues::Counts(draws));
    columns.0.extend(ResultColumns::of_rows(rows.clone(), lines.clone()).0);
    columns.write(&args.output, &session)?;

    let mut summary = Summary::of("sample");
    let how = match method {
        Sampler::Exact => "exactly".into(),
        Sampler::Rejection => "exactly, by rejection".into(),
        Sampler::Swap | Sampler::Auto => format!("by {steps} steps of the swap chain each"),
    };
    let subsets = text::count(args.draws, "subset");
    summary.line("drawn", format!("{subsets} of {} rows each, {how}", args.size));
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
    summary.value("exact", method != Sampler::Swap);
    summary.value("subsets", rows.chunks(args.size).collect::<Vec<_>>());
    summary.value("lines", lines.chunks(args.size).collect::<Vec<_>>());
    summary.value("constant", &data.constant);
    summary.value("rows", n);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// The method of `--method`, where `auto` depends on n.
fn method(args: &Sample, n: usize) -> Result<Sampler> {
    let method = match args.method {
        Sampler::Auto if n <= EXACT_UP_TO => Sampler::Exact,
        Sampler::Auto if Rejection::suits(n, args.size) => Sampler::Rejection,
        Sampler::Auto => Sampler::Swap,
        given => given,
    };
    if method != Sampler::Swap && args.steps.is_some() {
        return Err(usage("--steps has no effect on exact draws; add --method swap"));
    }
    match args.within {
        Some(_) if args.method != Sampler::Swap => {
            Err(usage("--within is for the swap chain; add --method swap"))
        }
        Some(within) if !(LEAST..1.0).contains(&within) => {
            Err(usage(format!("--within {within}: it must be between {LEAST} and 1")))
        }
        _ => Ok(method),
    }
}

fn step(method: Sampler, n: usize, args: &Sample) -> Step {
    let (rows, k) = (n as f64, args.size as f64);
    let walked = (steps(args) * args.draws) as f64;
    match method {
        Sampler::Exact if args.draws == 1 => {
            plan::square("eigenvalues, a few eigenvectors (n × n)", n, 2.5, 1.5)
        }
        Sampler::Exact => plan::square("eigendecomposition (n × n)", n, 3.0, 9.0),
        Sampler::Rejection => {
            let Rejection { dictionary, sample, .. } = Rejection::of_size(args.size);
            let (m, sampled) = (dictionary.min(n) as f64, sample.min(n) as f64);
            let bytes = 8.0 * (4.0 * rows + 2.0 * sampled * m + k.powi(4));
            Step::new("exact draws by rejection", None, None, bytes)
        }
        Sampler::Swap | Sampler::Auto if args.within.is_some() => {
            let what = "steps of the swap chain, until it is close to the k-DPP";
            Step::new(what, None, None, 24.0 * k * k)
        }
        Sampler::Swap | Sampler::Auto => Step::new(
            format!("{walked} steps of the swap chain"),
            Some(rows * k + walked * k),
            Some(rows * k * k + walked * k * k),
            8.0 * (rows * k + 3.0 * k * k),
        ),
    }
}

/// Steps of the chain before each draw.
fn steps(args: &Sample) -> usize {
    args.steps.unwrap_or(CHAIN_STEPS)
}

/// The subsets, and the method that drew them.
struct Drawn {
    subsets: Vec<Landmarks>,
    method: Sampler,
    steps: usize,
    /// The bound on the distance with `--within`.
    distance: Option<f64>,
    /// The work of the rejection sampler.
    effort: Option<Effort>,
}

/// Draws the subsets. With `--method auto`, if the rejection sampler accepts nothing, the swap
/// chain draws them.
fn drawn(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    method: Sampler,
    rng: &mut dyn Rng,
) -> Result<Drawn> {
    let (mut steps, mut distance, mut effort) = (steps(args), None, None);
    let subsets = match (method, args.within) {
        (Sampler::Exact, _) => exactly(k, args.size, args.draws, rng)?,
        (Sampler::Rejection, _) => match by_rejection(k, args.size, args.draws, rng) {
            Ok((subsets, work)) => {
                effort = Some(work);
                subsets
            }
            Err(Error::NotAccepted { .. }) if args.method == Sampler::Auto => {
                return drawn(k, args, Sampler::Swap, rng);
            }
            Err(error) => return Err(error.into()),
        },
        (_, Some(within)) => {
            let (enough, bound) = mixed(k, args.size, within, rng)?;
            (steps, distance) = (enough, Some(bound));
            let afresh = |_| {
                let mut chain = SwapChain::start(k, args.size, &START, RULE, rng)?;
                chain.run(steps, rng)?;
                Ok(chain.landmarks())
            };
            (0..args.draws).map(afresh).collect::<Result<_>>()?
        }
        (_, None) => {
            // one chain, with `steps` steps before each draw
            let mut chain = SwapChain::start(k, args.size, &RpCholesky::default(), RULE, rng)?;
            let draw = |_| {
                chain.run(steps, rng)?;
                Ok(chain.landmarks())
            };
            (0..args.draws).map(draw).collect::<Result<_>>()?
        }
    };
    Ok(Drawn { subsets, method, steps, distance, effort })
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
    Err(data(format!(
        "--within {within} is not reached: after {most} steps the chain is known to be within \
         {bound:.3} of the k-DPP; draw exactly, with --method rejection"
    )))
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
