//! Section 6.3 of Li, Jegelka & Sra 2016: the path-coupling coefficient α of the swap chain,
//! estimated from random neighbours.

use nystrom::Error;
use nystrom::dpp::{PathCoupling, mixing_time};
use nystrom::kernels::{Gaussian, KernelMatrix};

use super::li_problem::{AILERONS, AtHand, CHOICES, Set, Whole};
use super::papers;
use crate::experiment::{Axis, Claim, Context, Experiment, Outcome, Plot, paragraphs};
use crate::lab::{Draw, Grid, Measure, Results, Setting};
use crate::method::{K_DPP, LEVEL_2, LEVEL_3, LEVEL_4};

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-alpha",
    paper: &papers::LI_2016,
    figure: "Section 6.3, α",
    says: "For small bandwidths 1000 random neighbours (S, r, t) on Ailerons give an α below 1, \
           and so fast mixing by Theorem 5. This α grows with the bandwidth and with c. The chain \
           does well in practice even where α exceeds 1.",
    data: &["ailerons", "abalone"],
    run,
};

/// Multiples of the cross-validated bandwidth.
const WIDTHS: [f64; 8] = [0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0];

const LARGEST: Measure = Measure::new("largest α", "largest α seen");
const MEAN: Measure = Measure::new("mean α", "mean α");
/// Only where α < 1.
const STEPS: Measure = Measure::new("steps of Theorem 5", "steps to total variation 0.05").log();

/// A set with a number of landmarks.
struct Size {
    set: Set,
    c: usize,
}

impl Setting for Size {
    fn label(&self) -> String {
        format!("{}, c = {}", self.set.label, self.c)
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, neighbours) = ctx.pick((100, 5), (1000, 60), (1000, 1000));
    let found = AtHand::of(ctx, &[AILERONS])?;
    let sizes = ctx.pick([5, 10, 20], [10, 20, 50], [20, 50, 100]);
    let sizes: Vec<Size> =
        found.sets.iter().flat_map(|&set| sizes.map(|c| Size { set, c })).collect();
    let grid = Grid::new(ctx, "numbers of landmarks", &sizes).sizes(&[(n, 1)]);
    let results = grid.run(|draw| cell(draw, neighbours))?;

    let note =
        format!("N = {n}, {neighbours} neighbours for each bandwidth and c (1000 in the paper)");
    let mut out = results.outcome(note);
    out.missing = found.missing.clone();
    let title = format!("{}: path-coupling coefficient against bandwidth", found.words());
    let mut plot =
        Plot::new("alpha", &title, Axis::log("bandwidth, in cross-validated σ"), LARGEST.axis());
    for (size, look) in sizes.iter().zip([LEVEL_2, LEVEL_3, LEVEL_4]) {
        let curve = results.curve(size, K_DPP, LARGEST);
        plot.line_and_points(&format!("c = {}", size.c), look.key, curve);
    }
    plot.horizontal("α = 1", 1.0);
    out.plots.push(plot);
    let title = "α and the mixing time to total variation 0.05 that it would give";
    let table = results.table("alpha", title, &sizes, &[LARGEST, MEAN, STEPS]);
    out.tables.extend(table.by_setting("set, landmarks").by_x("σ / cross-validated σ").build());
    out.claims = found.judge(claims(&results, &sizes));
    out.notes = paragraphs([
        CHOICES,
        "The largest α of a sample is a lower bound of the α of Theorem 5, which is a maximum \
         over all neighbours; so is the number of steps \
         computed from it. α is missing where some of the random neighbours have no volume to \
         working precision.",
    ]);
    Ok(out)
}

fn cell(draw: &mut Draw<'_, Size>, neighbours: usize) -> anyhow::Result<()> {
    let (n, c) = (draw.size, draw.setting.c);
    let problem = Whole::new(draw.ctx, &draw.setting.set)?.subset(0, n, 0)?;
    for width in WIDTHS {
        let k = KernelMatrix::new(Gaussian::new(width * problem.chosen.sigma)?, problem.points())?;
        let rng = &mut draw.rng(&format!("width {width}"));
        let alpha = match PathCoupling::sampled(&k, c, neighbours, rng) {
            Err(Error::NotPositiveDefinite { .. }) => continue,
            alpha => alpha?,
        };
        draw.put_all(width, K_DPP, [(LARGEST, alpha.largest), (MEAN, alpha.mean)]);
        if let Some(steps) = mixing_time(n, c, alpha.largest, 0.05)? {
            draw.put_at(width, K_DPP, STEPS, steps);
        }
    }
    Ok(())
}

fn claims(results: &Results, sizes: &[Size]) -> Vec<Claim> {
    let at = |size: &Size, width: f64| results.get(size, width, K_DPP, LARGEST).value;
    let (narrow, wide) = (WIDTHS[0], WIDTHS[WIDTHS.len() - 1]);
    let small = sizes.iter().map(|size| {
        let text = format!("{}, σ at {narrow} of the cross-validated one: largest α", size.label());
        Claim::at_most(&text, "α < 1 for small bandwidths", at(size, narrow), 1.0).printed()
    });
    let mut claims: Vec<Claim> = small.collect();
    for size in sizes {
        let text = format!("{}: α at the cross-validated σ less α at {narrow} of it", size.label());
        let growth = at(size, wide) - at(size, narrow);
        claims.push(Claim::at_least(&text, "grows with the bandwidth", growth, 0.0).printed());
    }
    if let [few, .., many] = sizes {
        let text =
            format!("at the cross-validated σ: α for c = {} less α for c = {}", many.c, few.c);
        let growth = at(many, wide) - at(few, wide);
        claims.push(Claim::at_least(&text, "grows with c", growth, 0.0).printed());
    }
    claims
}
