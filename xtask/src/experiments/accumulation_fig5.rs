//! Figure 5 of Chen & Yang 2021 (accumulations): the sketches of Figures 3 and 4 with Falkon as the solver.

use std::time::Instant;

use nystrom::kernels::Matern32;
use nystrom::krr::{Falkon, IterativeOptions, KrrModel, SketchedKrr, metrics::mse};

use super::accumulation_compared::{self, Captions, Compared};
use super::accumulation_split::{ACCUMULATION, CHOICES, Case, GAUSSIAN, METHODS, Setting, Split, mean_ratio};
use super::papers;
use crate::datasets::standardized;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Lookup, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig5",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 5",
    says: "Solved by Falkon, every sketch keeps the test error it has when solved directly, at these n without much of a gain in time; the accumulation has the best \
        error for its time.",
    data: &["query-analytics-rqa", "casp", "gas-turbine"],
    run,
};

/// Data set and label.
const SETS: [(&str, &str); 3] = [("query-analytics-rqa", "RQA"), ("casp", "CASP"), ("gas-turbine", "GAS")];
/// When Falkon stops, and the memory it may keep KS in.
const OPTIONS: IterativeOptions = IterativeOptions { tolerance: 1e-6, max_iterations: 100, memory: Some(1 << 30) };

/// Both solvers at one n.
struct Measured {
    setting: Setting,
    direct: Compared,
    falkon: Compared,
    /// Of Falkon, by method.
    iterations: [Vec<f64>; METHODS.len()],
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        &[(1000, 10), (2000, 8), (4000, 4), (8000, 2)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let mut out = Outcome::default();
    for (name, label) in SETS {
        match ctx.dataset(name)? {
            Lookup::Found(data) => run_case(&Case { label, id: name, data: &data, sizes }, ctx, &mut out)?,
            Lookup::Missing(missing) => out.missing.push(missing.needed_for(format!("plots and row {label}"))),
        }
    }
    let splits: Vec<String> = sizes.iter().map(|(n, r)| format!("{r} at n = {n}")).collect();
    out.scale_note =
        format!("Random splits: {}. The paper: 30 each, n from 1000 to 15,000 (a full run)", splits.join(", "));
    out.notes = vec![
        CHOICES.into(),
        "Both solvers have the same sketch. Falkon stops at a true relative residual of 1e-6 or after 100 iterations and keeps KS in memory; the direct solver is \
         that of Figures 3 and 4. For the claim on error for time, the accumulation's error at a time is the smallest of those it reached in no more than that \
         time, at any n; points faster than all of its own are left out."
            .into(),
    ];
    Ok(out)
}

fn run_case(case: &Case<'_>, ctx: &Context, out: &mut Outcome) -> anyhow::Result<()> {
    let total = case.sizes.iter().map(|s| s.1).sum();
    let stage = ctx.progress.begin(&format!("{}: splits", case.label), total);
    let x = standardized(case.data.x.as_ref())?;
    let mut all = vec![];
    for &(n, repetitions) in case.sizes {
        let (direct, falkon) = (Compared::new(n, METHODS.len()), Compared::new(n, METHODS.len()));
        let mut at = Measured { setting: Setting::new(n, x.ncols()), direct, falkon, iterations: Default::default() };
        for r in 0..repetitions {
            let name = format!("{}, n = {n}, repetition {r}", case.id);
            let split = Split::new(case.data, &x, n, &mut ctx.rng(&name))?;
            at.repetition(ctx, &name, &split)?;
            stage.inc(1);
        }
        all.push(at);
    }
    out.plots.push(iterations(case, &all));
    out.tables.push(table(case, &all));
    out.claims.extend(claims(case.label, &all));
    let falkon: Vec<Compared> = all.into_iter().map(|at| at.falkon).collect();
    out.plots.extend(plots(case, &falkon));
    Ok(())
}

impl Measured {
    /// Every method's sketch, and both solvers on it.
    fn repetition(&mut self, ctx: &Context, name: &str, split: &Split) -> anyhow::Result<()> {
        let Measured { setting, direct, falkon, iterations } = self;
        let (kernel, ridge, x, y) = (setting.kernel()?, setting.ridge(), split.points(), split.y.as_ref());
        let error = |model: &KrrModel<Matern32, f64>| -> anyhow::Result<f64> {
            Ok(mse(model.predict(split.test_points())?.as_ref(), split.y_test.as_ref())?)
        };
        for (method, (label, _)) in METHODS.into_iter().enumerate() {
            let rng = &mut ctx.rng(&format!("{name}, {label}"));
            let start = Instant::now();
            let sketch = setting.law(method, x, rng)?.draw(x.len(), setting.d, rng)?;
            let sketched = start.elapsed().as_secs_f64();

            let start = Instant::now();
            let model = SketchedKrr::new(kernel, ridge).fit(x, y, &*sketch)?;
            direct.push(method, sketched + start.elapsed().as_secs_f64(), error(&model)?);

            let start = Instant::now();
            let solver = Falkon { options: OPTIONS, ..Falkon::new(kernel, ridge) };
            let fit = solver.fit_sketch(x, y, &*sketch)?;
            falkon.push(method, sketched + start.elapsed().as_secs_f64(), error(&fit.model)?);
            iterations[method].push(fit.report.iterations as f64);
        }
        Ok(())
    }

