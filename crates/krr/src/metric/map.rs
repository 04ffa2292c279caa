//! The linear map that a learned metric is.

use faer::{Mat, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar, SymmetricEigen, ops, validate};

/// The form of a linear map.
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
#[cfg_attr(feature = "serde", serde(into = "Kind", try_from = "Kind"))]
pub struct LinearMap {
    kind: Kind,
}

/// In files: `{"diagonal": [..]}` or `{"full": {..}}`, checked on load.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
enum Kind {
    Diagonal(Vec<f64>),
    Full(
        #[cfg_attr(feature = "serde", serde(with = "nystrom_linalg_core::serialize::matrix"))]
        Mat<f64>,
    ),
}

impl LinearMap {
    /// The map with these factors.
    ///
    /// # Errors
    /// `Empty` without any, `NonFinite`.
    pub fn diagonal(factors: Vec<f64>) -> Result<Self> {
        validate::not_empty("factors of a linear map (d)", factors.len())?;
        let column = MatRef::from_column_major_slice(&factors, factors.len(), 1);
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

    /// The next map, M^{p/2} of an average gradient outer product M (d × d) or of its diagonal,
    /// scaled to tr AᵀA = d; none if M is 0. O(d³) for the full form.
    ///
    /// # Errors
    /// `Shape` if M is not square, `NonFinite`; for the full form `EigenFailure`.
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_krr::{LinearMap, MetricForm};
    /// let M = mat![[9.0, 0.0], [0.0, 16.0_f64]];
    /// let map = LinearMap::of_gradients(MetricForm::Diagonal, 1.0, M.as_ref())?.unwrap();
    /// let A = map.matrix(); // 3 and 4, scaled
    /// assert!((A[(0, 0)] / A[(1, 1)] - 0.75).abs() < 1e-14);
    /// assert!((A.squared_norm_l2() - 2.0).abs() < 1e-14);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn of_gradients(form: MetricForm, power: f64, M: MatRef<'_, f64>) -> Result<Option<Self>> {
        let d = M.nrows();
        validate::same_size("columns of an outer product against its rows", d, M.ncols())?;
        validate::finite("average gradient outer product", M)?;
        let root = |m: f64| m.max(0.0).powf(0.5 * power);
        let kind = match form {
            MetricForm::Diagonal => Kind::Diagonal((0..d).map(|k| root(M[(k, k)])).collect()),
            MetricForm::Full => {
                let eigen = SymmetricEigen::new(M)?; //                    M = UΛUᵀ
                let U = eigen.vectors();
                let scaled = Mat::from_fn(d, d, |i, j| U[(i, j)] * root(eigen.values()[j]));
                Kind::Full(ops::times(scaled.as_ref(), U.transpose())) // A = UΛ^{p/2}Uᵀ
            }
        };
        Ok(LinearMap { kind }.normalised())
    }

    /// The map times a number, so that tr AᵀA = d; none if A is 0.
    pub fn normalised(self) -> Option<Self> {
        let scale = (self.dim() as f64).sqrt() / self.matrix().norm_l2();
        (scale > 0.0 && scale.is_finite()).then(|| LinearMap {
            kind: match self.kind {
                Kind::Diagonal(a) => Kind::Diagonal(a.iter().map(|a| scale * a).collect()),
                Kind::Full(A) => Kind::Full(&A * faer::Scale(scale)),
            },
        })
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
    /// Those of [`Points::check_dense`], and `Shape` if the points have another dimension.
    pub fn apply<T: Scalar>(&self, x: Points<'_, T>) -> Result<Mat<T>> {
        x.check_dense()?;
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

    /// AᵀMA: the gradient outer product of f∘A by x, from that of f by Ax (M, d × d).
    ///
    /// # Errors
    /// `Shape` if M is not d × d.
    pub fn pull_back(&self, M: MatRef<'_, f64>) -> Result<Mat<f64>> {
        validate::same_size("rows of an outer product against the map", self.dim(), M.nrows())?;
        validate::same_size("columns of an outer product against the map", self.dim(), M.ncols())?;
        let A = self.matrix();
        let out = ops::times(A.transpose(), ops::times(M, A.as_ref()).as_ref());
        Ok(Mat::from_fn(A.nrows(), A.nrows(), |i, j| out[(i.max(j), i.min(j))]))
    }
}

#[cfg(feature = "serde")]
impl From<LinearMap> for Kind {
    fn from(map: LinearMap) -> Self {
        map.kind
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Kind> for LinearMap {
    type Error = nystrom_linalg_core::Error;
    fn try_from(kind: Kind) -> Result<Self> {
        match kind {
            Kind::Diagonal(factors) => LinearMap::diagonal(factors),
            Kind::Full(matrix) => LinearMap::full(matrix),
        }
    }
}
