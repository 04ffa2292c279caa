//! A Nyström approximation L = FFᵀ whose factor F is computed in row tiles and not stored.

use crate::{Dictionary, FeatureMap, Landmarks, Whitening};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{GramSums, PsdMatrix, Result, Ridge, RowTree, Scalar, validate};
use std::ops::Range;

/// The Nyström approximation L = FFᵀ ⪯ K of a matrix K with landmarks J, with O(m² + 1024·m)
/// memory: every pass over F evaluates the n·m entries K\[:, J\] again.
///
/// Row i of F is φ(i) = R⁻¹K\[J, i\], where RRᵀ = W + δI with W = K\[J, J\], or for the regularised
/// approximation RRᵀ = K_DD + γ diag(1/w) + δI. [`Nystrom`](crate::Nystrom) stores F; both have the
/// same bits of F.
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
    /// L = C W⁺ Cᵀ with C = K\[:, J\] and W = K\[J, J\]. Evaluates the m² entries of W.
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

    /// L_γ = KS(SᵀKS + γI)⁻¹SᵀK = K_{:D}(K_DD + γ diag(1/w))⁻¹K_{D:} ⪯ L, with
    /// γ = `ridge.absolute(n)`, for a dictionary D with weights w.
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

    /// The landmarks J, in the order of the columns of C.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The feature map, which also maps new points.
    pub fn map(&self) -> &FeatureMap<T> {
        &self.map
    }

    /// n, the order of K.
    pub fn dim(&self) -> usize {
        self.k.dim()
    }

    /// Calls `visit(tile, phi)` for consecutive tiles of the range `rows`. Column t of `phi`
    /// (r × `tile.len()`) is row `tile.start + t` of F.
    ///
    /// `rows.len()`·m entries are evaluated; m² flops per row; 1024·m numbers of memory.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the row and column of a non-finite
    /// entry of K; those of `visit`.
    ///
    /// # Panics
    /// If `rows` ends beyond n.
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

    /// The lower triangle of FᵀF, r × r with zeros above the diagonal, summed in `f64`.
    ///
    /// One pass; at most five triangles in memory. The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// Those of [`for_each_tile`](Self::for_each_tile).
    pub fn gram_lower(&self) -> Result<Mat<T>> {
        self.gram_lower_visiting(|_, _| ())
    }

    /// As [`gram_lower`](Self::gram_lower); the same pass writes Fᵀ (r × n) to `ft`.
    ///
    /// # Errors
    /// Those of [`for_each_tile`](Self::for_each_tile).
    ///
    /// # Panics
    /// If `ft` is not r × n.
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

    /// The diagonal of L, n numbers ‖φ(i)‖². One pass.
    ///
    /// # Errors
    /// Those of [`for_each_tile`](Self::for_each_tile).
    pub fn diag(&self) -> Result<Vec<T>> {
        let mut out = Vec::with_capacity(self.dim());
        self.for_each_tile(0..self.dim(), |_, phi| {
            out.extend(phi.rb().col_iter().map(|column| column.squared_norm_l2()));
            Ok(())
        })?;
        Ok(out)
    }

    /// tr(K − L) ≥ 0, the nuclear-norm error of the approximation, from both diagonals, summed in
    /// `f64`. One pass.
    ///
    /// # Errors
    /// Those of [`for_each_tile`](Self::for_each_tile).
    pub fn trace_error(&self) -> Result<f64> {
        let l = self.diag()?;
        Ok(trace_difference(&self.k.diag(), &l))
    }
}

/// Σ max(k_ii − l_ii, 0), summed along the row tree.
pub(crate) fn trace_difference<T: Scalar>(k: &[T], l: &[T]) -> f64 {
    let leaf = |rows: Range<usize>| rows.map(|i| (k[i].f64() - l[i].f64()).max(0.0)).sum::<f64>();
    RowTree::new(k.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
}
