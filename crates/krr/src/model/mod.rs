//! A fitted model, its report, file, gradient and posterior variance.

mod gradient;
mod posterior;
mod report;
#[cfg(feature = "serde")]
mod saved;
mod targets;

pub use gradient::MarginalEffects;
pub use posterior::Posterior;
pub use report::{FitReport, SolvedBy};
#[cfg(feature = "serde")]
pub use saved::{MODEL_FORMAT, SavedModel};
pub(crate) use targets::Targets;

use crate::data::check_points;
use crate::device::Device;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Error, Result, Scalar, ops, validate};
use rayon::prelude::*;

/// Rows predicted at once: a tile of 256·m kernel values per thread.
const TILE_ROWS: usize = 256;
/// Rows at which predictions of a device are compared with those of the CPU.
const CHECKED_ROWS: usize = 16;
/// The largest difference at these rows, as a share of their root mean square without constants.
const AGREES: f64 = 1e-4;

/// A fitted regression function, f(x) = Σ_j θ_j k(x, z_j) + b. It has a kernel, m centres in ℝ^d,
/// an m × t matrix of coefficients and t constants.
///
/// Of the training data a model holds only the centres. The centres of
/// [`ExactKrr`](crate::ExactKrr) are all points.
///
/// With the feature `serde` a model can be saved in any format of serde. A loaded model predicts
/// the same bits if the format keeps all digits of a number, as `serde_json` does with its feature
/// `float_roundtrip`. Loading checks the format version, the scalar type and all sizes; see
/// `SavedModel`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct KrrModel<K, T> {
    pub(crate) kernel: K,
    pub(crate) centers: PointSet<T>,
    pub(crate) coefficients: Mat<T>,
    pub(crate) intercept: Vec<T>,
    pub(crate) report: FitReport,
}

