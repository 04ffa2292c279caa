//! Figure 2 of Chen & Yang 2021 (accumulations): approximation error against d for m = 1, 2, 4, …,
//! 32 and the Gaussian sketch.

use nystrom::kernels::Gaussian;
use nystrom::sketch::{Accumulation, GaussianSketch, SketchDistribution};

use super::accumulation_problem::{CHOICES, ERROR, ESTIMATION, Problem};
use super::papers;
use crate::experiment::{Axis, Claim, Context, Experiment, Outcome, paragraphs};
use crate::lab::{Draw, Grid, Results, with};
use crate::method::{
    ACCUMULATED_2, ACCUMULATED_4, ACCUMULATED_8, ACCUMULATED_16, ACCUMULATED_32, GAUSSIAN_SKETCH,
    Method, PROBLEM, UNIFORM,
};
use crate::statistics::{Estimate, geometric_mean, largest, smallest};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig2",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 2",
    says: "The design is bimodal (γ = 0.6). Accumulating m ≤ 32 sub-sampling matrices brings the \
           approximation error from that of Nyström (m = 1) to that of the Gaussian sketch (m = \
           ∞). That of Nyström is orders of magnitude larger. That of the Gaussian sketch is below \
           the estimation error of exact KRR.",
    data: &[],
    run,
};

const GAMMA: f64 = 0.6;
const NYSTROM: Method = UNIFORM.called("m = 1 (Nyström)");
const M_4: Method = ACCUMULATED_4.called("m = 4");
const M_8: Method = ACCUMULATED_8.called("m = 8");
const M_16: Method = ACCUMULATED_16.called("m = 16");
const M_32: Method = ACCUMULATED_32.called("m = 32");
const GAUSSIAN: Method = GAUSSIAN_SKETCH.called("m = ∞ (Gaussian)");
/// The accumulations, with m.
const ACCUMULATIONS: [(Method, usize); 6] =
    [(NYSTROM, 1), (ACCUMULATED_2.called("m = 2"), 2), (M_4, 4), (M_8, 8), (M_16, 16), (M_32, 32)];
/// d in units of n^{3/7}.
const WIDTHS: [f64; 6] = [0.3, 0.6, 1.0, 1.5, 2.0, 3.0];

fn width(n: usize, multiple: f64) -> usize {
    (multiple * (n as f64).powf(3.0 / 7.0)) as usize
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[300, 500], &[1000, 2000, 4000], &[1000, 2000, 4000, 8000]);
    let draws = |n: usize| ctx.pick(2, 40_000 / n, 30);
    let most = draws(sizes[0]);
    let grid = Grid::new(ctx, "draws of the problem", sizes).repetitions(most).parallel();
    let results =
        grid.run(|draw| if draw.repetition < draws(*draw.setting) { cell(draw) } else { Ok(()) })?;

    let each: Vec<String> = sizes.iter().map(|&n| format!("{n} ({} draws)", draws(n))).collect();
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 8000 (a full run)";
    let mut out = results.outcome(format!("n = {}. {note}", each.join(", ")));
    for n in sizes {
        let title = format!("n = {n}: approximation error, mean with standard errors");
        let (id, d) = (format!("error-n{n}"), Axis::log("columns of the sketch d"));
        let estimation = results.get(n, 0_usize, PROBLEM, ESTIMATION).value;
        let line = with(|plot| plot.horizontal(ESTIMATION.label, estimation));
        out.plots.extend(results.plot(&id, &title, d, n, ERROR).map(line));
    }
    let table = results.table("error", "Mean error (1/n)‖f_S − f_n‖²", sizes, &[ERROR]);
    out.tables.extend(table.by_setting("points").by_x("d").build());
    out.claims = claims(&results, sizes);
    out.notes = notes();
    Ok(out)
}

