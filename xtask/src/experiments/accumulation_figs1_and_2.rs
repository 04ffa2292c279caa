//! Figures 1 and 2 of Chen & Yang 2021 (accumulations), on the bimodal design. Figure 1: error and
//! time of the Gaussian sketch, Nyström and an accumulation with m = 5. Figure 2: error against d
//! for m = 1, 2, 4, …, 32.

use nystrom::krr::metrics::mse;
use nystrom::leverage::Stationary;
use nystrom::prelude::*;
use nystrom::sketch::Subsampling;

use super::accumulation_figs3_to_5::{COLUMNS, SECONDS};
use super::bimodal_problem::{BimodalDesign, BimodalPoints};
use super::bimodal_regression::Regression;
use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Draw, Grid, LAMBDA, Measure, Results, Setting, with};
use crate::method::{
    ACCUMULATED, ACCUMULATED_2, ACCUMULATED_4, ACCUMULATED_8, ACCUMULATED_16, ACCUMULATED_32,
    GAUSSIAN_SKETCH, Method, PROBLEM, THEORY, UNIFORM,
};
use crate::statistics::{Estimate, geometric_mean, largest, smallest};

const ERROR: Measure = Measure::new("error", "approximation error (1/n)‖f_S − f_n‖²").log();
/// Of exact KRR, against f*.
const ESTIMATION: Measure =
    Measure::new("estimation error of exact KRR", "estimation error (1/n)‖f_n − f*‖² of exact KRR");

/// n points of which about n^γ are in the small cluster, with noise; and exact KRR on them.
fn problem<K: Kernel<f64> + Stationary + Copy, S: Setting>(
    gamma: f64,
    n: usize,
    kernel: K,
    lambda: f64,
    draw: &mut Draw<'_, S>,
) -> anyhow::Result<(Regression<K>, Mat<f64>)> {
    let (design, truth) = (BimodalDesign { n, dim: 3, gamma }, BimodalPoints::radial_truth);
    let problem = Regression::new(design, truth, kernel, lambda, &mut draw.rng("problem"));
    let exact = problem.exact()?;
    draw.facts([(ESTIMATION, problem.error_of(&exact)?)]);
    Ok((problem, exact))
}

const DESIGN: &str = "bimodal design";
const NYSTROM: Method = UNIFORM.called("Nyström (uniform)");
const M_5: Method = ACCUMULATED.called("accumulation, m = 5");

pub fn fig1(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(300, 2), (500, 2)],
        ctx.short(
            &[(1000, 30), (2000, 15), (4000, 6), (8000, 2)],
            &[(1000, 40), (2000, 20), (4000, 10), (8000, 4)],
        ),
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (16_000, 30)],
    );
    let results = Grid::new(ctx, "draws of the problem", &[DESIGN]).sizes(sizes).run(methods)?;
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 16,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws("n")));
    out.plots = results.on(&DESIGN).trade_off(["", "Figure 1: "], ERROR, SECONDS);
    let estimation = results.on(&DESIGN).curve(PROBLEM, ESTIMATION);
    out.plots[0].line(ESTIMATION.label, THEORY.key, estimation);
    let title = "Mean error (1/n)‖f_S − f_n‖² and median time";
    let table = results.table("fig1", title, &[DESIGN], &[ERROR, SECONDS]);
    out.tables.extend(table.by_x("n").facts(&[COLUMNS, LAMBDA, ESTIMATION]).build());
    out.claims = claims_of_fig1(&results);
    Ok(out)
}

/// One draw of points and noise, and every method on it, one after another.
fn methods(draw: &mut Draw<'_>) -> anyhow::Result<()> {
    let (n, power) = (draw.size, |p: f64| (draw.size as f64).powf(p / 7.0));
    let (columns, lambda) = ((1.3 * power(3.0)) as usize, 0.3 * power(-4.0));
    let (problem, exact) = problem(0.5, n, Matern12::new(1.0)?, lambda, draw)?;
    draw.facts([(COLUMNS, columns as f64), (LAMBDA, lambda)]);
    let laws: [(Method, &dyn SketchDistribution<f64>); 3] = [
        (GAUSSIAN_SKETCH, &GaussianSketch),
        (NYSTROM, &Subsampling::default()),
        (M_5, &Accumulation::uniform(5)),
    ];
    for (method, law) in laws {
        let rng = &mut draw.rng(method.key);
        let model = draw.timed(n, method, SECONDS, || problem.sketched(law, columns, rng))?;
        let error = mse(model.predict(problem.points())?.as_ref(), exact.as_ref())?;
        draw.put(n, method, ERROR, error);
    }
    Ok(())
}

fn claims_of_fig1(results: &Results) -> Vec<Claim> {
    let error = |words, summary: fn(Vec<Estimate>) -> Estimate, a| {
        results.on(&DESIGN).compare_all((words, summary), ERROR, a, GAUSSIAN_SKETCH)
    };
    let time = |a, b| results.on(&DESIGN).compare(("n", results.last()), SECONDS, a, b);
    let claims = [
        error("mean over n", geometric_mean, M_5).at_most("nearly 1", 1.25),
        error("smallest over n", smallest, NYSTROM).at_least("clearly above 1", 2.0),
        time(GAUSSIAN_SKETCH, M_5).at_least("several times", 5.0),
        // the kernel entries alone are m times as many
        time(M_5, NYSTROM).at_most("nearly 1", 1.5),
    ];
    claims.map(Claim::picture).into()
}

