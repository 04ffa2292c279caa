//! The leave-one-out residual of every sample at one ridge.

use super::LambdaPath;
use super::family::{Basis, Family};
use super::features::{Pass, Residuals};
use crate::Problem;
use crate::data::TILE_ROWS;
use crate::features::{FeatureRows, KernelRows};
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, RowTree, Scalar, validate};
use std::ops::Range;

impl<T: Scalar, K: Kernel<T> + Clone> LambdaPath<K, T> {
    /// The residuals y_i − f₋ᵢ(x_i) of every sample and target (n × t) at any ridge; `problem` is
    /// that of the fit. A large residual marks a sample that the others do not explain. Residuals
    /// also give intervals for predictions, and leave-one-out errors for losses other than the
    /// square. For a sample of weight 0, f₋ᵢ is f.
    ///
    /// # Cost
    /// One more pass over the samples: nm kernel values and 4nm² flops, or n²(1 + t) flops from the
    /// eigenvectors of exact regression. Memory as for the path, and nt numbers.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if x or y are not of the size of those fitted,
    /// those of [`Ridge::absolute`] and of the fit.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NystromKrr, Problem, lambda_grid};
    /// use nystrom_sketch::Landmarks;
    /// let x: Vec<f64> = (0..300).map(|i| i as f64 / 50.0).collect();
    /// // one wrong label
    /// let y = Mat::from_fn(300, 1, |i, _| x[i].sin() + if i == 123 { 1.0 } else { 0.0 });
    /// let krr = NystromKrr::without_ridge(Gaussian::new(1.0)?);
    /// let landmarks = Landmarks::new(300, (0..300).step_by(15).collect())?;
    /// let problem = Problem::new(Points::from_slice(&x), y.as_ref());
    /// let path = krr.path(problem, &landmarks, &lambda_grid(1.0, 1e-9, 19)?)?;
    /// let residuals = path.leave_one_out(path.best_by_loo().ridge, problem)?;
    /// let largest =
    ///     (0..300).max_by(|&i, &j| residuals[(i, 0)].abs().total_cmp(&residuals[(j, 0)].abs()));
    /// assert_eq!(largest, Some(123));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn leave_one_out<'a>(
        &self,
        ridge: Ridge<T>,
        problem: impl Into<Problem<'a, T>>,
    ) -> Result<Mat<T>> {
        let samples = problem.into();
        let n = self.family.spectrum.n;
        validate::same_size("points against those of the fit", n, samples.x.len())?;
        self.family.leave_one_out(ridge, samples)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Family<K, T> {
    /// Leave-one-out residuals of some of the samples of the fit.
    pub fn leave_one_out(&self, ridge: Ridge<T>, samples: Problem<'_, T>) -> Result<Mat<T>> {
        samples.check(&self.kernel)?;
        self.centers.points().check_same_dim(samples.x)?;
        validate::same_size("targets against those of the fit", self.targets(), samples.y.ncols())?;
        let mu = self.spectrum.mu(ridge)?;
        let mut out = Mat::zeros(samples.x.len(), samples.y.ncols());
        self.each_tile(samples, None, &[mu], |rows, Residuals { e, rest }| {
            for (s, i) in rows.enumerate().filter(|(_, i)| samples.weight(*i) > 0.0) {
                let root_w = samples.weight(i).sqrt();
                (0..e.ncols())
                    .for_each(|j| out[(i, j)] = T::lit(e[(s, j)] / (rest[(s, 0)] * root_w)));
            }
        })?;
        self.fill_unweighted(samples, mu, &mut out)?;
        validate::finite("leave-one-out residuals (scale the targets)", out.as_ref())?;
        Ok(out)
    }

    /// Adds the squared leave-one-out and training residuals of some of the samples at all `mus` to
    /// `sums`, Lt × 2.
    pub fn add_squares(
        &self,
        samples: Problem<'_, T>,
        mus: &[f64],
        sums: &mut Mat<f64>,
    ) -> Result<()> {
        self.each_tile(samples, self.shift.as_deref(), mus, |_, residuals| residuals.add_to(sums))
    }

    /// Residuals in weighted coordinates, tile by tile. A `shift` is subtracted from the targets
    /// meanwhile; without one it is their mean, if there is a constant.
    fn each_tile(
        &self,
        samples: Problem<'_, T>,
        shift: Option<&[f64]>,
        mus: &[f64],
        mut visit: impl FnMut(Range<usize>, Residuals),
    ) -> Result<()> {
        match &self.basis {
            Basis::Samples { U, root_weights } => {
                let at = self.spectrum.at_all(mus);
                RowTree::tiles(0..samples.x.len(), TILE_ROWS).for_each(|rows| {
                    let of_rows = U.as_ref().subrows(rows.start, rows.len());
                    let roots = &root_weights[rows.clone()];
                    visit(rows, Residuals::of_eigenvectors(of_rows, roots, &at, mus));
                });
                Ok(())
            }
            Basis::Features { V, whitener, expand } => {
                let centers = self.centers.points();
                let source = KernelRows::new(&self.kernel, centers, expand.as_ref());
                let data = match shift {
                    None if self.spectrum.constant.is_some() => {
                        FeatureRows::new(&samples, &source, whitener, true)?
                    }
                    shift => {
                        let shift = shift.map(<[f64]>::to_vec);
                        FeatureRows::with_shift(&samples, &source, whitener, shift)?
                    }
                };
                let mut pass = Pass::new(&data, &self.spectrum, V, mus);
                data.each(|rows, tile| {
                    visit(rows, pass.residuals(tile));
                    Ok(())
                })
            }
        }
    }

    /// y_i − f(x_i) where the weight is 0: f is then fitted without the sample.
    fn fill_unweighted(&self, samples: Problem<'_, T>, mu: f64, out: &mut Mat<T>) -> Result<()> {
        let rows: Vec<usize> = (0..out.nrows()).filter(|&i| samples.weight(i) == 0.0).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let x = samples.x.gather((&rows).into());
        let f = self.model_at(mu)?.predict(x.points())?;
        for (s, &i) in rows.iter().enumerate() {
            (0..out.ncols()).for_each(|j| out[(i, j)] = samples.y[(i, j)] - f[(s, j)]);
        }
        Ok(())
    }
}
