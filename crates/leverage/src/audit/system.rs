//! The system (K + μI)z = b by tiles, and its preconditioner.

use faer::reborrow::*;
use faer::{Accum, ColRef, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Cholesky, JitterLadder, PsdMatrix, Result, RowTree, Scalar, ops};
use nystrom_sketch::{Landmarks, NystromStream, Whitening};

/// Side of the square tiles of K: 8 MiB in `f64`.
const TILE: usize = 1024;

/// out = (K + μI)x over tiles on and below the diagonal, each used for its mirror image too.
///
/// The order of the sums is fixed by n, so the bits do not depend on the number of threads.
pub(super) fn multiply<T: Scalar>(k: &dyn PsdMatrix<T>, mu: T, mut out: MatMut<'_, T>, x: MatRef<'_, T>) {
    let n = k.dim();
    let mut buffer = Mat::zeros(TILE.min(n), TILE.min(n));
    faer::zip!(out.rb_mut(), x).for_each(|faer::unzip!(out, x)| *out = mu * *x);
    for i in RowTree::tiles(0..n, TILE) {
        for j in RowTree::tiles(0..i.end, TILE) {
            let mut tile = buffer.as_mut().submatrix_mut(0, 0, i.len(), j.len());
            k.block_into(tile.rb_mut(), i.clone().into(), j.clone().into());
            let (x_i, x_j) = (x.subrows(i.start, i.len()), x.subrows(j.start, j.len()));
            let out_i = out.rb_mut().subrows_mut(i.start, i.len());
            ops::matmul(out_i, Accum::Add, tile.rb(), x_j, T::one());
            if i != j {
                let out_j = out.rb_mut().subrows_mut(j.start, j.len());
                ops::matmul(out_j, Accum::Add, tile.rb().transpose(), x_i, T::one());
            }
        }
    }
}

/// (K̃ + μI)⁻¹ for the Nyström approximation K̃ = FFᵀ ⪯ K, F = C R⁻ᵀ, by the Woodbury identity:
/// (I − F(FᵀF + μI)⁻¹Fᵀ)/μ. C is evaluated anew in every application; O(m² + 1024·m) memory.
pub(super) struct Preconditioner<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    stream: NystromStream<'a, T>,
    inner: Cholesky<T>, // FᵀF + μI
    mu: T,
}

impl<'a, T: Scalar> Preconditioner<'a, T> {
    pub(super) fn new(k: &'a dyn PsdMatrix<T>, landmarks: &Landmarks, mu: T) -> Result<Self> {
        let stream = NystromStream::new(k, landmarks, Whitening::default())?;
        let mut M = stream.gram_lower()?;
        ops::add_to_diagonal(M.as_mut(), mu);
        let inner = Cholesky::with_jitter(M.as_ref(), JitterLadder::default())?;
        Ok(Preconditioner { k, stream, inner, mu })
    }

    pub(super) fn mu(&self) -> T {
        self.mu
    }

    /// out = (K̃ + μI)⁻¹r, n × t.
    pub(super) fn solve_into(&self, mut out: MatMut<'_, T>, r: MatRef<'_, T>) {
        let map = self.stream.map();
        let mut y = self.cross_transposed(r); // Cᵀr
        map.apply_in_place(y.as_mut()); // R⁻¹Cᵀr = Fᵀr
        self.inner.solve_in_place(y.as_mut());
        let theta = map.landmark_weights(y.as_ref()); // Cθ = F(FᵀF + μI)⁻¹Fᵀr
        out.copy_from(r);
        for rows in RowTree::tiles(0..self.k.dim(), TILE) {
            let c = self.k.block(self.stream.indices().into(), rows.clone().into());
            let out = out.rb_mut().subrows_mut(rows.start, rows.len());
            ops::matmul(out, Accum::Add, c.transpose(), theta.as_ref(), -T::one());
        }
        let scale = T::one() / self.mu;
        faer::zip!(out).for_each(|faer::unzip!(out)| *out *= scale);
    }

    /// Cᵀr along the row tree.
    fn cross_transposed(&self, r: MatRef<'_, T>) -> Mat<T> {
        let (m, t) = (self.stream.indices().len(), r.ncols());
        let leaf = |leaf: std::ops::Range<usize>| {
            let mut sum = Mat::zeros(m, t);
            for rows in RowTree::tiles(leaf, TILE) {
                let c = self.k.block(self.stream.indices().into(), rows.clone().into());
                ops::matmul(sum.as_mut(), Accum::Add, c.as_ref(), r.subrows(rows.start, rows.len()), T::one());
            }
            sum
        };
        RowTree::new(self.k.dim()).reduce_in_order(leaf, |a, b| a + b).unwrap_or_else(|| Mat::zeros(m, t))
    }
}

/// The columns e_i of the identity for the given rows, n × rows.len().
pub(super) fn unit_columns<T: Scalar>(n: usize, rows: &[usize]) -> Mat<T> {
    let mut e = Mat::zeros(n, rows.len());
    rows.iter().enumerate().for_each(|(j, &i)| e[(i, j)] = T::one());
    e
}

/// aᵀb, summed in `f64`.
pub(super) fn dot<T: Scalar>(a: ColRef<'_, T>, b: ColRef<'_, T>) -> f64 {
    (0..a.nrows()).map(|i| a[i].f64() * b[i].f64()).sum()
}
