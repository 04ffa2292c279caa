//! Figures 1 and 3 of Chen & Yang 2021, on the bimodal design. Figure 1: time of the scores against
//! n, and the error of Nyström regression against that time. Figure 3: Gaussian kernels in growing
//! dimension, where leverage-based sampling loses its advantage.

use nystrom::leverage::KernelDensity;

use super::bimodal::*;
use crate::lab::*;

/// Kernel, design, ridge λ = c·n^{−e} and number of draws d_sub = ⌊c·n^e⌋.
struct Config {
    key: &'static str,
    nu: f64,
    gamma: f64,
    lambda: (f64, f64),
    draws: (f64, f64),
}

const CONFIGS: [Config; 2] = [
    Config { key: "a", nu: 1.5, gamma: 0.4, lambda: (0.075, 2.0 / 3.0), draws: (5.0, 1.0 / 3.0) },
    Config { key: "b", nu: 0.5, gamma: 0.5, lambda: (0.3, 4.0 / 7.0), draws: (1.3, 3.0 / 7.0) },
];

labelled!(Config, |c| format!("config {}", c.key.to_uppercase()));

/// Legends and tables go in this order, then the true density, and what is n × n.
const TIMED: [Method; 8] =
    [VANILLA, RC, RC_CAPPED, BLESS, BLESS_CAPPED, SA_GRID, SPECTRAL_TREE, SA_AVERAGED];
/// The number of draws is multiplied by these at one n, to see how many more landmarks a method
/// needs.
const MULTIPLES: [usize; 4] = [1, 2, 4, 8];
/// Draws of the problem whose times on one core are taken too.
const ON_ONE_CORE: usize = 2;

const SECONDS: Measure = Measure::time("time", "time of the scores / s");
const ONE_CORE: Measure = Measure::time("time on one core", "time of the scores on one core / s");
const SWEPT: Measure = Measure::new("error with more landmarks", ERROR.label).log();

/// Draws of landmarks per draw of the problem, the n of [`MULTIPLES`], and the largest n at which
/// n × n methods run.
fn limits(ctx: &Context) -> (usize, usize, usize) {
    ctx.pick((1, 300, 300), (3, 4472, 2000), (5, 10_000, 10_000))
}

pub fn fig1(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(300, 2), (600, 2)],
        ctx.short(
            &[(2000, 6), (4472, 5), (10_000, 3), (50_000, 2)],
            &[(2000, 12), (4472, 8), (10_000, 5), (22_361, 3), (50_000, 2)],
        ),
        &[
            (2000, 30),
            (4472, 30),
            (10_000, 30),
            (22_361, 30),
            (50_000, 30),
            (158_114, 10),
            (500_000, 5),
        ],
    );
    let (landmark_draws, sweep, _) = limits(ctx);
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let grid = Grid::new(ctx, "draws of the problem", &CONFIGS, sizes.iter().copied());
    let results = grid.run(|trial| time_and_error(trial, &one_core))?;

    let note = "draws of the landmarks on each; a full run goes to n = 500,000. The paper: 30 \
                draws; its sizes are illegible";
    let mut out = results.outcome(format!("{}, {} {note}", results.draws(), landmark_draws));
    for config in &CONFIGS {
        let (here, key, name) = (results.on(config), config.key, config.key.to_uppercase());
        let title = |what: &str| format!("Config {name}, Matérn ν = {}: {what}", config.nu);
        let plot = |kind: &str, what: &str, x: &str, y: Measure| {
            here.plot(&format!("{kind}-{key}"), &title(what), Axis::log(x), y)
        };
        let n = "number of points n";
        let one_core = "time of the scores on one core, as in the paper";
        let along = title("error against time, n growing along each line (right panel)");
        let more = format!("more landmarks at n = {sweep}");
        let plots = [
            plot("time", "time of the scores (left panel)", n, SECONDS),
            plot("time-one-core", one_core, n, ONE_CORE),
            here.plot_against(&format!("time-error-{key}"), &along, SECONDS, ERROR),
            plot("error", "error against n, with standard errors", n, ERROR),
            plot("draws", &more, "draws of landmarks", SWEPT),
        ];
        out.plots.extend(plots.into_iter().flatten());
        let title = format!("Config {name}: median times of the scores, mean error");
        let (id, measures) = (format!("fig1-{key}"), [SECONDS, ONE_CORE, ERROR]);
        let facts = results.facts();
        out.tables.extend(results.table([&id, &title], [config], ["", "n", ""], &facts, &measures));
        out.claims.extend(claims_on_time(&here, results.last()));
    }
    Ok(out)
}

