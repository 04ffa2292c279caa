//! The gradient of a fitted model, its mean and its average outer product.

use crate::KrrModel;
use crate::data::check_points;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_kernels::{DifferentiableKernel, Points};
use nystrom_linalg_core::{Result, RowTree, Scalar, ops, validate};
use rayon::prelude::*;
use std::ops::Range;

/// Rows whose gradients are computed at once: a tile of 256·m slopes per thread.
const TILE_ROWS: usize = 256;

/// The average change of each target with each feature, from [`KrrModel::marginal_effects`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct MarginalEffects {
    /// (1/n) Σ_i ∂f_τ/∂x_k(x_i), d × t.
    pub mean: Mat<f64>,
    /// The standard errors of these means, d × t: sd/√n.
    pub standard_error: Mat<f64>,
}

impl<T: Scalar, K: DifferentiableKernel<T>> KrrModel<K, T> {
    /// ∇f at the points `x`, as an x.len() × (d·t) matrix: ∂f_τ/∂x_k is in column k + d·τ, so that
    /// the columns of a target are adjacent.
    ///
    /// At a centre where k(x, z_j) has no derivative, the term of this centre counts 0
    /// ([`DifferentiableKernel`]).
    ///
    /// x.len()·m kernel values and 2·x.len()·m·(d + 1)·t flops (of isotropic kernels); 512·m
    /// numbers of memory per thread, and 256·m·t. The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and `Sparse` for sparse points.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::ExactKrr;
    /// use nystrom_linalg_core::Ridge;
    /// let x: Vec<f64> = (0..100).map(|i| i as f64 / 20.0).collect();
    /// let y = Mat::from_fn(100, 1, |i, _| x[i].sin());
    /// let krr = ExactKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-10));
    /// let model = krr.fit((Points::from_slice(&x), &y))?;
    /// let slope = model.gradient(Points::from_slice(&[2.0]))?;
    /// assert!((slope[(0, 0)] - 2.0_f64.cos()).abs() < 1e-3);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn gradient(&self, x: Points<'_, T>) -> Result<Mat<T>> {
        x.check_dense()?;
        check_points(&self.kernel, self.centers(), x)?;
        let tiles = GradientTiles::new(self, x);
        let mut out = Mat::zeros(x.len(), tiles.width());
        out.as_mut().par_row_chunks_mut(TILE_ROWS).enumerate().for_each(|(block, out)| {
            let start = block * TILE_ROWS;
            tiles.fill(start..start + out.nrows(), out);
        });
        Ok(out)
    }

    /// The mean of [`gradient`](Self::gradient) over the points `x`, with standard errors: average
    /// marginal effects, d × t.
    ///
    /// The standard errors are those of a mean over points drawn at random, for a fixed model. Cost
    /// as [`gradient`](Self::gradient), but only one tile per thread is stored.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and `InvalidParameter` for a single point, which has no
    /// standard error.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Linear, Points};
    /// use nystrom_krr::ExactKrr;
    /// use nystrom_linalg_core::Ridge;
    /// let x = Mat::from_fn(50, 2, |i, k| ((i * (k + 3)) % 17) as f64);
    /// let y = Mat::from_fn(50, 1, |i, _| 2.0 * x[(i, 0)] - x[(i, 1)]);
    /// let krr = ExactKrr::new(Linear::new(), Ridge::PerSample(1e-9));
    /// let model = krr.fit((Points::from_rows(x.as_ref()), &y))?;
    /// let effects = model.marginal_effects(Points::from_rows(x.as_ref()))?;
    /// assert!((effects.mean[(0, 0)] - 2.0).abs() < 1e-6);
    /// assert!(effects.standard_error[(1, 0)] < 1e-6); // the same everywhere
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn marginal_effects(&self, x: Points<'_, T>) -> Result<MarginalEffects> {
        check_points(&self.kernel, self.centers(), x)?;
        validate::require(
            x.len() != 1,
            "points of a mean",
            1.0,
            "at least 2 to have a standard error",
        )?;
        let tiles = GradientTiles::new(self, x);
        let none = || vec![ValueMoments::default(); tiles.width()];
        let moments = tiles.reduce(
            none,
            |moments, _, gradients| {
                for (moments, column) in moments.iter_mut().zip(gradients.col_iter()) {
                    *moments = moments
                        .with(ValueMoments::of((0..column.nrows()).map(|i| column[i].f64())));
                }
            },
            |a, b| a.iter().zip(&b).map(|(a, b)| a.with(*b)).collect(),
        );
        let (d, t) = (x.dim(), self.coefficients.ncols());
        Ok(MarginalEffects {
            mean: Mat::from_fn(d, t, |k, sum| moments[k + d * sum].mean),
            standard_error: Mat::from_fn(d, t, |k, sum| moments[k + d * sum].standard_error()),
        })
    }

    /// The average gradient outer product (1/n) Σ_i Σ_τ ∇f_τ(x_i) ∇f_τ(x_i)ᵀ over the points `x`,
    /// d × d, positive semi-definite. Its leading eigenvectors are the directions along which the
    /// model varies most.
    ///
    /// Cost as [`gradient`](Self::gradient) and 2nd²t flops; only one tile per thread is stored.
    ///
    /// # Source
    /// A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, *Mechanism for feature learning in
    /// neural networks and backpropagation-free machine learning models*, Science 383, 2024.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and `Sparse` for sparse points.
    ///
    /// ```
    /// use faer::{Mat, mat};
    /// use nystrom_kernels::{Linear, Points};
    /// use nystrom_krr::ExactKrr;
    /// use nystrom_linalg_core::Ridge;
    /// let x = mat![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0_f64]];
    /// let y = mat![[2.0], [0.0], [2.0]]; // 2x₁
    /// let krr = ExactKrr::new(Linear::new(), Ridge::PerSample(1e-9));
    /// let model = krr.fit((Points::from_rows(x.as_ref()), &y))?;
    /// let agop = model.gradient_outer_product(Points::from_rows(x.as_ref()))?;
    /// assert!((agop[(0, 0)] - 4.0).abs() < 1e-6 && agop[(1, 1)].abs() < 1e-6);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn gradient_outer_product(&self, x: Points<'_, T>) -> Result<Mat<f64>> {
        check_points(&self.kernel, self.centers(), x)?;
        self.weighted_outer_product(x, &vec![1.0; x.len()])
    }

    /// Σ_i w_i Σ_τ ∇f_τ(x_i) ∇f_τ(x_i)ᵀ / Σ_i w_i, of points that were checked.
    pub(crate) fn weighted_outer_product(
        &self,
        x: Points<'_, T>,
        weights: &[f64],
    ) -> Result<Mat<f64>> {
        let total = validate::weights("sample weights of the gradients", weights)?;
        let (d, t) = (x.dim(), self.coefficients.ncols());
        let sum = GradientTiles::new(self, x).reduce(
            || Mat::<f64>::zeros(d, d),
            |sum, rows, gradients| {
                let w = &weights[rows];
                for target in 0..t {
                    let g = gradients.subcols(d * target, d);
                    let g = Mat::from_fn(g.nrows(), d, |i, k| w[i].sqrt() * g[(i, k)].f64());
                    ops::matmul_here(sum.as_mut(), Accum::Add, g.transpose(), g.as_ref(), 1.0);
                }
            },
            |a, b| a + b,
        );
        Ok(Mat::from_fn(d, d, |i, j| sum[(i.max(j), i.min(j))] / total))
    }
}

