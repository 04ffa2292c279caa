//! ln x in vector registers.
//!
//! x = 2ⁿ·m with m in [√½, √2), ln x = n·ln 2 + ln m. With f = m − 1 and s = f/(2 + f),
//! ln m = 2 artanh s = f − (f²/2 − s·(f²/2 + z·P(z))), z = s² ≤ 0.0295. The polynomial P is the
//! least-squares fit of (2 artanh(s)/s − 2)/z at Chebyshev points with weight z, computed with 60
//! digits; its error is 0.01 ulp in either precision. To convert the exponent field to n, the field
//! is shifted into the last bits of a number whose last bits are units.

use super::{LN2_HI32, LN2_HI64, LN2_LO32, LN2_LO64, UNITS_IN_HIGH_WORD, UNITS_LAST};
use pulp::Simd;
use pulp::bytemuck::cast;

const P64: [f64; 7] = [
    0.6666666666666736,
    0.3999999999940507,
    0.2857142874413889,
    0.22222198419192385,
    0.1818357138419732,
    0.15313888042339555,
    0.1479743510950102,
];
/// √½ with only its high 32 bits, rounded down.
const ROOT64: u64 = 0x3fe6_a09e << 32;
/// 2⁵⁴, a factor that makes subnormal numbers normal.
const RAISE64: f64 = 18_014_398_509_481_984.0;

#[inline(always)]
pub(super) fn f64s<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let c = |value: f64| simd.splat_f64s(value);
    let bits = |value: u64| simd.splat_u64s(value);

    let tiny = simd.less_than_f64s(x, c(f64::MIN_POSITIVE));
    let normal = simd.select_f64s(tiny, simd.mul_f64s(x, c(RAISE64)), x);
    let bias = simd.select_f64s(
        tiny,
        c(UNITS_IN_HIGH_WORD + 1023.0 + 54.0),
        c(UNITS_IN_HIGH_WORD + 1023.0),
    );
    let raised =
        simd.add_u64s(simd.transmute_u64s_f64s(normal), bits((0x3ff0_0000 << 32) - ROOT64));
    let field = simd.and_u64s(exponent_to_high_word(simd, raised), bits(0x7ff << 32));
    let n = simd.sub_f64s(
        simd.transmute_f64s_u64s(simd.or_u64s(field, bits(UNITS_IN_HIGH_WORD.to_bits()))),
        bias,
    );
    let m = simd.add_u64s(simd.and_u64s(raised, bits(0x000f_ffff_ffff_ffff)), bits(ROOT64));

    let f = simd.sub_f64s(simd.transmute_f64s_u64s(m), c(1.0));
    let s = simd.div_f64s(f, simd.add_f64s(f, c(2.0)));
    let z = simd.mul_f64s(s, s);
    let mut p = c(P64[6]);
    for k in (0..6).rev() {
        p = simd.mul_add_e_f64s(p, z, c(P64[k]));
    }
    let half_square = simd.mul_f64s(simd.mul_f64s(f, f), c(0.5));
    let small = simd.mul_f64s(s, simd.mul_add_e_f64s(p, z, half_square));
    let small = simd.mul_add_e_f64s(n, c(LN2_LO64), small);
    let ln_less_high = simd.sub_f64s(f, simd.sub_f64s(half_square, small));
    let ln = simd.mul_add_e_f64s(n, c(LN2_HI64), ln_less_high);

    let ln = simd.add_f64s(ln, simd.sub_f64s(x, x)); // NaN stays
    let ln = simd.select_f64s(simd.less_than_f64s(c(f64::MAX), x), c(f64::INFINITY), ln);
    let none = simd.less_than_f64s(x, c(f64::from_bits(1)));
    simd.select_f64s(none, c(f64::NEG_INFINITY), ln)
}

/// Shifts the exponent field to the end of the high word. The caller masks off all other bits.
#[inline(always)]
fn exponent_to_high_word<S: Simd>(simd: S, x: S::u64s) -> S::u64s {
    if S::IS_SCALAR {
        cast::<u64, S::u64s>(cast::<S::u64s, u64>(x) >> 20)
    } else {
        cast::<S::u32s, S::u64s>(
            simd.wrapping_dyn_shr_u32s(cast::<S::u64s, S::u32s>(x), simd.splat_u32s(20)),
        )
    }
}

const P32: [f32; 3] = [0.666_667_8, 0.399_773_47, 0.298_760_95];
/// √½, rounded down.
const ROOT32: u32 = 0x3f35_04f3;
/// 2²⁵, a factor that makes subnormal numbers normal.
const RAISE32: f32 = 33_554_432.0;

