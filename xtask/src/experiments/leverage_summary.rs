//! Every estimator of leverage scores on three real sets: accuracy against time. Our own figure.

use std::time::Instant;

use nystrom::leverage::{Density, DensityMethod, KernelDensity, RecursiveRlsOfSize};
use nystrom::linalg_core::random;
use nystrom::prelude::*;

use crate::datasets::standardized;
use crate::experiment::{Claim, Context, Outcome, number};
use crate::lab::{D_EFF, Draw, FEATURES, Grid, Measure, N, Results, with};
use crate::method::{
    BLESS, BLESS_R, DISQUEAK, FAST_LEVERAGE, Method, PROBLEM, RECURSIVE, RECURSIVE_SIZE, SPECTRAL,
    SQUEAK, UNIFORM,
};
use crate::statistics::quantile;

pub const SETS: [&str; 3] = ["ccpp", "casp", "california-housing"];
/// Matérn ν = 3/2 on standardised features, ℓ and λ.
const LENGTH_SCALE: f64 = 2.0;
const LAMBDA: f64 = 1e-3;
const RIDGE: Ridge<f64> = Ridge::PerSample(LAMBDA);

/// Estimators, what their parameter is, and the values tried.
const ESTIMATORS: [(Method, &str, [u32; 3]); 7] = [
    (FAST_LEVERAGE, "columns", [100, 300, 1000]),
    (RECURSIVE.called("Recursive-RLS, given ridge"), "oversampling", [1, 3, 10]),
    (RECURSIVE_SIZE, "rows", [100, 300, 1000]),
    (BLESS, "q1 = q2", [2, 5, 15]),
    (BLESS_R, "q2", [2, 5, 15]),
    (SQUEAK, "copies", [2, 5, 10]),
    (DISQUEAK.called("DISQUEAK, 8 chunks"), "copies", [2, 5, 10]),
];

const SECONDS: Measure = Measure::time("time", "time of all n scores / s");
/// Of r_i = l̃_i/l_i over the points.
const SPREAD: Measure =
    Measure::new("spread, 95 %/5 %", "spread of r: 95 % over 5 % quantile").log();
const LOW: Measure = Measure::named("r: 5 %");
const HIGH: Measure = Measure::named("r: 95 %");
const OFF: Measure = Measure::named("mean |r − 1|");
const LARGEST: Measure = Measure::named("largest r");
const EXACT_SECONDS: Measure = Measure::time("time of exact scores", "time of exact scores / s");

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, repetitions) = ctx.pick((300, 2), (4000, 2), (10_000, 3));
    let grid = Grid::new(ctx, "sets", &SETS).repetitions(repetitions);
    let results = grid.run_on(|ctx, name| Problem::new(ctx, name, n), cell)?;
    let measured = results.measured(&SETS);

    let note = format!(
        "{n} random rows of each set (10,000 in a full run; CCPP has 9568), {repetitions} \
         repetitions"
    );
    let mut out = results.outcome(note);
    for &name in &measured {
        let here = results.on(name);
        let fact = |measure| here.get(0_usize, PROBLEM, measure).value;
        let [rows, features, d_eff] = [N, FEATURES, D_EFF].map(fact);
        let title =
            format!("{name}: n = {rows}, {features} features, d_eff = {}", number(d_eff.round()));
        let plot = here.plot_against(&format!("spread-{name}"), &title, SECONDS, SPREAD);
        out.plots.extend(plot.map(with(|plot| {
            plot.horizontal("uniform", here.get(0_usize, UNIFORM, SPREAD).value);
            plot.vertical("exact scores", fact(EXACT_SECONDS));
        })));
        out.claims.extend(claims(&results, name));
    }
    let table = |id, title, measures: &[Measure]| {
        results.table(id, title, measured.clone(), measures).by_setting("data set")
    };
    let facts = table("sets", "The sets", &[N, FEATURES, D_EFF, EXACT_SECONDS]);
    let (title, measures) = ("r = estimated over exact score", [SECONDS, LOW, HIGH, SPREAD, OFF]);
    let scores = table("summary", title, &measures).by_method("estimator").by_x("parameter");
    out.tables.extend([facts, scores].into_iter().filter_map(|sheet| sheet.build()));
    let parameters =
        ESTIMATORS.map(|(method, what, _)| format!("{}: {what}", method.name)).join("; ");
    out.values = vec![("length_scale", LENGTH_SCALE.to_string()), ("lambda", LAMBDA.to_string())];
    out.values.push(("parameters", parameters));
    Ok(out)
}

/// A set with its exact scores.
struct Problem {
    x: Mat<f64>,
    exact: Vec<f64>,
    seconds: f64,
}

type Matrix<'a> = KernelMatrix<'a, f64, Matern32>;

