//! Section 6.3 of Li, Jegelka & Sra 2016: the path-coupling coefficient α of the swap chain, estimated from random neighbours.

use nystrom::Error;
use nystrom::dpp::{PathCoupling, mixing_time};
use nystrom::kernels::{Gaussian, KernelMatrix};

use super::li_problem::{SETS, problem};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-alpha",
    paper: &papers::LI_2016,
    figure: "Section 6.3, α",
    says: "1000 random neighbours (S, r, t) on Ailerons give an α below 1, and so fast mixing by Theorem 5, for small bandwidths; α grows with the bandwidth \
        and with c. The chain does well in practice even where α exceeds 1.",
    data: &["ailerons"],
    run,
};

/// Multiples of the cross-validated bandwidth.
const WIDTHS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];

/// What was found for one bandwidth and c.
struct Measured {
    width: f64,
    c: usize,
    alpha: PathCoupling,
    /// Theorem 5's bound on the steps to total variation 0.05, if α < 1.
    steps: Option<f64>,
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, samples) = ctx.pick((100, 5), (1000, 60), (1000, 1000));
    let sizes: &[usize] = ctx.pick(&[5, 10], &[10, 20, 50], &[20, 50, 100]);
    let mut out = Outcome::default();
    let problem = match problem(ctx, SETS[1], 0, n, 0)? {
        Ok(problem) => problem,
        Err(missing) => {
            out.missing.push(missing.needed_for("everything"));
            return Ok(out);
        }
    };
    let stage = ctx.progress.begin("bandwidths and sizes", WIDTHS.len() * sizes.len());
    let mut all = vec![];
    for width in WIDTHS {
        let kernel = Gaussian::new(width * problem.chosen.sigma)?;
        let k = KernelMatrix::new(kernel, problem.points())?;
        for &c in sizes {
            let rng = &mut ctx.rng(&format!("width {width}, c = {c}"));
            match PathCoupling::sampled(&k, c, samples, rng) {
                Ok(alpha) => all.push(Measured { width, c, alpha, steps: mixing_time(n, c, alpha.largest, 0.05)? }),
                Err(Error::NotPositiveDefinite { .. }) => out.notes.push(format!(
                    "σ at {width} of the cross-validated one, c = {c}: some of the random neighbours have no volume, so α is not defined."
                )),
                Err(error) => return Err(error.into()),
            }
            stage.inc(1);
        }
    }
    out.plots.push(plot(&all, sizes));
    out.tables.push(table(&all));
    out.claims = claims(&all, sizes);
    out.scale_note = format!("N = {n}, {samples} neighbours for each bandwidth and c (1000 in the paper)");
    out.notes.push(
        "The largest α of a sample is a lower bound of the α of Theorem 5, which is a maximum over all neighbours; so is the number of steps \
         computed from it. σ is in multiples of the cross-validated one."
            .into(),
    );
    Ok(out)
}

fn plot(all: &[Measured], sizes: &[usize]) -> Plot {
    let (x, y) = (Axis::log("bandwidth, in cross-validated σ"), Axis::linear("largest α seen"));
    let mut plot = Plot::new("alpha", "Ailerons: path-coupling coefficient against bandwidth", x, y);
    for (&c, look) in sizes.iter().zip(["level-2", "level-3", "level-4"]) {
        let here = all.iter().filter(|m| m.c == c).map(|m| Point::new(m.width, m.alpha.largest));
        plot.line_and_points(&format!("c = {c}"), look, here);
    }
    plot.horizontal("α = 1", 1.0);
    plot
}

fn table(all: &[Measured]) -> Table {
    let columns = ["σ / cross-validated σ", "c", "largest α", "mean α", "steps of Theorem 5"].map(Column::new);
    let mut table = Table::new("alpha", "α and the mixing time to total variation 0.05 that it would give", columns);
    for m in all {
        let steps = m.steps.map_or(Cell::Missing, Cell::from);
        table.push([m.width.into(), m.c.into(), m.alpha.largest.into(), m.alpha.mean.into(), steps]);
    }
    table
}

fn claims(all: &[Measured], sizes: &[usize]) -> Vec<Claim> {
    let at =
        |width: f64, c: usize| all.iter().find(|m| m.width == width && m.c == c).map_or(f64::NAN, |m| m.alpha.largest);
    let narrow = WIDTHS[0];
    let (few, many) = (sizes[0], sizes[sizes.len() - 1]);
    let widest = WIDTHS.iter().rev().copied().find(|&w| at(w, few).is_finite()).unwrap_or(narrow);
    let grows = |text: String, paper: &str, from: f64, to: f64| {
        let measured = format!("{} to {}", crate::number::number(from), crate::number::number(to));
        Claim::new(text, paper, measured, from < to)
    };
    let mut claims: Vec<Claim> = sizes
        .iter()
        .filter(|&&c| at(narrow, c).is_finite())
        .map(|&c| {
            let what = format!("c = {c}, σ at {narrow} of the cross-validated one: largest α");
            Claim::at_most(&what, "α < 1 for small bandwidths", at(narrow, c), 1.0)
        })
        .collect();
    claims.push(grows(format!("c = {few}: α grows with the bandwidth"), "grows", at(narrow, few), at(widest, few)));
    claims.push(grows(
        format!("at the cross-validated σ, α grows from c = {few} to {many}"),
        "grows",
        at(1.0, few),
        at(1.0, many),
    ));
    claims
}
