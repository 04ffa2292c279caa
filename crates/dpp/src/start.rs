//! A set to start from with det K_YY > 0: what is dependent in a given one is replaced, not
//! refused.

use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Error, Indices, PivotedCholesky, PsdMatrix, Result, Scalar, validate};

/// A residual K_ii − K_iY K_YY⁻¹ K_Yi of at most this fraction of K_ii cannot be told from 0
/// when |Y| < c.
pub(crate) fn rounding<T: Scalar>(c: usize) -> f64 {
    4.0 * c as f64 * T::EPS
}

/// `c` items with det K_YY > 0, as many of the distinct `wanted` as are independent of one another,
/// in pivot order.
///
/// Among `wanted` by Cholesky with the largest residual first (|wanted|² entries, O(c²) memory).
/// Only if that leaves fewer than c, the rest by the same rule among all n items. That takes n·c
/// entries, nc² flops and n·c numbers of memory, once.
///
/// # Errors
/// [`Error::RankDeficient`] with the numerical rank if there are no c independent items,
/// [`Error::NonFinite`], [`Error::InvalidWeight`] for a negative diagonal entry.
pub(crate) fn independent<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    wanted: &[usize],
    c: usize,
) -> Result<Vec<usize>> {
    validate::not_empty("subset (c)", c)?;
    let some = greedily(&Among { k, rows: wanted }, c)
        .map_err(|error| error.placed(|i, j| (wanted[i], wanted[j])))?;
    let pivots: Vec<usize> = some.pivots().iter().map(|&t| wanted[t]).collect();
    if pivots.len() == c {
        return Ok(pivots);
    }
    let mut all = start(k, c)?;
    for i in pivots {
        all.take(k, i)?;
    }
    extend_greedily(&mut all, k, c)?;
    if all.rank() < c {
        // Close to rounding error the order matters: the largest residuals first from the beginning
        // may find more.
        let afresh = greedily(k, c)?;
        if afresh.rank() > all.rank() {
            all = afresh;
        }
    }
    let rank = all.rank();
    if rank == c {
        Ok(all.pivots().to_vec())
    } else {
        Err(Error::RankDeficient { requested: c, rank })
    }
}

/// No pivot yet, room for `c`.
pub(crate) fn start<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<PivotedCholesky<T>> {
    Ok(PivotedCholesky::start(diagonal(k, "kernel matrix")?, c))
}

/// diag K, checked: [`Error::NonFinite`] of `what`, or [`Error::InvalidWeight`] for a negative
/// entry, whichever comes first.
pub(crate) fn diagonal<T: Scalar>(k: &dyn PsdMatrix<T>, what: &'static str) -> Result<Vec<f64>> {
    let diagonal: Vec<f64> = k.diag().into_iter().map(T::f64).collect();
    for (i, &value) in diagonal.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NonFinite { what, row: i, col: i, value });
        }
        if value < 0.0 {
            let what = "diagonal of the matrix";
            return Err(Error::InvalidWeight { what, index: i, value });
        }
    }
    Ok(diagonal)
}

/// From no pivot.
fn greedily<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<PivotedCholesky<T>> {
    let mut f = start(k, c)?;
    extend_greedily(&mut f, k, c)?;
    Ok(f)
}

/// The largest residual first, until there are `c` pivots or nothing above rounding error is left.
fn extend_greedily<T: Scalar>(
    f: &mut PivotedCholesky<T>,
    k: &dyn PsdMatrix<T>,
    c: usize,
) -> Result<()> {
    while f.rank() < c {
        let (residual, diagonal) = (f.residual(), f.diagonal());
        let above = |&t: &usize| residual[t] > rounding::<T>(c) * diagonal[t];
        let largest = (0..k.dim()).filter(above).max_by(|&s, &t| {
            residual[s].total_cmp(&residual[t]).then(t.cmp(&s)) // the first of equals
        });
        let Some(t) = largest else { break };
        f.take(k, t)?;
    }
    Ok(())
}

/// Some rows and columns of K.
pub(crate) struct Among<'a, T: Scalar> {
    pub k: &'a dyn PsdMatrix<T>,
    pub rows: &'a [usize],
}

impl<T: Scalar> Among<'_, T> {
    fn of_matrix(&self, idx: &Indices<'_>) -> Vec<usize> {
        idx.iter().map(|t| self.rows[t]).collect()
    }
}

impl<T: Scalar> PsdMatrix<T> for Among<'_, T> {
    fn dim(&self) -> usize {
        self.rows.len()
    }
    fn diag_into(&self, out: ColMut<'_, T>, idx: Indices<'_>) {
        self.k.diag_into(out, (&self.of_matrix(&idx)).into());
    }
    fn block_into(&self, out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        let (rows, cols) = (self.of_matrix(&rows), self.of_matrix(&cols));
        self.k.block_into(out, (&rows).into(), (&cols).into());
    }
}
