//! Sums and inner products of short vectors, inside code that is already dispatched to an
//! instruction set.

use crate::ops::dot_in;
use pulp::Simd;

/// out += a·x.
#[inline(always)]
pub(super) fn add_in<S: Simd>(simd: S, out: &mut [f64], a: f64, x: &[f64]) {
    let size = out.len().min(x.len());
    let (out, out_rest) = S::as_mut_simd_f64s(&mut out[..size]);
    let (x, x_rest) = S::as_simd_f64s(&x[..size]);
    let splat = simd.splat_f64s(a);
    for (out, x) in out.iter_mut().zip(x) {
        *out = simd.mul_add_e_f64s(splat, *x, *out);
    }
    out_rest.iter_mut().zip(x_rest).for_each(|(out, x)| *out += a * x);
}

/// out += a·x + b·y.
#[inline(always)]
pub(super) fn add_two_in<S: Simd>(
    simd: S,
    out: &mut [f64],
    (a, x): (f64, &[f64]),
    (b, y): (f64, &[f64]),
) {
    let size = out.len().min(x.len()).min(y.len());
    let (out, out_rest) = S::as_mut_simd_f64s(&mut out[..size]);
    let (x, x_rest) = S::as_simd_f64s(&x[..size]);
    let (y, y_rest) = S::as_simd_f64s(&y[..size]);
    let (a_s, b_s) = (simd.splat_f64s(a), simd.splat_f64s(b));
    for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
        *out = simd.mul_add_e_f64s(a_s, *x, simd.mul_add_e_f64s(b_s, *y, *out));
    }
    for (out, (x, y)) in out_rest.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *out += a * x + b * y;
    }
}

/// The reflection I − τvvᵀ, v₀ = 1, that maps x to (β, 0, …, 0). Overwrites x by v and returns
/// (β, τ); τ = 0 if x has that form already.
#[inline(always)]
pub(super) fn reflection_in<S: Simd>(simd: S, x: &mut [f64]) -> (f64, f64) {
    let (head, tail) = (x[0], &mut x[1..]);
    let square = dot_in(simd, tail, tail);
    if square == 0.0 {
        x[0] = 1.0;
        return (head, 0.0);
    }
    let beta = -head.signum() * (head * head + square).sqrt();
    let scale = (head - beta).recip();
    tail.iter_mut().for_each(|x| *x *= scale);
    x[0] = 1.0;
    (beta, (beta - head) / beta)
}
