//! e^x in vector registers.
//!
//! x = n·ln 2 + r with |r| ≤ (ln 2)/2, e^x = 2ⁿ·(1 + r + r²·q(r)). The polynomial q is the
//! least-squares fit of (e^r − 1 − r)/r² at Chebyshev points with weight r²/e^r, computed with 60
//! digits; its error is 0.05 ulp in either precision. To round x/ln 2 to the integer n, 1.5·2^k is
//! added, a number so large that its last bits are units. These bits, shifted into the exponent
//! field, give 2ⁿ. Below the normal range, a larger power is used and the result scaled back with
//! one rounding.
//!
//! Kernels need e^{−h} with h ≥ 0. Then n ≤ 0, and in `f64` 2^(n+54) is a normal number for every n
//! with a nonzero result. The polynomial is evaluated times 2⁻⁵⁴ (exact; 2⁻²⁵ in `f32`), so that a
//! single multiplication gives both normal and subnormal results. AVX-512 has a separate
//! implementation of e^{−h}, `simd_exp_avx512.rs`.

use super::{LN2_HI32, LN2_HI64, LN2_LO32, LN2_LO64, UNITS_IN_HIGH_WORD, UNITS_LAST, Vectorised};
use pulp::Simd;
use pulp::bytemuck::cast;

#[cfg(target_arch = "x86_64")]
#[path = "simd_exp_avx512.rs"]
mod avx512;

const Q64: [f64; 10] = [
    0.5000000000000013,
    0.1666666666666648,
    0.041666666666515126,
    0.008333333333452386,
    0.0013888888947024378,
    0.00019841269595636865,
    2.480148995975424e-05,
    2.7557508052114818e-06,
    2.7631272551070285e-07,
    2.5024585741429218e-08,
];

#[inline(always)]
pub(super) fn f64s<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let c = |value: f64| simd.splat_f64s(value);
    let exponent = |n: i64| simd.splat_u64s((n as u64) << 52);

    let x = f64::v_min(simd, c(710.0), f64::v_max(simd, c(-746.0), x));
    let shifted = simd.mul_add_e_f64s(x, c(std::f64::consts::LOG2_E), c(UNITS_IN_HIGH_WORD + 0.5));
    let shifted =
        simd.and_u64s(simd.transmute_u64s_f64s(shifted), simd.splat_u64s(0xffff_ffff_0000_0000));
    let n = simd.sub_f64s(simd.transmute_f64s_u64s(shifted), c(UNITS_IN_HIGH_WORD));
    let r = simd.mul_add_e_f64s(n, c(-LN2_HI64), x);
    let r = simd.mul_add_e_f64s(n, c(-LN2_LO64), r);

    let mut q = c(2.0 * Q64[9]);
    for k in (0..9).rev() {
        q = simd.mul_add_e_f64s(q, r, c(2.0 * Q64[k]));
    }
    let two_r = simd.add_f64s(r, r);
    let twice = simd.add_f64s(simd.mul_add_e_f64s(simd.mul_f64s(r, r), q, two_r), c(2.0)); // 2e^r

    let n_field = to_exponent64(simd, shifted);
    let tiny = simd.less_than_f64s(n, c(-1021.0));
    let bias = simd.select_u64s(tiny, exponent(1022 + 1000), exponent(1022));
    // 2^(n − 1), times 2^1000 if tiny
    let power = simd.transmute_f64s_u64s(simd.add_u64s(n_field, bias));
    let back = simd.select_f64s(tiny, c(f64::from_bits((1023 - 1000) << 52)), c(1.0));
    simd.mul_f64s(simd.mul_f64s(twice, power), back)
}

/// Coefficients of 2⁻⁵⁴·e^{−r} in powers of r, highest first.
const NEG64: [f64; 12] = alternating64();

const fn alternating64() -> [f64; 12] {
    let scale = f64::from_bits((1023 - 54) << 52);
    let mut c = [0.0; 12];
    c[11] = scale;
    c[10] = -scale;
    let mut k = 0;
    while k < 10 {
        c[9 - k] = if k % 2 == 0 { scale * Q64[k] } else { -scale * Q64[k] };
        k += 1;
    }
    c
}

