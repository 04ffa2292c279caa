//! Every estimator of leverage scores on three real sets: accuracy against time. Our own figure.

use nystrom::leverage::{Density, DensityMethod, KernelDensity, RecursiveRlsOfSize};

use crate::datasets::standardized;
use crate::lab::*;

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

/// At its largest parameter, every estimator's scores spread less than this.
const SPREAD_BOUND: f64 = 2.0;

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
    let grid = Grid::new(ctx, "sets", &SETS, [(0, repetitions)]);
    let results = grid.run_on(|ctx, name| Problem::new(ctx, name, n), cell)?;

    let note = format!(
        "{n} random rows of each set (10,000 in a full run; CCPP has 9568), {repetitions} \
         repetitions"
    );
    let mut out = results.outcome(note);
    for name in results.measured(&SETS) {
        let here = results.on(name);
        let fact = |name| here.fact(0_usize, name).value;
        let [rows, features, d_eff] = ["n", "features", "d_eff"].map(fact);
        let title =
            format!("{name}: n = {rows}, {features} features, d_eff = {}", number(d_eff.round()));
        let plot = here.plot_against(&format!("spread-{name}"), &title, SECONDS, SPREAD);
        out.plots.extend(plot.map(with(|plot| {
            plot.horizontal("uniform", here.get(0_usize, UNIFORM, SPREAD).value);
            plot.vertical("exact scores", here.get(0_usize, PROBLEM, EXACT_SECONDS).value);
        })));
        for (method, parameter, [.., largest]) in ESTIMATORS {
            let words = format!("spread of {} at {parameter} = {largest}", method.name);
            let spread = here.measured(words, here.get(f64::from(largest), method, SPREAD));
            out.claims.push(spread.at_most("ours", SPREAD_BOUND));
        }
        let most = here.most(FAST_LEVERAGE, LARGEST);
        let most = here.measured("largest r of Alaoui–Mahoney, whatever the columns", most);
        let most = most.at_most("1 (Alaoui & Mahoney, Theorem 4)", 1.0 + 1e-9).theorem();
        let ratio = here.compare(("", 0_usize), SPREAD, SPECTRAL, UNIFORM).at_most("ours", 1.0);
        out.claims.extend([most, ratio]);
    }
    let (id_title, facts) = (["sets", "The sets"], results.facts());
    out.tables.extend(results.table(id_title, &SETS, ["data set", "", ""], &[], &facts));
    let id_title = ["summary", "r = estimated over exact score"];
    let keys = ["data set", "parameter", "estimator"];
    let measures = [SECONDS, LOW, HIGH, SPREAD, OFF];
    out.tables.extend(results.table(id_title, &SETS, keys, &[], &measures));
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

impl Problem {
    fn new(ctx: &Context, name: &str, n: usize) -> anyhow::Result<Self> {
        let data = ctx.dataset(name)?;
        let rng = &mut ctx.rng(&format!("{name}, rows"));
        let rows = random::uniform_subset(data.x.nrows(), n.min(data.x.nrows()), rng)?;
        let x = standardized(data.select_rows(&rows)?.x.as_ref())?;
        let k = matrix(&x)?;
        let (exact, seconds) = timed(|| exact_scores(&k, RIDGE));
        Ok(Problem { exact: exact?.scores, seconds, x })
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

fn matrix(x: &Mat<f64>) -> anyhow::Result<KernelMatrix<'_, f64, Matern32>> {
    Ok(KernelMatrix::new(Matern32::new(LENGTH_SCALE)?, Points::from_rows(x.as_ref()))?)
}

fn cell(problem: &Problem, trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let k = matrix(&problem.x)?;
    for (method, _, values) in ESTIMATORS {
        for value in values {
            let (rng, x) = (&mut trial.rng(&format!("{}, {value}", method.key)), f64::from(value));
            let estimator = estimator(method, value, problem.x.nrows());
            let scores = || Ok(estimator.scores(&k, RIDGE, rng)?);
            let scores = trial.timed(x, method, SECONDS, scores)?;
            trial.put_all(x, method, problem.accuracy(&scores));
        }
    }
    if trial.repetition > 0 {
        return Ok(()); // the rest does not depend on chance
    }
    let (n, d_eff) = (problem.x.nrows(), problem.exact.iter().sum::<f64>());
    let features = problem.x.ncols() as f64;
    trial.facts(0_usize, [("n", n as f64), ("features", features), ("d_eff", d_eff)]);
    trial.put(0_usize, PROBLEM, EXACT_SECONDS, problem.seconds);
    let density = KernelDensity { method: DensityMethod::Exact, ..KernelDensity::default() };
    let density = Density::Estimated(density);
    let analysis = SpectralAnalysis { density, ..SpectralAnalysis::default() };
    let spectral = || Ok(analysis.scores(k.kernel(), k.points(), RIDGE)?.scores);
    let spectral = trial.timed(0.0, SPECTRAL, SECONDS, spectral)?;
    trial.put_all(0.0, SPECTRAL, problem.accuracy(&spectral));
    trial.put_all(0.0, UNIFORM, problem.accuracy(&vec![d_eff / n as f64; n]));
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
