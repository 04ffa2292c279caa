//! A Nyström approximation L = FFᵀ by row tiles of F, none of which is kept.

use crate::{Dictionary, FeatureMap, Landmarks, Whitening};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{GramSums, PsdMatrix, Result, Ridge, RowTree, Scalar, ops, validate};
use std::ops::Range;

/// L = FFᵀ ⪯ K for a matrix `k` and landmarks J, with O(m² + 1024·m) memory: every pass evaluates
/// the n·m entries K\[:, J\] anew.
///
/// Row i of F is φ(i) = R⁻¹K\[J, i\], with RRᵀ the shifted W = K\[J, J\] or, for the regularised
/// approximation, K_DD + γ diag(1/w). [`Nystrom`](crate::Nystrom) is the form that stores F; the
/// two hold the same bits of F.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Dense, PsdMatrix};
/// use nystrom_sketch::{Landmarks, NystromStream, Whitening};
/// let k = Mat::from_fn(30, 30, |i, j| (i.min(j) + 1) as f64);
/// let k = Dense::new(k.as_ref())?;
/// let l = NystromStream::new(&k, &Landmarks::new(30, vec![29, 9, 19])?, Whitening::default())?;
/// let mut largest = 0.0_f64;
/// l.for_each_tile(0..30, |_rows, phi| { largest = largest.max(phi.norm_max()); Ok(()) })?;
/// assert!(largest.powi(2) <= 30.0 && l.trace_error()? > 0.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct NystromStream<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    indices: Vec<usize>,
    map: FeatureMap<T>,
}

impl<'a, T: Scalar> NystromStream<'a, T> {
    /// L = C W⁺ Cᵀ with C = K\[:, J\], W = K\[J, J\]; m² entries are evaluated.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the landmarks belong to a matrix of another
    /// order; those of [`FeatureMap::new`].
    pub fn new(
        k: &'a dyn PsdMatrix<T>,
        landmarks: &Landmarks,
        whitening: Whitening,
    ) -> Result<Self> {
        landmarks.check(k.dim())?;
        let indices = landmarks.indices().to_vec();
        let map =
            FeatureMap::new(k.block((&indices).into(), (&indices).into()).as_ref(), whitening)?;
        Ok(NystromStream { k, indices, map })
    }

    /// L_γ = KS(SᵀKS + γI)⁻¹SᵀK = K_{:D}(K_DD + γ diag(1/w))⁻¹K_{D:} ⪯ L for a weighted dictionary,
    /// γ = `ridge.absolute(n)`.
    ///
    /// # Errors
    /// As [`new`](Self::new), [`Empty`](nystrom_linalg_core::Error::Empty) for an empty dictionary,
    /// and those of [`Ridge::absolute`].
    pub fn regularized(
        k: &'a dyn PsdMatrix<T>,
        dictionary: &Dictionary<T>,
        ridge: Ridge<T>,
        whitening: Whitening,
    ) -> Result<Self> {
        dictionary.check(k.dim())?;
        validate::not_empty("dictionary", dictionary.len())?;
        let gamma = ridge.absolute(k.dim())?;
        let (indices, w) = (dictionary.indices().to_vec(), dictionary.weights());
        let block = k.block((&indices).into(), (&indices).into());
        let map = FeatureMap::with_diagonal(block.as_ref(), |j| gamma / w[j], whitening)?;
        Ok(NystromStream { k, indices, map })
    }

    /// J, in the order of the columns of C.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The m × m half, for new points.
    pub fn map(&self) -> &FeatureMap<T> {
        &self.map
    }

    /// n.
    pub fn dim(&self) -> usize {
        self.k.dim()
    }

