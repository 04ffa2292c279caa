//! The Cholesky factor of K_YY under exchanges of one item: for a K_YY that is ill-conditioned.
//!
//! # Accuracy
//! An error E in K_YY = LLᵀ changes the inverse by about cond(K_YY)·‖E‖/‖K_YY‖ relative, and LLᵀ =
//! K_YY + E with ‖E‖ ≈ ε‖K_YY‖ is all a factorisation in `f64` can promise: at a condition of 1e10
//! it is 1e-9 … 1e-8 off, and rotations add to that. An error Δ in L itself, ‖Δ‖ ≈ ε‖L‖, changes
//! the inverse by cond(L)·ε = cond(K_YY)^½·ε only, 1e-11 there. But the factor of the next set
//! inherits E = LΔᵀ + ΔLᵀ as any other error: L must be known better than to `f64` all along. Hence
//! **where K_YY is ill-conditioned the factor is kept to 32 digits** (`wide.rs`): it is computed,
//! extended by a row and rotated so. What a proposal reads is its leading half, L to the last place
//! of an `f64`, at the cost of an `f64`; only an exchange that is carried out pays for both halves,
//! two to four times. Elsewhere all is `f64`.

use super::principal::Principal;
use super::triangle::Triangle;
use super::volume::Exchange;
use faer::MatRef;
use nystrom_linalg_core::{Error, Result};

/// Relative error of a diagonal entry of LLᵀ at which the factor is computed afresh at once, in
/// units of c·ε.
const DRIFT: f64 = 100.0;
/// A squared pivot L_jj², the residual of an item beside those before it, of less than this times
/// K_jj asks for 32 digits. In `f64` the inverse is then known to about 5e-18·c/THIN, 1e-10 for c =
/// 200, at the pivots' word on the condition, and has two digits in reserve.
const THIN: f64 = 1e-5;

/// K_YY = LLᵀ for c items, in `f64` whatever the scalar of K is, with room for one item more.
///
/// An item keeps its position; its row of L moves up when an earlier one leaves.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    c: usize,
    L: Triangle,
    wide: bool,       // whether L is kept to 32 digits
    rows: Vec<usize>, // the position that each row of L belongs to
    k: Vec<f64>,      // K_{Y,u} of the last proposal, by rows
    z: Vec<f64>,
    h: Vec<f64>,
}

impl Factor {
    /// Room for c items.
    pub fn with_room(c: usize) -> Self {
        let L = Triangle::zeros(c);
        let (z, h) = (L.vector(), L.vector());
        Factor { c, L, wide: false, rows: (0..c).collect(), k: vec![0.0; c], z, h }
    }

    /// L of K, given the one in `f64`: that, or one to 32 digits, c³/6 multiply-adds of those,
    /// where it is needed.
    ///
    /// # Errors
    /// `NotPositiveDefinite` if even 32 digits do not make K so; the factor is then as before.
    pub fn set(&mut self, plain: MatRef<'_, f64>, K: &Principal) -> Result<()> {
        let thin = |j: usize| plain[(j, j)].powi(2) < THIN * K.at(j, j);
        if (0..self.c).any(thin) {
            return self.set_wide(K);
        }
        self.wide = false;
        self.L.set(plain);
        (0..self.c).for_each(|row| self.rows[row] = row);
        Ok(())
    }

    /// L to 32 digits, row by row, as an exchange extends it. Errors as [`set`](Self::set).
    pub fn set_wide(&mut self, K: &Principal) -> Result<()> {
        let mut L = Triangle::zeros(self.c);
        for m in 0..self.c {
            if L.extend_wide(m, K.column(m), K.at(m, m)) <= 0.0 {
                return Err(Error::NotPositiveDefinite { order: self.c, pivot: m, jitter: 0.0 });
            }
        }
        (self.L, self.wide) = (L, true);
        (0..self.c).for_each(|row| self.rows[row] = row);
        Ok(())
    }

    fn row_of(&self, position: usize) -> usize {
        self.rows.iter().position(|&p| p == position).expect("every position has a row")
    }

