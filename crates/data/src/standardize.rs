//! Standardising features to mean 0 and standard deviation 1.

use faer::{Mat, MatRef};

use crate::error::{DataError, Result, place::list};

/// Options of [`Standardizer::fit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standardize {
    /// The divisor of the variance.
    pub divisor: Divisor,
    /// The treatment of constant features.
    pub constant: Constant,
}

/// The divisor of the variance ("delta degrees of freedom").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Divisor {
    /// n (ddof = 0), like scikit-learn's `StandardScaler`: each column then has mean square 1.
    #[default]
    N,
    /// n − 1 (ddof = 1), like R's `scale`.
    NMinusOne,
}

/// The treatment of constant features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Constant {
    /// An error that names them.
    #[default]
    Refuse,
    /// Divided by 1: they become 0.
    ScaleByOne,
}

/// The affine map x ↦ (x − mean) / scale for each feature. It is kept to transform new data in the
/// same way.
///
/// With the feature `serde` it is saved as `{"means": […], "scales": […]}`. Loading fails for
/// values that [`fit`](Standardizer::fit) cannot give: lists of different lengths, means that are
/// not finite, scales that are not positive and finite.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked"))]
#[must_use]
pub struct Standardizer {
    /// d means.
    pub means: Vec<f64>,
    /// d standard deviations; 1 for constant features if [`Constant::ScaleByOne`] was chosen.
    pub scales: Vec<f64>,
}

/// A [`Standardizer`] as it is in a file, before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked {
    means: Vec<f64>,
    scales: Vec<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for Standardizer {
    type Error = String;

    fn try_from(Unchecked { means, scales }: Unchecked) -> std::result::Result<Self, String> {
        if means.len() != scales.len() {
            return Err(format!(
                "{} means for {} scales; there must be one of each",
                means.len(),
                scales.len()
            ));
        }
        if let Some(j) = means.iter().position(|mean| !mean.is_finite()) {
            return Err(format!(
                "feature {} has the mean {}, which is not finite",
                j + 1,
                means[j]
            ));
        }
        match scales.iter().position(|scale| !(scale.is_finite() && *scale > 0.0)) {
            Some(j) => {
                Err(format!("feature {} has the scale {}, which is not positive", j + 1, scales[j]))
            }
            None => Ok(Standardizer { means, scales }),
        }
    }
}

impl Standardizer {
    /// Computes means and standard deviations of the columns of `x` (n × d). `names` are used in
    /// errors and may be empty. O(n·d).
    ///
    /// Deviations are divided by the greatest of them before they are squared, so that the scales
    /// of tiny and of huge features neither underflow nor overflow. A feature is constant if all
    /// its values are equal; a small standard deviation does not make it constant.
    ///
    /// # Errors
    /// [`DataError::NoRows`] for n = 0. [`DataError::ConstantFeatures`] with [`Constant::Refuse`].
    /// [`DataError::NotStandardizable`] if a feature has entries that are not finite or a range
    /// above the greatest `f64`. [`DataError::Length`] if the number of names is neither 0 nor d.
    ///
    /// ```
    /// use nystrom_data::{Constant, DataError, Standardize, Standardizer};
    ///
    /// let x = faer::mat![[1.0, 7.0], [3.0, 7.0]];
    /// let names = ["speed".to_owned(), "version".to_owned()];
    /// let error = Standardizer::fit(x.as_ref(), &names, Standardize::default()).unwrap_err();
    /// assert!(matches!(error,
    /// DataError::ConstantFeatures { features } if features == "\"version\""));
    /// let options = Standardize { constant: Constant::ScaleByOne, ..Standardize::default() };
    /// assert_eq!(Standardizer::fit(x.as_ref(), &names, options)?.scales, [1.0, 1.0]);
    /// # Ok::<(), DataError>(())
    /// ```
    pub fn fit(x: MatRef<'_, f64>, names: &[String], options: Standardize) -> Result<Standardizer> {
        if x.nrows() == 0 {
            return Err(DataError::NoRows { table: "the data to standardise".to_owned() });
        }
        if !names.is_empty() && names.len() != x.ncols() {
            let what = "names of features".to_owned();
            return Err(DataError::Length { what, expected: x.ncols(), found: names.len() });
        }
        let name =
            |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("feature {j} (from 0)"));
        let (mut means, mut scales, mut constant) = (Vec::new(), Vec::new(), Vec::new());
        for j in 0..x.ncols() {
            let column: Vec<f64> = (0..x.nrows()).map(|i| x[(i, j)]).collect();
            let (mean, scale) = moments(&column, options.divisor)
                .ok_or_else(|| DataError::NotStandardizable { feature: name(j) })?;
            if scale == 0.0 {
                constant.push(name(j));
            }
            means.push(mean);
            scales.push(if scale == 0.0 { 1.0 } else { scale });
        }
        if options.constant == Constant::Refuse && !constant.is_empty() {
            return Err(DataError::ConstantFeatures { features: list(constant) });
        }
        Ok(Standardizer { means, scales })
    }

    /// Standardises new data: (x − mean) / scale for each feature of `x` (n × d). O(n·d).
    ///
    /// # Errors
    /// [`DataError::Length`] if `x` does not have d features.
    ///
    /// ```
    /// use nystrom_data::Standardizer;
    ///
    /// let map = Standardizer { means: vec![2.0], scales: vec![4.0] };
    /// let z = map.transform(faer::mat![[10.0]].as_ref())?;
    /// assert_eq!(z[(0, 0)], 2.0);
    /// assert_eq!(map.inverse(z.as_ref())?[(0, 0)], 10.0);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn transform(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check(x)?;
        Ok(Mat::from_fn(x.nrows(), x.ncols(), |i, j| (x[(i, j)] - self.means[j]) / self.scales[j]))
    }

    /// The inverse of [`transform`](Standardizer::transform): z · scale + mean for each feature of
    /// `z` (n × d). O(n·d).
    ///
    /// # Errors
    /// [`DataError::Length`] if `z` does not have d features.
    pub fn inverse(&self, z: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check(z)?;
        Ok(Mat::from_fn(z.nrows(), z.ncols(), |i, j| z[(i, j)] * self.scales[j] + self.means[j]))
    }

    fn check(&self, x: MatRef<'_, f64>) -> Result<()> {
        let (expected, found) = (self.means.len().min(self.scales.len()), x.ncols());
        if expected != found {
            return Err(DataError::Length {
                what: "features to standardise".to_owned(),
                expected,
                found,
            });
        }
        Ok(())
    }
}

