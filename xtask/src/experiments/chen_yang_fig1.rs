//! Figure 1 of Chen & Yang 2021: time of the scores against n, and the error of Nyström regression against that time.

use nystrom::kernels::Matern;
use nystrom::linalg_core::Ridge;

use super::bimodal_problem::{BimodalDesign, CHOICES};
use super::bimodal_regression::{Method, Regression, Runs};
use super::{papers, statistics::fitted_exponent};
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table, number};

pub const EXPERIMENT: Experiment = Experiment {
    name: "chen-yang-fig1",
    paper: &papers::CHEN_YANG_2021,
    figure: "Figure 1",
    says: "On a three-dimensional bimodal design with Matérn kernels, regression on landmarks from SA scores has the error of that from \
        Recursive-RLS (RC) and BLESS, below uniform landmarks (Vanilla); the time of SA scores is nearly linear in n and far below the others'.",
    data: &[],
    revision: 1,
    run,
};

/// Kernel, design, ridge λ = c·n^{−e} and number of draws d_sub = ⌊c·n^e⌋.
struct Config {
    key: &'static str,
    nu: f64,
    gamma: f64,
    lambda: (f64, f64),
    draws: (f64, f64),
}

const CONFIGS: [Config; 2] = [
    Config { key: "a", nu: 1.5, gamma: 0.4, lambda: (0.075, 2.0 / 3.0), draws: (5.0, 1.0 / 3.0) },
    Config { key: "b", nu: 0.5, gamma: 0.5, lambda: (0.3, 4.0 / 7.0), draws: (1.3, 3.0 / 7.0) },
];

impl Config {
    fn lambda(&self, n: usize) -> f64 {
        self.lambda.0 * (n as f64).powf(-self.lambda.1)
    }

    fn d_sub(&self, n: usize) -> usize {
        (self.draws.0 * (n as f64).powf(self.draws.1)) as usize
    }

    fn label(&self) -> String {
        format!("config {}", self.key.to_uppercase())
    }
}

/// Legends, tables and loops go in this order.
const METHODS: [Method; 9] = [
    Method::Uniform,
    Method::Recursive,
    Method::Bless,
    Method::SpectralGrid,
    Method::SpectralTree,
    Method::SpectralAverage,
    Method::SpectralTrue,
    Method::Exact,
    Method::FullKrr,
];
/// The number of draws is multiplied by these at one n, to see how many more landmarks a method needs.
const MULTIPLES: [usize; 4] = [1, 2, 4, 8];

/// How much is run.
struct Sizes {
    /// n and the number of draws of the problem.
    of: &'static [(usize, usize)],
    /// Draws of landmarks per draw of the problem.
    draws: usize,
    /// The n of [`MULTIPLES`].
    sweep: usize,
    /// n × n methods run up to this n.
    exact: usize,
}

/// All methods at one n; `runs[method][multiple]`, with one multiple except at the n of the sweep.
struct Measured {
    n: usize,
    repetitions: usize,
    runs: Vec<Vec<Runs>>,
}

