//! Derivatives of formulas written in terms of [`Lane`], by dual numbers.

use crate::Lane;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The dual number v + ε·v′ with ε² = 0: a formula's value and its derivative with respect to the
/// variable that [`variable`](Dual::variable) made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual<V> {
    value: V,
    slope: V,
}

impl<V: Lane> Dual<V> {
    /// The variable of differentiation, whose derivative is 1.
    #[inline(always)]
    fn variable(value: V) -> Self {
        Dual { value, slope: value.lit(1.0) }
    }

    /// The chain rule: a function of `self` with value `value` and derivative `rate`.
    #[inline(always)]
    fn chain(self, value: V, rate: V) -> Self {
        Dual { value, slope: self.slope * rate }
    }
}

/// f′(x) for a formula f.
#[inline(always)]
pub(crate) fn derivative<V: Lane>(x: V, f: impl FnOnce(Dual<V>) -> Dual<V>) -> V {
    f(Dual::variable(x)).slope
}

/// Relative step of central differences, ε^{1/3} for `f64`.
const STEP: f64 = 6e-6;

impl<V: Lane> Lane for Dual<V> {
    #[inline(always)]
    fn lit(self, c: f64) -> Self {
        Dual { value: self.value.lit(c), slope: self.value.lit(0.0) }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Dual {
            value: self.value.mul_add(b.value, c.value),
            slope: self.slope.mul_add(b.value, self.value.mul_add(b.slope, c.slope)),
        }
    }
    #[inline(always)]
    fn at_most(self, c: f64) -> Self {
        let below = self.value.map(|x| if x > c { 0.0 } else { 1.0 });
        self.chain(self.value.at_most(c), below)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, root.lit(0.5) / root)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let abs = self.value.abs();
        self.chain(abs, self.value / abs)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let exp = self.value.exp();
        self.chain(exp, exp)
    }
    #[inline(always)]
    fn exp_neg(self) -> Self {
        let exp = self.value.exp_neg();
        self.chain(exp, -exp)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.lit(1.0) / self.value)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        let power = self.value.powf(p);
        self.chain(power, power / self.value * p)
    }
    /// The derivative is computed by central differences, with an error of about 1e-9·f(x)/x.
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let rate = self.value.map(|x| {
            let (left, right) = (x - STEP * x, x + STEP * x);
            (f(right) - f(left)) / (right - left)
        });
        self.chain(self.value.map(f), rate)
    }
}

impl<V: Lane> Add for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Dual { value: self.value + b.value, slope: self.slope + b.slope }
    }
}

impl<V: Lane> Sub for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Dual { value: self.value - b.value, slope: self.slope - b.slope }
    }
}

impl<V: Lane> Mul for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Dual {
            value: self.value * b.value,
            slope: self.slope.mul_add(b.value, self.value * b.slope),
        }
    }
}

impl<V: Lane> Div for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value;
        Dual { value, slope: (self.slope - value * b.slope) / b.value }
    }
}

impl<V: Lane> Neg for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual { value: -self.value, slope: -self.slope }
    }
}

impl<V: Lane> Add<f64> for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, c: f64) -> Self {
        Dual { value: self.value + c, slope: self.slope }
    }
}

impl<V: Lane> Mul<f64> for Dual<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, c: f64) -> Self {
        Dual { value: self.value * c, slope: self.slope * c }
    }
}
