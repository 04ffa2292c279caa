//! What spectral analysis (Chen & Yang 2021) does not see: the true scores next to the boundary of
//! the support.

use nystrom::leverage::LocalScore;
use nystrom::prelude::*;

use crate::experiment::{Axis, Claim, Context, Outcome, Plot, number};
use crate::lab::{Draw, Grid, LAMBDA, Measure, Results, labelled};
use crate::method::{LEVEL_2, LEVEL_4, Method, PROBLEM};

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

const EDGE: Measure = Measure::named("truth / K̃ at the boundary");
const FLAT: Measure = Measure::named("flat_boundary / K̃");
const FACTOR: Measure = Measure::named("2α/d");
const INSIDE: Measure = Measure::named("largest |truth / K̃ − 1| inside");
const PROFILE: Measure = Measure::new("truth / K̃", "true rescaled score / K̃");

labelled!(Layer, |l| format!("ν = {}, h = {}", l.nu, l.h));

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let n = ctx.pick(400, 4000, 8000);
    let results = Grid::new(ctx, "ridges", &LAYERS).sizes(&[(n, 1)]).run(cell)?;
    let note = format!(
        "a grid of {n} points on [0, 1] (8000 in a full run), which has no sampling fluctuations"
    );
    let mut out = results.outcome(note);
    let title = "True score over K̃ next to the boundary of Unif[0, 1]: what spectral analysis \
                 does not see";
    let x = Axis::linear("distance to the boundary, in h");
    let mut plot = Plot::new("boundary", title, x, PROFILE.axis());
    for layer in LAYERS.iter().filter(|layer| layer.h == NARROW) {
        plot.line(layer.curve.name, layer.curve.key, results.on(layer).curve(layer.curve, PROFILE));
        let flat = results.on(layer).get(n, PROBLEM, FLAT).value;
        plot.horizontal(&format!("flat_boundary, {}: {}", layer.curve.name, number(flat)), flat);
    }
    plot.horizontal("spectral analysis: 1", 1.0);
    out.plots.push(plot);
    let (title, facts) =
        ("At the outermost point, and inside", [LAMBDA, EDGE, FLAT, FACTOR, INSIDE]);
    let table = results.table("boundary", title, &LAYERS, &facts);
    out.tables.extend(table.by_setting("kernel and width").build());
    out.claims = LAYERS.iter().flat_map(|layer| claims(&results, layer, n)).collect();
    Ok(out)
}

/// Truth over K̃ at the points (i + ½)/n.
fn cell(draw: &mut Draw<'_, Layer>) -> anyhow::Result<()> {
    let (n, &Layer { nu, h, curve }) = (draw.size, draw.setting);
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
    draw.facts([(LAMBDA, lambda), (EDGE, ratio[0])]);
    draw.facts([(FLAT, local.flat_boundary(1.0)? / interior)]);
    draw.facts([(FACTOR, 2.0 * (nu + 0.5)), (INSIDE, inside)]);
    let shown = (10.0 * h * n as f64) as usize; // up to ten widths from the boundary
    for i in (0..shown).step_by(shown.div_ceil(300)) {
        draw.put(x[i] / h, curve, PROFILE, ratio[i]);
    }
    Ok(())
}

fn claims(results: &Results, layer: &Layer, n: usize) -> [Claim; 2] {
    let here = results.on(layer);
    let of = |measure| here.get(n, PROBLEM, measure);
    let (edge, inside) = (
        "truth over flat_boundary at the boundary",
        format!("|truth/K̃ − 1| farther than {DEPTH} h from the boundary"),
    );
    [
        here.measured(edge, of(EDGE).over(of(FLAT))).near(1.0, 0.05),
        // ours: the theorem has no rate
        here.measured(inside, of(INSIDE)).at_most("ours: goes to 0", 0.05),
    ]
}
