//! Sums of squared leave-one-out and training residuals over tiles of rows.

use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::ops;

/// One tile in weighted coordinates, b rows for L ridges and t targets.
pub(crate) struct Residuals {
    /// √w_i (y_i − f(x_i)), b × Lt, targets side by side for each ridge.
    pub e: Mat<f64>,
    /// 1 − h_i, b × L.
    pub rest: Mat<f64>,
}

/// Σ e²/(1 − h)² and Σ e² for every ridge and target (ridge-major), over rows of positive weight.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    pub loo: Vec<f64>,
    pub training: Vec<f64>,
    /// Number of rows of positive weight.
    pub rows: usize,
}

impl Sums {
    pub fn zeros(ridges: usize, targets: usize) -> Self {
        Sums { loo: vec![0.0; ridges * targets], training: vec![0.0; ridges * targets], rows: 0 }
    }

    /// Adds a tile; `counts(i)` tells whether row i of it has a positive weight.
    pub fn add(&mut self, tile: &Residuals, counts: impl Fn(usize) -> bool) {
        let (rows, columns, targets) =
            (tile.e.nrows(), tile.e.ncols(), tile.e.ncols() / tile.rest.ncols());
        for column in 0..columns {
            for i in (0..rows).filter(|&i| counts(i)) {
                let e = tile.e[(i, column)];
                self.training[column] += e * e;
                self.loo[column] += (e / tile.rest[(i, column / targets)]).powi(2);
            }
        }
        self.rows += (0..rows).filter(|&i| counts(i)).count();
    }

    pub fn plus(self, other: Self) -> Self {
        let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
        Sums {
            loo: add(self.loo, other.loo),
            training: add(self.training, other.training),
            rows: self.rows + other.rows,
        }
    }
}

/// For rows u_i (the columns of `u`, r × b) and every μ: u_iᵀc(μ), b × Lt, and Σ_j u_ij²/(s_j + μ),
/// b × L.
///
/// `coefficients` holds the columns c(μ) side by side, `inverses` the columns 1/(s_j + μ): two
/// products for all ridges.
pub(super) fn project(
    u: MatRef<'_, f64>,
    coefficients: &Mat<f64>,
    inverses: &Mat<f64>,
) -> (Mat<f64>, Mat<f64>) {
    let squares = Mat::from_fn(u.nrows(), u.ncols(), |j, i| u[(j, i)] * u[(j, i)]);
    let times = |u: MatRef<'_, f64>, b: &Mat<f64>| {
        let mut out = Mat::zeros(u.ncols(), b.ncols());
        ops::matmul(out.as_mut(), Accum::Replace, u.transpose(), b.as_ref(), 1.0);
        out
    };
    (times(u, coefficients), times(squares.as_ref(), inverses))
}