const M_1: Method = UNIFORM.called("m = 1 (Nyström)");
const M_2: Method = ACCUMULATED_2.called("m = 2");
const M_4: Method = ACCUMULATED_4.called("m = 4");
const M_8: Method = ACCUMULATED_8.called("m = 8");
const M_16: Method = ACCUMULATED_16.called("m = 16");
const M_32: Method = ACCUMULATED_32.called("m = 32");
const GAUSSIAN: Method = GAUSSIAN_SKETCH.called("m = ∞ (Gaussian)");
/// From m = 1 by doubling.
const METHODS: [Method; 7] = [M_1, M_2, M_4, M_8, M_16, M_32, GAUSSIAN];
/// d in units of n^{3/7}.
const WIDTHS: [f64; 6] = [0.3, 0.6, 1.0, 1.5, 2.0, 3.0];

fn width(n: usize, multiple: f64) -> usize {
    (multiple * (n as f64).powf(3.0 / 7.0)) as usize
}

pub fn fig2(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[300, 500], &[1000, 2000, 4000], &[1000, 2000, 4000, 8000]);
    let draws = |n: usize| ctx.pick(2, 40_000 / n, 30);
    let most = draws(sizes[0]);
    let grid = Grid::new(ctx, "draws of the problem", sizes).repetitions(most).parallel();
    let results = grid
        .run(|draw| if draw.repetition < draws(*draw.setting) { sketches(draw) } else { Ok(()) })?;

    let each: Vec<String> = sizes.iter().map(|&n| format!("{n} ({} draws)", draws(n))).collect();
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 8000 (a full run)";
    let mut out = results.outcome(format!("n = {}. {note}", each.join(", ")));
    for n in sizes {
        let title = format!("n = {n}: approximation error, mean with standard errors");
        let (id, d) = (format!("error-n{n}"), Axis::log("columns of the sketch d"));
        let estimation = results.on(n).get(0_usize, PROBLEM, ESTIMATION).value;
        let line = with(|plot| plot.horizontal(ESTIMATION.label, estimation));
        out.plots.extend(results.on(n).plot(&id, &title, d, ERROR).map(line));
    }
    let table = results.table("error", "Mean error (1/n)‖f_S − f_n‖²", sizes, &[ERROR]);
    out.tables.extend(table.by_setting("points").by_x("d").build());
    out.claims = claims_of_fig2(&results, sizes);
    Ok(out)
}

/// One draw of points and noise, and every sketch on it.
fn sketches(draw: &mut Draw<'_, usize>) -> anyhow::Result<()> {
    let n = *draw.setting;
    let (sigma, lambda) = (1.5 * (n as f64).powf(-1.0 / 7.0), 0.5 * (n as f64).powf(-4.0 / 7.0));
    let (problem, exact) = problem(0.6, n, Gaussian::new(sigma)?, lambda, draw)?;
    for d in WIDTHS.map(|multiple| width(n, multiple)) {
        for (power, method) in METHODS.into_iter().enumerate() {
            let rng = &mut draw.rng(&format!("{}, d = {d}", method.key));
            let model = if method == GAUSSIAN {
                problem.sketched(&GaussianSketch, d, rng)?
            } else {
                problem.sketched(&Accumulation::uniform(1 << power), d, rng)?
            };
            let error = mse(model.predict(problem.points())?.as_ref(), exact.as_ref())?;
            draw.put(d, method, ERROR, error);
        }
    }
    Ok(())
}

fn claims_of_fig2(results: &Results, sizes: &[usize]) -> Vec<Claim> {
    // from d = n^{3/7} on a sketch is worth having
    let wide = || {
        sizes.iter().flat_map(|n| WIDTHS[2..].iter().map(move |&multiple| (n, width(*n, multiple))))
    };
    let ratios = |a, b| wide().map(move |(n, d)| results.on(n).compare(("", d), ERROR, a, b).value);
    let over = |m: &str| format!("error with {m} over that of the Gaussian sketch, d ≥ n^(3/7)");
    let mean = |m: &str| format!("{}, mean over n and d", over(m));
    let ratio = |method| geometric_mean(ratios(method, GAUSSIAN));
    let least = format!("{}, smallest over n and d", over("m = 1"));
    let magnitude = "orders of magnitude";
    let logarithm = |mean: Estimate| mean.map(f64::ln, 1.0 / mean.value);
    let gained = |to| logarithm(geometric_mean(ratios(M_1, to)));
    let below = |n: &usize| {
        let estimation = results.on(n).sample(0_usize, PROBLEM, ESTIMATION);
        results.on(n).sample(width(*n, 1.0), M_8, ERROR).over(&estimation)
    };
    let claims = [
        measured(mean("m = 32"), ratio(M_32)).near(1.0, 0.25),
        measured(mean("m = 16"), ratio(M_16)).at_most("same order", 2.0),
        // one order everywhere, two on average
        measured(least, smallest(ratios(M_1, GAUSSIAN))).at_least(magnitude, 10.0),
        measured(mean("m = 1"), ratio(M_1)).at_least(magnitude, 100.0),
        measured(
            "share of the way from m = 1 to the Gaussian sketch that m = 4 goes, in logarithms of \
             errors, mean over n and d ≥ n^(3/7)",
            gained(M_4).over(gained(GAUSSIAN)),
        )
        .at_least("m = 4 already gains most", 0.5),
        measured(
            "error with m = 8, d = n^(3/7), over the estimation error of exact KRR, largest over n",
            largest(sizes.iter().map(below)),
        )
        .at_most("below 1", 1.0),
    ];
    claims.map(Claim::picture).into()
}