    /// Calls `visit(rows, phi)` for consecutive tiles of `rows`; column t of `phi` (rank × tile) is
    /// row `rows.start + t` of F.
    ///
    /// rows.len()·m entries evaluated, m² flops a row; 1024·m entries of memory.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) naming row and column of a non-finite
    /// entry of K; those of `visit`.
    ///
    /// # Panics
    /// If `rows` reaches beyond n.
    pub fn for_each_tile(
        &self,
        rows: Range<usize>,
        mut visit: impl FnMut(Range<usize>, MatMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let start = rows.start;
        assert!(rows.end <= self.dim(), "rows up to {} of {}", rows.end, self.dim());
        self.map.for_each_tile_of(self.k, &self.indices, rows.into(), |positions, phi| {
            visit(start + positions.start..start + positions.end, phi)
        })
    }

    /// FᵀF, rank × rank, lower triangle only (the strict upper one is zero), summed in `f64`.
    ///
    /// One pass; at most five triangles in memory. Bits do not depend on the number of threads.
    pub fn gram_lower(&self) -> Result<Mat<T>> {
        self.gram_lower_visiting(|_, _| ())
    }

    /// As [`gram_lower`](Self::gram_lower), with Fᵀ (rank × n) written to `ft` on the way.
    ///
    /// # Panics
    /// If `ft` is not rank × n.
    pub fn gram_lower_keeping(&self, mut ft: MatMut<'_, T>) -> Result<Mat<T>> {
        assert!(
            ft.nrows() == self.map.rank() && ft.ncols() == self.dim(),
            "room for the transposed factor"
        );
        self.gram_lower_visiting(|rows, phi| {
            ft.rb_mut().subcols_mut(rows.start, rows.len()).copy_from(phi)
        })
    }

    fn gram_lower_visiting(
        &self,
        mut visit: impl FnMut(Range<usize>, MatRef<'_, T>),
    ) -> Result<Mat<T>> {
        let r = self.map.rank();
        let sums = GramSums::over_rows(self.dim(), r, 0, |sums, rows| {
            self.for_each_tile(rows, |tile, phi| {
                sums.add(phi.rb().transpose(), Mat::zeros(tile.len(), 0).as_ref());
                visit(tile, phi.rb());
                Ok(())
            })
        })?;
        let entry = |i, j| if i >= j { T::lit(sums.gram.get(i, j)) } else { T::zero() };
        Ok(Mat::from_fn(r, r, entry))
    }

    /// diag L, n entries: ‖φ(i)‖². One pass.
    pub fn diag(&self) -> Result<Vec<T>> {
        let mut out = Vec::with_capacity(self.dim());
        self.for_each_tile(0..self.dim(), |_, phi| {
            out.extend(phi.rb().col_iter().map(|column| column.squared_norm_l2()));
            Ok(())
        })?;
        Ok(out)
    }

    /// tr(K − L) ≥ 0, summed in `f64` without forming either: the nuclear-norm error of the
    /// approximation. One pass.
    pub fn trace_error(&self) -> Result<f64> {
        let l = self.diag()?;
        Ok(trace_difference(&self.k.diag(), &l))
    }

    /// out = L·x for x n × t, as F(Fᵀx). Two passes.
    ///
    /// # Panics
    /// If `x` or `out` does not have n rows, or their numbers of columns differ.
    pub fn mul_into(&self, mut out: MatMut<'_, T>, x: MatRef<'_, T>) -> Result<()> {
        let (n, t) = (self.dim(), x.ncols());
        assert!(x.nrows() == n && out.nrows() == n && out.ncols() == t, "L·x: L is {n} x {n}");
        let leaf = |rows| {
            let mut sum = Mat::zeros(self.map.rank(), t);
            self.for_each_tile(rows, |tile, phi| {
                ops::matmul(
                    sum.as_mut(),
                    Accum::Add,
                    phi.rb(),
                    x.subrows(tile.start, tile.len()),
                    T::one(),
                );
                Ok(())
            })?;
            Ok(sum)
        };
        let plus = |a: Mat<T>, b: Mat<T>| a + b;
        let ftx = RowTree::new(n).try_reduce_in_order(leaf, plus)?;
        let ftx = ftx.unwrap_or_else(|| Mat::zeros(self.map.rank(), t));
        self.for_each_tile(0..n, |tile, phi| {
            let part = out.rb_mut().subrows_mut(tile.start, tile.len());
            ops::matmul(part, Accum::Replace, phi.rb().transpose(), ftx.as_ref(), T::one());
            Ok(())
        })
    }
}

/// Σ (k_ii − l_ii), each difference at least 0, along the row tree.
pub(crate) fn trace_difference<T: Scalar>(k: &[T], l: &[T]) -> f64 {
    let leaf = |rows: Range<usize>| rows.map(|i| (k[i].f64() - l[i].f64()).max(0.0)).sum::<f64>();
    RowTree::new(k.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
}
