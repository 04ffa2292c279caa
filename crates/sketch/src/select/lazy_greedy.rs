//! The pivots of greedy selection, with few residuals computed.

use nystrom_linalg_core::faer::MatRef;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, ops, validate, work};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows brought up to date at first when the largest bound of a step is out of date; then twice as
/// many.
const FEWEST: usize = 64;
/// Most rows brought up to date together.
const MOST: usize = 1024;
/// Rows of a parallel task.
const ROWS: usize = 32;
/// Pivots of a block: those with the numbers 16b to 16b + 15. An entry of F is found from one sum
/// over the pivots before its block and one over pivots of its block.
const BLOCK: usize = 16;
/// Most pivots for which a task evaluates entries of A at once.
const COLUMNS: usize = 128;

/// The rows that [`Greedy`](crate::Greedy) takes as its first k pivots with the tolerance 0, and
/// ln det of their block.
///
/// Residuals only fall, so that a residual computed at an earlier step is an upper bound. In a
/// step, only rows whose bound is the largest are brought up to date, until the largest one is no
/// longer a bound (M. Minoux's accelerated greedy algorithm, *Optimization Techniques*, 1978).
///
/// At most about (k + 1)n entries and nk² flops, as for the whole factor; half to nine tenths of
/// them for normal points. n·k numbers of memory; where the operating system provides memory only
/// when it is written, rows that are never brought up to date take none. Each time a row is brought
/// up to date, up to 15 of its entries may be evaluated again, because rows of nearly the same
/// length share a block of A. Most flops are those of [`ops::dots`].
///
/// If the bits of an entry of A do not depend on the block, those of an entry of F do not depend
/// on when and with which other rows it is computed: batches and tasks of any size give the same
/// choice.
///
/// # Errors
/// `Error::Empty`, `Error::TooMany`; `Error::InvalidWeight` for a diagonal entry that is
/// negative or not finite, or if all are 0; `Error::NonFinite`.
pub(crate) fn lazy_greedy<T: Scalar>(A: &dyn PsdMatrix<T>, k: usize) -> Result<(Vec<usize>, f64)> {
    let mut numbers = Lazy::numbers(A, k)?;
    let mut state = Lazy::start(A, k, &mut numbers)?;
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
    rows: Vec<Row<'a>>,
    open: BinaryHeap<Bound>,
    pivots: Vec<usize>,
    /// The rows of F of the pivots, up to the diagonal.
    factor: Vec<&'a [f64]>,
}

