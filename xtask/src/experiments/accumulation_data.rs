//! Sketched regression on a real data set: what Figures 3 and 4 of Chen & Yang 2021 (accumulations) share.

use std::time::Instant;

use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern32, Points};
use nystrom::krr::{ExactKrr, SketchedKrr, metrics::mse};
use nystrom::leverage::{Bless, Projector};
use nystrom::linalg_core::{Ridge, random};
use nystrom::sketch::{Accumulation, Dictionary, GaussianSketch, SketchDistribution, Subsampling, VerySparse};
use nystrom_data::Dataset;
use rand::Rng;

use super::statistics::{mean_and_error, quantile};
use crate::datasets::standardized;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Outcome, Plot, Point, Table};

/// m of the accumulation.
const SUMMANDS: usize = 4;
/// Share of the rows held out.
const TEST_SHARE: f64 = 0.2;
/// Exact KRR is run up to this n, as a line to compare with.
const LARGEST_EXACT: usize = 4000;
/// Name in the legend and style.
const METHODS: [(&str, &str); 4] = [
    ("Gaussian sketch", "gaussian-sketch"),
    ("very sparse (VSRP)", "very-sparse"),
    ("Nyström, BLESS", "bless"),
    ("accumulation, m = 4", "accumulated"),
];
const GAUSSIAN: usize = 0;
const VERY_SPARSE: usize = 1;
const BLESS: usize = 2;
const ACCUMULATION: usize = 3;

/// What the experiments say about their settings.
pub const CHOICES: &str = "Features scaled to variance 1; 20 % of the rows held out at random, n of the others drawn for the fit. Matérn kernel with ν = 3/2 and ℓ = 1 (the \
    paper leaves ℓ open), λ = 0.9·n^(−(3+p)/(3+2p)) and d = ⌊1.5·n^(p/(3+2p))⌋ columns for p features. Nyström's rows are drawn in proportion to scores \
    against the last dictionary on BLESS's path that has at most ⌊3·n^(p/(3+2p))⌋ rows, with unit weights, for they are fewer than d_eff; these scores are \
    part of its time. Rows of the accumulation are drawn uniformly. \
    Exact KRR, run for n ≤ 4000, is well below all of them: with these d the error is that of the sketches' size. The target is centred. Times are medians, of the sketch and the fit, on all threads.";

/// One data set and what is run on it.
pub struct Case<'a> {
    /// Name in titles.
    pub label: &'a str,
    /// Name in file names.
    pub id: &'a str,
    pub data: &'a Dataset,
    /// n and repetitions.
    pub sizes: &'a [(usize, usize)],
}

/// Errors and times of every method at one n, one of each per repetition.
struct Measured {
    n: usize,
    d: usize,
    lambda: f64,
    errors: [Vec<f64>; 4],
    seconds: [Vec<f64>; 4],
    exact: Vec<f64>,
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

/// A split of the data: n rows to fit, the held-out ones to test.
struct Split {
    x: Mat<f64>,
    y: Mat<f64>,
    x_test: Mat<f64>,
    y_test: Mat<f64>,
}

impl Case<'_> {
    /// Runs every method at every size and adds plots, a table and claims to `out`.
    ///
    /// # Errors
    /// Those of the methods.
    pub fn run(&self, ctx: &Context, out: &mut Outcome) -> anyhow::Result<()> {
        let total = self.sizes.iter().map(|s| s.1).sum();
        let stage = ctx.progress.begin(&format!("{}: splits", self.label), total);
        let x = standardized(self.data.x.as_ref())?;
        let p = x.ncols() as f64;
        let mut all = vec![];
        for &(n, repetitions) in self.sizes {
            let power = |numerator: f64| (n as f64).powf(numerator / (3.0 + 2.0 * p));
            let mut at = Measured {
                n,
                d: (1.5 * power(p)) as usize,
                lambda: 0.9 / power(3.0 + p),
                errors: Default::default(),
                seconds: Default::default(),
                exact: vec![],
            };
            for r in 0..repetitions {
                let name = format!("{}, n = {n}, repetition {r}", self.id);
                let split = self.split(&x, n, &mut ctx.rng(&name))?;
                self.repetition(ctx, &name, &split, (3.0 * power(p)) as usize, &mut at)?;
                stage.inc(1);
            }
            all.push(at);
        }
        out.plots.extend(self.plots(&all));
        out.tables.push(self.table(&all));
        out.claims.extend(self.claims(&all));
        Ok(())
    }

