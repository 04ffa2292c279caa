//! A Cholesky factor computed to 32 digits and rounded to `f64`.

use super::double::Double;
use super::rows::{Rows, WIDTH};
use nystrom_linalg_core::{dispatch, work};
use pulp::{Simd, WithSimd};

impl Rows {
    /// As [`factorise`](Self::factorise), but computed to 32 digits and then rounded. c³/6
    /// multiply-adds of [`Double`]s.
    pub fn factorise_wide(&mut self, order: usize, inverse: &mut [f64]) -> Result<(), usize> {
        work::cholesky(order);
        dispatch(Factorise { A: self, order, inverse })
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
        let (width, mut low) = (*width, vec![0.0; entries.len()]);
        for j in 0..order {
            let tail = j / WIDTH * WIDTH..width;
            let (above, row) = entries.split_at_mut(j * width);
            let (above_low, row_low) = low.split_at_mut(j * width);
            let (row, row_low) = (&mut row[tail.clone()], &mut row_low[tail.clone()]);
            for (u, u_low) in above.chunks_exact(width).zip(above_low.chunks_exact(width)) {
                let factor = Double::new(u[j], u_low[j]);
                subtract(simd, [row, row_low], [&u[tail.clone()], &u_low[tail.clone()]], factor);
            }
            let pivot = Double::new(row[j - tail.start], row_low[j - tail.start]);
            if !(pivot.high > 0.0 && pivot.high.is_finite()) {
                return Err(j);
            }
            let root = pivot.inverse_root();
            inverse[j] = root.high;
            for (x, low) in row.iter_mut().zip(row_low) {
                let u = Double::new(*x, *low) * root;
                (*x, *low) = (u.high, u.low);
            }
        }
        Ok(())
    }
}

/// x −= u·s to 32 digits; each vector comes with its low parts.
#[inline(always)]
fn subtract<S: Simd>(simd: S, [x, x_low]: [&mut [f64]; 2], u: [&[f64]; 2], s: Double) {
    let (x, x_low) = (S::as_mut_simd_f64s(x).0, S::as_mut_simd_f64s(x_low).0);
    let [u, u_low] = u.map(|u| S::as_simd_f64s(u).0);
    let [s, minus, minus_low] = [s.high, -s.high, -s.low].map(|s| simd.splat_f64s(s));
    for ((x, x_low), (&u, &u_low)) in x.iter_mut().zip(x_low).zip(u.iter().zip(u_low)) {
        let product = simd.mul_f64s(u, minus);
        let excess = simd.mul_add_f64s(u, s, product); // −us = product − excess
        let [sum, error] = two_sum(simd, *x, product);
        let small = simd.mul_add_f64s(u_low, minus, simd.mul_add_f64s(u, minus_low, *x_low));
        [*x, *x_low] = quick_sum(simd, sum, simd.add_f64s(simd.sub_f64s(error, excess), small));
    }
}

/// a + b and its rounding error (Knuth).
#[inline(always)]
fn two_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> [S::f64s; 2] {
    let sum = simd.add_f64s(a, b);
    let t = simd.sub_f64s(sum, a);
    [sum, simd.add_f64s(simd.sub_f64s(a, simd.sub_f64s(sum, t)), simd.sub_f64s(b, t))]
}

/// a + b and its rounding error for |a| ≥ |b| (Dekker).
#[inline(always)]
fn quick_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> [S::f64s; 2] {
    let sum = simd.add_f64s(a, b);
    [sum, simd.sub_f64s(b, simd.sub_f64s(sum, a))]
}
