//! Spectral embedding: eigenvectors of the normalised Laplacian of the graph with weights L.

use super::FeatureMoments;
use super::weights::{LandmarkWeights, over_rows, rounded, with_signs};
use crate::whiten::for_each_kernel_tile;
use crate::{FeatureMap, Landmarks, NystromStream, Whitening};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Error, PsdMatrix, Result, RowTree, Scalar, SymmetricEigen};
use nystrom_linalg_core::{ops, validate};
use std::ops::Range;

const DEGREES: &str = "approximated degrees of the rows (with more landmarks they are positive)";

/// Coordinates of rows from the graph whose edges have the weights L ⪯ K, a Nyström approximation:
/// rows that the graph connects well are near each other.
///
/// With features Φ (L = ΦΦᵀ) and s = Φᵀ1, the degrees are d = Φs, and D^{-1/2}LD^{-1/2} = ΨΨᵀ with
/// Ψ = D^{-1/2}Φ. The r × r matrix ΨᵀΨ has its eigenvalues μ_j = 1 − ν_j, with ν_j those of the
/// normalised Laplacian. The trivial one, μ = 1 with the vector s/‖s‖, is subtracted. The
/// others, (μ_j, v_j) with the largest μ_j first, give coordinate j of a point:
/// φ(x)ᵀv_j/(√μ_j · d(x)), with d(x) = φ(x)ᵀs. On the rows these are the eigenvectors of
/// D^{-1/2}LD^{-1/2}, of norm 1, divided by √d, as in scikit-learn.
///
/// # Cost
/// Two passes over the n·m kernel values K\[:, J\], 2nm² flops, about 9m³ for the eigenvalues.
/// O(n + m²) memory.
///
/// # Departures
/// The degree of a row counts its weight with itself, which scikit-learn leaves out. An
/// approximation of a matrix without negative entries may have some: its degrees can be negative,
/// which is an error, and ν_j can be below 0.
///
/// # Precision
/// Degrees and coordinates are sums of kernel values with weights of both signs, which have errors
/// of the order of √ε times the largest degree: with `f32` (3e-4) outliers are inexact.
///
/// # Source
/// C. Fowlkes, S. Belongie, F. Chung, J. Malik, *Spectral grouping using the Nyström method*, IEEE
/// Transactions on Pattern Analysis and Machine Intelligence 26, 2004; the embedding: J. Shi,
/// J. Malik, *Normalized cuts and image segmentation*, ibid. 22, 2000.
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_sketch::{LandmarkSelector, SpectralEmbedding, Uniform};
/// use rand::SeedableRng;
///
/// // two groups on a line, near 0 and near 5
/// let x: Vec<f64> = (0..600).map(|i| (i % 2) as f64 * 5.0 + i as f64 / 600.0).collect();
/// let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_slice(&x))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let landmarks = Uniform::default().select(&k, 30, rng)?;
/// let map = SpectralEmbedding { components: 1 }.fit(&k, &landmarks)?;
/// let z = map.transform_rows(&k, &landmarks)?;
/// assert!((0..600).all(|i| (z[(i, 0)] > 0.0) == ((i % 2 == 0) == (z[(0, 0)] > 0.0))));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpectralEmbedding {
    /// p, the number of coordinates.
    pub components: usize,
}

/// Two coordinates, for a picture.
impl Default for SpectralEmbedding {
    fn default() -> Self {
        SpectralEmbedding { components: 2 }
    }
}

