//! The eight data sets of Li, Jegelka & Sra (2016) as the paper prepares them: random subsets, an RBF kernel, σ and λ by ten-fold
//! cross-validation.

use std::sync::Mutex;

use nystrom::faer::Mat;
use nystrom::kernels::{Gaussian, KernelMatrix, Points, median_heuristic};
use nystrom::krr::{CrossValidation, ExactGrid, lambda_grid};
use nystrom::linalg_core::{Ridge, random};
use nystrom_data::Dataset;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::context::experiment_seed;
use crate::datasets::standardized;
use crate::experiment::{Context, Lookup, MissingData};

/// A data set by the paper's name and the catalog's.
#[derive(Debug, Clone, Copy)]
pub struct Set {
    /// The paper's name.
    pub label: &'static str,
    /// The catalog's.
    pub name: &'static str,
}

/// The paper's eight sets.
pub const SETS: [Set; 8] = [
    Set { label: "Abalone", name: "abalone" },
    Set { label: "Ailerons", name: "ailerons" },
    Set { label: "Elevators", name: "elevators" },
    Set { label: "CompAct", name: "cpu-act" },
    Set { label: "CompAct(s)", name: "cpu-small" },
    Set { label: "Bank32NH", name: "bank32nh" },
    Set { label: "Bank8FM", name: "bank8fm" },
    Set { label: "California Housing", name: "california-housing" },
];

/// The names of the eight sets in the catalog, for [`Experiment::data`](crate::experiment::Experiment::data).
pub const NAMES: &[&str] =
    &["abalone", "ailerons", "elevators", "cpu-act", "cpu-small", "bank32nh", "bank8fm", "california-housing"];

/// Multiples of the median distance that are tried for σ.
const SIGMAS: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Samples that the cross-validation uses at most: n³ work for each of its 360 fits. The paper says nothing of a subset.
const CV_ROWS: [usize; 3] = [150, 600, 3000];

/// What ten-fold cross-validation chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Bandwidth of exp(−‖x − y‖²/(2σ²)) on standardised features.
    pub sigma: f64,
    /// λ in K + nλI; the paper's γ.
    pub lambda: f64,
}

/// One random subset of a data set.
pub struct Problem {
    /// n × d, standardised features.
    pub x: Mat<f64>,
    /// n × 1, centred and scaled by the deviation of the whole set, so that a mean squared error of 1 is that of the mean.
    pub y: Mat<f64>,
    /// The test points.
    pub x_test: Mat<f64>,
    /// Their targets.
    pub y_test: Mat<f64>,
    /// σ and λ.
    pub chosen: Chosen,
}

impl Problem {
    /// The training points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref())
    }

    /// The kernel with the chosen bandwidth.
    pub fn kernel(&self) -> anyhow::Result<Gaussian> {
        Ok(Gaussian::new(self.chosen.sigma)?)
    }

    /// K on the training points, not stored.
    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, Gaussian>> {
        Ok(KernelMatrix::new(self.kernel()?, self.points())?)
    }

    /// The chosen λ.
    pub fn ridge(&self) -> Ridge<f64> {
        Ridge::PerSample(self.chosen.lambda)
    }
}

/// Subset number `part` of a set: `n` training and `n_test` test rows, drawn without replacement; the same rows in every experiment.
pub fn problem(
    ctx: &Context,
    set: Set,
    part: usize,
    n: usize,
    n_test: usize,
) -> anyhow::Result<Result<Problem, MissingData>> {
    let data = match ctx.dataset(set.name)? {
        Lookup::Found(data) => data,
        Lookup::Missing(missing) => return Ok(Err(missing)),
    };
    let (x, y) = standardized_set(&data)?;
    let chosen = cross_validated(set, &x, &y, ctx.pick(CV_ROWS[0], CV_ROWS[1], CV_ROWS[2]))?;
    let rng = &mut generator(&format!("{}, subset {part}", set.name));
    let rows = random::uniform_subset(x.nrows(), (n + n_test).min(x.nrows()), rng)?;
    let (train, test) = rows.split_at(n.min(rows.len()));
    Ok(Ok(Problem {
        x: gather(&x, train),
        y: gather(&y, train),
        x_test: gather(&x, test),
        y_test: gather(&y, test),
        chosen,
    }))
}

/// Features and target, each column with mean 0 and variance 1.
fn standardized_set(data: &Dataset) -> anyhow::Result<(Mat<f64>, Mat<f64>)> {
    let y = Mat::from_fn(data.y.len(), 1, |i, _| data.y[i]);
    Ok((standardized(data.x.as_ref())?, standardized(y.as_ref())?))
}

fn gather(a: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

/// Subsets and folds belong to the set, not to the experiment, and are drawn once for all of them.
fn generator(what: &str) -> Pcg64 {
    Pcg64::seed_from_u64(experiment_seed(0, &format!("Li, Jegelka & Sra 2016: {what}")))
}

/// σ and λ of smallest ten-fold cross-validation error on at most `rows` rows; kept for the next experiment of this run.
fn cross_validated(set: Set, x: &Mat<f64>, y: &Mat<f64>, rows: usize) -> anyhow::Result<Chosen> {
    static KEPT: Mutex<Vec<((&str, usize), Chosen)>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = kept().iter().find(|(key, _)| *key == (set.name, rows)).map(|(_, chosen)| *chosen);
    if let Some(chosen) = known {
        return Ok(chosen);
    }
    let rng = &mut generator(&format!("{}, cross-validation", set.name));
    let sample = random::uniform_subset(x.nrows(), rows.min(x.nrows()), rng)?;
    let (x, y) = (gather(x, &sample), gather(y, &sample));
    let points = Points::from_rows(x.as_ref());
    let median: f64 = median_heuristic(points, 10_000, rng)?;
    let kernels = SIGMAS.iter().map(|s| Gaussian::new(s * median)).collect::<Result<Vec<_>, _>>()?;
    let ridges = lambda_grid(1e-1, 1e-8, 8)?;
    let table = CrossValidation::default().run(&ExactGrid::default(), &kernels, &ridges, points, y.as_ref(), rng)?;
    let best = table.best().ok_or_else(|| anyhow::anyhow!("{}: no candidate predicts finite numbers", set.label))?;
    let Ridge::PerSample(lambda) = ridges[best.ridge] else { unreachable!("lambda_grid gives λ") };
    let chosen = Chosen { sigma: SIGMAS[best.kernel] * median, lambda };
    kept().push(((set.name, rows), chosen));
    Ok(chosen)
}
