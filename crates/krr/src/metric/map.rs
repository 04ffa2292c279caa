//! The linear map that a learned metric is.

use faer::Mat;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar, SymmetricEigen, ops, validate};

/// Which maps are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MetricForm {
    /// One factor per feature (automatic relevance determination): d numbers, safer for few rows.
    Diagonal,
    /// Any symmetric positive semi-definite matrix: d(d + 1)/2 numbers, finds directions.
    #[default]
    Full,
}

/// A linear map of points, x ↦ Ax for a d × d matrix A, diagonal or full. Distances after it are
/// the learned metric ‖A(x − y)‖.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::Points;
/// use nystrom_krr::LinearMap;
/// let map = LinearMap::diagonal(vec![2.0, 0.5])?;
/// let x = mat![[1.0, 4.0], [0.0, 6.0_f64]]; // two points in the plane
/// let mapped = map.apply(Points::from_rows(x.as_ref()))?; // d × n
/// assert_eq!(Points::from_cols(mapped.as_ref()).coordinate(1, 1), 3.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "saved::Stored", try_from = "saved::Stored"))]
pub struct LinearMap {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Diagonal(Vec<f64>),
    Full(Mat<f64>),
}

impl LinearMap {
    /// The map with these factors.
    ///
    /// # Errors
    /// `Empty` without any, `NonFinite`.
    pub fn diagonal(factors: Vec<f64>) -> Result<Self> {
        validate::not_empty("factors of a linear map (d)", factors.len())?;
        let column = faer::MatRef::from_column_major_slice(&factors, factors.len(), 1);
        validate::finite("factors of a linear map", column)?;
        Ok(LinearMap { kind: Kind::Diagonal(factors) })
    }

    /// The map with this d × d matrix.
    ///
    /// # Errors
    /// `Empty`, `Shape` if it is not square, `NonFinite`.
    pub fn full(matrix: Mat<f64>) -> Result<Self> {
        validate::not_empty("coordinates of a linear map (d)", matrix.nrows())?;
        validate::same_size("columns of a square matrix", matrix.nrows(), matrix.ncols())?;
        validate::finite("matrix of a linear map", matrix.as_ref())?;
        Ok(LinearMap { kind: Kind::Full(matrix) })
    }

    /// The map that changes nothing.
    ///
    /// # Errors
    /// `Empty` if d = 0.
    pub fn identity(form: MetricForm, d: usize) -> Result<Self> {
        match form {
            MetricForm::Diagonal => Self::diagonal(vec![1.0; d]),
            MetricForm::Full => Self::full(Mat::identity(d, d)),
        }
    }

    /// M^{p/2} of an average gradient outer product M, or of its diagonal, scaled to tr A² = d;
    /// none if M is 0. O(d³).
    pub(crate) fn of_gradients(form: MetricForm, M: &Mat<f64>, power: f64) -> Result<Option<Self>> {
        let d = M.nrows();
        let root = |m: f64| m.max(0.0).powf(0.5 * power);
        let kind = match form {
            MetricForm::Diagonal => Kind::Diagonal((0..d).map(|k| root(M[(k, k)])).collect()),
            MetricForm::Full => {
                let eigen = SymmetricEigen::new(M.as_ref())?; //           M = UΛUᵀ
                let U = eigen.vectors();
                let scaled = Mat::from_fn(d, d, |i, j| U[(i, j)] * root(eigen.values()[j]));
                let A = ops::times(scaled.as_ref(), U.transpose()); //   A = UΛ^{p/2}Uᵀ
                Kind::Full(Mat::from_fn(d, d, |i, j| A[(i.max(j), i.min(j))]))
            }
        };
        let squares: f64 = match &kind {
            Kind::Diagonal(a) => ops::dot(a, a),
            Kind::Full(A) => A.squared_norm_l2(),
        };
        let scale = (d as f64 / squares).sqrt();
        if !(scale > 0.0 && scale.is_finite()) {
            return Ok(None);
        }
        Ok(Some(LinearMap {
            kind: match kind {
                Kind::Diagonal(a) => Kind::Diagonal(a.iter().map(|a| scale * a).collect()),
                Kind::Full(A) => Kind::Full(&A * faer::Scale(scale)),
            },
        }))
    }

    /// Whether it is diagonal.
    pub fn form(&self) -> MetricForm {
        match self.kind {
            Kind::Diagonal(_) => MetricForm::Diagonal,
            Kind::Full(_) => MetricForm::Full,
        }
    }

    /// d.
    pub fn dim(&self) -> usize {
        match &self.kind {
            Kind::Diagonal(a) => a.len(),
            Kind::Full(A) => A.nrows(),
        }
    }

    /// A, d × d.
    pub fn matrix(&self) -> Mat<f64> {
        match &self.kind {
            Kind::Diagonal(a) => {
                Mat::from_fn(a.len(), a.len(), |i, j| if i == j { a[i] } else { 0.0 })
            }
            Kind::Full(A) => A.clone(),
        }
    }

    /// The points Ax_i as the columns of a d × n matrix ([`Points::from_cols`]). nd (diagonal) or
    /// 2nd² flops.
    ///
    /// # Errors
    /// Those of [`Points::check`], and `Shape` if the points have another dimension.
    pub fn apply<T: Scalar>(&self, x: Points<'_, T>) -> Result<Mat<T>> {
        x.check()?;
        validate::same_size("coordinates of a point (d) against the map", self.dim(), x.dim())?;
        let columns = x.as_cols();
        Ok(match &self.kind {
            Kind::Diagonal(a) => {
                let a: Vec<T> = a.iter().map(|&a| T::lit(a)).collect();
                Mat::from_fn(x.dim(), x.len(), |k, i| a[k] * columns[(k, i)])
            }
            Kind::Full(A) => {
                let A = Mat::from_fn(A.nrows(), A.ncols(), |i, j| T::lit(A[(i, j)]));
                ops::times(A.as_ref(), columns)
            }
        })
    }

    /// AᵀMA: the gradient outer product of f∘A by x, from that of f by Ax.
    pub(crate) fn pull_back(&self, M: &Mat<f64>) -> Mat<f64> {
        let A = self.matrix();
        let MA = ops::times(M.as_ref(), A.as_ref());
        let out = ops::times(A.transpose(), MA.as_ref());
        Mat::from_fn(A.nrows(), A.nrows(), |i, j| out[(i.max(j), i.min(j))])
    }
}

/// How it stands in files: `{"diagonal": [..]}` or `{"full": {..}}`, checked on load.
#[cfg(feature = "serde")]
mod saved {
    use super::{Kind, LinearMap};
    use faer::Mat;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub(super) enum Stored {
        Diagonal(Vec<f64>),
        Full(#[serde(with = "nystrom_linalg_core::serialize::matrix")] Mat<f64>),
    }

    impl From<LinearMap> for Stored {
        fn from(map: LinearMap) -> Self {
            match map.kind {
                Kind::Diagonal(factors) => Stored::Diagonal(factors),
                Kind::Full(matrix) => Stored::Full(matrix),
            }
        }
    }

    impl TryFrom<Stored> for LinearMap {
        type Error = nystrom_linalg_core::Error;
        fn try_from(stored: Stored) -> nystrom_linalg_core::Result<Self> {
            match stored {
                Stored::Diagonal(factors) => LinearMap::diagonal(factors),
                Stored::Full(matrix) => LinearMap::full(matrix),
            }
        }
    }
}
