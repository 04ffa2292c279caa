//! Products of K with the residuals of a model, as sums over rows.

use super::kernel_products::{Buffers, by_rows, entries, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::{KrrModel, Problem};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops};

/// Rows that one thread takes at once.
const CHUNK: usize = 64;

/// The sums of the first and the third pass of a [`Certificate`](crate::Certificate): Kᵀ\[α w\] at
/// p points. These are the model's centres first, and then the rows drawn. For a model f, α = w(y −
/// f)/μ.
///
/// [`Certificate::certify_passes`](crate::Certificate::certify_passes) makes and reads them; a
/// program that runs passes needs only [`RowSums`](crate::RowSums). Memory: p·(t + 1) numbers, and
/// 64·(p + m) for each thread.
pub type DualProducts<K, T> = Tiled<DualProduct<K, T>, T>;

/// The term of a tile in [`DualProducts`]: Σ w, Σ w(y − f) of each target, and p × (t + 1) numbers.
#[derive(Debug, Clone)]
pub struct DualProduct<K, T> {
    model: KrrModel<K, T>,
    theta: Mat<f64>,
    /// d × p, if they are not the centres.
    at: Option<Mat<T>>,
}

impl<T: Scalar, K: Kernel<T> + Clone> DualProducts<K, T> {
    /// At these points, or at the centres.
    pub(crate) fn new(model: &KrrModel<K, T>, at: Option<Mat<T>>) -> Self {
        let theta = ops::widened(model.coefficients(), &mut Mat::new()).to_owned();
        let (term, t) = (DualProduct { model: model.clone(), theta, at }, model.intercept().len());
        let hash = fingerprint(model.kernel(), term.at(), t).numbers(entries(term.theta.as_ref()));
        Tiled::over_no_rows(term, [model.centers().dim(), t], hash.value())
    }
}

impl<T: Scalar, K: Kernel<T>> DualProduct<K, T> {
    fn at(&self) -> Points<'_, T> {
        self.at.as_ref().map_or(self.model.centers(), |at| Points::from_cols(at.as_ref()))
    }

    /// For a few rows, on this thread: w(y − f) with w in the last column, and the product.
    fn of(&self, rows: Problem<'_, T>, buffer: &mut Mat<T>) -> [Mat<f64>; 2] {
        let (model, count, t) = (&self.model, rows.x.len(), self.theta.ncols());
        let (mut wide, mut out) = (Mat::new(), Mat::zeros(self.at().len(), t + 1));
        let k = values(model.kernel(), model.centers(), rows.x, buffer, &mut wide); // k_Z(x_i)
        let mut f = Mat::from_fn(count, t, |_, j| model.intercept()[j].f64());
        ops::matmul_here(f.as_mut(), Accum::Add, k.transpose(), self.theta.as_ref(), 1.0);
        let residuals = Mat::from_fn(count, t + 1, |i, j| {
            rows.weight(i) * if j < t { rows.y[(i, j)].f64() - f[(i, j)] } else { 1.0 }
        });
        let mu = model.report().ridge;
        let alpha =
            Mat::from_fn(count, t + 1, |i, j| residuals[(i, j)] / if j < t { mu } else { 1.0 });
        let mut add = |k: MatRef<'_, f64>| {
            ops::matmul_here(out.as_mut(), Accum::Replace, k, alpha.as_ref(), 1.0);
        };
        if self.at.is_none() {
            add(k);
        } else {
            add(values(model.kernel(), self.at(), rows.x, buffer, &mut wide));
        }
        [residuals, out]
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for DualProduct<K, T> {
    const KIND: u8 = 7;
    const MISMATCH: &'static str = "another model, or other points";
    type Sums = (Vec<f64>, Mat<f64>);
    type Scratch = Buffers<T>;

    fn kernel(&self) -> &impl Kernel<T> {
        self.model.kernel()
    }

    fn zeros(&self) -> Self::Sums {
        let columns = self.theta.ncols() + 1;
        (vec![0.0; columns], Mat::zeros(self.at().len(), columns))
    }

    fn add(
        &self,
        (totals, out): &mut Self::Sums,
        tile: Problem<'_, T>,
        _: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let t = self.theta.ncols();
        let shape = (out.nrows().max(self.theta.nrows()), CHUNK);
        let parts = by_rows(tile, shape, buffers, |rows, buffer| self.of(rows, buffer));
        for [residuals, part] in parts {
            *out += part;
            let sum = |j: usize| residuals.col(j).iter().sum::<f64>();
            totals[0] += sum(t);
            (0..t).for_each(|j| totals[1 + j] += sum(j));
        }
        Ok(())
    }
}
