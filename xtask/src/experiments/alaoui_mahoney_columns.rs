//! Risk of Nyström KRR by the number of columns on the synthetic problem of Alaoui & Mahoney 2015:
//! Figure 1 (right), four ways of sampling; and for a number of kernel values, beside divide and
//! conquer.

use nystrom::kernels::Bernoulli;
use nystrom::krr::risk::Risk;
use nystrom::prelude::*;

use super::bernoulli_problem::{BETA, BernoulliProblem, NOISE, RIDGE};
use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Draw, Grid, Measure, On, with};
use crate::method::{DIAGONAL, DIVIDE_AND_CONQUER, FAST_LEVERAGE, LEVERAGE, Method, UNIFORM};
use crate::statistics::largest;

/// Numbers of columns drawn; beside divide and conquer, those below n of the second list.
const COLUMNS: [usize; 12] = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];
const COLUMNS_BESIDE_PARTS: [usize; 9] = [16, 24, 32, 48, 64, 96, 128, 192, 384];
const PARTS: [usize; 8] = [1, 2, 3, 4, 6, 10, 20, 50];
/// The approximate scores are computed from this many columns, by section 3.5.
const SCORE_COLUMNS: usize = 256;
/// Risk within this factor of exact KRR counts as reached.
const REACHED: f64 = 1.1;
const PROBLEM: &str = "synthetic problem";
const RATIO: Measure = Measure::new("risk ratio", "risk E‖f̂ − f*‖²/n over that of exact KRR").log();
const ENTRIES: Measure = Measure::new("kernel values", "kernel values").log();
const TITLE: &str = "Mean risk over that of exact KRR, with standard errors";

pub fn fig1_right(ctx: &Context) -> anyhow::Result<Outcome> {
    let (problem, draws) = (BernoulliProblem::new(500)?, ctx.pick(3, 30, 100));
    let d_eff = problem.leverage.d_eff();
    let grid = Grid::new(ctx, "risk of Nyström KRR", &[PROBLEM]).repetitions(draws).parallel();
    let methods = [UNIFORM, DIAGONAL, LEVERAGE, FAST_LEVERAGE];
    let results = grid.run(|draw| {
        methods.into_iter().try_for_each(|method| through(draw, method, &problem, &COLUMNS))
    })?;

    let mut out = results.outcome(format!(
        "n = 500 as in the paper; {draws} draws for each method and p (100 in a full run)"
    ));
    let here = results.on(&PROBLEM);
    let plot = here.plot("risk", TITLE, Axis::log("number of columns p"), RATIO);
    out.plots.extend(plot.map(with(|plot| {
        plot.horizontal("exact KRR", 1.0);
        plot.vertical("2 d_eff", 2.0 * d_eff);
    })));
    let table = results.table("ratio", "Risk ratio R(f̂_L)/R(f̂_K)", &[PROBLEM], &[RATIO]);
    out.tables.extend(table.by_x("p").build());
    out.claims = claims_on_columns(&here, d_eff);
    out.values = vec![("columns", SCORE_COLUMNS.to_string())];
    Ok(out)
}

pub fn against_divide_and_conquer(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, draws) = (ctx.pick(200, 500, 500), ctx.pick(2, 15, 50));
    let problem = BernoulliProblem::new(n)?;
    let d_eff = problem.leverage.d_eff();
    let grid = Grid::new(ctx, "risk", &[PROBLEM]).repetitions(draws).parallel();
    let columns: Vec<usize> = COLUMNS_BESIDE_PARTS.into_iter().filter(|&p| p < n).collect();
    let results = grid.run(|draw| {
        for method in [UNIFORM.called("uniform columns"), LEVERAGE.called("leverage columns")] {
            through(draw, method, &problem, &columns)?;
        }
        PARTS.into_iter().try_for_each(|parts| in_parts(draw, &problem, parts))
    })?;

    let mut out = results.outcome(format!(
        "n = {n}, {draws} draws; the paper compares orders of growth and runs no such experiment."
    ));
    let ratio = Measure::new(RATIO.key, "risk / risk of exact KRR").log();
    let here = results.on(&PROBLEM);
    let plot = here.plot_against("risk", TITLE, ENTRIES, ratio);
    out.plots.extend(plot.map(with(|plot| plot.horizontal("exact KRR", 1.0))));
    let table = results.table("risk", TITLE, &[PROBLEM], &[ENTRIES, RATIO]);
    out.tables.extend(table.by_method("method").by_x("parts or columns").build());
    out.claims = claims_on_kernel_values(&here, n as f64 * d_eff);
    let reaching = reaching(&here, DIVIDE_AND_CONQUER).into_iter().fold(0.0, f64::max);
    let ratio = format!("{:.2}", n as f64 / d_eff.powi(2));
    out.values = vec![("parts", reaching.to_string()), ("ratio", ratio)];
    Ok(out)
}

