//! The Schur complement of given rows, evaluated on demand: what these rows do not explain.

use crate::{Error, Indices, PivotedCholesky, PsdMatrix, Result, Scalar, psd_factor, validate};
use faer::reborrow::*;
use faer::{ColMut, Mat, MatMut};

/// Names the list of given rows in errors.
const GIVEN: &str = "given rows";

/// K_RR − K_RA K_AA⁻¹ K_AR for given rows A of an n × n psd matrix K and all other rows R, a matrix
/// of n − |A| rows.
///
/// Its row i is row [`rest()`](Self::rest)\[i\] of K. For every set S of other rows, det K_{A∪S} =
/// det K_AA · det (K_RR − K_RA K_AA⁻¹ K_AR)_SS. A fixed-size determinantal process conditioned on
/// A ⊂ C is therefore that of this matrix for the rows C − A, and the greedy choice after A is the
/// greedy choice from this matrix. [`complete`](Self::complete) turns rows of it into a set of rows
/// of K.
///
/// The complement is K_RR − FFᵀ with the factor F of a partial Cholesky factorisation with pivots
/// A. A row whose residual is within its rounding error ([`PivotedCholesky::floor`]) depends on the
/// given rows; all its entries are exactly 0.
///
/// # Cost
/// |A|·n + n entries and 2n|A|² flops to set up, n·|A| numbers of memory. A block takes its entries
/// of K, and 2|A| flops and twice the memory for each.
///
/// # Source
/// Conditioning of determinantal processes: A. Borodin & E. Rains, J. Statist. Phys. 121 (2005);
/// A. Kulesza & B. Taskar, *Determinantal point processes for machine learning*, 2012, section
/// 2.4.3.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{Dense, Error, PsdMatrix, SchurComplement};
/// let k = mat![[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]];
/// let rest = SchurComplement::new(Dense::new(k.as_ref())?, &[1])?;
/// assert_eq!(rest.rest(), [0, 2]);
/// let block = rest.block((0..2).into(), (0..2).into());
/// assert!((block - mat![[1.5, -0.5], [-0.5, 1.5]]).norm_max() < 1e-15);
/// assert_eq!(rest.complete(&[1]), [1, 2]);
/// assert!(matches!(
///     SchurComplement::new(Dense::new(k.as_ref())?, &[1, 7]),
///     Err(Error::IndexOutOfRange { index: 7, .. })
/// ));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SchurComplement<A, T> {
    inner: A,
    given: Vec<usize>,
    rest: Vec<usize>,
    F: Mat<T>,        // K_{:,A} L⁻ᵀ with LLᵀ = K_AA, n × |A|
    diagonal: Vec<T>, // of the complement
    log_det: f64,
}

impl<T: Scalar, A: PsdMatrix<T>> SchurComplement<A, T> {
    /// The complement of the rows `given` of `inner`; without given rows, the matrix itself.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::IndexOutOfRange`] and [`Error::DuplicateIndex`] for
    /// `given`; [`Error::Dependent`] with the first given row that those before it determine, up to
    /// rounding: then det K_AA = 0, and no set that contains A has a positive determinant.
    /// [`Error::InvalidWeight`] for a diagonal entry of K that is negative or not finite,
    /// [`Error::NonFinite`] for another entry.
    pub fn new(inner: A, given: &[usize]) -> Result<Self> {
        let n = inner.dim();
        validate::not_empty("matrix", n)?;
        Indices::from(given).check_distinct(n, GIVEN)?;
        let a_ii: Vec<f64> = inner.diag().into_iter().map(T::f64).collect();
        validate::all_nonnegative("diagonal of the matrix", &a_ii)?;
        let mut f = PivotedCholesky::start(a_ii, given.len());
        for (position, &index) in given.iter().enumerate() {
            if !f.take(&inner, index)? {
                return Err(Error::Dependent { what: GIVEN, index, position });
            }
        }
        let mut is_given = vec![false; n];
        given.iter().for_each(|&i| is_given[i] = true);
        let rest: Vec<usize> = (0..n).filter(|&i| !is_given[i]).collect();
        let diagonal = rest.iter().map(|&i| T::lit(f.residual()[i])).collect();
        let (log_det, given) = (f.log_det(), given.to_vec());
        Ok(SchurComplement { inner, given, rest, F: f.into_factor(), diagonal, log_det })
    }

    /// A, the given rows of K, in the order given.
    pub fn given(&self) -> &[usize] {
        &self.given
    }

    /// R: for each row of the complement, its number in K, in increasing order.
    pub fn rest(&self) -> &[usize] {
        &self.rest
    }

    /// ln det K_AA; 0 without given rows.
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    /// The number of rows to choose beside the given ones, so that there are `c` in all.
    ///
    /// # Errors
    /// [`Error::TooMany`] if more than c rows are given, or if c > n.
    pub fn missing(&self, c: usize) -> Result<usize> {
        validate::at_most("rows in all", c, self.given.len() + self.rest.len())?;
        c.checked_sub(self.given.len()).ok_or(Error::TooMany {
            what: "rows to include in the subset",
            requested: self.given.len(),
            available: c,
        })
    }

    /// The given rows and the rows `chosen` of the complement, all as rows of K.
    ///
    /// # Panics
    /// If an index is not below n − |A|.
    pub fn complete(&self, chosen: &[usize]) -> Vec<usize> {
        self.given.iter().copied().chain(chosen.iter().map(|&i| self.rest[i])).collect()
    }

    /// The rows of K for rows of the complement.
    fn of_matrix(&self, idx: &Indices<'_>) -> Vec<usize> {
        idx.iter().map(|i| self.rest[i]).collect()
    }
}

impl<T: Scalar, A: PsdMatrix<T>> PsdMatrix<T> for SchurComplement<A, T> {
    fn dim(&self) -> usize {
        self.rest.len()
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, idx: Indices<'_>) {
        for (t, i) in idx.iter().enumerate() {
            out[t] = self.diagonal[i];
        }
    }

    fn block_into(&self, mut out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        let (in_rows, in_cols) = (self.of_matrix(&rows), self.of_matrix(&cols));
        self.inner.block_into(out.rb_mut(), (&in_rows).into(), (&in_cols).into());
        let mut explained = Mat::zeros(rows.len(), cols.len());
        let [of_rows, of_cols] = [&in_rows, &in_cols].map(Indices::from);
        psd_factor::block_into(self.F.as_ref(), explained.as_mut(), of_rows, of_cols);
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                let (d_i, d_j) = (self.diagonal[i], self.diagonal[j]);
                if i == j {
                    out[(s, t)] = d_i;
                } else if d_i == T::zero() || d_j == T::zero() {
                    out[(s, t)] = T::zero();
                } else {
                    out[(s, t)] -= explained[(s, t)];
                }
            }
        }
    }
}
