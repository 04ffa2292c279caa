//! e^{−h} by AVX-512, with a table in registers and the scaling instruction `scalef`.
//!
//! −h = n·ln 2 − r with n a multiple of 1/16 and |r| ≤ (ln 2)/32; e^{−h} = 2^⌊n⌋·t·e^{−r}. The
//! factor t = 2^(j/16) is one of 16 numbers held in two registers (one in `f32`), selected by the
//! last four bits of n. On an interval sixteen times shorter, half the polynomial degree suffices.
//! `scalef` multiplies by 2^⌊n⌋ with one rounding, also for subnormal results. This takes two
//! thirds of the instructions of the portable form. The factor t and the last addition each have
//! one rounding error; all other errors together add 0.1 ulp.

use pulp::bytemuck::cast;
use pulp::x86::V4;
use pulp::{Simd, f32x16, f64x8};
use std::any::Any;

/// `simd` as the AVX-512 token if `S` is AVX-512, decided at compile time for each `S`.
#[inline(always)]
fn as_v4<S: Simd>(simd: S) -> Option<V4> {
    (&simd as &dyn Any).downcast_ref::<V4>().copied()
}

/// e^{−h} for h ≥ 0, if `S` is AVX-512.
#[inline(always)]
#[allow(clippy::manual_map)]
pub(super) fn neg_f64s<S: Simd>(simd: S, h: S::f64s) -> Option<S::f64s> {
    match as_v4(simd) {
        // not `map`: its closure would not be compiled for AVX-512
        Some(v4) => Some(cast(neg_f64x8(v4, cast(h)))),
        None => None,
    }
}

/// e^{−h} for h ≥ 0, if `S` is AVX-512.
#[inline(always)]
#[allow(clippy::manual_map)]
pub(super) fn neg_f32s<S: Simd>(simd: S, h: S::f32s) -> Option<S::f32s> {
    match as_v4(simd) {
        Some(v4) => Some(cast(neg_f32x16(v4, cast(h)))),
        None => None,
    }
}

/// (e^{−r} − 1 + r)/r² in powers of r: least squares at Chebyshev points of |r| ≤ (ln 2)/32 with
/// weight r², computed with 60 digits.
const Q64: [f64; 5] = [
    0.5000000000000004,
    -0.16666666664373495,
    0.041666666660524244,
    -0.008333472975266326,
    0.0013889113313309146,
];

/// 2^(j/16).
const ROOTS64: [f64; 16] = [
    1.0,
    1.0442737824274138,
    1.0905077326652577,
    1.1387886347566916,
    1.189207115002721,
    1.241857812073484,
    1.2968395546510096,
    1.3542555469368927,
    std::f64::consts::SQRT_2,
    1.4768261459394993,
    1.5422108254079407,
    1.6104903319492543,
    1.681792830507429,
    1.7562521603732995,
    1.8340080864093424,
    1.9152065613971474,
];

/// 1.5·2⁴⁸. In the sum of this constant and a smaller number, the last bit stands for 1/16.
const SIXTEENTHS64: f64 = 422_212_465_065_984.0;

#[inline(always)]
fn neg_f64x8(v4: V4, h: f64x8) -> f64x8 {
    let c = |value: f64| v4.splat_f64x8(value);
    let h = v4.min_f64x8(c(746.0), h);
    let shifted = v4.mul_add_f64x8(h, c(-std::f64::consts::LOG2_E), c(SIXTEENTHS64));
    let n = v4.sub_f64x8(shifted, c(SIXTEENTHS64));
    let r = v4.mul_add_f64x8(n, c(super::LN2_HI64), h);
    let r = v4.mul_add_f64x8(n, c(super::LN2_LO64), r);

    let [low, high]: [f64x8; 2] = cast(ROOTS64);
    let t: f64x8 = cast(v4.avx512f._mm512_permutex2var_pd(cast(low), cast(shifted), cast(high)));

    let mut q = c(Q64[4]);
    for k in (0..4).rev() {
        q = v4.mul_add_f64x8(q, r, c(Q64[k]));
    }
    let minus_one = v4.mul_f64x8(v4.mul_add_f64x8(q, r, c(-1.0)), r); // e^{−r} − 1
    cast(v4.avx512f._mm512_scalef_pd(cast(v4.mul_add_f64x8(minus_one, t, t)), cast(n)))
}

const Q32: [f32; 2] = [0.500_016_3, -0.166_670_08];

const ROOTS32: [f32; 16] = [
    1.0,
    1.044_273_7,
    1.090_507_7,
    1.138_788_6,
    1.189_207_1,
    1.241_857_8,
    1.296_839_6,
    1.354_255_6,
    std::f32::consts::SQRT_2,
    1.476_826_2,
    1.542_210_8,
    1.610_490_3,
    1.681_792_9,
    1.756_252_2,
    1.834_008_1,
    1.915_206_6,
];

/// 1.5·2¹⁹. In the sum of this constant and a smaller number, the last bit stands for 1/16.
const SIXTEENTHS32: f32 = 786_432.0;

#[inline(always)]
fn neg_f32x16(v4: V4, h: f32x16) -> f32x16 {
    let c = |value: f32| v4.splat_f32x16(value);
    let h = v4.min_f32x16(c(105.0), h);
    let shifted = v4.mul_add_f32x16(h, c(-std::f32::consts::LOG2_E), c(SIXTEENTHS32));
    let n = v4.sub_f32x16(shifted, c(SIXTEENTHS32));
    let r = v4.mul_add_f32x16(n, c(super::LN2_HI32), h);
    let r = v4.mul_add_f32x16(n, c(super::LN2_LO32), r);
    let t: f32x16 = cast(v4.avx512f._mm512_permutexvar_ps(cast(shifted), cast(ROOTS32)));
    let q = v4.mul_add_f32x16(c(Q32[1]), r, c(Q32[0]));
    let minus_one = v4.mul_f32x16(v4.mul_add_f32x16(q, r, c(-1.0)), r); // e^{−r} − 1
    cast(v4.avx512f._mm512_scalef_ps(cast(v4.mul_add_f32x16(minus_one, t, t)), cast(n)))
}
