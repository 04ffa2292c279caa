//! Vector registers of `f32` or `f64`, so that code generic over [`Scalar`](crate::Scalar) can be
//! written once for every instruction set.

use pulp::Simd;
use pulp::bytemuck::Pod;
use std::fmt::Debug;

#[path = "simd_exp.rs"]
mod exp;
#[path = "simd_ln.rs"]
mod ln;
#[path = "simd_stream.rs"]
mod stream;
pub use stream::WrittenColumns;

/// High part of ln 2 = LN2_HI64 + LN2_LO64: n·LN2_HI64 is exact for every exponent n of `f64`.
const LN2_HI64: f64 = 0.6931471803691238;
/// Low part of ln 2 = LN2_HI64 + LN2_LO64.
const LN2_LO64: f64 = 1.9082149292705877e-10;
/// High part of ln 2 = LN2_HI32 + LN2_LO32: n·LN2_HI32 is exact for every exponent n of `f32`.
const LN2_HI32: f32 = 0.693_115_23;
/// Low part of ln 2 = LN2_HI32 + LN2_LO32.
const LN2_LO32: f32 = 3.194_618_3e-5;
/// 1.5·2²⁰. In the sum of this constant and a number below 2¹⁹, the last bit of the high 32-bit
/// word stands for 1.
const UNITS_IN_HIGH_WORD: f64 = 1_572_864.0;
/// 1.5·2²³. In the sum of this constant and a number below 2²², the last bit stands for 1.
const UNITS_LAST: f32 = 12_582_912.0;

/// Operations on vector registers of `Self`, for each instruction set `S` that `pulp` detects at
/// run time.
///
/// A supertrait of [`Scalar`](crate::Scalar), implemented for `f32` and `f64`. The trait `Lane` of
/// `nystrom-kernels` offers the same operations with overloaded operators; prefer it to these
/// functions. Lanes are independent of one another: the result for a number does not depend on its
/// position in a register. Without a fused instruction, `v_mul_add` rounds twice.
pub trait Vectorised: Pod {
    /// A register full of `Self`.
    type Register<S: Simd>: Copy + Send + Sync + Debug + Pod;

    /// How many numbers a register holds.
    fn v_lanes<S: Simd>() -> usize {
        size_of::<Self::Register<S>>() / size_of::<Self>()
    }
    /// Splits a slice into its leading whole registers and the remaining numbers.
    fn v_split<S: Simd>(slice: &[Self]) -> (&[Self::Register<S>], &[Self]);
    /// Splits a mutable slice into its leading whole registers and the remaining numbers.
    fn v_split_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::Register<S>], &mut [Self]);
    /// All lanes equal to `x`.
    fn v_splat<S: Simd>(simd: S, x: Self) -> Self::Register<S>;
    /// a + b.
    fn v_add<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a − b.
    fn v_sub<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a·b.
    fn v_mul<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a/b.
    fn v_div<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a·b + c, fused if the instruction set has a fused multiply-add.
    fn v_mul_add<S: Simd>(
        simd: S,
        a: Self::Register<S>,
        b: Self::Register<S>,
        c: Self::Register<S>,
    ) -> Self::Register<S>;
    /// min(a, b); NaN where b is NaN.
    fn v_min<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// max(a, b); NaN where b is NaN.
    fn v_max<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a in lanes where test < 0, b in the others.
    fn v_where_negative<S: Simd>(
        simd: S,
        test: Self::Register<S>,
        a: Self::Register<S>,
        b: Self::Register<S>,
    ) -> Self::Register<S>;
    /// |a|.
    fn v_abs<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// √a, correctly rounded.
    fn v_sqrt<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// e^a within 2 ulp for every finite or infinite a: overflow to ∞, gradual underflow to 0,
    /// exactly 1 at a = 0. NaN for NaN.
    fn v_exp<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// e^{−a} within 2 ulp for a ≥ 0: gradual underflow to 0, exactly 1 at a = 0. NaN for NaN.
    /// Takes a fifth less work than `v_exp`.
    fn v_exp_neg<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// ln a within 2 ulp for a ≥ 0: −∞ at 0, ∞ at ∞. NaN for NaN.
    fn v_ln<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
}

