//! Small matrices stored row by row: Cholesky factorisation, triangular solves and Gram matrices,
//! all with the same matrix product in registers.
//!
//! Rows are padded with zeros to a multiple of 8 numbers, and their number to a multiple of 4, so
//! that no loop has a remainder.

use nystrom_linalg_core::{dispatch, work};
use pulp::{Simd, WithSimd};

/// A multiple of the numbers in a vector register: 8 with AVX-512, 4 with AVX2.
pub(super) const WIDTH: usize = 8;
/// Number of rows computed together.
const TOGETHER: usize = 4;

/// A matrix, row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub width: usize,
    pub entries: Vec<f64>,
}

impl Rows {
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let mut zeros = Rows::default();
        zeros.reset(rows, columns);
        zeros
    }

    /// Sets size and entries to 0 of the given shape; allocates memory only if the matrix becomes
    /// larger than it was before.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.width = columns.next_multiple_of(WIDTH);
        self.entries.clear();
        self.entries.resize(rows.next_multiple_of(TOGETHER) * self.width, 0.0);
    }

    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.width + j]
    }

    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.width..][..self.width]
    }

    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * self.width..][..self.width]
    }

    /// A ← U with UᵀU = A, for a symmetric A of this order, and `inverse` ← 1/U_ii. The error is
    /// the first pivot that is not positive. Entries left of the diagonal are not used. c³/3 flops.
    pub fn factorise(&mut self, order: usize, inverse: &mut [f64]) -> Result<(), usize> {
        work::cholesky(order);
        dispatch(Factorise { A: self, order, inverse })
    }

    /// W ← U⁻ᵀW, where U is `self` and `inverse` holds 1/U_ii. c² flops per column.
    pub fn solve(&self, inverse: &[f64], order: usize, W: &mut Rows) {
        work::triangular_solve(order, W.width);
        dispatch(Solve { U: self, inverse, order, W });
    }

    /// P ← P − WᵀW, where P is `self`, symmetric and as wide as W.
    pub fn subtract_gram(&mut self, W: &Rows) {
        work::triangle_of_product(W.width, W.entries.len() / W.width.max(1));
        dispatch(SubtractGram { P: self, W });
    }
}

struct Factorise<'a> {
    A: &'a mut Rows,
    order: usize,
    inverse: &'a mut [f64],
}

impl WithSimd for Factorise<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<(), usize> {
        let Factorise { A: Rows { width, entries }, order, inverse } = self;
        let width = *width;
        for top in (0..order).step_by(TOGETHER) {
            let (above, here) = entries.split_at_mut(top * width);
            let (here, from) = (&mut here[..TOGETHER * width], top / WIDTH * WIDTH);
            let above: &[f64] = above;
            subtract_product(simd, here, (above, width, top), above, width, from);
            for r in 0..TOGETHER.min(order - top) {
                let (done, row) = here.split_at_mut(r * width);
                let row = &mut row[from..width];
                for done in done.chunks_exact(width) {
                    subtract_multiple(row, done[top + r], &done[from..]);
                }
                let pivot = row[top + r - from];
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return Err(top + r);
                }
                inverse[top + r] = pivot.sqrt().recip();
                row.iter_mut().for_each(|x| *x *= inverse[top + r]);
            }
        }
        Ok(())
    }
}

struct Solve<'a> {
    U: &'a Rows,
    inverse: &'a [f64],
    order: usize,
    W: &'a mut Rows,
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Solve { U, inverse, order, W: Rows { width, entries } } = self;
        let width = *width;
        for top in (0..order).step_by(TOGETHER) {
            let (above, here) = entries.split_at_mut(top * width);
            let here = &mut here[..TOGETHER * width];
            subtract_product(simd, here, (&U.entries, U.width, top), above, width, 0);
            for r in 0..TOGETHER.min(order - top) {
                let (done, row) = here.split_at_mut(r * width);
                let row = &mut row[..width];
                for (t, done) in done.chunks_exact(width).enumerate() {
                    subtract_multiple(row, U.at(top + t, top + r), done);
                }
                row.iter_mut().for_each(|x| *x *= inverse[top + r]);
            }
        }
    }
}

struct SubtractGram<'a> {
    P: &'a mut Rows,
    W: &'a Rows,
}

impl WithSimd for SubtractGram<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SubtractGram { P: Rows { width, entries }, W } = self;
        let width = *width;
        for (t, here) in entries.chunks_exact_mut(TOGETHER * width).enumerate() {
            let top = t * TOGETHER;
            let factor = (&*W.entries, width, top);
            subtract_product(simd, here, factor, &W.entries, width, top / WIDTH * WIDTH);
        }
        for i in 0..entries.len() / width {
            for j in 0..i {
                entries[i * width + j] = entries[j * width + i];
            }
        }
    }
}

/// `out` −= AᵀB for four columns of A, those from number `at` on, and the columns of B from number
/// `from` on, a multiple of 8. A has as many rows as B, or more.
#[inline(always)]
fn subtract_product<S: Simd>(
    simd: S,
    out: &mut [f64],
    A: (&[f64], usize, usize),
    B: &[f64],
    width: usize,
    from: usize,
) {
    let mut column = from;
    while column + 2 * S::F64_LANES <= width {
        subtract_in_registers::<S, 2>(simd, out, A, B, width, column);
        column += 2 * S::F64_LANES;
    }
    while column < width {
        subtract_in_registers::<S, 1>(simd, out, A, B, width, column);
        column += S::F64_LANES;
    }
}

/// As [`subtract_product`], for the columns of N registers.
#[inline(always)]
fn subtract_in_registers<S: Simd, const N: usize>(
    simd: S,
    out: &mut [f64],
    (A, a_width, at): (&[f64], usize, usize),
    B: &[f64],
    width: usize,
    column: usize,
) {
    let columns = column..column + N * S::F64_LANES;
    let mut sums = [[simd.splat_f64s(0.0); N]; TOGETHER];
    for (a, b) in A.chunks_exact(a_width).zip(B.chunks_exact(width)) {
        let (a, b) = (&a[at..at + TOGETHER], S::as_simd_f64s(&b[columns.clone()]).0);
        for (sums, a) in sums.iter_mut().zip(a) {
            let a = simd.splat_f64s(*a);
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = simd.mul_add_e_f64s(a, *b, *sum);
            }
        }
    }
    for (out, sums) in out.chunks_exact_mut(width).zip(sums) {
        let out = S::as_mut_simd_f64s(&mut out[columns.clone()]).0;
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = simd.sub_f64s(*out, sum));
    }
}

/// w ← U⁻ᵀw for one w whose first `zeros` entries are 0; `inverse` holds 1/U_ii.
#[inline(always)]
pub(super) fn solve_one(U: &Rows, inverse: &[f64], w: &mut [f64], zeros: usize) {
    work::triangular_solve(inverse.len() - zeros, 1);
    for i in zeros..inverse.len() {
        w[i] *= inverse[i];
        let (done, rest) = w.split_at_mut(i + 1);
        subtract_multiple(rest, done[i], &U.row(i)[i + 1..]);
    }
}

/// x −= a·y.
#[inline(always)]
pub(super) fn subtract_multiple(x: &mut [f64], a: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= a * y);
}
