//! Leave-one-out errors of a path, by one more pass over the rows.

use super::RowSums;
use super::bytes::{Hash, Reader, Writer, wrong};
use super::path::StatePath;
use super::waiting::Waiting;
use crate::Problem;
use crate::path::Family;
use crate::path::errors::Sums;
use crate::path::family::Basis;
use crate::path::features::Pass;
use crate::rows::{FeatureRows, KernelRows};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Scalar, validate};
use std::sync::Arc;

/// Which sums these are, in a file.
const KIND: u8 = 2;

/// The sums of squared leave-one-out errors of a [`StatePath`], at all its ridges, over rows that
/// are seen once more.
///
/// The formula is that of [`NystromKrr::path`](crate::NystromKrr::path): (y_i − f(x_i))/(1 − h_i),
/// exact, from the eigenvectors that the path has. Rows come in blocks, from files or on other
/// machines, and sums [merge](Self::merge).
///
/// # Cost
/// m kernel values and 2m² + 2mL(1 + t) flops a row, for L ridges and t targets; m² numbers for V,
/// shared by all sums of one path, and tiles of 1024·(m + L + Lt).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, lambda_grid};
/// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin() + 0.1 * (i as f64 * 9.7).sin());
/// let centers: Vec<f64> = (0..20).map(|j| f64::from(j) / 10.0).collect();
/// let mut state = NormalEquations::new(Gaussian::new(0.2)?, Points::from_slice(&centers), 1)?;
/// state.accumulate((Points::from_slice(&x), &y))?;
/// let path = state.path(&lambda_grid(1.0, 1e-9, 10)?)?;
/// // the rows once more
/// let mut errors = path.errors();
/// errors.accumulate((Points::from_slice(&x), &y))?;
/// let loo = errors.leave_one_out()?;
/// let best = (0..loo.len()).min_by(|&a, &b| loo[a].total_cmp(&loo[b])).unwrap();
/// let model = path.model_at(path.points[best].ridge)?;
/// assert!(loo[best].sqrt() < 0.075 && model.report().n == 2000);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PathErrors<K, T> {
    shared: Arc<Shared<K, T>>,
    sums: Sums,
    waiting: Waiting<T>,
    rows: u64,
    weight: f64,
}

/// What all sums of one path have in common.
#[derive(Debug)]
struct Shared<K, T> {
    family: Arc<Family<K, T>>,
    shift: Option<Vec<f64>>,
    mus: Vec<f64>,
    fingerprint: u64,
}

impl<T: Scalar, K: Kernel<T> + Clone> StatePath<K, T> {
    /// The leave-one-out errors of this path, over no rows yet.
    #[must_use]
    pub fn errors(&self) -> PathErrors<K, T> {
        let mus: Vec<f64> = self.points.iter().map(|point| point.mu).collect();
        let hash = Hash::new().integer(self.fingerprint);
        let values = mus.iter().chain(&self.family.spectrum.values);
        let fingerprint = values.fold(hash, |hash, x| hash.number(*x)).value();
        let (family, shift) = (self.family.clone(), self.shift.clone());
        PathErrors::over_no_rows(Arc::new(Shared { family, shift, mus, fingerprint }))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> PathErrors<K, T> {
    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (d, t) = (shared.family.centers.nrows(), shared.family.targets());
        let sums = Sums::zeros(shared.mus.len(), t);
        PathErrors { shared, sums, waiting: Waiting::new(d, t), rows: 0, weight: 0.0 }
    }

    /// Errors over no rows that these can be merged with.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    /// Rows seen.
    pub fn rows(&self) -> u64 {
        self.rows + self.waiting.len() as u64
    }

    /// Takes the rows of a block, after those before it.
    ///
    /// # Errors
    /// As [`FitState::accumulate`](crate::FitState::accumulate).
    pub fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()> {
        let block = block.into();
        let family = self.shared.family.clone();
        block.check_block(&family.kernel)?;
        Points::from_cols(family.centers.as_ref()).check_same_dim(block.x)?;
        validate::same_size(
            "targets of the block against those of the path",
            family.targets(),
            block.y.ncols(),
        )?;
        for i in 0..block.x.len() {
            self.waiting.push(block, i);
            if self.waiting.is_full() {
                self.take_waiting()?;
            }
        }
        Ok(())
    }

    /// Adds the rows that wait for a whole tile.
    fn take_waiting(&mut self) -> Result<()> {
        let taken = self.waiting.len();
        let Shared { family, shift, mus, .. } = &*self.shared;
        let Basis::Features { V, whitener, .. } = &family.basis else { return Ok(()) };
        if taken == 0 {
            return Ok(());
        }
        let samples = self.waiting.first(taken);
        let centers = Points::from_cols(family.centers.as_ref());
        let source = KernelRows { kernel: &family.kernel, centers };
        let rows = FeatureRows::with_shift(&source, whitener, samples, shift.clone());
        let pass = Pass::new(&rows, &family.spectrum, V, mus);
        let mut room = pass.room();
        let residuals = pass.residuals(&mut room, 0..taken)?;
        self.sums.add(&residuals, |i| room.counts(i));
        self.rows += taken as u64;
        self.weight += rows.totals.weight;
        self.waiting.drop_first(taken);
        Ok(())
    }

    /// Adds the rows of other errors, as if they came after these.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for those of another path; these are then as they were.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        self.check_fingerprint(other.shared.fingerprint)?;
        self.take_waiting()?;
        other.take_waiting()?;
        let mine = std::mem::replace(&mut self.sums, Sums::zeros(0, 0));
        self.sums = mine.plus(other.sums);
        self.rows += other.rows;
        self.weight += other.weight;
        Ok(())
    }

