//! k-DPPs at scale: what an exact draw costs from a spectrum, by rejection, and by a swap chain
//! whose distance from the k-DPP is measured. Our own figure.

use std::time::Instant;

use nystrom::dpp::stationary_meetings;
use nystrom::sketch::Uniform;

use super::counting::Counting;
use crate::lab::*;
use crate::peers;

const SPECTRUM: Method = K_DPP_EXACT.called("spectrum");
const REJECTION: Method = K_DPP_REJECTION;
const CHAIN: Method = K_DPP.called("swap chain");

const FIRST: Measure = Measure::time("first draw", "time of the first draw / s");
const NEXT: Measure = Measure::time("next draw", "time of a further draw / s");
const FIRST_VALUES: Measure = Measure::named("kernel values, first draw");
const NEXT_VALUES: Measure =
    Measure::new("kernel values, next draw", "kernel values of a further draw").log();
const TRIALS: Measure = Measure::named("trials");
const STEPS: Measure = Measure::named("steps");
/// A bound of the distance in total variation.
const DISTANCE: Measure = Measure::named("distance");

const DIMENSION: usize = 10;
/// The square of the points' median distance.
const MEDIAN_SQUARED: f64 = 18.68;
/// The chain is to be this close to the k-DPP, by so many pairs. It has to be at the latest after
/// the last of these multiples of n steps.
const WITHIN: f64 = 0.1;
const PAIRS: usize = 80;
const LOOKS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Confidence of the distance: 1 − 0.05, whichever of the looks is the first to show it.
const DELTA: f64 = 0.05 / LOOKS.len() as f64;
/// Draws after the first one.
const DRAWS: usize = 5;
/// "Linear in n": the exponent of n.
const LINEAR: f64 = 1.1;
/// The seconds in which DPPy is to make its draws.
const LIMIT: u64 = 120;

/// A number of items, and the numbers of points up to which spectrum, rejection and chain are run.
type Size = [usize; 4];

labelled!(Size, |size| format!("k = {}", size[0]));

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let usual =
        [[20, 3000, 1_000_000, 10_000], [50, 3000, 100_000, 3000], [100, 3000, 10_000, 1000]];
    let short = [[10, 1000, 100_000, 1000], [20, 1000, 30_000, 1000], [40, 1000, 10_000, 1000]];
    let full = [(20, 30_000), (50, 10_000), (100, 3000)];
    let full = full.map(|(k, chain)| [k, 10_000, 1_000_000, chain]);
    let smoke = [3, 5, 8].map(|k| [k, 300, 300, 300]);
    let sizes: [Size; 3] = ctx.pick(smoke, ctx.short(short, usual), full);
    let ns: &[usize] = ctx.pick(
        &[100, 300],
        ctx.short(
            &[1000, 3000, 10_000, 30_000, 100_000],
            &[1000, 3000, 10_000, 100_000, 1_000_000],
        ),
        &[1000, 3000, 10_000, 30_000, 100_000, 1_000_000],
    );
    let results = Grid::new(ctx, "draws of the points", &sizes, [(0, 1)]).run(|trial| {
        ns.iter().try_for_each(|&n| cell(trial, n))?;
        by_dppy(trial, ns)
    })?;

    let mut out = results.outcome(format!(
        "One matrix of each size, {DRAWS} further draws from it; two threads or more: what is \
         timed uses all there are. Larger n for k = 50 and 100 in a full run, smaller n in a run \
         without data."
    ));
    for s in &sizes {
        for (measure, id) in [(NEXT, "next"), (FIRST, "first"), (NEXT_VALUES, "values")] {
            let (id, title) =
                (format!("{id}-k{}", s[0]), format!("{}: {}", s.label(), measure.key));
            out.plots.extend(results.on(s).plot(&id, &title, Axis::log("points n"), measure));
        }
    }
    let measures = [FIRST, NEXT, FIRST_VALUES, NEXT_VALUES, TRIALS, STEPS, DISTANCE];
    let (table, keys) = (["cost", "What a draw costs"], ["items", "n", "method"]);
    out.tables.extend(results.table(table, &sizes, keys, &[], &measures));
    out.claims = sizes.iter().flat_map(|s| claims(&results, s)).collect();
    out.values = vec![("dimension", DIMENSION.to_string()), ("pairs", PAIRS.to_string())];
    out.notes.extend(ctx.peers.as_ref().map(|_| of_dppy(&results, &sizes)));
    Ok(out)
}

