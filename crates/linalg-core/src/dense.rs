//! A stored psd matrix as a [`PsdMatrix`].

use crate::{Error, Indices, PsdMatrix, Result, Scalar, validate};
use faer::{ColMut, MatMut, MatRef};

/// A view of an n × n matrix in memory, checked on construction to be square, finite and symmetric.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{Dense, Error};
/// let a = mat![[2.0, 1.0], [1.0, 2.0]];
/// assert!(Dense::new(a.as_ref()).is_ok());
/// let b = mat![[2.0, 1.0], [0.0, 2.0]];
/// assert!(matches!(Dense::new(b.as_ref()), Err(Error::NotSymmetric { row: 0, col: 1, .. })));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a, T> {
    a: MatRef<'a, T>,
}

impl<'a, T: Scalar> Dense<'a, T> {
    /// Wraps `a` (n × n). The caller guarantees that `a` is positive semi-definite; a check would
    /// cost O(n³).
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::Shape`] if not square, [`Error::NonFinite`], and
    /// [`Error::NotSymmetric`] if two mirrored entries differ by more than 8·ε·max|a|. After this
    /// check only the lower triangle is read.
    pub fn new(a: MatRef<'a, T>) -> Result<Self> {
        validate::not_empty("matrix", a.nrows())?;
        validate::same_size("columns of a square matrix", a.nrows(), a.ncols())?;
        validate::finite("matrix", a)?;
        let tolerance = 8.0 * T::EPS * a.norm_max().f64();
        for col in 0..a.ncols() {
            for row in 0..col {
                let (upper, lower) = (a[(row, col)].f64(), a[(col, row)].f64());
                if (upper - lower).abs() > tolerance {
                    return Err(Error::NotSymmetric { what: "matrix", row, col, upper, lower });
                }
            }
        }
        Ok(Dense { a })
    }

    /// Wraps a square matrix given by its lower triangle, unchecked.
    pub(crate) fn of_lower(a: MatRef<'a, T>) -> Self {
        Dense { a }
    }

    /// The matrix itself.
    pub fn as_ref(&self) -> MatRef<'a, T> {
        self.a
    }
}

impl<T: Scalar> PsdMatrix<T> for Dense<'_, T> {
    fn dim(&self) -> usize {
        self.a.nrows()
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, idx: Indices<'_>) {
        for (t, i) in idx.iter().enumerate() {
            out[t] = self.a[(i, i)];
        }
    }

    fn block_into(&self, mut out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                out[(s, t)] = self.a[(i.max(j), i.min(j))];
            }
        }
    }
}
