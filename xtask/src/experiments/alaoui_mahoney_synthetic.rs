//! The synthetic problem of Alaoui & Mahoney 2015, section 4: Bernoulli kernel, asymmetric design,
//! n = 500. Figure 1 (left): its scores. Figure 1 (right): risk of Nyström KRR by the number of
//! columns, for four ways of sampling. Section 1: risk by the number of kernel values, beside
//! divide and conquer.
//!
//! The paper prints n, λ = 1e-6, d_eff = 24 and d_mof = 500, but neither β, nor the law of the
//! design, nor f*, nor the noise. Ours:
//!
//! * β = 1, and λ = 1e-6 read as the absolute ridge, the reading that fits the linear rows of Table
//!   1;
//! * x at the quantiles of ½v²⁷⁰ and of 1 − ½v²⁷⁰, v uniform: dense at the borders, sparse at ½;
//! * f* = k(·, ¼) − k(·, ¾), scaled to maximum 1;
//! * noise of standard deviation 0.1.
//!
//! The exponent was chosen for d_eff = 24 alone; d_mof = 500 follows. With β = 2 no design of the
//! symmetric two-parameter family of quantiles ½(1 − (1 − v)^b)^a meets both: 24.3 goes with 488.

use nystrom::kernels::Bernoulli;
use nystrom::krr::risk::Risk;
use nystrom::leverage::ExactScores;

use super::truth::Truth;
use crate::lab::*;

/// Exponent of the design: the larger, the denser the borders.
const EXPONENT: i32 = 270;
/// The kernel is k(x, y) = ½B₂({x − y}).
const BETA: u32 = 1;
/// Variance of the noise.
const NOISE: f64 = 0.01;
const RIDGE: Ridge<f64> = Ridge::Absolute(1e-6);

/// The problem.
pub struct BernoulliProblem {
    /// The design, sorted.
    x: Vec<f64>,
    /// f* at the design, and the risk of exact KRR.
    pub truth: Truth,
    /// Exact scores.
    leverage: ExactScores<f64>,
}

impl BernoulliProblem {
    /// The problem of n points.
    pub fn new(n: usize) -> anyhow::Result<Self> {
        let half = n / 2;
        let quantile = |i: usize, shift: f64, count: usize| {
            0.5 * ((i as f64 + shift) / count as f64).powi(EXPONENT)
        };
        let left = (0..half).map(|i| quantile(i, 0.25, half));
        let right =
            (0..n - half).map(|i| (1.0 - quantile(i, 0.75, n - half)).min(1.0 - f64::EPSILON));
        let mut x: Vec<f64> = left.chain(right).collect();
        x.sort_by(f64::total_cmp);
        let k = KernelMatrix::new(Bernoulli::new(BETA)?, Points::from_slice(&x))?;
        let truth = Truth::known(&k, RIDGE, truth(&x)?, NOISE)?;
        let leverage = exact_scores(&k, RIDGE)?;
        Ok(BernoulliProblem { truth, leverage, x })
    }

    /// The kernel matrix.
    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, Bernoulli>> {
        Ok(KernelMatrix::new(Bernoulli::new(BETA)?, Points::from_slice(&self.x))?)
    }
}

/// f* at the points x, scaled by its maximum over a fine grid.
fn truth(x: &[f64]) -> anyhow::Result<Vec<f64>> {
    let kernel = Bernoulli::new(BETA)?;
    let difference = |x: &[f64]| -> Vec<f64> {
        let k = kernel.eval(Points::from_slice(x), Points::from_slice(&[0.25, 0.75]));
        (0..x.len()).map(|i| k[(i, 0)] - k[(i, 1)]).collect()
    };
    let grid: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
    let scale = difference(&grid).into_iter().map(f64::abs).fold(0.0, f64::max);
    Ok(difference(x).into_iter().map(|f| f / scale).collect())
}

const DESIGN: &str = "the design";
const HIGH: Measure = Measure::named("share of points with a score ≥ 0.5");
const CENTRAL: Measure =
    Measure::named("share of the ten highest scores that belong to the ten points nearest ½");
