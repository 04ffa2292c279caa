//! Monotone curves that compress the tails of skewed columns: those whose skewness
//! E[(v − mean)³]/sd³ is beyond ±2.

use serde::{Deserialize, Serialize};

/// A monotone transformation of the values of a column, which reduces their skewness.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// v ↦ v.
    Plain,
    /// v ↦ arsinh((v − center)/unit): linear near `center`, logarithmic far from it.
    Log {
        /// The median.
        center: f64,
        /// The standard deviation of the normal distribution with the same quartiles.
        unit: f64,
    },
}

/// The skewness beyond which a column is skewed.
const SKEWED: f64 = 2.0;
/// The distance between the quartiles of a normal distribution, in standard deviations.
const QUARTILES: f64 = 1.35;

impl Curve {
    /// The curve of a column with these values, sorted: logarithmic if they are skewed.
    pub(crate) fn of(sorted: &[f64]) -> Curve {
        if !(skewness(sorted).abs() > SKEWED) {
            return Curve::Plain;
        }
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let apart = |share: f64| at(1.0 - share) - at(share);
        // columns that are mostly one value have no quartiles apart
        let unit = [0.25, 0.1, 0.01, 0.0].into_iter().map(apart).find(|unit| *unit > 0.0);
        match unit {
            Some(unit) if unit.is_finite() => {
                Curve::Log { center: at(0.5), unit: unit / QUARTILES }
            }
            _ => Curve::Plain,
        }
    }

    /// The transformed value of v.
    pub fn at(self, v: f64) -> f64 {
        match self {
            Curve::Plain => v,
            Curve::Log { center, unit } => ((v - center) / unit).asinh(),
        }
    }

    /// The slope of the curve at v.
    pub(crate) fn slope(self, v: f64) -> f64 {
        match self {
            Curve::Plain => 1.0,
            Curve::Log { center, unit } => 1.0 / (unit * ((v - center) / unit).hypot(1.0)),
        }
    }

    pub(crate) fn is_sound(self) -> bool {
        match self {
            Curve::Plain => true,
            Curve::Log { center, unit } => center.is_finite() && unit.is_finite() && unit > 0.0,
        }
    }
}

/// E[(v − mean)³]/sd³; not a number for equal values.
fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    let greatest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let moment = |k: i32| values.iter().map(|v| ((v - mean) / greatest).powi(k)).sum::<f64>() / n;
    moment(3) / moment(2).powf(1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_skewed_columns_are_bent() {
        let even: Vec<f64> = (0..100).map(f64::from).collect();
        let skewed: Vec<f64> = (0..100).map(|i| (f64::from(i) / 5.0).exp()).collect();
        assert_eq!(Curve::of(&even), Curve::Plain);
        assert_eq!(Curve::of(&[1.0, 1.0]), Curve::Plain);
        let curve = Curve::of(&skewed);
        assert!(matches!(curve, Curve::Log { .. }) && curve.is_sound());
        assert!(skewed.windows(2).all(|pair| curve.at(pair[0]) < curve.at(pair[1])));
        // mostly one value
        let rare: Vec<f64> = (0..1000).map(|i| if i < 995 { 0.0 } else { f64::from(i) }).collect();
        assert!(matches!(Curve::of(&rare), Curve::Log { .. }));
    }
}
