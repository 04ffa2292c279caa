//! Theorem 4 of Alaoui & Mahoney 2015: both bounds on the approximate scores, measured over a grid of p and ε.

use nystrom::faer::Mat;
use nystrom::kernels::{Bernoulli, Gaussian, KernelMatrix, Linear, Points};
use nystrom::leverage::{AlaouiMahoney, RidgeLeverage, exact_scores};
use nystrom::linalg_core::{PsdMatrix, Ridge, SymmetricEigen, random};
use rayon::prelude::*;

use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::quantile;

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-theorem4",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Theorem 4",
    says: "With p ≥ 8 (tr K/(nλε) + 1/6) ln(n/ρ) columns drawn by the diagonal, with probability 1 − ρ for all i: l_i − 2ε ≤ l̃_i ≤ l_i and \
        (σ_n − nλε)/(σ_n + nλε) l_i ≤ l̃_i.",
    data: &[],
    run,
};

const RHO: f64 = 0.1;
const EPSILONS: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.45];
const COLUMNS: [usize; 6] = [10, 20, 40, 80, 160, 320];
/// Rounding allowance of "l̃ ≤ l".
const SLACK: f64 = 1e-9;

const NOTES: [&str; 2] = [
    "Where all K_ii are equal the additive bound says nothing at p < n: the rule then asks for p ≥ 8 ln(n/ρ) K_ii/(λε), so p < n makes nλ so large that \
     every score is below 2ε (compare the columns \"largest l\" and \"2ε\"). With an outlying row, whose K_ii dwarfs the rest, it binds at small ε: \
     the third table is the test.",
    "The multiplicative bound says something only if σ_n > nλε; then tr K/(nλε) ≥ nσ_n/(nλε) > n, and the rule asks for more than 8n ln(n/ρ) \
     draws: more than there are columns. It is checked wherever it applies, and holds, but it never saves work.",
];

/// One draw of approximate scores against the exact ones.
#[derive(Clone, Copy)]
struct Deviation {
    /// max_i (l_i − l̃_i).
    below: f64,
    /// max_i (l̃_i − l_i).
    above: f64,
    /// min_i l̃_i/l_i.
    ratio: f64,
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, repetitions) = (ctx.pick(100, 500, 500), ctx.pick(5, 100, 200));
    let x = random::standard_normal::<f64>(2, n, &mut ctx.rng("points"));
    let circle: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
    let mut out = Outcome {
        scale_note: format!("n = {n}, {repetitions} draws a cell; the theorem is for any n"),
        ..Outcome::default()
    };
    let stage = ctx.progress.begin("bounds", 3 * (EPSILONS.len() + COLUMNS.len()));
    let gaussian = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_cols(x.as_ref()))?;
    let bernoulli = KernelMatrix::new(Bernoulli::new(1)?, Points::from_slice(&circle))?;
    let outlier = {
        let z = random::standard_normal::<f64>(200, n, &mut ctx.rng("outlier"));
        Mat::from_fn(200, n, |k, i| z[(k, i)] / 200.0_f64.sqrt() * if i == 0 { 10.0 } else { 0.07 })
    };
    let linear = KernelMatrix::new(Linear::new(), Points::from_cols(outlier.as_ref()))?;
    let problems: [(&str, &str, &dyn PsdMatrix<f64>); 3] = [
        ("Gaussian kernel on normal points", "gaussian", &gaussian),
        ("Bernoulli kernel on equispaced points", "bernoulli", &bernoulli),
        ("Linear kernel, one outlying row", "outlier", &linear),
    ];
    for (title, id, k) in problems {
        // λ at which the rule asks for n/2 columns at ε = 0.45: the smallest problem in which it saves anything.
        let k_bar = k.trace() / n as f64;
        let lambda = k_bar / (0.45 * ((n as f64 / 2.0) / (8.0 * (n as f64 / RHO).ln()) - 1.0 / 6.0));
        let problem = Problem { k, id, title, lambda, repetitions };
        problem.at_the_rule(ctx, &stage, &mut out)?;
        problem.over_p(ctx, &stage, &mut out)?;
    }
    out.notes.extend(NOTES.map(String::from));
    Ok(out)
}

struct Problem<'a> {
    k: &'a dyn PsdMatrix<f64>,
    id: &'a str,
    title: &'a str,
    lambda: f64,
    repetitions: usize,
}

