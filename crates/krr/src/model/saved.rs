//! Saving and loading a model (feature `serde`).

use crate::{FitReport, KrrModel};
use faer::Mat;
use nystrom_kernels::{Kernel, LoadedKernel, PointSet, SavedKernel};
use nystrom_linalg_core::{Error, Result, Scalar, serialize};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Version of the layout of [`SavedModel`]; raised whenever that changes.
pub const MODEL_FORMAT: u32 = 2;

/// A [`KrrModel`] as it is stored in a file: its fields, their sizes, the scalar type and the
/// format version.
///
/// `KrrModel` implements `Serialize` and `Deserialize` through this type. For a bad file it returns
/// an error of the format, such as `serde_json::Error`, with the same message. To get the typed
/// [`Error::Incompatible`], deserialise a `SavedModel` and convert it.
///
/// The kernel is stored under its name ([`SavedKernel`]). A file with another kernel, or with one
/// without a name, is refused.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Gaussian, Matern32, Points};
/// use nystrom_krr::{ExactKrr, KrrModel, SavedModel};
/// use nystrom_linalg_core::{Error, Ridge};
/// let (x, y) = (mat![[0.0], [1.0_f64]], mat![[0.0], [1.0]]);
/// let model = ExactKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-3))
///     .fit((Points::from_rows(x.as_ref()), y.as_ref()))?;
/// let text = serde_json::to_string(&model).unwrap();
/// let loaded: KrrModel<Gaussian, f64> = serde_json::from_str(&text).unwrap();
/// assert_eq!(loaded, model);
///
/// let other_kernel: SavedModel<Matern32, f64> = serde_json::from_str(&text).unwrap();
/// let message = KrrModel::try_from(other_kernel).unwrap_err().to_string();
/// assert!(message.contains("`gaussian`, not `matern-3/2`"), "{message}");
/// let other_type: SavedModel<Gaussian, f32> = serde_json::from_str(&text).unwrap();
/// assert!(matches!(KrrModel::try_from(other_type), Err(Error::Incompatible { .. })));
/// # Ok::<(), Error>(())
/// ```
///
/// A model of a closure cannot be saved, and does not compile:
///
/// ```compile_fail,E0277
/// # use nystrom_kernels::FromFn;
/// # use nystrom_krr::KrrModel;
/// fn save<F: Clone>(model: &KrrModel<FromFn<F>, f64>) -> String {
///     serde_json::to_string(model).unwrap()
/// }
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: SavedKernel, T: Scalar + Serialize",
    deserialize = "K: SavedKernel, T: Scalar + DeserializeOwned"
))]
#[must_use]
pub struct SavedModel<K, T> {
    format: u32,
    scalar: String,
    dimension: usize,
    centers_count: usize,
    targets: usize,
    kernel: LoadedKernel<K>,
    centers: PointSet<T>,
    #[serde(with = "serialize::matrix")]
    coefficients: Mat<T>,
    intercept: Vec<T>,
    report: FitReport,
}

impl<K: Clone, T: Scalar> From<&KrrModel<K, T>> for SavedModel<K, T> {
    fn from(model: &KrrModel<K, T>) -> Self {
        SavedModel {
            format: MODEL_FORMAT,
            scalar: T::NAME.into(),
            dimension: model.centers.points().dim(),
            centers_count: model.centers.points().len(),
            targets: model.coefficients.ncols(),
            kernel: LoadedKernel(Ok(model.kernel.clone())),
            centers: model.centers.clone(),
            coefficients: model.coefficients.clone(),
            intercept: model.intercept.clone(),
            report: model.report.clone(),
        }
    }
}

impl<K: Kernel<T>, T: Scalar> TryFrom<SavedModel<K, T>> for KrrModel<K, T> {
    type Error = Error;

    /// # Errors
    /// [`Error::Incompatible`] for another format version, scalar type or kernel, or sizes that
    /// contradict each other. [`Error::NonFinite`] for NaN or ∞ among the numbers, and the kernel's
    /// own error if it does not accept the centres.
    fn try_from(saved: SavedModel<K, T>) -> Result<Self> {
        let same = |problem: &str, stated: usize, found: usize| {
            if stated == found {
                return Ok(());
            }
            let found = format!("{stated} stated, {found} found; the file is damaged");
            Err(incompatible(format!("{problem}: {found}")))
        };
        if saved.format != MODEL_FORMAT {
            return Err(incompatible(format!(
                "format version {}, this build reads version {MODEL_FORMAT}; fit the model again \
                 or use the version that wrote it",
                saved.format
            )));
        }
        if saved.scalar != T::NAME {
            let (has, wants) = (&saved.scalar, T::NAME);
            return Err(incompatible(format!(
                "it was saved with {has} numbers; load it as {has}, not as {wants}"
            )));
        }
        let kernel = saved.kernel.0?;
        same("dimension of the centres", saved.dimension, saved.centers.points().dim())?;
        same("number of centres", saved.centers_count, saved.centers.points().len())?;
        same("rows of coefficients", saved.centers_count, saved.coefficients.nrows())?;
        same("columns of coefficients", saved.targets, saved.coefficients.ncols())?;
        same("number of intercepts", saved.targets, saved.intercept.len())?;
        let SavedModel { centers, coefficients, intercept, report, .. } = saved;
        KrrModel::new(kernel, centers, coefficients, intercept, report)
    }
}

fn incompatible(problem: String) -> Error {
    Error::Incompatible { what: "model", problem }
}

impl<K: Clone + SavedKernel, T: Scalar + Serialize> Serialize for KrrModel<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SavedModel::from(self).serialize(serializer)
    }
}

impl<'de, K, T> Deserialize<'de> for KrrModel<K, T>
where
    K: Kernel<T> + SavedKernel,
    T: Scalar + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = SavedModel::<K, T>::deserialize(deserializer)?;
        KrrModel::try_from(saved).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_kernels::{Gaussian, Points};
    use nystrom_linalg_core::Ridge;

    /// Formats other than JSON can hold NaN and ∞.
    #[test]
    fn numbers_that_are_not_are_refused() {
        let x = Mat::from_fn(4, 2, |i, k| (i * i + k) as f64);
        let krr = crate::ExactKrr::new(Gaussian::new(1.0).unwrap(), Ridge::PerSample(1e-2));
        let model = krr.fit((Points::from_rows(x.as_ref()), &x)).unwrap();
        let refused = |spoil: fn(&mut SavedModel<Gaussian, f64>)| {
            let mut saved = SavedModel::from(&model);
            spoil(&mut saved);
            KrrModel::try_from(saved).unwrap_err()
        };
        let error = refused(|saved| saved.coefficients[(2, 1)] = f64::NAN);
        assert!(matches!(error, Error::NonFinite { row: 2, col: 1, .. }), "{error}");
        let error = refused(|saved| match &mut saved.centers {
            PointSet::Dense(columns) => columns[(1, 3)] = f64::INFINITY,
            PointSet::Sparse(_) => unreachable!("the fit was to dense points"),
        });
        assert!(matches!(error, Error::NonFinite { row: 3, col: 1, .. }), "{error}");
        let error = refused(|saved| saved.intercept[1] = f64::NAN);
        assert!(matches!(error, Error::NonFinite { row: 1, .. }), "{error}");
    }
}