    /// As [`Volume::exchange`](super::volume::Volume::exchange): with z = L⁻¹k and h = L⁻¹e_v, **ρ
    /// = γ‖h‖² + (hᵀz)²**, γ = κ − ‖z‖². About 2c²/3 multiply-adds.
    pub fn exchange(&mut self, v: usize, k: &[f64], kappa: f64, rounding: f64) -> Exchange {
        let row = self.row_of(v);
        let Factor { c, L, z, h, rows, .. } = self;
        self.k.iter_mut().zip(rows).for_each(|(to, position)| *to = k[*position]);
        z[..*c].copy_from_slice(&self.k);
        h.fill(0.0);
        h[row] = 1.0;
        let [zz, hh, hz] = L.solve_both(z, h, row);
        Exchange::new(v, k, kappa, [zz, hh, hz], rounding)
    }

    /// Carries out the last [`exchange`](Self::exchange) looked at.
    ///
    /// L of Y + u is L with the row (zᵀ, √γ) below (to 32 digits: c²/2 multiply-adds); leaving out
    /// the row of v is a sequence of plane rotations of the columns behind it, at most c²/2 of them
    /// element by element, c²/6 on average.
    pub fn carry_out(&mut self, exchange: &Exchange) {
        let row = self.row_of(exchange.position);
        let Factor { L, z, .. } = self;
        if self.wide {
            L.extend_wide(self.c, &self.k, exchange.kappa);
            L.delete_wide(row);
        } else {
            L.append(z, exchange.gamma.sqrt());
            L.delete(row);
        }
        self.rows.remove(row);
        self.rows.push(exchange.position);
    }

    /// Whether L is in `f64` and a squared pivot so small that it should not be. O(c).
    pub fn is_too_thin(&self, K: &Principal) -> bool {
        let pivots = self.L.inverse_diagonal().iter().zip(&self.rows);
        !self.wide && pivots.into_iter().any(|(l, &p)| l * l * K.at(p, p) * THIN > 1.0)
    }

    /// Whether the diagonal entry of LLᵀ in row p is off by more than 100·c·ε relative. O(c).
    pub fn has_drifted(&self, p: usize, K: &Principal) -> bool {
        let k = K.at(self.rows[p], self.rows[p]);
        let product = if self.wide {
            self.L.diagonal_of_product_wide(p)
        } else {
            (0..=p).map(|j| self.L.at(p, j).powi(2)).sum()
        };
        !((product - k).abs() <= DRIFT * self.c as f64 * f64::EPSILON * k)
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        (0..self.c).map(|j| 2.0 * self.L.at(j, j).ln()).sum()
    }

    /// K_YY⁻¹ by positions, column by column. c³ flops.
    pub fn inverse(&self) -> faer::Mat<f64> {
        let c = self.c;
        let L = faer::Mat::from_fn(c, c, |i, j| if i >= j { self.L.at(i, j) } else { 0.0 });
        let mut X = faer::Mat::<f64>::identity(c, c);
        nystrom_linalg_core::ops::solve_lower(L.as_ref(), X.as_mut());
        nystrom_linalg_core::ops::solve_upper(L.transpose(), X.as_mut());
        let row: Vec<usize> = (0..c).map(|position| self.row_of(position)).collect();
        faer::Mat::from_fn(c, c, |i, j| X[(row[i].max(row[j]), row[i].min(row[j]))])
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj), at c³/3 flops.
    pub fn residual(&self, K: &Principal) -> f64 {
        let entry = |i: usize, j: usize| {
            let sum: f64 = (0..=j.min(i)).map(|k| self.L.at(i, k) * self.L.at(j, k)).sum();
            let (i, j) = (self.rows[i], self.rows[j]);
            (sum - K.at(i, j)).abs() / (K.at(i, i).sqrt() * K.at(j, j).sqrt())
        };
        (0..self.c)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| entry(i, j))
            .fold(0.0, f64::max)
    }
}
