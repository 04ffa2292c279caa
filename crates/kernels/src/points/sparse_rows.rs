//! Sparse points: rows of which only the coordinates other than 0 are stored.

use crate::Points;
use faer::MatRef;
use nystrom_linalg_core::{Error, Indices, Result, Scalar, validate};
use std::ops::Range;

/// n sparse points in ℝ^d, stored as compressed sparse rows (CSR): for each point, the coordinates
/// that are not 0 and their column indices.
///
/// Kernels of sums over coordinates ([`Gaussian`](crate::Gaussian) and all isotropic kernels,
/// [`LaplacianL1`](crate::LaplacianL1), [`Linear`](crate::Linear),
/// [`Polynomial`](crate::Polynomial), [`MinMax`](crate::MinMax) and their combinations) are
/// evaluated from the coordinates that two points have in common. n × d numbers are never stored.
/// Other kernels refuse sparse points with [`Error::Sparse`].
///
/// Memory: a value and a column index of 4 bytes for each stored coordinate, 8 bytes for each
/// point.
///
/// ```
/// use nystrom_kernels::{Gaussian, Kernel, SparseRows};
/// // (0, 2, 0, …) and (0, 0, 0, …) in a million dimensions
/// let rows = SparseRows::new(1_000_000, vec![0, 1, 1], vec![1], vec![2.0_f64])?;
/// let k = Gaussian::new(1.0)?.gram(rows.points());
/// assert!((k[(0, 1)] - (-2.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows<T> {
    dim: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> SparseRows<T> {
    /// Rows in `dim` = d dimensions. Row i has the coordinates `columns[t]` with the values
    /// `values[t]` for t from `starts[i]` to `starts[i + 1]` (without it), and is 0 elsewhere.
    /// These are SciPy's `indptr`, `indices` and `data`. The coordinates of a row may come in any
    /// order; they are sorted. O(nd̄ ln d̄) for d̄ coordinates a row.
    ///
    /// # Errors
    /// `Shape` if `starts` does not begin with 0, falls, or does not end with the number of values,
    /// which must be that of the columns; `TooMany` for more than 2³² dimensions;
    /// `IndexOutOfRange` with the row (as the position) for a column that is not below d;
    /// `DuplicateIndex` for a column that a row has twice (add the values up), with its places in
    /// the sorted row. Whether values are finite is checked when points are used.
    pub fn new(
        dim: usize,
        starts: Vec<usize>,
        mut columns: Vec<u32>,
        mut values: Vec<T>,
    ) -> Result<Self> {
        if dim as u64 > 1 << 32 {
            let available = usize::try_from(1_u64 << 32).unwrap_or(usize::MAX);
            let what = "dimensions of sparse points";
            return Err(Error::TooMany { what, requested: dim, available });
        }
        validate::same_size("columns against values of sparse rows", values.len(), columns.len())?;
        validate::same_size("first start of sparse rows", 0, *starts.first().unwrap_or(&1))?;
        validate::same_size("last start of sparse rows", values.len(), starts[starts.len() - 1])?;
        for (i, ends) in starts.windows(2).enumerate() {
            if ends[1] < ends[0] || ends[1] > values.len() {
                let what = "a start of sparse rows (they must not fall)";
                return Err(Error::Shape { what, expected: ends[0], got: ends[1] });
            }
            let row = ends[0]..ends[1];
            sort(&mut columns[row.clone()], &mut values[row.clone()]);
            let columns = &columns[row];
            if let Some(t) = (1..columns.len()).find(|&t| columns[t] == columns[t - 1]) {
                let (index, what) = (columns[t] as usize, "coordinates of a sparse row");
                return Err(Error::DuplicateIndex { what, index, first: t - 1, second: t });
            }
            match columns.last() {
                Some(&last) if last as usize >= dim => {
                    let (what, index) = ("coordinates of a sparse row", last as usize);
                    return Err(Error::IndexOutOfRange { what, position: i, index, n: dim });
                }
                _ => {}
            }
        }
        Ok(SparseRows { dim, starts, columns, values })
    }

    /// The rows of an n × d matrix without their zeros.
    ///
    /// ```
    /// use nystrom_kernels::SparseRows;
    /// let rows = SparseRows::from_dense(faer::mat![[0.0, 3.0], [0.0, 0.0]].as_ref())?;
    /// assert_eq!((rows.len(), rows.dim(), rows.nonzeros()), (2, 2, 1));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `TooMany` for more than 2³² columns.
    pub fn from_dense(x: MatRef<'_, T>) -> Result<Self> {
        let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for i in 0..x.nrows() {
            for k in (0..x.ncols()).filter(|&k| x[(i, k)] != T::zero()) {
                columns.push(k as u32);
                values.push(x[(i, k)]);
            }
            starts.push(values.len());
        }
        SparseRows::new(x.ncols(), starts, columns, values)
    }

    /// n, the number of points.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// d, the number of dimensions.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of stored coordinates.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Where the rows begin and end among [`columns`](Self::columns) and [`values`](Self::values),
    /// n + 1 numbers.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The column indices of the stored coordinates, ascending in each row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values of the stored coordinates.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The rows as points. No copy.
    pub fn points(&self) -> Points<'_, T> {
        Points::sparse(self.view())
    }

    pub(crate) fn view(&self) -> SparseView<'_, T> {
        let SparseRows { dim, starts, columns, values } = self;
        SparseView { dim: *dim, starts, columns, values }
    }
}