    fn split(&self, x: &Mat<f64>, n: usize, rng: &mut dyn Rng) -> anyhow::Result<Split> {
        let rows = x.nrows();
        let test = (TEST_SHARE * rows as f64) as usize;
        let order = random::uniform_subset(rows, (test + n).min(rows), rng)?;
        let mean = self.data.y.iter().sum::<f64>() / rows as f64;
        let features = |rows: &[usize]| Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]);
        let target = |rows: &[usize]| Mat::from_fn(rows.len(), 1, |i, _| self.data.y[rows[i]] - mean);
        let (held_out, fitted) = order.split_at(test);
        Ok(Split { x: features(fitted), y: target(fitted), x_test: features(held_out), y_test: target(held_out) })
    }

    fn repetition(
        &self,
        ctx: &Context,
        name: &str,
        split: &Split,
        bless_size: usize,
        at: &mut Measured,
    ) -> anyhow::Result<()> {
        let (kernel, ridge) = (Matern32::new(1.0)?, Ridge::PerSample(at.lambda));
        let (x, test) = (Points::from_rows(split.x.as_ref()), Points::from_rows(split.x_test.as_ref()));
        let krr = SketchedKrr::new(kernel, ridge);
        for (method, (label, _)) in METHODS.into_iter().enumerate() {
            let rng = &mut ctx.rng(&format!("{name}, {label}"));
            let start = Instant::now();
            let law: Box<dyn SketchDistribution<f64>> = match method {
                GAUSSIAN => Box::new(GaussianSketch),
                VERY_SPARSE => Box::new(VerySparse::default()),
                BLESS => Box::new(Subsampling::proportional(bless_scores(x, kernel, ridge, bless_size, rng)?)),
                _ => Box::new(Accumulation::uniform(SUMMANDS)),
            };
            let sketch = law.draw(x.len(), at.d, rng)?;
            let model = krr.fit(x, split.y.as_ref(), &*sketch)?;
            at.seconds[method].push(start.elapsed().as_secs_f64());
            at.errors[method].push(mse(model.predict(test)?.as_ref(), split.y_test.as_ref())?);
        }
        if at.n <= LARGEST_EXACT {
            let model = ExactKrr::new(kernel, ridge).fit(x, split.y.as_ref())?;
            at.exact.push(mse(model.predict(test)?.as_ref(), split.y_test.as_ref())?);
        }
        Ok(())
    }

    fn plots(&self, all: &[Measured]) -> Vec<Plot> {
        let (n, error, time) = ("number of points n", "test error (mean squared)", "time of sketch and fit / s");
        let plot = |kind: &str, what: &str, x: Axis, y: Axis| {
            Plot::new(&format!("{kind}-{}", self.id), &format!("{}: {what}", self.label), x, y)
        };
        let mut errors = plot("error", "test error, mean with standard errors", Axis::log(n), Axis::linear(error));
        let mut times = plot("time", "time of sketch and fit, median", Axis::log(n), Axis::log(time));
        let mut both = plot(
            "error-time",
            "test error against time, n growing along each line",
            Axis::log(time),
            Axis::linear(error),
        );
        for (method, (name, style)) in METHODS.into_iter().enumerate() {
            let bar = |at: &Measured| {
                let (mean, s) = mean_and_error(&at.errors[method]);
                Point::with_range(at.n as f64, mean, mean - s, mean + s)
            };
            errors.line_and_points(name, style, all.iter().map(bar));
            times.line_and_points(name, style, all.iter().map(|at| Point::new(at.n as f64, at.time(method))));
            both.line_and_points(name, style, all.iter().map(|at| Point::new(at.time(method), at.error(method))));
        }
        let exact = all.iter().filter(|at| !at.exact.is_empty());
        errors.line_and_points(
            "exact KRR",
            "exact",
            exact.map(|at| Point::new(at.n as f64, mean_and_error(&at.exact).0)),
        );
        vec![errors, times, both]
    }

    fn table(&self, all: &[Measured]) -> Table {
        let heads = ["n", "splits", "d", "λ", "exact KRR: error"].map(Column::new).into_iter();
        let methods = METHODS.into_iter().flat_map(|(name, _)| {
            [
                Column::new(&format!("{name}: error")),
                Column::new("s.e."),
                Column::with_unit(&format!("{name}: time"), "s"),
            ]
        });
        let title = format!("{}: mean test error and median time", self.label);
        let mut table = Table::new(&format!("test-{}", self.id), &title, heads.chain(methods));
        for at in all {
            let exact = (!at.exact.is_empty()).then(|| mean_and_error(&at.exact).0);
            let head = [Cell::from(at.n), at.errors[0].len().into(), at.d.into(), at.lambda.into(), exact.into()];
            let cells = (0..METHODS.len()).flat_map(|method| {
                let (mean, s) = mean_and_error(&at.errors[method]);
                [mean, s, at.time(method)].map(Cell::from)
            });
            table.push(head.into_iter().chain(cells));
        }
        table
    }

    fn claims(&self, all: &[Measured]) -> Vec<Claim> {
        let (label, last) = (self.label, &all[all.len() - 1]);
        let mean = |ratio: &dyn Fn(&Measured) -> f64| {
            (all.iter().map(|at| ratio(at).ln()).sum::<f64>() / all.len() as f64).exp() // geometric, over n
        };
        let error_over = |other: usize| mean(&|at| at.error(ACCUMULATION) / at.error(other));
        let fastest = |at: &Measured| (0..METHODS.len()).map(|method| at.time(method)).fold(f64::INFINITY, f64::min);
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
}

/// Scores of all rows against the last dictionary on BLESS's path that has at most `size` rows, its weights set to 1.
fn bless_scores(
    x: Points<'_, f64>,
    kernel: Matern32,
    ridge: Ridge<f64>,
    size: usize,
    rng: &mut dyn Rng,
) -> anyhow::Result<Vec<f64>> {
    let k = KernelMatrix::new(kernel, x)?;
    let path = Bless { max_size: size, ..Bless::default() }.path(&k, ridge, rng)?;
    let last = path.levels.last().filter(|level| !level.dictionary.is_empty());
    let Some(level) = last else { return Ok(vec![1.0; x.len()]) };
    let rows = level.dictionary.indices().to_vec();
    let unit = Dictionary::new(x.len(), rows.clone(), vec![1.0; rows.len()])?;
    Ok(Projector::new(&k, &unit, ridge)?.scores(&k, (0..x.len()).into())?)
}
