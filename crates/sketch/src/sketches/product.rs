//! The products KS and SᵀKS, tile by tile.

use crate::Sketch;
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Indices, PsdMatrix, Result, RowTree, Scalar, ops, validate};
use std::ops::Range;

/// Rows and columns of a tile of K, which takes 2 MiB in `f64`.
const TILE: usize = 512;

/// The product K S̄ of a matrix K and a sketch S = S̄ diag(c), by row tiles. A pass takes n·u
/// entries of K for a support of u rows, and O(512·(512 + d)) memory.
///
/// [`SketchedMatrix`](crate::SketchedMatrix) stores KS. Sums over tiles are in `f64` for either
/// scalar type. Entries of K are not checked one by one; NaN and ∞ are detected in the product.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Counted, Dense};
/// use nystrom_sketch::{SketchProduct, SparseSketch};
/// let k = Mat::from_fn(30, 30, |i, j| (i.min(j) + 1) as f64);
/// let k = Counted::new(Dense::new(k.as_ref())?);
/// let s = SparseSketch::new(30, vec![vec![(2, 1.0), (7, -0.5)], vec![(7, 1.0)]])?;
/// let product = SketchProduct::new(&k, &s)?;
/// let mut last = 0.0;
/// product.for_each_tile(|rows, ks| { last = ks[(29 - rows.start, 0)]; Ok(()) })?;
/// assert_eq!((last, k.entries()), (3.0 - 4.0, 30 * 2));               // k(29, 2) − ½k(29, 7)
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SketchProduct<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    sketch: &'a dyn Sketch<T>,
}

/// A reusable buffer for one tile of K and its product: (512 + 2d)·512 numbers, fewer for small n.
#[derive(Debug)]
pub struct ProductBuffer<T> {
    k: Mat<T>,
    part: Mat<T>,
    sum: Mat<f64>,
}

impl<'a, T: Scalar> SketchProduct<'a, T> {
    /// The product of `k` and `sketch`, of which nothing is computed yet.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if K and S have different n.
    pub fn new(k: &'a dyn PsdMatrix<T>, sketch: &'a dyn Sketch<T>) -> Result<Self> {
        validate::same_size("order of the matrix against rows of the sketch", k.dim(), sketch.n())?;
        Ok(SketchProduct { k, sketch })
    }

