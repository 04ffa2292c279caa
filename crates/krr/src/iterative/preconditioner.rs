//! The preconditioners of Falkon and KRILL.

use super::system::RowProducts;
use crate::SolvedBy;
use crate::algebra::ROWS_PER_CENTER;
use crate::data::TILE_ROWS;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, Streams, ops};

/// Columns of Falkon's preconditioner that are computed at once.
const PANEL: usize = 256;

/// Which preconditioner a restricted fit takes.
#[derive(Clone, Copy)]
pub(crate) enum Preconditioner {
    Falkon,
    /// With the random numbers of its embedding.
    Krill(Streams),
}

impl Preconditioner {
    pub fn solver(self) -> SolvedBy {
        match self {
            Preconditioner::Falkon => SolvedBy::Falkon,
            Preconditioner::Krill(_) => SolvedBy::Krill,
        }
    }

    /// Passes over the rows that it takes.
    pub fn passes(self) -> usize {
        usize::from(matches!(self, Preconditioner::Krill(_)))
    }

    /// Numbers held at the peak in R, G and what G is made from, for m centres.
    pub fn numbers(self, m: u64) -> u64 {
        match self {
            Preconditioner::Falkon => falkon_numbers(m),
            Preconditioner::Krill(_) => krill_numbers(m),
        }
    }

    /// G with GGᵀ ≈ ΦᵀDΦ + μI, for Φ = K_nm R⁻ᵀ.
    pub fn factor(
        self,
        rows: &mut impl RowProducts,
        R: &Cholesky<f64>,
        omega: &[f64],
        mu: f64,
    ) -> Result<Cholesky<f64>> {
        match self {
            Preconditioner::Falkon => falkon(R, omega, mu),
            Preconditioner::Krill(streams) => krill(rows.embedding(streams)?, R, mu),
        }
    }
}

/// Numbers held in R, G and the panel that G is made from.
pub(crate) fn falkon_numbers(m: u64) -> u64 {
    2 * m * m + PANEL as u64 * m
}

/// Numbers held in R, G, the embedding and the rows that are added to it.
pub(crate) fn krill_numbers(m: u64) -> u64 {
    (2 + ROWS_PER_CENTER as u64) * m * m + 2 * TILE_ROWS as u64 * m
}

/// G with GGᵀ = RᵀΩR + μI. In Falkon's paper this matrix is n·AᵀA, with T = Rᵀ. It equals ΦᵀΦ + μI
/// if every point is a centre, since then Φ = K_nm R⁻ᵀ = R. (2m³/3 + 256m²) + m³/3 flops.
pub(crate) fn falkon(R: &Cholesky<f64>, omega: &[f64], mu: f64) -> Result<Cholesky<f64>> {
    let (m, R) = (R.order(), R.lower());
    let fill = |mut out: MatMut<'_, f64>| {
        for start in (0..m).step_by(PANEL) {
            // R is lower triangular: rows from `start` on
            let (below, width) = (m - start, PANEL.min(m - start));
            let R = R.submatrix(start, start, below, below);
            let scaled = Mat::from_fn(below, width, |i, j| omega[start + i] * R[(i, j)]);
            let panel = out.rb_mut().submatrix_mut(start, start, below, width);
            ops::matmul(panel, Accum::Replace, R.transpose(), scaled.as_ref(), 1.0);
        }
        ops::add_to_diagonal(out, mu);
    };
    // a shift would change the speed, not the solution
    Cholesky::from_fill(m, fill, JitterLadder::default())
}

/// G with GGᵀ = SᵀS + μI, S = Ψ√D K_nm R⁻ᵀ, from (Ψ√D K_nm)ᵀ, m × 2m.
pub(crate) fn krill(mut St: Mat<f64>, R: &Cholesky<f64>, mu: f64) -> Result<Cholesky<f64>> {
    R.forward_in_place(St.as_mut()); //                             Sᵀ = R⁻¹(ΨK_nm)ᵀ
    let fill = |mut out: MatMut<'_, f64>| {
        ops::gram_lower(out.rb_mut(), Accum::Replace, St.transpose(), 1.0);
        ops::add_to_diagonal(out, mu);
    };
    Cholesky::from_fill(R.order(), fill, JitterLadder::default())
}