/// One draw of points and noise, and every sketch on it.
fn cell(draw: &mut Draw<'_, usize>) -> anyhow::Result<()> {
    let n = *draw.setting;
    let (sigma, lambda) = (1.5 * (n as f64).powf(-1.0 / 7.0), 0.5 * (n as f64).powf(-4.0 / 7.0));
    let problem = Problem::new(n, GAMMA, Gaussian::new(sigma)?, lambda, &mut draw.rng("problem"))?;
    draw.facts([(ESTIMATION, problem.estimation_error)]);
    for d in WIDTHS.map(|multiple| width(n, multiple)) {
        let mut one = |method: Method, law: &dyn SketchDistribution<f64>| -> anyhow::Result<()> {
            let model = problem.fit(law, d, &mut draw.rng(&format!("{}, d = {d}", method.key)))?;
            draw.put_at(d as f64, method, ERROR, problem.error(&model)?);
            Ok(())
        };
        for (method, m) in ACCUMULATIONS {
            one(method, &Accumulation::uniform(m))?;
        }
        one(GAUSSIAN, &GaussianSketch)?;
    }
    Ok(())
}

/// "The error of the Gaussian sketch": within this of its ratio 1.
const EQUAL: f64 = 0.25;
/// "Of the same order": within this factor.
const ORDER: f64 = 2.0;
/// "Orders of magnitude": one everywhere, two on average.
const ORDERS: [f64; 2] = [10.0, 100.0];

fn claims(results: &Results, sizes: &[usize]) -> Vec<Claim> {
    // from d = n^{3/7} on a sketch is worth having
    let wide = || {
        sizes.iter().flat_map(|n| WIDTHS[2..].iter().map(move |&multiple| (n, width(*n, multiple))))
    };
    let ratios = |a, b| wide().map(move |(n, d)| results.compare(n, ("", d), ERROR, a, b).ratio);
    let over = |m: &str| format!("error with {m} over that of the Gaussian sketch, d ≥ n^(3/7)");
    let mean = |m: &str| format!("{}, mean over n and d", over(m));
    let ratio = |method| geometric_mean(ratios(method, GAUSSIAN));
    let least = format!("{}, smallest over n and d", over("m = 1"));
    let magnitude = "orders of magnitude";
    let logarithm = |mean: Estimate| mean.map(f64::ln, 1.0 / mean.value);
    let gained = |to| logarithm(geometric_mean(ratios(NYSTROM, to)));
    let below = |n: &usize| {
        let estimation = results.sample(n, 0_usize, PROBLEM, ESTIMATION);
        results.sample(n, width(*n, 1.0), M_8, ERROR).over(&estimation)
    };
    let claims = [
        Claim::near(&mean("m = 32"), 1.0, ratio(M_32), EQUAL),
        Claim::at_most(&mean("m = 16"), "same order", ratio(M_16), ORDER),
        Claim::at_least(&least, magnitude, smallest(ratios(NYSTROM, GAUSSIAN)), ORDERS[0]),
        Claim::at_least(&mean("m = 1"), magnitude, ratio(NYSTROM), ORDERS[1]),
        Claim::at_least(
            "share of the way from m = 1 to the Gaussian sketch that m = 4 goes, in logarithms of \
             errors, mean over n and d ≥ n^(3/7)",
            "m = 4 already gains most",
            gained(M_4).over(gained(GAUSSIAN)),
            0.5,
        ),
        Claim::at_most(
            "error with m = 8, d = n^(3/7), over the estimation error of exact KRR, largest over n",
            "below 1",
            largest(sizes.iter().map(below)),
            1.0,
        ),
    ];
    claims.map(Claim::picture).into()
}

fn notes() -> Vec<String> {
    paragraphs([
        CHOICES,
        "Gaussian kernel with σ = 1.5·n^(−1/7), λ = 0.5·n^(−4/7), uniform sampling, d from \
         ⌊0.3·n^(3/7)⌋ to ⌊3·n^(3/7)⌋. All sketches of one repetition see the \
         same points and noise.",
        "An independent implementation in NumPy, n = 4000, few repetitions, d = 34, 69 and 104: \
         Gaussian sketch 4.3e-5, 3.2e-7, 5.0e-9; m = 32: 3.9e-5, \
         3.4e-7, 5.0e-9; m = 4: 8.8e-5, 4.4e-6, 5.1e-8; m = 1: 4.8e-3, 1.2e-4, 2.7e-5; exact KRR \
         3.2e-3.",
        "Means for small m are carried by few repetitions: an error is large when no column has a \
         row of the small cluster, and its standard error with it.",
    ])
}