#[inline(always)]
pub(super) fn f32s<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let c = |value: f32| simd.splat_f32s(value);
    let bits = |value: u32| simd.splat_u32s(value);

    let tiny = simd.less_than_f32s(x, c(f32::MIN_POSITIVE));
    let normal = simd.select_f32s(tiny, simd.mul_f32s(x, c(RAISE32)), x);
    let bias = simd.select_f32s(tiny, c(UNITS_LAST + 127.0 + 25.0), c(UNITS_LAST + 127.0));
    let raised = simd.add_u32s(simd.transmute_u32s_f32s(normal), bits(0x3f80_0000 - ROOT32));
    let field = simd.and_u32s(simd.wrapping_dyn_shr_u32s(raised, bits(23)), bits(0xff));
    let n = simd
        .sub_f32s(simd.transmute_f32s_u32s(simd.or_u32s(field, bits(UNITS_LAST.to_bits()))), bias);
    let m = simd.add_u32s(simd.and_u32s(raised, bits(0x007f_ffff)), bits(ROOT32));

    let f = simd.sub_f32s(simd.transmute_f32s_u32s(m), c(1.0));
    let s = simd.div_f32s(f, simd.add_f32s(f, c(2.0)));
    let z = simd.mul_f32s(s, s);
    let p = simd.mul_add_e_f32s(simd.mul_add_e_f32s(c(P32[2]), z, c(P32[1])), z, c(P32[0]));
    let half_square = simd.mul_f32s(simd.mul_f32s(f, f), c(0.5));
    let small = simd.mul_f32s(s, simd.mul_add_e_f32s(p, z, half_square));
    let small = simd.mul_add_e_f32s(n, c(LN2_LO32), small);
    let ln_less_high = simd.sub_f32s(f, simd.sub_f32s(half_square, small));
    let ln = simd.mul_add_e_f32s(n, c(LN2_HI32), ln_less_high);

    let ln = simd.add_f32s(ln, simd.sub_f32s(x, x)); // NaN stays
    let ln = simd.select_f32s(simd.less_than_f32s(c(f32::MAX), x), c(f32::INFINITY), ln);
    let none = simd.less_than_f32s(x, c(f32::from_bits(1)));
    simd.select_f32s(none, c(f32::NEG_INFINITY), ln)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Function, every_way};
    use crate::Scalar;

    const SPECIAL: [f64; 5] = [0.0, f64::INFINITY, f64::NAN, 1.0, -0.0];

    fn check_special<T: Scalar>(y: &[T]) {
        let y: Vec<f64> = y[..5].iter().map(|y| y.f64()).collect();
        assert_eq!(
            (y[0], y[1], y[3], y[4]),
            (f64::NEG_INFINITY, f64::INFINITY, 0.0, f64::NEG_INFINITY)
        );
        assert!(y[2].is_nan());
    }

    /// Special numbers, then 2^18 numbers from the whole range and as many around 1.
    fn numbers(exponents: f64) -> Vec<f64> {
        let n = 1 << 18;
        let fraction = |i: i32| f64::from(i) / f64::from(n);
        SPECIAL
            .into_iter()
            .chain((5..n).map(|i| (exponents * (2.0 * fraction(i) - 1.0)).exp2()))
            .chain((0..n).map(|i| 0.5 + 1.5 * fraction(i)))
            .collect()
    }

    #[test]
    fn f64_is_within_two_ulp_everywhere() {
        let x = [numbers(1070.0), numbers(40.0)].concat();
        for y in every_way(Function::Ln, &x) {
            check_special(&y);
            for (x, y) in x.iter().zip(y).filter(|(x, _)| x.is_finite() && **x > 0.0) {
                let exact = x.ln();
                let ulp = (exact.abs().next_up() - exact.abs()).max(f64::MIN_POSITIVE);
                assert!((y - exact).abs() <= 2.0 * ulp, "ln {x:e} = {y:e}, not {exact:e}");
            }
        }
    }

    #[test]
    fn f32_is_within_two_ulp_everywhere() {
        let x: Vec<f32> = numbers(140.0).into_iter().map(|x| x as f32).collect();
        for y in every_way(Function::Ln, &x) {
            check_special(&y);
            for (x, y) in x.iter().zip(y).filter(|(x, _)| x.is_finite() && **x > 0.0) {
                let exact = f64::from(*x).ln();
                let rounded = (exact as f32).abs();
                let ulp = f64::from(rounded.next_up() - rounded).max(1e-38);
                assert!((f64::from(y) - exact).abs() <= 2.0 * ulp, "ln {x:e} = {y:e}");
            }
        }
    }
}
