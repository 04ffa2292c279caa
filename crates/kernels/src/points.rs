//! A view of n points in ℝ^d, in either layout.

use faer::{Mat, MatRef};
use nystrom_linalg_core::{Indices, Result, Scalar, validate};
use std::ops::Range;

/// A view of n points in ℝ^d; making or copying it copies no coordinates.
///
/// A matrix does not say whether its rows or its columns are the points, and with a square matrix a
/// mistake goes unnoticed. [`Points::from_rows`] takes an n × d matrix, [`Points::from_cols`] a
/// d × n matrix. Kernels read both layouts at the same speed.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::Points;
/// let x = mat![[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]];
/// assert_eq!((Points::from_rows(x.as_ref()).len(), Points::from_rows(x.as_ref()).dim()), (2, 3));
/// assert_eq!((Points::from_cols(x.as_ref()).len(), Points::from_cols(x.as_ref()).dim()), (3, 2));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Points<'a, T> {
    columns: MatRef<'a, T>, // d × n
}

impl<'a, T: Scalar> Points<'a, T> {
    /// The rows of an n × d matrix.
    pub fn from_rows(x: MatRef<'a, T>) -> Self {
        Points { columns: x.transpose() }
    }

    /// The columns of a d × n matrix.
    pub fn from_cols(x: MatRef<'a, T>) -> Self {
        Points { columns: x }
    }

    /// The n points on the real line (d = 1) in a slice.
    pub fn from_slice(x: &'a [T]) -> Self {
        Points { columns: MatRef::from_row_major_slice(x, 1, x.len()) }
    }

    /// The points whose coordinates are stored in `x` one point after another, d numbers each.
    ///
    /// ```
    /// use nystrom_kernels::Points;
    /// let x = Points::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
    /// assert_eq!((x.len(), x.dim(), x.coordinate(2, 0)), (3, 2, 5.0));
    /// ```
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of `d`.
    pub fn from_row_major(x: &'a [T], d: usize) -> Self {
        let n = x.len().checked_div(d).unwrap_or(0);
        Points { columns: MatRef::from_column_major_slice(x, d, n) }
    }

    /// n, the number of points.
    pub fn len(&self) -> usize {
        self.columns.ncols()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// d, the number of coordinates of each point.
    pub fn dim(&self) -> usize {
        self.columns.nrows()
    }

    /// The d × n matrix whose columns are the points.
    pub fn as_cols(&self) -> MatRef<'a, T> {
        self.columns
    }

    /// Coordinate `k` of point `i`.
    ///
    /// # Panics
    /// If `i >= len()` or `k >= dim()`.
    pub fn coordinate(&self, i: usize, k: usize) -> T {
        self.columns[(k, i)]
    }

    /// The contiguous points `range`, without copying.
    ///
    /// # Panics
    /// If `range` reaches beyond `len()`.
    pub fn slice(&self, range: Range<usize>) -> Points<'a, T> {
        Points { columns: self.columns.subcols(range.start, range.len()) }
    }

    /// The points with indices `idx`, copied into a d × `idx.len()` matrix.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn gather(&self, idx: Indices<'_>) -> Mat<T> {
        Mat::from_fn(self.dim(), idx.len(), |k, t| self.columns[(k, idx.get(t))])
    }

    /// Checks that n ≥ 1, d ≥ 1 and all coordinates are finite.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) or
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite), whose `row` is the index of the point
    /// and whose `col` is the coordinate, both from 0.
    pub fn check(&self) -> Result<()> {
        validate::not_empty("points (n)", self.len())?;
        validate::not_empty("coordinates of a point (d)", self.dim())?;
        validate::finite("points", self.columns.transpose())
    }

    /// Checks that the points `other` have the same dimension.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) with both dimensions.
    pub fn check_same_dim(&self, other: Points<'_, T>) -> Result<()> {
        validate::same_size("coordinates of a point (d)", self.dim(), other.dim())
    }
}
