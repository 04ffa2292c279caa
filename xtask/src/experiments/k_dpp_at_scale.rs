//! k-DPPs at scale: what an exact draw costs from a spectrum, by rejection, and by a swap chain
//! whose distance from the k-DPP is measured. Our own figure.

use std::time::Instant;

use nystrom::dpp::stationary_meetings;
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

use super::counting::Counting;
use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Draw, Grid, Measure, Results, Setting, labelled};
use crate::method::{DPPY, DPPY_ALPHA, K_DPP, K_DPP_EXACT, K_DPP_REJECTION, Method};
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
struct Size {
    k: usize,
    upto: [usize; 3],
}

labelled!(Size, |s| format!("k = {}", s.k));

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let usual = [
        Size { k: 20, upto: [3000, 1_000_000, 10_000] },
        Size { k: 50, upto: [3000, 100_000, 3000] },
        Size { k: 100, upto: [3000, 10_000, 1000] },
    ];
    let short = [(10, 100_000), (20, 30_000), (40, 10_000)]
        .map(|(k, rejection)| Size { k, upto: [1000, rejection, 1000] });
    let sizes: [Size; 3] = ctx.pick(
        [3, 5, 8].map(|k| Size { k, upto: [300; 3] }),
        ctx.short(short, usual),
        [(20, 30_000), (50, 10_000), (100, 3000)]
            .map(|(k, chain)| Size { k, upto: [10_000, 1_000_000, chain] }),
    );
    let ns: &[usize] = ctx.pick(
        &[100, 300],
        ctx.short(
            &[1000, 3000, 10_000, 30_000, 100_000],
            &[1000, 3000, 10_000, 100_000, 1_000_000],
        ),
        &[1000, 3000, 10_000, 30_000, 100_000, 1_000_000],
    );
    let results = Grid::new(ctx, "draws of the points", &sizes).repetitions(1).run(|draw| {
        ns.iter().try_for_each(|&n| cell(draw, n))?;
        by_dppy(draw, ns)
    })?;

    let mut out = results.outcome(format!(
        "One matrix of each size, {DRAWS} further draws from it; two threads or more: what is \
         timed uses all there are. Larger n for k = 50 and 100 in a full run, smaller n in a run \
         without data."
    ));
    for s in &sizes {
        for (measure, id) in [(NEXT, "next"), (FIRST, "first"), (NEXT_VALUES, "values")] {
            let (id, title) = (format!("{id}-k{}", s.k), format!("{}: {}", s.label(), measure.key));
            out.plots.extend(results.on(s).plot(&id, &title, Axis::log("points n"), measure));
        }
    }
    let measures = [FIRST, NEXT, FIRST_VALUES, NEXT_VALUES, TRIALS, STEPS, DISTANCE];
    let table = results.table("cost", "What a draw costs", &sizes, &measures);
    out.tables.extend(table.by_setting("items").by_method("method").by_x("n").build());
    out.claims = sizes.iter().flat_map(|s| claims(&results, s)).collect();
    out.values = vec![("dimension", DIMENSION.to_string()), ("pairs", PAIRS.to_string())];
    out.notes.extend(ctx.peers.as_ref().map(|_| of_dppy(&results, &sizes)));
    Ok(out)
}

/// All methods on n points.
fn cell(draw: &mut Draw<'_, Size>, n: usize) -> anyhow::Result<()> {
    let Size { k: c, upto: [spectrum, rejection, chain] } = *draw.setting;
    let x = random::standard_normal::<f64>(DIMENSION, n, &mut draw.rng(&format!("n = {n}")));
    let kernel = Counting::new(Gaussian::new(MEDIAN_SQUARED.sqrt())?);
    let k = KernelMatrix::new(&kernel, Points::from_cols(x.as_ref()))?;
    let matrix = Matrix { k: &k, kernel: &kernel, c, n: n as f64 };
    let pairs = if n <= chain { PAIRS } else { 0 };
    if n <= spectrum {
        matrix.by_spectrum(draw)?;
    }
    let started = Instant::now();
    let exact = if n <= rejection { matrix.by_rejection(draw, pairs)? } else { vec![] };
    if pairs > 0 {
        matrix.by_chain(draw, &exact, started)?;
    }
    Ok(())
}

/// DPPy's draws of points of the same distribution, up to the n at which it makes none in time.
fn by_dppy(draw: &mut Draw<'_, Size>, ns: &[usize]) -> anyhow::Result<()> {
    let Some(python) = &draw.ctx.peers else { return Ok(()) };
    let Size { k, upto: [spectrum, rejection, _] } = *draw.setting;
    for (method, tool, upto) in [(DPPY, "spectrum", spectrum), (DPPY_ALPHA, "alpha", rejection)] {
        for &n in ns.iter().filter(|n| **n <= upto) {
            let run = format!("T8 --tool {tool} --n {n} --k {k} --repeat {DRAWS} --limit {LIMIT}");
            let (lines, _) = peers::harness(python, &run)?;
            let seconds: Vec<f64> = lines.iter().filter_map(|line| line.number("s")).collect();
            for (i, seconds) in seconds.iter().enumerate() {
                draw.put(n, method, if i == 0 { FIRST } else { NEXT }, *seconds);
            }
            if seconds.is_empty() {
                break;
            }
        }
    }
    Ok(())
}

/// K, and what counts its values.
struct Matrix<'a> {
    k: &'a dyn PsdMatrix<f64>,
    kernel: &'a Counting<Gaussian>,
    c: usize,
    n: f64,
}