#[inline(always)]
pub(super) fn neg_f64s<S: Simd>(simd: S, h: S::f64s) -> S::f64s {
    #[cfg(target_arch = "x86_64")]
    if let Some(exp) = avx512::neg_f64s(simd, h) {
        return exp;
    }
    let c = |value: f64| simd.splat_f64s(value);
    let h = f64::v_min(simd, c(746.0), h);
    let shifted = simd.mul_add_e_f64s(h, c(-std::f64::consts::LOG2_E), c(UNITS_IN_HIGH_WORD + 0.5));
    let shifted =
        simd.and_u64s(simd.transmute_u64s_f64s(shifted), simd.splat_u64s(0xffff_ffff_0000_0000));
    let n = simd.sub_f64s(simd.transmute_f64s_u64s(shifted), c(UNITS_IN_HIGH_WORD));
    let r = simd.mul_add_e_f64s(n, c(LN2_HI64), h);
    let r = simd.mul_add_e_f64s(n, c(LN2_LO64), r); // e^{−h} = 2ⁿ e^{−r}

    let mut p = c(NEG64[0]);
    for coefficient in &NEG64[1..] {
        p = simd.mul_add_e_f64s(p, r, c(*coefficient));
    }
    // 2^(n + 54)
    let power = simd.add_u64s(to_exponent64(simd, shifted), simd.splat_u64s((1023 + 54) << 52));
    simd.mul_f64s(p, simd.transmute_f64s_u64s(power))
}

/// Shifts the units in the last bits of the high words into the exponent field.
#[inline(always)]
fn to_exponent64<S: Simd>(simd: S, shifted: S::u64s) -> S::u64s {
    if S::IS_SCALAR {
        simd.mul_u64s(shifted, simd.splat_u64s(1 << 20))
    } else {
        cast::<S::u32s, S::u64s>(
            simd.wrapping_dyn_shl_u32s(cast::<S::u64s, S::u32s>(shifted), simd.splat_u32s(20)),
        )
    }
}

const Q32: [f32; 5] = [0.499_999_88, 0.166_665_18, 0.041_669_544, 0.008_368_988, 0.001_375_115];

#[inline(always)]
pub(super) fn f32s<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let c = |value: f32| simd.splat_f32s(value);
    let exponent = |n: i32| simd.splat_u32s((n as u32) << 23);

    let x = f32::v_min(simd, c(89.0), f32::v_max(simd, c(-105.0), x));
    let shifted = simd.mul_add_e_f32s(x, c(std::f32::consts::LOG2_E), c(UNITS_LAST));
    let n = simd.sub_f32s(shifted, c(UNITS_LAST));
    let r = simd.mul_add_e_f32s(n, c(-LN2_HI32), x);
    let r = simd.mul_add_e_f32s(n, c(-LN2_LO32), r);

    let mut q = c(2.0 * Q32[4]);
    for k in (0..4).rev() {
        q = simd.mul_add_e_f32s(q, r, c(2.0 * Q32[k]));
    }
    let two_r = simd.add_f32s(r, r);
    let twice = simd.add_f32s(simd.mul_add_e_f32s(simd.mul_f32s(r, r), q, two_r), c(2.0)); // 2e^r

    let n_field =
        simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    let tiny = simd.less_than_f32s(n, c(-125.0));
    let bias = simd.select_u32s(tiny, exponent(126 + 100), exponent(126));
    // 2^(n − 1), times 2^100 if tiny
    let power = simd.transmute_f32s_u32s(simd.add_u32s(n_field, bias));
    let back = simd.select_f32s(tiny, c(f32::from_bits((127 - 100) << 23)), c(1.0));
    simd.mul_f32s(simd.mul_f32s(twice, power), back)
}

/// Coefficients of 2⁻²⁵·e^{−r} in powers of r, highest first.
const NEG32: [f32; 7] = {
    let scale = f32::from_bits((127 - 25) << 23);
    [
        scale * Q32[4],
        -scale * Q32[3],
        scale * Q32[2],
        -scale * Q32[1],
        scale * Q32[0],
        -scale,
        scale,
    ]
};

