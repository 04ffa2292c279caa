//! How uncertain the fits of a path are, and what one more target would change.

use super::LambdaPath;
use super::family::{Basis, Family};
use crate::Posterior;
use crate::data::check_points;
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, ops, validate};

impl<T: Scalar, K: Kernel<T> + Clone, P> LambdaPath<K, T, P> {
    /// The posterior variance of the model at a ridge. About m³ flops.
    ///
    /// # Errors
    /// As [`model_at`](Self::model_at), and
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if an intercept is
    /// fitted.
    pub fn posterior_at(&self, ridge: Ridge<T>) -> Result<Posterior<K, T>> {
        let (family, mu) = (&self.family, self.family.spectrum.mu(ridge)?);
        check(family)?;
        // v(x) = k(x, x) − Σ_j w_j c_j(x)², c(x) = Bᵀk_Z(x)
        let weight = |s: f64| match family.basis {
            Basis::Samples { .. } => 1.0 / (s + mu),
            Basis::Features { .. } => s / (s + mu),
        };
        let values = &family.spectrum.values;
        // c(x) = Bᵀk_Z(x); m³ flops
        let B = family.basis.to_centers(&Mat::identity(values.len(), values.len()));
        let entry = |i: usize, j: usize| T::lit(B[(i, j)] * weight(values[j].max(0.0)).sqrt());
        let factor = Mat::from_fn(B.nrows(), values.len(), entry);
        let rates = values.iter().map(|value| 1.0 / (value.max(0.0) + mu)).collect();
        Posterior::new(family.kernel.clone(), family.centers.clone(), factor, rates, mu)
    }

    /// Column i holds the coefficients of g_i (m × x.len()), the change of the fit if the target at
    /// the point x_i grows by 1.
    ///
    /// If x_i is a sample with the residual r_i of [`leave_one_out`](LambdaPath::leave_one_out),
    /// the fit without it is f₋ᵢ = f − r_i·g_i; with weights, f₋ᵢ = f − w_i·r_i·g_i. About m³
    /// flops, then m kernel values and 2m² flops for each point.
    ///
    /// # Errors
    /// As [`posterior_at`](Self::posterior_at) and [`KrrModel::predict`](crate::KrrModel::predict);
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for exact regression.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{KrrModel, NystromKrr, Problem, lambda_grid};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Landmarks;
    /// let x: Vec<f64> = (0..100).map(|i| i as f64 / 20.0).collect();
    /// let y = Mat::from_fn(100, 1, |i, _| x[i].sin() + (i % 7) as f64);
    /// let problem = Problem::new(Points::from_slice(&x), y.as_ref());
    /// let landmarks = Landmarks::new(100, vec![0, 30, 60, 99])?;
    /// let krr = NystromKrr::without_ridge(Gaussian::new(1.0)?);
    /// let path = krr.path(problem, &landmarks, &lambda_grid(1e-1, 1e-3, 2)?)?;
    /// let (ridge, left_out) = (Ridge::Absolute(0.5), Points::from_slice(&x[70..71]));
    /// let r = path.leave_one_out(ridge, problem)?[(70, 0)];
    /// let f = path.model_at(ridge)?;
    /// let theta = f.coefficients() - faer::Scale(r) * path.responses(ridge, left_out)?;
    /// let centers = f.centers().to_owned();
    /// let without = KrrModel::new(*f.kernel(), centers, theta, vec![0.0], f.report().clone())?;
    /// assert!((y[(70, 0)] - without.predict(left_out)?[(0, 0)] - r).abs() < 1e-9);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn responses(&self, ridge: Ridge<T>, x: Points<'_, T>) -> Result<Mat<T>> {
        let (family, mu) = (&self.family, self.family.spectrum.mu(ridge)?);
        check(family)?;
        validate::require(
            matches!(family.basis, Basis::Features { .. }),
            "number of centres",
            family.centers.points().len() as f64,
            "below the number of samples",
        )?;
        let centers = family.centers.points();
        check_points(&family.kernel, centers, x)?;
        let (values, m) = (&family.spectrum.values, centers.len());
        let B = family.basis.to_centers(&Mat::identity(values.len(), values.len()));
        let (K, mut wide) = (family.kernel.eval(centers, x), Mat::new());
        let c = ops::times(B.transpose(), ops::widened(K.as_ref(), &mut wide));
        let c = Mat::from_fn(values.len(), x.len(), |i, j| c[(i, j)] / (values[i].max(0.0) + mu));
        let theta = ops::times(B.as_ref(), c.as_ref());
        Ok(Mat::from_fn(m, x.len(), |i, j| T::lit(theta[(i, j)])))
    }
}

fn check<K, T>(family: &Family<K, T>) -> Result<()> {
    validate::require(
        family.spectrum.constant.is_none(),
        "intercept",
        1.0,
        "not fitted here: subtract the mean of the targets beforehand",
    )
}