impl Matrix<'_> {
    fn rng(&self, draw: &Draw<'_, Size>, method: Method) -> impl Rng + use<> {
        draw.rng(&format!("{}, n = {}", method.key, self.n))
    }

    /// What a first draw took.
    fn put_first(&self, draw: &mut Draw<'_, Size>, method: Method, started: Instant) {
        let (seconds, values) = (started.elapsed().as_secs_f64(), self.kernel.take() as f64);
        draw.put_all(self.n, method, [(FIRST, seconds), (FIRST_VALUES, values)]);
    }

    fn by_spectrum(&self, draw: &mut Draw<'_, Size>) -> anyhow::Result<()> {
        let rng = &mut self.rng(draw, SPECTRUM);
        let started = Instant::now();
        let ensemble = LEnsemble::new(self.k)?;
        let k_dpp = ensemble.k_dpp(self.c)?;
        let _ = k_dpp.sample(rng);
        self.put_first(draw, SPECTRUM, started);
        for _ in 0..DRAWS {
            let _ = draw.timed(self.n, SPECTRUM, NEXT, || Ok(k_dpp.sample(rng)))?;
        }
        Ok(())
    }

    /// Draws for the chain besides those that are timed.
    fn by_rejection(
        &self,
        draw: &mut Draw<'_, Size>,
        more: usize,
    ) -> anyhow::Result<Vec<Landmarks>> {
        let rng = &mut self.rng(draw, REJECTION);
        let started = Instant::now();
        let mut k_dpp = RejectionKDpp::new(self.k, self.c, Rejection::of_size(self.c), rng)?;
        let _ = k_dpp.sample(rng)?;
        self.put_first(draw, REJECTION, started);
        for _ in 0..DRAWS {
            let before = k_dpp.effort().trials;
            let _ = draw.timed(self.n, REJECTION, NEXT, || Ok(k_dpp.sample(rng)?))?;
            draw.put(self.n, REJECTION, TRIALS, (k_dpp.effort().trials - before) as f64);
            draw.put(self.n, REJECTION, NEXT_VALUES, self.kernel.take() as f64);
        }
        (0..more).map(|_| Ok(k_dpp.sample(rng)?)).collect()
    }

    /// As many steps as bring the chain within [`WITHIN`] of the k-DPP, and draws by so many. The
    /// first includes all that it took to know.
    fn by_chain(
        &self,
        draw: &mut Draw<'_, Size>,
        exact: &[Landmarks],
        started: Instant,
    ) -> anyhow::Result<()> {
        let (start, rule, c) = (Uniform::default(), SwapRule::Metropolis, self.c);
        let rng = &mut self.rng(draw, CHAIN);
        let n = self.n as usize;
        let limit = LOOKS[LOOKS.len() - 1] * n;
        let meetings = stationary_meetings(self.k, c, &start, rule, exact, limit, rng)?;
        let bounds = LOOKS
            .iter()
            .map(|look| Ok((look * n, meetings.distance(look * n, DELTA)?)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let Some(&(steps, bound)) = bounds.iter().find(|(_, bound)| *bound <= WITHIN) else {
            draw.put(self.n, CHAIN, DISTANCE, bounds[LOOKS.len() - 1].1);
            return Ok(()); // not certified, and the distance says so
        };
        draw.put(self.n, CHAIN, STEPS, steps as f64);
        draw.put(self.n, CHAIN, DISTANCE, bound);
        self.kernel.take();
        for _ in 0..DRAWS {
            let _ = draw.timed(self.n, CHAIN, NEXT, || {
                let mut chain = SwapChain::start(self.k, c, &start, rule, rng)?;
                chain.run(steps, rng)?;
                Ok(chain.landmarks())
            })?;
            draw.put(self.n, CHAIN, NEXT_VALUES, self.kernel.take() as f64);
        }
        draw.put(self.n, CHAIN, FIRST, started.elapsed().as_secs_f64());
        Ok(())
    }
}

fn claims(results: &Results, s: &Size) -> Vec<Claim> {
    let (here, words) =
        (results.on(s), "exponent of n, kernel values of a first draw by rejection");
    let linear = here.measured(words, here.exponent(REJECTION, FIRST_VALUES));
    let linear = linear.at_most("ours: linear in n", LINEAR);
    let by_chain = |what: &str| {
        format!(
            "{what} of a draw by the chain, {WITHIN} from the k-DPP, over that of an exact one by \
             rejection"
        )
    };
    let near = "ours: exact draws cost less than chains that are known to be near";
    let [first, next] = ["first", "further"]
        .map(|which| format!("time of a {which} draw by DPPy's alpha over ours"));
    let fast = "ours: ten times as fast";
    let ratios = [
        (DPPY_ALPHA, FIRST, first, fast, 10.0),
        (DPPY_ALPHA, NEXT, next, fast, 10.0),
        (CHAIN, NEXT, by_chain("time"), near, 1.0),
        (CHAIN, NEXT_VALUES, by_chain("kernel values"), near, 1.0),
    ];
    // at the largest n at which both were measured
    let ratios = ratios.into_iter().filter_map(|(method, measure, what, words, least)| {
        let of = |method, n: f64| here.sample(n, method, measure);
        let mut all = here.abscissae(method, measure).into_iter();
        let n = all.rfind(|&n| !of(REJECTION, n).draws.is_empty())?;
        let ratio = of(method, n).estimate().over(of(REJECTION, n).estimate());
        Some(measured(format!("{}, n = {n}: {what}", s.label()), ratio).at_least(words, least))
    });
    [linear].into_iter().chain(ratios).collect()
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