const D_EFF: Measure = Measure::named("d_eff");
const D_MOF: Measure = Measure::named("d_mof");

pub fn fig1_left(ctx: &Context) -> anyhow::Result<Outcome> {
    let results = Grid::new(ctx, "scores", &[DESIGN], [(500, 1)]).run(scores)?;
    let of = |measure: Measure| {
        measured(measure.key, results.on(&DESIGN).get(results.last(), EXACT, measure))
    };
    // ours: the paper leaves β and the design open
    let claims = vec![
        of(HIGH).at_most("few (picture)", 0.1),
        of(CENTRAL).at_least("those at the centre (picture)", 0.8),
        of(D_EFF).near(24.0, 0.5),
        of(D_MOF).near(500.0, 0.5),
    ];
    Ok(Outcome { claims, ..results.outcome("n = 500 as in the paper, at every scale") })
}

fn scores(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let problem = BernoulliProblem::new(trial.size)?;
    let (n, exact) = (trial.size as f64, &problem.leverage);
    let mut by_score: Vec<(f64, f64)> =
        problem.x.iter().copied().zip(exact.scores.iter().copied()).collect();
    let (x, y) = (Axis::linear("design point x"), Axis::log("leverage score l(x)"));
    let mut plot = Plot::new("scores", "Ridge leverage scores of the 500 design points", x, y);
    plot.points("exact score", EXACT.key, by_score.iter().map(|(x, l)| Point::new(*x, *l)));
    plot.horizontal("mean d_eff/n", exact.d_eff() / n);
    trial.show(plot);

    by_score.sort_by(|a, b| b.1.total_cmp(&a.1));
    let high = by_score.iter().filter(|(_, l)| *l >= 0.5).count() as f64 / n;
    let from_the_centre = |x: f64| (x - 0.5).abs();
    let mut distances: Vec<f64> = problem.x.iter().map(|&x| from_the_centre(x)).collect();
    distances.sort_by(f64::total_cmp);
    let nearest = |x: f64| from_the_centre(x) <= distances[9];
    let central = by_score[..10].iter().filter(|(x, _)| nearest(*x)).count() as f64 / 10.0;
    let (d_eff, d_mof) = (exact.d_eff(), exact.d_mof());
    let values = [(HIGH, high), (CENTRAL, central), (D_EFF, d_eff), (D_MOF, d_mof)];
    trial.put_all(trial.size, EXACT, values);
    Ok(())
}

/// Numbers of columns drawn; beside divide and conquer, those below n of the second list.
const COLUMNS: [usize; 12] = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];
const COLUMNS_BESIDE_PARTS: [usize; 9] = [16, 24, 32, 48, 64, 96, 128, 192, 384];
const PARTS: [usize; 8] = [1, 2, 3, 4, 6, 10, 20, 50];
/// The approximate scores are computed from this many columns, by section 3.5.
const SCORE_COLUMNS: usize = 256;
/// Risk within this factor of exact KRR counts as reached.
const REACHED: f64 = 1.1;
const SYNTHETIC: &str = "synthetic problem";
const RATIO: Measure = Measure::new("risk ratio", "risk E‖f̂ − f*‖²/n over that of exact KRR").log();
const ENTRIES: Measure = Measure::new("kernel values", "kernel values").log();
const TITLE: &str = "Mean risk over that of exact KRR, with standard errors";

