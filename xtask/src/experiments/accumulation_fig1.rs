//! Figure 1 of Chen & Yang 2021 (accumulations): error and time of the Gaussian sketch, Nyström and an accumulation with m = 5.

use std::time::Instant;

use nystrom::kernels::Matern12;
use nystrom::sketch::{Accumulation, GaussianSketch, SketchDistribution, Subsampling};

use super::accumulation_compared::{self, Captions, Compared, Method};
use super::accumulation_problem::{CHOICES, Problem};
use super::papers;
use crate::experiment::{Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig1",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 1",
    says: "On a bimodal design (γ = 0.5) an accumulation with m = 5 has nearly the approximation error of the Gaussian sketch at nearly the time of Nyström; \
        Nyström is fast but far less accurate, the Gaussian sketch accurate but slow.",
    data: &[],
    run,
};

const GAMMA: f64 = 0.5;
/// m of the accumulation.
const SUMMANDS: usize = 5;
const METHODS: [Method; 3] =
    [("Gaussian sketch", "gaussian-sketch"), ("Nyström (uniform)", "uniform"), ("accumulation, m = 5", "accumulated")];
const GAUSSIAN: usize = 0;
const NYSTROM: usize = 1;
const ACCUMULATION: usize = 2;

fn laws() -> [Box<dyn SketchDistribution<f64>>; 3] {
    [Box::new(GaussianSketch), Box::new(Subsampling::default()), Box::new(Accumulation::uniform(SUMMANDS))]
}

fn width(n: usize) -> usize {
    (1.3 * (n as f64).powf(3.0 / 7.0)) as usize
}

fn lambda(n: usize) -> f64 {
    0.3 * (n as f64).powf(-4.0 / 7.0)
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(300, 2), (500, 2)],
        &[(1000, 30), (2000, 15), (4000, 6), (8000, 2)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (16_000, 30)],
    );
    let stage = ctx.progress.begin("draws of the problem", sizes.iter().map(|s| s.1).sum());
    let (mut all, mut estimation) = (vec![], vec![]);
    for &(n, repetitions) in sizes {
        let (mut at, mut exact) = (Compared::new(n, METHODS.len()), vec![]);
        for r in 0..repetitions {
            exact.push(repetition(ctx, &mut at, r)?);
            stage.inc(1);
        }
        all.push(at);
        estimation.push(exact);
    }
    let line = all.iter().zip(&estimation).map(|(at, exact)| Point::new(at.n as f64, mean_and_error(exact).0));
    let repetitions: Vec<String> = sizes.iter().map(|(n, r)| format!("{r} at n = {n}")).collect();
    Ok(Outcome {
        scale_note: format!(
            "Draws of points, noise and sketch: {}. The paper: 30 each, n from 1000 to 16,000 (a full run)",
            repetitions.join(", ")
        ),
        plots: plots(&all, line),
        tables: vec![table(&all, &estimation)],
        claims: claims(&all),
        notes: vec![
            CHOICES.into(),
            "Matérn kernel with ν = ½ and ℓ = 1 (the paper leaves ℓ open), λ = 0.3·n^(−4/7), d = ⌊1.3·n^(3/7)⌋ columns, uniform sampling. Times are medians, of \
             drawing the sketch and fitting with it, on all threads; exact KRR serves the errors and is not timed."
                .into(),
        ],
        ..Outcome::default()
    })
}

/// One draw of points and noise, and every method on it, one after another; the estimation error of exact KRR.
fn repetition(ctx: &Context, at: &mut Compared, r: usize) -> anyhow::Result<f64> {
    let n = at.n;
    let name = format!("n = {n}, repetition {r}");
    let problem = Problem::new(n, GAMMA, Matern12::new(1.0)?, lambda(n), &mut ctx.rng(&name))?;
    for (method, law) in laws().iter().enumerate() {
        let rng = &mut ctx.rng(&format!("{name}, {}", METHODS[method].0));
        let start = Instant::now();
        let model = problem.fit(&**law, width(n), rng)?;
        let seconds = start.elapsed().as_secs_f64();
        at.push(method, seconds, problem.error(&model)?);
    }
    Ok(problem.estimation_error)
}

fn plots(all: &[Compared], estimation: impl Iterator<Item = Point>) -> Vec<Plot> {
    let error = ["Approximation error", "(1/n)‖f_S − f_n‖²"];
    let captions = Captions { suffix: "", prefix: "", error, logarithmic: true };
    let [mut errors, times, both] = accumulation_compared::plots(all, &METHODS, &captions);
    errors.line("estimation error of exact KRR, (1/n)‖f_n − f*‖²", "theory", estimation);
    vec![errors, times, both]
}

fn table(all: &[Compared], estimation: &[Vec<f64>]) -> Table {
    let heads = ["n", "draws", "d", "λ", "estimation error of exact KRR"].map(Column::new).into_iter();
    let title = "Mean error (1/n)‖f_S − f_n‖² and median time";
    let mut table = Table::new("fig1", title, heads.chain(accumulation_compared::columns(&METHODS)));
    for (at, estimation) in all.iter().zip(estimation) {
        let head = [Cell::from(at.n), at.repetitions().into(), width(at.n).into(), lambda(at.n).into()];
        table.push(head.into_iter().chain([mean_and_error(estimation).0.into()]).chain(at.cells()));
    }
    table
}

fn claims(all: &[Compared]) -> Vec<Claim> {
    let last = &all[all.len() - 1];
    let worst = |method: usize| all.iter().map(|at| at.error(method) / at.error(GAUSSIAN)).fold(0.0, f64::max);
    let least =
        |method: usize| all.iter().map(|at| at.error(method) / at.error(GAUSSIAN)).fold(f64::INFINITY, f64::min);
    let n = last.n;
    vec![
        Claim::at_most(
            "largest error of the accumulation over that of the Gaussian sketch, all n",
            "nearly 1 (picture)",
            worst(ACCUMULATION),
            2.0,
        ),
        Claim::at_least(
            "smallest error of Nyström over that of the Gaussian sketch, all n",
            "clearly above 1 (picture)",
            least(NYSTROM),
            2.0,
        ),
        Claim::at_least(
            &format!("time of the Gaussian sketch over that of the accumulation, n = {n}"),
            "several times (picture)",
            last.time(GAUSSIAN) / last.time(ACCUMULATION),
            3.0,
        ),
        Claim::at_most(
            &format!("time of the accumulation over that of Nyström, n = {n}"),
            "nearly 1 (picture)",
            last.time(ACCUMULATION) / last.time(NYSTROM),
            f64::from(SUMMANDS as u32),
        ),
    ]
}
