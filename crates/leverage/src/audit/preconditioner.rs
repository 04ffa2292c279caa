//! The preconditioner: the inverse of a Nyström approximation plus the ridge.

use faer::reborrow::*;
use faer::{Accum, ColMut, Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    Indices, PsdMatrix, Result, RowTree, Scalar, ShiftedLowRank, TallFactor, ops,
};
use nystrom_sketch::{Landmarks, NystromStream, Whitening};

/// Rows of a tile of C.
const TILE: usize = 1024;

/// (K̃ + μI)⁻¹ for the Nyström approximation K̃ = FFᵀ ⪯ K, F = C R⁻ᵀ. Every application evaluates C
/// again; O(m² + 1024·m) memory.
pub(super) type Preconditioner<'a> = ShiftedLowRank<Streamed<'a>>;

/// F = C R⁻ᵀ, n × m, without storing C.
pub(super) struct Streamed<'a> {
    k: &'a dyn PsdMatrix<f64>,
    stream: NystromStream<'a, f64>,
}

impl<'a> Streamed<'a> {
    pub(super) fn new(k: &'a dyn PsdMatrix<f64>, landmarks: &Landmarks) -> Result<Self> {
        Ok(Streamed { k, stream: NystromStream::new(k, landmarks, Whitening::default())? })
    }

    /// Rows of C, transposed: m × rows.len().
    fn block(&self, rows: std::ops::Range<usize>) -> Mat<f64> {
        self.k.block(self.stream.indices().into(), rows.into())
    }
}

impl TallFactor for Streamed<'_> {
    fn gram_lower(&self) -> Result<Mat<f64>> {
        self.stream.gram_lower()
    }

    /// R⁻¹Cᵀr along the row tree.
    fn transpose_times(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        let (m, t) = (self.stream.indices().len(), r.ncols());
        let leaf = |leaf: std::ops::Range<usize>| {
            let mut sum = Mat::zeros(m, t);
            for rows in RowTree::tiles(leaf, TILE) {
                let (c, r) = (self.block(rows.clone()), r.subrows(rows.start, rows.len()));
                ops::matmul(sum.as_mut(), Accum::Add, c.as_ref(), r, 1.0);
            }
            sum
        };
        let mut h = RowTree::new(self.k.dim())
            .reduce_in_order(leaf, |a, b| a + b)
            .unwrap_or_else(|| Mat::zeros(m, t));
        self.stream.map().apply_in_place(h.as_mut());
        h
    }

    /// Cθ for θ = R⁻ᵀh.
    fn times(&self, h: MatRef<'_, f64>) -> Mat<f64> {
        let theta = self.stream.map().landmark_weights(h);
        let mut out = Mat::zeros(self.k.dim(), h.ncols());
        for rows in RowTree::tiles(0..self.k.dim(), TILE) {
            let c = self.block(rows.clone());
            let out = out.as_mut().subrows_mut(rows.start, rows.len());
            ops::matmul(out, Accum::Replace, c.transpose(), theta.as_ref(), 1.0);
        }
        out
    }
}

/// A matrix of either precision, with its entries converted to `f64`.
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