/// Mean and standard deviation; `None` if they are not finite. The standard deviation is 0 only if
/// all values are equal.
fn moments(values: &[f64], divisor: Divisor) -> Option<(f64, f64)> {
    let first = *values.first()?;
    if values.iter().all(|&v| v == first) {
        return first.is_finite().then_some((first, 0.0));
    }
    let n = values.len() as f64;
    // relative to the first value, for accuracy where the data are far from 0 compared with their
    // spread
    let rough = first + values.iter().map(|v| (v - first) / n).sum::<f64>();
    let mean = rough + values.iter().map(|v| (v - rough) / n).sum::<f64>();
    let greatest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let squares = values.iter().map(|v| ((v - mean) / greatest).powi(2)).sum::<f64>();
    let divisor = if divisor == Divisor::N { n } else { n - 1.0 };
    let scale = greatest * (squares / divisor).sqrt();
    (mean.is_finite() && scale.is_finite() && scale > 0.0).then_some((mean, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, variance 32/8 = 4, or 32/7.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(moments(&values, Divisor::N), Some((5.0, 2.0)));
        let (_, scale) = moments(&values, Divisor::NMinusOne).unwrap();
        assert!((scale - (32.0f64 / 7.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn moments_survive_offsets_and_extreme_scales() {
        let base = [1.0, 2.0, 4.0];
        let expected = (14.0f64 / 9.0).sqrt(); // variance 7 − (7/3)² = 14/9
        for (offset, factor) in [(1e12, 1.0), (0.0, 1e-300), (0.0, 1e300), (0.0, 5e-308)] {
            let values = base.map(|v| offset + factor * v);
            let (_, scale) = moments(&values, Divisor::N).unwrap();
            assert!((scale / factor / expected - 1.0).abs() < 1e-4, "{offset} {factor} {scale}");
        }
        // Not constant, although 0.1 summed thrice is not 0.3.
        assert_eq!(moments(&[0.1; 3], Divisor::N), Some((0.1, 0.0)));
        assert!(moments(&[1.0, 1.0 + f64::EPSILON], Divisor::N).unwrap().1 > 0.0);
    }

    #[test]
    fn hopeless_features_are_refused() {
        for values in
            [vec![f64::NAN, 1.0], vec![f64::INFINITY, f64::INFINITY], vec![-f64::MAX, f64::MAX]]
        {
            assert_eq!(moments(&values, Divisor::N), None, "{values:?}");
        }
        assert_eq!(moments(&[3.0], Divisor::NMinusOne), Some((3.0, 0.0)));
        let empty = Mat::<f64>::zeros(0, 2);
        assert!(matches!(
            Standardizer::fit(empty.as_ref(), &[], Standardize::default()),
            Err(DataError::NoRows { .. })
        ));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_map_is_the_same_map_or_is_refused() {
        let x = Mat::from_fn(5, 2, |i, j| (i * i) as f64 / 3.0 + 0.1 * j as f64);
        let map = Standardizer::fit(x.as_ref(), &[], Standardize::default()).unwrap();
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<Standardizer>(&text).unwrap(), map);
        for (file, part) in [
            (r#"{"means":[1.0],"scales":[1.0,2.0]}"#, "1 means for 2 scales"),
            (r#"{"means":[1.0,0.0],"scales":[1.0,0.0]}"#, "feature 2 has the scale 0"),
            (r#"{"means":[1.0],"scales":[-1.0]}"#, "feature 1 has the scale -1"),
            (r#"{"means":[1.0]}"#, "missing field"),
        ] {
            let error = serde_json::from_str::<Standardizer>(file).unwrap_err().to_string();
            assert!(error.contains(part), "{file}: {error}");
        }
    }

    #[test]
    fn shapes_are_checked() {
        let map = Standardizer { means: vec![0.0; 2], scales: vec![1.0; 2] };
        assert!(matches!(
            map.transform(Mat::zeros(1, 3).as_ref()),
            Err(DataError::Length { expected: 2, found: 3, .. })
        ));
        let x = Mat::<f64>::zeros(2, 2);
        let names = ["only one".to_owned()];
        assert!(Standardizer::fit(x.as_ref(), &names, Standardize::default()).is_err());
    }
}
