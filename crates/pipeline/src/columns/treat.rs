//! Features of numbers and of categories, from their values.

use super::means::LevelMeans;
use super::options::{ColumnOptions, Missing, NOT_COUNTS};
use super::sums::NumberSums;
use super::{Curve, Shape, Treatment, Why};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The feature of a number on a curve, and possibly one that marks missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NumberFeatures {
    pub curve: Curve,
    /// The value that replaces a missing one; `None`: a missing value is an error.
    pub fill: Option<f64>,
    /// The feature is (curve(value) − mean)/scale.
    pub mean: f64,
    pub scale: f64,
    /// The mean and scale of the feature that marks missing values, if there is one.
    pub missing: Option<(f64, f64)>,
}

/// A feature of 0 and 1 for each level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelFeatures {
    pub levels: Vec<String>,
    /// The rare levels, if there are any: they share one more feature. Empty for numbers: all that
    /// are not among `levels`.
    pub rare: Option<Vec<String>>,
    /// The mean of each feature, and the scale of all.
    pub means: Vec<f64>,
    pub scale: f64,
    /// Whether a missing text is an error; otherwise all its features are 0.
    pub complete: bool,
    /// Whether a fitted row misses its text; if none does, a missing text gets the mean features.
    pub gaps: bool,
}

/// The mean of each target in the level of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanFeatures {
    pub of: LevelMeans,
    /// The mean and the scale of each feature, one for each target.
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
    pub complete: bool,
}

impl Treatment {
    pub(super) fn width(&self) -> usize {
        match self {
            Treatment::Number(number) => 1 + usize::from(number.missing.is_some()),
            Treatment::Text(text) => text.levels.len() + usize::from(text.rare.is_some()),
            Treatment::Means(means) => means.of.width(),
            Treatment::Bits(bits) => bits.width(),
            Treatment::Sparse(rows) => rows.count,
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let positive = |scale: f64| scale.is_finite() && scale > 0.0;
        let finite = |means: &[f64]| means.iter().all(|mean| mean.is_finite());
        match self {
            Treatment::Number(NumberFeatures { curve, fill, mean, scale, missing }) => {
                curve.is_sound()
                    && fill.is_none_or(f64::is_finite)
                    && mean.is_finite()
                    && positive(*scale)
                    && missing.is_none_or(|(mean, scale)| mean.is_finite() && positive(scale))
            }
            Treatment::Text(LevelFeatures { means, scale, .. }) => {
                means.len() == self.width() && finite(means) && positive(*scale)
            }
            Treatment::Means(MeanFeatures { of, means, scales, .. }) => {
                of.is_sound()
                    && [means, scales].iter().all(|list| list.len() == of.width())
                    && finite(means)
                    && scales.iter().all(|scale| positive(*scale))
            }
            Treatment::Bits(bits) => bits.bits > 0,
            Treatment::Sparse(rows) => rows.is_sound(),
        }
    }
}

/// The feature of numbers. `rest`: a missing number may be a text, which has another feature.
pub(super) fn number(
    name: &str,
    values: &[f64],
    options: &ColumnOptions,
    (shape, rest): (Shape, bool),
    exact: Option<&NumberSums>,
) -> Result<Result<Treatment, Why>> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return Ok(Err(Why::Empty));
    }
    let (rows, gaps, is_constant) = match exact {
        Some(sums) => (sums.rows(), sums.gaps(), sums.is_constant()),
        None => {
            let is_constant = sorted[0] == sorted[sorted.len() - 1];
            (values.len(), values.len() - sorted.len(), is_constant)
        }
    };
    if !rest {
        refuse_gaps(name, gaps, rows, options)?;
    }
    // `exact` also has the rows that are not in the sample
    let least = exact.map_or(0.0, NumberSums::least);
    if options.counts && least < 0.0 {
        return Err(Error::values(name, format!("has the value {least}"), NOT_COUNTS));
    }
    if is_constant && gaps == 0 && !options.counts {
        return Ok(Err(Why::Constant(sorted[0].to_string())));
    }
    let curve = match shape {
        Shape { ranks: true, .. } => Curve::ranks(&sorted),
        Shape { log: true, .. } => Curve::of(&sorted),
        _ => Curve::Plain,
    };
    let median = sorted[sorted.len() / 2];
    let factor = options.factor(name);
    let bent = |value: &f64| curve.at(if value.is_nan() { median } else { *value });
    let of_all = exact.filter(|_| options.standardizes() && curve == Curve::Plain);
    let moments = match of_all {
        Some(sums) => sums.moments(median),
        None => moments(values.iter().map(bent), values.len(), options.standardizes()),
    };
    let (mean, scale) = moments.ok_or_else(|| {
        let what = "has no finite mean and standard deviation";
        Error::values(name, what, "rescale it, or leave it out")
    })?;
    let share = gaps as f64 / rows as f64;
    let (mean_gap, spread) = options.standard((share, (share * (1.0 - share)).sqrt()));
    Ok(Ok(Treatment::Number(NumberFeatures {
        curve,
        fill: (options.missing != Missing::Refuse || rest).then_some(median),
        mean,
        scale: scale / factor,
        missing: (gaps > 0).then_some((mean_gap, spread / factor)),
    })))
}

