//! The products KS and SᵀKS of a psd matrix and a sketch, stored.

use crate::{FeatureMap, Sketch, SketchProduct, Whitening};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};

/// The products KS (n × d) and SᵀKS (d × d) of a psd matrix K and a sketch S, which give
/// K_S = KS(SᵀKS)⁻¹SᵀK ⪯ K.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Dense, PsdMatrix};
/// use nystrom_sketch::{GaussianSketch, SketchedMatrix, Whitening};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(40, 40, |i, j| (-((i as f64 - j as f64) / 15.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let s = GaussianSketch.sample(40, 8, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// let sketched = SketchedMatrix::new(&k, &s)?;
/// let f = sketched.factor(Whitening::default())?;                   // K_S = FFᵀ
/// assert!((k.as_ref() - &f * f.transpose()).norm_max() < 0.01);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SketchedMatrix<T> {
    /// K S̄, n × d.
    product: Mat<T>,
    /// S̄ᵀK S̄, d × d.
    gram: Mat<f64>,
    scales: Vec<f64>,
}

impl<T: Scalar> SketchedMatrix<T> {
    /// Computes both products in one pass over at most n·u entries of K, for a support of u rows.
    /// By symmetry, each tile of K on the support is evaluated once, so that a dense sketch takes
    /// n²/2 entries. Memory beyond the sketch: n·d numbers and u·d `f64` numbers.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if K and S have different n,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with a row of K.
    pub fn new(k: &dyn PsdMatrix<T>, sketch: &dyn Sketch<T>) -> Result<Self> {
        let product = SketchProduct::new(k, sketch)?;
        let on_support = product.on_support()?;
        let gram = product.gram(on_support.as_ref());
        Ok(SketchedMatrix {
            product: product.stored(on_support.as_ref())?,
            gram,
            scales: sketch.scales().to_vec(),
        })
    }

    /// KS, n × d.
    pub fn product(&self) -> Mat<T> {
        let c = &self.scales;
        Mat::from_fn(self.product.nrows(), c.len(), |i, j| self.product[(i, j)] * T::lit(c[j]))
    }

    /// SᵀKS, d × d.
    pub fn gram(&self) -> Mat<f64> {
        let c = &self.scales;
        Mat::from_fn(c.len(), c.len(), |i, j| c[i] * self.gram[(i, j)] * c[j])
    }

    /// K S̄, n × d: the columns of KS divided by their scales, which does not change their span.
    pub fn unscaled(&self) -> MatRef<'_, T> {
        self.product.as_ref()
    }

    /// F = KS R⁻ᵀ, n × r, with FFᵀ = K_S and RRᵀ = SᵀKS, which is inverted by the given whitening.
    /// nd² + d³/3 flops.
    ///
    /// # Errors
    /// Those of [`FeatureMap::new`].
    pub fn factor(&self, whitening: Whitening) -> Result<Mat<T>> {
        let d = self.scales.len();
        let gram = Mat::from_fn(d, d, |i, j| T::lit(self.gram[(i, j)]));
        let map = FeatureMap::new(gram.as_ref(), whitening)?;
        let mut columns = self.product.transpose().to_owned();
        Ok(map.apply_in_place(columns.as_mut()).transpose().to_owned())
    }

    /// tr(K − K_S) ≥ 0, where `k` must be the matrix that was sketched. Evaluates n diagonal
    /// entries; summed in `f64`.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if `k` has another order, and those of
    /// [`factor`](Self::factor).
    pub fn trace_error(&self, k: &dyn PsdMatrix<T>) -> Result<f64> {
        nystrom_linalg_core::validate::same_size(
            "order of K against rows of KS",
            self.product.nrows(),
            k.dim(),
        )?;
        let F = self.factor(Whitening::default())?;
        let diagonal: Vec<T> = F.row_iter().map(|row| row.squared_norm_l2()).collect();
        Ok(crate::stream::trace_difference(&k.diag(), &diagonal))
    }
}
