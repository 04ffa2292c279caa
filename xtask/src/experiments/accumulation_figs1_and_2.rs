//! Figures 1 and 2 of Chen & Yang 2021 (accumulations), on the bimodal design. Figure 1: error and
//! time of the Gaussian sketch, Nyström and an accumulation with m = 5. Figure 2: error against d
//! for m = 1, 2, 4, …, 32.

use nystrom::krr::metrics::mse;
use nystrom::sketch::Subsampling;

use super::accumulation_figs3_to_5::SECONDS;
use super::bimodal::{BimodalPoints, Regression};
use crate::lab::*;

const ERROR: Measure = Measure::new("error", "approximation error (1/n)‖f_S − f_n‖²").log();
/// Of exact KRR, against f*.
const ESTIMATION: &str = "estimation error of exact KRR";
const ESTIMATION_LABEL: &str = "estimation error (1/n)‖f_n − f*‖² of exact KRR";

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
    let grid = Grid::new(ctx, "draws of the problem", &[DESIGN], sizes.iter().copied());
    let results = grid.run(methods)?;
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 16,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws()));
    let here = results.on(&DESIGN);
    out.plots = here.trade_off(["", "Figure 1: "], ERROR, SECONDS);
    let estimation = here.curve(PROBLEM, Measure::named(ESTIMATION));
    out.plots[0].line(ESTIMATION_LABEL, THEORY.key, estimation);
    let id_title = ["fig1", "Mean error (1/n)‖f_S − f_n‖² and median time"];
    let (facts, measures) = (results.facts(), [ERROR, SECONDS]);
    out.tables.extend(results.table(id_title, &[DESIGN], ["", "n", ""], &facts, &measures));
    let error = |words, summary: fn(Vec<Estimate>) -> Estimate, a| {
        here.compare_all((words, summary), ERROR, a, GAUSSIAN_SKETCH)
    };
    let time = |a, b| here.compare(("n", results.last()), SECONDS, a, b);
    let claims = [
        error("mean over n", geometric_mean, M_5).at_most("nearly 1", 1.25),
        error("smallest over n", smallest, NYSTROM).at_least("clearly above 1", 2.0),
        time(GAUSSIAN_SKETCH, M_5).at_least("several times", 5.0),
        // the kernel entries alone are m times as many
        time(M_5, NYSTROM).at_most("nearly 1", 1.5),
    ];
    out.claims = claims.map(Claim::picture).into();
    Ok(out)
}

/// One draw of points and noise, and every method on it, one after another.
fn methods(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let (n, power) = (trial.size, |p: f64| (trial.size as f64).powf(p / 7.0));
    let (columns, lambda) = ((1.3 * power(3.0)) as usize, 0.3 * power(-4.0));
    let (kernel, truth) = (Matern12::new(1.0)?, BimodalPoints::radial_truth);
    let problem = Regression::new((n, 3, 0.5), truth, kernel, lambda, &mut trial.rng("problem"));
    let exact = problem.exact()?;
    let estimation = problem.error_of(&exact)?;
    trial.facts(n, [("d", columns as f64), ("λ", lambda), (ESTIMATION, estimation)]);
    let laws: [(Method, &dyn SketchDistribution<f64>); 3] = [
        (GAUSSIAN_SKETCH, &GaussianSketch),
        (NYSTROM, &Subsampling::default()),
        (M_5, &Accumulation::uniform(5)),
    ];
    for (method, law) in laws {
        let rng = &mut trial.rng(method.key);
        let model = trial.timed(n, method, SECONDS, || problem.sketched(law, columns, rng))?;
        let error = mse(model.predict(problem.points())?.as_ref(), exact.as_ref())?;
        trial.put(n, method, ERROR, error);
    }
    Ok(())
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
    let grid = Grid::new(ctx, "draws of the problem", sizes, [(0, most)]).parallel();
    let results = grid.run(|trial| match draws(*trial.setting) {
        all if trial.repetition < all => sketches(trial),
        _ => Ok(()),
    })?;

    let each: Vec<String> = sizes.iter().map(|&n| format!("{n} ({} draws)", draws(n))).collect();
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 8000 (a full run)";
    let mut out = results.outcome(format!("n = {}. {note}", each.join(", ")));
    for n in sizes {
        let title = format!("n = {n}: approximation error, mean with standard errors");
        let (id, d) = (format!("error-n{n}"), Axis::log("columns of the sketch d"));
        let estimation = results.on(n).fact(0_usize, ESTIMATION).value;
        let line = with(|plot| plot.horizontal(ESTIMATION_LABEL, estimation));
        out.plots.extend(results.on(n).plot(&id, &title, d, ERROR).map(line));
    }
    let id_title = ["error", "Mean error (1/n)‖f_S − f_n‖²"];
    out.tables.extend(results.table(id_title, sizes, ["points", "d", ""], &[], &[ERROR]));
    out.claims = claims_of_fig2(&results, sizes);
    Ok(out)
}

