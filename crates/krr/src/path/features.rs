//! The path of any whitened features, from one eigendecomposition of their m × m Gram matrix.

use super::family::{Spectrum, SpectrumConstant};
use crate::data::{TILE_ROWS, all_absolute};
use crate::direct::{Choice, Scales, safe};
use crate::features::{FeatureRows, Tile, Totals};
use crate::sums::{Accumulator, Decomposed, NormalSums, Products, QrSums, Sums};
use crate::{SolvedBy, Solver};
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{Result, Ridge, RowTree, Scalar, ops};

/// Eigenvalues are dropped from S if their sum is less than this times the smallest μ.
const NEGLIGIBLE: f64 = 1e-13;

impl Solver {
    /// S, g and V by the method that the smallest ridge needs, and why.
    pub(crate) fn spectrum<T: Scalar>(
        self,
        rows: &FeatureRows<'_, T>,
        ridges: &[Ridge<T>],
    ) -> Result<(Spectrum, Mat<f64>, String)> {
        let mu = all_absolute(ridges, rows.len())?.into_iter().fold(f64::INFINITY, f64::min);
        let scales = Scales { mu, trace: rows.totals.trace, once: f64::INFINITY };
        let Choice { by, reason, .. } = self.choose::<T>(&scales);
        let products =
            if mu >= safe(scales.trace, T::EPS) { Products::Scalar } else { Products::Double };
        let intercept = rows.shift.is_some();
        let (route, decomposed) = match by {
            SolvedBy::Qr => ("QR", QrSums::over(rows, Products::Double)?.decomposed(intercept)),
            // normal equations: a path whitens its features before the pass, not once after it
            _ => ("normal equations", NormalSums::over(rows, products)?.decomposed(intercept)),
        };
        let floor = safe(scales.trace, products.eps::<T>());
        let (spectrum, V) =
            Spectrum::of_features(decomposed?, &rows.totals, floor, rows.shift.as_deref());
        Ok((spectrum, V, format!("one eigendecomposition for all ridges, by {route}: {reason}")))
    }
}

impl Spectrum {
    /// Of the features of rows with these totals, and V. `floor` is the rounding level of S from
    /// normal equations, `shift` what was subtracted from the targets if there is a constant.
    pub(crate) fn of_features(
        Decomposed { values, g, V, means, floor: level }: Decomposed,
        totals: &Totals,
        floor: f64,
        shift: Option<&[f64]>,
    ) -> (Self, Mat<f64>) {
        let (n, rows) = (totals.rows as usize, totals.positive as usize);
        let (total_weight, floor) = (totals.weight, level.unwrap_or(floor));
        let constant = means.map(|(features, mut targets)| {
            targets.iter_mut().zip(shift.into_iter().flatten()).for_each(|(mean, by)| *mean += by);
            SpectrumConstant { features: rotate(&V, &features), targets }
        });
        (Spectrum { n, values, g, constant, rows, total_weight, floor }, V)
    }
}

/// A second pass over the rows: sums of squared leave-one-out and training residuals at all μ,
/// Lt × 2, for about 2nm² + 2nmL(1 + t) flops.
pub(crate) fn sums<T: Scalar>(
    data: &FeatureRows<'_, T>,
    spectrum: &Spectrum,
    V: &Mat<f64>,
    mus: &[f64],
) -> Result<Mat<f64>> {
    let zeros = || Mat::zeros(mus.len() * data.targets(), 2);
    let mut pass = Pass::new(data, spectrum, V, mus);
    let add = |sums: &mut Mat<f64>, tile: &Tile<T>| pass.residuals(tile).add_to(sums);
    data.sum(RowTree::new(data.len()), zeros, add, Mat::merge)
}

/// One tile in weighted coordinates, b rows for L ridges and t targets.
pub(super) struct Residuals {
    /// √w_i (y_i − f(x_i)), b × Lt, targets side by side for each ridge.
    pub e: Mat<f64>,
    /// 1 − h_i, b × L.
    pub rest: Mat<f64>,
}

impl Residuals {
    /// Residuals of some rows of exact regression, from the eigenvectors U of √D K √D, the roots of
    /// the weights, c(μ) and 1/(σ_j + μ): e_i = μγ_i and 1 − h_i = μ Σ_j U_ij²/(σ_j + μ).
    pub fn of_eigenvectors(
        U: MatRef<'_, f64>,
        root_weights: &[f64],
        (coefficients, inverses): &(Mat<f64>, Mat<f64>),
        mus: &[f64],
    ) -> Self {
        let (mut e, mut rest) = project(U.transpose(), coefficients, inverses);
        let t = e.ncols() / mus.len();
        for i in 0..U.nrows() {
            let counts = if root_weights[i] > 0.0 { 1.0 } else { 0.0 };
            (0..e.ncols()).for_each(|c| e[(i, c)] *= counts * mus[c / t]);
            (0..rest.ncols()).for_each(|l| rest[(i, l)] *= mus[l]);
        }
        Residuals { e, rest }
    }

    /// Adds e²/(1 − h)² and e² to the columns of `sums`. Of its Lt rows those of one ridge lie side
    /// by side. For a row of weight 0, e is 0.
    pub fn add_to(&self, sums: &mut Mat<f64>) {
        let (rows, columns) = self.e.shape();
        let targets = columns / self.rest.ncols();
        for column in 0..columns {
            for i in 0..rows {
                let e = self.e[(i, column)];
                sums[(column, 0)] += (e / self.rest[(i, column / targets)]).powi(2);
                sums[(column, 1)] += e * e;
            }
        }
    }
}

