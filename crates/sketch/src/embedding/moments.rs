//! Sums over rows of Nyström features: their mean, their second moments, and the part of the trace
//! of K that they leave.

use crate::NystromStream;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{GramSums, PackedLower, Result, RowTree, Scalar, validate};

/// n, Σφ(x), Σφ(x)φ(x)ᵀ, tr K and tr(K − L) over n rows with Nyström features φ (r numbers each),
/// in `f64`: r²/2 + 129r numbers of memory.
///
/// For rows that come in tiles: [`FeatureMap::apply_in_place`](crate::FeatureMap::apply_in_place)
/// makes the features of a tile of its kernel values. [`merge`](Self::merge) adds sums over parts
/// of the rows. [`KernelPca::finish`](crate::KernelPca::finish) takes the result.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_sketch::{FeatureMap, FeatureMoments, Whitening};
/// // two landmarks at 0 and 1, and rows at 0, 0.5 and 1
/// let k = |x: f64, y: f64| (-(x - y).powi(2)).exp();
/// let w = Mat::from_fn(2, 2, |i, j| k(i as f64, j as f64));
/// let map = FeatureMap::new(w.as_ref(), Whitening::default())?;
/// let mut sums = FeatureMoments::zeros(map.rank());
/// let mut k_j = Mat::from_fn(2, 3, |i, t| k(i as f64, t as f64 / 2.0));
/// sums.add(map.apply_in_place(k_j.as_mut()).as_ref(), &[1.0; 3])?;
/// assert!(sums.rows() == 3 && (0.1..0.12).contains(&sums.left_over()));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct FeatureMoments {
    sums: GramSums, // ΦᵀΦ and Φᵀ1
    rows: usize,
    trace: f64,
    left_over: f64,
}

impl FeatureMoments {
    /// The sums over no rows, for r = `features` features.
    pub fn zeros(features: usize) -> Self {
        let sums = GramSums::zeros(features, 1);
        FeatureMoments { sums, rows: 0, trace: 0.0, left_over: 0.0 }
    }

    /// Adds t rows with features `phi` (r × t, one column a row) and diagonal entries `diag` of K
    /// (t numbers k(x, x)): r²t + 2rt flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite). The sums are then as they were.
    pub fn add<T: Scalar>(&mut self, phi: MatRef<'_, T>, diag: &[T]) -> Result<()> {
        validate::same_size("features of a row", self.features(), phi.nrows())?;
        validate::same_size("diagonal entries against rows", phi.ncols(), diag.len())?;
        validate::finite("features", phi)?;
        validate::finite("diagonal of K", MatRef::from_column_major_slice(diag, diag.len(), 1))?;
        for (k_ii, phi) in diag.iter().zip(phi.col_iter()) {
            self.trace += k_ii.f64();
            self.left_over += (k_ii.f64() - phi.squared_norm_l2().f64()).max(0.0);
        }
        self.add_features(phi);
        Ok(())
    }

    /// Adds rows without their part of the traces.
    pub(super) fn add_features<T: Scalar>(&mut self, phi: MatRef<'_, T>) {
        self.rows += phi.ncols();
        self.sums.add(phi.transpose(), Mat::full(phi.ncols(), 1, T::one()).as_ref());
    }

    /// Adds the part of the traces that rows have, without their features.
    pub(super) fn add_traces(&mut self, k_ii: f64, l_ii: f64) {
        self.trace += k_ii;
        self.left_over += (k_ii - l_ii).max(0.0);
    }

    /// Adds the sums over other rows, with features of the same map.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if their numbers of features differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        validate::same_size("features of merged sums", self.features(), other.features())?;
        self.plus(other);
        Ok(())
    }

    pub(super) fn plus(&mut self, other: &Self) {
        self.sums += &other.sums;
        self.rows += other.rows;
        self.trace += other.trace;
        self.left_over += other.left_over;
    }

    /// The sums as numbers, for another process.
    pub fn to_numbers(&self) -> Vec<f64> {
        let GramSums { gram, moments } = &self.sums;
        let triangle = (0..gram.order()).flat_map(|j| gram.col(j).iter().copied());
        let head = [self.rows as f64, self.trace, self.left_over];
        head.into_iter().chain(moments.col(0).iter().copied()).chain(triangle).collect()
    }

    /// Sums of as many features whose numbers another process sent.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another number of numbers,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn from_numbers(&self, numbers: &[f64]) -> Result<Self> {
        let r = self.features();
        validate::same_size("numbers of the sums", 3 + r + r * (r + 1) / 2, numbers.len())?;
        validate::finite("sums", MatRef::from_column_major_slice(numbers, numbers.len(), 1))?;
        let (head, rest) = numbers.split_at(3);
        let (moments, triangle) = rest.split_at(r);
        let mut entries = triangle.iter();
        let gram = PackedLower::from_fn(r, |_, _| entries.next().copied().unwrap_or(0.0));
        let moments = MatRef::from_column_major_slice(moments, r, 1).to_owned();
        let (rows, trace, left_over) = (head[0] as usize, head[1], head[2]);
        Ok(FeatureMoments { sums: GramSums { gram, moments }, rows, trace, left_over })
    }

    /// The sums over all rows of L, along the tree of the rows; `diag` is the diagonal of K.
    pub(super) fn over<T: Scalar>(l: &NystromStream<'_, T>, diag: &[T]) -> Result<Self> {
        let r = l.map().rank();
        let leaf = |rows| {
            let mut sums = Self::zeros(r);
            l.for_each_tile(rows, |tile, phi| sums.add(phi.rb(), &diag[tile]))?;
            Ok(sums)
        };
        let plus = |mut a: Self, b: Self| {
            a.plus(&b);
            a
        };
        let sums = RowTree::large(l.dim()).try_reduce_in_order(leaf, plus)?;
        Ok(sums.unwrap_or_else(|| Self::zeros(r)))
    }

    /// n, the number of rows added.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// r, the number of features.
    pub fn features(&self) -> usize {
        self.sums.gram.order()
    }

    /// tr K of the rows added.
    pub fn trace(&self) -> f64 {
        self.trace
    }

    /// tr(K − L) ≥ 0 of the rows added.
    pub fn left_over(&self) -> f64 {
        self.left_over
    }

    /// φ̄ = Σφ/n, r numbers.
    pub(super) fn mean(&self) -> Vec<f64> {
        self.sums.moments.col(0).iter().map(|sum| sum / self.rows as f64).collect()
    }

    /// ΦᵀΦ/n − aaᵀ on and below the diagonal, r × r.
    pub(super) fn gram_less(&self, n: f64, a: &[f64]) -> Mat<f64> {
        let entry = |i, j| if i >= j { self.sums.gram.get(i, j) / n - a[i] * a[j] } else { 0.0 };
        Mat::from_fn(a.len(), a.len(), entry)
    }
}
