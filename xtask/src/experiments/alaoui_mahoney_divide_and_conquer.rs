//! Alaoui & Mahoney 2015 against divide and conquer: risk for a number of kernel values, three ways.

use nystrom::kernels::{Bernoulli, Points};
use nystrom::krr::DivideAndConquerKrr;
use nystrom::krr::risk::{FixedDesign, Risk};
use nystrom::leverage::exact_scores;
use nystrom::linalg_core::random;
use nystrom::sketch::{Landmarks, Nystrom};
use nystrom::{faer::Mat, rand::Rng};
use rayon::prelude::*;

use super::bernoulli_problem::{BernoulliProblem, CHOICES, NOISE, RIDGE};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-divide-and-conquer",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Section 1, against divide and conquer",
    says: "Divide and conquer in m parts keeps the risk of exact KRR for m up to about n/d_eff², at n²/m kernel values, hence n·d_eff²; \
        Nyström by leverage scores needs about n·d_eff, uniform columns n·d_mof.",
    data: &[],
    run,
};

const PARTS: [usize; 8] = [1, 2, 3, 4, 6, 10, 20, 50];
const COLUMNS: [usize; 9] = [16, 24, 32, 48, 64, 96, 128, 192, 384];
/// Risk within this factor of exact KRR counts as reached.
const REACHED: f64 = 1.1;

/// Mean risk ratio, its standard error, and kernel values, for one setting of one method.
struct Setting {
    size: usize,
    entries: f64,
    ratio: (f64, f64),
}

/// One fit of a given size: its risk ratio and the kernel entries it took.
type Draw<'a> = &'a (dyn Fn(usize, &mut dyn Rng) -> anyhow::Result<(f64, f64)> + Sync);

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let repetitions = ctx.pick(2, 15, 50);
    let n = ctx.pick(200, 500, 500);
    let problem = BernoulliProblem::new(n)?;
    let scores = exact_scores(&problem.matrix()?, RIDGE)?;
    let stage = ctx.progress.begin("risk", (PARTS.len() + 2 * COLUMNS.len()) * repetitions);
    let settings = |name: &str, sizes: &[usize], one: Draw<'_>| {
        let setting = |&size: &usize| {
            let draw = |r: usize| {
                let result = one(size, &mut ctx.rng(&format!("{name}, {size}, repetition {r}")));
                stage.inc(1);
                result
            };
            let draws = (0..repetitions).map(draw).collect::<anyhow::Result<Vec<_>>>()?;
            let ratios: Vec<f64> = draws.iter().map(|draw| draw.0).collect();
            let entries = draws.iter().map(|draw| draw.1).sum::<f64>() / repetitions as f64;
            Ok(Setting { size, entries, ratio: mean_and_error(&ratios) })
        };
        sizes.par_iter().map(setting).collect::<anyhow::Result<Vec<_>>>()
    };
    let columns: Vec<usize> = COLUMNS.iter().copied().filter(|&p| p < n).collect();
    let nystrom = |p: &[f64], size: usize, rng: &mut dyn Rng| nystrom_ratio(&problem, p, size, rng);
    let curves = [
        settings("divide and conquer", &PARTS, &|size, rng| parts_ratio(&problem, size, rng))?,
        settings("uniform", &columns, &|size, rng| nystrom(&vec![1.0; n], size, rng))?,
        settings("leverage", &columns, &|size, rng| nystrom(&scores.scores, size, rng))?,
    ];
    drop(stage);
    Ok(report(&problem, scores.d_eff(), repetitions, &curves))
}

/// Risk ratio and kernel values of Nyström with p columns drawn with replacement.
fn nystrom_ratio(
    problem: &BernoulliProblem,
    weights: &[f64],
    p: usize,
    rng: &mut dyn Rng,
) -> anyhow::Result<(f64, f64)> {
    let (k, n) = (problem.matrix()?, problem.x.len());
    let landmarks = Landmarks::from_draws(n, &random::with_replacement(weights, p, rng)?)?;
    let entries = (n * landmarks.len()) as f64;
    let design = FixedDesign::low_rank(Nystrom::new(&k, &landmarks)?.factor(), &problem.f_star)?;
    Ok((design.risk(RIDGE, NOISE)?.ratio(problem.exact), entries))
}

