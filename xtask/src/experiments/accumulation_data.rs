//! Regression on real data as in Figures 3, 4 and 5 of Chen & Yang 2021 (accumulations): sets,
//! splits, settings, sketches.

use std::time::Instant;

use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern32, Points};
use nystrom::krr::{ExactKrr, Falkon, IterativeOptions, KrrModel, SketchedKrr, metrics::mse};
use nystrom::leverage::{Bless, Projector};
use nystrom::linalg_core::{Ridge, random};
use nystrom::sketch::{
    Accumulation, Dictionary, GaussianSketch, Sketch, SketchDistribution, Subsampling, VerySparse,
};
use nystrom_data::catalog::{self, Verify};
use nystrom_data::{Constant, Dataset, Standardize, Standardizer};
use rand::Rng;

use crate::experiment::Context;
use crate::lab::{Draw, LAMBDA, Measure, labelled};
use crate::method::{self, Method};

pub const GAUSSIAN: Method = method::GAUSSIAN_SKETCH;
pub const VERY_SPARSE: Method = method::VERY_SPARSE;
pub const NYSTROM: Method = method::BLESS.called("Nyström, BLESS");
pub const ACCUMULATION: Method = method::ACCUMULATED.called("accumulation, m = 4");
pub const METHODS: [Method; 4] = [GAUSSIAN, VERY_SPARSE, NYSTROM, ACCUMULATION];
/// m of the accumulation.
const SUMMANDS: usize = 4;
/// Share of the rows held out.
const TEST_SHARE: f64 = 0.2;
/// Exact KRR is run up to this n, as a line to compare with.
const LARGEST_EXACT: usize = 4000;
/// When Falkon stops, and the memory it may keep KS in.
const OPTIONS: IterativeOptions =
    IterativeOptions { tolerance: 1e-6, max_iterations: 100, memory: Some(1 << 30) };

pub const ERROR: Measure = Measure::new("test error", "test error (mean squared)");
pub const SECONDS: Measure = Measure::time("time", "time of sketch and fit / s");
pub const FALKON_ERROR: Measure =
    Measure::new("test error with Falkon", "test error (mean squared), Falkon");
pub const FALKON_SECONDS: Measure =
    Measure::time("time with Falkon", "time of sketch and fit by Falkon / s");
pub const ITERATIONS: Measure = Measure::new("iterations of Falkon", "iterations");
pub const COLUMNS: Measure = Measure::named("d");

/// One of the paper's data sets.
pub struct Set {
    label: &'static str,
    /// Its name in the catalog.
    pub data: &'static str,
}

pub const RQA: Set = Set { label: "RQA", data: "query-analytics-rqa" };
pub const CASP: Set = Set { label: "CASP", data: "casp" };
pub const GAS: Set = Set { label: "GAS", data: "gas-turbine" };

labelled!(Set);

impl Set {
    /// The data. For GAS all columns but the target are features; the catalog leaves out CO.
    ///
    /// # Errors
    /// [`MissingData`](crate::datasets::MissingData); those of reading.
    pub fn load(ctx: &Context<'_>, set: &Set) -> anyhow::Result<Dataset> {
        let data = ctx.dataset(set.data)?;
        Ok(match &ctx.data_dir {
            Some(dir) if set.label == GAS.label => {
                catalog::load_table(dir, set.data, Verify::default())?
                    .into_dataset(data.target_name.as_str())?
            }
            _ => data,
        })
    }
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
        let options = Standardize { constant: Constant::ScaleByOne, ..Standardize::default() };
        let scale = Standardizer::fit(drawn.x.as_ref(), &[], options)?;
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
            m if m == GAUSSIAN => Box::new(GaussianSketch),
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
pub fn cell(data: &Dataset, draw: &mut Draw<'_, Set>, falkon: bool) -> anyhow::Result<()> {
    let split = Split::new(data, draw.size, &mut draw.rng("problem"))?;
    let (kernel, ridge, x, y) = (split.kernel, split.ridge, split.points(), split.y.as_ref());
    draw.facts([(COLUMNS, split.d as f64), (LAMBDA, ridge.per_sample(draw.size)?)]);
    for method in METHODS {
        let rng = &mut draw.rng(method.key);
        let start = Instant::now();
        let sketch = split.sketch(method, rng)?;
        let sketched = start.elapsed();
        let model = SketchedKrr::new(kernel, ridge).fit((x, y), &*sketch)?;
        draw.put(method, SECONDS, start.elapsed().as_secs_f64());
        draw.put(method, ERROR, split.error(&model)?);
        if falkon {
            let start = Instant::now();
            let fit = Falkon { options: OPTIONS, ..Falkon::new(kernel, ridge) }
                .fit_sketch((x, y), &*sketch)?;
            draw.put(method, FALKON_SECONDS, (sketched + start.elapsed()).as_secs_f64());
            draw.put(method, FALKON_ERROR, split.error(&fit.model)?);
            draw.put(method, ITERATIONS, fit.report.iterations as f64);
        }
    }
    if !falkon && draw.size <= LARGEST_EXACT {
        let model = ExactKrr::new(kernel, ridge).fit((x, y))?;
        draw.put(method::EXACT, ERROR, split.error(&model)?);
    }
    Ok(())
}
