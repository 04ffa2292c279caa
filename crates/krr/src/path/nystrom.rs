//! The path of Nyström kernel ridge regression at fixed landmarks.

use super::family::{Basis, Family, Spectrum};
use super::features;
use crate::input::Samples;
use crate::path::LambdaPath;
use crate::rows::{FeatureRows, KernelRows};
use crate::whitener::Whitener;
use crate::{FitReport, NystromKrr, SolvedBy};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use nystrom_sketch::Landmarks;

impl<T: Scalar, K: Kernel<T> + Clone> NystromKrr<K, T> {
    /// Leave-one-out errors, generalised cross-validation and d_eff for all `ridges`, and the model
    /// at any. The field `ridge` is not used.
    ///
    /// With the whitened features φ, ΦᵀΦ = VSVᵀ and u_i = Vᵀφ(x_i),
    ///
    /// ```text
    /// f(x_i) = u_iᵀ(S + nλI)⁻¹VᵀΦᵀy,   h_i = Σ_j u_ij²/(s_j + nλ),
    ///     y_i − f₋ᵢ(x_i) = (y_i − f(x_i))/(1 − h_i).
    /// ```
    ///
    /// A first pass over the rows makes ΦᵀΦ and Φᵀy, a second one the errors at all ridges
    /// together. Features are computed twice rather than kept, so that memory does not grow with n.
    ///
    /// S is known to about ε·tr ΦᵀΦ, which is harmless while λ ≫ ε·k(x, x). If the smallest ridge
    /// is below 10·ε·Σ w_i k(x_i, x_i), products are taken in `f64` whatever the scalar type, and
    /// if it is below that with the ε of `f64`, [`Solver::Auto`](crate::Solver::Auto) takes a
    /// streamed QR factorisation Φ = QR and the singular values of R instead, known to ε·‖Φ‖ (√λ ≫
    /// ε is enough). A ridge that even this cannot see is raised, and
    /// [`PathPoint::mu`](crate::PathPoint) says so. With normal equations asked for,
    /// [`Solver::WhitenOnce`](crate::Solver::WhitenOnce) counting as such, the rise is to the bound
    /// just named.
    ///
    /// # Cost
    /// 2nm + m² kernel values; for L ridges 5nm² + 10m³ + 2nmL(1 + t) flops (by QR (6 + m/768)nm²
    /// and 33m³ in the place of the first two) in two passes over x and y. Memory: 6m² numbers of 8
    /// bytes and some tiles of 1024·(m + L + Lt). The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); [`Empty`](nystrom_linalg_core::Error::Empty) without ridges,
    /// `InvalidParameter` for a wrong one or if an intercept is to be fitted to a single sample.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NystromKrr, lambda_grid};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Landmarks;
    /// let x: Vec<f64> = (0..300).map(|i| i as f64 / 50.0).collect();
    /// let y = Mat::from_fn(300, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
    /// let krr = NystromKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1.0));
    /// let landmarks = Landmarks::new(300, (0..300).step_by(15).collect())?;
    /// let path =
    ///     krr.path(Points::from_slice(&x), y.as_ref(), &landmarks, &lambda_grid(1.0, 1e-9, 19)?)?;
    /// for point in &path.points {
    ///     println!(
    ///         "{:?}: leave-one-out {:.4}, d_eff {:.1}",
    ///         point.ridge,
    ///         point.loo.sqrt(),
    ///         point.d_eff
    ///     );
    /// }
    /// let model = path.model_at(path.best_by_loo().ridge)?; // no further pass
    /// # assert!(path.best_by_loo().loo.sqrt() < 0.11);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn path(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        landmarks: &Landmarks,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>> {
        self.path_at_landmarks(Samples { x, y, weights: None }, landmarks, ridges)
    }

    /// As [`path`](Self::path) with one weight w_i ≥ 0 per sample.
    ///
    /// # Errors
    /// As [`path`](Self::path), and `Shape` or `InvalidWeight` for wrong weights.
    pub fn path_weighted(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        landmarks: &Landmarks,
        ridges: &[Ridge<T>],
        sample_weights: &[T],
    ) -> Result<LambdaPath<K, T>> {
        self.path_at_landmarks(Samples { x, y, weights: Some(sample_weights) }, landmarks, ridges)
    }

    /// As [`path`](Self::path) with any m points as centres.
    ///
    /// # Errors
    /// As [`path`](Self::path) and [`fit_centers`](Self::fit_centers).
    pub fn path_centers(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>> {
        self.path_at(Samples { x, y, weights: None }, centers, ridges)
    }

    /// [`path_centers`](Self::path_centers) with sample weights.
    ///
    /// # Errors
    /// Those of [`path_centers`](Self::path_centers) and [`path_weighted`](Self::path_weighted).
    pub fn path_centers_weighted(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
        ridges: &[Ridge<T>],
        sample_weights: &[T],
    ) -> Result<LambdaPath<K, T>> {
        self.path_at(Samples { x, y, weights: Some(sample_weights) }, centers, ridges)
    }

    fn path_at_landmarks(
        &self,
        samples: Samples<'_, T>,
        landmarks: &Landmarks,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>> {
        validate::same_size(
            "points the landmarks were chosen among",
            samples.x.len(),
            landmarks.n(),
        )?;
        let centers = samples.x.gather(landmarks.indices().into());
        self.path_at(samples, Points::from_cols(centers.as_ref()), ridges)
    }

    fn path_at(
        &self,
        samples: Samples<'_, T>,
        centers: Points<'_, T>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>> {
        samples.check_path(&self.kernel, ridges, self.intercept)?;
        self.check_centers(samples.x, centers)?;
        let whitener = Whitener::new(&self.kernel, centers)?; //          W + δI = RRᵀ
        let source = KernelRows { kernel: &self.kernel, centers, x: samples.x };
        let rows = FeatureRows::new(&source, &whitener, samples, self.intercept);
        let (spectrum, V, reason) = self.solver.decompose(&rows, ridges)?; // ΦᵀΦ = VSVᵀ
        let mus = spectrum.mus(ridges)?;
        let sums = features::sums(&rows, &spectrum, &V, &mus);
        let report = FitReport { solver: SolvedBy::Spectrum, reason, ..source.report(&rows, 2) };
        LambdaPath::new(self.family(centers, spectrum, V, whitener, report), ridges, &mus, &sums)
    }

    /// The fits at all ridges, without leave-one-out errors: one pass.
    pub(crate) fn models(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        landmarks: &Landmarks,
        ridges: &[Ridge<T>],
    ) -> Result<Family<K, T>> {
        let samples = Samples { x, y, weights: None };
        samples.check(&self.kernel)?;
        let centers = x.gather(landmarks.indices().into());
        let centers = Points::from_cols(centers.as_ref());
        let whitener = Whitener::new(&self.kernel, centers)?;
        let source = KernelRows { kernel: &self.kernel, centers, x };
        let rows = FeatureRows::new(&source, &whitener, samples, self.intercept);
        let (spectrum, V, reason) = self.solver.decompose(&rows, ridges)?;
        let report = FitReport { solver: SolvedBy::Spectrum, reason, ..source.report(&rows, 1) };
        Ok(self.family(centers, spectrum, V, whitener, report))
    }

    fn family(
        &self,
        centers: Points<'_, T>,
        spectrum: Spectrum,
        V: Mat<f64>,
        whitener: Whitener<T>,
        report: FitReport,
    ) -> Family<K, T> {
        let (kernel, centers) = (self.kernel.clone(), centers.as_cols().to_owned());
        Family {
            kernel,
            centers,
            spectrum,
            basis: Basis::Features { V, whitener, expand: None },
            report,
        }
    }
}
