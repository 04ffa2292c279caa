//! `f32` or `f64`, and the conversions that the algorithms need.

use faer::MatRef;
use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A real floating-point number; only `f32` and `f64` implement this trait.
///
/// Acceptance probabilities, traces, effective dimensions and thresholds are computed in `f64` for
/// either type, so that runs in both precisions consume the same random numbers. [`Scalar::lit`]
/// converts from `f64`, [`Scalar::f64`] to `f64`.
///
/// ```
/// use nystrom_linalg_core::Scalar;
/// fn half<T: Scalar>() -> T { T::lit(0.5) }
/// assert_eq!(half::<f32>(), 0.5_f32);
/// assert_eq!(f32::of(3).f64(), 3.0);
/// ```
pub trait Scalar:
    sealed::Sealed
    + crate::Vectorised
    + faer::traits::RealField
    + num_traits::Float
    + Default
    + Debug
    + Display
    + LowerExp
    + Sum
    + Send
    + Sync
    + 'static
{
    /// Machine epsilon ε: the distance from 1 to the next larger number.
    const EPS: f64;
    /// Name of the type, as written to saved models: `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// The nearest `Self` to the constant `x`.
    fn lit(x: f64) -> Self;
    /// The nearest `Self` to the count `n`.
    fn of(n: usize) -> Self {
        Self::lit(n as f64)
    }
    /// The number in `f64`, exactly.
    fn f64(self) -> f64;
    /// A unit in which to express numbers of magnitude `x` ≥ 0, so that their squares and products
    /// do not overflow or underflow in `Self`. The unit is 1 if such products are well within the
    /// range of `Self`. Otherwise it is a power of two near x, and division by it is exact.
    fn unit_near(x: f64) -> f64 {
        // 2^31.5 (f32) or 2^255.5 (f64)
        let large = <Self as num_traits::Float>::min_positive_value().f64().sqrt().sqrt().recip();
        if x == 0.0 || (large.recip()..large).contains(&x) {
            1.0
        } else {
            2.0_f64.powi(x.log2().clamp(-1000.0, 1000.0) as i32)
        }
    }
    /// The matrix itself, if `Self` is `f64`.
    fn as_f64(a: MatRef<'_, Self>) -> Option<MatRef<'_, f64>>;
}

impl Scalar for f32 {
    const EPS: f64 = f32::EPSILON as f64;
    const NAME: &'static str = "f32";
    #[inline]
    fn lit(x: f64) -> Self {
        x as f32
    }
    #[inline]
    fn f64(self) -> f64 {
        self as f64
    }
    fn as_f64(_: MatRef<'_, Self>) -> Option<MatRef<'_, f64>> {
        None
    }
}

impl Scalar for f64 {
    const EPS: f64 = f64::EPSILON;
    const NAME: &'static str = "f64";
    #[inline]
    fn lit(x: f64) -> Self {
        x
    }
    #[inline]
    fn f64(self) -> f64 {
        self
    }
    fn as_f64(a: MatRef<'_, Self>) -> Option<MatRef<'_, f64>> {
        Some(a)
    }
}