/// One draw of points and noise, and every sketch on it.
fn sketches(trial: &mut Trial<'_, usize>) -> anyhow::Result<()> {
    let n = *trial.setting;
    let (sigma, lambda) = (1.5 * (n as f64).powf(-1.0 / 7.0), 0.5 * (n as f64).powf(-4.0 / 7.0));
    let (kernel, truth) = (Gaussian::new(sigma)?, BimodalPoints::radial_truth);
    let problem = Regression::new((n, 3, 0.6), truth, kernel, lambda, &mut trial.rng("problem"));
    let exact = problem.exact()?;
    trial.facts(0_usize, [(ESTIMATION, problem.error_of(&exact)?)]);
    for d in WIDTHS.map(|multiple| width(n, multiple)) {
        for (power, method) in METHODS.into_iter().enumerate() {
            let rng = &mut trial.rng(&format!("{}, d = {d}", method.key));
            let model = if method == GAUSSIAN {
                problem.sketched(&GaussianSketch, d, rng)?
            } else {
                problem.sketched(&Accumulation::uniform(1 << power), d, rng)?
            };
            let error = mse(model.predict(problem.points())?.as_ref(), exact.as_ref())?;
            trial.put(d, method, ERROR, error);
        }
    }
    Ok(())
}

fn claims_of_fig2(results: &Results, sizes: &[usize]) -> Vec<Claim> {
    // from d = n^{3/7} on a sketch is worth having
    let wide = |n| WIDTHS[2..].iter().map(move |&multiple| (n, width(n, multiple)));
    let wide = || sizes.iter().copied().flat_map(wide);
    let ratios =
        |a, b| wide().map(move |(n, d)| results.on(&n).compare(("", d), ERROR, a, b).value);
    let over = |method: Method, m: &str, what: &str, summary: fn(Vec<Estimate>) -> Estimate| {
        let over = "over that of the Gaussian sketch, d ≥ n^(3/7)";
        let ratio = summary(ratios(method, GAUSSIAN).collect());
        measured(format!("error with {m} {over}, {what} over n and d"), ratio)
    };
    let mean = |method, m| over(method, m, "mean", geometric_mean);
    let share = "share of the way from m = 1 to the Gaussian sketch that m = 4 goes, in logarithms \
                 of errors, mean over n and d ≥ n^(3/7)";
    let logarithm = |mean: Estimate| mean.map(f64::ln, 1.0 / mean.value);
    let gained = |to| logarithm(geometric_mean(ratios(M_1, to)));
    let beside =
        "error with m = 8, d = n^(3/7), over the estimation error of exact KRR, largest over n";
    let below = |n: &usize| {
        let estimation = results.on(n).sample(0_usize, PROBLEM, Measure::named(ESTIMATION));
        results.on(n).sample(width(*n, 1.0), M_8, ERROR).over(&estimation)
    };
    let claims = [
        mean(M_32, "m = 32").near(1.0, 0.25),
        mean(M_16, "m = 16").at_most("same order", 2.0),
        // one order everywhere, two on average
        over(M_1, "m = 1", "smallest", smallest).at_least("orders of magnitude", 10.0),
        mean(M_1, "m = 1").at_least("orders of magnitude", 100.0),
        measured(share, gained(M_4).over(gained(GAUSSIAN)))
            .at_least("m = 4 already gains most", 0.5),
        measured(beside, largest(sizes.iter().map(below))).at_most("below 1", 1.0),
    ];
    claims.map(Claim::picture).into()
}
