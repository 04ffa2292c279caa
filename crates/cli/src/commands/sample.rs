//! `nystrom sample`.

use super::basis::why_fewer;
use super::select::CHAIN_STEPS;
use super::subset::Wanted;
use crate::args::{Output, Sample, Sampler};
use crate::failure::{Result, data, usage};
use crate::input::Data;
use crate::kernel;
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::dpp::{Effort, QuotaKDpp, stationary_meetings};
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
    let (session, mut rng) = Session::start(&args.of.run, &Alone)?;
    for output in args.inclusion.iter().chain([&args.output]) {
        check_writable(output, &[&args.of.data.data], &session)?;
    }
    check(args)?;
    let (data, wanted) = Wanted::read(args, &session)?;
    let points = data.points();
    let n = points.len();
    validate::at_most("rows in a subset (--size)", args.size, n)?;
    let method = method(args, n)?;
    let kernel = kernel::kernel(&args.of.kernel, points, session.meter(), &mut rng)?;
    let step = step(method, n, args).named("drawing by this method");
    plan::announce(&session, &kernel, points, std::slice::from_ref(&step))?;

    session.step("drawing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let Drawn { subsets, method, steps, distance, effort, log_det, inclusion } =
        draw(&matrix, args, (&wanted, &data), method, &mut rng)?;
    session.clear();
    let lengths = subsets.iter().map(Vec::len);
    let draws = lengths.enumerate().flat_map(|(draw, length)| vec![draw; length]).collect();
    let place = |subset: &Vec<usize>| data.at(subset.iter().copied());
    let (rows, lines): (Vec<Vec<usize>>, Vec<Vec<usize>>) = subsets.iter().map(place).unzip();
    let mut columns = ResultColumns::default();
    columns.push("draw", ResultValues::Counts(draws));
    columns.0.extend(ResultColumns::of_rows(rows.concat(), lines.concat()).0);
    columns.write(&args.output, &session)?;

    let mut summary = Summary::of("sample");
    if let Some((probabilities, output)) = inclusion.zip(args.inclusion.as_ref()) {
        let (rows, lines) = data.at(0..n);
        let mut columns = ResultColumns::of_rows(rows, lines);
        columns.push("probability", ResultValues::Numbers(probabilities));
        columns.write(output, &session)?;
    }
    let how = match method {
        Sampler::Exact => "exactly".into(),
        Sampler::Rejection => "exactly, by rejection".into(),
        Sampler::Swap | Sampler::Auto => format!("by {steps} steps of the swap chain each"),
        Sampler::Greedy => "greedily".into(),
    };
    let count = text::count(args.draws, "subset");
    let fewer = why_fewer(rows[0].len(), args.size);
    summary.line("drawn", format!("{count} of {} rows each, {how}{fewer}", rows[0].len()));
    wanted.describe(args, &data, &mut summary);
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
    if let Some(log_det) = log_det {
        summary.line("ln det", number(log_det));
        summary.value("log_det", log_det);
    }
    summary.value("exact", matches!(method, Sampler::Exact | Sampler::Rejection));
    summary.value("subsets", &rows);
    summary.value("lines", &lines);
    summary.value("constant", &data.constant);
    summary.value("rows", n);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.of.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// Refuses options that do not go together, before the table is read.
fn check(args: &Sample) -> Result<()> {
    validate::not_empty("number of subsets (--draws)", args.draws)?;
    match args.method {
        Sampler::Rejection | Sampler::Swap | Sampler::Greedy if args.inclusion.is_some() => {
            Err(usage("--inclusion needs --method exact; leave out --method"))
        }
        _ if args.inclusion.as_ref().is_some_and(Output::is_stdout) => {
            Err(usage("--inclusion writes a file; name one that ends with .csv or .npy"))
        }
        Sampler::Rejection if args.quota.is_some() => Err(usage(
            "within quotas there are --method exact, for a few groups, swap and greedy; choose one \
             of these",
        )),
        Sampler::Greedy if args.draws > 1 => {
            Err(usage("--method greedy gives one subset; leave out --draws, or draw at random"))
        }
        _ => Ok(()),
    }
}

/// The method of `--method`, where `auto` depends on n.
fn method(args: &Sample, n: usize) -> Result<Sampler> {
    let method = match args.method {
        _ if args.inclusion.is_some() => Sampler::Exact,
        Sampler::Auto if args.quota.is_some() => Sampler::Swap,
        Sampler::Auto if n <= EXACT_UP_TO => Sampler::Exact,
        Sampler::Auto if Rejection::suits(n, args.size) => Sampler::Rejection,
        Sampler::Auto => Sampler::Swap,
        given => given,
    };
    if method != Sampler::Swap && args.steps.is_some() {
        return Err(usage("--steps is for the swap chain only; add --method swap"));
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
        Sampler::Exact if args.quota.is_some() => {
            plan::square("up to 16 eigendecompositions (n × n)", n, 4.0, 140.0)
        }
        Sampler::Exact if args.draws == 1 && args.inclusion.is_none() => {
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
        Sampler::Greedy => {
            Step::new("greedy choice", Some(rows * k), Some(rows * k * k), 8.0 * rows * (k + 4.0))
        }
    }
}

/// Steps of the chain before each draw.
fn steps(args: &Sample) -> usize {
    args.steps.unwrap_or(CHAIN_STEPS)
}

/// The subsets, and the method that drew them.
struct Drawn {
    subsets: Vec<Vec<usize>>,
    method: Sampler,
    steps: usize,
    /// The bound on the distance with `--within`.
    distance: Option<f64>,
    /// The work of the rejection sampler.
    effort: Option<Effort>,
    /// ln det of the greedy choice.
    log_det: Option<f64>,
    /// The probability of each row, with `--inclusion`.
    inclusion: Option<Vec<f64>>,
}

/// Draws the subsets under the constraints `wanted`: from the matrix with the quality of its rows,
/// of which the rows to include leave a Schur complement.
fn draw(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    (wanted, data): (&Wanted, &Data),
    method: Sampler,
    rng: &mut dyn Rng,
) -> Result<Drawn> {
    let scaled = wanted.quality.clone().map(|q| Scaled::new(k, q)).transpose()?;
    let k = scaled.as_ref().map_or(k, |scaled| scaled as &dyn PsdMatrix<f64>);
    if wanted.given.is_empty() {
        return drawn(k, args, (args.size, wanted.quotas.as_ref()), method, rng)
            .map_err(|error| named(error, wanted, data));
    }
    let rest = SchurComplement::new(k, &wanted.given).map_err(|error| wanted.named(error, data))?;
    let size = rest.missing(args.size)?;
    let quotas = wanted.quotas.as_ref().map(|quotas| quotas.after(rest.given(), rest.rest()));
    let quotas = quotas.transpose().map_err(|error| wanted.named(error, data))?;
    let found = match size {
        0 => Ok(Drawn { subsets: vec![Vec::new(); args.draws], ..Drawn::nothing(method) }),
        _ => drawn(&rest, args, (size, quotas.as_ref()), method, rng),
    };
    let mut found = found.map_err(|error| named(error, wanted, data))?;
    found.subsets.iter_mut().for_each(|subset| *subset = rest.complete(subset));
    found.log_det = found.log_det.map(|log_det| log_det + rest.log_det());
    found.inclusion = args.inclusion.as_ref().map(|_| {
        let mut of_all = vec![1.0; k.dim()];
        let of_rest = found.inclusion.unwrap_or_else(|| vec![0.0; rest.dim()]);
        rest.rest().iter().zip(of_rest).for_each(|(&i, p)| of_all[i] = p);
        of_all
    });
    Ok(found)
}

/// An error of the library with names of the table; another error as it is.
fn named(error: anyhow::Error, wanted: &Wanted, data: &Data) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => wanted.named(error, data),
        Err(error) => error,
    }
}

