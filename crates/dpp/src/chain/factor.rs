//! The Cholesky factor of K_YY, from which the ratios of proposals are computed.
//!
//! # Accuracy
//! An error E in K_YY = LLᵀ changes the inverse by about cond(K_YY)·‖E‖/‖K_YY‖ relative. A
//! factorisation in `f64` guarantees only LLᵀ = K_YY + E with ‖E‖ ≈ ε‖K_YY‖: at a condition number
//! of 1e10 the relative error of the inverse is 1e-9 to 1e-8. An error Δ in L itself, ‖Δ‖ ≈ ε‖L‖,
//! changes the inverse by only cond(L)·ε = cond(K_YY)^½·ε, 1e-11 in this example. Hence **for
//! ill-conditioned K_YY, L is computed to 32 digits** (`wide.rs`) and rounded. The test for this is
//! relative to K_jj, so that the scales of the items do not matter.

use super::principal::Principal;
use super::rows::Rows;
use faer::Mat;
use nystrom_linalg_core::{Cholesky, Error, JitterLadder, Result};

/// If a squared pivot L_jj² (the residual of an item given those before it) is less than this times
/// K_jj, the factor is computed to 32 digits. Otherwise `f64` gives the inverse with a relative
/// error of about 5e-18·c/THIN, 1e-10 for c = 200, provided that the pivots show the condition
/// number. That is two digits more than needed.
const THIN: f64 = 1e-5;

/// The factor L of K_YY = LLᵀ for c items, in `f64` for K of either precision; Lᵀ is stored row by
/// row.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    c: usize,
    Lt: Rows,
    inverse: Vec<f64>, // 1/L_ii
}

impl Factor {
    /// The factor of K. c³/3 flops, and c³/6 multiply-adds with 32 digits if these are needed.
    ///
    /// # Errors
    /// `NotPositiveDefinite` if K has no factor even with 32 digits.
    pub fn new(K: &Principal) -> Result<Self> {
        let c = K.size();
        let mut factor = Factor { c, Lt: Rows::zeros(c, c), inverse: vec![0.0; c] };
        factor.compute(K)?;
        Ok(factor)
    }

    /// Recomputes the factor for another K of the same size. If K has no factor because of rounding
    /// errors, factorises K + δI with a δ of the size of these errors.
    pub fn update(&mut self, K: &Principal) -> Result<()> {
        if self.compute(K).is_ok() {
            return Ok(());
        }
        let L = Cholesky::with_jitter(K.matrix(), JitterLadder::default())?;
        for i in 0..self.c {
            self.Lt.row_mut(i).iter_mut().zip(L.lower().col(i).iter()).for_each(|(u, l)| *u = *l);
            self.inverse[i] = L.lower()[(i, i)].recip();
        }
        Ok(())
    }

    fn compute(&mut self, K: &Principal) -> Result<()> {
        self.copy(K);
        let plain = self.Lt.factorise(self.c, &mut self.inverse);
        let thin = |(i, l): (usize, &f64)| THIN * K.at(i, i) * l * l > 1.0;
        if plain.is_ok() && !self.inverse.iter().enumerate().any(thin) {
            return Ok(());
        }
        self.copy(K);
        let wide = self.Lt.factorise_wide(self.c, &mut self.inverse);
        wide.map_err(|pivot| Error::NotPositiveDefinite { order: self.c, pivot, jitter: 0.0 })
    }

    fn copy(&mut self, K: &Principal) {
        (0..self.c).for_each(|i| self.Lt.row_mut(i)[..self.c].copy_from_slice(K.column(i)));
    }

    /// W ← L⁻¹W.
    pub fn solve(&self, W: &mut Rows) {
        self.Lt.solve(&self.inverse, self.c, W);
    }

    /// Lᵀ and 1/L_ii.
    pub fn parts(&self) -> (&Rows, &[f64]) {
        (&self.Lt, &self.inverse)
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        (0..self.c).map(|i| 2.0 * self.Lt.at(i, i).ln()).sum()
    }

    /// K_YY⁻¹ by positions. 3c³ flops.
    pub fn inverse(&self) -> Mat<f64> {
        let c = self.c;
        let mut W = Rows::zeros(c, c);
        (0..c).for_each(|i| W.row_mut(i)[i] = 1.0);
        self.solve(&mut W);
        let mut negative = Rows::zeros(c, c);
        negative.subtract_gram(&W);
        Mat::from_fn(c, c, |i, j| -negative.at(i, j))
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj), at c³/3 flops.
    pub fn residual(&self, K: &Principal) -> f64 {
        let entry = |i: usize, j: usize| {
            let sum: f64 = (0..=j).map(|k| self.Lt.at(k, i) * self.Lt.at(k, j)).sum();
            (sum - K.at(i, j)).abs() / (K.at(i, i).sqrt() * K.at(j, j).sqrt())
        };
        let lower = (0..self.c).flat_map(|i| (0..=i).map(move |j| (i, j)));
        lower.map(|(i, j)| entry(i, j)).fold(0.0, f64::max)
    }
}
