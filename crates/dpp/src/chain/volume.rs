//! det K_YY under exchanges of one item: how a proposal is judged, and what follows an exchange.
//!
//! # The paper's formula and two ways to it
//! With S = Y − v, Li, Jegelka & Sra (2016) exchange v for u by the ratio
//!
//! ρ = det K_{S+u}/det K_{S+v} = (K_uu − K_uS K_SS⁻¹ K_Su)/(K_vv − K_vS K_SS⁻¹ K_Sv)
//!
//! and follow the inverse by block-inverse updates. Let k = K_{Y,u} and κ = K_uu. The residual of u
//! beside all of Y is γ = κ − kᵀK_YY⁻¹k, so det K_{Y+u} = γ det K_YY; and leaving v out of Y + u
//! multiplies by \[(K_{Y+u})⁻¹\]_vv = \[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²/γ. Hence
//!
//! **ρ = γ·\[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²**,
//!
//! a sum of two terms that cannot be negative. With M = K_YY⁻¹ at hand (`inverse.rs`) that is one
//! product Mk; an exchange changes M by a matrix of rank two. With a factor K_YY = LLᵀ at hand
//! (`factor.rs`) it is z = L⁻¹k, h = L⁻¹e_v and ρ = (κ − ‖z‖²)‖h‖² + (hᵀz)².
//!
//! A product does not wait for its own results, as a solve does. But the errors of the inverse grow
//! with cond(K_YY)², those of the factor with cond(K_YY). So **the inverse serves while cond(K_YY)
//! is small by a bound that is checked** at every exchange, before it is carried out. For D = diag
//! K_YY, D^-½K_YY·D^-½ has norm at most c, and its inverse D^½MD^½ has norm at most its trace:
//!
//! cond(D^-½K_YY·D^-½) ≤ c·Σ K_ii M_ii,
//!
//! in O(c). What scales the items does not count: neither form sees it.

use super::factor::Factor;
use super::inverse::Inverse;
use super::principal::Principal;
use faer::MatRef;
use nystrom_linalg_core::{Cholesky, Result};

/// The largest c·Σ K_ii M_ii at which the inverse serves. Its errors grow with the square: after
/// 20,000 exchanges M is 2e-13 off at 8e3 and 4e-10 at 2e5. Where one eigenvalue dominates, ratios
/// are 2e-8 off at 9e4.
const MODERATE: f64 = 5e4;
/// Exchanges after which what is kept is computed afresh, as a multiple of c.
const REFRESH: usize = 2;

/// K_YY for c items at positions 0, …, c − 1, in `f64` whatever the scalar of K is, and its inverse
/// or its factor.
#[derive(Debug, Clone)]
pub(super) struct Volume {
    K: Principal,
    rounding: f64,
    by_inverse: bool,
    inverse: Inverse,
    factor: Factor,
    log_det: f64,     // of the inverse
    exchanges: usize, // since what is kept was computed
    refreshes: usize,
    probe: usize, // the position whose drift is looked at next
}

/// What the exchange of the item at `position` for u would do: ρ = det K_{Y−v+u}/det K_YY, and what
/// it takes to carry it out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    pub ratio: f64,
    pub(super) position: usize,
    pub(super) gamma: f64,
    pub(super) kappa: f64,
}

impl Exchange {
    /// From kᵀK_YY⁻¹k, \[K_YY⁻¹\]_vv and \[K_YY⁻¹k\]_v. A residual of u of at most `rounding`·κ
    /// cannot be told from 0 and counts as 0, be it γ or the one beside Y − v, ρ/\[K_YY⁻¹\]_vv.
    pub fn new(position: usize, k: &[f64], kappa: f64, parts: [f64; 3], rounding: f64) -> Self {
        let [explained, M_vv, b_v] = parts;
        let gamma = if kappa - explained <= rounding * kappa { 0.0 } else { kappa - explained };
        let ratio = gamma * M_vv + b_v * b_v;
        let not_a_number =
            ratio.is_nan() && !(kappa.is_finite() && k.iter().all(|value| value.is_finite()));
        // 0 also where K is finite, but M_vv or b_v too large for a number
        let ratio = if not_a_number || ratio > rounding * kappa * M_vv { ratio } else { 0.0 };
        Exchange { ratio, position, gamma, kappa }
    }
}

impl Volume {
    /// From K_YY. c³/3 flops for a factor, 2c³ for an inverse, c³/6 multiply-adds of 32 digits
    /// where they are needed.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, `NonFinite`.
    pub fn new(K: Vec<f64>, c: usize, rounding: f64) -> Result<Self> {
        let mut volume = Volume {
            K: Principal::new(K, c),
            rounding,
            by_inverse: false,
            inverse: Inverse::with_room(c),
            factor: Factor::with_room(c),
            log_det: 0.0,
            exchanges: 0,
            refreshes: 0,
            probe: 0,
        };
        volume.refresh()?;
        Ok(volume)
    }

