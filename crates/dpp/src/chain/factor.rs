//! The Cholesky factor of K_YY, from which proposals are judged.
//!
//! # Accuracy
//! An error E in K_YY = LLᵀ changes the inverse by about cond(K_YY)·‖E‖/‖K_YY‖ relative. A
//! factorisation in `f64` can only promise LLᵀ = K_YY + E with ‖E‖ ≈ ε‖K_YY‖. At a condition of
//! 1e10 the inverse is 1e-9 … 1e-8 off. An error Δ in L itself, ‖Δ‖ ≈ ε‖L‖, changes the inverse by
//! cond(L)·ε = cond(K_YY)^½·ε only, 1e-11 there. Hence **where K_YY is ill-conditioned L is
//! computed to 32 digits** (`wide.rs`) and rounded. Scales of the items do not matter.

use super::principal::Principal;
use super::rows::Rows;
use faer::Mat;
use nystrom_linalg_core::{Cholesky, Error, JitterLadder, Result};

/// A squared pivot L_jj², the residual of an item beside those before it, of less than this times
/// K_jj asks for 32 digits. In `f64` the inverse is then known to about 5e-18·c/THIN, 1e-10 for c =
/// 200, if the condition is what the pivots say. That has two digits in reserve.
const THIN: f64 = 1e-5;

/// K_YY = LLᵀ for c items, in `f64` whatever the scalar of K is; Lᵀ is stored, row by row.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    c: usize,
    Lt: Rows,
    inverse: Vec<f64>, // 1/L_ii
}

impl Factor {
    /// Of K. c³/3 flops, or c³/6 multiply-adds of 32 digits where they are needed.
    ///
    /// # Errors
    /// `NotPositiveDefinite` if even 32 digits do not make K so.
    pub fn new(K: &Principal) -> Result<Self> {
        let c = K.size();
        let mut factor = Factor { c, Lt: Rows::zeros(c, c), inverse: vec![0.0; c] };
        factor.compute(K)?;
        Ok(factor)
    }

    /// Of another K of the same size; where rounding errors leave it no factor, of K + δI with a δ
    /// of that size.
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