pub fn fig1_right(ctx: &Context) -> anyhow::Result<Outcome> {
    let (problem, draws) = (BernoulliProblem::new(500)?, ctx.pick(3, 30, 100));
    let d_eff = problem.leverage.d_eff();
    let grid = Grid::new(ctx, "risk of Nyström KRR", &[SYNTHETIC], [(0, draws)]).parallel();
    let methods = [UNIFORM, DIAGONAL, LEVERAGE, FAST_LEVERAGE];
    let results = grid.run(|trial| {
        methods.into_iter().try_for_each(|method| through(trial, method, &problem, &COLUMNS))
    })?;

    let mut out = results.outcome(format!(
        "n = 500 as in the paper; {draws} draws for each method and p (100 in a full run)"
    ));
    let here = results.on(&SYNTHETIC);
    let plot = here.plot("risk", TITLE, Axis::log("number of columns p"), RATIO);
    out.plots.extend(plot.map(with(|plot| {
        plot.horizontal("exact KRR", 1.0);
        plot.vertical("2 d_eff", 2.0 * d_eff);
    })));
    let table = ["ratio", "Risk ratio R(f̂_L)/R(f̂_K)"];
    out.tables.extend(results.table(table, &[SYNTHETIC], ["", "p", ""], &[], &[RATIO]));
    out.claims = claims_on_columns(&here, d_eff);
    out.values = vec![("columns", SCORE_COLUMNS.to_string())];
    Ok(out)
}

pub fn against_divide_and_conquer(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, draws) = (ctx.pick(200, 500, 500), ctx.pick(2, 15, 50));
    let problem = BernoulliProblem::new(n)?;
    let d_eff = problem.leverage.d_eff();
    let columns: Vec<usize> = COLUMNS_BESIDE_PARTS.into_iter().filter(|&p| p < n).collect();
    let grid = Grid::new(ctx, "risk", &[SYNTHETIC], [(0, draws)]).parallel();
    let results = grid.run(|trial| {
        through(trial, UNIFORM.called("uniform columns"), &problem, &columns)?;
        through(trial, LEVERAGE.called("leverage columns"), &problem, &columns)?;
        PARTS.into_iter().try_for_each(|parts| in_parts(trial, &problem, parts))
    })?;

    let mut out = results.outcome(format!(
        "n = {n}, {draws} draws; the paper compares orders of growth and runs no such experiment."
    ));
    let ratio = Measure::new(RATIO.key, "risk / risk of exact KRR").log();
    let here = results.on(&SYNTHETIC);
    let plot = here.plot_against("risk", TITLE, ENTRIES, ratio);
    out.plots.extend(plot.map(with(|plot| plot.horizontal("exact KRR", 1.0))));
    let keys = ["", "parts or columns", "method"];
    out.tables.extend(results.table(["risk", TITLE], &[SYNTHETIC], keys, &[], &[ENTRIES, RATIO]));
    out.claims = claims_on_kernel_values(&here, n as f64 * d_eff);
    let reaching = reaching(&here, DIVIDE_AND_CONQUER).into_iter().fold(0.0, f64::max);
    let ratio = format!("{:.2}", n as f64 / d_eff.powi(2));
    out.values = vec![("parts", reaching.to_string()), ("ratio", ratio)];
    Ok(out)
}

/// R(f̂_L)/R(f̂_K) of a method and its kernel values: for every p, p columns drawn with replacement
/// in proportion to its weights.
fn through(
    trial: &mut Trial<'_>,
    method: Method,
    problem: &BernoulliProblem,
    columns: &[usize],
) -> anyhow::Result<()> {
    let k = problem.matrix()?;
    for &p in columns {
        let rng = &mut trial.rng(&format!("{}, p = {p}", method.key));
        let weights = match method {
            m if m == UNIFORM => vec![1.0; k.dim()],
            m if m == DIAGONAL => k.diag(),
            m if m == LEVERAGE => problem.leverage.scores.clone(),
            _ => AlaouiMahoney { columns: SCORE_COLUMNS }.scores(&k, RIDGE, rng)?,
        };
        let drawn = random::with_replacement(&weights, p, rng)?;
        let landmarks = Landmarks::from_draws(k.dim(), &drawn)?;
        let ratio = problem.truth.ratio(&Nystrom::new(&k, &landmarks)?, RIDGE)?;
        let entries = (k.dim() * landmarks.len()) as f64;
        trial.put_all(p, method, [(RATIO, ratio), (ENTRIES, entries)]);
    }
    Ok(())
}

