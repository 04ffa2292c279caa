//! The features of rows, dense or sparse.

use crate::error::Result;
use nystrom::faer::{Mat, MatRef};
use nystrom::kernels::{PointSet, SparseRows};
use nystrom::linalg_core::ops;
use nystrom::prelude::*;

/// The features of n rows.
///
/// ```
/// use nystrom::faer::mat;
/// use nystrom_pipeline::Features;
/// let features = Features::from(mat![[0.0, 3.0], [4.0, 5.0], [6.0, 7.0]]);
/// assert_eq!((features.points().len(), features.points().dim()), (3, 2));
/// assert_eq!(features.dense().unwrap()[(1, 0)], 4.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// n × d.
    Dense(Mat<f64>),
    /// Rows of which only the numbers other than 0 are stored.
    Sparse(SparseRows<f64>),
}

impl Features {
    /// The rows as points. No copy.
    pub fn points(&self) -> Points<'_, f64> {
        match self {
            Features::Dense(x) => Points::from_rows(x.as_ref()),
            Features::Sparse(rows) => rows.points(),
        }
    }

    /// The features of dense rows, n × d; `None` for sparse rows.
    pub fn dense(&self) -> Option<MatRef<'_, f64>> {
        match self {
            Features::Dense(x) => Some(x.as_ref()),
            Features::Sparse(_) => None,
        }
    }

    /// A copy of these rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Features {
        match self {
            Features::Dense(x) => Features::Dense(gather(x.as_ref(), rows)),
            Features::Sparse(all) => match all.points().gather(rows.into()) {
                PointSet::Sparse(rows) => Features::Sparse(rows),
                PointSet::Dense(columns) => Features::Dense(columns.transpose().to_owned()),
            },
        }
    }

    /// The rows Ax_i, which are dense; the same rows without a map A, d × d.
    pub(crate) fn mapped(self, map: Option<&Mat<f64>>) -> Features {
        match (self, map) {
            (Features::Dense(x), Some(map)) => {
                Features::Dense(ops::times(x.as_ref(), map.transpose()))
            }
            (same, _) => same,
        }
    }

    /// The rows of the first, then those of the second. Both have the same form and dimension.
    pub(crate) fn stacked(first: &Features, second: &Features) -> Result<Features> {
        let (Features::Sparse(a), Features::Sparse(b)) = (first, second) else {
            let (a, b) = (first.points(), second.points());
            let entry = |i: usize, k| match i.checked_sub(a.len()) {
                None => a.coordinate(i, k),
                Some(i) => b.coordinate(i, k),
            };
            return Ok(Features::Dense(Mat::from_fn(a.len() + b.len(), a.dim(), entry)));
        };
        let later = b.starts()[1..].iter().map(|start| a.nonzeros() + start);
        let starts = a.starts().iter().copied().chain(later).collect();
        let columns = [a.columns(), b.columns()].concat();
        let rows = SparseRows::new(a.dim(), starts, columns, [a.values(), b.values()].concat())?;
        Ok(Features::Sparse(rows))
    }
}

impl From<Mat<f64>> for Features {
    /// The rows of an n × d matrix.
    fn from(x: Mat<f64>) -> Features {
        Features::Dense(x)
    }
}

/// A copy of these rows of a matrix.
pub(crate) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::faer::mat;

    #[test]
    fn sparse_rows_are_selected_and_stacked_as_dense_ones() {
        let x = mat![[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]];
        let both = || {
            let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
            [Features::from(x.clone()), Features::Sparse(sparse)]
        };
        for rows in [&[2, 0, 2][..], &[1], &[]] {
            let [dense, sparse] = both().map(|all| {
                let some = all.select(rows);
                Features::stacked(&some, &all).unwrap()
            });
            let (dense, sparse) = (dense.points(), sparse.points());
            assert!(sparse.is_sparse() && !dense.is_sparse());
            assert_eq!((sparse.len(), sparse.dim()), (rows.len() + 3, 3));
            for (i, k) in (0..sparse.len()).flat_map(|i| (0..3).map(move |k| (i, k))) {
                assert_eq!(sparse.coordinate(i, k), dense.coordinate(i, k));
            }
        }
    }
}
