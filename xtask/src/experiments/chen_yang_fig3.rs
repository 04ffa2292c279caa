//! Figure 3 of Chen & Yang 2021: Gaussian kernels in growing dimension, where leverage-based
//! sampling loses its advantage.

use nystrom::kernels::Gaussian;
use nystrom::leverage::KernelDensity;

use super::bimodal_problem::{BimodalDesign, BimodalPoints};
use super::bimodal_regression::{BLESS, ERROR, EXACT, RC, Regression, SA_TRUE, SA_TUNED, UNIFORM};
use crate::experiment::{Axis, Claim, Context, Outcome, Point, measured};
use crate::lab::{Draw, Grid, LAMBDA, Measure, Results, labelled, with};
use crate::method::{Method, PROBLEM, THEORY};

/// The dimension d; the paper's three are illegible. With 2α = d + 1: σ = 1.5·n^{−1/(2α+d)}, λ =
/// 0.5·n^{−2α/(2α+d)}, ⌊5·n^{d/(2α+d)}⌋ draws and at most n/10.
struct Dimension(usize);

const DIMENSIONS: [Dimension; 3] = [Dimension(3), Dimension(10), Dimension(30)];
const METHODS: [Method; 6] = [UNIFORM, RC, BLESS, SA_TUNED, SA_TRUE, EXACT];
/// Of n points n^γ or so are in the small cluster.
const GAMMA: f64 = 0.4;

const SIGMA: Measure = Measure::named("σ");
const DRAWS: Measure = Measure::named("draws of landmarks");
const ZERO: Measure = Measure::named("error of f = 0");
/// Whether the library refuses to estimate the density of a draw.
const REFUSED: Measure = Measure::named("refused");

labelled!(Dimension, |d| format!("d = {}", d.0));

impl Dimension {
    /// n^{a/(2α+d)}.
    fn power(&self, n: usize, a: usize) -> f64 {
        (n as f64).powf(a as f64 / (2 * self.0 + 1) as f64)
    }
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[200, 400], &[1000, 2154, 4642], &[1000, 2154, 4642, 10_000]);
    let grid = Grid::new(ctx, "draws of the problem", &DIMENSIONS).at(sizes);
    let results = grid.repetitions(ctx.pick(2, ctx.short(8, 12), 20)).run(cell)?;

    let drawn = results.draws("n");
    let mut out =
        results.outcome(format!("{drawn}; n = 10,000 too in a full run. The paper: 20 draws"));
    for d in &DIMENSIONS {
        let title = format!("d = {}: error, with standard errors", d.0);
        let (id, n) = (format!("error-d{}", d.0), Axis::log("number of points n"));
        let zero = |&n: &usize| Point::new(n as f64, results.on(d).get(n, PROBLEM, ZERO).value);
        let line = with(|plot| plot.line("f = 0", THEORY.key, sizes.iter().map(zero)));
        out.plots.extend(results.on(d).plot(&id, &title, n, ERROR).map(line));
    }
    let table = results.table("fig3", "Mean in-sample error", &DIMENSIONS, &[ERROR]);
    let table = table.by_setting("d").by_x("n").facts(&[SIGMA, LAMBDA, DRAWS, ZERO]);
    out.tables.extend(table.build());
    out.claims = claims(&results);
    out.values = vec![("refused", refused(&results))];
    Ok(out)
}

/// One draw of design and noise, and every method on it.
fn cell(draw: &mut Draw<'_, Dimension>) -> anyhow::Result<()> {
    let (n, dim) = (draw.size, draw.setting.0);
    let (sigma, lambda) = (1.5 / draw.setting.power(n, 1), 0.5 / draw.setting.power(n, dim + 1));
    let landmarks = ((5.0 * draw.setting.power(n, dim)) as usize).min(n / 10);
    let (design, truth) =
        (BimodalDesign { n, dim, gamma: GAMMA }, BimodalPoints::first_coordinate_truth);
    let (kernel, rng) = (Gaussian::new(sigma)?, &mut draw.rng("problem"));
    let problem = Regression::new(design, truth, kernel, lambda, rng);
    let refused = f64::from(KernelDensity::default().density(problem.points()).is_err());
    draw.facts([(SIGMA, sigma), (LAMBDA, lambda), (DRAWS, landmarks as f64)]);
    draw.facts([(REFUSED, refused), (ZERO, problem.zero_error())]);
    let exact_up_to = draw.ctx.pick(200, 1000, 4642);
    for method in METHODS.into_iter().filter(|method| *method != EXACT || n <= exact_up_to) {
        let rng = &mut draw.rng(method.key);
        let scores = problem.scores(method, n, rng)?;
        draw.put(n, method, ERROR, problem.error(&scores, landmarks, rng)?);
    }
    Ok(())
}

/// Leverage-based and uniform sampling count as equal within this factor.
const EQUAL: f64 = 1.15;
/// "Errors grow by orders of magnitude": at least this much from d = 3 to d = 30.
const GROWTH: f64 = 10.0;

fn claims(results: &Results) -> Vec<Claim> {
    let ([low, _, high], n) = (&DIMENSIONS, results.last());
    let gain = |d: &Dimension, method| results.on(d).compare(("n", n), ERROR, UNIFORM, method);
    let growth = |method: Method| {
        let name = method.name;
        let text = format!("n = {n}, {name}: error at d = {} over error at d = {}", high.0, low.0);
        let [high, low] = [high, low].map(|d| results.on(d).get(n, method, ERROR));
        measured(text, high.over(low)).at_least("orders of magnitude", GROWTH)
    };
    let gained = [RC, BLESS, SA_TUNED].into_iter().flat_map(|method| {
        [gain(low, method).at_least("above 1", EQUAL), gain(high, method).at_most("1", EQUAL)]
    });
    gained.chain([UNIFORM, RC, SA_TUNED].map(growth)).map(Claim::picture).collect()
}

/// `3 of 36 times at d = 10`, for each d.
fn refused(results: &Results) -> String {
    let refused = DIMENSIONS.iter().map(|d| {
        let values = results.on(d).values(PROBLEM, REFUSED);
        format!("{} of {} times at d = {}", values.iter().sum::<f64>(), values.len(), d.0)
    });
    refused.collect::<Vec<_>>().join(", ")
}