/// Features of 0 and 1 for levels of at least `frequent` rows, in the order of their names; and the
/// number of rows with another level.
pub(super) fn one_hot(
    mut counts: Vec<(usize, String)>,
    (rows, gaps): (usize, usize),
    frequent: usize,
    options: &ColumnOptions,
    factor: f64,
) -> (LevelFeatures, usize) {
    counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut rare: Vec<(usize, String)> =
        counts.split_off(options.most_levels.max(1).min(counts.len()));
    let few = counts.iter().position(|(count, _)| *count < frequent).unwrap_or(counts.len());
    rare.extend(counts.split_off(few.max(1).min(counts.len())));
    counts.sort_by(|a, b| a.1.cmp(&b.1));
    let share = |count: usize| count as f64 / rows as f64;
    let mut means: Vec<f64> = counts.iter().map(|(count, _)| share(*count)).collect();
    let others = rare.iter().map(|(count, _)| count).sum();
    if !rare.is_empty() {
        means.push(share(others));
    }
    let variance: f64 = means.iter().map(|p| p * (1.0 - p)).sum();
    let scale = if options.standardizes() && variance > 0.0 { variance.sqrt() } else { 1.0 };
    if !options.standardizes() {
        means.fill(0.0);
    }
    let names = |list: Vec<(usize, String)>| list.into_iter().map(|(_, level)| level).collect();
    let features = LevelFeatures {
        levels: names(counts),
        rare: (!rare.is_empty()).then(|| names(rare)),
        means,
        scale: scale / factor,
        complete: options.missing == Missing::Refuse,
        gaps: gaps > 0,
    };
    (features, others)
}

pub(super) fn refuse_gaps(
    name: &str,
    gaps: usize,
    rows: usize,
    options: &ColumnOptions,
) -> Result<()> {
    if gaps > 0 && options.missing == Missing::Refuse {
        let what = format!("misses {gaps} of {rows} values");
        return Err(Error::values(name, what, "fill them in, or leave out rows or column"));
    }
    Ok(())
}

/// Mean and standard deviation; 0 and 1 if nothing is to be standardised. `None` if they are not
/// finite. Equal values have the deviation 1.
pub(super) fn moments(
    values: impl Iterator<Item = f64> + Clone,
    n: usize,
    wanted: bool,
) -> Option<(f64, f64)> {
    if !wanted {
        return Some((0.0, 1.0));
    }
    let n = n as f64;
    let first = values.clone().next()?;
    // about the first value, for columns far from 0 compared with their spread
    let rough = first + values.clone().map(|v| (v - first) / n).sum::<f64>();
    let mean = rough + values.clone().map(|v| (v - rough) / n).sum::<f64>();
    let greatest = values.clone().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    if greatest == 0.0 {
        return mean.is_finite().then_some((mean, 1.0));
    }
    let scale =
        greatest * (values.map(|v| ((v - mean) / greatest).powi(2)).sum::<f64>() / n).sqrt();
    (mean.is_finite() && scale.is_finite() && scale > 0.0).then_some((mean, scale))
}
