//! Initial sets with det K_YY > 0: dependent items of a given set are replaced.

use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Error, Indices, PivotedCholesky, PsdMatrix, Result, Scalar, validate};

/// For |Y| < c, a residual K_ii − K_iY K_YY⁻¹ K_Yi of at most this fraction of K_ii may be rounding
/// error.
pub(crate) fn rounding<T: Scalar>(c: usize) -> f64 {
    4.0 * c as f64 * T::EPS
}

/// `c` items with det K_YY > 0, in pivot order. As many independent items as possible are from
/// `wanted`, whose items are distinct.
///
/// A pivoted Cholesky factorisation chooses among `wanted`, the largest residual first (|wanted|²
/// entries, O(c²) memory). Only if that gives fewer than c items, the same rule chooses the others
/// among all n items; that takes n·c entries, nc² flops and n·c numbers of memory.
///
/// # Errors
/// [`Error::RankDeficient`], with the numerical rank, if there are no c independent items,
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
        // If residuals are close to rounding error, the order of the pivots matters: starting again
        // with the largest residuals may find more pivots.
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

/// A factorisation without pivots, with memory for `c` of them.
pub(crate) fn start<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<PivotedCholesky<T>> {
    Ok(PivotedCholesky::start(diagonal(k, "kernel matrix")?, c))
}

/// diag K. An entry that is not finite ([`Error::NonFinite`] of `what`) or negative
/// ([`Error::InvalidWeight`]) is an error.
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

/// Up to `c` pivots, the largest residual first.
fn greedily<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<PivotedCholesky<T>> {
    let mut f = start(k, c)?;
    extend_greedily(&mut f, k, c)?;
    Ok(f)
}

/// Adds pivots, the largest residual first, until there are `c` or no residual is above rounding
/// error.
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

/// The matrix of some rows and columns of K.
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