impl SpectralEmbedding {
    /// The embedding of the rows of `k`, a matrix without negative entries.
    ///
    /// # Errors
    /// [`Empty`](Error::Empty) and [`TooMany`](Error::TooMany) for a number of components that is 0
    /// or larger than the number of landmarks. [`Shape`](Error::Shape) if the landmarks belong to a
    /// matrix of another order, [`NonFinite`](Error::NonFinite) for an entry of K,
    /// [`InvalidParameter`](Error::InvalidParameter) for a negative one. Those of
    /// [`FeatureMap::new`], of [`SpectralSums::add`] and of [`finish`](Self::finish).
    pub fn fit<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        landmarks: &Landmarks,
    ) -> Result<SpectralMap<T>> {
        validate::at_most("components", self.components, landmarks.len())?;
        let l = NystromStream::new(k, landmarks, Whitening::default())?;
        let total = kernel_sums(k, l.indices())?; //                        Σ_i k_J(x_i)
        let none = SpectralSums::new(l.map(), &total)?; //                  s = Φᵀ1
        let diag = k.diag();
        let leaf = |rows| {
            let mut sums = none.clone();
            l.for_each_tile(rows, |tile, phi| {
                sums.add_from(tile.start, phi, &diag[tile]) //              ΨᵀΨ = Σ φφᵀ/d
            })?;
            Ok(sums)
        };
        let plus = |mut a: SpectralSums<T>, b: SpectralSums<T>| {
            a.moments.plus(&b.moments);
            a
        };
        let sums = RowTree::large(k.dim()).try_reduce_in_order(leaf, plus)?.unwrap_or(none);
        self.finish(l.map(), &sums)
    }

    /// The embedding from the sums of a second pass over rows with features of `map`.
    ///
    /// # Errors
    /// [`Empty`](Error::Empty) for no components or rows, [`Shape`](Error::Shape) if `sums` has
    /// another number of features. [`RankDeficient`](Error::RankDeficient) if there are fewer than
    /// p eigenvalues μ_j above the rounding errors of s, √ε·max(1, μ_1).
    pub fn finish<T: Scalar>(
        &self,
        map: &FeatureMap<T>,
        sums: &SpectralSums<T>,
    ) -> Result<SpectralMap<T>> {
        let (p, moments, s) = (self.components, &sums.moments, sums.total.col(0));
        validate::not_empty("components", p)?;
        validate::not_empty("rows", moments.rows())?;
        validate::same_size("features of the sums", map.rank(), moments.features())?;

        let norm = s.norm_l2().f64();
        let trivial: Vec<f64> = s.iter().map(|s| s.f64() / norm).collect();
        let M = moments.gram_less(1.0, &trivial); //            ΨᵀΨ − ssᵀ/‖s‖²
        let eigen = SymmetricEigen::new(M.as_ref())?;
        let mu = eigen.values();
        let bar = T::EPS.sqrt() * mu[0].max(1.0);
        let rank = mu.iter().take_while(|mu| **mu > bar).count();
        if p > rank {
            return Err(Error::RankDeficient { requested: p, rank });
        }
        let V = with_signs(eigen.vectors().subcols(0, p));
        let beta = Mat::from_fn(trivial.len(), 1 + p, |i, j| match j {
            0 => s[i],
            _ => T::lit(V[(i, j - 1)] / mu[j - 1].sqrt()), // β_j = v_j/√μ_j
        });
        Ok(SpectralMap {
            weights: LandmarkWeights::new(map, beta.as_ref(), vec![T::zero(); 1 + p]),
            eigenvalues: mu[..p].iter().map(|mu| 1.0 - mu).collect(),
            left_over: moments.left_over() / moments.trace(),
        })
    }
}

/// Σ_i K\[J, i\] over all rows i, m numbers; an error for a negative entry.
fn kernel_sums<T: Scalar>(k: &dyn PsdMatrix<T>, J: &[usize]) -> Result<Vec<f64>> {
    let leaf = |rows: Range<usize>| {
        let mut sums = vec![0.0; J.len()];
        for_each_kernel_tile(k, J, rows.into(), |_, k_j| {
            SpectralSums::add_kernel_sums(&mut sums, k_j.rb())
        })?;
        Ok::<_, Error>(sums)
    };
    let plus = |mut a: Vec<f64>, b: Vec<f64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    Ok(RowTree::large(k.dim()).try_reduce_in_order(leaf, plus)?.unwrap_or_default())
}

