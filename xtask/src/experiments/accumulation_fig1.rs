//! Figure 1 of Chen & Yang 2021 (accumulations): error and time of the Gaussian sketch, Nyström and
//! an accumulation with m = 5.

use nystrom::kernels::Matern12;
use nystrom::sketch::{Accumulation, GaussianSketch, SketchDistribution, Subsampling};

use super::accumulation_data::{COLUMNS, SECONDS};
use super::accumulation_problem::{CHOICES, ERROR, ESTIMATION, Problem};
use super::papers;
use crate::experiment::{Claim, Context, Experiment, Outcome, paragraphs};
use crate::lab::{Draw, Grid, LAMBDA, Results};
use crate::method::{ACCUMULATED, GAUSSIAN_SKETCH as GAUSSIAN, Method, PROBLEM, THEORY, UNIFORM};
use crate::statistics::{geometric_mean, smallest};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig1",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 1",
    says: "The design is bimodal (γ = 0.5). An accumulation with m = 5 has nearly the \
           approximation error of the Gaussian sketch at nearly the time of Nyström. Nyström is \
           fast but far less accurate. The Gaussian sketch is accurate but slow.",
    data: &[],
    run,
};

const GAMMA: f64 = 0.5;
const DESIGN: &str = "bimodal design";
/// m of the accumulation.
const SUMMANDS: usize = 5;
const NYSTROM: Method = UNIFORM.called("Nyström (uniform)");
const ACCUMULATION: Method = ACCUMULATED.called("accumulation, m = 5");

fn laws() -> [(Method, Box<dyn SketchDistribution<f64>>); 3] {
    [
        (GAUSSIAN, Box::new(GaussianSketch)),
        (NYSTROM, Box::new(Subsampling::default())),
        (ACCUMULATION, Box::new(Accumulation::uniform(SUMMANDS))),
    ]
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(300, 2), (500, 2)],
        &[(1000, 40), (2000, 20), (4000, 10), (8000, 4)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (16_000, 30)],
    );
    let results = Grid::new(ctx, "draws of the problem", &[DESIGN]).sizes(sizes).run(cell)?;
    let note =
        "The paper: 30 draws each of points, noise and sketch, n from 1000 to 16,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws("n")));
    out.plots = results.trade_off(["", "Figure 1: "], &DESIGN, ERROR, SECONDS);
    for plot in out.plots.iter_mut().take(1) {
        plot.line(ESTIMATION.label, THEORY.key, results.curve(&DESIGN, PROBLEM, ESTIMATION));
    }
    let title = "Mean error (1/n)‖f_S − f_n‖² and median time";
    let table = results.table("fig1", title, &[DESIGN], &[ERROR, SECONDS]);
    out.tables.extend(table.by_x("n").facts(&[COLUMNS, LAMBDA, ESTIMATION]).build());
    out.claims = claims(&results, sizes[sizes.len() - 1].0);
    out.notes = paragraphs([
        CHOICES,
        "Matérn kernel with ν = ½ and ℓ = 1 (the paper leaves ℓ open), λ = 0.3·n^(−4/7), d = \
         ⌊1.3·n^(3/7)⌋ columns, uniform sampling. Times are medians, of \
         drawing the sketch and fitting with it, on all threads; exact KRR serves the errors and \
         is not timed.",
    ]);
    Ok(out)
}

/// One draw of points and noise, and every method on it, one after another.
fn cell(draw: &mut Draw<'_, &'static str>) -> anyhow::Result<()> {
    let (n, power) = (draw.size, |p: f64| (draw.size as f64).powf(p / 7.0));
    let (columns, lambda) = ((1.3 * power(3.0)) as usize, 0.3 * power(-4.0));
    let problem = Problem::new(n, GAMMA, Matern12::new(1.0)?, lambda, &mut draw.rng("problem"))?;
    let estimation = problem.estimation_error;
    draw.facts([(COLUMNS, columns as f64), (LAMBDA, lambda), (ESTIMATION, estimation)]);
    for (method, law) in laws() {
        let rng = &mut draw.rng(method.key);
        let model = draw.timed(method, SECONDS, || problem.fit(&*law, columns, rng))?;
        draw.put(method, ERROR, problem.error(&model)?);
    }
    Ok(())
}

/// "Nearly" the error of another method: within this factor.
const NEARLY: f64 = 1.25;
/// "Far less accurate": at least this factor, at every n.
const FAR: f64 = 2.0;
/// "Nearly" the time of another method: within this factor. The kernel entries alone are m times as
/// many.
const NEARLY_THE_TIME: f64 = 1.5;
/// "Several times" slower: at least this factor.
const SEVERAL: f64 = 5.0;

fn claims(results: &Results, n: usize) -> Vec<Claim> {
    let time = |a, b| results.compare(&DESIGN, ("n", n), SECONDS, a, b);
    let mean = ("mean over n", geometric_mean);
    let mean = results.compare_all(&DESIGN, mean, ERROR, ACCUMULATION, GAUSSIAN);
    let least = ("smallest over n", smallest);
    let least = results.compare_all(&DESIGN, least, ERROR, NYSTROM, GAUSSIAN);
    vec![
        mean.at_most("nearly 1", NEARLY).picture(),
        least.at_least("clearly above 1", FAR).picture(),
        time(GAUSSIAN, ACCUMULATION).at_least("several times", SEVERAL).picture(),
        time(ACCUMULATION, NYSTROM).at_most("nearly 1", NEARLY_THE_TIME).picture(),
    ]
}
