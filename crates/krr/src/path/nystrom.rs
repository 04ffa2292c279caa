//! The path of Nyström kernel ridge regression at fixed centres.

use super::family::{Basis, Family};
use super::features;
use crate::data::{RowSource, SourceTiles, Tiles, all_absolute, check_rows};
use crate::features::{FeatureRows, KernelRows, Whitener};
use crate::path::LambdaPath;
use crate::{Centers, FitReport, NystromKrr, Problem, SolvedBy};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar};

impl<K> NystromKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. Without intercept.
    pub fn without_ridge(kernel: K) -> Self {
        NystromKrr::new(kernel, ())
    }

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
    /// A first pass over the rows computes ΦᵀΦ and Φᵀy, a second pass the errors at all ridges.
    /// Features are computed in both, so that memory does not grow with n.
    ///
    /// S is accurate to about ε·tr ΦᵀΦ, which is harmless while λ ≫ ε·k(x, x). If the smallest
    /// ridge is below 10·ε·Σ w_i k(x_i, x_i), products are taken in `f64` for either scalar type.
    /// If it is below this bound with the ε of `f64`, [`Solver::Auto`](crate::Solver::Auto) takes a
    /// streamed QR factorisation Φ = QR and the singular values of R, which are accurate to ε·‖Φ‖:
    /// then √λ ≫ ε is enough. A ridge below the rounding level of S is raised to that level;
    /// [`PathPoint::mu`](crate::PathPoint) is the ridge solved with. If the caller chose
    /// [`Solver::NormalEquations`](crate::Solver::NormalEquations) or
    /// [`Solver::WhitenOnce`](crate::Solver::WhitenOnce), that level is the bound above.
    ///
    /// # Cost
    /// 2nm + m² kernel values and, for L ridges, 5nm² + 10m³ + 2nmL(1 + t) flops in two passes over
    /// x and y. By QR (6 + m/768)nm² and 33m³ take the place of the first two. Memory: 6m² numbers
    /// of 8 bytes and some tiles of 1024·(m + L + Lt). The bits do not depend on the number of
    /// threads.
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
    /// for point in path.points() {
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
        let z = centers.into().points(problem.x, &self.kernel)?;
        let (family, sums) = self.spectral(&problem, z.points(), ridges, true)?;
        LambdaPath::new(family, ridges, &sums)
    }

    /// As [`path`](Self::path) for rows that are read block by block, with the same bits. The rows
    /// are read three times. Memory: O(m²) and one block.
    ///
    /// # Errors
    /// As [`path`](Self::path), and those of the source;
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if it has fewer rows when read again.
    pub fn path_source<T: Scalar>(
        &self,
        rows: &mut dyn RowSource<T>,
        centers: Points<'_, T>,
        ridges: &[Ridge<T>],
    ) -> Result<LambdaPath<K, T>>
    where
        K: Kernel<T> + Clone,
    {
        let tiles = SourceTiles::new(rows, &self.kernel, centers)?;
        all_absolute(ridges, 1)?;
        let (family, sums) = self.spectral(&tiles, centers, ridges, true)?;
        LambdaPath::new(family, ridges, &sums)
    }

    /// The fits at all ridges, by one pass; with `errors` also the sums of squared residuals, by
    /// another.
    pub(crate) fn spectral<T: Scalar>(
        &self,
        tiles: &dyn Tiles<T>,
        centers: Points<'_, T>,
        ridges: &[Ridge<T>],
        errors: bool,
    ) -> Result<(Family<K, T>, Mat<f64>)>
    where
        K: Kernel<T> + Clone,
    {
        let kernel = &self.kernel;
        let whitener = Whitener::new(kernel.gram(centers).as_ref(), false)?; // W + δI = RRᵀ
        let source = KernelRows::new(kernel, centers, None);
        let rows = FeatureRows::new(tiles, &source, &whitener, self.intercept)?;
        let (spectrum, V, reason) = self.solver.spectrum(&rows, ridges)?; // ΦᵀΦ = VSVᵀ
        let (mut passes, mut sums) = (1, Mat::new());
        if errors {
            check_rows(rows.totals.positive as usize, self.intercept)?;
            (passes, sums) = (2, features::sums(&rows, &spectrum, &V, &spectrum.mus(ridges)?)?);
        }
        let report =
            FitReport { solver: SolvedBy::Spectrum, reason, ..source.report(&rows, passes) };
        let shift = rows.shift;
        let basis = Basis::Features { V, whitener, expand: None };
        let (kernel, centers) = (kernel.clone(), centers.to_owned());
        Ok((Family { kernel, centers, spectrum, basis, report, shift }, sums))
    }
}