/// The sums of the second pass of a [`SpectralEmbedding`]: ΨᵀΨ = Σ_i φ_iφ_iᵀ/d_i with the degrees
/// d_i = φ_iᵀs, for rows that come in tiles. O(r²) memory.
///
/// The first pass is Σ_i k_J(x_i), m numbers ([`add_kernel_sums`](Self::add_kernel_sums)).
///
/// ```
/// use faer::Mat;
/// use nystrom_sketch::{FeatureMap, SpectralEmbedding, SpectralSums, Whitening};
/// // landmarks at 0, 1 and 2, and rows between 0 and 2, in one tile
/// let k = |x: f64, y: f64| (-(x - y).powi(2)).exp();
/// let w = Mat::from_fn(3, 3, |i, j| k(i as f64, j as f64));
/// let map = FeatureMap::new(w.as_ref(), Whitening::default())?;
/// let tile = || Mat::from_fn(3, 21, |i, t| k(i as f64, t as f64 / 10.0));
/// let mut total = [0.0; 3];
/// SpectralSums::add_kernel_sums(&mut total, tile().as_ref())?; // first pass
/// let mut sums = SpectralSums::new(&map, &total)?;
/// sums.add(map.apply_in_place(tile().as_mut()), &[1.0; 21])?; // second pass
/// let z = SpectralEmbedding { components: 1 }.finish(&map, &sums)?.transform(tile().as_ref())?;
/// assert!(z[(0, 0)] * z[(0, 20)] < 0.0 && z[(0, 10)].abs() < 1e-9);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SpectralSums<T> {
    total: Mat<T>, // s, r × 1
    moments: FeatureMoments,
}

impl<T: Scalar> SpectralSums<T> {
    /// Adds the kernel values of t rows with the landmarks, `k_j` (m × t), to the sums of the first
    /// pass, m numbers.
    ///
    /// # Errors
    /// [`InvalidParameter`](Error::InvalidParameter) for a negative entry,
    /// [`Shape`](Error::Shape).
    pub fn add_kernel_sums(sums: &mut [f64], k_j: MatRef<'_, T>) -> Result<()> {
        validate::same_size("kernel values of a row", sums.len(), k_j.nrows())?;
        let least = k_j.col_iter().flat_map(|column| column.iter()).copied();
        let least = least.fold(T::zero(), num_traits::Float::min);
        let rule = "at least 0 for all rows; take a kernel without negative values, such as the \
                    Gaussian";
        validate::require(least >= T::zero(), "weight of an edge", least.f64(), rule)?;
        let ones = Mat::full(k_j.ncols(), 1, T::one());
        let tile = ops::times(k_j, ones.as_ref());
        sums.iter_mut().zip(tile.col(0).iter()).for_each(|(sum, value)| *sum += value.f64());
        Ok(())
    }

    /// No rows yet; `kernel_sums` is Σ_i k_J(x_i) over all rows, m numbers.
    ///
    /// # Errors
    /// [`Shape`](Error::Shape), [`NonFinite`](Error::NonFinite).
    pub fn new(map: &FeatureMap<T>, kernel_sums: &[f64]) -> Result<Self> {
        let m = kernel_sums.len();
        validate::same_size("sums of kernel values", map.landmarks(), m)?;
        let mut total = rounded::<T>(MatRef::from_column_major_slice(kernel_sums, m, 1));
        validate::finite("sums of kernel values", total.as_ref())?;
        let total = map.apply_in_place(total.as_mut()).to_owned();
        Ok(SpectralSums { total, moments: FeatureMoments::zeros(map.rank()) })
    }

    /// Adds t rows with features `phi` (r × t, one column a row), which are divided by √d, and
    /// diagonal entries `diag` of K (t numbers): r²t + 4rt flops.
    ///
    /// # Errors
    /// [`NotPositive`](Error::NotPositive) with the number of the row, in the order of addition,
    /// and its degree. [`Shape`](Error::Shape), [`NonFinite`](Error::NonFinite).
    pub fn add(&mut self, phi: MatMut<'_, T>, diag: &[T]) -> Result<()> {
        self.add_from(self.moments.rows(), phi, diag)
    }

    /// As [`add`](Self::add) for rows with the numbers from `first` on.
    fn add_from(&mut self, first: usize, mut phi: MatMut<'_, T>, diag: &[T]) -> Result<()> {
        validate::same_size("features of a row", self.moments.features(), phi.nrows())?;
        validate::same_size("diagonal entries against rows", phi.ncols(), diag.len())?;
        validate::finite("features", phi.rb())?;
        let d = ops::times(self.total.transpose(), phi.rb()); //            d = Φs
        check_degrees(d.row(0).iter().copied(), first)?;
        for (t, phi) in phi.rb_mut().col_iter_mut().enumerate() {
            self.moments.add_traces(diag[t].f64(), phi.rb().squared_norm_l2().f64());
            let root = num_traits::Float::sqrt(d[(0, t)]);
            phi.iter_mut().for_each(|phi| *phi /= root);
        }
        self.moments.add_features(phi.rb());
        Ok(())
    }

