//! Theorem 4 of Alaoui & Mahoney 2015: both bounds on the approximate scores, measured over a grid
//! of p and ε.

use nystrom::kernels::Bernoulli;
use nystrom::linalg_core::{SymmetricEigen, random};
use nystrom::prelude::*;

use crate::experiment::{Axis, Claim, Column, Context, Outcome, Plot, Point};
use crate::lab::{Draw, Grid, LAMBDA, Measure, Results, labelled};
use crate::method::{FAST_LEVERAGE, PROBLEM, THEORY};
use crate::statistics;

const RHO: f64 = 0.1;
const EPSILONS: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.45];
const COLUMNS: [usize; 6] = [10, 20, 40, 80, 160, 320];
/// Rounding allowance of "l̃ ≤ l".
const SLACK: f64 = 1e-9;

const BELOW: Measure = Measure::new("max (l − l̃)", "max over i of l − l̃").log();
const ABOVE: Measure = Measure::named("max (l̃ − l)");
/// 2ε at the ε that the rule allows with p columns.
const BOUND: Measure = Measure::named("2ε");
/// Whether a draw breaks the bound.
const ADDITIVE: Measure = Measure::named("additive failures");
const MULTIPLICATIVE: Measure = Measure::named("multiplicative failures");
const RULE: Measure = Measure::named("p by the rule");
const LARGEST: Measure = Measure::named("largest l");
/// (σ_n − nλε)/(σ_n + nλε).
const FACTOR: Measure = Measure::named("multiplicative factor");

/// Points in columns, and the kernel on them.
type Drawn = anyhow::Result<(Mat<f64>, Box<dyn Kernel<f64>>)>;

/// A kernel on n points.
struct Problem {
    id: &'static str,
    label: &'static str,
    draw: fn(usize, &mut dyn Rng) -> Drawn,
}

labelled!(Problem);

const PROBLEMS: [Problem; 3] = [
    Problem {
        id: "gaussian",
        label: "Gaussian kernel on normal points",
        draw: |n, rng| Ok((random::standard_normal(2, n, rng), Box::new(Gaussian::new(1.0)?))),
    },
    Problem {
        id: "bernoulli",
        label: "Bernoulli kernel on equispaced points",
        draw: |n, _| {
            let x = Mat::from_fn(1, n, |_, i| i as f64 / n as f64);
            Ok((x, Box::new(Bernoulli::new(1)?)))
        },
    },
    OUTLIER,
];
const OUTLIER: Problem = Problem {
    id: "outlier",
    label: "Linear kernel, one outlying row",
    draw: |n, rng| {
        let z = random::standard_normal::<f64>(200, n, rng);
        let scale = |i| if i == 0 { 10.0 } else { 0.07 };
        let x = Mat::from_fn(200, n, |k, i| z[(k, i)] / 200.0_f64.sqrt() * scale(i));
        Ok((x, Box::new(Linear::new())))
    },
};

/// What all draws of a problem share.
struct Prepared {
    k: Mat<f64>,
    /// σ_n.
    smallest: f64,
    /// At which the rule asks for n/2 columns at ε = 0.45: the smallest problem in which it saves
    /// anything.
    lambda: f64,
    k_bar: f64,
    /// Exact scores at the λ of every ε, and at λ/100.
    exact: Vec<Vec<f64>>,
}

impl Prepared {
    fn new(ctx: &Context, problem: &Problem, n: usize) -> anyhow::Result<Self> {
        let (x, kernel) = (problem.draw)(n, &mut ctx.rng(problem.label))?;
        let lazy = KernelMatrix::new(kernel, Points::from_cols(x.as_ref()))?;
        let (k, k_bar) = (lazy.block((0..n).into(), (0..n).into()), lazy.trace() / n as f64);
        let smallest = *SymmetricEigen::new(k.as_ref())?.values().last().unwrap_or(&0.0);
        let lambda =
            k_bar / (0.45 * ((n as f64 / 2.0) / (8.0 * (n as f64 / RHO).ln()) - 1.0 / 6.0));
        let lambdas =
            EPSILONS.map(|epsilon| lambda * 0.45 / epsilon).into_iter().chain([lambda / 100.0]);
        let exact = lambdas.map(|lambda| Ok(exact_scores(&lazy, Ridge::PerSample(lambda))?.scores));
        let exact = exact.collect::<anyhow::Result<_>>()?;
        Ok(Prepared { k, smallest, lambda, k_bar, exact })
    }

    /// The ε that the rule allows with p columns at λ/100; negative where it allows none.
    fn allowed(&self, p: usize) -> f64 {
        let n = self.k.nrows() as f64;
        self.k_bar / (self.lambda / 100.0 * (p as f64 / (8.0 * (n / RHO).ln()) - 1.0 / 6.0))
    }
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, draws) = (ctx.pick(100, 500, 500), ctx.pick(5, 100, 200));
    let grid = Grid::new(ctx, "bounds", &PROBLEMS).repetitions(draws).parallel();
    let results = grid.run_on(|ctx, problem| Prepared::new(ctx, problem, n), cell)?;
    let mut out =
        results.outcome(format!("n = {n}, {draws} draws a cell; the theorem is for any n"));
    for problem in &PROBLEMS {
        out.plots.push(over_p(&results, problem));
        let (id, title) =
            (format!("{}-rule", problem.id), format!("{}: at the rule's p", problem.label));
        let table = results.table(&id, &title, [problem], &[ADDITIVE, MULTIPLICATIVE]);
        let table = table.by_x("ε").facts(&[LAMBDA, RULE, LARGEST, FACTOR]);
        let table = table.extra(Column::new("max (l − l̃), 95 %"), |at| {
            results.on(problem).sample(at.x, FAST_LEVERAGE, BELOW).quantile(0.95)
        });
        out.tables.extend(table.build());
    }
    out.claims = claims(&results);
    Ok(out)
}

