//! Successive halving over shapes of columns, families, metrics and length scales.

mod calibrate;
mod candidate;
mod curves;
mod finish;
mod learn;
mod leave_out;
mod logistic;
mod losses;
mod rungs;
mod scales;
mod solve;
mod trial;

use crate::columns::{Columns, Shape};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::fit::Fit;
use crate::kernel::AnyKernel;
use crate::model::Model;
use crate::problem::TableProblem;
use crate::progress::{Event, Progress};
use crate::report::{Centers, Iterations, LogisticTrial, LossTrial, Report, Trial};
use crate::split::permutation;
use crate::target::{Target, TargetScale};
use candidate::Candidate;
use nystrom::faer::{Accum, Mat};
use nystrom::linalg_core::ops;
use nystrom::prelude::*;
use nystrom_data::Table;
use std::cell::RefCell;
use std::collections::HashMap;

/// More targets than this are compared by random combinations of them, of which there are so many.
const MANY_TARGETS: usize = 8;
const COMBINED: usize = 4;
/// The smallest memory of a search, in bytes.
const LEAST_MEMORY: u64 = 1 << 20;

/// A trial and the model of each fold.
type Tried = (Trial, Vec<KrrModel<AnyKernel, f64>>);

/// The state of a search.
pub(crate) struct Search<'a> {
    fit: &'a Fit,
    problem: TableProblem,
    /// The features under each shape of the columns, the plain one first.
    shapes: Vec<Shaped>,
    /// The training rows of each fold in random order: a subsample is a prefix, and random
    /// landmarks are a prefix of it.
    orders: Vec<Vec<usize>>,
    /// The validation rows of each fold in random order. Candidates are compared on all of them;
    /// what is stored of predictions is that of one partition, which has every row once.
    validation: Vec<Vec<usize>>,
    /// The number of folds of the first partition.
    partition: usize,
    /// Random combinations of many targets, until the finalists are fitted.
    combined: Option<Mat<f64>>,
    /// The scale on which trials fit the targets, and once others were tried, the targets as they
    /// are: n × t in standard units.
    scale: TargetScale,
    own: Option<(Mat<f64>, Vec<Target>)>,
    /// For each fold and target, the mean of the training rows minus that of all rows.
    offsets: Vec<Vec<f64>>,
    /// All rows in random order.
    everything: Vec<usize>,
    /// The learned metrics.
    maps: Vec<Learnt>,
    /// The trials without a metric, with the models of each fold, at which learning starts.
    plain: Vec<Tried>,
    trials: Vec<Trial>,
    /// The predictions of fits at full size for validation rows.
    validated: Vec<Validated>,
    /// The coefficients of all rows from fits at full size, at which the final fit starts.
    begun: Vec<(Candidate, Mat<f64>)>,
    best: Option<Trial>,
    /// The outcome of the iterations of the final fit.
    iterations: Option<Iterations>,
    /// For each fit that the CPU computed in place of the device, the reason.
    device_notices: RefCell<Vec<String>>,
    /// For classes: the trial of the logistic loss and, if it is better, the log-odds of validation
    /// rows.
    logistic: Option<(LogisticTrial, Option<Mat<f64>>)>,
    /// The fit with another loss than squares.
    loss: Option<LossTrial>,
    work: f64,
    allowed: f64,
    /// The work at which the present step of the search ends.
    until: f64,
    bytes: u64,
    stopped: bool,
    seed: u64,
    progress: &'a mut dyn Progress,
    /// Whether the final fit must have landmarks.
    landmarks_only: bool,
}

/// The predictions of a fit at full size for the validation rows of all folds, in units of the
/// targets, and the targets whose means they have.
struct Validated {
    candidate: Candidate,
    centers: Centers,
    /// In the units of the fit.
    f: Mat<f64>,
    values: Mat<f64>,
    targets: Vec<Target>,
}

impl Validated {
    fn is(&self, candidate: &Candidate, centers: Centers) -> bool {
        (&self.candidate, self.centers) == (candidate, centers)
    }
}

/// The features under one shape of the columns.
struct Shaped {
    shape: Shape,
    /// The fold to whose training rows the columns are fitted; `None`: to all rows.
    fold: Option<usize>,
    columns: Columns,
    /// The features of all rows.
    x: Features,
    /// The median Euclidean and L1 distances of random pairs.
    medians: [f64; 2],
}

/// A linear map, learnt for a candidate at any length scale.
#[derive(Clone)]
struct Learnt {
    candidate: Candidate,
    /// The fold whose training rows it was learnt from; `None`: all rows.
    fold: Option<usize>,
    map: Mat<f64>,
    /// The median Euclidean and L1 distances of mapped pairs.
    medians: [f64; 2],
}

/// A model, and the report of the search that found it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The report of the search.
    pub report: Report,
}