/// One draw of design and noise, and every method on it.
fn time_and_error(
    trial: &mut Trial<'_, Config>,
    one_core: &rayon::ThreadPool,
) -> anyhow::Result<()> {
    let (n, Config { nu, gamma, lambda, draws, .. }) = (trial.size, trial.setting);
    let (landmark_draws, sweep, largest_exact) = limits(trial.ctx);
    let lambda = lambda.0 * (n as f64).powf(-lambda.1);
    let d_sub = (draws.0 * (n as f64).powf(draws.1)) as usize;
    let (kernel, truth) = (Matern::new(*nu, 1.0)?, BimodalPoints::radial_truth);
    let rng = &mut trial.rng("problem");
    let problem = Regression::new((n, 3, *gamma), truth, kernel, lambda, rng);
    trial.facts(n, [("d_sub", d_sub as f64), ("λ", lambda)]);
    let small = n <= largest_exact;
    for method in TIMED.into_iter().chain([SPECTRAL_TRUE]).chain(small.then_some(LEVERAGE)) {
        let rng = &mut trial.rng(method.key);
        let (scores, seconds) = timed(|| problem.scores(method, d_sub, rng));
        let (scores, is_timed) = (scores?, ![VANILLA, SPECTRAL_TRUE].contains(&method));
        if is_timed {
            trial.put(n, method, SECONDS, seconds);
        }
        if is_timed && trial.repetition < ON_ONE_CORE {
            let rng = &mut trial.rng(method.key);
            let scores = || one_core.install(|| problem.scores(method, d_sub, rng));
            trial.timed(n, method, ONE_CORE, scores)?;
        }
        if method == SPECTRAL_TREE {
            continue; // the grid's scores within a few percent
        }
        let multiples = if n == sweep { &MULTIPLES[..] } else { &MULTIPLES[..1] };
        for multiple in multiples {
            let errors = (0..landmark_draws).map(|_| problem.error(&scores, multiple * d_sub, rng));
            let mean = errors.sum::<anyhow::Result<f64>>()? / landmark_draws as f64;
            if *multiple == 1 {
                trial.put(n, method, ERROR, mean);
            }
            if n == sweep {
                trial.put(multiple * d_sub, method, SWEPT, mean);
            }
        }
    }
    if small {
        trial.put(n, FULL, ERROR, problem.error_of(&problem.exact()?)?);
    }
    Ok(())
}

/// Errors within this factor are called equal, beyond it clearly different.
const EQUAL: f64 = 1.25;
/// "Orders of magnitude" faster: at least one.
const FASTER: f64 = 10.0;
/// "Nearly linear": the exponent of n.
const LINEAR: f64 = 1.15;

fn claims_on_time(here: &On<'_>, last: usize) -> Vec<Claim> {
    let ratio = |measure, a, b| here.compare(("n", last), measure, a, b);
    let equal = |a, b| ratio(ERROR, a, b).at_most("equal", EQUAL);
    let above = |a, b| ratio(ERROR, a, b).at_least("clearly above 1", EQUAL);
    let faster = |a| ratio(ONE_CORE, a, SPECTRAL_TREE).at_least("orders of magnitude", FASTER);
    let linear = |method: Method| {
        let words = format!("exponent of n, time of {}", method.name);
        here.measured(words, here.exponent(method, SECONDS)).at_most("nearly 1", LINEAR)
    };
    vec![
        equal(BLESS, RC).picture(),
        equal(SA_GRID, RC).picture(),
        equal(SA_AVERAGED, RC), // the average is in our form
        above(VANILLA, SA_GRID).picture(),
        above(VANILLA, SA_AVERAGED),
        linear(SPECTRAL_TREE).picture(),
        linear(SA_GRID), // the grid is ours
        faster(RC_CAPPED).picture(),
        faster(BLESS_CAPPED).picture(),
        faster(RC),
        faster(BLESS),
    ]
}

/// The dimension d; the paper's three are illegible. With 2α = d + 1: σ = 1.5·n^{−1/(2α+d)}, λ =
/// 0.5·n^{−2α/(2α+d)}, ⌊5·n^{d/(2α+d)}⌋ draws and at most n/10.
struct Dimension(usize);

const DIMENSIONS: [Dimension; 3] = [Dimension(3), Dimension(10), Dimension(30)];
const IN_DIMENSIONS: [Method; 6] = [VANILLA, RC, BLESS, SPECTRAL_TUNED, SPECTRAL_TRUE, LEVERAGE];
/// Of n points n^γ or so are in the small cluster.
const GAMMA: f64 = 0.4;

const ZERO: &str = "error of f = 0";
/// Whether the library refuses to estimate the density of a draw.
const REFUSED: Measure = Measure::named("refused");

