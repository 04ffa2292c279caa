//! In which units a sum over coordinates is taken, so that it neither overflows nor vanishes.

use nystrom_linalg_core::Scalar;

/// Units for Σ_k m(x_k, y_k), in the precision `T`. Points keep their digits: nothing that rounds
/// comes before the difference.
///
/// A length scale of common size needs no more than a factor of the sum. One near the ends of the
/// range of `T` needs its unit before the sum: squares of 1e-200 are 0, those of 1e200 infinite.
#[derive(Debug, Clone)]
pub(crate) struct Scales<T> {
    /// Powers of two up to 1 that coordinates are multiplied by: exact, and the difference of large
    /// ones stays finite. Empty: all 1.
    pub(super) shrink: Vec<T>,
    /// What differences are multiplied by, coordinate by coordinate. Empty: all 1.
    pub(super) weights: Vec<T>,
    /// What the sum is multiplied by: positive and finite, so that 0 stays 0 and ∞ stays ∞.
    pub(super) factor: T,
}

impl<T: Scalar> Scales<T> {
    /// No units: the sum as it is.
    pub(crate) fn none() -> Self {
        Scales { shrink: vec![], weights: vec![], factor: T::one() }
    }

    /// The length scale ℓ for each of `d` coordinates and a sum of `power`-th powers of
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

    /// A length scale for each coordinate: shrinking and weights, no factor.
    pub(crate) fn each(length_scales: &[f64]) -> Self {
        let unit = |l: f64| power_of_two::<T>(l).max(1.0);
        Scales {
            shrink: length_scales.iter().map(|&l| T::lit(unit(l).recip())).collect(),
            weights: length_scales.iter().map(|&l| positive(unit(l) / l)).collect(),
            factor: T::one(),
        }
    }
}

/// The nearest positive finite `T`.
fn positive<T: Scalar>(x: f64) -> T {
    T::lit(x.clamp(smallest::<T>(), T::max_value().f64()))
}

/// The smallest normal `T`, a power of two; so is its reciprocal.
fn smallest<T: Scalar>() -> f64 {
    T::min_positive_value().f64()
}

/// The power of two at or below ℓ, or the nearest to it that has a normal reciprocal in `T`.
fn power_of_two<T: Scalar>(length_scale: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(length_scale.to_bits() & EXPONENT)
        .clamp(smallest::<T>(), smallest::<T>().recip())
}
