//! Alaoui & Mahoney 2015 against divide and conquer: risk for a number of kernel values, three
//! ways.

use nystrom::faer::Mat;
use nystrom::kernels::{Bernoulli, Points};
use nystrom::krr::DivideAndConquerKrr;
use nystrom::krr::risk::Risk;
use nystrom::leverage::exact_scores;
use nystrom::rand::Rng;

use super::bernoulli_problem::{BETA, BernoulliProblem, CHOICES, NOISE, RIDGE};
use super::papers;
use crate::experiment::{Claim, Context, Experiment, Outcome};
use crate::lab::{Draw, Grid, Measure, Results, with};
use crate::method::{DIVIDE_AND_CONQUER, LEVERAGE, Method, UNIFORM};

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-divide-and-conquer",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Section 1, against divide and conquer",
    says: "Divide and conquer in m parts keeps the risk of exact KRR for m up to about n/d_eff². \
           It needs n²/m kernel values, hence n·d_eff². Nyström by leverage scores needs about \
           n·d_eff, uniform columns n·d_mof.",
    data: &[],
    run,
};

const PARTS: [usize; 8] = [1, 2, 3, 4, 6, 10, 20, 50];
const COLUMNS: [usize; 9] = [16, 24, 32, 48, 64, 96, 128, 192, 384];
/// Risk within this factor of exact KRR counts as reached.
const REACHED: f64 = 1.1;
const PROBLEM: &str = "synthetic problem";
const RATIO: Measure = Measure::new("risk ratio", "risk / risk of exact KRR").log();
const ENTRIES: Measure = Measure::new("kernel values", "kernel values").log();

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, draws) = (ctx.pick(200, 500, 500), ctx.pick(2, 15, 50));
    let problem = BernoulliProblem::new(n)?;
    let exact = exact_scores(&problem.matrix()?, RIDGE)?;
    let grid = Grid::new(ctx, "risk", &[PROBLEM]).repetitions(draws).parallel();
    let results = grid.run(|draw| cell(draw, &problem, &exact.scores))?;

    let mut out = results.outcome(format!(
        "n = {n}, {draws} draws; the paper compares orders of growth and runs no such experiment."
    ));
    let title = "Mean risk over that of exact KRR, with standard errors";
    let plot = results.plot_against("risk", title, &PROBLEM, ENTRIES, RATIO);
    out.plots.extend(plot.map(with(|plot| plot.horizontal("exact KRR", 1.0))));
    let table = results.table("risk", title, &[PROBLEM], &[ENTRIES, RATIO]);
    out.tables.extend(table.by_method("method").by_x("parts or columns").build());
    out.claims = claims(&results, n as f64 * exact.d_eff());
    let reached = |m: &usize| reaches(&results, *m as f64, DIVIDE_AND_CONQUER);
    let reaching = PARTS.into_iter().filter(reached).max().unwrap_or(0);
    out.notes = vec![
        CHOICES.into(),
        format!(
            "The largest number of parts with a ratio ≤ 1.1 is {reaching}, where n/d_eff² = \
             {:.2}. The columns' own n·d_eff scores are not counted, \
             as the paper does not.",
            n as f64 / exact.d_eff().powi(2)
        ),
    ];
    Ok(out)
}

fn cell(
    draw: &mut Draw<'_, &'static str>,
    problem: &BernoulliProblem,
    scores: &[f64],
) -> anyhow::Result<()> {
    let n = problem.x.len();
    let uniform = vec![1.0; n];
    for (method, weights) in [
        (UNIFORM.called("uniform columns"), &uniform[..]),
        (LEVERAGE.called("leverage columns"), scores),
    ] {
        for p in COLUMNS.into_iter().filter(|&p| p < n) {
            let rng = &mut draw.rng(&format!("{}, p = {p}", method.key));
            let (ratio, columns) = problem.through(weights, p, rng)?;
            let entries = (n * columns) as f64;
            draw.put_all(p as f64, method, [(RATIO, ratio), (ENTRIES, entries)]);
        }
    }
    for parts in PARTS {
        let rng = &mut draw.rng(&format!("{}, {parts} parts", DIVIDE_AND_CONQUER.key));
        let (risk, entries) = in_parts(problem, parts, rng)?;
        let values = [(RATIO, risk.ratio(problem.exact)), (ENTRIES, entries)];
        draw.put_all(parts as f64, DIVIDE_AND_CONQUER, values);
    }
    Ok(())
}

/// Risk and kernel values of divide and conquer. The fit is linear in y: fitted to the identity it
/// is its own hat matrix H, and the risk is ‖Hf* − f*‖²/n + σ²‖H‖²_F/n.
fn in_parts(
    problem: &BernoulliProblem,
    parts: usize,
    rng: &mut dyn Rng,
) -> anyhow::Result<(Risk, f64)> {
    let n = problem.x.len();
    let krr =
        DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(Bernoulli::new(BETA)?, RIDGE) };
    let points = Points::from_slice(&problem.x);
    let model = krr.fit((points, Mat::<f64>::identity(n, n).as_ref()), rng)?;
    let hat = model.predict(points)?;
    let fitted = |i: usize| (0..n).map(|j| hat[(i, j)] * problem.f_star[j]).sum::<f64>();
    let bias_squared =
        (0..n).map(|i| (fitted(i) - problem.f_star[i]).powi(2)).sum::<f64>() / n as f64;
    let risk = Risk { bias_squared, variance: NOISE * hat.squared_norm_l2() / n as f64 };
    Ok((risk, model.report().kernel_entries as f64))
}

fn reaches(results: &Results, size: f64, method: Method) -> bool {
    results.get(&PROBLEM, size, method, RATIO).value <= REACHED
}

fn claims(results: &Results, n_d_eff: f64) -> Vec<Claim> {
    let needed = |method: Method| {
        let sizes = results.abscissae(&PROBLEM, method, RATIO).into_iter();
        let reaching = sizes.filter(|&size| reaches(results, size, method));
        let entries = reaching.map(|size| results.get(&PROBLEM, size, method, ENTRIES).value);
        entries.fold(f64::INFINITY, f64::min)
    };
    let [parts, uniform, leverage] = [DIVIDE_AND_CONQUER, UNIFORM, LEVERAGE].map(needed);
    let values =
        |of: &str, over: &str| format!("kernel values of {of} over {over}, for a ratio ≤ 1.1");
    let over = |of: &str| values(of, "those of leverage columns");
    let [by_scores, in_parts, by_chance] = [
        values("leverage columns", "n·d_eff"),
        over("divide and conquer"),
        over("uniform columns"),
    ];
    vec![
        Claim::at_most(&by_scores, "order n·d_eff", leverage / n_d_eff, 4.0),
        Claim::at_least(&in_parts, "d_eff in order", parts / leverage, 1.0),
        Claim::at_least(&by_chance, "d_mof/d_eff in order", uniform / leverage, 2.0),
    ]
}
