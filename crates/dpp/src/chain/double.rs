//! Numbers of about 32 digits as unevaluated sums of two `f64`: what an exchange is carried out in.
//!
//! Error-free transformations of Dekker (1971) and Knuth.

use std::ops::{Add, Mul, Neg, Sub};

/// high + low, |low| at most half a unit in the last place of high; relative error of an operation
/// about 2⁻¹⁰⁴.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Double {
    pub high: f64,
    pub low: f64,
}

impl Double {
    #[inline(always)]
    pub fn new(high: f64, low: f64) -> Self {
        Double { high, low }
    }

    /// a + b without error.
    #[inline(always)]
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let t = high - a;
        Double { high, low: (a - (high - t)) + (b - t) }
    }

    /// ab without error.
    #[inline(always)]
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    /// The same number with |low| small, given |high| ≥ |low|.
    #[inline(always)]
    fn normalised(self) -> Self {
        let high = self.high + self.low;
        Double { high, low: self.low - (high - self.high) }
    }

    /// 1/√self for self > 0: one step of Newton from the `f64` value.
    #[inline(always)]
    pub fn inverse_root(self) -> Self {
        let y = self.high.sqrt().recip();
        let defect = Double::from(1.0) - (self * Double::from(y)) * Double::from(y);
        Double::sum(y, 0.5 * y * defect.high)
    }
}

impl From<f64> for Double {
    #[inline(always)]
    fn from(high: f64) -> Self {
        Double { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Double;
    #[inline(always)]
    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Add for Double {
    type Output = Double;
    #[inline(always)]
    fn add(self, o: Double) -> Double {
        let s = Double::sum(self.high, o.high);
        Double { high: s.high, low: s.low + (self.low + o.low) }.normalised()
    }
}

impl Sub for Double {
    type Output = Double;
    #[inline(always)]
    fn sub(self, o: Double) -> Double {
        self + -o
    }
}

impl Mul for Double {
    type Output = Double;
    #[inline(always)]
    fn mul(self, o: Double) -> Double {
        let p = Double::product(self.high, o.high);
        Double { high: p.high, low: p.low + self.high.mul_add(o.low, self.low * o.high) }
            .normalised()
    }
}