impl Measured {
    fn of(&self, method: Method) -> &Runs {
        &self.runs[METHODS.iter().position(|m| *m == method).unwrap_or(0)][0]
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes = ctx.pick(
        Sizes { of: &[(300, 2), (600, 2)], draws: 1, sweep: 300, exact: 300 },
        Sizes {
            of: &[(2000, 12), (4472, 8), (10_000, 5), (22_361, 3), (50_000, 2)],
            draws: 3,
            sweep: 4472,
            exact: 2000,
        },
        Sizes {
            of: &[(2000, 30), (4472, 30), (10_000, 30), (22_361, 30), (50_000, 30), (158_114, 10), (500_000, 5)],
            draws: 5,
            sweep: 10_000,
            exact: 10_000,
        },
    );
    let stage = ctx.progress.begin("draws of the problem", CONFIGS.len() * sizes.of.iter().map(|s| s.1).sum::<usize>());
    let mut out = Outcome::default();
    for config in &CONFIGS {
        let mut measured = vec![];
        for &(n, repetitions) in sizes.of {
            let multiples = if n == sizes.sweep { MULTIPLES.len() } else { 1 };
            let mut runs = vec![vec![Runs::default(); multiples]; METHODS.len()];
            for r in 0..repetitions {
                repetition(ctx, config, n, r, &sizes, &mut runs)?;
                stage.inc(1);
            }
            measured.push(Measured { n, repetitions, runs });
        }
        report(config, &measured, &sizes, &mut out);
    }
    let last = sizes.of[sizes.of.len() - 1];
    out.scale_note = format!(
        "n from {} to {} with {} to {} draws of the problem and {} of the landmarks on each; a full run goes to n = 500,000. The paper: 30 draws; its sizes \
         are illegible",
        sizes.of[0].0, last.0, sizes.of[0].1, last.1, sizes.draws
    );
    out.notes.extend(notes());
    Ok(out)
}

/// One draw of design and noise, and every method on it.
fn repetition(
    ctx: &Context,
    config: &Config,
    n: usize,
    r: usize,
    sizes: &Sizes,
    runs: &mut [Vec<Runs>],
) -> anyhow::Result<()> {
    let name = format!("{}, n = {n}, repetition {r}", config.key);
    let rng = &mut ctx.rng(&name);
    let design = BimodalDesign { n, dim: 3, gamma: config.gamma }.draw(rng);
    let (f_star, ridge) = (design.radial_truth(), Ridge::PerSample(config.lambda(n)));
    let problem = Regression::new(design, f_star, Matern::new(config.nu, 1.0)?, ridge, rng);
    for (method, runs) in METHODS.into_iter().zip(runs) {
        if matches!(method, Method::Exact | Method::FullKrr) && n > sizes.exact {
            continue;
        }
        if method == Method::FullKrr {
            runs[0].errors.push(problem.full_error()?);
            continue;
        }
        let rng = &mut ctx.rng(&format!("{name}, {}", method.name()));
        let (scores, seconds) = problem.scores(method, rng)?;
        runs[0].seconds.push(seconds);
        if method == Method::SpectralTree {
            continue; // the grid's scores within a few percent
        }
        for (multiple, runs) in MULTIPLES.into_iter().zip(runs) {
            let one = |_| problem.error(&scores, multiple * config.d_sub(n), rng);
            let errors = (0..sizes.draws).map(one).collect::<anyhow::Result<Vec<f64>>>()?;
            runs.errors.push(errors.iter().sum::<f64>() / sizes.draws as f64);
        }
    }
    Ok(())
}

fn is_timed(method: Method) -> bool {
    !matches!(method, Method::Uniform | Method::SpectralTrue | Method::FullKrr)
}

fn report(config: &Config, measured: &[Measured], sizes: &Sizes, out: &mut Outcome) {
    let plot = |id: &str, what: &str, x: &str, y: &str| {
        let title = format!("Config {}, Matérn ν = {}: {what}", config.key.to_uppercase(), config.nu);
        Plot::new(&format!("{id}-{}", config.key), &title, Axis::log(x), Axis::log(y))
    };
    let (n, seconds, error) =
        ("number of points n", "time of the scores / s", "mean in-sample error (1/n) Σ (f̂ − f*)²");
    let mut time = plot("time", "time of the scores (left panel)", n, seconds);
    let mut both = plot("time-error", "error against time, n growing along each line (right panel)", seconds, error);
    let mut errors = plot("error", "error against n, with standard errors", n, error);
    let mut more = plot("draws", &format!("more landmarks at n = {}", sizes.sweep), "draws of landmarks", error);
    let bar = |x: usize, runs: &Runs| {
        let (mean, s) = runs.mean_error();
        Point::with_range(x as f64, mean, mean - s, mean + s)
    };
    for method in METHODS {
        let (name, style) = (method.name(), method.style());
        let runs: Vec<(usize, &Runs)> = measured.iter().map(|at| (at.n, at.of(method))).collect();
        if is_timed(method) {
            let timed = runs.iter().filter(|(_, runs)| !runs.seconds.is_empty());
            time.line_and_points(name, style, timed.map(|(n, runs)| Point::new(*n as f64, runs.median_seconds())));
        }
        let with_error: Vec<_> = runs.into_iter().filter(|(_, runs)| !runs.errors.is_empty()).collect();
        if with_error.is_empty() {
            continue;
        }
        if is_timed(method) {
            let points = with_error.iter().map(|(_, runs)| Point::new(runs.median_seconds(), runs.mean_error().0));
            both.line_and_points(name, style, points);
        }
        errors.line_and_points(name, style, with_error.iter().map(|(n, runs)| bar(*n, runs)));
        let sweep = measured.iter().find(|at| at.n == sizes.sweep);
        let swept = sweep.map_or(&[][..], |at| &at.runs[METHODS.iter().position(|m| *m == method).unwrap_or(0)]);
        let at = |(multiple, runs): (usize, _)| bar(multiple * config.d_sub(sizes.sweep), runs);
        let points: Vec<Point> =
            MULTIPLES.into_iter().zip(swept).filter(|(_, runs)| !runs.errors.is_empty()).map(at).collect();
        if points.len() == MULTIPLES.len() {
            more.line_and_points(name, style, points);
        }
    }
    out.plots.extend([time, both, errors, more]);
    out.tables.push(table(config, measured));
    out.claims.extend(claims(config, measured));
}

fn table(config: &Config, measured: &[Measured]) -> Table {
    let heads = ["n", "draws of the problem", "d_sub", "λ"].map(Column::new).into_iter();
    let methods = METHODS.iter().flat_map(|&method| {
        let name = method.name();
        let time = is_timed(method).then(|| Column::with_unit(&format!("{name}: time"), "s"));
        let error = [format!("{name}: error"), format!("{name}: s.e.")].map(|head| Column::new(&head));
        let has_error = method != Method::SpectralTree;
        time.into_iter().chain(error.into_iter().filter(move |_| has_error))
    });
    let title = format!("Config {}: median time of the scores, mean error", config.key.to_uppercase());
    let mut table = Table::new(&format!("fig1-{}", config.key), &title, heads.chain(methods));
    for at in measured {
        let n = at.n;
        let head = [Cell::from(n), at.repetitions.into(), config.d_sub(n).into(), config.lambda(n).into()];
        let shown = |value: f64, is_there: bool| Cell::from(is_there.then_some(value));
        let cells = METHODS.iter().flat_map(|&method| {
            let (runs, has_error) = (at.of(method), method != Method::SpectralTree);
            let time = is_timed(method).then(|| shown(runs.median_seconds(), !runs.seconds.is_empty()));
            let (mean, s) = runs.mean_error();
            let error = [mean, s].map(|value| shown(value, !runs.errors.is_empty()));
            time.into_iter().chain(error.into_iter().filter(move |_| has_error))
        });
        table.push(head.into_iter().chain(cells));
    }
    table
}

/// Errors within this factor are called equal, beyond it clearly different.
const EQUAL: f64 = 1.25;
/// How much faster than both competitors SA must be at the largest n.
const FASTER: f64 = 3.0;

fn claims(config: &Config, measured: &[Measured]) -> Vec<Claim> {
    let last = &measured[measured.len() - 1];
    let error = |method| last.of(method).mean_error().0;
    let ratio = |a: Method, b: Method| error(a) / error(b);
    let exponent = |method| {
        let series = measured.iter().map(|at| (at.n as f64, at.of(method).median_seconds()));
        fitted_exponent(&series.collect::<Vec<_>>())
    };
    let seconds = |method| last.of(method).median_seconds();
    let faster = [Method::Recursive, Method::Bless].map(|method| seconds(method) / seconds(Method::SpectralGrid));
    let (label, n) = (config.label(), last.n);
    let over = |a: Method, b: Method| format!("{label}, n = {n}: error with {} over that with {}", a.name(), b.name());
    let equal = |a, b| Claim::at_most(&over(a, b), "equal (picture)", ratio(a, b), EQUAL);
    let above = |a, b| Claim::at_least(&over(a, b), "clearly above 1 (picture)", ratio(a, b), EQUAL);
    let near_linear = |method: Method| {
        Claim::at_most(
            &format!("{label}: exponent of n, time of {}", method.name()),
            "nearly 1",
            exponent(method),
            1.15,
        )
    };
    vec![
        equal(Method::Bless, Method::Recursive),
        equal(Method::SpectralGrid, Method::Recursive),
        equal(Method::SpectralAverage, Method::Recursive),
        above(Method::Uniform, Method::SpectralGrid),
        above(Method::Uniform, Method::SpectralAverage),
        near_linear(Method::SpectralGrid),
        near_linear(Method::SpectralTree),
        Claim::new(
            format!("{label}, n = {n}: time of RC and of BLESS over that of SA, grid density, ≥ {FASTER}"),
            "orders of magnitude (picture)",
            faster.map(number).join(" and "),
            faster.iter().all(|f| *f >= FASTER),
        ),
    ]
}

fn notes() -> [String; 5] {
    [
        CHOICES.into(),
        "The paper's ν, λ, γ, bandwidth and d_sub are illegible. Config A: ν = 3/2, ℓ = 1, λ = 0.075·n^(−2/3), ⌊5·n^(1/3)⌋ draws with replacement, γ = 0.4; \
         config B: ν = 1/2, ℓ = 1, λ = 0.3·n^(−4/7), ⌊1.3·n^(3/7)⌋ draws, γ = 0.5. The exponents are those of the theory. Density: Gaussian kernel estimate with \
         h = 0.5·n^(−1/7) standard deviations of each feature, by a k-d tree with relative tolerance 0.05 as in the paper, and on a grid. \"Averaged\" is the \
         paper's modification of low densities, here for the lowest 5 %, in our form."
            .into(),
        "RC is Recursive-RLS at the fixed ridge nλ with its default oversampling, BLESS with q = 2 and q1 = q2 = 5; both then score all n points. Times are \
         medians, of the scores alone, on all threads. Uniform landmarks need no scores and so stand in the error panels only."
            .into(),
        "What decides the error is whether a landmark falls into the small cluster, of n^γ points. SA gives it too little mass: in the settings above a third to a half \
         of what exact scores give, even with the true density, because the cluster is only a few equivalent-kernel widths wide and SA does not see its boundary. \
         The estimated density takes away more: a point alone weighs as much as the density there. How many more landmarks each method needs to be as safe as RC, the panel on more landmarks shows it."
            .into(),
        "All methods of one repetition see the same points and the same noise. Standard errors are over draws of the problem.".into(),
    ]
}
