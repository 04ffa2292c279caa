//! Squared leave-one-out and training residuals over tiles of rows.

use faer::{Mat, MatRef};
use nystrom_linalg_core::ops;

/// One tile in weighted coordinates, b rows for L ridges and t targets.
pub(crate) struct Residuals {
    /// √w_i (y_i − f(x_i)), b × Lt, targets side by side for each ridge.
    pub e: Mat<f64>,
    /// 1 − h_i, b × L.
    pub rest: Mat<f64>,
}

impl Residuals {
    /// Residuals of some rows of exact regression, from the eigenvectors U of √D K √D, c(μ) and
    /// 1/(σ_j + μ): e_i = μγ_i and 1 − h_i = μ Σ_j U_ij²/(σ_j + μ).
    pub fn of_eigenvectors(
        U: MatRef<'_, f64>,
        (coefficients, inverses): &(Mat<f64>, Mat<f64>),
        mus: &[f64],
    ) -> Self {
        let (mut e, mut rest) = project(U.transpose(), coefficients, inverses);
        let t = e.ncols() / mus.len();
        for i in 0..U.nrows() {
            (0..e.ncols()).for_each(|c| e[(i, c)] *= mus[c / t]);
            (0..rest.ncols()).for_each(|l| rest[(i, l)] *= mus[l]);
        }
        Residuals { e, rest }
    }

    /// Adds e²/(1 − h)² and e² of rows that count to the columns of `sums`. Of its Lt rows those of
    /// one ridge lie side by side.
    pub fn add_to(&self, sums: &mut Mat<f64>, counts: impl Fn(usize) -> bool) {
        let (rows, columns) = self.e.shape();
        let targets = columns / self.rest.ncols();
        for column in 0..columns {
            for i in (0..rows).filter(|&i| counts(i)) {
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
pub(super) fn project(
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