    /// det K_{Y−v+u}/det K_YY for v at `position`, given k = K_{Y,u} by positions and κ = K_uu.
    pub fn exchange(&mut self, position: usize, k: &[f64], kappa: f64) -> Exchange {
        if self.by_inverse {
            self.inverse.exchange(position, k, kappa, self.rounding)
        } else {
            self.factor.exchange(position, k, kappa, self.rounding)
        }
    }

    /// Carries out the last [`exchange`](Self::exchange) looked at, whose k this is: u takes the
    /// position of v.
    pub fn carry_out(&mut self, exchange: Exchange, k: &[f64]) {
        let Exchange { position, kappa, ratio, .. } = exchange;
        if self.by_inverse {
            let inflation = self.inverse.prepare(&exchange, &self.K);
            if self.is_moderate(inflation) || self.pass_on().is_err() {
                self.inverse.carry_out(&exchange);
                self.log_det += ratio.ln();
            } else {
                // the factor of what K_YY still is, which is well-conditioned
                let again = self.factor.exchange(position, k, kappa, self.rounding);
                self.factor.carry_out(&again);
            }
        } else {
            self.factor.carry_out(&exchange);
        }
        self.K.exchange(position, k, kappa);
        self.exchanges += 1;
        // an error: rounding denies K_YY a factor, and what followed the exchanges serves on
        let _ = self.look_after();
    }

    /// Computes afresh what is kept, where that is due.
    fn look_after(&mut self) -> Result<()> {
        let c = self.K.size();
        self.probe = (self.probe + 1) % c;
        let drifted = if self.by_inverse {
            self.inverse.has_drifted(self.probe, &self.K)
        } else {
            self.factor.has_drifted(self.probe, &self.K)
        };
        if drifted || self.exchanges >= REFRESH * c.max(16) {
            self.refresh()?;
        }
        if !self.by_inverse && self.factor.is_too_thin(&self.K) {
            self.factor.set_wide(&self.K)?;
            (self.exchanges, self.refreshes) = (0, self.refreshes + 1);
        }
        Ok(())
    }

    /// From the inverse to a factor. Back it goes at a refresh only, so that switching costs no
    /// more than refreshing does.
    fn pass_on(&mut self) -> Result<()> {
        self.factor.set(Cholesky::new(self.K.matrix())?.lower(), &self.K)?;
        self.by_inverse = false;
        Ok(())
    }

    /// The inverse of K_YY if the bound allows it, or else its factor, from the entries. What was
    /// there before stays if rounding denies K_YY a factor.
    fn refresh(&mut self) -> Result<()> {
        self.exchanges = 0;
        match Cholesky::new(self.K.matrix()) {
            Ok(factor) if self.serves(factor.lower()) => {
                (self.by_inverse, self.log_det) = (true, factor.log_det());
            }
            Ok(factor) => {
                self.factor.set(factor.lower(), &self.K)?;
                self.by_inverse = false;
            }
            Err(error) => {
                self.factor.set_wide(&self.K).map_err(|_| error)?;
                self.by_inverse = false;
            }
        }
        self.refreshes += 1;
        Ok(())
    }

    /// Whether the inverse may serve; it is then that of LLᵀ.
    fn serves(&mut self, L: MatRef<'_, f64>) -> bool {
        // M_ii ≥ 1/L_ii², so that this is at most what is bounded
        let least = (0..self.K.size()).map(|i| self.K.at(i, i) / L[(i, i)].powi(2)).sum();
        self.is_moderate(least) && {
            self.inverse.set(L);
            self.is_moderate(self.inverse.inflation(&self.K))
        }
    }

    /// Whether the bound of the condition allows the inverse, given Σ K_ii M_ii.
    fn is_moderate(&self, inflation: f64) -> bool {
        self.K.size() as f64 * inflation <= MODERATE
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        if self.by_inverse { self.log_det } else { self.factor.log_det() }
    }

    /// K_YY⁻¹ by positions: a copy, or from the factor, 2c³ flops.
    pub fn inverse(&self) -> faer::Mat<f64> {
        if self.by_inverse { self.inverse.matrix() } else { self.factor.inverse() }
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj), or with an inverse max |MK_YY − I|_ij·√(K_ii/K_jj).
    pub fn residual(&self) -> f64 {
        if self.by_inverse { self.inverse.residual(&self.K) } else { self.factor.residual(&self.K) }
    }

    /// Number of times that an inverse or a factor was computed afresh, the first included.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