/// All methods on n points. Rejection makes the exact draws that the chain is measured against.
fn cell(trial: &mut Trial<'_, Size>, n: usize) -> anyhow::Result<()> {
    let [c, spectrum, rejection, chain] = *trial.setting;
    let x = random::standard_normal::<f64>(DIMENSION, n, &mut trial.rng(&format!("n = {n}")));
    let kernel = Counting::new(Gaussian::new(MEDIAN_SQUARED.sqrt())?);
    let k = KernelMatrix::new(&kernel, Points::from_cols(x.as_ref()))?;
    let [spectrum_rng, rejection_rng, chain_rng] = &mut [SPECTRUM, REJECTION, CHAIN]
        .map(|method| trial.rng(&format!("{}, n = {n}", method.key)));
    let put_first = |trial: &mut Trial<'_, Size>, method, started: Instant| {
        let (seconds, values) = (started.elapsed().as_secs_f64(), kernel.take() as f64);
        trial.put_all(n, method, [(FIRST, seconds), (FIRST_VALUES, values)]);
    };
    let started = Instant::now();
    if n <= spectrum {
        let ensemble = LEnsemble::new(&k)?;
        let k_dpp = ensemble.k_dpp(c)?;
        let _ = k_dpp.sample(spectrum_rng);
        put_first(trial, SPECTRUM, started);
        for _ in 0..DRAWS {
            let _ = trial.timed(n, SPECTRUM, NEXT, || Ok(k_dpp.sample(spectrum_rng)))?;
        }
    }
    let (started, pairs, mut exact) = (Instant::now(), if n <= chain { PAIRS } else { 0 }, vec![]);
    if n <= rejection {
        let (how, rng) = (Rejection::of_size(c), rejection_rng);
        let mut k_dpp = RejectionKDpp::new(&k, c, how, rng)?;
        let _ = k_dpp.sample(rng)?;
        put_first(trial, REJECTION, started);
        for _ in 0..DRAWS {
            let before = k_dpp.effort().trials;
            let _ = trial.timed(n, REJECTION, NEXT, || Ok(k_dpp.sample(rng)?))?;
            let trials = (k_dpp.effort().trials - before) as f64;
            trial.put_all(n, REJECTION, [(TRIALS, trials), (NEXT_VALUES, kernel.take() as f64)]);
        }
        exact = (0..pairs).map(|_| k_dpp.sample(rng)).collect::<Result<_>>()?;
    }
    if pairs == 0 {
        return Ok(());
    }
    // As many steps as bring the chain within the distance, and draws by so many. The first draw
    // includes all that it took to know.
    let (start, rule, rng) = (Uniform::default(), SwapRule::Metropolis, chain_rng);
    let limit = LOOKS[LOOKS.len() - 1] * n;
    let meetings = stationary_meetings(&k, c, &start, rule, &exact, limit, rng)?;
    let bound = |look: usize| Ok((look * n, meetings.distance(look * n, DELTA)?));
    let bounds = LOOKS.map(bound).into_iter().collect::<Result<Vec<_>>>()?;
    let Some(&(steps, bound)) = bounds.iter().find(|(_, bound)| *bound <= WITHIN) else {
        trial.put(n, CHAIN, DISTANCE, bounds[LOOKS.len() - 1].1);
        return Ok(()); // not certified, and the distance says so
    };
    trial.put_all(n, CHAIN, [(STEPS, steps as f64), (DISTANCE, bound)]);
    kernel.take();
    for _ in 0..DRAWS {
        let _ = trial.timed(n, CHAIN, NEXT, || {
            let mut chain = SwapChain::start(&k, c, &start, rule, rng)?;
            chain.run(steps, rng)?;
            Ok(chain.landmarks())
        })?;
        trial.put(n, CHAIN, NEXT_VALUES, kernel.take() as f64);
    }
    trial.put(n, CHAIN, FIRST, started.elapsed().as_secs_f64());
    Ok(())
}

