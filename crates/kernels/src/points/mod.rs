//! A view of n points in ℝ^d: a matrix in either layout, or sparse rows.

mod point_set;
mod sparse_rows;
pub use point_set::PointSet;
pub use sparse_rows::SparseRows;
pub(crate) use sparse_rows::{SparseView, merged};

use faer::{Mat, MatRef};
use nystrom_linalg_core::{Error, Indices, Result, Scalar, validate};
use std::ops::Range;

/// A view of n points in ℝ^d; making or copying it copies no coordinates.
///
/// A matrix does not say whether its rows or its columns are the points, and with a square matrix a
/// mistake goes unnoticed. [`Points::from_rows`] takes an n × d matrix, [`Points::from_cols`] a
/// d × n matrix. Kernels read both layouts at the same speed. [`SparseRows`](crate::SparseRows) are
/// points with few coordinates other than 0.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::Points;
/// let x = mat![[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]];
/// assert_eq!((Points::from_rows(x.as_ref()).len(), Points::from_rows(x.as_ref()).dim()), (2, 3));
/// assert_eq!((Points::from_cols(x.as_ref()).len(), Points::from_cols(x.as_ref()).dim()), (3, 2));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Points<'a, T>(Form<'a, T>);

/// The coordinates.
#[derive(Debug, Clone, Copy)]
enum Form<'a, T> {
    /// d × n.
    Dense(MatRef<'a, T>),
    Sparse(SparseView<'a, T>),
}

impl<'a, T: Scalar> Points<'a, T> {
    /// The rows of an n × d matrix.
    pub fn from_rows(x: MatRef<'a, T>) -> Self {
        Points::from_cols(x.transpose())
    }

    /// The columns of a d × n matrix.
    pub fn from_cols(x: MatRef<'a, T>) -> Self {
        Points(Form::Dense(x))
    }

    /// The n points on the real line (d = 1) in a slice.
    pub fn from_slice(x: &'a [T]) -> Self {
        Points::from_cols(MatRef::from_row_major_slice(x, 1, x.len()))
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
        Points::from_cols(MatRef::from_column_major_slice(x, d, n))
    }

    /// Sparse points.
    pub(crate) fn sparse(rows: SparseView<'a, T>) -> Self {
        Points(Form::Sparse(rows))
    }

    /// n, the number of points.
    pub fn len(&self) -> usize {
        match self.0 {
            Form::Dense(columns) => columns.ncols(),
            Form::Sparse(rows) => rows.len(),
        }
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// d, the number of coordinates of each point.
    pub fn dim(&self) -> usize {
        match self.0 {
            Form::Dense(columns) => columns.nrows(),
            Form::Sparse(rows) => rows.dim(),
        }
    }

    /// Whether the points are sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self.0, Form::Sparse(_))
    }

    /// The number of stored coordinates: n·d for dense points.
    pub fn stored(&self) -> usize {
        match self.0 {
            Form::Dense(columns) => columns.nrows() * columns.ncols(),
            Form::Sparse(rows) => rows.nonzeros(),
        }
    }

    /// The mean number of stored coordinates of a point, rounded up: d for dense points. The cost
    /// of a kernel value is proportional to it.
    ///
    /// ```
    /// use nystrom_kernels::SparseRows;
    /// let rows = SparseRows::new(1_000_000, vec![0, 2, 3], vec![7, 9, 2], vec![1.0_f64; 3])?;
    /// assert_eq!((rows.points().dim(), rows.points().mean_stored()), (1_000_000, 2));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn mean_stored(&self) -> usize {
        match self.0 {
            Form::Dense(columns) => columns.nrows(),
            Form::Sparse(rows) => rows.nonzeros().div_ceil(rows.len().max(1)),
        }
    }

    /// The d × n matrix whose columns are the points.
    ///
    /// # Panics
    /// If the points are sparse.
    pub fn as_cols(&self) -> MatRef<'a, T> {
        match self.0 {
            Form::Dense(columns) => columns,
            Form::Sparse(_) => panic!("sparse points have no matrix of coordinates"),
        }
    }

    /// The column indices, ascending, and the values of the stored coordinates of sparse point `i`;
    /// `None` for dense points.
    ///
    /// # Panics
    /// If the points are sparse and `i >= len()`.
    pub fn sparse_row(&self, i: usize) -> Option<(&'a [u32], &'a [T])> {
        self.as_sparse().map(|rows| rows.row(i))
    }

    pub(crate) fn as_sparse(&self) -> Option<SparseView<'a, T>> {
        match self.0 {
            Form::Dense(_) => None,
            Form::Sparse(rows) => Some(rows),
        }
    }

    /// Coordinate `k` of point `i`; O(ln d) for sparse points.
    ///
    /// # Panics
    /// If `i >= len()` or `k >= dim()`.
    pub fn coordinate(&self, i: usize, k: usize) -> T {
        match self.0 {
            Form::Dense(columns) => columns[(k, i)],
            Form::Sparse(rows) => rows.coordinate(i, k),
        }
    }

    /// Calls `f(k, x_k)` for every stored coordinate k of point `i`, ascending: for all of a dense
    /// point.
    pub(crate) fn for_each_stored(&self, i: usize, mut f: impl FnMut(usize, T)) {
        match self.0 {
            Form::Dense(columns) => columns.col(i).iter().enumerate().for_each(|(k, &x)| f(k, x)),
            Form::Sparse(rows) => {
                let (columns, values) = rows.row(i);
                columns.iter().zip(values).for_each(|(&k, &x)| f(k as usize, x));
            }
        }
    }

    /// Calls `f(x_k − y_k)` for the coordinates k of points `i` and `j`, in `f64`, without those
    /// that neither of two sparse points has.
    ///
    /// ```
    /// use nystrom_kernels::Points;
    /// let (x, mut square) = ([1.0, 2.0, 4.0, 6.0], 0.0);
    /// Points::from_row_major(&x, 2).for_each_difference(0, 1, |gap| square += gap * gap);
    /// assert_eq!(square, 25.0);
    /// ```
    ///
    /// # Panics
    /// If there is no point `i` or `j`.
    pub fn for_each_difference(&self, i: usize, j: usize, mut f: impl FnMut(f64)) {
        match self.0 {
            Form::Dense(x) => {
                (0..x.nrows()).for_each(|k| f(x[(k, i)].f64() - x[(k, j)].f64()));
            }
            Form::Sparse(rows) => {
                merged(rows.row(i), rows.row(j)).for_each(|(_, x, y)| f(x.f64() - y.f64()));
            }
        }
    }

    /// The contiguous points `range`, without copying.
    ///
    /// # Panics
    /// If `range` reaches beyond `len()`.
    pub fn slice(&self, range: Range<usize>) -> Points<'a, T> {
        Points(match self.0 {
            Form::Dense(columns) => Form::Dense(columns.subcols(range.start, range.len())),
            Form::Sparse(rows) => Form::Sparse(rows.slice(range)),
        })
    }

    /// The points with indices `idx`, copied.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn gather(&self, idx: Indices<'_>) -> PointSet<T> {
        match self.0 {
            Form::Dense(columns) => {
                Mat::from_fn(self.dim(), idx.len(), |k, t| columns[(k, idx.get(t))]).into()
            }
            Form::Sparse(rows) => rows.gather(&idx).into(),
        }
    }

    /// All points, copied.
    pub fn to_owned(&self) -> PointSet<T> {
        match self.0 {
            Form::Dense(columns) => columns.to_owned().into(),
            Form::Sparse(rows) => rows.gather(&(0..rows.len()).into()).into(),
        }
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
        self.check_finite("points")
    }

    /// Checks that all coordinates are finite; `what` names the points in the error.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite), as [`check`](Self::check).
    pub fn check_finite(&self, what: &'static str) -> Result<()> {
        let rows = match self.0 {
            Form::Dense(columns) => return validate::finite(what, columns.transpose()),
            Form::Sparse(rows) => rows,
        };
        for row in 0..rows.len() {
            let (columns, values) = rows.row(row);
            if let Some(t) = values.iter().position(|x| !num_traits::Float::is_finite(*x)) {
                let (col, value) = (columns[t] as usize, values[t].f64());
                return Err(Error::NonFinite { what, row, col, value });
            }
        }
        Ok(())
    }

    /// [`check`](Self::check), and that the points are dense.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); [`Sparse`](nystrom_linalg_core::Error::Sparse).
    pub fn check_dense(&self) -> Result<()> {
        let problem = "dense points are needed here; a kernel of distances or inner products, such \
                       as `Gaussian` or `Linear`, takes sparse ones in selectors and regression";
        if self.is_sparse() { Err(Error::Sparse { problem }) } else { self.check() }
    }

    /// Checks that the points `other` have the same dimension and form.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) with both dimensions;
    /// [`Sparse`](nystrom_linalg_core::Error::Sparse) if only one of the two sets is sparse.
    pub fn check_same_dim(&self, other: Points<'_, T>) -> Result<()> {
        if self.is_sparse() != other.is_sparse() {
            let problem = "one set of points is sparse, another is dense; use one form for both: \
                           `SparseRows::from_dense`, or a dense matrix";
            return Err(Error::Sparse { problem });
        }
        validate::same_size("coordinates of a point (d)", self.dim(), other.dim())
    }
}
