//! Kernel ridge regression through a weighted dictionary, as of a stream.

use crate::input::Samples;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{
    Cholesky, GramSums, JitterLadder, Result, Ridge, RowTree, Scalar, ops, validate,
};

/// Rows of a tile.
const TILE_ROWS: usize = 1024;

/// Kernel ridge regression with K replaced by the regularised Nyström approximation of a weighted
/// dictionary D:
///
/// ```text
/// w̃ = (L_γ + μI)⁻¹y,   L_γ = KS(SᵀKS + γI)⁻¹SᵀK,   f̂ = L_γw̃ at the points,
///     f̂(x) = Σ_j θ_j k(x, z_j) anywhere,  z_j ∈ D.
/// ```
///
/// What SQUEAK's points and weights are for: at any moment of the stream, the regression over all
/// points seen so far. If the dictionary is (ε, γ)-accurate, 0 ⪯ K − L_γ ⪯ γ/(1 − ε)·I and the risk
/// at fixed design is at most (1 + (γ/μ)/(1 − ε))² times that of exact kernel ridge regression with
/// μ. Unlike [`NystromKrr`](crate::NystromKrr) the weights matter, and γ limits the condition of
/// the problem.
///
/// # Cost
/// nm + m² kernel values and 2nm² + m³ flops in one pass over x and y, O(m² + 1024·m) memory, in
/// `f64`. Thread-independent bits.
///
/// # Source
/// Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172); the inversion is Woodbury's,
/// w̃ = (y − B(BᵀB + μI)⁻¹Bᵀy)/μ, BBᵀ = L_γ.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::DictionaryKrr;
/// use nystrom_linalg_core::Ridge;
/// let x: Vec<f64> = (0..200).map(|i| i as f64 / 100.0).collect();
/// let y = Mat::from_fn(200, 1, |i, _| (4.0 * x[i]).sin());
/// // every tenth point, each standing for ten
/// let centers: Vec<f64> = x.iter().copied().step_by(10).collect();
/// let krr = DictionaryKrr {
///     kernel: Gaussian::new(0.3)?,
///     gamma: Ridge::Absolute(1e-6),
///     ridge: Ridge::Absolute(1e-6),
/// };
/// let model =
///     krr.fit(Points::from_slice(&x), y.as_ref(), Points::from_slice(&centers), &[10.0; 20])?;
/// let f = model.predict(Points::from_slice(&[0.123]))?;
/// assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-2);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DictionaryKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// γ, the ridge that the dictionary was made for: [`Ridge::Absolute`] for that of a stream,
    /// whose n was not known.
    pub gamma: Ridge<T>,
    /// μ, the ridge of the regression.
    pub ridge: Ridge<T>,
}

impl<T: Scalar, K: Kernel<T> + Clone> DictionaryKrr<K, T> {
    /// Fits y (n × t) at the n points `x` through the dictionary of `centers` with weights s_j²
    /// (one each).
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d, t or the dictionary is,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for sizes that do not fit,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite),
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a γ, μ or weight that
    /// is not positive and finite.
    pub fn fit(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
        weights: &[f64],
    ) -> Result<KrrModel<K, T>> {
        Samples { x, y, weights: None }.check(&self.kernel)?;
        // LLᵀ = W + γ diag(1/s²), so that B = CL⁻ᵀ
        let L = self.factor(x, centers, weights)?;
        let mu = self.ridge.absolute(x.len())?.f64();
        let (n, m, t) = (x.len(), centers.len(), y.ncols());
        // BᵀB, Bᵀy
        let GramSums { gram: BB, moments: mut beta } = self.accumulate(&L, x, y, centers)?;
        let mut BB = BB.to_square();
        ops::add_to_diagonal(BB.as_mut(), mu);
        let R = Cholesky::with_jitter(BB.as_ref(), JitterLadder::default())?;
        R.solve_in_place(beta.as_mut()); //                                 β = (BᵀB + μI)⁻¹Bᵀy
        L.backward_in_place(beta.as_mut()); //                              θ = L⁻ᵀβ
        let extremes = (0..m)
            .map(|i| R.lower()[(i, i)])
            .fold((f64::INFINITY, 0.0_f64), |(l, h), d| (l.min(d), h.max(d)));
        let report = FitReport {
            n,
            m,
            d: x.dim(),
            t,
            ridge: mu + R.jitter(),
            jitter: L.jitter(),
            solver: SolvedBy::NormalEquations,
            reason: "the regularised approximation of a dictionary is well conditioned".into(),
            condition: (extremes.1 / extremes.0).powi(2),
            kernel_entries: (n + m) as u64 * m as u64,
        };
        KrrModel::from_parts(self.kernel.clone(), centers, beta.as_ref(), &vec![0.0; t], report)
    }

    fn factor(
        &self,
        x: Points<'_, T>,
        centers: Points<'_, T>,
        weights: &[f64],
    ) -> Result<Cholesky<f64>> {
        validate::not_empty("dictionary", centers.len())?;
        x.check_same_dim(centers)?;
        self.kernel.check_points(centers)?;
        validate::same_size(
            "weights against points of the dictionary",
            centers.len(),
            weights.len(),
        )?;
        weights.iter().try_for_each(|&w| validate::positive("dictionary weight", w))?;
        let gamma = self.gamma.absolute(x.len())?.f64();
        let W = self.kernel.gram(centers);
        let fill = |mut out: MatMut<'_, f64>| {
            for j in 0..weights.len() {
                for i in j..weights.len() {
                    out[(i, j)] = W[(i, j)].f64();
                }
                out[(j, j)] += gamma / weights[j];
            }
        };
        Cholesky::from_fill(weights.len(), fill, JitterLadder::default())
    }

    /// BᵀB and Bᵀy.
    fn accumulate(
        &self,
        L: &Cholesky<f64>,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
    ) -> Result<GramSums> {
        let (m, t) = (centers.len(), y.ncols());
        let (mut wide_k, mut wide_y) = (Mat::new(), Mat::new());
        GramSums::over_rows(x.len(), m, t, |sums, rows| {
            for rows in RowTree::tiles(rows, TILE_ROWS) {
                let (start, size) = (rows.start, rows.len());
                let k = self.kernel.eval(centers, x.slice(rows));
                let mut Bt = ops::widened(k.as_ref(), &mut wide_k).to_owned();
                L.forward_in_place(Bt.as_mut()); // Bᵀ = L⁻¹Cᵀ
                sums.add(Bt.transpose(), ops::widened(y.subrows(start, size), &mut wide_y));
            }
            Ok(())
        })
    }
}