/// For rows u_i (the columns of `u`, r × b) and every μ: u_iᵀc(μ), b × Lt, and Σ_j u_ij²/(s_j + μ),
/// b × L.
///
/// `coefficients` holds the columns c(μ) side by side, `inverses` the columns 1/(s_j + μ): two
/// products for all ridges.
fn project(
    u: MatRef<'_, f64>,
    coefficients: &Mat<f64>,
    inverses: &Mat<f64>,
) -> (Mat<f64>, Mat<f64>) {
    let squares = Mat::from_fn(u.nrows(), u.ncols(), |j, i| u[(j, i)] * u[(j, i)]);
    (
        ops::times(u.transpose(), coefficients.as_ref()),
        ops::times(squares.transpose(), inverses.as_ref()),
    )
}

/// Residuals of the rows at some μ, from S, g and V.
pub(super) struct Pass<'a, T> {
    data: &'a FeatureRows<'a, T>,
    V: MatRef<'a, f64>,
    /// c(μ) and 1/(s_j + μ), for all μ side by side.
    coefficients: Mat<f64>,
    inverses: Mat<f64>,
    mus: &'a [f64],
    /// The means that a constant subtracts from the rows.
    constant: Option<&'a SpectrumConstant>,
    total_weight: f64,
    /// Memory for a tile in `f64`, and for its rows in the basis of eigenvectors.
    wide: Mat<f64>,
    u: Mat<f64>,
}

impl<'a, T: Scalar> Pass<'a, T> {
    pub fn new(
        data: &'a FeatureRows<'a, T>,
        spectrum: &'a Spectrum,
        V: &'a Mat<f64>,
        mus: &'a [f64],
    ) -> Self {
        let smallest = mus.iter().copied().fold(f64::INFINITY, f64::min);
        let kept = spectrum.leading(NEGLIGIBLE * smallest);
        let (coefficients, inverses) = kept.at_all(mus);
        let V = V.as_ref().subcols(0, kept.values.len());
        let (constant, total_weight) = (spectrum.constant.as_ref(), spectrum.total_weight);
        let (wide, u) = (Mat::new(), Mat::zeros(V.ncols(), TILE_ROWS.min(data.len())));
        Pass { data, V, coefficients, inverses, mus, constant, total_weight, wide, u }
    }

    /// √w_i(y_i − f(x_i)) and 1 − h_i of the rows of one tile.
    ///
    /// 1 − h_i is a difference here, accurate to about mε: enough unless the fit interpolates. It
    /// is never let below the value it would have if all other samples were orthogonal to the i-th.
    /// In exact arithmetic that value is a lower bound.
    pub fn residuals(&mut self, tile: &Tile<T>) -> Residuals {
        let Pass { data, V, coefficients, inverses, mus, constant, .. } = self;
        let (rows, m, t) = (tile.rows(), V.nrows(), data.targets());
        let Z = tile.wide_Z(&mut self.wide);
        let root_w = |i: usize| Z[(i, m)]; //                             if there is a constant
        let mut u = self.u.as_mut().subcols_mut(0, rows);
        ops::matmul(u.rb_mut(), Accum::Replace, V.transpose(), Z.subcols(0, m).transpose(), 1.0);
        if let Some(constant) = constant {
            for i in 0..rows {
                for j in 0..u.nrows() {
                    u[(j, i)] -= root_w(i) * constant.features[j];
                }
            }
        } //                                                              u_i = √w_i Vᵀ(φ(x_i) − φ̄)
        let (fit, leverage) = project(u.rb(), coefficients, inverses);
        let shift = data.shift.as_deref().unwrap_or(&[]);
        let mean = |j: usize| constant.map_or(0.0, |constant| constant.targets[j] - shift[j]);
        let means: Vec<f64> = (0..t).map(mean).collect();
        let e = Mat::from_fn(rows, mus.len() * t, |i, c| {
            let mean = means[c % t];
            // √w_i (y_ij − ȳ_j); the tile holds √w_i (y_ij − shift_j)
            let off = if mean == 0.0 { 0.0 } else { root_w(i) * mean };
            tile.Y()[(i, c % t)].f64() - off - fit[(i, c)]
        });
        let rest = Mat::from_fn(rows, mus.len(), |i, l| {
            // w_i/Σw, the constant's part of h_i
            let share = constant.map_or(0.0, |_| root_w(i).powi(2) / self.total_weight);
            let norm2 = u.rb().col(i).squared_norm_l2();
            let alone =
                1.0 / (1.0 + share / (1.0 - share) + norm2 / ((1.0 - share).powi(2) * mus[l]));
            (1.0 - share - leverage[(i, l)]).max(alone)
        });
        Residuals { e, rest }
    }
}

/// Vᵀa.
pub(super) fn rotate(V: &Mat<f64>, a: &[f64]) -> Vec<f64> {
    let a = Mat::from_fn(a.len(), 1, |i, _| a[i]);
    ops::times(V.transpose(), a.as_ref()).col(0).iter().copied().collect()
}

use faer::reborrow::*;