    fn iterations(&self, method: usize) -> f64 {
        mean_and_error(&self.iterations[method]).0
    }
}

fn plots(case: &Case<'_>, falkon: &[Compared]) -> [Plot; 3] {
    let (suffix, prefix) = (format!("-{}", case.id), format!("{}, Falkon: ", case.label));
    let error = ["test error", "test error (mean squared)"];
    let captions = Captions { suffix: &suffix, prefix: &prefix, error, logarithmic: false };
    accumulation_compared::plots(falkon, &METHODS, &captions)
}

fn iterations(case: &Case<'_>, all: &[Measured]) -> Plot {
    let title = format!("{}: iterations of Falkon to a residual of 1e-6", case.label);
    let (x, y) = (Axis::log("number of points n"), Axis::linear("iterations"));
    let mut plot = Plot::new(&format!("iterations-{}", case.id), &title, x, y);
    for (method, (name, style)) in METHODS.into_iter().enumerate() {
        let points = all.iter().map(|at| Point::new(at.falkon.n as f64, at.iterations(method)));
        plot.line_and_points(name, style, points);
    }
    plot
}

fn table(case: &Case<'_>, all: &[Measured]) -> Table {
    let heads = ["n", "splits", "d", "λ"].map(Column::new).into_iter();
    let of = |(name, _)| {
        [
            Column::new(&format!("{name}: error directly")),
            Column::new("with Falkon"),
            Column::with_unit(&format!("{name}: time directly"), "s"),
            Column::with_unit("with Falkon", "s"),
            Column::new("iterations"),
        ]
    };
    let title = format!("{}: mean test error, median time, mean iterations", case.label);
    let heads = heads.chain(METHODS.into_iter().flat_map(of));
    let mut table = Table::new(&format!("falkon-{}", case.id), &title, heads);
    for at in all {
        let Measured { setting, direct, falkon, .. } = at;
        let head = [direct.n.into(), direct.repetitions().into(), setting.d.into(), setting.lambda.into()];
        let cells = |method: usize| {
            let errors = [direct.error(method), falkon.error(method)];
            [errors[0], errors[1], direct.time(method), falkon.time(method), at.iterations(method)].map(Cell::from)
        };
        table.push(head.into_iter().chain((0..METHODS.len()).flat_map(cells)));
    }
    table
}

/// "Keeps accuracy": test errors differ by at most this.
const KEPT: f64 = 0.01;
/// "Of the Gaussian sketch's order": within this factor.
const ORDER: f64 = 1.1;
/// "Little speed-up": at most this factor.
const LITTLE: f64 = 2.0;

fn claims(label: &str, all: &[Measured]) -> Vec<Claim> {
    let everywhere = |value: &dyn Fn(&Measured, usize) -> f64| {
        let of = |at| (0..METHODS.len()).map(move |method| value(at, method));
        all.iter().flat_map(of).fold(0.0, f64::max)
    };
    let speed_up = |at: &Measured| at.direct.time(ACCUMULATION) / at.falkon.time(ACCUMULATION);
    let over_gaussian = |at: &Measured| at.falkon.error(ACCUMULATION) / at.falkon.error(GAUSSIAN);
    vec![
        Claim::at_most(
            &format!(
                "{label}: relative difference of the test errors with Falkon and directly, largest over n and methods"
            ),
            "no change (picture)",
            everywhere(&|at, method| (at.falkon.error(method) / at.direct.error(method) - 1.0).abs()),
            KEPT,
        ),
        Claim::at_most(
            &format!(
                "{label}: test error of the accumulation (m = 4) over that of the Gaussian sketch, largest over n"
            ),
            "the same order for m ≤ 32 (picture)",
            all.iter().map(over_gaussian).fold(0.0, f64::max),
            ORDER,
        ),
        Claim::at_most(
            &format!("{label}: test error of the accumulation over that of another method in the same time, largest"),
            "at most 1 (picture)",
            everywhere(&|at, method| if method == ACCUMULATION { 0.0 } else { at_the_same_time(all, at, method) }),
            1.01,
        ),
        Claim::at_most(
            &format!("{label}: speed-up of the accumulation by Falkon, mean over n"),
            "little (picture)",
            mean_ratio(all.iter().map(speed_up)),
            LITTLE,
        ),
    ]
}

/// The accumulation's smallest error at any n in no more than the time that a method took, over that method's error; 0 if there is none.
fn at_the_same_time(all: &[Measured], at: &Measured, method: usize) -> f64 {
    let reached = all.iter().filter(|other| other.falkon.time(ACCUMULATION) <= at.falkon.time(method));
    let best = reached.map(|other| other.falkon.error(ACCUMULATION)).fold(f64::INFINITY, f64::min);
    if best.is_finite() { best / at.falkon.error(method) } else { 0.0 }
}