impl Problem<'_> {
    /// Draws with p columns at λ, against the exact scores.
    fn deviations(&self, ctx: &Context, lambda: f64, p: usize) -> anyhow::Result<Vec<Deviation>> {
        let ridge = Ridge::PerSample(lambda);
        let exact = exact_scores(self.k, ridge)?.scores;
        let one = |r: usize| {
            let rng = &mut ctx.rng(&format!("{}, λ = {lambda:e}, p = {p}, repetition {r}", self.id));
            let approximate = AlaouiMahoney { columns: p }.scores(self.k, ridge, rng)?;
            let pairs = exact.iter().zip(&approximate);
            let fold =
                |f: fn(f64, f64) -> f64, pairs: &mut dyn Iterator<Item = f64>| pairs.reduce(f).unwrap_or(f64::NAN);
            anyhow::Ok(Deviation {
                below: fold(f64::max, &mut pairs.clone().map(|(l, a)| l - a)),
                above: fold(f64::max, &mut pairs.clone().map(|(l, a)| a - l)),
                ratio: fold(f64::min, &mut pairs.clone().map(|(l, a)| a / l)),
            })
        };
        (0..self.repetitions).into_par_iter().map(one).collect()
    }

    /// For each ε, the λ at which the rule asks for n/2 columns: frequency of failure of both bounds.
    fn at_the_rule(&self, ctx: &Context, stage: &crate::progress::Stage<'_>, out: &mut Outcome) -> anyhow::Result<()> {
        let n = self.k.dim();
        let smallest =
            *SymmetricEigen::new(self.k.block((0..n).into(), (0..n).into()).as_ref())?.values().last().unwrap_or(&0.0);
        let heads = [
            "ε",
            "λ",
            "p by the rule",
            "largest l",
            "max (l − l̃), 95 %",
            "2ε",
            "additive failures",
            "multiplicative factor",
            "failures of it",
        ];
        let mut table = Table::new(
            &format!("{}-rule", self.id),
            &format!("{}: at the rule's p", self.title),
            heads.map(Column::new),
        );
        let mut worst = 0.0_f64;
        for epsilon in EPSILONS {
            let lambda = self.lambda * 0.45 / epsilon;
            let ridge = Ridge::PerSample(lambda);
            let p = AlaouiMahoney::for_accuracy(n, self.k.trace(), ridge, epsilon, RHO)?.columns;
            let largest = exact_scores(self.k, ridge)?.scores.into_iter().fold(0.0, f64::max);
            let drawn = self.deviations(ctx, lambda, p)?;
            let mut below: Vec<f64> = drawn.iter().map(|d| d.below).collect();
            below.sort_by(f64::total_cmp);
            let shrink = n as f64 * lambda * epsilon;
            let factor = (smallest - shrink) / (smallest + shrink);
            let rate = |fails: &dyn Fn(&Deviation) -> bool| {
                drawn.iter().filter(|d| fails(d)).count() as f64 / drawn.len() as f64
            };
            let additive = rate(&|d| d.below > 2.0 * epsilon || d.above > SLACK);
            let multiplicative = rate(&|d| d.ratio < factor - SLACK);
            worst = worst.max(additive).max(multiplicative);
            let cells =
                [lambda, p as f64, largest, quantile(&below, 0.95), 2.0 * epsilon, additive, factor, multiplicative];
            table.push(std::iter::once(epsilon).chain(cells).map(Cell::from));
            stage.inc(1);
        }
        out.tables.push(table);
        let what = format!("{}: share of draws that break either bound at the rule's p", self.title);
        out.claims.push(Claim::at_most(&what, format!("≤ ρ = {RHO}"), worst, RHO));
        Ok(())
    }

    /// At one λ, the largest deviation as p grows, beside the bound 2ε(p) that the rule allows at that p.
    fn over_p(&self, ctx: &Context, stage: &crate::progress::Stage<'_>, out: &mut Outcome) -> anyhow::Result<()> {
        let n = self.k.dim() as f64;
        let mut plot = Plot::new(
            &format!("{}-deviation", self.id),
            &format!("{}: largest underestimation of a score, 95 % of {} draws", self.title, self.repetitions),
            Axis::log("number of columns p"),
            Axis::log("max over i of l − l̃"),
        );
        let (mut measured, mut above) = (Vec::new(), 0.0_f64);
        for p in COLUMNS {
            let drawn = self.deviations(ctx, self.lambda / 100.0, p)?;
            let mut below: Vec<f64> = drawn.iter().map(|d| d.below).collect();
            below.sort_by(f64::total_cmp);
            above = drawn.iter().map(|d| d.above).fold(above, f64::max);
            measured.push(Point::with_range(
                p as f64,
                quantile(&below, 0.5),
                quantile(&below, 0.05),
                quantile(&below, 0.95),
            ));
            stage.inc(1);
        }
        let k_bar = self.k.trace() / n;
        let epsilon = |p: f64| k_bar / (self.lambda / 100.0 * (p / (8.0 * (n / RHO).ln()) - 1.0 / 6.0));
        let bound = COLUMNS.iter().map(|&p| p as f64).filter(|&p| epsilon(p) > 0.0 && epsilon(p) < 0.5);
        plot.line_and_points("measured (median, 5–95 %)", "fast-leverage", measured);
        plot.line("bound 2ε at this p, where ε < ½", "theory", bound.map(|p| Point::new(p, 2.0 * epsilon(p))));
        out.plots.push(plot);
        out.claims.push(Claim::at_most(&format!("{}: largest l̃ − l over all draws", self.title), "≤ 0", above, SLACK));
        Ok(())
    }
}
