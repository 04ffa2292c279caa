//! Figure 1 of Chen & Yang 2021: time of the scores against n, and the error of Nyström regression
//! against that time.

use std::time::Instant;

use nystrom::kernels::Matern;

use super::bimodal_problem::{BimodalDesign, BimodalPoints};
use super::bimodal_regression::{
    BLESS, BLESS_CAPPED, ERROR, EXACT, FULL, RC, RC_CAPPED, Regression, SA_AVERAGED, SA_GRID,
    SA_TREE, SA_TRUE, UNIFORM,
};
use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Draw, Grid, LAMBDA, Measure, Results, Setting, labelled};
use crate::method::Method;

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

impl Config {
    fn lambda(&self, n: usize) -> f64 {
        self.lambda.0 * (n as f64).powf(-self.lambda.1)
    }

    fn d_sub(&self, n: usize) -> usize {
        (self.draws.0 * (n as f64).powf(self.draws.1)) as usize
    }
}

/// Legends and tables go in this order.
const METHODS: [Method; 11] = [
    UNIFORM,
    RC,
    RC_CAPPED,
    BLESS,
    BLESS_CAPPED,
    SA_GRID,
    SA_TREE,
    SA_AVERAGED,
    SA_TRUE,
    EXACT,
    FULL,
];
/// The number of draws is multiplied by these at one n, to see how many more landmarks a method
/// needs.
const MULTIPLES: [usize; 4] = [1, 2, 4, 8];
/// Draws of the problem whose times on one core are taken too.
const ON_ONE_CORE: usize = 2;

const SECONDS: Measure = Measure::time("time", "time of the scores / s");
const ONE_CORE: Measure = Measure::time("time on one core", "time of the scores on one core / s");
const SWEPT: Measure = Measure::new("error with more landmarks", ERROR.label).log();
const D_SUB: Measure = Measure::named("d_sub");

/// Draws of landmarks per draw of the problem, the n of [`MULTIPLES`], and the largest n at which
/// n × n methods run.
fn limits(ctx: &Context) -> (usize, usize, usize) {
    ctx.pick((1, 300, 300), (3, 4472, 2000), (5, 10_000, 10_000))
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
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
    let grid = Grid::new(ctx, "draws of the problem", &CONFIGS).sizes(sizes);
    let results = grid.run(|draw| cell(draw, &one_core))?;

    let note = "draws of the landmarks on each; a full run goes to n = 500,000. The paper: 30 \
                draws; its sizes are illegible";
    let mut out = results.outcome(format!("{}, {} {note}", results.draws("n"), landmark_draws));
    for config in &CONFIGS {
        let (key, name) = (config.key, config.key.to_uppercase());
        let title = |what: &str| format!("Config {name}, Matérn ν = {}: {what}", config.nu);
        let plot = |kind: &str, what: &str, x: &str, y: Measure| {
            results.on(config).plot(&format!("{kind}-{key}"), &title(what), Axis::log(x), y)
        };
        let n = "number of points n";
        let one_core = "time of the scores on one core, as in the paper";
        let along = title("error against time, n growing along each line (right panel)");
        let more = format!("more landmarks at n = {sweep}");
        let plots = [
            plot("time", "time of the scores (left panel)", n, SECONDS),
            plot("time-one-core", one_core, n, ONE_CORE),
            results.on(config).plot_against(&format!("time-error-{key}"), &along, SECONDS, ERROR),
            plot("error", "error against n, with standard errors", n, ERROR),
            plot("draws", &more, "draws of landmarks", SWEPT),
        ];
        out.plots.extend(plots.into_iter().flatten());
        let title = format!("Config {name}: median times of the scores, mean error");
        let id = format!("fig1-{key}");
        let table = results.table(&id, &title, [config], &[SECONDS, ONE_CORE, ERROR]);
        out.tables.extend(table.by_x("n").facts(&[D_SUB, LAMBDA]).build());
        out.claims.extend(claims(&results, config));
    }
    Ok(out)
}

/// One draw of design and noise, and every method on it.
fn cell(draw: &mut Draw<'_, Config>, one_core: &rayon::ThreadPool) -> anyhow::Result<()> {
    let (n, config) = (draw.size, draw.setting);
    let (landmark_draws, sweep, largest_exact) = limits(draw.ctx);
    let d_sub = config.d_sub(n);
    let (design, truth) =
        (BimodalDesign { n, dim: 3, gamma: config.gamma }, BimodalPoints::radial_truth);
    let (kernel, lambda) = (Matern::new(config.nu, 1.0)?, config.lambda(n));
    let problem = Regression::new(design, truth, kernel, lambda, &mut draw.rng("problem"));
    draw.facts([(D_SUB, d_sub as f64), (LAMBDA, lambda)]);
    for method in METHODS.into_iter().filter(|m| ![EXACT, FULL].contains(m) || n <= largest_exact) {
        if method == FULL {
            draw.put(n, method, ERROR, problem.error_of(&problem.exact()?)?);
            continue;
        }
        let (rng, timed) = (&mut draw.rng(method.key), ![UNIFORM, SA_TRUE].contains(&method));
        let start = Instant::now();
        let scores = problem.scores(method, d_sub, rng)?;
        if timed {
            draw.put(n, method, SECONDS, start.elapsed().as_secs_f64());
        }
        if timed && draw.repetition < ON_ONE_CORE {
            let rng = &mut draw.rng(method.key);
            draw.timed(n, method, ONE_CORE, || {
                one_core.install(|| problem.scores(method, d_sub, rng))
            })?;
        }
        if method == SA_TREE {
            continue; // the grid's scores within a few percent
        }
        let multiples = if n == sweep { &MULTIPLES[..] } else { &MULTIPLES[..1] };
        for multiple in multiples {
            let errors = (0..landmark_draws).map(|_| problem.error(&scores, multiple * d_sub, rng));
            let mean = errors.sum::<anyhow::Result<f64>>()? / landmark_draws as f64;
            if *multiple == 1 {
                draw.put(n, method, ERROR, mean);
            }
            if n == sweep {
                draw.put(multiple * d_sub, method, SWEPT, mean);
            }
        }
    }
    Ok(())
}

/// Errors within this factor are called equal, beyond it clearly different.
const EQUAL: f64 = 1.25;
/// "Orders of magnitude" faster: at least one.
const FASTER: f64 = 10.0;
/// "Nearly linear": the exponent of n.
const LINEAR: f64 = 1.15;

fn claims(results: &Results, config: &Config) -> Vec<Claim> {
    let ratio = |measure, a, b| results.on(config).compare(("n", results.last()), measure, a, b);
    let equal = |a, b| ratio(ERROR, a, b).at_most("equal", EQUAL);
    let above = |a, b| ratio(ERROR, a, b).at_least("clearly above 1", EQUAL);
    let faster = |a| ratio(ONE_CORE, a, SA_TREE).at_least("orders of magnitude", FASTER);
    let linear = |method: Method| {
        let text = format!("{}: exponent of n, time of {}", config.label(), method.name);
        measured(text, results.on(config).exponent(method, SECONDS)).at_most("nearly 1", LINEAR)
    };
    vec![
        equal(BLESS, RC).picture(),
        equal(SA_GRID, RC).picture(),
        equal(SA_AVERAGED, RC), // the average is in our form
        above(UNIFORM, SA_GRID).picture(),
        above(UNIFORM, SA_AVERAGED),
        linear(SA_TREE).picture(),
        linear(SA_GRID), // the grid is ours
        faster(RC_CAPPED).picture(),
        faster(BLESS_CAPPED).picture(),
        faster(RC),
        faster(BLESS),
    ]
}