    fn check_fingerprint(&self, other: u64) -> Result<()> {
        if other == self.shared.fingerprint {
            return Ok(());
        }
        Err(wrong("they are the errors of another path".into()))
    }

    /// Mean square of the leave-one-out residuals at every ridge of the path, over targets and
    /// (weighted) rows: [`PathPoint::loo`](crate::PathPoint::loo).
    ///
    /// # Errors
    /// [`Error::Shape`] unless all rows of the path were seen, and no others.
    pub fn leave_one_out(&mut self) -> Result<Vec<f64>> {
        self.take_waiting()?;
        let Shared { family, mus, .. } = &*self.shared;
        let what = "rows of the path when seen again";
        let (expected, got) = (family.spectrum.n, self.rows as usize);
        if expected != got {
            return Err(Error::Shape { what, expected, got });
        }
        let t = family.targets();
        let total = t as f64 * self.weight;
        let mean = |l: usize| self.sums.loo[l * t..(l + 1) * t].iter().sum::<f64>() / total;
        Ok((0..mus.len()).map(mean).collect())
    }

    /// How many numbers there are in a file.
    fn numbers(&self) -> usize {
        4 + 2 * self.sums.loo.len()
    }

    /// The errors as bytes, as [`FitState::to_bytes`](crate::FitState::to_bytes).
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.take_waiting()?;
        let mut out = Writer::new(KIND, self.numbers());
        let integers = [self.shared.fingerprint, self.rows, self.sums.rows as u64];
        integers.into_iter().for_each(|x| out.integer(x));
        out.number(self.weight);
        out.numbers(&self.sums.loo);
        out.numbers(&self.sums.training);
        Ok(out.finish())
    }

    /// The errors that [`to_bytes`](Self::to_bytes) wrote, of the same path; those of `self` play
    /// no part.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for damaged bytes and those of another path.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, KIND, self.numbers())?;
        self.check_fingerprint(reader.integer())?;
        let (rows, positive, weight) = (reader.integer(), reader.integer(), reader.number());
        let count = self.sums.loo.len();
        let (loo, training) = (reader.numbers(count), reader.numbers(count));
        let sums = Sums { loo, training, rows: positive as usize };
        Ok(PathErrors { sums, rows, weight, ..self.empty() })
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> RowSums<T> for PathErrors<K, T> {
    fn empty(&self) -> Self {
        PathErrors::empty(self)
    }
    fn rows(&self) -> u64 {
        PathErrors::rows(self)
    }
    fn accumulate(&mut self, block: Problem<'_, T>) -> Result<()> {
        PathErrors::accumulate(self, block)
    }
    fn merge(&mut self, later: Self) -> Result<()> {
        PathErrors::merge(self, later)
    }
    fn to_bytes(&mut self) -> Result<Vec<u8>> {
        PathErrors::to_bytes(self)
    }
    fn read(&self, bytes: &[u8]) -> Result<Self> {
        PathErrors::from_bytes(self, bytes)
    }
}
