//! Sums over rows of features and targets, and least squares from them: what normal equations and
//! QR have in common.

use crate::SolvedBy;
use crate::features::{FeatureRows, Tile};
use crate::sums::Sums;
use faer::Mat;
use nystrom_linalg_core::{Result, RowTree, Scalar};

/// The minimiser of ‖√w(y − Φβ − b)‖² + nλ‖β‖² over β (m × t) and, with an intercept, b (t
/// numbers).
pub(crate) struct Solution {
    pub beta: Mat<f64>,
    pub b: Option<Vec<f64>>,
    /// The ridge solved with.
    pub mu: f64,
    /// (max L_ii / min L_ii)².
    pub condition: f64,
}

/// The precision that products of tiles are taken in; their sums are in `f64` either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Products {
    /// That of the scalar type.
    Scalar,
    /// `f64`: in `f32` half as fast as the other, and the tile is copied.
    Double,
}

impl Products {
    /// ε.
    pub fn eps<T: Scalar>(self) -> f64 {
        match self {
            Products::Scalar => T::EPS,
            Products::Double => f64::EPSILON,
        }
    }
}

/// ΦᵀDΦ = VSVᵀ and g = VᵀΦᵀDY, of features and targets less their weighted means if there is a
/// constant.
pub(crate) struct Decomposed {
    /// The diagonal of S: s_j ≥ 0, largest first.
    pub values: Vec<f64>,
    /// m × t.
    pub g: Mat<f64>,
    pub V: Mat<f64>,
    /// The means of features and of targets that were subtracted.
    pub means: Option<(Vec<f64>, Vec<f64>)>,
    /// The rounding level of S, if these sums know it: that of normal equations depends on the
    /// precision of their products.
    pub floor: Option<f64>,
}

/// A sum over rows of features and targets, with or without a constant:
/// [`NormalSums`](crate::sums::NormalSums) or [`QrSums`](crate::sums::QrSums).
pub(crate) trait Accumulator: Sums {
    /// In the file's head.
    const KIND: u8;
    const SOLVED_BY: SolvedBy;

    /// The sum over no rows, for p features and t targets.
    fn zeros(p: usize, t: usize) -> Self;
    /// Adds the rows of a tile; `wide` is memory for its Z and Y in `f64`.
    fn add<T: Scalar>(
        &mut self,
        tile: &Tile<T>,
        intercept: bool,
        products: Products,
        wide: &mut [Mat<f64>; 2],
    );
    /// β and b at μ.
    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution>;
    /// The problem without its constant, if there is one, in the basis of eigenvectors.
    fn decomposed(&self, intercept: bool) -> Result<Decomposed>;

    /// The sum over all rows, along the row tree: one pass.
    fn over<T: Scalar>(rows: &FeatureRows<'_, T>, products: Products) -> Result<Self> {
        let (intercept, mut wide) = (rows.shift.is_some(), [Mat::new(), Mat::new()]);
        let zeros = || Self::zeros(rows.features(), rows.targets());
        let add = |sums: &mut Self, tile: &_| sums.add(tile, intercept, products, &mut wide);
        rows.sum(RowTree::large(rows.len()), zeros, add, Self::merge)
    }
}

/// (max |d_i| / min |d_i|)² of a triangular factor's diagonal.
pub(crate) fn condition(m: usize, diagonal: impl Fn(usize) -> f64) -> f64 {
    let (low, high) = (0..m)
        .map(|i| diagonal(i).abs())
        .fold((f64::INFINITY, 0.0_f64), |(l, h), d| (l.min(d), h.max(d)));
    (high / low).powi(2)
}
