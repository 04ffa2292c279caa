//! All eigenvalues of a tridiagonal matrix.

use crate::work;
use crate::{Error, Result};

/// Limit on the average number of sweeps per eigenvalue; fewer than two are usual.
const SWEEPS: usize = 30;

/// The eigenvalues, largest first and each with an error of about ε‖T‖, of the symmetric
/// tridiagonal n × n matrix T with this `diagonal` and these `squares` of its off-diagonal entries.
///
/// The QL method without square roots; about 16n² flops.
///
/// # Source
/// K. Pal, Walker & Kahan as in LAPACK's `sterf`: B. Parlett, *The symmetric eigenvalue problem*,
/// 8.15.
///
/// # Errors
/// [`Error::EigenFailure`] if it does not converge.
pub(super) fn eigenvalues(mut diagonal: Vec<f64>, mut squares: Vec<f64>) -> Result<Vec<f64>> {
    let n = diagonal.len();
    squares.resize(n, 0.0); // a zero after the n − 1 off-diagonal entries
    let largest = diagonal.iter().map(|d| d * d).chain(squares.iter().copied()).fold(0.0, f64::max);
    work::flops(16 * n * n);
    let mut matrix = Tridiagonal {
        // off-diagonal entries below this are far below the rounding errors of the others
        negligible: (0.1 * f64::EPSILON).powi(2) * largest,
        sweeps: SWEEPS * n,
        diagonal: &mut diagonal,
        squares: &mut squares,
    };
    let mut start = 0;
    while start < n {
        let end = matrix.end_of_block(start, n - 1);
        matrix.squares[end] = 0.0;
        matrix.solve(start, end)?;
        start = end + 1;
    }
    diagonal.sort_unstable_by(|x, y| y.total_cmp(x));
    Ok(diagonal)
}

struct Tridiagonal<'a> {
    diagonal: &'a mut [f64],
    squares: &'a mut [f64],
    negligible: f64,
    sweeps: usize,
}

impl Tridiagonal<'_> {
    /// The last row of the unreduced block that begins at row `start` and ends at `last` or before.
    fn end_of_block(&self, start: usize, last: usize) -> usize {
        let d = &self.diagonal;
        let ends = |i: &usize| {
            let relative = f64::EPSILON.powi(2) * (d[*i] * d[i + 1]).abs();
            self.squares[*i] <= relative.max(self.negligible)
        };
        (start..last).find(ends).unwrap_or(last)
    }

    /// Replaces the diagonal entries `start..=end` by the eigenvalues of that block.
    fn solve(&mut self, start: usize, end: usize) -> Result<()> {
        if self.diagonal[end].abs() < self.diagonal[start].abs() {
            self.diagonal[start..=end].reverse(); // small entries first
            self.squares[start..end].reverse();
        }
        let mut first = start;
        while first <= end {
            let last = self.end_of_block(first, end);
            if last < end {
                self.squares[last] = 0.0;
            }
            match last - first {
                0 => first += 1,
                1 => {
                    self.solve_two(first);
                    first += 2;
                }
                _ if self.sweeps == 0 => {
                    return Err(Error::EigenFailure { order: self.diagonal.len() });
                }
                _ => {
                    self.sweeps -= 1;
                    self.sweep(first, last);
                }
            }
        }
        Ok(())
    }

    /// The two eigenvalues of a 2 × 2 block.
    fn solve_two(&mut self, first: usize) {
        let (a, c) = (self.diagonal[first], self.diagonal[first + 1]);
        let (middle, half) = (0.5 * (a + c), 0.5 * (a - c));
        let radius = (half * half + self.squares[first]).sqrt();
        self.diagonal[first] = middle - radius;
        self.diagonal[first + 1] = middle + radius;
        self.squares[first] = 0.0;
    }

    /// One QL sweep over the rows `first..=last` with Wilkinson's shift; the first row converges
    /// first.
    fn sweep(&mut self, first: usize, last: usize) {
        let (d, e2) = (&mut *self.diagonal, &mut *self.squares);
        let off_diagonal = e2[first].sqrt();
        let half = 0.5 * (d[first + 1] - d[first]) / off_diagonal;
        let sigma = d[first] - off_diagonal / (half + half.hypot(1.0).copysign(half));
        let (mut c, mut s, mut gamma) = (1.0, 0.0, d[last] - sigma);
        let mut p = gamma * gamma;
        for i in (first..last).rev() {
            let square = e2[i];
            let r = p + square;
            if i + 1 < last {
                e2[i + 1] = s * r;
            }
            let (c_before, gamma_before, a) = (c, gamma, d[i]);
            c = p / r;
            s = square / r;
            gamma = c * (a - sigma) - s * gamma_before;
            d[i + 1] = gamma_before + (a - gamma);
            p = if c == 0.0 { c_before * square } else { gamma * gamma / c };
        }
        e2[first] = s * p;
        d[first] = sigma + gamma;
    }
}