/// R(f̂_L)/R(f̂_K) of a method and its kernel values, p columns drawn with replacement for every p.
fn through(
    draw: &mut Draw<'_>,
    method: Method,
    problem: &BernoulliProblem,
    columns: &[usize],
) -> anyhow::Result<()> {
    let k = problem.matrix()?;
    for &p in columns {
        let rng = &mut draw.rng(&format!("{}, p = {p}", method.key));
        let weights = match method {
            m if m == UNIFORM => vec![1.0; k.dim()],
            m if m == DIAGONAL => k.diag(),
            m if m == LEVERAGE => problem.leverage.scores.clone(),
            _ => AlaouiMahoney { columns: SCORE_COLUMNS }.scores(&k, RIDGE, rng)?,
        };
        let (ratio, distinct) = problem.through(&weights, p, rng)?;
        let entries = (k.dim() * distinct) as f64;
        draw.put_all(p, method, [(RATIO, ratio), (ENTRIES, entries)]);
    }
    Ok(())
}

/// Divide and conquer in `parts` parts. The fit is linear in y: fitted to the identity it is its
/// own hat matrix H, and the risk is ‖Hf* − f*‖²/n + σ²‖H‖²_F/n.
fn in_parts(draw: &mut Draw<'_>, problem: &BernoulliProblem, parts: usize) -> anyhow::Result<()> {
    let (n, points) = (problem.x.len(), Points::from_slice(&problem.x));
    let rng = &mut draw.rng(&format!("{}, {parts} parts", DIVIDE_AND_CONQUER.key));
    let krr = DivideAndConquerKrr::new(Bernoulli::new(BETA)?, RIDGE);
    let krr = DivideAndConquerKrr { parts, ..krr };
    let model = krr.fit((points, Mat::<f64>::identity(n, n).as_ref()), rng)?;
    let hat = model.predict(points)?;
    let fitted = |i: usize| (0..n).map(|j| hat[(i, j)] * problem.truth.f_star[j]).sum::<f64>();
    let bias_squared =
        (0..n).map(|i| (fitted(i) - problem.truth.f_star[i]).powi(2)).sum::<f64>() / n as f64;
    let risk = Risk { bias_squared, variance: NOISE * hat.squared_norm_l2() / n as f64 };
    let entries = model.report().kernel_entries as f64;
    let values = [(RATIO, risk.ratio(problem.truth.risk)), (ENTRIES, entries)];
    draw.put_all(parts, DIVIDE_AND_CONQUER, values);
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
    vec![
        measured(text, here.get(double, LEVERAGE, RATIO)).near(1.01, 0.05),
        measured(
            "columns that uniform sampling needs for a ratio ≤ 1.1, over those that leverage needs",
            reached(UNIFORM) / reached(LEVERAGE),
        )
        .at_least("ours, by design: several times as many", 3.0),
        measured(
            "largest ratio of risks, approximate over exact leverage, for p ≥ d_eff",
            approximate,
        )
        .at_most("ours: indistinguishable", 1.2),
    ]
}

fn claims_on_kernel_values(here: &On<'_>, n_d_eff: f64) -> Vec<Claim> {
    let needed = |method: Method| {
        let entries = |size| here.get(size, method, ENTRIES).value;
        reaching(here, method).into_iter().map(entries).fold(f64::INFINITY, f64::min)
    };
    let text =
        |of: &str, over: &str| format!("kernel values of {of} over {over}, for a ratio ≤ 1.1");
    let leverage = needed(LEVERAGE);
    let over = |of: &str, method, paper: &str, bound| {
        let what = text(of, "those of leverage columns");
        measured(what, needed(method) / leverage).at_least(paper, bound)
    };
    let by_scores = text("leverage columns", "n·d_eff");
    vec![
        measured(by_scores, leverage / n_d_eff).at_most("order n·d_eff", 4.0),
        over("divide and conquer", DIVIDE_AND_CONQUER, "d_eff in order", 1.0),
        over("uniform columns", UNIFORM, "d_mof/d_eff in order", 2.0),
    ]
}
