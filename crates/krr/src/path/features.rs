//! The path of any whitened features, from one eigendecomposition of their m × m Gram matrix.

use super::errors::{Residuals, project};
use super::family::{Spectrum, SpectrumConstant};
use crate::algebra::svd::{self, Svd};
use crate::data::{TILE_ROWS, all_absolute};
use crate::direct::{Choice, Scales, safe};
use crate::features::{FeatureRows, Tile, Totals};
use crate::sums::{Accumulator, Centered, Equations, NormalSums, Products, QrSums, Sums};
use crate::{SolvedBy, Solver};
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{Result, Ridge, RowTree, Scalar, SymmetricEigen, ops};

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
        let (route, centered) = match by {
            SolvedBy::Qr => ("QR", QrSums::over(rows, Products::Double)?.centered(intercept)),
            // normal equations: a path whitens its features before the pass, not once after it
            _ => ("normal equations", NormalSums::over(rows, products)?.centered(intercept)),
        };
        let floor = safe(scales.trace, products.eps::<T>());
        let (mut spectrum, V) = decompose(centered, &rows.totals, floor)?;
        if let Some(constant) = &mut spectrum.constant {
            let shift = rows.shift.iter().flatten();
            constant.targets.iter_mut().zip(shift).for_each(|(mean, shift)| *mean += shift);
        }
        Ok((spectrum, V, format!("one eigendecomposition for all ridges, by {route}: {reason}")))
    }
}

/// S, g and V, features and targets centred if there is a constant. `floor` is the rounding level
/// of S from normal equations.
///
/// * By normal equations A = ΦᵀDΦ = VSVᵀ and g = VᵀΦᵀDy. S is accurate to about ε·tr A, with ε of
///   the products.
/// * By √DΦ = QR and the singular values of R = U√S Vᵀ, which are accurate to ε·‖Φ‖.
pub(crate) fn decompose(
    Centered { equations, means }: Centered,
    totals: &Totals,
    floor: f64,
) -> Result<(Spectrum, Mat<f64>)> {
    let (values, g, V, floor) = match equations {
        Equations::Normal { A, B } => {
            let eigen = SymmetricEigen::new(A.as_ref())?;
            let V = eigen.vectors().to_owned();
            let values = eigen.values().iter().map(|s| s.max(0.0)).collect();
            (values, transposed_times(&V, &B), V, floor)
        }
        Equations::Qr { R, c, floor } => {
            let Svd { values: s, U, V } = svd::full(R.as_ref())?;
            let Uc = transposed_times(&U, &c);
            let g = Mat::from_fn(s.len(), Uc.ncols(), |i, j| s[i] * Uc[(i, j)]);
            (s.iter().map(|s| s * s).collect(), g, V, floor)
        }
    };
    let constant = means
        .map(|(features, targets)| SpectrumConstant { features: rotate(&V, &features), targets });
    Ok((Spectrum::over(totals, values, g, constant, floor), V))
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
    let pass = Pass::new(data, spectrum, V, mus);
    let mut buffers = pass.buffers();
    let add = |sums: &mut Mat<f64>, tile: &Tile<T>| {
        pass.residuals(&mut buffers, tile).add_to(sums, |i| tile.counts(i));
    };
    data.sum(RowTree::new(data.len()), zeros, add, Mat::merge)
}

/// Residuals of the rows at some μ, from S, g and V.
pub(super) struct Pass<'a, T> {
    data: &'a FeatureRows<'a, T>,
    V: MatRef<'a, f64>,
    /// c(μ) and 1/(s_j + μ), for all μ side by side.
    coefficients: Mat<f64>,
    inverses: Mat<f64>,
    center: Centering<'a>,
    mus: &'a [f64],
}