impl Problem {
    fn new(ctx: &Context, name: &str, n: usize) -> anyhow::Result<Self> {
        let data = ctx.dataset(name)?;
        let rng = &mut ctx.rng(&format!("{name}, rows"));
        let rows = random::uniform_subset(data.x.nrows(), n.min(data.x.nrows()), rng)?;
        let x = standardized(data.select_rows(&rows)?.x.as_ref())?;
        let start = Instant::now();
        let exact = exact_scores(&matrix(&x)?, RIDGE)?.scores;
        Ok(Problem { exact, seconds: start.elapsed().as_secs_f64(), x })
    }

    /// r_i = l̃_i/l_i over the points, in short.
    fn accuracy(&self, scores: &[f64]) -> [(Measure, f64); 5] {
        let mut r: Vec<f64> = scores.iter().zip(&self.exact).map(|(a, b)| a / b).collect();
        r.sort_by(f64::total_cmp);
        let off = r.iter().map(|r| (r - 1.0).abs()).sum::<f64>() / r.len() as f64;
        let [low, high, largest] = [0.05, 0.95, 1.0].map(|q| quantile(&r, q));
        [(LOW, low), (HIGH, high), (SPREAD, high / low), (OFF, off), (LARGEST, largest)]
    }
}

fn matrix(x: &Mat<f64>) -> anyhow::Result<Matrix<'_>> {
    Ok(KernelMatrix::new(Matern32::new(LENGTH_SCALE)?, Points::from_rows(x.as_ref()))?)
}

fn cell(problem: &Problem, draw: &mut Draw<'_>) -> anyhow::Result<()> {
    let k = matrix(&problem.x)?;
    for (method, _, values) in ESTIMATORS {
        for value in values {
            let (rng, x) = (&mut draw.rng(&format!("{}, {value}", method.key)), f64::from(value));
            let estimator = estimator(method, value, problem.x.nrows());
            let scores =
                draw.timed(x, method, SECONDS, || Ok(estimator.scores(&k, RIDGE, rng)?))?;
            draw.put_all(x, method, problem.accuracy(&scores));
        }
    }
    if draw.repetition > 0 {
        return Ok(()); // the rest does not depend on chance
    }
    let (n, d_eff) = (problem.x.nrows(), problem.exact.iter().sum::<f64>());
    draw.facts([(N, n as f64), (FEATURES, problem.x.ncols() as f64)]);
    draw.facts([(D_EFF, d_eff), (EXACT_SECONDS, problem.seconds)]);
    let density = KernelDensity { method: DensityMethod::Exact, ..KernelDensity::default() };
    let density = Density::Estimated(density);
    let analysis = SpectralAnalysis { density, ..SpectralAnalysis::default() };
    let spectral = draw
        .timed(0.0, SPECTRAL, SECONDS, || Ok(analysis.scores(k.kernel(), k.points(), RIDGE)?))?;
    draw.put_all(0.0, SPECTRAL, problem.accuracy(&spectral.scores));
    draw.put_all(0.0, UNIFORM, problem.accuracy(&vec![d_eff / n as f64; n]));
    Ok(())
}

/// The estimator of a method with this parameter, of n scores.
fn estimator(method: Method, value: u32, n: usize) -> Box<dyn RidgeLeverage<f64>> {
    let (size, q) = ((value as usize).min(n), f64::from(value));
    let squeak = SqueakParams { max_dictionary: 20_000, ..SqueakParams::new(value) };
    match method {
        m if m == FAST_LEVERAGE => Box::new(AlaouiMahoney { columns: size }),
        m if m == RECURSIVE => Box::new(RecursiveRls::with_oversampling(q)),
        m if m == RECURSIVE_SIZE => Box::new(RecursiveRlsOfSize { size, accelerated: false }),
        m if m == BLESS => Box::new(Bless { candidates: q, oversampling: q, ..Bless::default() }),
        m if m == BLESS_R => Box::new(BlessR { oversampling: q, ..BlessR::default() }),
        m if m == SQUEAK => Box::new(squeak),
        _ => Box::new(Disqueak::new(squeak, 8)),
    }
}

/// At its largest parameter, every estimator's scores spread less than this.
const SPREAD_BOUND: f64 = 2.0;

fn claims(results: &Results, name: &&'static str) -> Vec<Claim> {
    let here = results.on(name);
    let spread = |(method, parameter, values): (Method, &str, [u32; 3])| {
        let words = format!("spread of {} at {parameter} = {}", method.name, values[2]);
        let spread = here.get(f64::from(values[2]), method, SPREAD);
        here.measured(words, spread).at_most("ours", SPREAD_BOUND)
    };
    let most = here.most(FAST_LEVERAGE, LARGEST);
    let most = here.measured("largest r of Alaoui–Mahoney, whatever the columns", most);
    let most = most.at_most("1 (Alaoui & Mahoney, Theorem 4)", 1.0 + 1e-9).theorem();
    let ratio = here.compare(("", 0_usize), SPREAD, SPECTRAL, UNIFORM);
    ESTIMATORS.into_iter().map(spread).chain([most, ratio.at_most("ours", 1.0)]).collect()
}
