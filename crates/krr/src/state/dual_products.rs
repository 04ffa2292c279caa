//! Products of K with the residuals of a model, as sums over rows.

use super::bytes::{Reader, Writer};
use super::center_products::fingerprint;
use super::tiled::{TileSums, Tiled};
use crate::{KrrModel, Problem};
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops};
use rayon::prelude::*;
use std::sync::Arc;

/// Rows that one thread takes at once: their kernel values stay in its cache.
const CHUNK: usize = 64;

/// What [`Certificate`](crate::Certificate) takes from the rows twice: Kᵀ\[α w\] at p points, first
/// the model's centres and then the rows drawn. With f the model, α = w(y − f)/μ.
///
/// [`Certificate::certify_passes`](crate::Certificate::certify_passes) makes and reads them; who
/// runs passes needs [`RowSums`](crate::RowSums) alone. Memory: p·(t + 1) numbers, and 64·(p + m)
/// for each thread.
pub type DualProducts<K, T> = Tiled<DualSums<K, T>, T>;

/// What [`DualProducts`] adds up.
#[derive(Debug, Clone)]
pub struct DualSums<K, T> {
    shared: Arc<Shared<K, T>>,
    rows: u64,
    /// Σ w, and Σ w(y − f) of each target.
    totals: Vec<f64>,
    /// p × (t + 1).
    out: Mat<f64>,
}

#[derive(Debug)]
struct Shared<K, T> {
    model: KrrModel<K, T>,
    theta: Mat<f64>,
    /// d × p, if they are not the centres.
    at: Option<Mat<T>>,
    fingerprint: u64,
}

impl<T: Scalar, K: Kernel<T> + Clone> DualProducts<K, T> {
    /// At these points, or at the centres.
    pub(crate) fn of(model: &KrrModel<K, T>, at: Option<Mat<T>>) -> Self {
        let theta = ops::widened(model.coefficients(), &mut Mat::new()).to_owned();
        let points = at.as_ref().map_or(model.centers(), |at| Points::from_cols(at.as_ref()));
        let numbers = theta.col_iter().flat_map(|col| col.iter());
        let hash = fingerprint(model.kernel(), points, theta.ncols());
        let fingerprint = numbers.fold(hash, |hash, x| hash.number(*x)).value();
        let shared = Shared { model: model.clone(), theta, at, fingerprint };
        Tiled::over_no_rows(DualSums::over_no_rows(Arc::new(shared)))
    }

    /// Rows; Σ w and Σ w(y − f); Kᵀ\[α w\]. Once all rows are in the sums.
    pub(crate) fn finish(mut self) -> Result<(u64, Vec<f64>, Mat<f64>)> {
        self.whole()?;
        Ok((self.sums.rows, self.sums.totals, self.sums.out))
    }
}

impl<T: Scalar, K: Kernel<T>> DualSums<K, T> {
    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (p, t) = (shared.at().len(), shared.theta.ncols());
        DualSums { rows: 0, totals: vec![0.0; t + 1], out: Mat::zeros(p, t + 1), shared }
    }
}

impl<T: Scalar, K: Kernel<T>> Shared<K, T> {
    fn at(&self) -> Points<'_, T> {
        self.at.as_ref().map_or(self.model.centers(), |at| Points::from_cols(at.as_ref()))
    }

    /// Of a few rows, on this thread: w(y − f) with w in the last column, and the product.
    fn product(&self, rows: Problem<'_, T>, room: &mut Mat<T>) -> [Mat<f64>; 2] {
        let (model, count, t) = (&self.model, rows.x.len(), self.theta.ncols());
        let m = model.centers().len();
        let mut k = room.as_mut().submatrix_mut(0, 0, m, count); //               k_Z(x_i)
        model.kernel().eval_into(k.rb_mut(), model.centers(), rows.x);
        let mut wide = Mat::new();
        let k = ops::widened(k.into_const(), &mut wide);
        let mut f = Mat::from_fn(count, t, |_, j| model.intercept()[j].f64());
        ops::matmul_here(f.as_mut(), Accum::Add, k.transpose(), self.theta.as_ref(), 1.0);
        let residuals = Mat::from_fn(count, t + 1, |i, j| {
            rows.weight(i) * if j < t { rows.y[(i, j)].f64() - f[(i, j)] } else { 1.0 }
        });
        let mu = model.report().ridge;
        let alpha =
            Mat::from_fn(count, t + 1, |i, j| residuals[(i, j)] / if j < t { mu } else { 1.0 });
        let mut out = Mat::zeros(self.at().len(), t + 1);
        let mut add = |k: MatRef<'_, f64>| {
            ops::matmul_here(out.as_mut(), Accum::Replace, k, alpha.as_ref(), 1.0);
        };
        if self.at.is_none() {
            add(k);
        } else {
            let mut k = room.as_mut().submatrix_mut(0, 0, self.at().len(), count);
            model.kernel().eval_into(k.rb_mut(), self.at(), rows.x);
            add(ops::widened(k.into_const(), &mut Mat::new()));
        }
        [residuals, out]
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for DualSums<K, T> {
    const KIND: u8 = 7;
    type Room = ();

    fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        self.shared.model.kernel()
    }

    fn sizes(&self) -> (usize, usize) {
        (self.shared.model.centers().dim(), self.shared.theta.ncols())
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn fingerprint(&self) -> u64 {
        self.shared.fingerprint
    }

    fn otherwise(&self) -> &'static str {
        "another model, or other points"
    }

    fn add(&mut self, tile: Problem<'_, T>, (): &mut ()) -> Result<()> {
        let (shared, rows, t) = (&*self.shared, tile.x.len(), self.totals.len() - 1);
        let height = shared.at().len().max(shared.model.centers().len());
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let parts = starts.into_par_iter().map_init(
            || Mat::zeros(height, CHUNK),
            |room, start| shared.product(tile.slice(start..rows.min(start + CHUNK)), room),
        );
        let parts: Vec<[Mat<f64>; 2]> = parts.collect();
        for [residuals, part] in parts {
            self.out += part;
            let sum = |j: usize| residuals.col(j).iter().sum::<f64>();
            self.totals[0] += sum(t);
            (0..t).for_each(|j| self.totals[1 + j] += sum(j));
        }
        self.rows += rows as u64;
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.out += later.out;
        self.rows += later.rows;
        self.totals.iter_mut().zip(&later.totals).for_each(|(a, b)| *a += b);
    }

    fn numbers(&self) -> usize {
        1 + self.totals.len() + self.out.nrows() * self.out.ncols()
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.rows);
        out.numbers(&self.totals);
        self.out.col_iter().for_each(|col| col.iter().for_each(|x| out.number(*x)));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (rows, totals) = (reader.integer(), reader.numbers(self.totals.len()));
        let out = Mat::from_fn(self.out.nrows(), self.out.ncols(), |_, _| reader.number());
        Ok(DualSums { rows, totals, out, shared: self.shared.clone() })
    }
}