/// DPPy's draws of points of the same distribution, up to the n at which it makes none in time.
fn by_dppy(trial: &mut Trial<'_, Size>, ns: &[usize]) -> anyhow::Result<()> {
    let Some(python) = &trial.ctx.peers else { return Ok(()) };
    let [k, spectrum, rejection, _] = *trial.setting;
    for (method, tool, upto) in [(DPPY, "spectrum", spectrum), (DPPY_ALPHA, "alpha", rejection)] {
        for &n in ns.iter().filter(|n| **n <= upto) {
            let run = format!("T8 --tool {tool} --n {n} --k {k} --repeat {DRAWS} --limit {LIMIT}");
            let (lines, _) = peers::harness(python, &run)?;
            let seconds: Vec<f64> = lines.iter().filter_map(|line| line.number("s")).collect();
            for (i, seconds) in seconds.iter().enumerate() {
                trial.put(n, method, if i == 0 { FIRST } else { NEXT }, *seconds);
            }
            if seconds.is_empty() {
                break;
            }
        }
    }
    Ok(())
}

fn claims(results: &Results, s: &Size) -> Vec<Claim> {
    let here = results.on(s);
    let words = "exponent of n, kernel values of a first draw by rejection";
    let linear = here.measured(words, here.exponent(REJECTION, FIRST_VALUES));
    let mut claims = vec![linear.at_most("ours: linear in n", LINEAR)];
    let by_chain = format!(
        "of a draw by the chain, {WITHIN} from the k-DPP, over that of an exact one by rejection"
    );
    let near = "ours: exact draws cost less than chains that are known to be near";
    let first = "time of a first draw by DPPy's alpha over ours";
    let next = "time of a further draw by DPPy's alpha over ours";
    let fast = "ours: ten times as fast";
    for (method, measure, what, words, least) in [
        (DPPY_ALPHA, FIRST, first, fast, 10.0),
        (DPPY_ALPHA, NEXT, next, fast, 10.0),
        (CHAIN, NEXT, &format!("time {by_chain}"), near, 1.0),
        (CHAIN, NEXT_VALUES, &format!("kernel values {by_chain}"), near, 1.0),
    ] {
        let of = |method, n: f64| here.sample(n, method, measure);
        // at the largest n at which both were measured
        let mut all = here.abscissae(method, measure).into_iter();
        if let Some(n) = all.rfind(|&n| !of(REJECTION, n).draws.is_empty()) {
            let ratio = of(method, n).estimate().over(of(REJECTION, n).estimate());
            let text = format!("{}, n = {n}: {what}", s.label());
            claims.push(measured(text, ratio).at_least(words, least));
        }
    }
    claims
}

/// How far DPPy went.
fn of_dppy(results: &Results, sizes: &[Size]) -> String {
    let reach = |s: &Size, method| match results.on(s).abscissae(method, FIRST).last() {
        Some(n) => format!("n = {n}"),
        None => "none".into(),
    };
    let of = |s: &Size| format!("{}: {} and {}", s.label(), reach(s, DPPY), reach(s, DPPY_ALPHA));
    format!(
        "DPPy, of points of the same law, by its spectrum and by alpha: as many draws as {LIMIT} s \
         allow, up to the n at which they allow none. It refuses by alpha more items than a DPP \
         has on average. The largest n with a draw: {}.",
        sizes.iter().map(of).collect::<Vec<_>>().join("; ")
    )
}
