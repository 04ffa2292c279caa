//! The preconditioner: a Nyström approximation plus the ridge, inverted.

use faer::reborrow::*;
use faer::{Accum, ColMut, Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    Cholesky, Indices, JitterLadder, PsdMatrix, Result, RowTree, Scalar, ops,
};
use nystrom_sketch::{Landmarks, NystromStream, Whitening};

/// Rows of a tile of C.
const TILE: usize = 1024;

/// (K̃ + μI)⁻¹ for the Nyström approximation K̃ = FFᵀ ⪯ K, F = C R⁻ᵀ, by the Woodbury identity:
/// (I − F(FᵀF + μI)⁻¹Fᵀ)/μ. C is evaluated anew in every application; O(m² + 1024·m) memory.
pub(super) struct Preconditioner<'a> {
    k: &'a dyn PsdMatrix<f64>,
    stream: NystromStream<'a, f64>,
    inner: Cholesky<f64>, // FᵀF + μI
    mu: f64,
}

impl<'a> Preconditioner<'a> {
    pub(super) fn new(k: &'a dyn PsdMatrix<f64>, landmarks: &Landmarks, mu: f64) -> Result<Self> {
        let stream = NystromStream::new(k, landmarks, Whitening::default())?;
        let mut M = stream.gram_lower()?;
        ops::add_to_diagonal(M.as_mut(), mu);
        let inner = Cholesky::with_jitter(M.as_ref(), JitterLadder::default())?;
        Ok(Preconditioner { k, stream, inner, mu })
    }

    pub(super) fn mu(&self) -> f64 {
        self.mu
    }

    /// (K̃ + μI)⁻¹r, n × t.
    pub(super) fn solve(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        let map = self.stream.map();
        let mut y = self.cross_transposed(r); // Cᵀr
        map.apply_in_place(y.as_mut()); // R⁻¹Cᵀr = Fᵀr
        self.inner.solve_in_place(y.as_mut());
        let theta = map.landmark_weights(y.as_ref()); // Cθ = F(FᵀF + μI)⁻¹Fᵀr
        let mut out = r.to_owned();
        for rows in RowTree::tiles(0..self.k.dim(), TILE) {
            let c = self.k.block(self.stream.indices().into(), rows.clone().into());
            let out = out.as_mut().subrows_mut(rows.start, rows.len());
            ops::matmul(out, Accum::Add, c.transpose(), theta.as_ref(), -1.0);
        }
        out /= faer::Scale(self.mu);
        out
    }

    /// Cᵀr along the row tree.
    fn cross_transposed(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        let (m, t) = (self.stream.indices().len(), r.ncols());
        let leaf = |leaf: std::ops::Range<usize>| {
            let mut sum = Mat::zeros(m, t);
            for rows in RowTree::tiles(leaf, TILE) {
                let c = self.k.block(self.stream.indices().into(), rows.clone().into());
                ops::matmul(
                    sum.as_mut(),
                    Accum::Add,
                    c.as_ref(),
                    r.subrows(rows.start, rows.len()),
                    1.0,
                );
            }
            sum
        };
        RowTree::new(self.k.dim())
            .reduce_in_order(leaf, |a, b| a + b)
            .unwrap_or_else(|| Mat::zeros(m, t))
    }
}

/// A matrix of either precision with its entries as `f64`.
pub(super) struct Wide<'a, T>(pub(super) &'a dyn PsdMatrix<T>);

impl<T: Scalar> PsdMatrix<f64> for Wide<'_, T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
        let mut narrow = vec![T::zero(); idx.len()];
        self.0.diag_into(ColMut::from_slice_mut(&mut narrow), idx);
        narrow.into_iter().enumerate().for_each(|(t, value)| out[t] = value.f64());
    }

    fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
        let narrow = self.0.block(rows, cols);
        faer::zip!(out.rb_mut(), narrow.as_ref())
            .for_each(|faer::unzip!(out, value)| *out = value.f64());
    }
}
