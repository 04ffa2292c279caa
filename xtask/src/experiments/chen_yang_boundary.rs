//! What spectral analysis (Chen & Yang 2021) does not see: the true scores next to the boundary of the support.

use nystrom::kernels::{KernelMatrix, Matern, Points};
use nystrom::leverage::{LocalScore, exact_scores};
use nystrom::linalg_core::Ridge;

use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table, number};

pub const EXPERIMENT: Experiment = Experiment {
    name: "chen-yang-boundary",
    paper: &papers::CHEN_YANG_2021,
    figure: "none: boundary of the support",
    says: "The approximation K̃ holds at interior points. Ours: next to a flat boundary of the support the true rescaled score is (1/p) ∫ ln(1 + p·m(s)/λ) ds, \
        2α/d = (2ν + d)/d times K̃ at small λ, in a layer as thick as the equivalent kernel, h = (λ'/p)^(1/2α).",
    data: &[],
    revision: 2,
    run,
};

/// Smoothness ν, its name and its style in the plot.
const KERNELS: [(f64, &str, &str); 2] = [(0.5, "ν = 1/2", "level-2"), (1.5, "ν = 3/2", "level-4")];
/// Widths h of the equivalent kernel that are tried.
const WIDTHS: [f64; 2] = [0.02, 0.04];
/// Beyond this many h the interior begins.
const LAYER: f64 = 8.0;

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let n = ctx.pick(400, 4000, 8000);
    let title = "True score over K̃ next to the boundary of Unif[0, 1]: what spectral analysis does not see";
    let axes = (Axis::linear("distance to the boundary, in h"), Axis::linear("true rescaled score / K̃"));
    let mut plot = Plot::new("boundary", title, axes.0, axes.1);
    let heads =
        ["ν", "h", "λ", "truth / K̃ at the boundary", "flat_boundary / K̃", "2α/d", "largest |truth / K̃ − 1| inside"];
    let mut table = Table::new("boundary", "At the outermost point, and inside", heads.map(Column::new));
    let mut out = Outcome::default();
    let stage = ctx.progress.begin("kernels", KERNELS.len() * WIDTHS.len());
    for (nu, label, style) in KERNELS {
        for h in WIDTHS {
            let profile = Profile::new(n, nu, h)?;
            let (edge, flat) = (profile.ratio[0], profile.flat);
            let inside = profile.largest_error_inside();
            let factor = 2.0 * (nu + 0.5);
            table.push([nu, h, profile.lambda, edge, flat, factor, inside].map(Cell::from));
            let what = format!("{label}, h = {h}");
            out.claims.push(Claim::near(
                &format!("{what}: truth over flat_boundary at the boundary"),
                1.0,
                edge / flat,
                0.05,
            ));
            let text = format!("{what}: |truth/K̃ − 1| farther than {LAYER} h from the boundary");
            out.claims.push(Claim::at_most(&text, "goes to 0", inside, 0.05));
            if h == WIDTHS[0] {
                plot.line(label, style, profile.curve());
                plot.horizontal(&format!("flat_boundary, {label}: {}", number(flat)), flat);
            }
            stage.inc(1);
        }
    }
    plot.horizontal("spectral analysis: 1", 1.0);
    out.plots.push(plot);
    out.tables.push(table);
    out.scale_note = format!("a grid of {n} points on [0, 1] (8000 in a full run), which has no sampling fluctuations");
    out.notes.push(
        "The factor does not depend on n or h: the relative error at the boundary stays, and only the share of points in the layer, of order h, goes to 0.".into(),
    );
    Ok(out)
}

/// Truth over K̃ at the points (i + ½)/n.
struct Profile {
    h: f64,
    lambda: f64,
    ratio: Vec<f64>,
    /// flat_boundary/K̃.
    flat: f64,
}

impl Profile {
    /// For the ridge at which the equivalent kernel of Matérn `nu` (scale a = 1) has width `h` at p = 1: λ' = h^{2α}, λ = C λ'.
    fn new(n: usize, nu: f64, h: f64) -> anyhow::Result<Self> {
        let kernel = Matern::from_a(nu, 1.0)?;
        let constant = if nu < 1.0 { 2.0 } else { 4.0 }; // C = 2√π Γ(α)/Γ(ν) in one dimension
        let lambda = constant * h.powf(2.0 * nu + 1.0);
        let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        let exact = exact_scores(&KernelMatrix::new(kernel, Points::from_slice(&x))?, Ridge::PerSample(lambda))?;
        let local = LocalScore::new(&kernel, 1, lambda)?;
        let interior = local.at(1.0)?;
        let ratio = exact.scores.iter().map(|l| n as f64 * l / interior).collect();
        Ok(Profile { h, lambda, ratio, flat: local.flat_boundary(1.0)? / interior })
    }

    fn largest_error_inside(&self) -> f64 {
        let n = self.ratio.len();
        let first = (LAYER * self.h * n as f64) as usize;
        self.ratio[first..n - first].iter().map(|r| (r - 1.0).abs()).fold(0.0, f64::max)
    }

    /// Up to ten widths from the boundary.
    fn curve(&self) -> Vec<Point> {
        let n = self.ratio.len() as f64;
        let shown = (10.0 * self.h * n) as usize;
        let at = |i: usize| Point::new((i as f64 + 0.5) / n / self.h, self.ratio[i]);
        (0..shown).step_by(shown.div_ceil(300)).map(at).collect()
    }
}
