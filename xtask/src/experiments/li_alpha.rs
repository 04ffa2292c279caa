//! Section 6.3 of Li, Jegelka & Sra 2016: the path-coupling coefficient α of the swap chain,
//! estimated from random neighbours.

use nystrom::Error;
use nystrom::dpp::{PathCoupling, mixing_time};
use nystrom::prelude::*;

use super::li_problem::{AILERONS, AtHand, Set, Whole};
use crate::experiment::{Axis, Claim, Context, Outcome, Plot, measured};
use crate::lab::{Draw, Grid, Measure, Results, labelled};
use crate::method::{K_DPP, LEVEL_2, LEVEL_3, LEVEL_4, PROBLEM};
use crate::statistics::quantile;

/// Multiples of the cross-validated bandwidth.
const WIDTHS: [f64; 8] = [0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0];

const LARGEST: Measure = Measure::new("largest α", "largest α seen");
const MEAN: Measure = Measure::named("mean α");
/// How far K is from I: 0 there. The median over points of the largest kernel value with another.
const NEAREST: Measure = Measure::named("nearest");
/// Less than this counts as K near I.
const NEAR: f64 = 0.1;
/// Only where α < 1.
/// To total variation 0.05.
const STEPS: Measure = Measure::named("steps of Theorem 5");

/// A set with a number of landmarks.
struct Size {
    set: Set,
    c: usize,
}

labelled!(Size, |s| format!("{}, c = {}", s.set.label, s.c));

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, neighbours) = ctx.pick((100, 5), (1000, 60), (1000, 1000));
    let found = AtHand::of(ctx, &[AILERONS])?;
    let sizes = ctx.pick([5, 10, 20], [10, 20, 50], [20, 50, 100]);
    let sizes: Vec<Size> =
        found.sets.iter().flat_map(|&set| sizes.map(|c| Size { set, c })).collect();
    let grid = Grid::new(ctx, "numbers of landmarks", &sizes).sizes(&[(n, 1)]);
    let results = grid.run(|draw| cell(draw, neighbours))?;

    let note =
        format!("N = {n}, {neighbours} neighbours for each bandwidth and c (1000 in the paper)");
    let mut out = found.outcome(&results, note);
    let title = format!("{}: path-coupling coefficient against bandwidth", sizes[0].set.label);
    let mut plot =
        Plot::new("alpha", &title, Axis::log("bandwidth, in cross-validated σ"), LARGEST.axis());
    for (size, look) in sizes.iter().zip([LEVEL_2, LEVEL_3, LEVEL_4]) {
        let curve = results.on(size).curve(K_DPP, LARGEST);
        plot.line_and_points(&format!("c = {}", size.c), look.key, curve);
    }
    plot.horizontal("α = 1", 1.0);
    out.plots.push(plot);
    let title = "α and the mixing time to total variation 0.05 that it would give";
    let table = results.table("alpha", title, &sizes, &[LARGEST, MEAN, STEPS]).facts(&[NEAREST]);
    out.tables.extend(table.by_setting("set, landmarks").by_x("σ / cross-validated σ").build());
    out.claims = found.judge(claims(&results, &sizes));
    Ok(out)
}

fn cell(draw: &mut Draw<'_, Size>, neighbours: usize) -> anyhow::Result<()> {
    let (n, c) = (draw.size, draw.setting.c);
    let problem = Whole::new(draw.ctx, &draw.setting.set)?.subset(0, n, 0)?;
    for width in WIDTHS {
        let k = KernelMatrix::new(Gaussian::new(width * problem.chosen.sigma)?, problem.points())?;
        draw.put(width, PROBLEM, NEAREST, nearest(&k));
        let rng = &mut draw.rng(&format!("width {width}"));
        let alpha = match PathCoupling::sampled(&k, c, neighbours, rng) {
            Err(Error::NotPositiveDefinite { .. }) => continue,
            alpha => alpha?,
        };
        draw.put_all(width, K_DPP, [(LARGEST, alpha.largest), (MEAN, alpha.mean)]);
        if let Some(steps) = mixing_time(n, c, alpha.largest, 0.05)? {
            draw.put(width, K_DPP, STEPS, steps);
        }
    }
    Ok(())
}

/// The median over points of the largest kernel value with another.
fn nearest(k: &dyn PsdMatrix<f64>) -> f64 {
    let n = k.dim();
    let block = k.block((0..n).into(), (0..n).into());
    let others = |i: usize| (0..n).filter(move |&j| j != i);
    let mut largest: Vec<f64> =
        (0..n).map(|i| others(i).map(|j| block[(j, i)]).fold(0.0, f64::max)).collect();
    largest.sort_by(f64::total_cmp);
    quantile(&largest, 0.5)
}

fn claims(results: &Results, sizes: &[Size]) -> Vec<Claim> {
    let alpha = |size: &Size, width: f64| results.on(size).get(width, K_DPP, LARGEST).value;
    let there = |size: &Size, width: f64| {
        let similar = results.on(size).get(width, PROBLEM, NEAREST).value >= NEAR;
        similar && alpha(size, width).is_finite()
    };
    let widths = |size: &Size| WIDTHS.into_iter().filter(|&w| there(size, w)).collect::<Vec<_>>();
    // α grows at each of these steps if the least is positive
    let least = |steps: &mut dyn Iterator<Item = f64>| steps.reduce(f64::min).unwrap_or(f64::NAN);
    let mut claims = vec![];
    for size in sizes {
        let (here, widths) = (results.on(size), widths(size));
        let narrow = widths.first().map_or(f64::NAN, |&width| alpha(size, width));
        let narrow = here.measured("α at the smallest σ at which K is not near I", narrow);
        claims.push(narrow.at_most("ours: α < 1 for small bandwidths", 1.0));
        let mut steps = widths.windows(2).map(|w| alpha(size, w[1]) - alpha(size, w[0]));
        let growth = here.measured("least growth of α from one σ to the next", least(&mut steps));
        claims.push(growth.at_least("ours: α grows with the bandwidth", 0.0));
    }
    for [few, many] in sizes.array_windows().filter(|[few, many]| few.set == many.set) {
        let both = widths(few).into_iter().filter(|&width| there(many, width));
        let (label, [few_c, many_c]) = (few.set.label, [few.c, many.c]);
        let text = format!("{label}: least over σ of α for c = {many_c} less α for c = {few_c}");
        let words = "ours: α grows with c at every σ (the paper: \"in general grows with c\")";
        let mut growth = both.map(|width| alpha(many, width) - alpha(few, width));
        claims.push(measured(text, least(&mut growth)).at_least(words, 0.0));
    }
    claims
}