impl Fit {
    /// Searches for the best model that predicts the columns named `targets` from the other columns
    /// of `table`.
    ///
    /// # Errors
    /// Those of [`Columns::fit`](crate::Columns::fit); [`Error::TooFewRows`],
    /// [`Error::ConstantTarget`], [`Error::Values`] for impossible targets or weights,
    /// [`Error::UsedTwice`], [`Error::Option`]; [`OutOfBudget`](nystrom::Error::OutOfBudget) for
    /// less than 1 MiB of memory.
    ///
    /// # Randomness
    /// Permutations of the rows (folds, subsamples, landmarks) and the random pairs of the median
    /// distance, each from a separate stream.
    pub fn table<S: Into<String>>(
        &self,
        table: &Table,
        targets: impl IntoIterator<Item = S>,
        rng: &mut dyn Rng,
    ) -> Result<Fitted> {
        self.table_with(table, targets, &mut (), rng)
    }

    /// Like [`table`](Self::table), and reports every step to `progress`, which may stop the
    /// search.
    ///
    /// # Errors
    /// Those of [`table`](Self::table).
    ///
    /// # Randomness
    /// That of [`table`](Self::table).
    pub fn table_with<S: Into<String>>(
        &self,
        table: &Table,
        targets: impl IntoIterator<Item = S>,
        progress: &mut dyn Progress,
        rng: &mut dyn Rng,
    ) -> Result<Fitted> {
        let work = self.checked_work()?;
        let targets: Vec<String> = targets.into_iter().map(Into::into).collect();
        let problem = TableProblem::new(self, table, &targets, (None, &HashMap::new()), rng)?;
        Search::new(self, problem, work, progress, rng)?.run()
    }
}

