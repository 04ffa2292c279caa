//! Figure 1 (right) of Alaoui & Mahoney 2015: risk of Nyström KRR against the number of columns, four ways of sampling.

use nystrom::krr::risk::FixedDesign;
use nystrom::leverage::{AlaouiMahoney, RidgeLeverage, exact_scores};
use nystrom::linalg_core::{PsdMatrix, random};
use nystrom::sketch::{Landmarks, Nystrom};
use rand::Rng;
use rayon::prelude::*;

use super::bernoulli_problem::{BernoulliProblem, CHOICES, NOISE, RIDGE};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-fig1-right",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Figure 1, right",
    says: "Sampling by exact or approximate leverage scores reaches the risk of exact KRR with far fewer columns than uniform or diagonal \
        sampling; Table 1 prints the risk ratio 1.01 for leverage sampling at p = 2 d_eff.",
    data: &[],
    run,
};

const COLUMNS: [usize; 12] = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];
/// The approximate scores are computed from this many columns, by section 3.5.
const SCORE_COLUMNS: usize = 256;
/// Risk within this factor of exact KRR counts as reached.
const REACHED: f64 = 1.1;

/// Name in the legend, style, and position in the arrays below.
const METHODS: [(&str, &str); 4] = [
    ("uniform", "uniform"),
    ("diagonal K_ii", "diagonal"),
    ("exact leverage", "leverage"),
    ("approximate leverage", "fast-leverage"),
];

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let repetitions = ctx.pick(3, 30, 100);
    let problem = BernoulliProblem::new(500)?;
    let exact = exact_scores(&problem.matrix()?, RIDGE)?;
    let stage = ctx.progress.begin("risk of Nyström KRR", METHODS.len() * COLUMNS.len() * repetitions);
    let cells: Vec<(usize, usize)> = (0..METHODS.len()).flat_map(|m| COLUMNS.map(|p| (m, p))).collect();
    let ratios: Vec<Vec<f64>> = cells
        .par_iter()
        .map(|&(method, p)| {
            let one = |r: usize| {
                let rng = &mut ctx.rng(&format!("{}, p = {p}, repetition {r}", METHODS[method].0));
                let ratio = risk_ratio(&problem, &exact.scores, method, p, rng);
                stage.inc(1);
                ratio
            };
            (0..repetitions).map(one).collect::<anyhow::Result<_>>()
        })
        .collect::<anyhow::Result<_>>()?;
    drop(stage);
    Ok(report(&problem, exact.d_eff(), repetitions, &ratios))
}

/// R(f̂_L)/R(f̂_K) for p columns drawn with replacement by one method.
fn risk_ratio(
    problem: &BernoulliProblem,
    scores: &[f64],
    method: usize,
    p: usize,
    rng: &mut dyn Rng,
) -> anyhow::Result<f64> {
    let k = problem.matrix()?;
    let n = k.dim();
    let probabilities = match method {
        0 => vec![1.0; n],
        1 => k.diag(),
        2 => scores.to_vec(),
        _ => AlaouiMahoney { columns: SCORE_COLUMNS }.scores(&k, RIDGE, rng)?,
    };
    let draws = random::with_replacement(&probabilities, p, rng)?;
    let nystrom = Nystrom::new(&k, &Landmarks::from_draws(n, &draws)?)?;
    let design = FixedDesign::low_rank(nystrom.factor(), &problem.f_star)?;
    Ok(design.risk(RIDGE, NOISE)?.ratio(problem.exact))
}

fn report(problem: &BernoulliProblem, d_eff: f64, repetitions: usize, ratios: &[Vec<f64>]) -> Outcome {
    let (mut curve, columns) = (Vec::new(), COLUMNS.len());
    for method in 0..METHODS.len() {
        curve.push(
            ratios[method * columns..(method + 1) * columns].iter().map(|r| mean_and_error(r)).collect::<Vec<_>>(),
        );
    }
    let title = format!("Mean risk over {repetitions} draws, with standard errors; exact KRR is the horizontal line");
    let mut plot = Plot::new("risk", &title, Axis::log("number of columns p"), Axis::log("risk E‖f̂ − f*‖²/n"));
    let risk = problem.exact.total();
    for ((name, style), points) in METHODS.iter().zip(&curve) {
        let points = COLUMNS.iter().zip(points);
        let bars = points.map(|(&p, &(m, e))| Point::with_range(p as f64, risk * m, risk * (m - e), risk * (m + e)));
        plot.line_and_points(name, style, bars);
    }
    plot.horizontal("exact KRR", risk);
    plot.vertical("2 d_eff", 2.0 * d_eff);

    let heads = METHODS.iter().flat_map(|(name, _)| [format!("{name}: mean ratio"), format!("{name}: s.e.")]);
    let mut table = Table::new(
        "ratio",
        "Risk ratio R(f̂_L)/R(f̂_K)",
        std::iter::once("p".to_owned()).chain(heads).map(|h| Column::new(&h)),
    );
    for (i, &p) in COLUMNS.iter().enumerate() {
        let cells = curve.iter().flat_map(|c| [Cell::from(c[i].0), Cell::from(c[i].1)]);
        table.push(std::iter::once(Cell::from(p)).chain(cells));
    }
    Outcome {
        scale_note: format!("n = 500 as in the paper; {repetitions} draws for each method and p ({} in a full run)", 100),
        claims: claims(&curve, d_eff),
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            CHOICES.into(),
            "The Bernoulli kernel has a constant diagonal, so diagonal sampling is uniform sampling in law; both are drawn.".into(),
            format!(
                "Approximate scores: section 3.5 with {SCORE_COLUMNS} columns, drawn anew each time. Theorem 4 would ask for more than n columns here, \
                 and a point far from all sampled ones gets a score near 0: that is where the approximate scores lose."
            ),
        ],
        ..Outcome::default()
    }
}

fn claims(curve: &[Vec<(f64, f64)>], d_eff: f64) -> Vec<Claim> {
    let at = |p: f64| COLUMNS.iter().position(|&c| c as f64 >= p).unwrap_or(COLUMNS.len() - 1);
    let reached = |method: usize| {
        let first = curve[method].iter().position(|&(mean, _)| mean <= REACHED);
        first.map_or(f64::INFINITY, |i| COLUMNS[i] as f64)
    };
    let double = at(2.0 * d_eff);
    let from_d_eff = at(d_eff)..COLUMNS.len();
    let approximate = from_d_eff.clone().map(|i| curve[3][i].0 / curve[2][i].0).fold(0.0, f64::max);
    let gap = |i: usize| (curve[0][i].0 - curve[1][i].0).abs() / curve[0][i].1.hypot(curve[1][i].1).max(1e-12);
    let diagonal = (0..COLUMNS.len()).map(gap).fold(0.0, f64::max);
    vec![
        Claim::at_most(
            &format!("risk ratio of exact leverage at p = {}", COLUMNS[double]),
            "1.01",
            curve[2][double].0,
            REACHED,
        ),
        Claim::at_least(
            "columns that uniform sampling needs for a ratio ≤ 1.1, over those that leverage needs",
            "several times as many (picture)",
            reached(0) / reached(2),
            2.0,
        ),
        Claim::at_most(
            "largest ratio of risks, approximate over exact leverage, for p ≥ d_eff",
            "indistinguishable (picture)",
            approximate,
            1.2,
        ),
        Claim::at_most("largest gap between diagonal and uniform in standard errors", "same law", diagonal, 4.0),
    ]
}