macro_rules! vectorised {
    ($float:ty, $register:ident, $as_simd:ident, $as_mut_simd:ident, $splat:ident, $add:ident,
        $sub:ident, $mul:ident,
     $div:ident, $mul_add:ident, $min:ident, $max:ident, $less:ident, $select:ident, $abs:ident,
        $sqrt:ident,
         $exp:path, $exp_neg:path, $ln:path) => {
        impl Vectorised for $float {
            type Register<S: Simd> = S::$register;

            #[inline(always)]
            fn v_split<S: Simd>(slice: &[Self]) -> (&[S::$register], &[Self]) {
                S::$as_simd(slice)
            }
            #[inline(always)]
            fn v_split_mut<S: Simd>(slice: &mut [Self]) -> (&mut [S::$register], &mut [Self]) {
                S::$as_mut_simd(slice)
            }
            #[inline(always)]
            fn v_splat<S: Simd>(simd: S, x: Self) -> S::$register {
                simd.$splat(x)
            }
            #[inline(always)]
            fn v_add<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn v_sub<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn v_mul<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn v_div<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$div(a, b)
            }
            #[inline(always)]
            fn v_mul_add<S: Simd>(
                simd: S,
                a: S::$register,
                b: S::$register,
                c: S::$register,
            ) -> S::$register {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn v_min<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                // without vector registers min is `f64::min`, which drops NaN
                if S::IS_SCALAR {
                    return simd.$select(simd.$less(a, b), a, b);
                }
                simd.$min(a, b)
            }
            #[inline(always)]
            fn v_max<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                if S::IS_SCALAR {
                    return simd.$select(simd.$less(b, a), a, b);
                }
                simd.$max(a, b)
            }
            #[inline(always)]
            fn v_where_negative<S: Simd>(
                simd: S,
                test: S::$register,
                a: S::$register,
                b: S::$register,
            ) -> S::$register {
                simd.$select(simd.$less(test, simd.$splat(0.0)), a, b)
            }
            #[inline(always)]
            fn v_abs<S: Simd>(simd: S, a: S::$register) -> S::$register {
                simd.$abs(a)
            }
            #[inline(always)]
            fn v_sqrt<S: Simd>(simd: S, a: S::$register) -> S::$register {
                simd.$sqrt(a)
            }
            #[inline(always)]
            fn v_exp<S: Simd>(simd: S, a: S::$register) -> S::$register {
                $exp(simd, a)
            }
            #[inline(always)]
            fn v_exp_neg<S: Simd>(simd: S, a: S::$register) -> S::$register {
                $exp_neg(simd, a)
            }
            #[inline(always)]
            fn v_ln<S: Simd>(simd: S, a: S::$register) -> S::$register {
                $ln(simd, a)
            }
        }
    };
}

vectorised!(
    f32,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    mul_add_e_f32s,
    min_f32s,
    max_f32s,
    less_than_f32s,
    select_f32s,
    abs_f32s,
    sqrt_f32s,
    exp::f32s,
    exp::neg_f32s,
    ln::f32s
);
vectorised!(
    f64,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    mul_add_e_f64s,
    min_f64s,
    max_f64s,
    less_than_f64s,
    select_f64s,
    abs_f64s,
    sqrt_f64s,
    exp::f64s,
    exp::neg_f64s,
    ln::f64s
);

#[cfg(test)]
mod tests {
    use crate::Scalar;
    use pulp::{Arch, Simd, WithSimd};

    #[derive(Debug, Clone, Copy)]
    pub(super) enum Function {
        Exp,
        ExpNeg,
        Ln,
    }

    /// y = f(x).
    struct Apply<'a, T>(Function, &'a [T], &'a mut [T]);

    impl<T: Scalar> WithSimd for Apply<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Apply(f, x, y) = self;
            for (y, &x) in T::v_split_mut::<S>(y).0.iter_mut().zip(T::v_split::<S>(x).0) {
                *y = match f {
                    Function::Exp => T::v_exp(simd, x),
                    Function::ExpNeg => T::v_exp_neg(simd, T::v_abs(simd, x)),
                    Function::Ln => T::v_ln(simd, x),
                }
            }
        }
    }

    /// Runs with every instruction set of this machine.
    pub(super) fn every_way<T: Scalar>(f: Function, x: &[T]) -> Vec<Vec<T>> {
        assert_eq!(x.len() % 64, 0);
        let mut results = vec![vec![T::zero(); x.len()]; 2];
        Arch::new().dispatch(Apply(f, x, &mut results[0]));
        Apply(f, x, &mut results[1]).with_simd(pulp::Scalar::new());
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            results.push(vec![T::zero(); x.len()]);
            Simd::vectorize(avx2, Apply(f, x, &mut results[2]));
        }
        results
    }
}
