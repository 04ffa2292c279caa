//! A vector register with operators.

use crate::Lane;
use nystrom_linalg_core::Scalar;
use pulp::Simd;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A register of numbers `T` in the instruction set `S`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<T: Scalar, S: Simd> {
    pub(crate) simd: S,
    pub(crate) register: T::Register<S>,
}

impl<T: Scalar, S: Simd> Lanes<T, S> {
    #[inline(always)]
    pub(crate) fn new(simd: S, register: T::Register<S>) -> Self {
        Lanes { simd, register }
    }

    #[inline(always)]
    pub(crate) fn splat(simd: S, x: T) -> Self {
        Self::new(simd, T::v_splat(simd, x))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $of_registers:ident) => {
        impl<T: Scalar, S: Simd> $trait for Lanes<T, S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self::new(self.simd, T::$of_registers(self.simd, self.register, other.register))
            }
        }
        impl<T: Scalar, S: Simd> $trait<f64> for Lanes<T, S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                $trait::$method(self, self.lit(other))
            }
        }
    };
}
operator!(Add, add, v_add);
operator!(Sub, sub, v_sub);
operator!(Mul, mul, v_mul);
operator!(Div, div, v_div);

impl<T: Scalar, S: Simd> Neg for Lanes<T, S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<T: Scalar, S: Simd> Lane for Lanes<T, S> {
    #[inline(always)]
    fn lit(self, c: f64) -> Self {
        Self::splat(self.simd, T::lit(c))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self::new(self.simd, T::v_mul_add(self.simd, self.register, b.register, c.register))
    }
    #[inline(always)]
    fn at_most(self, c: f64) -> Self {
        // `v_min` returns NaN for a NaN in its second argument
        Self::new(self.simd, T::v_min(self.simd, self.lit(c).register, self.register))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::new(self.simd, T::v_sqrt(self.simd, self.register))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self::new(self.simd, T::v_abs(self.simd, self.register))
    }
    #[inline(always)]
    fn exp(self) -> Self {
        Self::new(self.simd, T::v_exp(self.simd, self.register))
    }
    #[inline(always)]
    fn exp_neg(self) -> Self {
        Self::new(self.simd, T::v_exp_neg(self.simd, self.register))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        Self::new(self.simd, T::v_ln(self.simd, self.register))
    }
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut register = self.register;
        for x in pulp::bytemuck::cast_slice_mut::<_, T>(std::slice::from_mut(&mut register)) {
            *x = T::lit(f(x.f64()));
        }
        Self::new(self.simd, register)
    }
}