/// A tile in `f64`, and its rows in the basis of eigenvectors.
pub(super) struct ResidualBuffers {
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
        Pass { data, V, coefficients, inverses, center: Centering::new(data, spectrum), mus }
    }

    pub fn buffers(&self) -> ResidualBuffers {
        let u = Mat::zeros(self.V.ncols(), TILE_ROWS.min(self.data.len()));
        ResidualBuffers { wide: Mat::new(), u }
    }

    /// √w_i(y_i − f(x_i)) and 1 − h_i of the rows of one tile.
    ///
    /// 1 − h_i is a difference here, accurate to about mε: enough unless the fit interpolates. It
    /// is never let below the value it would have if all other samples were orthogonal to the i-th.
    /// In exact arithmetic that value is a lower bound.
    pub fn residuals(
        &self,
        ResidualBuffers { wide, u }: &mut ResidualBuffers,
        tile: &Tile<T>,
    ) -> Residuals {
        let Pass { data, V, coefficients, inverses, center, mus } = self;
        let (L, t) = (mus.len(), data.targets());
        let z = tile.wide_Z(wide).subcols(0, V.nrows());
        let mut u = u.as_mut().subcols_mut(0, tile.rows());
        ops::matmul(u.rb_mut(), Accum::Replace, V.transpose(), z.transpose(), 1.0);
        center.subtract(u.rb_mut(), tile); //                            u_i = √w_i Vᵀ(φ(x_i) − φ̄)
        let (fit, leverage) = project(u.rb(), coefficients, inverses);
        let e =
            Mat::from_fn(tile.rows(), L * t, |i, c| center.target(tile, i, c % t) - fit[(i, c)]);
        let rest = Mat::from_fn(tile.rows(), L, |i, l| {
            let (share, norm2) = (center.share(tile, i), u.rb().col(i).squared_norm_l2());
            let alone =
                1.0 / (1.0 + share / (1.0 - share) + norm2 / ((1.0 - share).powi(2) * mus[l]));
            (1.0 - share - leverage[(i, l)]).max(alone)
        });
        Residuals { e, rest }
    }
}

/// The means that a constant subtracts from the rows of a tile; none without a constant.
struct Centering<'a> {
    constant: Option<&'a SpectrumConstant>,
    /// Which column of Z holds √w_i: m, if there is a constant.
    column: usize,
    total_weight: f64,
    shift: &'a [f64],
}

impl<'a> Centering<'a> {
    fn new<T: Scalar>(rows: &'a FeatureRows<'_, T>, spectrum: &'a Spectrum) -> Self {
        let shift = rows.shift.as_deref().unwrap_or(&[]);
        let (constant, total_weight) = (spectrum.constant.as_ref(), spectrum.total_weight);
        Centering { constant, column: rows.source.features(), total_weight, shift }
    }

    fn subtract<T: Scalar>(&self, mut u: faer::MatMut<'_, f64>, tile: &Tile<T>) {
        let Some(constant) = self.constant else { return };
        for i in 0..tile.rows() {
            let root_w = tile.Z()[(i, self.column)].f64();
            for j in 0..u.nrows() {
                u[(j, i)] -= root_w * constant.features[j];
            }
        }
    }

    /// √w_i (y_ij − ȳ_j); the tile holds √w_i (y_ij − shift_j).
    fn target<T: Scalar>(&self, tile: &Tile<T>, i: usize, j: usize) -> f64 {
        let mean = self.constant.map_or(0.0, |constant| constant.targets[j] - self.shift[j]);
        tile.Y()[(i, j)].f64()
            - if mean == 0.0 { 0.0 } else { tile.Z()[(i, self.column)].f64() * mean }
    }

    /// w_i/Σw, the constant's part of h_i.
    fn share<T: Scalar>(&self, tile: &Tile<T>, i: usize) -> f64 {
        self.constant.map_or(0.0, |_| tile.Z()[(i, self.column)].f64().powi(2) / self.total_weight)
    }
}

/// aᵀb.
pub(super) fn transposed_times(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    ops::times(a.transpose(), b.as_ref())
}

/// Vᵀa.
pub(super) fn rotate(V: &Mat<f64>, a: &[f64]) -> Vec<f64> {
    let a = Mat::from_fn(a.len(), 1, |i, _| a[i]);
    transposed_times(V, &a).col(0).iter().copied().collect()
}

use faer::reborrow::*;