/// Risk ratio and kernel values of divide and conquer. The fit is linear in y: fitted to the identity it is its own hat matrix H, and
/// the risk is ‖Hf* − f*‖²/n + σ²‖H‖²_F/n.
fn parts_ratio(problem: &BernoulliProblem, parts: usize, rng: &mut dyn Rng) -> anyhow::Result<(f64, f64)> {
    let n = problem.x.len();
    let krr = DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(Bernoulli::new(2)?, RIDGE) };
    let points = Points::from_slice(&problem.x);
    let model = krr.fit(points, Mat::<f64>::identity(n, n).as_ref(), rng)?;
    let hat = model.predict(points)?;
    let fitted = |i: usize| (0..n).map(|j| hat[(i, j)] * problem.f_star[j]).sum::<f64>();
    let bias_squared = (0..n).map(|i| (fitted(i) - problem.f_star[i]).powi(2)).sum::<f64>() / n as f64;
    let risk = Risk { bias_squared, variance: NOISE * hat.squared_norm_l2() / n as f64 };
    Ok((risk.ratio(problem.exact), model.report().kernel_entries as f64))
}

/// The fewest kernel values of a setting that reaches the risk; infinite if none does.
fn needed(curve: &[Setting]) -> f64 {
    curve.iter().filter(|s| s.ratio.0 <= REACHED).map(|s| s.entries).fold(f64::INFINITY, f64::min)
}

fn report(problem: &BernoulliProblem, d_eff: f64, repetitions: usize, curves: &[Vec<Setting>; 3]) -> Outcome {
    let names = [
        ("divide and conquer", "divide-and-conquer"),
        ("uniform columns", "uniform"),
        ("leverage columns", "leverage"),
    ];
    let title = format!("Mean risk over that of exact KRR, {repetitions} draws, with standard errors");
    let mut plot = Plot::new("risk", &title, Axis::log("kernel values"), Axis::log("risk / risk of exact KRR"));
    let mut table = Table::new(
        "risk",
        &title,
        [
            Column::new("method"),
            Column::new("parts or columns"),
            Column::new("kernel values"),
            Column::new("ratio"),
            Column::new("s.e."),
        ],
    );
    for ((name, style), curve) in names.iter().zip(curves) {
        let point = |s: &Setting| Point::with_range(s.entries, s.ratio.0, s.ratio.0 - s.ratio.1, s.ratio.0 + s.ratio.1);
        plot.line_and_points(name, style, curve.iter().map(point));
        for s in curve {
            table.push([
                Cell::from(*name),
                (s.size as f64).into(),
                s.entries.into(),
                s.ratio.0.into(),
                s.ratio.1.into(),
            ]);
        }
    }
    plot.horizontal("exact KRR", 1.0);
    let n = problem.x.len() as f64;
    let [parts, uniform, leverage] = [0, 1, 2].map(|c| needed(&curves[c]));
    let largest = curves[0].iter().filter(|s| s.ratio.0 <= REACHED).map(|s| s.size).max().unwrap_or(0);
    Outcome {
        scale_note: format!(
            "n = {n}, {repetitions} draws; the paper compares orders of growth and runs no such experiment."
        ),
        claims: vec![
            Claim::at_most(
                "|ratio − 1| of divide and conquer in one part",
                "0 by definition",
                (curves[0][0].ratio.0 - 1.0).abs(),
                1e-3,
            ),
            Claim::at_most(
                "kernel values of leverage columns over n·d_eff, for a ratio ≤ 1.1",
                "order n·d_eff",
                leverage / (n * d_eff),
                4.0,
            ),
            Claim::at_least(
                "kernel values of divide and conquer over those of leverage columns, for a ratio ≤ 1.1",
                "d_eff in order",
                parts / leverage,
                1.0,
            ),
            Claim::at_least(
                "kernel values of uniform columns over those of leverage columns, for a ratio ≤ 1.1",
                "d_mof/d_eff in order",
                uniform / leverage,
                2.0,
            ),
        ],
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            CHOICES.into(),
            format!(
                "The largest number of parts with a ratio ≤ 1.1 is {largest}, where n/d_eff² = {:.2}. The columns' own n·d_eff scores are not counted, \
                 as the paper does not.",
                n / d_eff.powi(2)
            ),
        ],
        ..Outcome::default()
    }
}