    /// The sketch.
    pub fn sketch(&self) -> &'a dyn Sketch<T> {
        self.sketch
    }

    /// A buffer for [`tile_into`](Self::tile_into).
    pub fn buffer(&self) -> ProductBuffer<T> {
        let (b, d) = (TILE.min(self.k.dim()), self.sketch.width());
        ProductBuffer { k: Mat::zeros(b, b), part: Mat::zeros(b, d), sum: Mat::zeros(b, d) }
    }

    /// out = K\[rows, :\] S̄, `rows.len()` × d, without a check for finite entries.
    ///
    /// Evaluates `rows.len()`·u entries of K. The bits do not depend on the number of threads.
    ///
    /// # Panics
    /// If the shapes do not fit or an index is out of range.
    pub fn tile_into(
        &self,
        mut out: MatMut<'_, T>,
        rows: Indices<'_>,
        buffer: &mut ProductBuffer<T>,
    ) {
        assert_eq!(out.nrows(), rows.len(), "a row of the product per row asked for");
        let support = self.sketch.support();
        for place in RowTree::tiles(0..rows.len(), TILE) {
            let (b, d) = (place.len(), self.sketch.width());
            let mut sum = buffer.sum.as_mut().submatrix_mut(0, 0, b, d);
            sum.fill(0.0);
            for chunk in RowTree::tiles(0..support.len(), TILE) {
                let mut k = buffer.k.as_mut().submatrix_mut(0, 0, b, chunk.len());
                self.k.block_into(
                    k.rb_mut(),
                    rows.slice(place.clone()),
                    support[chunk.clone()].into(),
                );
                let mut part = buffer.part.as_mut().submatrix_mut(0, 0, b, d);
                part.fill(T::zero());
                self.sketch.add_product(part.rb_mut(), k.rb(), chunk);
                ops::add_widened(sum.rb_mut(), part.rb(), false);
            }
            narrow(out.rb_mut().subrows_mut(place.start, b), sum.rb());
        }
    }

    /// Calls `visit(rows, ks)` for consecutive row tiles of K S̄ (`rows.len()` × d). One pass.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the row of K; those of `visit`.
    pub fn for_each_tile(
        &self,
        mut visit: impl FnMut(Range<usize>, MatRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let n = self.k.dim();
        let (mut buffer, mut tile) = (self.buffer(), Mat::zeros(TILE.min(n), self.sketch.width()));
        for rows in RowTree::tiles(0..n, TILE) {
            let mut out = tile.as_mut().subrows_mut(0, rows.len());
            self.tile_into(out.rb_mut(), rows.clone().into(), &mut buffer);
            check(out.rb(), |s| rows.start + s)?;
            visit(rows, out.rb())?;
        }
        Ok(())
    }

    /// The rows `support()` of K S̄, u × d, in `f64`. Every tile of K on the support is evaluated
    /// once; its transpose is used as the tile on the other side of the diagonal. This takes about
    /// u²/2 entries (u² for u ≤ 512).
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the row of K.
    pub fn on_support(&self) -> Result<Mat<f64>> {
        let (support, d) = (self.sketch.support(), self.sketch.width());
        let mut out = Mat::<f64>::zeros(support.len(), d);
        let (mut buffer, mut mirrored) = (self.buffer(), Mat::<T>::zeros(TILE, TILE));
        for rows in RowTree::tiles(0..support.len(), TILE) {
            for cols in RowTree::tiles(0..rows.end, TILE) {
                let mut k = buffer.k.as_mut().submatrix_mut(0, 0, rows.len(), cols.len());
                self.k.block_into(
                    k.rb_mut(),
                    support[rows.clone()].into(),
                    support[cols.clone()].into(),
                );
                // (KS)[I] += K_IJ S_J
                self.add_tile(&mut out, &mut buffer.part, k.rb(), &rows, &cols);
                if rows != cols {
                    let mut k_ji = mirrored.as_mut().submatrix_mut(0, 0, cols.len(), rows.len());
                    k_ji.copy_from(k.rb().transpose());
                    // (KS)[J] += K_JI S_I
                    self.add_tile(&mut out, &mut buffer.part, k_ji.rb(), &cols, &rows);
                }
            }
        }
        check(out.as_ref(), |s| support[s])?;
        Ok(out)
    }

    fn add_tile(
        &self,
        out: &mut Mat<f64>,
        part: &mut Mat<T>,
        k: MatRef<'_, T>,
        rows: &Range<usize>,
        cols: &Range<usize>,
    ) {
        let mut part = part.as_mut().subrows_mut(0, rows.len());
        part.fill(T::zero());
        self.sketch.add_product(part.rb_mut(), k, cols.clone());
        ops::add_widened(out.as_mut().subrows_mut(rows.start, rows.len()), part.rb(), false);
    }

    /// S̄ᵀK S̄, d × d and exactly symmetric, from the rows [`on_support`](Self::on_support) of
    /// K S̄. Evaluates no entries of K.
    ///
    /// # Panics
    /// If `on_support` is not u × d.
    pub fn gram(&self, on_support: MatRef<'_, f64>) -> Mat<f64> {
        let d = self.sketch.width();
        assert_eq!(
            on_support.shape(),
            (self.sketch.support().len(), d),
            "rows of the product on the support"
        );
        let mut out = Mat::<f64>::zeros(d, d);
        for chunk in RowTree::tiles(0..on_support.nrows(), TILE) {
            let rows =
                Mat::from_fn(d, chunk.len(), |j, s| T::lit(on_support[(chunk.start + s, j)]));
            let mut part = Mat::<T>::zeros(d, d);
            self.sketch.add_product(part.as_mut(), rows.as_ref(), chunk); // (KS)_Iᵀ S_I
            ops::add_widened(out.as_mut(), part.as_ref(), false);
        }
        ops::mirror_lower(out.as_mut());
        out
    }

    /// K S̄ as a stored n × d matrix, from its rows [`on_support`](Self::on_support) and another
    /// (n − u)·u entries of K.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the row of K.
    pub fn stored(&self, on_support: MatRef<'_, f64>) -> Result<Mat<T>> {
        let (n, support) = (self.k.dim(), self.sketch.support());
        let mut out = Mat::zeros(n, self.sketch.width());
        let mut rest = vec![true; n];
        for (s, &i) in support.iter().enumerate() {
            rest[i] = false;
            for j in 0..out.ncols() {
                out[(i, j)] = T::lit(on_support[(s, j)]);
            }
        }
        let rest: Vec<usize> = (0..n).filter(|&i| rest[i]).collect();
        let (mut buffer, mut tile) = (self.buffer(), Mat::zeros(TILE.min(rest.len()), out.ncols()));
        for place in rest.chunks(TILE) {
            let mut ks = tile.as_mut().subrows_mut(0, place.len());
            self.tile_into(ks.rb_mut(), place.into(), &mut buffer);
            check(ks.rb(), |s| place[s])?;
            for (s, &i) in place.iter().enumerate() {
                out.row_mut(i).copy_from(ks.rb().row(s));
            }
        }
        Ok(out)
    }

    /// How many entries of K [`on_support`](Self::on_support) evaluates.
    pub fn support_entries(&self) -> u64 {
        let u = self.sketch.support().len();
        RowTree::tiles(0..u, TILE).map(|rows| rows.len() as u64 * rows.end as u64).sum()
    }
}

fn narrow<T: Scalar>(mut out: MatMut<'_, T>, sum: MatRef<'_, f64>) {
    for j in 0..sum.ncols() {
        for i in 0..sum.nrows() {
            out[(i, j)] = T::lit(sum[(i, j)]);
        }
    }
}

/// Checks that all entries are finite; otherwise the error names the row of K.
fn check<T: Scalar>(ks: MatRef<'_, T>, row_of: impl Fn(usize) -> usize) -> Result<()> {
    validate::finite("product KS of kernel matrix and sketch", ks)
        .map_err(|error| error.placed(|row, col| (row_of(row), col)))
}