/// Gradients of a model at points, tile by tile.
struct GradientTiles<'a, K, T> {
    model: &'a KrrModel<K, T>,
    x: Points<'a, T>,
    /// θ in each row, one target after another: 256 × (m·t).
    weights: Mat<T>,
}

impl<'a, T: Scalar, K: DifferentiableKernel<T>> GradientTiles<'a, K, T> {
    fn new(model: &'a KrrModel<K, T>, x: Points<'a, T>) -> Self {
        let (m, t) = model.coefficients.shape();
        let weights =
            Mat::from_fn(TILE_ROWS.min(x.len()), m * t, |_, j| model.coefficients[(j % m, j / m)]);
        GradientTiles { model, x, weights }
    }

    /// d·t.
    fn width(&self) -> usize {
        self.x.dim() * self.model.coefficients.ncols()
    }

    /// The gradients at at most 256 points.
    fn fill(&self, rows: Range<usize>, out: MatMut<'_, T>) {
        let weights = self.weights.as_ref().subrows(0, rows.len());
        let (kernel, z) = (&self.model.kernel, self.model.centers());
        kernel.gradient_into(out, self.x.slice(rows), z, weights);
    }

    /// `add` of every tile, combined along the row tree.
    fn reduce<A: Send>(
        &self,
        none: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, Range<usize>, MatRef<'_, T>) + Sync,
        combine: impl Fn(A, A) -> A + Sync,
    ) -> A {
        let leaf = |rows: Range<usize>| {
            let (mut sum, mut tile) = (none(), Mat::zeros(self.weights.nrows(), self.width()));
            for rows in RowTree::tiles(rows, TILE_ROWS) {
                let mut gradients = tile.as_mut().subrows_mut(0, rows.len());
                self.fill(rows.clone(), gradients.rb_mut());
                add(&mut sum, rows, gradients.rb());
            }
            sum
        };
        RowTree::new(self.x.len()).reduce(leaf, combine).unwrap_or_else(none)
    }
}

/// Number, mean and sum of squared deviations: sums of which lose no digits to a large mean.
#[derive(Debug, Clone, Copy, Default)]
struct ValueMoments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl ValueMoments {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
        let mean = sum / n;
        ValueMoments { n, mean, squares: values.map(|v| (v - mean).powi(2)).sum() }
    }

    /// The moments of both samples together (T. Chan, G. Golub, R. LeVeque 1983).
    fn with(self, other: ValueMoments) -> ValueMoments {
        let n = self.n + other.n;
        let gap = other.mean - self.mean;
        ValueMoments {
            n,
            mean: self.mean + gap * (other.n / n),
            squares: self.squares + other.squares + gap * gap * (self.n * other.n / n),
        }
    }

    /// sd/√n.
    fn standard_error(&self) -> f64 {
        (self.squares / (self.n - 1.0) / self.n).sqrt()
    }
}
