//! Sketched regression on a real data set: what Figures 3 and 4 of Chen & Yang 2021 (accumulations) share.

use std::time::Instant;

use nystrom::krr::{ExactKrr, SketchedKrr, metrics::mse};

use super::accumulation_compared::{self, Captions, Compared};
use super::accumulation_split::{
    self, ACCUMULATION, BLESS, Case, GAUSSIAN, METHODS, Setting, Split, VERY_SPARSE, mean_ratio,
};
use crate::datasets::standardized;
use crate::experiment::{Cell, Claim, Column, Context, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

/// Exact KRR is run up to this n, as a line to compare with.
const LARGEST_EXACT: usize = 4000;

/// What the experiments say about their settings.
pub fn choices() -> String {
    let exact =
        "Exact KRR, run for n ≤ 4000, is well below all of them: with these d the error is that of the sketches' size.";
    format!("{} {exact}", accumulation_split::CHOICES)
}

/// The methods at one n.
struct Measured {
    setting: Setting,
    methods: Compared,
    /// Errors of exact KRR.
    exact: Vec<f64>,
}

/// Runs every method at every size of a case and adds plots, a table and claims to `out`.
///
/// # Errors
/// Those of the methods.
pub fn run(case: &Case<'_>, ctx: &Context, out: &mut Outcome) -> anyhow::Result<()> {
    let total = case.sizes.iter().map(|s| s.1).sum();
    let stage = ctx.progress.begin(&format!("{}: splits", case.label), total);
    let x = standardized(case.data.x.as_ref())?;
    let mut all = vec![];
    for &(n, repetitions) in case.sizes {
        let methods = Compared::new(n, METHODS.len());
        let mut at = Measured { setting: Setting::new(n, x.ncols()), methods, exact: vec![] };
        for r in 0..repetitions {
            let name = format!("{}, n = {n}, repetition {r}", case.id);
            let split = Split::new(case.data, &x, n, &mut ctx.rng(&name))?;
            repetition(ctx, &name, &split, &mut at)?;
            stage.inc(1);
        }
        all.push(at);
    }
    out.tables.push(table(case, &all));
    let exact: Vec<Point> = all.iter().filter(|at| !at.exact.is_empty()).map(Measured::exact_point).collect();
    let all: Vec<Compared> = all.into_iter().map(|at| at.methods).collect();
    out.plots.extend(plots(case, &all, exact));
    out.claims.extend(claims(case.label, &all));
    Ok(())
}

impl Measured {
    fn exact_point(&self) -> Point {
        Point::new(self.methods.n as f64, mean_and_error(&self.exact).0)
    }
}

fn repetition(ctx: &Context, name: &str, split: &Split, at: &mut Measured) -> anyhow::Result<()> {
    let Measured { setting, methods, exact } = at;
    let (kernel, ridge, x) = (setting.kernel()?, setting.ridge(), split.points());
    let krr = SketchedKrr::new(kernel, ridge);
    for (method, (label, _)) in METHODS.into_iter().enumerate() {
        let rng = &mut ctx.rng(&format!("{name}, {label}"));
        let start = Instant::now();
        let sketch = setting.law(method, x, rng)?.draw(x.len(), setting.d, rng)?;
        let model = krr.fit(x, split.y.as_ref(), &*sketch)?;
        let seconds = start.elapsed().as_secs_f64();
        methods.push(method, seconds, mse(model.predict(split.test_points())?.as_ref(), split.y_test.as_ref())?);
    }
    if methods.n <= LARGEST_EXACT {
        let model = ExactKrr::new(kernel, ridge).fit(x, split.y.as_ref())?;
        exact.push(mse(model.predict(split.test_points())?.as_ref(), split.y_test.as_ref())?);
    }
    Ok(())
}

fn plots(case: &Case<'_>, all: &[Compared], exact: Vec<Point>) -> [Plot; 3] {
    let (suffix, prefix) = (format!("-{}", case.id), format!("{}: ", case.label));
    let error = ["test error", "test error (mean squared)"];
    let captions = Captions { suffix: &suffix, prefix: &prefix, error, logarithmic: false };
    let [mut errors, times, both] = accumulation_compared::plots(all, &METHODS, &captions);
    errors.line_and_points("exact KRR", "exact", exact);
    [errors, times, both]
}

fn table(case: &Case<'_>, all: &[Measured]) -> Table {
    let heads = ["n", "splits", "d", "λ", "exact KRR: error"].map(Column::new).into_iter();
    let title = format!("{}: mean test error and median time", case.label);
    let heads = heads.chain(accumulation_compared::columns(&METHODS));
    let mut table = Table::new(&format!("test-{}", case.id), &title, heads);
    for Measured { setting, methods, exact } in all {
        let exact = (!exact.is_empty()).then(|| mean_and_error(exact).0);
        let head = [methods.n.into(), methods.repetitions().into(), setting.d.into(), setting.lambda.into()];
        table.push(head.into_iter().chain([Cell::from(exact)]).chain(methods.cells()));
    }
    table
}

fn claims(label: &str, all: &[Compared]) -> Vec<Claim> {
    let last = &all[all.len() - 1];
    let mean = |ratio: &dyn Fn(&Compared) -> f64| mean_ratio(all.iter().map(ratio));
    let error_over = |other: usize| mean(&|at| at.error(ACCUMULATION) / at.error(other));
    let fastest = |at: &Compared| (0..METHODS.len()).map(|method| at.time(method)).fold(f64::INFINITY, f64::min);
    let times = [ACCUMULATION, VERY_SPARSE, GAUSSIAN].map(|method| last.time(method));
    let n = last.n;
    vec![
        Claim::at_most(
            &format!("{label}: test error of the accumulation over that of the Gaussian sketch, mean over n"),
            "nearly 1 (picture)",
            error_over(GAUSSIAN),
            1.03,
        ),
        Claim::at_most(
            &format!("{label}: test error of the accumulation over that of Nyström with BLESS, mean over n"),
            "at most 1 (picture)",
            error_over(BLESS),
            1.01,
        ),
        Claim::at_most(
            &format!("{label}, n = {n}: test error of the accumulation over that of the Gaussian sketch"),
            "nearly 1 (picture)",
            last.error(ACCUMULATION) / last.error(GAUSSIAN),
            1.05,
        ),
        Claim::at_most(
            &format!("{label}, n = {n}: test error of the accumulation over that of Nyström with BLESS"),
            "at most 1 (picture)",
            last.error(ACCUMULATION) / last.error(BLESS),
            1.02,
        ),
        Claim::at_most(
            &format!("{label}: time of the accumulation over that of the fastest method, mean over n"),
            "nearly 1 (picture)",
            mean(&|at| at.time(ACCUMULATION) / fastest(at)),
            1.5,
        ),
        Claim::at_least(
            &format!("{label}, n = {n}: time of the Gaussian sketch over that of the accumulation"),
            "many times (picture)",
            times[2] / times[0],
            3.0,
        ),
        Claim::new(
            format!(
                "{label}, n = {n}: the time of VSRP lies between those of the accumulation and of the Gaussian sketch"
            ),
            "between them (picture)",
            times.map(|t| format!("{t:.3} s")).join(", "),
            times[0] <= times[1] && times[1] <= times[2],
        ),
    ]
}
