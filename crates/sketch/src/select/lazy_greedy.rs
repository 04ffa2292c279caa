//! The pivots of greedy selection, with few residuals computed.

use nystrom_linalg_core::{PsdMatrix, Result, Scalar, ops, validate};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Residuals computed at first when the largest bound of a step is out of date; then twice as many.
const FEWEST: usize = 4;
/// Most residuals computed together.
const MOST: usize = 256;
/// Rows of a parallel task.
const ROWS: usize = 16;

/// The rows that [`Greedy`](crate::Greedy) takes as its first k pivots with the tolerance 0, and
/// ln det of their block.
///
/// Residuals only fall, so that a residual computed at an earlier step is an upper bound. In a
/// step, only rows whose bound is the largest are brought up to date, until the largest one is no
/// longer a bound (M. Minoux's accelerated greedy algorithm, *Optimization Techniques*, 1978).
///
/// At most (k + 1)n entries, nk² flops and n·k numbers of memory, as for the whole factor; half to
/// three quarters of it for normal points. Rows are read from memory once for several columns. A
/// value does not depend on when it was computed, so that the choice is the same for any size of
/// the batches.
///
/// # Errors
/// `Error::Empty`, `Error::TooMany`; `Error::InvalidWeight` for a diagonal entry that is
/// negative or not finite, or if all are 0; `Error::NonFinite`.
pub(crate) fn lazy_greedy<T: Scalar>(A: &dyn PsdMatrix<T>, k: usize) -> Result<(Vec<usize>, f64)> {
    let mut state = Lazy::start(A, k)?;
    while state.pivots.len() < k {
        let Some(s) = state.largest()? else { break };
        state.take(s);
    }
    let log_det = state.factor.iter().flat_map(|row| row.last()).map(|root| 2.0 * root.ln()).sum();
    Ok((state.pivots, log_det))
}

/// A partial Cholesky factorisation FFᵀ of which each row is known up to some column.
struct Lazy<'a, T: Scalar> {
    A: &'a dyn PsdMatrix<T>,
    rows: Vec<Row>,
    open: BinaryHeap<Bound>,
    pivots: Vec<usize>,
    /// The rows of F of the pivots, up to the diagonal.
    factor: Vec<Vec<f64>>,
}

/// The first entries of row i of F.
#[derive(Default)]
struct Row {
    f: Vec<f64>,
    /// A_ii − ‖f‖².
    residual: f64,
    /// A_ii.
    diagonal: f64,
}

/// The residual of a row when it was last computed. The largest is the first of the largest.
#[derive(PartialEq)]
struct Bound {
    residual: f64,
    row: usize,
}

impl Eq for Bound {}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.residual.total_cmp(&other.residual).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a, T: Scalar> Lazy<'a, T> {
    fn start(A: &'a dyn PsdMatrix<T>, k: usize) -> Result<Self> {
        validate::not_empty("matrix", A.dim())?;
        validate::at_most("landmarks", k, A.dim())?;
        let diagonal: Vec<f64> = A.diag().into_iter().map(T::f64).collect();
        validate::weights("diagonal of the matrix", &diagonal)?;
        let row = |&a: &f64| Row { f: Vec::new(), residual: a, diagonal: a };
        let rows: Vec<Row> = diagonal.iter().map(row).collect();
        let mut state =
            Lazy { A, rows, open: BinaryHeap::new(), pivots: Vec::new(), factor: Vec::new() };
        (0..diagonal.len()).for_each(|i| state.reopen(i));
        Ok(state)
    }

    /// argmax_i of the residuals; `None` if all are within rounding error.
    fn largest(&mut self) -> Result<Option<usize>> {
        let mut batch = FEWEST;
        loop {
            let mut stale = Vec::new();
            while stale.len() < batch
                && let Some(top) = self.open.peek()
                && self.rows[top.row].f.len() < self.pivots.len()
            {
                let i = top.row;
                stale.push((i, std::mem::take(&mut self.rows[i])));
                self.open.pop();
            }
            if stale.is_empty() {
                return Ok(self.open.pop().map(|top| top.row));
            }
            // rows that are equally far along go together
            stale.sort_by_key(|(_, row)| row.f.len());
            let done: Vec<Result<()>> =
                stale.par_chunks_mut(ROWS).map(|rows| self.bring_up_to_date(rows)).collect();
            done.into_iter().collect::<Result<()>>()?; // in order: the first error
            for (i, row) in stale {
                self.rows[i] = row;
                self.reopen(i);
            }
            batch = (2 * batch).min(MOST);
        }
    }

    /// F(i, s) = (A(i, s) − Σ_{r<s} F(i, r) F(s, r))/F(s, s) for the pivots s that a row lacks.
    fn bring_up_to_date(&self, rows: &mut [(usize, Row)]) -> Result<()> {
        let done = rows.iter().map(|(_, row)| row.f.len()).min().unwrap_or(0);
        let (missing, items) =
            (&self.pivots[done..], rows.iter().map(|(i, _)| *i).collect::<Vec<usize>>());
        let A = self.A.block(missing.into(), (&items[..]).into());
        validate::finite_block(A.transpose(), &items, missing)?;
        for (_, row) in rows.iter_mut() {
            row.f.reserve_exact(self.pivots.len() - row.f.len());
        }
        for (s, pivot) in self.factor.iter().enumerate().skip(done) {
            let lacking = rows.iter_mut().enumerate().filter(|(_, (_, row))| row.f.len() == s);
            for (t, (_, row)) in lacking {
                let f = (A[(s - done, t)].f64() - ops::dot(&pivot[..s], &row.f)) / pivot[s];
                row.residual -= f * f;
                row.f.push(f);
            }
        }
        Ok(())
    }

    /// Takes row s, whose residual is known, as the next pivot.
    fn take(&mut self, s: usize) {
        let Row { mut f, residual, .. } = std::mem::take(&mut self.rows[s]);
        f.push(residual.sqrt());
        self.pivots.push(s);
        self.factor.push(f);
    }

    /// Puts row i among those that can be taken, if its residual is above the rounding error
    /// (r + 10)·ε·A_ii after r pivots.
    fn reopen(&mut self, i: usize) {
        let Row { residual, diagonal, .. } = self.rows[i];
        if residual > (self.pivots.len() + 10) as f64 * T::EPS * diagonal {
            self.open.push(Bound { residual, row: i });
        } else {
            self.rows[i].f = Vec::new();
        }
    }
}
