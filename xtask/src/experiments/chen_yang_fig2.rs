//! Figure 2 of Chen & Yang 2021: true against SA rescaled leverage scores on the line, for three
//! designs, as n grows.

use nystrom::leverage::{Density, Guard, KernelDensity};
use nystrom::prelude::*;

use super::bimodal_problem::BimodalDesign;
use crate::experiment::{Axis, Claim, Context, Outcome, Plot, Point};
use crate::lab::{Draw, Grid, Measure, Results, labelled};
use crate::method::{
    self, Method, SPECTRAL, SPECTRAL_AVERAGE, SPECTRAL_EDGE, SPECTRAL_TRUE, SPECTRAL_TRUE_EDGE,
};
use crate::statistics::quantile;

/// Smoothness ν, λ = c·n^{−e}, and the distribution of the points.
struct Problem {
    nu: f64,
    lambda: (f64, f64),
    design: Design,
}

const fn smooth(design: Design) -> Problem {
    Problem { nu: 1.5, lambda: (0.45, 0.8), design }
}

const fn rough(design: Design) -> Problem {
    Problem { nu: 0.5, lambda: (0.3, 2.0 / 3.0), design }
}

const PROBLEMS: [Problem; 6] =
    [smooth(UNIFORM), smooth(BETA), smooth(BIMODAL), rough(UNIFORM), rough(BETA), rough(BIMODAL)];

const INSIDE_TRUE: Method = SPECTRAL_TRUE.called("interior, true density");
const INSIDE: Method = SPECTRAL.called("interior, estimated");
const EDGE_TRUE: Method = SPECTRAL_TRUE_EDGE.called("edge, true density");
const EDGE: Method = SPECTRAL_EDGE.called("edge, estimated");
const AVERAGED: Method = SPECTRAL_AVERAGE.called("edge, estimated and averaged");
/// Densities below this quantile are averaged.
const LOW: f64 = 0.05;
const ERROR: Measure = Measure::new("error", "median of |K̃/G − 1|").log();

labelled!(Problem, |p| format!("ν = {}, {}", p.nu, p.design.name));

/// A distribution of points.
#[derive(Clone, Copy)]
struct Design {
    name: &'static str,
    /// What its edge is.
    edge: &'static str,
    /// n points, each with its true density.
    draw: fn(usize, &mut dyn Rng) -> Vec<(f64, f64)>,
    /// Whether a point of this density is well inside, where the density is high; and whether it is
    /// at the edge, or where the density is low.
    regions: fn(f64, f64) -> [bool; 2],
}

const UNIFORM: Design = Design {
    name: "uniform",
    edge: "within 0.02 of the boundary",
    draw: |n, rng| (0..n).map(|_| (rng.random(), 1.0)).collect(),
    regions: |x, _| [(0.2..0.8).contains(&x), !(0.02..0.98).contains(&x)],
};
const BETA: Design = Design {
    name: "beta",
    edge: "where p < 1/2",
    draw: |n, rng| (0..n).map(|_| beta(rng)).collect(),
    regions: |x, p| [p > 2.0 && x < 0.95, p < 0.5],
};
const BIMODAL: Design = Design {
    name: "bimodal",
    edge: "in the small cluster",
    draw: |n, rng| {
        let drawn = BimodalDesign { n, dim: 1, gamma: 0.4 }.draw(rng);
        (0..n).map(|i| (drawn.points().coordinate(i, 0), drawn.density[i])).collect()
    },
    regions: |x, _| [(0.2..0.8).contains(&x), x > 1.5],
};
/// The places in [`Design::regions`].
const INTERIOR: usize = 0;
const BORDER: usize = 1;

/// Beta(15, 2) with its density 240 x¹⁴(1 − x), by rejection.
fn beta(rng: &mut dyn Rng) -> (f64, f64) {
    let density = |x: f64| 240.0 * x.powi(14) * (1.0 - x);
    loop {
        let (x, u): (f64, f64) = (rng.random(), rng.random());
        if 6.0 * u < density(x) {
            return (x, density(x)); // the density is below 5.9
        }
    }
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] =
        ctx.pick(&[100, 200], &[200, 500, 1000, 2000], &[200, 500, 1000, 2000, 5000]);
    let ends = [sizes[0], sizes[sizes.len() - 1]];
    let grid = Grid::new(ctx, "designs", &PROBLEMS).at(sizes).repetitions(ctx.pick(2, 10, 30));
    let results = grid.parallel().run(|draw| cell(draw, ends))?;

    let mut out = results
        .outcome(format!("{}; 30 draws, and n = 5000 too, in a full run", results.draws("n")));
    for problem in &PROBLEMS {
        let Problem { nu, design: Design { name, edge, .. }, .. } = problem;
        let id = format!("error-{name}-nu-{}", if *nu > 1.0 { "3-2" } else { "1-2" });
        let title = format!("Median relative error, {name} design, ν = {nu}; the edge is {edge}");
        let n = Axis::log("number of points n");
        out.plots.extend(results.on(problem).plot(&id, &title, n, ERROR));
        out.claims.extend(claims(&results, problem, ends));
    }
    let title = "Median of |K̃/G − 1| over the points of a region, mean over repetitions";
    let table = results.table("errors", title, &PROBLEMS, &[ERROR]);
    out.tables.extend(table.by_setting("problem").by_x("n").build());
    Ok(out)
}

