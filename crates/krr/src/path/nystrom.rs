//! The path of Nyström kernel ridge regression at fixed centres.

use super::family::{Basis, Family, Spectrum};
use super::features;
use crate::path::LambdaPath;
use crate::rows::{FeatureRows, KernelRows};
use crate::whitener::Whitener;
use crate::{Centers, FitReport, NystromKrr, Problem, SolvedBy};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar};
use nystrom_sketch::Landmarks;

impl<K> NystromKrr<K, ()> {
    /// Leave-one-out errors, generalised cross-validation and d_eff for all `ridges`, and the model
    /// at any.
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
    /// As [`fit`](NystromKrr::fit); [`Empty`](nystrom_linalg_core::Error::Empty) without ridges,
    /// `InvalidParameter` for a wrong one or if an intercept is to be fitted to a single sample.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NystromKrr, lambda_grid};
    /// use nystrom_sketch::Landmarks;
    /// let x: Vec<f64> = (0..300).map(|i| i as f64 / 50.0).collect();
    /// let y = Mat::from_fn(300, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
    /// let krr = NystromKrr::without_ridge(Gaussian::new(1.0)?);
    /// let landmarks = Landmarks::new(300, (0..300).step_by(15).collect())?;
    /// let ridges = lambda_grid(1.0, 1e-9, 19)?;
    /// let path = krr.path((Points::from_slice(&x), &y), &landmarks, &ridges)?;
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
    pub fn path<'a, T: Scalar>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        let problem = problem.into();
        problem.check_path(&self.kernel, ridges, self.intercept)?;
        self.spectral(problem, centers.into(), ridges, 2, |rows, (spectrum, V), mus| {
            features::sums(rows, spectrum, V, mus)
        })
        .and_then(|(family, mus, sums)| LambdaPath::new(family, ridges, &mus, &sums))
    }

    /// The fits at all ridges, without leave-one-out errors: one pass.
    pub(crate) fn models<'a, T: Scalar>(
        &self,
        problem: Problem<'a, T>,
        landmarks: &'a Landmarks,
        ridges: &[Ridge<T>],
    ) -> Result<Family<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        problem.check(&self.kernel)?;
        Ok(self.spectral(problem, landmarks.into(), ridges, 1, |_, _, _| ())?.0)
    }

    /// S, g and V, the ridges that they can tell from 0, and what `then` makes of them with the
    /// rows still at hand.
    fn spectral<T: Scalar, Out>(
        &self,
        problem: Problem<'_, T>,
        centers: Centers<'_, T>,
        ridges: &[Ridge<T>],
        passes: usize,
        then: impl FnOnce(&FeatureRows<'_, T>, (&Spectrum, &Mat<f64>), &[f64]) -> Out,
    ) -> Result<(Family<K, T>, Vec<f64>, Out)>
    where
        K: Kernel<T> + Clone,
    {
        let z = centers.points(problem.x, &self.kernel)?;
        let whitener = Whitener::new(&self.kernel, Points::from_cols(z.as_ref()))?; // W + δI = RRᵀ
        let (kernel, centers) = (&self.kernel, Points::from_cols(z.as_ref()));
        let source = KernelRows { kernel, centers, x: problem.x };
        let rows = FeatureRows::new(&source, &whitener, problem, self.intercept);
        let (spectrum, V, reason) = self.solver.decompose(&rows, ridges)?; //          ΦᵀΦ = VSVᵀ
        let mus = spectrum.mus(ridges)?;
        let out = then(&rows, (&spectrum, &V), &mus);
        let report =
            FitReport { solver: SolvedBy::Spectrum, reason, ..source.report(&rows, passes) };
        let basis = Basis::Features { V, whitener, expand: None };
        Ok((Family { kernel: kernel.clone(), centers: z, spectrum, basis, report }, mus, out))
    }
}
