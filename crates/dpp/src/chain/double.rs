//! Double-double numbers: about 32 digits, as unevaluated sums of two `f64`, for the Cholesky
//! factor of an ill-conditioned K_YY.
//!
//! Error-free transformations of Dekker (1971) and Knuth.

use std::ops::Mul;

/// The number high + low, where |low| is at most half a unit in the last place of high. The
/// relative error of an operation is about 2⁻¹⁰⁴.
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

    /// a + b, exact.
    #[inline(always)]
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let t = high - a;
        Double { high, low: (a - (high - t)) + (b - t) }
    }

    /// ab, exact.
    #[inline(always)]
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    /// The same number with |low| at most half a unit in the last place of high, given |high| ≥
    /// |low|.
    #[inline(always)]
    fn normalised(self) -> Self {
        let high = self.high + self.low;
        Double { high, low: self.low - (high - self.high) }
    }

    /// 1/√self for self > 0: one Newton step from the `f64` value.
    #[inline(always)]
    pub fn inverse_root(self) -> Self {
        let y = self.high.sqrt().recip();
        let square = self * Double::new(y, 0.0) * Double::new(y, 0.0);
        let rest = Double::sum(1.0, -square.high); // 1 − y²·self
        Double::sum(y, 0.5 * y * (rest.high + (rest.low - square.low)))
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
