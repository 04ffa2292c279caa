//! Units in which a sum over coordinates is taken, so that it neither overflows nor underflows.

use nystrom_linalg_core::Scalar;

/// Units for Σ_k m(x_k, y_k), in the precision `T`. No operation before the difference rounds, so
/// that points keep their digits.
///
/// A length scale of moderate size is applied as a factor of the sum. A length scale near the ends
/// of the range of `T` must be applied before the sum: the square of 1e-200 is 0, that of 1e200 is
/// infinite.
#[derive(Debug, Clone)]
pub(crate) struct Scales<T> {
    /// For every coordinate, a power of two ≤ 1 by which it is multiplied. The product is exact,
    /// and differences of large coordinates stay finite. If empty, all are 1.
    pub(super) shrink: Vec<T>,
    /// For every coordinate, the factor by which differences are multiplied. If empty, all are 1.
    pub(super) weights: Vec<T>,
    /// The factor of the sum: positive and finite, so that 0 stays 0 and ∞ stays ∞.
    pub(super) factor: T,
}

impl<T: Scalar> Scales<T> {
    /// No units: the sum is taken unchanged.
    pub(crate) fn none() -> Self {
        Scales { shrink: vec![], weights: vec![], factor: T::one() }
    }

    /// Units for the same length scale ℓ in all `d` coordinates and a sum of `power`-th powers of
    /// differences.
    pub(crate) fn common(length_scale: f64, d: usize, power: i32) -> Self {
        if T::unit_near(length_scale) == 1.0 {
            return Scales { factor: positive(length_scale.recip().powi(power)), ..Scales::none() };
        }
        let unit = power_of_two::<T>(length_scale);
        let (each, factor) =
            (vec![T::lit(unit.recip()); d], positive((unit / length_scale).powi(power)));
        if unit > 1.0 {
            Scales { shrink: each, weights: vec![], factor }
        } else {
            Scales { shrink: vec![], weights: each, factor }
        }
    }

    /// Units for one length scale per coordinate: `shrink` and `weights`, no factor.
    pub(crate) fn each(length_scales: &[f64]) -> Self {
        let unit = |l: f64| power_of_two::<T>(l).max(1.0);
        Scales {
            shrink: length_scales.iter().map(|&l| T::lit(unit(l).recip())).collect(),
            weights: length_scales.iter().map(|&l| positive(unit(l) / l)).collect(),
            factor: T::one(),
        }
    }
}

/// The normal positive finite `T` nearest to `x`.
fn positive<T: Scalar>(x: f64) -> T {
    T::lit(x.clamp(smallest::<T>(), T::max_value().f64()))
}

/// The smallest normal `T`. It and its reciprocal are powers of two.
fn smallest<T: Scalar>() -> f64 {
    T::min_positive_value().f64()
}

/// The largest power of two that is at most ℓ, or the nearest to it that has a normal reciprocal in
/// `T`.
fn power_of_two<T: Scalar>(length_scale: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(length_scale.to_bits() & EXPONENT)
        .clamp(smallest::<T>(), smallest::<T>().recip())
}
