//! The path of sketched kernel ridge regression with a fixed sketch.

use super::family::{Basis, Family};
use super::features;
use crate::Problem;
use crate::features::span;
use crate::path::LambdaPath;
use crate::{FitReport, SketchedKrr, SolvedBy};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar};
use nystrom_sketch::Sketch;

impl<K> SketchedKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. Without intercept.
    pub fn without_ridge(kernel: K) -> Self {
        SketchedKrr::new(kernel, ())
    }

    /// Leave-one-out errors, generalised cross-validation and d_eff for all `ridges`, and the model
    /// at any, with the sketch held fixed.
    ///
    /// The formulas of [`NystromKrr::path`](crate::NystromKrr::path) hold with the rows of KS in
    /// place of k_Z(x_i). There are two passes over the rows, or one if KS is kept (u > n/4).
    ///
    /// # Errors
    /// As [`fit`](SketchedKrr::fit); [`Empty`](nystrom_linalg_core::Error::Empty) without ridges,
    /// `InvalidParameter` for a wrong one or if an intercept is to be fitted to a single sample.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{SketchedKrr, lambda_grid};
    /// use nystrom_sketch::Accumulation;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..400).map(|i| i as f64 / 100.0).collect();
    /// let y =
    ///     Mat::from_fn(400, 1, |i, _| (3.0 * x[i]).sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
    /// let sketch =
    ///     Accumulation::uniform(4).sample(400, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
    /// let krr = SketchedKrr::without_ridge(Gaussian::new(0.5)?);
    /// let ridges = lambda_grid(1.0, 1e-9, 19)?;
    /// let path = krr.path((Points::from_slice(&x), &y), &sketch, &ridges)?;
    /// assert!(path.best_by_loo().loo.sqrt() < 0.11);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn path<'a, T: Scalar>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        sketch: &dyn Sketch<T>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        let samples = problem.into();
        samples.check_path(&self.kernel, ridges, self.intercept)?;
        self.with_features(samples, sketch, 2, |rows, _, report| {
            let (spectrum, V, reason) = self.solver.spectrum(rows, ridges)?;
            let sums = features::sums(rows, &spectrum, &V, &spectrum.mus(ridges)?)?;
            let report = FitReport {
                solver: SolvedBy::Spectrum,
                reason: format!("{reason}; {}", report.reason),
                ..report
            };
            let (whitener, expand) = (rows.whitener.clone(), Some(span(sketch)));
            let basis = Basis::Features { V, whitener, expand };
            let centers = samples.x.gather(sketch.support().into());
            let (kernel, shift) = (self.kernel.clone(), rows.shift.clone());
            let family = Family { kernel, centers, spectrum, basis, report, shift };
            LambdaPath::new(family, ridges, &sums)
        })
    }
}
