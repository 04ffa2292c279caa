//! Leave-one-out errors of a path, by one more pass over the rows.

use super::bytes::{Hash, Reader, Writer};
use super::path::StatePath;
use super::tiled::{TileSums, Tiled};
use crate::Problem;
use crate::path::Family;
use crate::path::errors::Sums;
use crate::path::family::Basis;
use crate::path::features::Pass;
use crate::rows::FeatureRows;
use crate::span_rows::SpanRows;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, validate};
use std::sync::Arc;

/// The sums of squared leave-one-out errors of a [`StatePath`], at all its ridges, over rows that
/// are seen once more.
///
/// The formula is that of [`NystromKrr::path`](crate::NystromKrr::path): (y_i − f(x_i))/(1 − h_i),
/// exact, from the eigenvectors that the path has. Rows come in blocks, from files or on other
/// machines, and sums merge: [`RowSums`](crate::RowSums).
///
/// # Cost
/// m kernel values and 2m² + 2mL(1 + t) flops a row, for L ridges and t targets. Memory: m² numbers
/// for V, shared by all sums of one path, and tiles of 1024·(m + L + Lt).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, RowSums, lambda_grid};
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
pub type PathErrors<K, T> = Tiled<ErrorSums<K, T>, T>;

/// What [`PathErrors`] adds up.
#[derive(Debug, Clone)]
#[must_use]
pub struct ErrorSums<K, T> {
    shared: Arc<Shared<K, T>>,
    sums: Sums,
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
    pub fn errors(&self) -> PathErrors<K, T> {
        let mus: Vec<f64> = self.points.iter().map(|point| point.mu).collect();
        let hash = Hash::new().integer(self.fingerprint);
        let values = mus.iter().chain(&self.family.spectrum.values);
        let fingerprint = values.fold(hash, |hash, x| hash.number(*x)).value();
        let (family, shift) = (self.family.clone(), self.shift.clone());
        let shared = Arc::new(Shared { family, shift, mus, fingerprint });
        Tiled::over_no_rows(ErrorSums::over_no_rows(shared))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> PathErrors<K, T> {
    /// Mean square of the leave-one-out residuals at every ridge of the path, over targets and
    /// (weighted) rows: [`PathPoint::loo`](crate::PathPoint::loo).
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) unless all rows of the path were seen, and no
    /// others.
    pub fn leave_one_out(&mut self) -> Result<Vec<f64>> {
        self.means(|sums| &sums.loo)
    }

    /// Mean square of the residuals at every ridge of the path, over targets and (weighted) rows.
    /// It is exact where [`StatePoint::training`](crate::StatePoint::training), a difference of
    /// sums, is below its level of rounding.
    ///
    /// # Errors
    /// As [`leave_one_out`](Self::leave_one_out).
    pub fn training(&mut self) -> Result<Vec<f64>> {
        self.means(|sums| &sums.training)
    }

    /// Of every ridge, over targets and rows.
    fn means(&mut self, of: impl Fn(&Sums) -> &[f64]) -> Result<Vec<f64>> {
        let ErrorSums { shared, sums, rows, weight } = self.whole()?;
        let what = "rows of the path when seen again";
        validate::same_size(what, shared.family.spectrum.n, *rows as usize)?;
        let t = shared.family.targets();
        let total = t as f64 * *weight;
        Ok(of(sums).chunks(t).map(|targets| targets.iter().sum::<f64>() / total).collect())
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> ErrorSums<K, T> {
    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let sums = Sums::zeros(shared.mus.len(), shared.family.targets());
        ErrorSums { shared, sums, rows: 0, weight: 0.0 }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for ErrorSums<K, T> {
    const KIND: u8 = 2;
    type Room = ();

    fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.shared.family.kernel
    }

    fn sizes(&self) -> (usize, usize) {
        (self.shared.family.centers.nrows(), self.shared.family.targets())
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn fingerprint(&self) -> u64 {
        self.shared.fingerprint
    }

    fn otherwise(&self) -> &'static str {
        "another path"
    }

    fn add(&mut self, tile: Problem<'_, T>, (): &mut ()) -> Result<()> {
        let Shared { family, shift, mus, .. } = &*self.shared;
        let Basis::Features { V, whitener, expand } = &family.basis else { return Ok(()) };
        let centers = Points::from_cols(family.centers.as_ref());
        let source = SpanRows::new(&family.kernel, centers, expand.as_ref());
        let rows = FeatureRows::with_shift(&source, whitener, tile, shift.clone());
        let pass = Pass::new(&rows, &family.spectrum, V, mus);
        let mut room = pass.room();
        let residuals = pass.residuals(&mut room, 0..tile.x.len())?;
        self.sums.add(&residuals, |i| room.counts(i));
        self.rows += tile.x.len() as u64;
        self.weight += rows.totals.weight;
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        let mine = std::mem::replace(&mut self.sums, Sums::zeros(0, 0));
        self.sums = mine.plus(later.sums);
        self.rows += later.rows;
        self.weight += later.weight;
    }

    fn numbers(&self) -> usize {
        3 + 2 * self.sums.loo.len()
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.rows);
        out.integer(self.sums.rows as u64);
        out.number(self.weight);
        out.numbers(&self.sums.loo);
        out.numbers(&self.sums.training);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (rows, positive, weight) = (reader.integer(), reader.integer(), reader.number());
        let count = self.sums.loo.len();
        let (loo, training) = (reader.numbers(count), reader.numbers(count));
        let sums = Sums { loo, training, rows: positive as usize };
        Ok(ErrorSums { shared: self.shared.clone(), sums, rows, weight })
    }
}