impl<'a> Search<'a> {
    /// The state before the first step.
    ///
    /// # Randomness
    /// A permutation of the training rows for each fold, and the seed of all later draws.
    pub fn new(
        fit: &'a Fit,
        mut problem: TableProblem,
        allowed: f64,
        progress: &'a mut dyn Progress,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        if let Some(budget) = fit.memory.filter(|memory| *memory < LEAST_MEMORY) {
            let (what, needed) = ("a search", LEAST_MEMORY);
            return Err(nystrom::Error::OutOfBudget { what, needed, budget }.into());
        }
        let partition = problem.folds.len();
        repeat_folds(&mut problem, fit, allowed, rng)?;
        let (mut orders, mut validation) = (Vec::new(), Vec::new());
        for fold in &problem.folds {
            orders.push(shuffled(&fold.train, rng)?);
            validation.push(shuffled(&fold.validation, rng)?);
        }
        let everything = shuffled(&(0..problem.table.rows()).collect::<Vec<_>>(), rng)?;
        let seed = rng.next_u64();
        let mut search = Search {
            fit,
            problem,
            shapes: Vec::new(),
            orders,
            validation,
            partition,
            combined: None,
            scale: TargetScale::Plain,
            own: None,
            offsets: Vec::new(),
            everything,
            maps: Vec::new(),
            plain: Vec::new(),
            trials: Vec::new(),
            validated: Vec::new(),
            begun: Vec::new(),
            best: None,
            iterations: None,
            device_notices: RefCell::default(),
            logistic: None,
            loss: None,
            work: 0.0,
            allowed,
            until: allowed,
            bytes: 0,
            stopped: false,
            seed,
            progress,
            landmarks_only: false,
        };
        search.aim_at(search.combinations());
        search.check_loss()?;
        search.add_shape(Shape::PLAIN)?;
        Ok(search)
    }

    /// The same search for a fit with too many rows for all of them to be centres.
    pub fn with_landmarks_only(self) -> Self {
        Search { landmarks_only: true, ..self }
    }

    pub fn run(mut self) -> Result<Fitted> {
        let finalists = self.rungs()?;
        self.finish(finalists)
    }

    /// Random combinations of the targets, if there are many. The mean square of residuals over the
    /// combinations is, in expectation, that over the targets; so is that of gradients.
    fn combinations(&self) -> Option<Mat<f64>> {
        let (y, rng) = (&self.problem.y, &mut self.stream(6));
        let t = y.ncols();
        if t <= MANY_TARGETS {
            return None;
        }
        // equal signs would add classes to nothing, and equal columns count twice
        let mut columns: Vec<Vec<bool>> = vec![vec![true; t]];
        while columns.len() <= COMBINED {
            let first: Vec<bool> = (0..t).map(|_| rng.random()).collect();
            let next: Vec<bool> = first.iter().map(|sign| *sign == first[0]).collect();
            if !columns.contains(&next) {
                columns.push(next);
            }
        }
        let size = 1.0 / (t as f64).sqrt();
        let sign = |i: usize, j: usize| if columns[j + 1][i] { size } else { -size };
        let signs = Mat::from_fn(t, COMBINED, sign);
        let mut combined = Mat::zeros(y.nrows(), COMBINED);
        ops::matmul(combined.as_mut(), Accum::Replace, y.as_ref(), signs.as_ref(), 1.0);
        Some(combined)
    }

    /// From now on trials fit these combinations of the targets (`None`: the targets).
    fn aim_at(&mut self, combined: Option<Mat<f64>>) {
        self.combined = combined;
        self.plain.clear();
        self.best = None;
        self.offsets = self.orders.iter().map(|train| self.offset(train)).collect();
    }

    /// What trials fit: n × t.
    fn y(&self) -> &Mat<f64> {
        self.combined.as_ref().unwrap_or(&self.problem.y)
    }

    /// The validation rows of the first partition.
    fn validated_rows(&self) -> Vec<usize> {
        self.validation[..self.partition].concat()
    }

    fn n(&self) -> usize {
        self.problem.table.rows()
    }

    /// The largest number of features under a shape that may be chosen, or of stored ones of a
    /// sparse row: the cost of a kernel value.
    fn d(&self) -> usize {
        self.shapes.iter().map(|shaped| shaped.x.points().mean_stored()).max().unwrap_or(0)
    }

    /// The fewest training rows of a fold.
    fn train_rows(&self) -> usize {
        self.orders.iter().map(Vec::len).min().unwrap_or(0)
    }

    fn shaped(&self, shape: Shape, fold: Option<usize>) -> &Shaped {
        let is = |shaped: &&Shaped| (shaped.shape, shaped.fold) == (shape, fold);
        self.shapes.iter().find(is).unwrap_or(&self.shapes[0])
    }

    /// Computes the features under a shape for every fold, and returns whether they differ from
    /// those under other shapes. Means by level are refused if a sample has copies of rows, since
    /// the sums over a stream cannot leave out the copies of a row.
    fn add_shape(&mut self, shape: Shape) -> Result<bool> {
        if shape.level_means && self.problem.copies_in_sample {
            return Ok(false);
        }
        for fold in 0..self.orders.len() {
            let rows = self.problem.folds[fold].train.clone();
            let shaped = match self.shape_of(shape, (Some(fold), Some(&rows))) {
                // the training rows of a fold may have no feature that varies
                Err(Error::NoFeatures { .. }) => self.shape_of(shape, (Some(fold), None))?,
                found => found?,
            };
            let alike = |other: &Shaped| other.fold == Some(0) && other.columns == shaped.columns;
            if fold == 0 && self.shapes.iter().any(alike) {
                return Ok(false);
            }
            self.shapes.push(shaped);
        }
        Ok(true)
    }

    /// Adds the features under a shape with the columns fitted to all rows, and removes other
    /// shapes.
    fn whole(&mut self, shape: Shape) -> Result<()> {
        let shaped = self.shape_of(shape, (None, None))?;
        self.shapes.retain(|other| other.shape == shape);
        self.shapes.push(shaped);
        Ok(())
    }

    fn shape_of(
        &self,
        shape: Shape,
        (fold, rows): (Option<usize>, Option<&[usize]>),
    ) -> Result<Shaped> {
        let (columns, x) = self.problem.features(&self.fit.columns, shape, rows)?;
        let medians = candidate::medians(x.points(), &mut Pcg64::seed_from_u64(self.seed))?;
        Ok(Shaped { shape, fold, columns, x, medians })
    }

    /// A generator for one purpose, which does not depend on the draws for others.
    fn stream(&self, purpose: u64) -> Pcg64 {
        Pcg64::seed_from_u64(self.seed.wrapping_add(purpose))
    }

    /// Reports the next step, and returns whether the search continues.
    fn goes_on(&mut self, what: &str) -> bool {
        let done = (self.work / self.allowed).min(1.0);
        let event = Event { what, done, best: self.best.as_ref() };
        self.stopped |= self.progress.told(event).is_break();
        !self.stopped
    }
}

/// Adds the folds of further partitions, as many as the work allows.
fn repeat_folds(
    problem: &mut TableProblem,
    fit: &Fit,
    allowed: f64,
    rng: &mut dyn Rng,
) -> Result<()> {
    let classes = problem.labels.as_ref().map(|labels| &labels.of[..]);
    for _ in 1..fit.split.partitions(problem.table.rows(), problem.y.ncols(), allowed) {
        problem.folds.extend(fit.split.folds_by(&problem.table, classes, rng)?);
    }
    Ok(())
}

fn shuffled(rows: &[usize], rng: &mut dyn Rng) -> Result<Vec<usize>> {
    Ok(permutation(rows.len(), rng)?.into_iter().map(|i| rows[i]).collect())
}