/// Sorts the coordinates of a row by their columns.
fn sort<T: Scalar>(columns: &mut [u32], values: &mut [T]) {
    if columns.is_sorted() {
        return;
    }
    let mut pairs: Vec<(u32, T)> = columns.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by_key(|pair| pair.0);
    for (t, (column, value)) in pairs.into_iter().enumerate() {
        (columns[t], values[t]) = (column, value);
    }
}

/// Some consecutive rows of a [`SparseRows`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseView<'a, T> {
    dim: usize,
    /// n + 1 places among all columns and values.
    starts: &'a [usize],
    columns: &'a [u32],
    values: &'a [T],
}

impl<'a, T: Scalar> SparseView<'a, T> {
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The number of stored coordinates.
    pub(crate) fn nonzeros(&self) -> usize {
        self.starts[self.len()] - self.starts[0]
    }

    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        SparseView { starts: &self.starts[rows.start..=rows.end], ..*self }
    }

    /// Columns and values of row `i`.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        let row = self.starts[i]..self.starts[i + 1];
        (&self.columns[row.clone()], &self.values[row])
    }

    pub(crate) fn coordinate(&self, i: usize, k: usize) -> T {
        assert!(k < self.dim, "coordinate {k} of {}", self.dim);
        let (columns, values) = self.row(i);
        columns.binary_search(&(k as u32)).map_or(T::zero(), |t| values[t])
    }

    /// The rows `idx`, copied.
    pub(crate) fn gather(&self, idx: &Indices<'_>) -> SparseRows<T> {
        let mut rows =
            SparseRows { dim: self.dim, starts: vec![0], columns: vec![], values: vec![] };
        for i in idx.iter() {
            let (columns, values) = self.row(i);
            rows.columns.extend_from_slice(columns);
            rows.values.extend_from_slice(values);
            rows.starts.push(rows.values.len());
        }
        rows
    }
}

impl<T: Scalar> SparseView<'_, T> {
    /// The rows j with `f(x_k, j)` in the place of their stored coordinates x_k, and of x_0.
    pub(crate) fn moved(&self, f: impl Fn(T, usize) -> T) -> SparseRows<T> {
        let mut rows =
            SparseRows { dim: self.dim, starts: vec![0], columns: vec![], values: vec![] };
        for j in 0..self.len() {
            let (columns, values) = self.row(j);
            if columns.first() != Some(&0) {
                rows.columns.push(0);
                rows.values.push(f(T::zero(), j));
            }
            rows.columns.extend_from_slice(columns);
            rows.values.extend(values.iter().map(|&x| f(x, j)));
            rows.starts.push(rows.values.len());
        }
        rows
    }
}

/// The coordinates that one of two rows has, ascending, with the values in both rows.
pub(crate) fn merged<'a, T: Scalar>(
    x: (&'a [u32], &'a [T]),
    y: (&'a [u32], &'a [T]),
) -> impl Iterator<Item = (usize, T, T)> + 'a {
    let (mut s, mut t) = (0, 0);
    std::iter::from_fn(move || {
        let (first, second) = (x.0.get(s), y.0.get(t));
        let column = *first.into_iter().chain(second).min()?;
        let taken = |columns: Option<&u32>, at: &mut usize, values: &[T]| {
            if columns != Some(&column) {
                return T::zero();
            }
            *at += 1;
            values[*at - 1]
        };
        let (a, b) = (taken(first, &mut s, x.1), taken(second, &mut t, y.1));
        Some((column as usize, a, b))
    })
}

#[cfg(feature = "serde")]
mod saved {
    use super::SparseRows;
    use nystrom_linalg_core::Scalar;
    use serde::de::{DeserializeOwned, Error as _};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Stored<S, C, V> {
        dimension: usize,
        starts: S,
        columns: C,
        values: V,
    }

    impl<T: Scalar + Serialize> Serialize for SparseRows<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let SparseRows { dim, starts, columns, values } = self;
            Stored { dimension: *dim, starts, columns, values }.serialize(serializer)
        }
    }

    /// Fails with the message of [`SparseRows::new`] for a damaged file.
    impl<'de, T: Scalar + DeserializeOwned> Deserialize<'de> for SparseRows<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let Stored { dimension, starts, columns, values } =
                Stored::<Vec<usize>, Vec<u32>, Vec<T>>::deserialize(deserializer)?;
            SparseRows::new(dimension, starts, columns, values).map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_rows_have_every_coordinate_once() {
        let (x, y) = ((&[1, 4, 7][..], &[1.0, 4.0, 7.0][..]), (&[0, 4][..], &[-0.5, -4.0][..]));
        let all: Vec<_> = merged(x, y).collect();
        assert_eq!(all, [(0, 0.0, -0.5), (1, 1.0, 0.0), (4, 4.0, -4.0), (7, 7.0, 0.0)]);
        assert_eq!(merged(x, (&[], &[])).count(), 3);
        assert_eq!(merged::<f64>((&[], &[]), (&[], &[])).count(), 0);
    }
}
