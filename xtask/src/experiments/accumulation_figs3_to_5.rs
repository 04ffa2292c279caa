//! Figures 3, 4 and 5 of Chen & Yang 2021 (accumulations): test error and time on RQA; on CASP and
//! GAS too; and with Falkon as the solver.

use std::time::Instant;

use nystrom::krr::IterativeOptions;
use nystrom::krr::metrics::mse;
use nystrom::leverage::Projector;
use nystrom::sketch::{Subsampling, VerySparse};
use nystrom_data::Dataset;
use nystrom_data::catalog::{self, Verify};

use crate::datasets::standardizer;
use crate::lab::*;

const NYSTROM: Method = BLESS.called("Nyström, BLESS");
const ACCUMULATION: Method = ACCUMULATED.called("accumulation, m = 4");
const METHODS: [Method; 4] = [GAUSSIAN_SKETCH, VERY_SPARSE, NYSTROM, ACCUMULATION];
/// m of the accumulation.
const SUMMANDS: usize = 4;
/// Share of the rows held out.
const TEST_SHARE: f64 = 0.2;
/// Exact KRR is run up to this n, as a line to compare with.
const LARGEST_EXACT: usize = 4000;
/// When Falkon stops, and the memory it may keep KS in.
const OPTIONS: IterativeOptions =
    IterativeOptions { tolerance: 1e-6, max_iterations: 100, memory: Some(1 << 30) };

const ERROR: Measure = Measure::new("test error", "test error (mean squared)");
pub const SECONDS: Measure = Measure::time("time", "time of sketch and fit / s");
const FALKON_ERROR: Measure =
    Measure::new("test error with Falkon", "test error (mean squared), Falkon");
const FALKON_SECONDS: Measure =
    Measure::time("time with Falkon", "time of sketch and fit by Falkon / s");
const ITERATIONS: Measure = Measure::new("iterations of Falkon", "iterations");

pub const RQA: Set = Set { label: "RQA", name: "query-analytics-rqa" };
pub const CASP: Set = Set { label: "CASP", name: "casp" };
pub const GAS: Set = Set { label: "GAS", name: "gas-turbine" };

/// The data. For GAS all columns but the target are features; the catalog leaves out CO.
///
/// # Errors
/// [`MissingData`](crate::datasets::MissingData); those of reading.
fn load(ctx: &Context<'_>, set: &Set) -> anyhow::Result<Dataset> {
    let data = ctx.dataset(set.name)?;
    Ok(match &ctx.data_dir {
        Some(dir) if *set == GAS => catalog::load_table(dir, set.name, Verify::default())?
            .into_dataset(data.target_name.as_str())?,
        _ => data,
    })
}

/// The experiment on these data sets; those that are missing are reported as missing.
pub fn figs3_to_5(ctx: &Context, sets: &[Set], falkon: bool) -> anyhow::Result<Outcome> {
    let at_default: &[(usize, usize)] = if falkon {
        &[(1000, 10), (2000, 8), (4000, 4), (8000, 3)]
    } else {
        &[(1000, 15), (2000, 10), (4000, 6), (8000, 5), (15_000, 4)]
    };
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        at_default,
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let grid = Grid::new(ctx, "splits", sets, sizes.iter().copied());
    let results = grid.run_on(load, |data, trial| cell(data, trial, falkon))?;
    let note = "The paper: 30 random splits each, n from 1000 to 15,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws()));
    for set in results.measured(sets) {
        let (here, id, label) = (results.on(set), format!("-{}", set.name), set.label);
        let prefix = [id.as_str(), &format!("{label}: ")];
        let table = |kind: &str, what: &str, method: &str, measures: &[Measure]| {
            let id_title = [&format!("{kind}{id}"), &format!("{label}: {what}")];
            let id_title = id_title.map(String::as_str);
            results.table(id_title, [set], ["", "n", method], &results.facts(), measures)
        };
        if falkon {
            out.plots.extend(here.trade_off(prefix, FALKON_ERROR, FALKON_SECONDS));
            let title = format!("{label}: iterations of Falkon to a residual of 1e-6");
            let n = Axis::log("number of points n");
            out.plots.extend(here.plot(&format!("iterations{id}"), &title, n, ITERATIONS));
            let what = "mean test error, median time, mean iterations";
            let measures = [ERROR, FALKON_ERROR, SECONDS, FALKON_SECONDS, ITERATIONS];
            out.tables.extend(table("falkon", what, "sketch", &measures));
            out.claims.extend(claims_by_falkon(&here));
        } else {
            out.plots.extend(here.trade_off(prefix, ERROR, SECONDS));
            let what = "mean test error and median time";
            out.tables.extend(table("test", what, "", &[ERROR, SECONDS]));
            out.claims.extend(claims_directly(&here, results.last()));
        }
    }
    Ok(out)
}