impl Drawn {
    fn nothing(method: Sampler) -> Drawn {
        let log_det = (method == Sampler::Greedy).then_some(0.0);
        let (subsets, distance, effort) = (Vec::new(), None, None);
        Drawn { subsets, method, steps: 0, distance, effort, log_det, inclusion: None }
    }
}

/// Draws subsets of `size` rows of K, within the quotas if there are any. With `--method auto`, if
/// the rejection sampler accepts nothing, the swap chain draws them.
fn drawn(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    (size, quotas): (usize, Option<&Quotas>),
    method: Sampler,
    rng: &mut dyn Rng,
) -> Result<Drawn> {
    let mut found = Drawn { steps: steps(args), ..Drawn::nothing(method) };
    let subsets = match (method, args.within) {
        (Sampler::Exact, _) if args.inclusion.is_some() => {
            let ensemble = LEnsemble::new(k)?;
            let k_dpp = ensemble.k_dpp(size)?;
            found.inclusion = Some(k_dpp.inclusion());
            (0..args.draws).map(|_| k_dpp.sample(rng)).collect()
        }
        (Sampler::Exact, _) => match quotas {
            Some(quotas) => {
                let k_dpp = QuotaKDpp::new(k, quotas)?;
                (0..args.draws).map(|_| k_dpp.sample(rng)).collect::<nystrom::Result<_>>()?
            }
            None => exactly(k, size, args.draws, rng)?,
        },
        (Sampler::Rejection, _) => match by_rejection(k, size, args.draws, rng) {
            Ok((subsets, work)) => {
                found.effort = Some(work);
                subsets
            }
            Err(Error::NotAccepted { .. }) if args.method == Sampler::Auto => {
                return drawn(k, args, (size, quotas), Sampler::Swap, rng);
            }
            Err(error) => return Err(error.into()),
        },
        (Sampler::Greedy, _) => {
            let f = match quotas {
                Some(quotas) => GreedyByGroup { quotas: quotas.clone() }.factor(k)?,
                None => Greedy::default().factor(k, size)?,
            };
            found.log_det = Some(f.log_det());
            vec![Landmarks::from_pivots(&f)?]
        }
        (_, Some(within)) => {
            let (enough, bound) = mixed(k, size, within, rng)?;
            (found.steps, found.distance) = (enough, Some(bound));
            let afresh = |_| {
                let mut chain = SwapChain::start(k, size, &START, RULE, rng)?;
                chain.run(enough, rng)?;
                Ok(chain.landmarks())
            };
            (0..args.draws).map(afresh).collect::<Result<_>>()?
        }
        (_, None) => {
            // one chain, with `steps` steps before each draw
            let mut chain = match quotas {
                Some(quotas) => SwapChain::with_quotas(k, quotas, RULE)?,
                None => SwapChain::start(k, size, &RpCholesky::default(), RULE, rng)?,
            };
            let draw = |_| {
                chain.run(found.steps, rng)?;
                Ok(chain.landmarks())
            };
            (0..args.draws).map(draw).collect::<Result<_>>()?
        }
    };
    found.subsets = subsets.into_iter().map(Landmarks::into_indices).collect();
    Ok(found)
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