/// Divide and conquer in `parts` parts. The fit is linear in y: fitted to the identity it is its
/// own hat matrix H, and the risk is ‖Hf* − f*‖²/n + σ²‖H‖²_F/n.
fn in_parts(trial: &mut Trial<'_>, problem: &BernoulliProblem, parts: usize) -> anyhow::Result<()> {
    let (n, points) = (problem.x.len(), Points::from_slice(&problem.x));
    let rng = &mut trial.rng(&format!("{}, {parts} parts", DIVIDE_AND_CONQUER.key));
    let krr =
        DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(Bernoulli::new(BETA)?, RIDGE) };
    let model = krr.fit((points, Mat::<f64>::identity(n, n).as_ref()), rng)?;
    let (hat, Truth { f_star, risk: exact, .. }) = (model.predict(points)?, &problem.truth);
    let fitted = |i: usize| (0..n).map(|j| hat[(i, j)] * f_star[j]).sum::<f64>();
    let bias_squared = (0..n).map(|i| (fitted(i) - f_star[i]).powi(2)).sum::<f64>() / n as f64;
    let risk = Risk { bias_squared, variance: NOISE * hat.squared_norm_l2() / n as f64 };
    let entries = model.report().kernel_entries as f64;
    let values = [(RATIO, risk.ratio(*exact)), (ENTRIES, entries)];
    trial.put_all(parts, DIVIDE_AND_CONQUER, values);
    Ok(())
}

/// The numbers of columns or parts with which a method reaches the risk of exact KRR, increasing.
fn reaching(here: &On<'_>, method: Method) -> Vec<f64> {
    let reaches = |size: &f64| here.get(*size, method, RATIO).value <= REACHED;
    here.abscissae(method, RATIO).into_iter().filter(reaches).collect()
}

/// Ours: the paper leaves the design, f* and the noise open.
fn claims_on_columns(here: &On<'_>, d_eff: f64) -> Vec<Claim> {
    let reached = |method| *reaching(here, method).first().unwrap_or(&f64::INFINITY);
    let double = COLUMNS.into_iter().find(|&p| p as f64 >= 2.0 * d_eff).unwrap_or(COLUMNS[11]);
    let worse = |p: usize| here.compare(("", p), RATIO, FAST_LEVERAGE, LEVERAGE).value;
    let approximate = largest(COLUMNS.into_iter().filter(|&p| p as f64 >= d_eff).map(worse));
    let text = format!("risk ratio of exact leverage at p = {double}");
    let fewer =
        "columns that uniform sampling needs for a ratio ≤ 1.1, over those that leverage needs";
    let same = "largest ratio of risks, approximate over exact leverage, for p ≥ d_eff";
    vec![
        measured(text, here.get(double, LEVERAGE, RATIO)).near(1.01, 0.05),
        measured(fewer, reached(UNIFORM) / reached(LEVERAGE))
            .at_least("ours, by design: several times as many", 3.0),
        measured(same, approximate).at_most("ours: indistinguishable", 1.2),
    ]
}

fn claims_on_kernel_values(here: &On<'_>, n_d_eff: f64) -> Vec<Claim> {
    let needed = |method: Method| {
        let entries = |size| here.get(size, method, ENTRIES).value;
        reaching(here, method).into_iter().map(entries).fold(f64::INFINITY, f64::min)
    };
    let over = |of: &str, method, rival: &str, least: f64| {
        let text = format!("kernel values of {of} over {rival}, for a ratio ≤ 1.1");
        measured(text, needed(method) / least)
    };
    let (leverage, rival) = (needed(LEVERAGE), "those of leverage columns");
    vec![
        over("leverage columns", LEVERAGE, "n·d_eff", n_d_eff).at_most("order n·d_eff", 4.0),
        over("divide and conquer", DIVIDE_AND_CONQUER, rival, leverage)
            .at_least("d_eff in order", 1.0),
        over("uniform columns", UNIFORM, rival, leverage).at_least("d_mof/d_eff in order", 2.0),
    ]
}