/// True rescaled scores of one draw of the points, and SA's with the true and the estimated
/// density.
fn cell(draw: &mut Draw<'_, Problem>, shown: [usize; 2]) -> anyhow::Result<()> {
    let (n, &Problem { nu, lambda, design }) = (draw.size, draw.setting);
    let mut points = (design.draw)(n, &mut draw.rng("problem"));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (x, p): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (kernel, ridge) =
        (Matern::new(nu, 1.0)?, Ridge::PerSample(lambda.0 * (n as f64).powf(-lambda.1)));
    let exact = exact_scores(&KernelMatrix::new(kernel, Points::from_slice(&x))?, ridge)?.scores;
    let exact: Vec<f64> = exact.iter().map(|l| n as f64 * l).collect();
    let spectral = |density, guard| {
        let analysis = SpectralAnalysis { density, guard };
        anyhow::Ok(analysis.scores(&kernel, Points::from_slice(&x), ridge)?.rescaled)
    };
    let with_truth = spectral(Density::Given(&p), Guard::None)?;
    let estimate = |guard| spectral(Density::Estimated(KernelDensity::default()), guard);
    let estimated = estimate(Guard::None)?;
    let of_beta = design.name == BETA.name;
    let averaged = of_beta.then(|| estimate(Guard::LocalAverage { quantile: LOW })).transpose()?;
    let methods = [
        (INSIDE_TRUE, &with_truth, INTERIOR),
        (INSIDE, &estimated, INTERIOR),
        (EDGE_TRUE, &with_truth, BORDER),
        (EDGE, &estimated, BORDER),
    ];
    let averaged = averaged.iter().map(|averaged| (AVERAGED, averaged, BORDER));
    for (method, scores, region) in methods.into_iter().chain(averaged) {
        let within = (0..n).filter(|&i| (design.regions)(x[i], p[i])[region]);
        let mut errors: Vec<f64> = within.map(|i| (scores[i] / exact[i] - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        if !errors.is_empty() {
            // the small cluster may hold no point
            draw.put(n, method, ERROR, quantile(&errors, 0.5));
        }
    }
    if draw.repetition == 0 && nu > 1.0 && shown.contains(&n) {
        draw.show(picture(design, &points, [&exact, &estimated, &with_truth]));
    }
    Ok(())
}

fn picture(
    Design { name, regions, .. }: Design,
    points: &[(f64, f64)],
    [exact, estimated, with_truth]: [&[f64]; 3],
) -> Plot {
    let n = points.len();
    let axes = (Axis::linear("design point x"), Axis::log("rescaled score n·l(x)"));
    let title = format!("Rescaled scores, {name} design, n = {n}, ν = 3/2");
    let mut plot = Plot::new(&format!("{name}-{n}"), &title, axes.0, axes.1);
    let step = n.div_ceil(250);
    let curve = |scores: &[f64]| {
        let shown =
            |&i: &usize| i.is_multiple_of(step) || regions(points[i].0, points[i].1)[BORDER];
        (0..n).filter(shown).map(|i| Point::new(points[i].0, scores[i])).collect::<Vec<_>>()
    };
    plot.points("true", method::EXACT.key, curve(exact));
    plot.line("SA, density estimated", SPECTRAL.key, curve(estimated));
    plot.line("SA, true density", SPECTRAL_TRUE.key, curve(with_truth));
    plot
}

/// "Excellent": the median relative error of the uniform design at the largest n.
const EXCELLENT: f64 = 0.1;
/// "Goes to 0": at least as fast as this power of n.
const FALLS: f64 = -0.2;

fn claims(results: &Results, problem: &Problem, [first, last]: [usize; 2]) -> Vec<Claim> {
    let (here, Design { name, edge, .. }) = (results.on(problem), problem.design);
    let error = |method, n: usize| here.get(n, method, ERROR);
    let over = |a, b| here.compare(("", last), ERROR, a, b).value;
    let falls = |region: &str, method| {
        let words =
            format!("{region} at the largest n over that at the smallest, density estimated");
        let fall = error(method, last).over(error(method, first));
        here.measured(words, fall).at_most("falls", 1.0).picture()
    };
    let words = "exponent of n in the interior error, true density";
    let exponent = here.measured(words, here.exponent(INSIDE_TRUE, ERROR));
    // ours: the theorem has no rate
    let exponent = exponent.at_most("ours: goes to 0", FALLS);
    let words = format!("error {edge} over that of the interior, density estimated, largest n");
    let larger = here.measured(words, over(EDGE, INSIDE)).at_least("larger", 1.0).picture();
    let own = if name == UNIFORM.name {
        let interior = here.measured("interior error at the largest n", error(INSIDE, last));
        interior.at_most("excellent", EXCELLENT).picture()
    } else {
        falls(&format!("error {edge}"), EDGE)
    };
    let mut claims = vec![exponent, falls("interior error", INSIDE), larger, own];
    if name == BETA.name {
        let words = format!("error {edge} at the largest n, averaged over not averaged");
        let averaged = here.measured(words, over(AVERAGED, EDGE));
        claims.push(averaged.at_most("ours: appendix B.3 averages there", 1.0));
    }
    claims
}
