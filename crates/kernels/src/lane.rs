//! The arithmetic in which kernel formulas are written, for vector registers and for plain `f64`.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number or a vector register of numbers, the argument of a [`Profile`](crate::Profile).
///
/// Inside a tile a formula is evaluated on whole vector registers. In the
/// [`reference`](crate::reference) oracle the same formula is evaluated in plain `f64` with the
/// functions of the standard library. Constants are `f64`, rounded to the precision of the lanes.
pub trait Lane:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// The constant `c` in every lane; `self` only determines the type.
    fn lit(self, c: f64) -> Self;
    /// self·b + c, with one rounding if the instruction set has a fused multiply-add.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// min(self, c); NaN stays NaN.
    fn at_most(self, c: f64) -> Self;
    /// √self.
    fn sqrt(self) -> Self;
    /// |self|.
    fn abs(self) -> Self;
    /// e^self, within 2 ulp over the whole range; exp(0) is exactly 1.
    fn exp(self) -> Self;
    /// e^{−self} for self ≥ 0, within 2 ulp, faster than `exp`; exactly 1 at 0.
    fn exp_neg(self) -> Self;
    /// ln self for self ≥ 0, within 2 ulp; −∞ at 0.
    fn ln(self) -> Self;
    /// self^p for self ≥ 0 and p ≠ 0, to a relative error of about |p·ln self| ulp.
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        (self.ln() * p).exp()
    }
    /// `f` of each number separately, in `f64`: for special functions. Much slower than the other
    /// operations.
    fn map(self, f: impl Fn(f64) -> f64) -> Self;
}

/// A single `f64` with the functions of the standard library, the arithmetic of the
/// [`reference`](crate::reference) oracle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plain(pub f64);

macro_rules! plain_op {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Plain {
            type Output = Plain;
            fn $method(self, other: Plain) -> Plain {
                Plain(self.0 $op other.0)
            }
        }
        impl $trait<f64> for Plain {
            type Output = Plain;
            fn $method(self, other: f64) -> Plain {
                Plain(self.0 $op other)
            }
        }
    };
}
plain_op!(Add, add, +);
plain_op!(Sub, sub, -);
plain_op!(Mul, mul, *);
plain_op!(Div, div, /);

impl Neg for Plain {
    type Output = Plain;
    fn neg(self) -> Plain {
        Plain(-self.0)
    }
}

impl Lane for Plain {
    fn lit(self, c: f64) -> Plain {
        Plain(c)
    }
    fn mul_add(self, b: Plain, c: Plain) -> Plain {
        Plain(self.0 * b.0 + c.0)
    }
    fn at_most(self, c: f64) -> Plain {
        Plain(if self.0 > c { c } else { self.0 })
    }
    fn sqrt(self) -> Plain {
        Plain(self.0.sqrt())
    }
    fn abs(self) -> Plain {
        Plain(self.0.abs())
    }
    fn exp(self) -> Plain {
        Plain(self.0.exp())
    }
    fn exp_neg(self) -> Plain {
        Plain((-self.0).exp())
    }
    fn ln(self) -> Plain {
        Plain(self.0.ln())
    }
    fn powf(self, p: f64) -> Plain {
        Plain(self.0.powf(p))
    }
    fn map(self, f: impl Fn(f64) -> f64) -> Plain {
        Plain(f(self.0))
    }
}