/// n rows to fit, a fifth of all rows to test, and what follows from n and the number of features.
struct Split {
    x: Mat<f64>,
    y: Mat<f64>,
    x_test: Mat<f64>,
    y_test: Mat<f64>,
    kernel: Matern32,
    ridge: Ridge<f64>,
    /// Columns of the sketch.
    d: usize,
    /// Most rows of BLESS's dictionary.
    bless_size: usize,
}

impl Split {
    fn new(data: &Dataset, n: usize, rng: &mut dyn Rng) -> anyhow::Result<Self> {
        let rows = data.y.len();
        let test = (TEST_SHARE * rows as f64) as usize;
        let order = random::uniform_subset(rows, (test + n).min(rows), rng)?;
        let (held_out, drawn) = order.split_at(test);
        let (held_out, drawn) = (data.select_rows(held_out)?, data.select_rows(drawn)?);
        let scale = standardizer(drawn.x.as_ref())?;
        let mean = drawn.y.iter().sum::<f64>() / drawn.y.len() as f64;
        let target = |data: &Dataset| Mat::from_fn(data.y.len(), 1, |i, _| data.y[i] - mean);
        let p = data.x.ncols() as f64;
        let power = |numerator: f64| (n as f64).powf(numerator / (3.0 + 2.0 * p));
        Ok(Split {
            x: scale.transform(drawn.x.as_ref())?,
            y: target(&drawn),
            x_test: scale.transform(held_out.x.as_ref())?,
            y_test: target(&held_out),
            kernel: Matern32::new(1.0)?,
            ridge: Ridge::PerSample(0.9 / power(3.0 + p)),
            d: (1.5 * power(p)) as usize,
            bless_size: (3.0 * power(p)) as usize,
        })
    }

    fn points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref())
    }

    /// A method's sketch; for Nyström with its scores.
    fn sketch(&self, method: Method, rng: &mut dyn Rng) -> anyhow::Result<Box<dyn Sketch<f64>>> {
        let law: Box<dyn SketchDistribution<f64>> = match method {
            m if m == GAUSSIAN_SKETCH => Box::new(GaussianSketch),
            m if m == VERY_SPARSE => Box::new(VerySparse::default()),
            m if m == NYSTROM => Box::new(Subsampling::proportional(self.bless_scores(rng)?)),
            _ => Box::new(Accumulation::uniform(SUMMANDS)),
        };
        Ok(law.draw(self.points().len(), self.d, rng)?)
    }

    /// Scores of all rows against the last dictionary on BLESS's path that is small enough, its
    /// weights set to 1.
    fn bless_scores(&self, rng: &mut dyn Rng) -> anyhow::Result<Vec<f64>> {
        let (n, k) = (self.points().len(), KernelMatrix::new(self.kernel, self.points())?);
        let path =
            Bless { max_size: self.bless_size, ..Bless::default() }.path(&k, self.ridge, rng)?;
        let last = path.levels.last().filter(|level| !level.dictionary.is_empty());
        let Some(level) = last else { return Ok(vec![1.0; n]) };
        let rows = level.dictionary.indices().to_vec();
        let unit = Dictionary::new(n, rows.clone(), vec![1.0; rows.len()])?;
        Ok(Projector::new(&k, &unit, self.ridge)?.scores(&k, (0..n).into())?)
    }

    fn error(&self, model: &KrrModel<Matern32, f64>) -> anyhow::Result<f64> {
        let test = Points::from_rows(self.x_test.as_ref());
        Ok(mse(model.predict(test)?.as_ref(), self.y_test.as_ref())?)
    }
}

