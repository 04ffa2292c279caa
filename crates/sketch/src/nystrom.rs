//! A Nyström approximation L = FFᵀ with the n × r factor F in memory.

use crate::stream::trace_difference;
use crate::{Dictionary, FeatureMap, Landmarks, NystromStream, Whitening};
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, validate};

/// L = FFᵀ, the Nyström approximation C W⁺ Cᵀ of a psd matrix K from m of its columns, or its
/// regularised form L_γ. F is n × r.
///
/// 0 ⪯ L_γ ⪯ L ⪯ K, and L = K if every row is a landmark (up to m·δ, where δ is the reported
/// [`jitter`](Self::jitter)). L is itself a [`PsdMatrix`]: blocks, diagonal and products are
/// computed from F. The n·r entries of F are stored; [`NystromStream`] stores none of them.
///
/// # Source
/// Williams & Seeger (NIPS 2000); L_γ: Alaoui & Mahoney (NIPS 2015), section 3.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Dense, PsdMatrix};
/// use nystrom_sketch::{Landmarks, Nystrom};
/// let k = Mat::from_fn(40, 40, |i, j| (-((i as f64 - j as f64) / 15.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let l = Nystrom::new(&k, &Landmarks::new(40, vec![3, 13, 23, 33])?)?;
/// assert_eq!(l.factor().shape(), (40, 4));
/// assert!((l.trace_error(&k)? - 0.5468706667).abs() < 1e-9); // tr(K − L), of tr K = 40
/// let corner: Mat<f64> = l.block((0..3).into(), (0..3).into());
/// assert!((corner[(0, 1)] - k.as_ref()[(0, 1)]).abs() < 0.02);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Nystrom<T> {
    indices: Vec<usize>,
    map: FeatureMap<T>,
    factor: Mat<T>,
}

impl<T: Scalar> Nystrom<T> {
    /// L = C W⁺ Cᵀ from the columns C = K\[:, J\], with [`Whitening::ShiftedCholesky`].
    ///
    /// n·m + m² entries of K are evaluated; nm² + m³/3 flops; n·m numbers of memory.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the landmarks belong to a matrix of another
    /// order, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) naming the entry of K, and those
    /// of [`FeatureMap::new`].
    pub fn new(k: &dyn PsdMatrix<T>, landmarks: &Landmarks) -> Result<Self> {
        Self::with_whitening(k, landmarks, Whitening::default())
    }

    /// As [`new`](Self::new), with the given whitening.
    pub fn with_whitening(
        k: &dyn PsdMatrix<T>,
        landmarks: &Landmarks,
        whitening: Whitening,
    ) -> Result<Self> {
        Self::from_stream(NystromStream::new(k, landmarks, whitening)?)
    }

    /// L_γ = KS(SᵀKS + γI)⁻¹SᵀK with γ = `ridge.absolute(n)`, for a dictionary D with weights w. It
    /// is computed as K_{:D}(K_DD + γ diag(1/w))⁻¹K_{D:}, and depends on the weights, unlike L.
    ///
    /// Cost as [`new`](Self::new).
    ///
    /// # Errors
    /// Those of [`NystromStream::regularized`], and
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) naming the entry of K.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_linalg_core::{Dense, Ridge};
    /// use nystrom_sketch::{Dictionary, Nystrom};
    /// let k = Mat::<f64>::identity(4, 4);
    /// let l = Nystrom::regularized(
    ///     &Dense::new(k.as_ref())?,
    ///     &Dictionary::full(4)?,
    ///     Ridge::Absolute(1.0),
    /// )?;
    /// assert!((l.trace() - 2.0).abs() < 1e-13); // K(K + γI)⁻¹K = I/2
    /// # use nystrom_linalg_core::PsdMatrix;
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn regularized(
        k: &dyn PsdMatrix<T>,
        dictionary: &Dictionary<T>,
        ridge: Ridge<T>,
    ) -> Result<Self> {
        Self::from_stream(NystromStream::regularized(k, dictionary, ridge, Whitening::default())?)
    }

    /// L = C W⁺ Cᵀ from given blocks C (n × m) and W (m × m, lower triangle read).
    ///
    /// This is for landmarks that are not rows of K: C = k(X, Z) and W = k(Z, Z) for any m points
    /// Z, such as k-means centres. L projects the x_i onto the span of the z_j in feature space, so
    /// that L ⪯ K still holds. `KernelMatrix::against` of `nystrom-kernels` computes both blocks.
    /// [`indices`](Self::indices) is then empty. nm² + m³/3 flops.
    ///
    /// # Source
    /// K. Zhang, I. Tsang, J. Kwok, *Improved Nyström low-rank approximation and error analysis*,
    /// ICML 2008, with k-means centres as Z.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or m is 0,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the sizes do not fit,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite), and those of [`FeatureMap::new`].
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, KMeans, KernelMatrix, Points};
    /// use nystrom_sketch::{Nystrom, Whitening};
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..300).map(|i| (i as f64 / 60.0).sin()).collect();
    /// let x = Points::from_slice(&x);
    /// let k = KernelMatrix::new(Gaussian::new(0.5)?, x)?;
    /// let clusters = KMeans::default().run(x, 8, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
    /// let (c, w) = k.against(clusters.centers())?;
    /// let l = Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default())?;
    /// assert!(l.trace_error(&k)? < 1e-3 * 300.0);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn from_blocks(c: MatRef<'_, T>, w: MatRef<'_, T>, whitening: Whitening) -> Result<Self> {
        validate::not_empty("matrix", c.nrows())?;
        validate::same_size("columns of C against rows of W", c.ncols(), w.nrows())?;
        validate::finite("C", c)?;
        let map = FeatureMap::new(w, whitening)?;
        let mut ft = c.transpose().to_owned();
        let factor = map.apply_in_place(ft.as_mut()).rb().transpose().to_owned();
        Ok(Nystrom { indices: vec![], map, factor })
    }

    /// Computes and stores the factor F of a streamed approximation, in one pass.
    ///
    /// # Errors
    /// As [`NystromStream::for_each_tile`].
    pub fn from_stream(stream: NystromStream<'_, T>) -> Result<Self> {
        let n = stream.dim();
        let mut factor = Mat::zeros(n, stream.map().rank());
        stream.for_each_tile(0..n, |rows, phi| {
            factor.as_mut().subrows_mut(rows.start, rows.len()).copy_from(phi.rb().transpose());
            Ok(())
        })?;
        Ok(Nystrom { indices: stream.indices().to_vec(), map: stream.map().clone(), factor })
    }

    /// F, n × r.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// The landmarks J, in the order of the columns of C; empty if they are not rows of K.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The feature map, which also maps new points. Row i of F is its value at row i of K.
    pub fn map(&self) -> &FeatureMap<T> {
        &self.map
    }

    /// r, the number of columns of F: m for whitening by Cholesky, the numerical rank of W for
    /// whitening by eigenvalues.
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// δ, the jitter added to the diagonal of W.
    pub fn jitter(&self) -> f64 {
        self.map.jitter()
    }

    /// tr(K − L) ≥ 0, where `k` must be the matrix from which L was made. Evaluates n diagonal
    /// entries; summed in `f64`.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if `k` has another order.
    pub fn trace_error(&self, k: &dyn PsdMatrix<T>) -> Result<f64> {
        validate::same_size("order of K against rows of F", self.dim(), k.dim())?;
        Ok(trace_difference(&k.diag(), &self.diag()))
    }
}

nystrom_linalg_core::psd_by_factor!(Nystrom);
