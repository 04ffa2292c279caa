//! Monotone curves on which the values of a column are evened out: logarithms of skewed columns,
//! and ranks.

use serde::{Deserialize, Serialize};

/// A monotone transformation of the values of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The share of fitted values below v: linear between the knots, and beyond them with the slope
    /// from the first knot to the last.
    Ranks {
        /// Numbers in increasing order, each with the share of values below it.
        knots: Vec<[f64; 2]>,
    },
}

/// The skewness E[(v − mean)³]/sd³ beyond which a column is skewed.
const SKEWED: f64 = 2.0;
/// The distance between the quartiles of a normal distribution, in standard deviations.
const QUARTILES: f64 = 1.35;
/// The most knots of a curve of ranks.
const KNOTS: usize = 128;

impl Curve {
    /// The ranks among these values, sorted. The knots lie halfway between values, so that the
    /// curve has a slope at each value.
    pub(crate) fn ranks(sorted: &[f64]) -> Curve {
        let n = sorted.len();
        let steps: Vec<usize> = (1..n).filter(|&i| sorted[i - 1] < sorted[i]).collect();
        let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else {
            return Curve::Plain;
        };
        let between = |i: usize| sorted[i - 1].midpoint(sorted[i]);
        let beyond = |end: f64, inner: f64| end + (end - inner);
        let mut knots = vec![[beyond(sorted[0], between(first)), 0.0]];
        let mut known = 0;
        for k in 1..KNOTS {
            let place = steps.partition_point(|&i| i * KNOTS < k * n);
            match steps.get(place) {
                Some(&i) if i > known => {
                    knots.push([between(i), i as f64 / n as f64]);
                    known = i;
                }
                _ => {}
            }
        }
        knots.push([beyond(sorted[n - 1], between(last)), 1.0]);
        let ranks = Curve::Ranks { knots };
        if ranks.is_sound() { ranks } else { Curve::Plain }
    }

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
    pub fn at(&self, v: f64) -> f64 {
        match self {
            Curve::Plain => v,
            Curve::Log { center, unit } => ((v - center) / unit).asinh(),
            Curve::Ranks { knots } => {
                let ([from, share], slope) = piece(knots, v);
                share + slope * (v - from)
            }
        }
    }

    /// The slope of the curve at v.
    pub(crate) fn slope(&self, v: f64) -> f64 {
        match self {
            Curve::Plain => 1.0,
            Curve::Log { center, unit } => 1.0 / (unit * ((v - center) / unit).hypot(1.0)),
            Curve::Ranks { knots } => piece(knots, v).1,
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Curve::Plain => true,
            Curve::Log { center, unit } => center.is_finite() && unit.is_finite() && *unit > 0.0,
            Curve::Ranks { knots } => {
                let rises = |from: &[f64; 2], to: &[f64; 2]| {
                    let slope = (to[1] - from[1]) / (to[0] - from[0]);
                    from[0] < to[0] && slope.is_finite() && slope > 0.0
                };
                let (Some(first), Some(last)) = (knots.first(), knots.last()) else { return false };
                knots.iter().flatten().all(|v| v.is_finite())
                    && knots.windows(2).all(|pair| rises(&pair[0], &pair[1]))
                    && rises(first, last)
            }
        }
    }
}

/// A point of the curve of ranks and the slope with which v is reached from it: that between the
/// knots around v, or beyond them that from the first knot to the last, so that a value far from
/// all fitted ones stays far from them.
fn piece(knots: &[[f64; 2]], v: f64) -> ([f64; 2], f64) {
    let slope = |[a, low]: [f64; 2], [b, high]: [f64; 2]| (high - low) / (b - a);
    let last = knots.len() - 1;
    match knots.partition_point(|[value, _]| *value <= v) {
        0 => (knots[0], slope(knots[0], knots[last])),
        k if k > last => (knots[last], slope(knots[0], knots[last])),
        k => (knots[k - 1], slope(knots[k - 1], knots[k])),
    }
}

/// E[(v − mean)³]/sd³; not a number for equal values.
pub(crate) fn skewness(values: &[f64]) -> f64 {
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
        let ranks = Curve::ranks(&skewed);
        assert!(ranks.is_sound());
        assert!(skewed.windows(2).all(|pair| ranks.at(pair[0]) < ranks.at(pair[1])));
        assert!((ranks.at(skewed[50]) - 0.505).abs() < 0.01);
        let range = skewed[99] - skewed[0];
        let beyond = ranks.at(skewed[99] + 2.0 * range) - ranks.at(skewed[99] + range);
        assert!((0.9..1.0).contains(&beyond), "{beyond}");
        assert!((ranks.slope(-range) * range - beyond).abs() < 1e-9);
        // three levels, one of them frequent
        let levels = [[0.0; 6].as_slice(), &[1.0, 2.0, 2.0, 2.0]].concat();
        let ranks = Curve::ranks(&levels);
        for (v, share) in [(0.0, 0.3), (1.0, 0.65), (2.0, 0.85)] {
            assert!((ranks.at(v) - share).abs() < 1e-15);
        }
        assert_eq!(Curve::ranks(&[1.0; 3]), Curve::Plain);
        // of many values, the knots keep the shares
        let many: Vec<f64> = (0..5000).map(|i| f64::from(i).sqrt()).collect();
        let ranks = Curve::ranks(&many);
        let off = |i: &usize| (ranks.at(many[*i]) - (*i as f64 + 0.5) / 5000.0).abs();
        assert!((0..5000).all(|i| off(&i) < 0.5 / KNOTS as f64));
        // no finite slope between the first two
        assert_eq!(Curve::ranks(&[0.0, 1e-310, 1.0]), Curve::Plain);
        let flat = Curve::Ranks { knots: vec![[-1.7e308, 0.0], [1.7e308, 1.0]] };
        assert!(!flat.is_sound());
        // mostly one value
        let rare: Vec<f64> = (0..1000).map(|i| if i < 995 { 0.0 } else { f64::from(i) }).collect();
        assert!(matches!(Curve::of(&rare), Curve::Log { .. }));
    }
}