impl<T: Scalar, K: Kernel<T>> KrrModel<K, T> {
    /// A model from its parts, such as those of a file in your own layout. Centres are the columns
    /// of a d × m matrix or sparse rows, coefficients are m × t, constants t.
    ///
    /// # Errors
    /// `Shape` if sizes contradict each other, and
    /// [`Error::Empty`](nystrom_linalg_core::Error::Empty) without centres or targets. `NonFinite`
    /// for NaN or ∞ among the numbers, and the kernel's own error if it does not accept the
    /// centres.
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{ExactKrr, KrrModel};
    /// use nystrom_linalg_core::Ridge;
    /// let (x, y) = (mat![[0.0], [1.0_f64]], mat![[0.0], [1.0]]);
    /// let model = ExactKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-3))
    ///     .fit((Points::from_rows(x.as_ref()), y.as_ref()))?;
    /// let (centers, theta) = (model.centers().to_owned(), model.coefficients());
    /// let same = KrrModel::new(
    ///     *model.kernel(),
    ///     centers,
    ///     theta.to_owned(),
    ///     model.intercept().to_vec(),
    ///     model.report().clone(),
    /// )?;
    /// assert_eq!(same, model);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn new(
        kernel: K,
        centers: impl Into<PointSet<T>>,
        coefficients: Mat<T>,
        intercept: Vec<T>,
        report: FitReport,
    ) -> Result<Self> {
        let centers = centers.into();
        let (m, t) = (centers.points().len(), coefficients.ncols());
        validate::same_size("rows of coefficients against centres", m, coefficients.nrows())?;
        validate::same_size("intercepts against targets", t, intercept.len())?;
        validate::not_empty("centres of the model", m)?;
        validate::not_empty("targets of the model", t)?;
        centers.points().check_finite("centres of the model")?;
        validate::finite("coefficients of the model", coefficients.as_ref())?;
        let constants = faer::ColRef::from_slice(&intercept).as_mat();
        validate::finite("intercepts of the model", constants)?;
        kernel.check_points(centers.points())?;
        Ok(KrrModel { kernel, centers, coefficients, intercept, report })
    }

    /// Rounds coefficients and constants to T; `b` is `None` if no constants were fitted.
    ///
    /// # Errors
    /// `NonFinite` if a number overflowed.
    pub(crate) fn from_parts(
        kernel: K,
        centers: Points<'_, T>,
        theta: MatRef<'_, f64>,
        b: Option<&[f64]>,
        report: FitReport,
    ) -> Result<Self> {
        let coefficients = Mat::from_fn(theta.nrows(), theta.ncols(), |i, j| T::lit(theta[(i, j)]));
        validate::finite("coefficients (scale the targets)", coefficients.as_ref())?;
        let constant = |j: usize| T::lit(b.map_or(0.0, |b| b[j]));
        let intercept: Vec<T> = (0..theta.ncols()).map(constant).collect();
        let constants = faer::ColRef::from_slice(&intercept).as_mat();
        validate::finite("intercepts (scale the targets)", constants)?;
        let report = FitReport { intercept: b.is_some(), ..report };
        let centers = centers.to_owned();
        Ok(KrrModel { kernel, centers, coefficients, intercept, report })
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The m centres z_j.
    pub fn centers(&self) -> Points<'_, T> {
        self.centers.points()
    }

    /// θ, m × t.
    pub fn coefficients(&self) -> MatRef<'_, T> {
        self.coefficients.as_ref()
    }

    /// b, one per target (zeros if none was fitted).
    pub fn intercept(&self) -> &[T] {
        &self.intercept
    }

    /// The report of the fit.
    pub fn report(&self) -> &FitReport {
        &self.report
    }

    /// f at the points `x`, as an x.len() × t matrix.
    ///
    /// x.len()·m kernel values; 256·m numbers of memory per thread. The bits do not depend on the
    /// number of threads.
    ///
    /// # Errors
    /// [`Error::Empty`] without points, `Shape` if their dimension is not that of the centres,
    /// `NonFinite` if a coordinate is not finite.
    pub fn predict(&self, x: Points<'_, T>) -> Result<Mat<T>> {
        let mut out = Mat::zeros(x.len(), self.coefficients.ncols());
        self.predict_into(out.as_mut(), x)?;
        Ok(out)
    }

    /// [`predict`](Self::predict) on a device, with its precision. The CPU predicts all rows if the
    /// device returns [`Error::Device`], for example because it is lost or has too little memory,
    /// or if 16 rows differ from those of the CPU by more than 10⁻⁴ of their root mean square.
    ///
    /// # Cost
    /// For these rows 16m kernel values and as much memory.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and those of the device for the input.
    pub fn predict_on(&self, device: &dyn Device<K, T>, x: Points<'_, T>) -> Result<Mat<T>> {
        check_points(&self.kernel, self.centers(), x)?;
        let mut wide = Mat::new();
        let theta = ops::widened(self.coefficients.as_ref(), &mut wide);
        let f = match device.times(&self.kernel, [x, self.centers()], theta) {
            Ok(f) if self.agrees(f.as_ref(), x) => f,
            Ok(_) | Err(Error::Device { .. }) => return self.predict(x),
            Err(error) => return Err(error),
        };
        Ok(Mat::from_fn(f.nrows(), f.ncols(), |i, j| T::lit(f[(i, j)]) + self.intercept[j]))
    }

    /// Whether f, n × t, is Kθ at the points x, by some of its rows.
    fn agrees(&self, f: MatRef<'_, f64>, x: Points<'_, T>) -> bool {
        let count = CHECKED_ROWS.min(x.len());
        let rows: Vec<usize> = (0..count).map(|i| i * x.len() / count).collect();
        let some = x.gather((&rows[..]).into());
        let K = self.kernel.eval(some.points(), self.centers());
        let exact = ops::times(K.as_ref(), self.coefficients.as_ref());
        (0..exact.ncols()).all(|j| {
            let most = AGREES * exact.col(j).norm_l2().f64() / (count as f64).sqrt();
            let difference = |(i, &row): (usize, &usize)| (exact[(i, j)].f64() - f[(row, j)]).abs();
            rows.iter().enumerate().map(difference).all(|difference| difference <= most)
        })
    }

    /// [`predict`](Self::predict) into a given x.len() × t matrix.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and `Shape` if `out` has other sizes.
    pub fn predict_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>) -> Result<()> {
        check_points(&self.kernel, self.centers(), x)?;
        validate::same_size(
            "rows of the predictions against number of points",
            x.len(),
            out.nrows(),
        )?;
        validate::same_size(
            "columns of the predictions against targets",
            self.coefficients.ncols(),
            out.ncols(),
        )?;
        let (m, tile_rows) = (self.centers().len(), TILE_ROWS.min(x.len()));
        out.rb_mut().par_row_chunks_mut(TILE_ROWS).enumerate().for_each_init(
            || Mat::zeros(tile_rows, m),
            |tile, (block, out)| {
                let rows = block * TILE_ROWS..block * TILE_ROWS + out.nrows();
                self.predict_tile(out, x.slice(rows), tile.as_mut());
            },
        );
        Ok(())
    }

    /// out = K θ + 1 bᵀ for K_ij = k(x_i, z_j), held in the first rows of `tile`.
    fn predict_tile(&self, mut out: MatMut<'_, T>, x: Points<'_, T>, tile: MatMut<'_, T>) {
        let mut K = tile.subrows_mut(0, x.len());
        self.kernel.eval_into(K.rb_mut(), x, self.centers());
        for (j, &b) in self.intercept.iter().enumerate() {
            out.rb_mut().col_mut(j).fill(b);
        }
        ops::matmul_here(out, Accum::Add, K.rb(), self.coefficients.as_ref(), T::one());
    }
}
