//! True against SA rescaled leverage scores on the line (Chen & Yang 2021). Figure 2: for three
//! designs, as n grows. Ours: what spectral analysis does not see, next to the boundary of the
//! support.

use nystrom::leverage::{Density, Guard, KernelDensity, LocalScore};

use super::bimodal::BimodalPoints;
use crate::lab::*;

/// Smoothness ν, λ = c·n^{−e}, and the distribution of the points.
struct Problem {
    nu: f64,
    lambda: (f64, f64),
    design: Design,
}

const SMOOTHNESS: [(f64, (f64, f64)); 2] = [(1.5, (0.45, 0.8)), (0.5, (0.3, 2.0 / 3.0))];

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

const DESIGNS: [Design; 3] = [UNIFORM, BETA, BIMODAL];
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
        let drawn = BimodalPoints::draw(n, 1, 0.4, rng);
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

pub fn fig2(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] =
        ctx.pick(&[100, 200], &[200, 500, 1000, 2000], &[200, 500, 1000, 2000, 5000]);
    let ends = [sizes[0], sizes[sizes.len() - 1]];
    let each = sizes.iter().map(|&n| (n, ctx.pick(2, 10, 30)));
    let problems: Vec<Problem> = SMOOTHNESS
        .into_iter()
        .flat_map(|(nu, lambda)| DESIGNS.map(|design| Problem { nu, lambda, design }))
        .collect();
    let grid = Grid::new(ctx, "designs", &problems, each).parallel();
    let results = grid.run(|trial| cell(trial, ends))?;

    let note = format!("{}; 30 draws, and n = 5000 too, in a full run", results.draws());
    let mut out = results.outcome(note);
    for problem in &problems {
        let Problem { nu, design: Design { name, edge, .. }, .. } = problem;
        let id = format!("error-{name}-nu-{}", if *nu > 1.0 { "3-2" } else { "1-2" });
        let title = format!("Median relative error, {name} design, ν = {nu}; the edge is {edge}");
        let n = Axis::log("number of points n");
        out.plots.extend(results.on(problem).plot(&id, &title, n, ERROR));
        out.claims.extend(claims(&results, problem, ends));
    }
    let title = "Median of |K̃/G − 1| over the points of a region, mean over repetitions";
    let keys = ["problem", "n", ""];
    out.tables.extend(results.table(["errors", title], &problems, keys, &[], &[ERROR]));
    Ok(out)
}