/// One draw of approximate scores for every ε at the rule's p, and for every p at one λ.
fn cell(prepared: &Prepared, draw: &mut Draw<'_, Problem>) -> anyhow::Result<()> {
    let (k, n) = (Dense::new(prepared.k.as_ref())?, prepared.k.nrows());
    for (epsilon, exact) in EPSILONS.into_iter().zip(&prepared.exact) {
        let lambda = prepared.lambda * 0.45 / epsilon;
        let ridge = Ridge::PerSample(lambda);
        let p = AlaouiMahoney::for_accuracy(n, k.trace(), ridge, epsilon, RHO)?.columns;
        let rng = &mut draw.rng(&format!("ε = {epsilon}"));
        let [below, above, ratio] =
            deviations(exact, &AlaouiMahoney { columns: p }.scores(&k, ridge, rng)?);
        let shrink = n as f64 * lambda * epsilon;
        let factor = (prepared.smallest - shrink) / (prepared.smallest + shrink);
        let fails = |failure: bool| f64::from(u8::from(failure));
        let additive = fails(below > 2.0 * epsilon || above > SLACK);
        let multiplicative = fails(ratio < factor - SLACK);
        let measured = [(BELOW, below), (ADDITIVE, additive), (MULTIPLICATIVE, multiplicative)];
        draw.put_all(epsilon, FAST_LEVERAGE, measured);
        let largest = exact.iter().copied().fold(0.0, f64::max);
        let facts = [(LAMBDA, lambda), (RULE, p as f64), (LARGEST, largest), (FACTOR, factor)];
        draw.put_all(epsilon, PROBLEM, facts);
    }
    for p in COLUMNS {
        let ridge = Ridge::PerSample(prepared.lambda / 100.0);
        let scores =
            AlaouiMahoney { columns: p }.scores(&k, ridge, &mut draw.rng(&format!("p = {p}")))?;
        let [below, above, _] = deviations(&prepared.exact[EPSILONS.len()], &scores);
        draw.put_all(p, FAST_LEVERAGE, [(BELOW, below), (ABOVE, above)]);
        let allowed = Some(prepared.allowed(p)).filter(|epsilon| (0.0..0.5).contains(epsilon));
        draw.put_all(p, THEORY, allowed.map(|epsilon| (BOUND, 2.0 * epsilon)));
    }
    Ok(())
}

/// max_i (l_i − l̃_i), max_i (l̃_i − l_i), min_i l̃_i/l_i.
fn deviations(exact: &[f64], approximate: &[f64]) -> [f64; 3] {
    let pairs = || exact.iter().zip(approximate);
    [
        pairs().map(|(l, a)| l - a).fold(f64::NEG_INFINITY, f64::max),
        pairs().map(|(l, a)| a - l).fold(f64::NEG_INFINITY, f64::max),
        pairs().map(|(l, a)| a / l).fold(f64::INFINITY, f64::min),
    ]
}

/// At one λ, the largest deviation as p grows, beside the bound 2ε(p) that the rule allows at that
/// p.
fn over_p(results: &Results, problem: &Problem) -> Plot {
    let title = format!("{}: largest underestimation of a score", problem.label);
    let (id, x) = (format!("{}-deviation", problem.id), Axis::log("number of columns p"));
    let mut plot = Plot::new(&id, &title, x, BELOW.axis());
    let measured = COLUMNS.map(|p| {
        let sample = results.on(problem).sample(p, FAST_LEVERAGE, BELOW);
        let [median, low, high] = [0.5, 0.05, 0.95].map(|q| sample.quantile(q));
        Point::with_range(p as f64, median, low, high)
    });
    plot.line_and_points("measured (median, 5–95 %)", FAST_LEVERAGE.key, measured);
    let at = |p| Point::new(p, results.on(problem).sample(p, THEORY, BOUND).quantile(0.5));
    let bound = results.on(problem).abscissae(THEORY, BOUND).into_iter().map(at);
    plot.line("bound 2ε at this p, where ε < ½", THEORY.key, bound);
    plot
}

fn claims(results: &Results) -> Vec<Claim> {
    let here = results.on(&OUTLIER);
    let failures = EPSILONS.map(|epsilon| here.get(epsilon, FAST_LEVERAGE, ADDITIVE));
    let words = "share of draws that break the additive bound at the rule's p";
    let binding = here.measured(words, statistics::largest(failures));
    let binding = binding.at_most(format!("≤ ρ = {RHO}"), RHO).theorem();
    let above = PROBLEMS.iter().map(|problem| {
        let here = results.on(problem);
        let most = here.most(FAST_LEVERAGE, ABOVE);
        here.measured("largest l̃ − l over all draws", most).at_most("≤ 0", SLACK).theorem()
    });
    std::iter::once(binding).chain(above).collect()
}