/// Every method on one split: directly and, if asked for, by Falkon with the same sketch. Without
/// Falkon, exact KRR up to `LARGEST_EXACT` points.
fn cell(data: &Dataset, trial: &mut Trial<'_, Set>, falkon: bool) -> anyhow::Result<()> {
    let split = Split::new(data, trial.size, &mut trial.rng("problem"))?;
    let (kernel, ridge, x, y) = (split.kernel, split.ridge, split.points(), split.y.as_ref());
    let n = trial.size;
    trial.facts(n, [("d", split.d as f64), ("λ", ridge.per_sample(n)?)]);
    for method in METHODS {
        let rng = &mut trial.rng(method.key);
        let start = Instant::now();
        let sketch = split.sketch(method, rng)?;
        let sketched = start.elapsed();
        let model = SketchedKrr::new(kernel, ridge).fit((x, y), &*sketch)?;
        trial.put(n, method, SECONDS, start.elapsed().as_secs_f64());
        trial.put(n, method, ERROR, split.error(&model)?);
        if falkon {
            let start = Instant::now();
            let solver = Falkon { options: OPTIONS, ..Falkon::new(kernel, ridge) };
            let fit = solver.fit_sketch((x, y), &*sketch)?;
            trial.put(n, method, FALKON_SECONDS, (sketched + start.elapsed()).as_secs_f64());
            trial.put(n, method, FALKON_ERROR, split.error(&fit.model)?);
            trial.put(n, method, ITERATIONS, fit.report.iterations as f64);
        }
    }
    if !falkon && n <= LARGEST_EXACT {
        let model = ExactKrr::new(kernel, ridge).fit((x, y))?;
        trial.put(n, EXACT, ERROR, split.error(&model)?);
    }
    Ok(())
}

fn claims_directly(here: &On<'_>, last: usize) -> Vec<Claim> {
    let mean =
        |measure, b| here.compare_all(("mean over n", geometric_mean), measure, ACCUMULATION, b);
    let last = |measure, a, b| here.compare(("n", last), measure, a, b);
    let claims = [
        mean(ERROR, GAUSSIAN_SKETCH).at_most("nearly 1", 1.03),
        mean(ERROR, NYSTROM).at_most("at most 1", 1.01),
        last(ERROR, ACCUMULATION, GAUSSIAN_SKETCH).at_most("nearly 1", 1.05),
        last(ERROR, ACCUMULATION, NYSTROM).at_most("at most 1", 1.02),
        mean(SECONDS, NYSTROM).at_most("nearly 1", 1.5),
        last(SECONDS, GAUSSIAN_SKETCH, ACCUMULATION).at_least("many times", 5.0),
        last(SECONDS, VERY_SPARSE, ACCUMULATION).at_least("between the two", 1.0),
        last(SECONDS, GAUSSIAN_SKETCH, VERY_SPARSE).at_least("between the two", 1.0),
    ];
    claims.map(Claim::picture).into()
}

fn claims_by_falkon(here: &On<'_>) -> Vec<Claim> {
    let xs = here.abscissae(ACCUMULATION, ERROR);
    let places = || xs.iter().flat_map(|&x| METHODS.map(|method| (x, method)));
    let over = |(x, method), a, b| here.sample(x, method, a).over(&here.sample(x, method, b));
    let change = places().map(|place| over(place, FALKON_ERROR, ERROR).off(1.0));
    let speed_up = xs.iter().map(|&x| over((x, ACCUMULATION), SECONDS, FALKON_SECONDS));
    let at = |(x, method)| {
        (here.get(x, method, FALKON_SECONDS).value, here.get(x, method, FALKON_ERROR))
    };
    let mut line: Vec<(f64, Estimate)> = xs.iter().map(|&x| at((x, ACCUMULATION))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let others = places().filter(|(_, method)| *method != ACCUMULATION);
    let at_the_same_time = others.map(at).filter_map(|(seconds, error)| {
        Some(Estimate { time: true, ..at_time(&line, seconds)?.over(error) })
    });
    let changed = "relative difference of the test errors with Falkon and directly, largest over n \
                   and methods";
    let other =
        "test error of the accumulation over that of another method in the same time, largest";
    let faster = "speed-up of the accumulation by Falkon, mean over n";
    let claims = [
        here.measured(changed, largest(change)).at_most("no change", 0.01),
        here.compare_all(("largest over n", largest), FALKON_ERROR, ACCUMULATION, GAUSSIAN_SKETCH)
            .at_most("the same order for m ≤ 32", 1.1),
        here.measured(other, largest(at_the_same_time)).at_most("at most 1", 1.01),
        here.measured(faster, geometric_mean(speed_up)).at_most("little", 1.25),
    ];
    claims.map(Claim::picture).into()
}

/// The error at a time on the line through points in order of time, as the plot draws it; later,
/// that of the last point.
fn at_time(line: &[(f64, Estimate)], seconds: f64) -> Option<Estimate> {
    let (first, last) = (line.first()?, line.last()?);
    let around = line.windows(2).find(|pair| pair[0].0 <= seconds && seconds < pair[1].0);
    let Some([before, after]) = around else { return (seconds >= first.0).then_some(last.1) };
    let share = (seconds / before.0).ln() / (after.0 / before.0).ln();
    let part = |error: Estimate, weight: f64| error.map(|value| value * weight, weight);
    Some(part(before.1, 1.0 - share).minus(part(after.1, -share)))
}
