//! diag(q) K diag(q), evaluated on demand: rows of different quality.

use crate::{Error, Indices, PsdMatrix, Result, Scalar, validate};
use faer::reborrow::*;
use faer::{ColMut, MatMut};

/// Names the weights in errors.
const QUALITY: &str = "quality (leave out rows that must not be chosen)";

/// L = diag(q)·K·diag(q) for an n × n psd matrix K and positive weights q: L_ij = q_i K_ij q_j.
///
/// In a determinantal point process K says how similar two rows are, and q_i how good row i is:
/// det L_CC = det K_CC·Π_{i∈C} q_i². Every sampler, selector and factorisation accepts L as it
/// accepts K. A common factor of all q_i changes no probability of a fixed-size process.
///
/// # Cost
/// The entries of K that a block needs, and two products for each entry; memory for n weights.
///
/// # Source
/// The decomposition into quality and diversity of A. Kulesza & B. Taskar, *Determinantal point
/// processes for machine learning*, 2012, section 3.1.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{Dense, Error, PsdMatrix, Scaled};
/// let k = mat![[1.0, 0.5], [0.5, 1.0]];
/// let l = Scaled::new(Dense::new(k.as_ref())?, vec![1.0, 3.0])?;
/// assert_eq!(l.block((0..2).into(), (0..2).into()), mat![[1.0, 1.5], [1.5, 9.0]]);
///
/// let never = Scaled::new(Dense::new(k.as_ref())?, vec![1.0, 0.0]);
/// assert!(matches!(never, Err(Error::NotPositive { index: 1, value: 0.0, .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scaled<A, T> {
    inner: A,
    q: Vec<T>,
}

impl<T: Scalar, A: PsdMatrix<T>> Scaled<A, T> {
    /// Wraps `inner` (n × n) with the weights `q` of its rows.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are not n weights. [`Error::NotPositive`] with the row of the
    /// first weight that is 0, negative or not finite, or whose square is 0 or overflows: a row
    /// that must never be chosen is to be left out of the matrix.
    pub fn new(inner: A, q: Vec<T>) -> Result<Self> {
        validate::same_size("number of quality weights", inner.dim(), q.len())?;
        validate::all_positive(QUALITY, &q)?;
        let extreme = q.iter().position(|&q| !((q * q).f64() > 0.0 && (q * q).f64().is_finite()));
        if let Some(index) = extreme {
            let what = "squares of quality weights (divide all weights by one number)";
            return Err(Error::NotPositive { what, index, value: (q[index] * q[index]).f64() });
        }
        Ok(Scaled { inner, q })
    }

    /// q, the weights of the rows.
    pub fn weights(&self) -> &[T] {
        &self.q
    }

    /// K, the wrapped matrix.
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<T: Scalar, A: PsdMatrix<T>> PsdMatrix<T> for Scaled<A, T> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, idx: Indices<'_>) {
        self.inner.diag_into(out.rb_mut(), idx.clone());
        for (t, i) in idx.iter().enumerate() {
            out[t] *= self.q[i] * self.q[i];
        }
    }

    fn block_into(&self, mut out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        self.inner.block_into(out.rb_mut(), rows.clone(), cols.clone());
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                out[(s, t)] *= self.q[i] * self.q[j]; // q_i q_j = q_j q_i bit for bit
            }
        }
    }
}