/// True rescaled scores of one draw of the points, and SA's with the true and the estimated
/// density.
fn cell(trial: &mut Trial<'_, Problem>, shown: [usize; 2]) -> anyhow::Result<()> {
    let (n, &Problem { nu, lambda, design }) = (trial.size, trial.setting);
    let mut points = (design.draw)(n, &mut trial.rng("problem"));
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
    let guard = Guard::LocalAverage { quantile: LOW };
    let averaged = if design.name == BETA.name { estimate(guard)? } else { vec![] };
    let methods = [
        (INSIDE_TRUE, &with_truth, INTERIOR),
        (INSIDE, &estimated, INTERIOR),
        (EDGE_TRUE, &with_truth, BORDER),
        (EDGE, &estimated, BORDER),
        (AVERAGED, &averaged, BORDER),
    ];
    for (method, scores, region) in methods {
        let within = (0..scores.len()).filter(|&i| (design.regions)(x[i], p[i])[region]);
        let mut errors: Vec<f64> = within.map(|i| (scores[i] / exact[i] - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        if !errors.is_empty() {
            // the small cluster may hold no point
            trial.put(n, method, ERROR, quantile(&errors, 0.5));
        }
    }
    if trial.repetition == 0 && nu > 1.0 && shown.contains(&n) {
        let axes = (Axis::linear("design point x"), Axis::log("rescaled score n·l(x)"));
        let title = format!("Rescaled scores, {} design, n = {n}, ν = 3/2", design.name);
        let mut plot = Plot::new(&format!("{}-{n}", design.name), &title, axes.0, axes.1);
        let step = n.div_ceil(250);
        let shown = |&i: &usize| i.is_multiple_of(step) || (design.regions)(x[i], p[i])[BORDER];
        let curve = |scores: &[f64]| -> Vec<Point> {
            (0..n).filter(shown).map(|i| Point::new(x[i], scores[i])).collect()
        };
        plot.points("true", EXACT.key, curve(&exact));
        plot.line("SA, density estimated", SPECTRAL.key, curve(&estimated));
        plot.line("SA, true density", SPECTRAL_TRUE.key, curve(&with_truth));
        trial.show(plot);
    }
    Ok(())
}

/// "Excellent": the median relative error of the uniform design at the largest n.
const EXCELLENT: f64 = 0.1;
/// "Goes to 0": at least as fast as this power of n.
const FALLS: f64 = -0.2;

fn claims(results: &Results, problem: &Problem, [first, last]: [usize; 2]) -> Vec<Claim> {
    let (here, Design { name, edge, .. }) = (results.on(problem), problem.design);
    let error = |method, n: usize| here.get(n, method, ERROR);
    let over =
        |words: String, a, b| here.measured(words, here.compare(("", last), ERROR, a, b).value);
    let falls = |region: &str, method| {
        let words =
            format!("{region} at the largest n over that at the smallest, density estimated");
        let fall = error(method, last).over(error(method, first));
        here.measured(words, fall).at_most("falls", 1.0).picture()
    };
    let words = "exponent of n in the interior error, true density";
    let exponent = here.measured(words, here.exponent(INSIDE_TRUE, ERROR));
    let words = format!("error {edge} over that of the interior, density estimated, largest n");
    let own = if name == UNIFORM.name {
        let interior = here.measured("interior error at the largest n", error(INSIDE, last));
        interior.at_most("excellent", EXCELLENT).picture()
    } else {
        falls(&format!("error {edge}"), EDGE)
    };
    let mut claims = vec![
        exponent.at_most("ours: goes to 0", FALLS), // the theorem has no rate
        falls("interior error", INSIDE),
        over(words, EDGE, INSIDE).at_least("larger", 1.0).picture(),
        own,
    ];
    if name == BETA.name {
        let words = format!("error {edge} at the largest n, averaged over not averaged");
        let averaged = over(words, AVERAGED, EDGE);
        claims.push(averaged.at_most("ours: appendix B.3 averages there", 1.0));
    }
    claims
}

/// The ridge at which the equivalent kernel of Matérn ν (scale a = 1) has width h at p = 1: λ' =
/// h^{2α}, λ = C λ'.
struct Layer {
    nu: f64,
    h: f64,
    curve: Method,
}

const WIDE: f64 = 0.04;
const NARROW: f64 = 0.02;
const LAYERS: [Layer; 4] = [
    Layer { nu: 0.5, h: NARROW, curve: LEVEL_2.called("ν = 1/2") },
    Layer { nu: 0.5, h: WIDE, curve: LEVEL_2 },
    Layer { nu: 1.5, h: NARROW, curve: LEVEL_4.called("ν = 3/2") },
    Layer { nu: 1.5, h: WIDE, curve: LEVEL_4 },
];
/// Beyond this many h the interior begins.
const DEPTH: f64 = 8.0;

const AT_EDGE: &str = "truth / K̃ at the boundary";
const FLAT: &str = "flat_boundary / K̃";
const FAR_INSIDE: &str = "largest |truth / K̃ − 1| inside";
const PROFILE: Measure = Measure::new("truth / K̃", "true rescaled score / K̃");

labelled!(Layer, |l| format!("ν = {}, h = {}", l.nu, l.h));

pub fn boundary(ctx: &Context) -> anyhow::Result<Outcome> {
    let n = ctx.pick(400, 4000, 8000);
    let results = Grid::new(ctx, "ridges", &LAYERS, [(n, 1)]).run(next_to_it)?;
    let note = format!(
        "a grid of {n} points on [0, 1] (8000 in a full run), which has no sampling fluctuations"
    );
    let mut out = results.outcome(note);
    let title = "True score over K̃ next to the boundary of Unif[0, 1]: what spectral analysis \
                 does not see";
    let x = Axis::linear("distance to the boundary, in h");
    let mut plot = Plot::new("boundary", title, x, PROFILE.axis());
    for layer in LAYERS.iter().filter(|layer| layer.h == NARROW) {
        let (here, Method { name, key }) = (results.on(layer), layer.curve);
        plot.line(name, key, here.curve(layer.curve, PROFILE));
        let flat = here.fact(n, FLAT).value;
        plot.horizontal(&format!("flat_boundary, {name}: {}", number(flat)), flat);
    }
    plot.horizontal("spectral analysis: 1", 1.0);
    out.plots.push(plot);
    let (table, keys) =
        (["boundary", "At the outermost point, and inside"], ["kernel and width", "", ""]);
    out.tables.extend(results.table(table, &LAYERS, keys, &[], &results.facts()));
    for layer in &LAYERS {
        let here = results.on(layer);
        let edge = here.fact(n, AT_EDGE).over(here.fact(n, FLAT));
        let edge = here.measured("truth over flat_boundary at the boundary", edge);
        let inside = format!("|truth/K̃ − 1| farther than {DEPTH} h from the boundary");
        let inside = here.measured(inside, here.fact(n, FAR_INSIDE));
        // the second is ours: the theorem has no rate
        out.claims.extend([edge.near(1.0, 0.05), inside.at_most("ours: goes to 0", 0.05)]);
    }
    Ok(out)
}

/// Truth over K̃ at the points (i + ½)/n.
fn next_to_it(trial: &mut Trial<'_, Layer>) -> anyhow::Result<()> {
    let (n, &Layer { nu, h, curve }) = (trial.size, trial.setting);
    let kernel = Matern::from_a(nu, 1.0)?;
    let constant = if nu < 1.0 { 2.0 } else { 4.0 }; // C = 2√π Γ(α)/Γ(ν) in one dimension
    let lambda = constant * h.powf(2.0 * nu + 1.0);
    let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
    let k = KernelMatrix::new(kernel, Points::from_slice(&x))?;
    let exact = exact_scores(&k, Ridge::PerSample(lambda))?;
    let local = LocalScore::new(&kernel, 1, lambda)?;
    let interior = local.at(1.0)?;
    let ratio: Vec<f64> = exact.scores.iter().map(|l| n as f64 * l / interior).collect();
    let first = (DEPTH * h * n as f64) as usize;
    let inside = ratio[first..n - first].iter().map(|r| (r - 1.0).abs()).fold(0.0, f64::max);
    trial.facts(n, [("λ", lambda), (AT_EDGE, ratio[0])]);
    trial.facts(n, [(FLAT, local.flat_boundary(1.0)? / interior)]);
    trial.facts(n, [("2α/d", 2.0 * (nu + 0.5)), (FAR_INSIDE, inside)]);
    let shown = (10.0 * h * n as f64) as usize; // up to ten widths from the boundary
    for i in (0..shown).step_by(shown.div_ceil(300)) {
        trial.put(x[i] / h, curve, PROFILE, ratio[i]);
    }
    Ok(())
}
