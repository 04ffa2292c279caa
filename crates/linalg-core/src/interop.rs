//! Matrices of other crates, without a copy.

use faer::MatRef;

/// An array of the crate `ndarray` as a matrix, n × d like itself; none unless its rows or its
/// columns lie one after another in memory. `as_standard_layout` makes them so.
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

/// A matrix of the crate `nalgebra`, n × d like itself.
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
