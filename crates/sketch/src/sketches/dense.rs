//! A sketch stored as a dense matrix.

use crate::Sketch;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Result, Scalar, ops, validate};
use std::ops::Range;

/// A sketch S with all n·d entries in memory. KS takes n²/2 entries of K, by symmetry, and 2n²d
/// flops.
///
/// ```
/// use faer::mat;
/// use nystrom_sketch::{DenseSketch, Sketch};
/// let s = DenseSketch::from_matrix(mat![[4.0, 0.0], [2.0, -1.0], [0.0, 0.5]])?;
/// assert_eq!((s.n(), s.width(), s.scales()), (3, 2, &[4.0, 1.0][..]));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DenseSketch<T> {
    matrix: Mat<T>, // S̄
    scales: Vec<f64>,
    support: Vec<usize>, // 0..n
}

impl<T: Scalar> DenseSketch<T> {
    /// The sketch S = `matrix` (n × d). Columns of S̄ are divided by their largest modulus, which
    /// is their scale.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without rows or columns,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite), and
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a column of zeros.
    pub fn from_matrix(mut matrix: Mat<T>) -> Result<Self> {
        validate::not_empty("rows of the sketch (n)", matrix.nrows())?;
        validate::not_empty("columns of the sketch (d)", matrix.ncols())?;
        validate::finite("sketch", matrix.as_ref())?;
        let mut scales = Vec::with_capacity(matrix.ncols());
        for column in matrix.col_iter_mut() {
            let largest = column.norm_max();
            validate::positive("largest modulus in a column of the sketch", largest.f64())?;
            column.iter_mut().for_each(|s| *s /= largest);
            scales.push(largest.f64());
        }
        Ok(Self::of(matrix, scales))
    }

    /// The sketch S = S̄ diag(c) for S̄ = `matrix` and c = `scales`.
    pub(crate) fn of(matrix: Mat<T>, scales: Vec<f64>) -> Self {
        DenseSketch { support: (0..matrix.nrows()).collect(), matrix, scales }
    }
}

impl<T: Scalar> Sketch<T> for DenseSketch<T> {
    fn n(&self) -> usize {
        self.matrix.nrows()
    }

    fn width(&self) -> usize {
        self.matrix.ncols()
    }

    fn support(&self) -> &[usize] {
        &self.support
    }

    fn scales(&self) -> &[f64] {
        &self.scales
    }

    fn add_product(&self, out: MatMut<'_, T>, k: MatRef<'_, T>, positions: Range<usize>) {
        let rows = self.matrix.as_ref().subrows(positions.start, positions.len());
        ops::matmul(out, Accum::Add, k, rows, T::one());
    }

    fn expand(&self, theta: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(
            theta.nrows(),
            self.width(),
            "rows of the weights against columns of the sketch"
        );
        let mut wide = Mat::new();
        ops::times(ops::widened(self.matrix.as_ref(), &mut wide), theta)
    }
}
