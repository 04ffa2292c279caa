//! Successive halving over shapes of columns, families, metrics and length scales.

mod candidate;
mod finish;
mod rungs;
mod solve;
mod trial;

use crate::columns::{Columns, Shape};
use crate::effort::{Size, path_work};
use crate::error::{Error, Result};
use crate::fit::{Fit, Fitted};
use crate::problem::Problem;
use crate::progress::{Event, Progress};
use crate::report::{Metric, Trial};
use nystrom::faer::Mat;
use nystrom::linalg_core::random;
use nystrom::prelude::*;

/// Landmarks of the plain default.
const PLAIN_LANDMARKS: usize = 500;
/// Shares of the work: families on few rows, metrics on more, length scales of the best; the final
/// fits take what is left.
const SHARES: [f64; 3] = [0.12, 0.28, 0.15];
/// The least memory in which a search makes sense.
const LEAST_MEMORY: u64 = 1 << 20;

/// A search under way.
pub(crate) struct Search<'a> {
    fit: &'a Fit,
    problem: Problem,
    /// The shapes of the columns that differ, the plain one first.
    shapes: Vec<Shaped>,
    /// Per fold its training rows in random order: subsamples are prefixes, landmarks prefixes of
    /// those.
    orders: Vec<Vec<usize>>,
    /// Metrics that were learnt: of which shape and fold, and what.
    maps: Vec<Learnt>,
    trials: Vec<Trial>,
    best: Option<Trial>,
    work: f64,
    allowed: f64,
    bytes: u64,
    stopped: bool,
    seed: u64,
    progress: &'a mut dyn Progress,
}

/// The features under one treatment of skewed columns.
struct Shaped {
    shape: Shape,
    columns: Columns,
    x: Mat<f64>,
    /// Median Euclidean and L1 distance of random pairs.
    medians: [f64; 2],
}

/// A linear map, learnt from the training rows of a fold.
struct Learnt {
    shape: Shape,
    metric: Metric,
    fold: usize,
    map: Mat<f64>,
    /// Median Euclidean and L1 distance of mapped pairs.
    medians: [f64; 2],
}

impl<'a> Search<'a> {
    pub fn new(
        fit: &'a Fit,
        problem: Problem,
        allowed: f64,
        progress: &'a mut dyn Progress,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        if let Some(memory) = fit.memory.filter(|memory| *memory < LEAST_MEMORY) {
            let (what, unit) = ("a search", "bytes");
            let (needed, allowed) = (LEAST_MEMORY as f64, memory as f64);
            return Err(Error::Budget { what, needed, allowed, unit });
        }
        let orders = problem.folds.iter().map(|fold| shuffled(&fold.train, rng));
        let orders = orders.collect::<Result<Vec<_>>>()?;
        let seed = rng.next_u64();
        let mut shapes: Vec<Shaped> = Vec::new();
        for shape in [Shape::Plain, Shape::Log] {
            let (columns, x) = problem.features(&fit.columns, shape)?;
            if shapes.iter().all(|other| other.columns != columns) {
                let medians = candidate::medians(x.as_ref(), &mut Pcg64::seed_from_u64(seed))?;
                shapes.push(Shaped { shape, columns, x, medians });
            }
        }
        Ok(Search {
            fit,
            problem,
            shapes,
            orders,
            maps: Vec::new(),
            trials: Vec::new(),
            best: None,
            work: 0.0,
            allowed,
            bytes: 0,
            stopped: false,
            seed,
            progress,
        })
    }

    pub fn run(mut self) -> Result<Fitted> {
        let finalists = self.rungs()?;
        self.finish(finalists)
    }

    fn n(&self) -> usize {
        self.problem.table.rows()
    }

    fn d(&self) -> usize {
        self.shapes[0].x.ncols()
    }

    /// The fewest training rows of a fold.
    fn train_rows(&self) -> usize {
        self.orders.iter().map(Vec::len).min().unwrap_or(0)
    }

    fn shaped(&self, shape: Shape) -> &Shaped {
        self.shapes.iter().find(|shaped| shaped.shape == shape).unwrap_or(&self.shapes[0])
    }

    /// A generator for one purpose, whatever was drawn for others.
    fn stream(&self, purpose: u64) -> Pcg64 {
        Pcg64::seed_from_u64(self.seed.wrapping_add(purpose))
    }

    /// Tells of the next step; whether the search goes on.
    fn goes_on(&mut self, what: &str) -> bool {
        let done = (self.work / self.allowed).min(1.0);
        let event = Event { what, done, best: self.best.as_ref() };
        self.stopped |= self.progress.told(event).is_break();
        !self.stopped
    }

    /// The size of each of `count` trials that together take this share of the work.
    fn size(&self, share: f64, count: usize) -> Size {
        let work = share * self.allowed / (count * self.orders.len()).max(1) as f64;
        Size::within(work, self.train_rows(), self.d(), self.fit.memory)
    }

    fn counts(&mut self, size: Size) {
        self.work += path_work(size.rows as f64, size.landmarks as f64, self.d());
    }
}

fn shuffled(rows: &[usize], rng: &mut dyn Rng) -> Result<Vec<usize>> {
    let order = random::uniform_subset(rows.len(), rows.len(), rng)?;
    Ok(order.into_iter().map(|i| rows[i]).collect())
}
