//! The path of exact kernel ridge regression, from one eigendecomposition of K.

use super::family::{Basis, Family, Spectrum, SpectrumConstant};
use super::features::rotate;
use crate::Problem;
use crate::algebra::subtract;
use crate::path::LambdaPath;
use crate::{ExactKrr, FitReport, SolvedBy};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, SymmetricEigen, ops};

impl<K> ExactKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. Without intercept.
    pub fn without_ridge(kernel: K) -> Self {
        ExactKrr::new(kernel, ())
    }

    /// Leave-one-out errors, generalised cross-validation and d_eff for all `ridges`, and the model
    /// at any.
    ///
    /// K = UΣUᵀ gives, with γ = U(Σ + nλI)⁻¹Uᵀy,
    ///
    /// ```text
    /// y_i − f₋ᵢ(x_i) = γ_i / Σ_j U_ij²/(σ_j + nλ),
    /// ```
    ///
    /// a quotient without cancellation, however small λ is. With weights √D K √D replaces K. With
    /// an intercept (I − ûûᵀ)√D K √D(I − ûûᵀ) does, û = √D1/‖√D1‖.
    ///
    /// Eigenvalues are accurate to about ε·σ_1. A ridge below n·ε·σ_1 is raised to n·ε·σ_1;
    /// [`PathPoint::mu`](crate::PathPoint) is the ridge solved with.
    ///
    /// # Cost
    /// n × n by definition: n² kernel values, about 9n³ flops once and 2n²(1 + t) per ridge, in
    /// `f64`. The computation holds four n × n matrices (1 GB at n = 6000), the path one.
    ///
    /// # Errors
    /// As [`fit`](ExactKrr::fit), but never `NotPositiveDefinite`;
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without ridges.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{ExactKrr, lambda_grid};
    /// use faer::Mat;
    /// let x: Vec<f64> = (0..60).map(|i| i as f64 / 10.0).collect();
    /// let y = Mat::from_fn(60, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
    /// let krr = ExactKrr::without_ridge(Gaussian::new(1.0)?);
    /// let path = krr.path((Points::from_slice(&x), &y), &lambda_grid(1.0, 1e-9, 19)?)?;
    /// let best = path.best_by_loo();
    /// assert!(best.loo.sqrt() < 0.12 && !path.at_edge(best));
    /// let model = path.model_at(best.ridge)?;
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn path<'a, T: Scalar>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        let samples = problem.into();
        samples.check_path(&self.kernel, ridges, self.intercept)?;
        let family = self.family(samples)?;
        let mut sums = Mat::zeros(ridges.len() * samples.y.ncols(), 2);
        family.add_squares(samples, &family.spectrum.mus(ridges)?, &mut sums)?;
        LambdaPath::new(family, ridges, &sums)
    }

    /// The fits at all ridges, without leave-one-out errors.
    pub(crate) fn family<T: Scalar>(&self, samples: Problem<'_, T>) -> Result<Family<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        let (n, t) = (samples.x.len(), samples.y.ncols());
        let root_weights: Vec<f64> = samples.root_weights();
        let shift = samples.mean_target(self.intercept);
        // √D(y − ȳ)
        let y = Mat::from_fn(n, t, |i, j| root_weights[i] * (samples.y[(i, j)].f64() - shift[j]));
        let mut M = weighted_gram(&self.kernel, samples.x, &root_weights); // M = √D K √D
        let total_weight = ops::dot(&root_weights, &root_weights);
        let center = self.intercept.then(|| WeightedMean::new(&root_weights, &M));
        if let Some(center) = &center {
            center.project_both_sides(&mut M); //                            M ← (I − ûûᵀ)M(I − ûûᵀ)
        }
        let eigen = SymmetricEigen::new(M.as_ref())?; //                     M = UΣUᵀ
        drop(M);
        let mut U = eigen.vectors().to_owned();
        if let Some(center) = &center {
            // û spans a null space, perhaps mixed with others
            subtract(U.as_mut(), &center.unit, &center.unit);
        }
        let values: Vec<f64> = eigen.values().iter().map(|s| s.max(0.0)).collect();
        let g = ops::times(U.transpose(), y.as_ref());
        let constant = center.map(|center| SpectrumConstant {
            features: rotate(&U, &center.mean),
            targets: (0..t).map(|j| shift[j] + center.dot(&y, j)).collect(),
        });
        let floor = n as f64 * f64::EPSILON * values.first().copied().unwrap_or(0.0);
        let rows = root_weights.iter().filter(|root| **root > 0.0).count();
        let spectrum = Spectrum { n, values, g, constant, rows, total_weight, floor };
        let report = FitReport {
            reason: "one eigendecomposition for all ridges".into(),
            kernel_entries: (samples.x.len() as u64).pow(2),
            ..FitReport::of_all(SolvedBy::Spectrum, samples)
        };
        let basis = Basis::Samples { U, root_weights };
        let centers = samples.x.to_owned();
        let kernel = self.kernel.clone();
        Ok(Family { kernel, centers, spectrum, basis, report, shift: None })
    }
}

/// √D K √D.
fn weighted_gram<T: Scalar>(
    kernel: &impl Kernel<T>,
    x: Points<'_, T>,
    root_weights: &[f64],
) -> Mat<f64> {
    let K = kernel.gram(x);
    let entry = |i: usize, j: usize| root_weights[i] * root_weights[j] * K[(i, j)].f64();
    Mat::from_fn(x.len(), x.len(), entry)
}

/// The direction û = √D1/‖√D1‖ of the constant.
struct WeightedMean {
    unit: Vec<f64>,
    norm: f64,
    /// Mû/‖√D1‖: the weighted mean of the rows of K, in weighted coordinates.
    mean: Vec<f64>,
}

impl WeightedMean {
    fn new(root_weights: &[f64], M: &Mat<f64>) -> Self {
        let n = root_weights.len();
        let norm = ops::dot(root_weights, root_weights).sqrt();
        let unit: Vec<f64> = root_weights.iter().map(|r| r / norm).collect();
        let u = Mat::from_fn(n, 1, |i, _| unit[i] / norm);
        let mean = ops::times(M.as_ref(), u.as_ref()).col(0).iter().copied().collect();
        WeightedMean { unit, norm, mean }
    }

    /// ûᵀy_j/‖√D1‖: the weighted mean of a target in weighted coordinates.
    fn dot(&self, y: &Mat<f64>, j: usize) -> f64 {
        ops::dot(&self.unit, y.col_as_slice(j)) / self.norm
    }

    /// M ← (I − ûûᵀ)M(I − ûûᵀ) = M − û vᵀ − v ûᵀ + (ûᵀv)ûûᵀ for v = Mû.
    fn project_both_sides(&self, M: &mut Mat<f64>) {
        let (u, n) = (&self.unit, self.unit.len());
        let v: Vec<f64> = self.mean.iter().map(|mean| mean * self.norm).collect();
        let uv = ops::dot(u, &v);
        for j in 0..n {
            for i in 0..n {
                M[(i, j)] += uv * u[i] * u[j] - u[i] * v[j] - v[i] * u[j];
            }
        }
    }
}
