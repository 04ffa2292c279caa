//! The inner product of two vectors, in vector registers.

use crate::dispatch;
use pulp::{Simd, WithSimd};

/// Σ x_i y_i on the calling thread, in vector registers. If the lengths differ, the longer vector
/// is cut to the length of the shorter one.
///
/// ```
/// use nystrom_linalg_core::ops;
/// let x: Vec<f64> = (0..37).map(f64::from).collect();
/// assert_eq!(ops::dot(&x, &x), 16206.0);
/// ```
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot_in(simd, self.0, self.1)
        }
    }
    dispatch(Dot(x, y))
}

/// [`dot`] inside code that is already dispatched to an instruction set: four sums over whole
/// registers, and one over the remaining entries.
#[inline(always)]
pub fn dot_in<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let size = x.len().min(y.len());
    let ((xs, x_rest), (ys, y_rest)) = (S::as_simd_f64s(&x[..size]), S::as_simd_f64s(&y[..size]));
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (x, y) in xs.chunks(4).zip(ys.chunks(4)) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum = simd.mul_add_e_f64s(*x, *y, *sum);
        }
    }
    let [a, b, c, d] = sums;
    let sum = simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d));
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    simd.reduce_sum_f64s(sum) + rest
}
