//! Points that own their coordinates, in either form.

use crate::{Points, SparseRows};
use faer::Mat;
use nystrom_linalg_core::Scalar;

/// n points with their coordinates, dense or sparse: what [`Points::gather`] copies, and the
/// centres that a model holds.
///
/// ```
/// use nystrom_kernels::{PointSet, Points};
/// let all = [0.5, 1.5, 2.5];
/// let some: PointSet<f64> = Points::from_slice(&all).gather((&[2, 0]).into());
/// assert_eq!((some.points().len(), some.points().coordinate(0, 0)), (2, 2.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "T: Scalar + serde::Serialize",
        deserialize = "T: Scalar + serde::de::DeserializeOwned"
    ))
)]
pub enum PointSet<T> {
    /// The columns of a d × n matrix.
    #[cfg_attr(feature = "serde", serde(with = "nystrom_linalg_core::serialize::matrix"))]
    Dense(Mat<T>),
    /// Sparse rows.
    Sparse(SparseRows<T>),
}

impl<T: Scalar> PointSet<T> {
    /// A view of the points. No copy.
    pub fn points(&self) -> Points<'_, T> {
        match self {
            PointSet::Dense(columns) => Points::from_cols(columns.as_ref()),
            PointSet::Sparse(rows) => rows.points(),
        }
    }
}

impl<T> From<Mat<T>> for PointSet<T> {
    /// The columns of a d × n matrix.
    fn from(columns: Mat<T>) -> Self {
        PointSet::Dense(columns)
    }
}

impl<T> From<SparseRows<T>> for PointSet<T> {
    fn from(rows: SparseRows<T>) -> Self {
        PointSet::Sparse(rows)
    }
}
