//! Views of matrices of other crates, without a copy.

use faer::MatRef;

/// A view of an array of the crate `ndarray` as a matrix of the same shape, n × d. `None` unless
/// the array is contiguous in memory, row-major or column-major; ndarray's `as_standard_layout`
/// copies any array to row-major order.
///
/// ```
/// use ndarray::{array, s};
/// use nystrom_linalg_core::ndarray_view;
/// let x = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let view = ndarray_view(x.view()).expect("rows one after another");
/// assert_eq!((view.shape(), view[(2, 0)]), ((3, 2), 5.0));
/// assert!(ndarray_view(x.slice(s![.., ..1])).is_none()); // a column of a row-major array
/// let column = x.slice(s![.., ..1]).as_standard_layout().into_owned();
/// assert_eq!(ndarray_view(column.view()).unwrap()[(1, 0)], 3.0);
/// ```
#[cfg(feature = "ndarray")]
#[must_use]
pub fn ndarray_view<T>(a: ndarray::ArrayView2<'_, T>) -> Option<MatRef<'_, T>> {
    let (n, d) = a.dim();
    if let Some(rows) = a.to_slice() {
        return Some(MatRef::from_row_major_slice(rows, n, d));
    }
    let columns = a.reversed_axes().to_slice()?;
    Some(MatRef::from_column_major_slice(columns, n, d))
}

/// A view of a matrix of the crate `nalgebra` as a matrix of the same shape, n × d.
///
/// ```
/// use nalgebra::dmatrix;
/// use nystrom_linalg_core::nalgebra_view;
/// let x = dmatrix![1.0, 2.0; 3.0, 4.0; 5.0, 6.0];
/// let view = nalgebra_view(&x);
/// assert_eq!((view.shape(), view[(2, 0)]), ((3, 2), 5.0));
/// ```
#[cfg(feature = "nalgebra")]
#[must_use]
pub fn nalgebra_view<T>(a: &nalgebra::DMatrix<T>) -> MatRef<'_, T>
where
    T: nalgebra::Scalar,
{
    MatRef::from_column_major_slice(a.as_slice(), a.nrows(), a.ncols())
}