/// The first entries of row i of F.
#[derive(Default)]
struct Row<'a> {
    /// The k places of the row, of which the first `known` are computed. Places of their own for
    /// each row, allocated as rows grow, would leave gaps that need as much memory again.
    f: &'a mut [f64],
    known: usize,
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
    /// The places of F, n × k.
    fn numbers(A: &dyn PsdMatrix<T>, k: usize) -> Result<Vec<f64>> {
        validate::not_empty("matrix", A.dim())?;
        validate::at_most("landmarks", k, A.dim())?;
        Ok(vec![0.0; A.dim() * k])
    }

    fn start(A: &'a dyn PsdMatrix<T>, k: usize, numbers: &'a mut [f64]) -> Result<Self> {
        let diagonal: Vec<f64> = A.diag().into_iter().map(T::f64).collect();
        validate::weights("diagonal of the matrix", &diagonal)?;
        let places = numbers.chunks_exact_mut(k.max(1));
        let row = |(f, &a): (&'a mut [f64], &f64)| Row { f, known: 0, residual: a, diagonal: a };
        let rows: Vec<Row<'_>> = places.zip(&diagonal).map(row).collect();
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
                && self.rows[top.row].known < self.pivots.len()
            {
                stale.push(top.row);
                self.open.pop();
            }
            if stale.is_empty() {
                return Ok(self.open.pop().map(|top| top.row));
            }
            self.bring_up_to_date(&stale)?;
            stale.into_iter().for_each(|i| self.reopen(i));
            batch = (2 * batch).min(MOST);
        }
    }

    /// Computes all entries of F for the rows `stale`, and their residuals.
    fn bring_up_to_date(&mut self, stale: &[usize]) -> Result<()> {
        let mut rows: Vec<(usize, Row<'_>)> =
            stale.iter().map(|&i| (i, std::mem::take(&mut self.rows[i]))).collect();
        rows.sort_by_key(|(_, row)| row.known);
        let done: Vec<Result<()>> = work::side_by_side(|pieces| {
            let tasks = rows.par_chunks_mut(ROWS);
            tasks.map(|rows| pieces.piece(|| self.complete(rows))).collect()
        });
        rows.into_iter().for_each(|(i, row)| self.rows[i] = row);
        done.into_iter().collect() // in order: the first error
    }

    /// Computes the entries that the rows lack. The rows are sorted by their length.
    fn complete(&self, rows: &mut [(usize, Row<'_>)]) -> Result<()> {
        let k = self.pivots.len();
        let items: Vec<usize> = rows.iter().map(|(i, _)| *i).collect();
        let mut from = rows.first().map_or(k, |(_, row)| row.known);
        while from < k {
            // the rows of length `from` and those up to 15 entries longer share a block of A
            let short = rows.partition_point(|(_, row)| row.known < from + BLOCK);
            let next = rows.get(short).map_or(k, |(_, row)| row.known);
            let to = next.min(from + COLUMNS);
            let (items, pivots) = (&items[..short], &self.pivots[from..to]);
            // kernels compute the rows of a block in the lanes of registers
            let A = self.A.block(items.into(), pivots.into());
            validate::finite_block(A.as_ref(), items, pivots)?;
            self.extend(&mut rows[..short], from..to, A.as_ref());
            from = to;
        }
        Ok(())
    }

    /// Extends rows, which have at least `pivots.start` entries, to `pivots.end` entries:
    /// F(i, s) = (A(i, s) − Σ_{r<s} F(i, r) F(s, r))/F(s, s). `A` is the block of A for the rows
    /// and the pivots.
    fn extend(&self, rows: &mut [(usize, Row<'_>)], pivots: Range<usize>, A: MatRef<'_, T>) {
        let mut first = pivots.start;
        while first < pivots.end {
            let start = first - first % BLOCK;
            let end = pivots.end.min(start + BLOCK);
            let factor = &self.factor[first..end];
            let known: Vec<&[f64]> = rows.iter().map(|(_, row)| &row.f[..start]).collect();
            let of_pivots: Vec<&[f64]> = factor.iter().map(|row| &row[..start]).collect();
            let before = ops::dots(&known, &of_pivots); //              Σ_{r<start}
            work::triangular_solve(end - first, rows.len());
            for (s, pivot) in (first..end).zip(factor) {
                let rows = rows.iter_mut().map(|(_, row)| row).enumerate();
                for (t, row) in rows.filter(|(_, row)| row.known == s) {
                    let block = row.f[start..s].iter().zip(&pivot[start..s]);
                    let block: f64 = block.map(|(x, y)| x * y).sum(); //    Σ_{start≤r<s}
                    let rest = A[(t, s - pivots.start)].f64() - before[(t, s - first)] - block;
                    let f = rest / pivot[s];
                    row.residual -= f * f;
                    row.f[s] = f;
                    row.known = s + 1;
                }
            }
            first = end;
        }
    }

    /// Takes row s, whose residual is known, as the next pivot.
    fn take(&mut self, s: usize) {
        let Row { f, known, residual, .. } = std::mem::take(&mut self.rows[s]);
        f[known] = residual.sqrt();
        self.pivots.push(s);
        self.factor.push(&f[..=known]);
    }

    /// Puts row i among those that can be taken, if its residual is above the rounding error
    /// (r + 10)·ε·A_ii after r pivots.
    fn reopen(&mut self, i: usize) {
        let Row { residual, diagonal, .. } = self.rows[i];
        if residual > (self.pivots.len() + 10) as f64 * T::EPS * diagonal {
            self.open.push(Bound { residual, row: i });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_linalg_core::faer::Mat;
    use nystrom_linalg_core::{Dense, random};
    use rand::SeedableRng;

    const N: usize = 90;
    /// Not a multiple of a block.
    const K: usize = 53;

    /// The rows of F below the pivots 0, …, K − 1, with their residuals. Before the pivots `stops`
    /// are taken, two thirds of these rows are brought up to date, `together` at a time.
    fn factor_of(A: &Dense<'_, f64>, stops: &[usize], together: usize) -> Vec<(Vec<f64>, f64)> {
        let mut numbers = Lazy::numbers(A, N).unwrap();
        let mut state = Lazy::start(A, N, &mut numbers).unwrap();
        for s in 0..K {
            let stale = (K..N).filter(|i| (i + s) % 3 > 0).collect::<Vec<_>>();
            if stops.contains(&s) {
                stale.chunks(together).for_each(|rows| state.bring_up_to_date(rows).unwrap());
            }
            state.bring_up_to_date(&[s]).unwrap();
            state.take(s);
        }
        let all: Vec<usize> = (K..N).collect();
        all.chunks(together).for_each(|rows| state.bring_up_to_date(rows).unwrap());
        state
            .rows
            .into_iter()
            .skip(K)
            .map(|row| (row.f[..row.known].to_vec(), row.residual))
            .collect()
    }

    /// Rows of any length, extended with any other rows, get the same bits, near those of a plain
    /// loop.
    #[test]
    fn an_entry_does_not_depend_on_when_it_is_computed() {
        let x = random::standard_normal::<f64>(N, N, &mut rand_pcg::Pcg64::seed_from_u64(0));
        let a = &x * x.transpose();
        let A = Dense::new(a.as_ref()).unwrap();
        let at_once = factor_of(&A, &[], N);
        let stops: [&[usize]; 4] =
            [&[37], &[1, 2, 16, 33], &[5, 15, 17, 32, 50, 52], &[31, 47, 48]];
        for (stops, together) in stops.into_iter().zip([N, 1, 5, 36]) {
            assert!(factor_of(&A, stops, together) == at_once, "stops {stops:?}");
        }
        let mut F = Mat::<f64>::zeros(N, K);
        for (i, s) in (0..N).flat_map(|i| (0..K.min(i + 1)).map(move |s| (i, s))) {
            let rest = a[(i, s)] - (0..s).map(|r| F[(i, r)] * F[(s, r)]).sum::<f64>();
            F[(i, s)] = if i == s { rest.sqrt() } else { rest / F[(s, s)] };
        }
        for (i, (f, residual)) in (K..N).zip(at_once) {
            let error = |s: usize| (f[s] - F[(i, s)]).abs();
            assert!(f.len() == K && (0..K).all(|s| error(s) < 1e-10), "row {i}");
            let plain = a[(i, i)] - f.iter().map(|f| f * f).sum::<f64>();
            assert!((residual - plain).abs() < 1e-10, "row {i}");
        }
    }
}