    /// n, the number of rows added in the second pass.
    pub fn rows(&self) -> usize {
        self.moments.rows()
    }

    /// The sums of the second pass as numbers, for another process.
    pub fn to_numbers(&self) -> Vec<f64> {
        self.moments.to_numbers()
    }

    /// Sums with the same first pass whose numbers another process sent.
    ///
    /// # Errors
    /// Those of [`FeatureMoments::from_numbers`].
    pub fn from_numbers(&self, numbers: &[f64]) -> Result<Self> {
        let moments = self.moments.from_numbers(numbers)?;
        Ok(SpectralSums { total: self.total.clone(), moments })
    }

    /// Adds the sums over other rows, with the same first pass.
    ///
    /// # Errors
    /// [`Shape`](Error::Shape) if the numbers of features differ,
    /// [`InvalidParameter`](Error::InvalidParameter) if the first passes differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        validate::same_size("features of merged sums", self.total.nrows(), other.total.nrows())?;
        let difference = (&self.total - &other.total).norm_max().f64();
        let rule = "0: both parts take the sums of kernel values over all rows";
        validate::require(difference == 0.0, "difference of the first passes", difference, rule)?;
        self.moments.merge(&other.moments)
    }
}

/// An error for the first degree that is not positive; the rows are numbered from `first` on.
fn check_degrees<T: Scalar>(degrees: impl Iterator<Item = T>, first: usize) -> Result<()> {
    for (t, value) in degrees.map(Scalar::f64).enumerate() {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::NotPositive { what: DEGREES, index: first + t, value });
        }
    }
    Ok(())
}

/// The result of [`SpectralEmbedding`]: a map of points to p coordinates.
#[derive(Debug, Clone)]
#[must_use]
pub struct SpectralMap<T> {
    weights: LandmarkWeights<T>, // of the degree, then of the coordinates times the degree
    eigenvalues: Vec<f64>,
    left_over: f64,
}

impl<T: Scalar> SpectralMap<T> {
    /// ν_1 ≤ … ≤ ν_p, eigenvalues of the normalised Laplacian I − D^{-1/2}LD^{-1/2} without the
    /// trivial 0. As many are near 0 as the graph has parts that are hardly connected, less one.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// tr(K − L)/tr K, the share of the weights of rows with themselves that the landmarks leave.
    pub fn left_over(&self) -> f64 {
        self.left_over
    }

    /// θ (m × (1 + p)): the first entry of θᵀk_J(x) is the degree of a point, and the others
    /// divided by it are the coordinates.
    pub fn weights(&self) -> MatRef<'_, T> {
        self.weights.theta()
    }

    /// The coordinates of t points (p × t, one column a point) from their kernel values with the
    /// landmarks, `k_j` (m × t): 2m(1 + p)t flops.
    ///
    /// # Errors
    /// [`NotPositive`](Error::NotPositive) with the number of a point whose degree is not positive:
    /// it is far from all landmarks. [`Shape`](Error::Shape), [`NonFinite`](Error::NonFinite).
    pub fn transform(&self, k_j: MatRef<'_, T>) -> Result<Mat<T>> {
        self.transform_from(0, k_j)
    }

    fn transform_from(&self, first: usize, k_j: MatRef<'_, T>) -> Result<Mat<T>> {
        let values = self.weights.checked_values(k_j)?;
        check_degrees(values.row(0).iter().copied(), first)?;
        let coordinate = |j, t| values[(1 + j, t)] / values[(0, t)];
        Ok(Mat::from_fn(self.eigenvalues.len(), k_j.ncols(), coordinate))
    }

    /// The coordinates of the rows of `k`, n × p, in one pass over K\[:, J\].
    ///
    /// # Errors
    /// Those of [`transform`](Self::transform), and [`Shape`](Error::Shape) if the landmarks belong
    /// to a matrix of another order.
    pub fn transform_rows(&self, k: &dyn PsdMatrix<T>, landmarks: &Landmarks) -> Result<Mat<T>> {
        let p = self.eigenvalues.len();
        over_rows(k, landmarks, p, |first, k_j| self.transform_from(first, k_j))
    }
}