#[inline(always)]
pub(super) fn neg_f32s<S: Simd>(simd: S, h: S::f32s) -> S::f32s {
    #[cfg(target_arch = "x86_64")]
    if let Some(exp) = avx512::neg_f32s(simd, h) {
        return exp;
    }
    let c = |value: f32| simd.splat_f32s(value);
    let h = f32::v_min(simd, c(105.0), h);
    let shifted = simd.mul_add_e_f32s(h, c(-std::f32::consts::LOG2_E), c(UNITS_LAST));
    let n = simd.sub_f32s(shifted, c(UNITS_LAST));
    let r = simd.mul_add_e_f32s(n, c(LN2_HI32), h);
    let r = simd.mul_add_e_f32s(n, c(LN2_LO32), r); // e^{−h} = 2ⁿ e^{−r}

    let mut p = c(NEG32[0]);
    for coefficient in &NEG32[1..] {
        p = simd.mul_add_e_f32s(p, r, c(*coefficient));
    }
    let n_field =
        simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    let power = simd.add_u32s(n_field, simd.splat_u32s((127 + 25) << 23)); // 2^(n + 25)
    simd.mul_f32s(p, simd.transmute_f32s_u32s(power))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Function, every_way};

    /// Checks y = exp(x) to 2 ulp: the bits of positive numbers count ulps.
    fn check64(x: &[f64], y: &[f64], exp: fn(f64) -> f64) {
        for (x, y) in x.iter().zip(y) {
            let ulps = (y.to_bits() as i64 - exp(*x).to_bits() as i64).abs();
            assert!(ulps <= 2, "exp of {x:e} is {y:e}, {ulps} ulp from {:e}", exp(*x));
        }
    }

    fn check32(x: &[f32], y: &[f32], exp: fn(f64) -> f64) {
        for (x, &y) in x.iter().zip(y) {
            let exact = exp(*x as f64);
            let ulp = (exact as f32).next_up() as f64 - (exact as f32) as f64;
            if (exact as f32).is_finite() {
                let error = (y as f64 - exact).abs();
                assert!(error <= 2.0 * ulp, "exp of {x:e} is {y:e}, exactly {exact:e}");
            } else {
                assert_eq!(y, f32::INFINITY);
            }
        }
    }

    #[test]
    fn exp_of_the_negative_is_within_two_ulp_too() {
        let special = [0.0, -0.0, f64::NEG_INFINITY, 708.39, 708.4, 745.13, 745.2, 1e-300, 1e300];
        let exp = |x: f64| (-x.abs()).exp();
        for x in
            [sweep(0.0, 750.0, &special), sweep(0.0, 1.0, &special), sweep(0.0, 1e-7, &special)]
        {
            for y in every_way(Function::ExpNeg, &x) {
                assert_eq!((y[0], y[1], y[2], y[7], y[8]), (1.0, 1.0, 0.0, 1.0, 0.0));
                check64(&x, &y, exp);
            }
            let x: Vec<f32> =
                x.into_iter().map(|x| (x * if x > 1.0 { 0.14 } else { 1.0 }) as f32).collect();
            for y in every_way(Function::ExpNeg, &x) {
                assert_eq!((y[0], y[1], y[2], y[7], y[8]), (1.0, 1.0, 0.0, 1.0, 0.0));
                check32(&x, &y, exp);
            }
        }
    }

    #[test]
    fn what_is_not_a_number_stays_so() {
        for f in [Function::Exp, Function::ExpNeg, Function::Ln] {
            let stays = every_way(f, &[f64::NAN; 64]).concat().iter().all(|y| y.is_nan());
            let stays32 = every_way(f, &[f32::NAN; 64]).concat().iter().all(|y| y.is_nan());
            assert!(stays && stays32, "{f:?} loses NaN: in f64 {}, in f32 {}", !stays, !stays32);
        }
    }

    /// 1 << 20 numbers: special points first, then a dense sweep of the whole range.
    fn sweep(from: f64, to: f64, special: &[f64]) -> Vec<f64> {
        let n = 1 << 20;
        let mut x: Vec<f64> =
            (0..n).map(|i| from + (to - from) * i as f64 / (n - 1) as f64).collect();
        x[..special.len()].copy_from_slice(special);
        x
    }

    #[test]
    fn f64_is_within_two_ulp_of_the_standard_library_everywhere() {
        let special = [
            0.0,
            -0.0,
            f64::NEG_INFINITY,
            f64::INFINITY,
            -708.39,
            -708.4,
            -745.13,
            -745.2,
            709.78,
            709.79,
            1e-300,
        ];
        for x in [
            sweep(-750.0, 712.0, &special),
            sweep(-1.0, 1.0, &special),
            sweep(-1e-7, 1e-7, &special),
        ] {
            for y in every_way(Function::Exp, &x) {
                assert_eq!((y[0], y[1], y[2], y[3], y[10]), (1.0, 1.0, 0.0, f64::INFINITY, 1.0));
                check64(&x, &y, f64::exp);
            }
        }
    }

    #[test]
    fn f32_is_within_two_ulp_of_double_precision_everywhere() {
        let special = [
            0.0,
            -0.0,
            f64::NEG_INFINITY,
            f64::INFINITY,
            -87.3,
            -87.4,
            -103.9,
            -104.1,
            88.72,
            88.73,
            1e-30,
        ];
        for x in [
            sweep(-106.0, 90.0, &special),
            sweep(-1.0, 1.0, &special),
            sweep(-1e-3, 1e-3, &special),
        ] {
            let x: Vec<f32> = x.into_iter().map(|x| x as f32).collect();
            for y in every_way(Function::Exp, &x) {
                assert_eq!((y[0], y[1], y[2], y[3], y[10]), (1.0, 1.0, 0.0, f32::INFINITY, 1.0));
                check32(&x, &y, f64::exp);
            }
        }
    }
}