labelled!(Dimension, |d| format!("d = {}", d.0));

impl Dimension {
    /// n^{a/(2α+d)}.
    fn power(&self, n: usize, a: usize) -> f64 {
        (n as f64).powf(a as f64 / (2 * self.0 + 1) as f64)
    }
}

pub fn fig3(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[200, 400], &[1000, 2154, 4642], &[1000, 2154, 4642, 10_000]);
    let draws = ctx.pick(2, ctx.short(8, 12), 20);
    let each = sizes.iter().map(|&n| (n, draws));
    let results = Grid::new(ctx, "draws of the problem", &DIMENSIONS, each).run(error)?;

    let drawn = results.draws();
    let mut out =
        results.outcome(format!("{drawn}; n = 10,000 too in a full run. The paper: 20 draws"));
    for d in &DIMENSIONS {
        let title = format!("d = {}: error, with standard errors", d.0);
        let (here, id, n) =
            (results.on(d), format!("error-d{}", d.0), Axis::log("number of points n"));
        let zero = |&n: &usize| Point::new(n as f64, here.fact(n, ZERO).value);
        let line = with(|plot| plot.line("f = 0", THEORY.key, sizes.iter().map(zero)));
        out.plots.extend(here.plot(&id, &title, n, ERROR).map(line));
    }
    let (table, facts) = (["fig3", "Mean in-sample error"], results.facts());
    out.tables.extend(results.table(table, &DIMENSIONS, ["d", "n", ""], &facts, &[ERROR]));
    out.claims = claims_on_dimensions(&results);
    // `3 of 36 times at d = 10`, for each d
    let refused = DIMENSIONS.each_ref().map(|d| {
        let values = results.on(d).values(SPECTRAL, REFUSED);
        format!("{} of {} times at d = {}", values.iter().sum::<f64>(), values.len(), d.0)
    });
    out.values = vec![("refused", refused.join(", "))];
    Ok(out)
}

/// One draw of design and noise, and every method on it.
fn error(trial: &mut Trial<'_, Dimension>) -> anyhow::Result<()> {
    let (n, dim) = (trial.size, trial.setting.0);
    let (sigma, lambda) = (1.5 / trial.setting.power(n, 1), 0.5 / trial.setting.power(n, dim + 1));
    let landmarks = ((5.0 * trial.setting.power(n, dim)) as usize).min(n / 10);
    let rng = &mut trial.rng("problem");
    let (kernel, truth) = (Gaussian::new(sigma)?, BimodalPoints::first_coordinate_truth);
    let problem = Regression::new((n, dim, GAMMA), truth, kernel, lambda, rng);
    trial.facts(n, [("σ", sigma), ("λ", lambda), ("draws of landmarks", landmarks as f64)]);
    trial.facts(n, [(ZERO, problem.zero_error())]);
    let refused = KernelDensity::default().density(problem.points()).is_err();
    trial.put(n, SPECTRAL, REFUSED, f64::from(refused));
    let exact_up_to = trial.ctx.pick(200, 1000, 4642);
    for method in IN_DIMENSIONS.into_iter().filter(|method| *method != LEVERAGE || n <= exact_up_to)
    {
        let rng = &mut trial.rng(method.key);
        let scores = problem.scores(method, n, rng)?;
        trial.put(n, method, ERROR, problem.error(&scores, landmarks, rng)?);
    }
    Ok(())
}

/// Leverage-based and uniform sampling count as equal within this factor.
const NO_GAIN: f64 = 1.15;
/// "Errors grow by orders of magnitude": at least this much from d = 3 to d = 30.
const GROWTH: f64 = 10.0;

fn claims_on_dimensions(results: &Results) -> Vec<Claim> {
    let ([low, _, high], n) = (&DIMENSIONS, results.last());
    let gain = |d: &Dimension, method| results.on(d).compare(("n", n), ERROR, VANILLA, method);
    let growth = |method: Method| {
        let name = method.name;
        let text = format!("n = {n}, {name}: error at d = {} over error at d = {}", high.0, low.0);
        let [high, low] = [high, low].map(|d| results.on(d).get(n, method, ERROR));
        measured(text, high.over(low)).at_least("orders of magnitude", GROWTH)
    };
    let gained = [RC, BLESS, SPECTRAL_TUNED].into_iter().flat_map(|method| {
        [gain(low, method).at_least("above 1", NO_GAIN), gain(high, method).at_most("1", NO_GAIN)]
    });
    gained.chain([VANILLA, RC, SPECTRAL_TUNED].map(growth)).map(Claim::picture).collect()
}
