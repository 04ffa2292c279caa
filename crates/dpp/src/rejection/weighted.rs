//! Some rows of K with weights, such as an intermediate sample.

use crate::start::Among;
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Indices, PsdMatrix, Result, Scalar, validate};

/// The matrix A with A_st = v_s v_t K\[i_s, i_t\], in `f64` for K of either precision.
pub(super) struct Weighted<'a, T: Scalar> {
    pub k: &'a dyn PsdMatrix<T>,
    /// The items i_s, distinct.
    pub items: Vec<usize>,
    /// The weights v_s.
    pub weights: Vec<f64>,
    /// The diagonal of A, v_s² K\[i_s, i_s\].
    pub diagonal: Vec<f64>,
}

impl<T: Scalar> Weighted<'_, T> {
    /// The entries of A.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the entry of K.
    pub fn stored(&self) -> Result<Mat<f64>> {
        let items = Indices::from(&self.items);
        let K = self.k.block(items.clone(), items);
        validate::finite_block(K.as_ref(), &self.items, &self.items)?;
        Ok(Mat::from_fn(self.items.len(), self.items.len(), |s, t| {
            self.weights[s] * self.weights[t] * K[(s, t)].f64()
        }))
    }
}

impl<T: Scalar> PsdMatrix<f64> for Weighted<'_, T> {
    fn dim(&self) -> usize {
        self.items.len()
    }

    fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
        idx.iter().enumerate().for_each(|(t, i)| out[t] = self.diagonal[i]);
    }

    fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
        let K = Among { k: self.k, rows: &self.items }.block(rows.clone(), cols.clone());
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                out[(s, t)] = self.weights[i] * self.weights[j] * K[(s, t)].f64();
            }
        }
    }
}
