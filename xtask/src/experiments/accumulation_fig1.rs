//! Figure 1 of Chen & Yang 2021 (accumulations): error and time of the Gaussian sketch, Nyström and an accumulation with m = 5.

use std::time::Instant;

use nystrom::kernels::Matern12;
use nystrom::sketch::{Accumulation, GaussianSketch, SketchDistribution, Subsampling};

use super::accumulation_problem::{CHOICES, Problem};
use super::papers;
use super::statistics::{mean_and_error, quantile};
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig1",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 1",
    says: "On a bimodal design (γ = 0.5) an accumulation with m = 5 has nearly the approximation error of the Gaussian sketch at nearly the time of Nyström; \
        Nyström is fast but far less accurate, the Gaussian sketch accurate but slow.",
    data: &[],
    revision: 1,
    run,
};

const GAMMA: f64 = 0.5;
/// m of the accumulation.
const SUMMANDS: usize = 5;
/// Name in the legend and style.
const METHODS: [(&str, &str); 3] =
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

/// Errors and times of every method at one n, one of each per repetition.
struct Measured {
    n: usize,
    errors: [Vec<f64>; 3],
    seconds: [Vec<f64>; 3],
    estimation: Vec<f64>,
}

impl Measured {
    fn error(&self, method: usize) -> f64 {
        mean_and_error(&self.errors[method]).0
    }

    fn time(&self, method: usize) -> f64 {
        let mut sorted = self.seconds[method].clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(300, 2), (500, 2)],
        &[(1000, 30), (2000, 15), (4000, 6), (8000, 2)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (16_000, 30)],
    );
    let stage = ctx.progress.begin("draws of the problem", sizes.iter().map(|s| s.1).sum());
    let mut all = vec![];
    for &(n, repetitions) in sizes {
        let mut at = Measured { n, errors: Default::default(), seconds: Default::default(), estimation: vec![] };
        for r in 0..repetitions {
            repetition(ctx, &mut at, r)?;
            stage.inc(1);
        }
        all.push(at);
    }
    let repetitions: Vec<String> = sizes.iter().map(|(n, r)| format!("{r} at n = {n}")).collect();
    Ok(Outcome {
        scale_note: format!(
            "Draws of points, noise and sketch: {}. The paper: 30 each, n from 1000 to 16,000 (a full run)",
            repetitions.join(", ")
        ),
        plots: plots(&all),
        tables: vec![table(&all)],
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

/// One draw of points and noise, and every method on it, one after another.
fn repetition(ctx: &Context, at: &mut Measured, r: usize) -> anyhow::Result<()> {
    let n = at.n;
    let name = format!("n = {n}, repetition {r}");
    let problem = Problem::new(n, GAMMA, Matern12::new(1.0)?, lambda(n), &mut ctx.rng(&name))?;
    at.estimation.push(problem.estimation_error);
    for (method, law) in laws().iter().enumerate() {
        let rng = &mut ctx.rng(&format!("{name}, {}", METHODS[method].0));
        let start = Instant::now();
        let model = problem.fit(&**law, width(n), rng)?;
        at.seconds[method].push(start.elapsed().as_secs_f64());
        at.errors[method].push(problem.error(&model)?);
    }
    Ok(())
}

fn plots(all: &[Measured]) -> Vec<Plot> {
    let (n, error, time) = ("number of points n", "(1/n)‖f_S − f_n‖²", "time of sketch and fit / s");
    let mut errors =
        Plot::new("error", "Approximation error, mean with standard errors", Axis::log(n), Axis::log(error));
    let mut times = Plot::new("time", "Time of sketch and fit, median", Axis::log(n), Axis::log(time));
    let mut both =
        Plot::new("error-time", "Error against time, n growing along each line", Axis::log(time), Axis::log(error));
    for (method, (name, style)) in METHODS.into_iter().enumerate() {
        let bar = |at: &Measured| {
            let (mean, s) = mean_and_error(&at.errors[method]);
            Point::with_range(at.n as f64, mean, mean - s, mean + s)
        };
        errors.line_and_points(name, style, all.iter().map(bar));
        times.line_and_points(name, style, all.iter().map(|at| Point::new(at.n as f64, at.time(method))));
        both.line_and_points(name, style, all.iter().map(|at| Point::new(at.time(method), at.error(method))));
    }
    let estimation = all.iter().map(|at| Point::new(at.n as f64, mean_and_error(&at.estimation).0));
    errors.line("estimation error of exact KRR, (1/n)‖f_n − f*‖²", "theory", estimation);
    vec![errors, times, both]
}

fn table(all: &[Measured]) -> Table {
    let heads = ["n", "draws", "d", "λ", "estimation error of exact KRR"].map(Column::new).into_iter();
    let methods = METHODS.into_iter().flat_map(|(name, _)| {
        [Column::new(&format!("{name}: error")), Column::new("s.e."), Column::with_unit(&format!("{name}: time"), "s")]
    });
    let mut table = Table::new("fig1", "Mean error (1/n)‖f_S − f_n‖² and median time", heads.chain(methods));
    for at in all {
        let head = [Cell::from(at.n), at.estimation.len().into(), width(at.n).into(), lambda(at.n).into()];
        let estimation = Cell::from(mean_and_error(&at.estimation).0);
        let cells = (0..METHODS.len()).flat_map(|method| {
            let (mean, s) = mean_and_error(&at.errors[method]);
            [mean, s, at.time(method)].map(Cell::from)
        });
        table.push(head.into_iter().chain([estimation]).chain(cells));
    }
    table
}

fn claims(all: &[Measured]) -> Vec<Claim> {
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
