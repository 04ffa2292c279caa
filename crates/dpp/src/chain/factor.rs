//! The Cholesky factor of K_YY under exchanges of one item: the machinery of the swap chain.
//!
//! # Accuracy
//! An error E in K_YY = LLᵀ changes the inverse by about cond(K_YY)·‖E‖/‖K_YY‖ relative, and LLᵀ = K_YY + E with ‖E‖ ≈ ε‖K_YY‖ is all a
//! factorisation in `f64` can promise: at a condition of 1e10 it is 1e-9 … 1e-8 off, and rotations add to that. An error Δ in L itself,
//! ‖Δ‖ ≈ ε‖L‖, changes the inverse by cond(L)·ε = cond(K_YY)^½·ε only, 1e-11 there. But the factor of the next set inherits E = LΔᵀ + ΔLᵀ as
//! any other error: L must be known better than to `f64` all along. Hence **the factor is kept to 32 digits** (`double.rs`): it is computed,
//! extended by a row and rotated so. What a proposal reads is its leading half, L to the last place of an `f64`, at the cost of an `f64`;
//! only an exchange that is carried out pays for both halves.

use super::triangle::Triangle;
use faer::MatRef;
use nystrom_linalg_core::{Error, Result, validate};

/// Accepted exchanges after which the factor is computed afresh, as a multiple of c. Rounding does not ask for it; residuals of u that
/// were negative and taken for 0 may.
const REFRESH: usize = 4;
/// Relative error of a diagonal entry of LLᵀ at which the factor is computed afresh at once, in units of c·ε.
const DRIFT: f64 = 1.0;

/// K_YY = LLᵀ for c items, in `f64` whatever the scalar of K is, with room for one item more.
///
/// An item keeps its *slot*, its row and column of the stored K_YY; its *position*, its row of L, moves up when an earlier one leaves.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    c: usize,
    L: Triangle,
    slots: Vec<usize>, // of the positions
    K: Vec<f64>,       // c × c by slots
    exchanges: usize,  // since the last fresh factor
    refreshes: usize,
    probe: usize, // the position whose drift is looked at next
    z: Vec<f64>,
    h: Vec<f64>,
}

/// What the exchange of the item at `position` for u would do: ρ = det K_{Y−v+u}/det K_YY, and what it takes to carry it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub ratio: f64,
    position: usize,
    kappa: f64,
}

impl Factor {
    /// From K_YY (c × c, column by column), c³/6 multiply-adds of 32 digits.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, `NonFinite`.
    pub fn new(K: Vec<f64>, c: usize) -> Result<Self> {
        let L = Triangle::zeros(c);
        let mut factor = Factor {
            c,
            slots: (0..c).collect(),
            K,
            exchanges: 0,
            refreshes: 0,
            probe: 0,
            z: L.vector(),
            h: L.vector(),
            L,
        };
        validate::finite_lower("matrix to factor", MatRef::from_column_major_slice(&factor.K, c, c))?;
        factor.refactor()?;
        Ok(factor)
    }

    /// det K_{Y−v+u}/det K_YY for v at `position`, given k = K_{Y,u} by positions and κ = K_uu. About 2c²/3 multiply-adds.
    ///
    /// With z = L⁻¹k and h = L⁻¹e_v: γ = κ − ‖z‖² is the residual of u beside all of Y, so det K_{Y+u} = γ det K_YY; and leaving v out of
    /// Y + u multiplies by [(K_{Y+u})⁻¹]_vv = ‖h‖² + (hᵀz)²/γ. Hence **ρ = γ‖h‖² + (hᵀz)²**, a sum of two terms that cannot be negative.
    /// A residual of u of at most `rounding`·κ cannot be told from 0 and counts as 0, be it γ or the one beside Y − v, ρ/‖h‖².
    pub fn exchange(&mut self, position: usize, k: &[f64], kappa: f64, rounding: f64) -> Exchange {
        let Factor { c, L, z, h, .. } = self;
        z[..*c].copy_from_slice(k);
        h.fill(0.0);
        h[position] = 1.0;
        let [zz, hh, hz] = L.solve_both(z, h, position);
        let gamma = if kappa - zz <= rounding * kappa { 0.0 } else { kappa - zz };
        let ratio = gamma * hh + hz * hz;
        Exchange { ratio: if ratio <= rounding * kappa * hh { 0.0 } else { ratio }, position, kappa }
    }

    /// Carries out the last [`exchange`](Self::exchange) looked at, whose k this is: u takes the slot of v and the last position.
    ///
    /// L of Y + u is L with the row (zᵀ, √γ) below: c²/2 multiply-adds; leaving out the row of v is a sequence of plane rotations of the
    /// columns behind it, at most c²/2 of them element by element, c²/6 on average. Both to 32 digits.
    pub fn carry_out(&mut self, exchange: Exchange, k: &[f64]) {
        let Exchange { position, kappa, .. } = exchange;
        self.store(position, k, kappa);
        self.L.extend(self.c, k, kappa);
        self.L.delete(position);
        self.exchanges += 1;
        if self.exchanges >= REFRESH * self.c.max(16) || self.has_drifted() {
            // Should rounding errors deny K_YY a factor, the rotated one serves on: it always exists.
            let _ = self.refactor();
        }
    }

    /// K_{Y,u} and K_uu into the slot of the item at `position`, which then belongs to the last position.
    fn store(&mut self, position: usize, k: &[f64], kappa: f64) {
        let (c, slot) = (self.c, self.slots.remove(position));
        let others = k[..position].iter().chain(&k[position + 1..]);
        for (&other, &k) in self.slots.iter().zip(others) {
            self.K[slot * c + other] = k;
            self.K[other * c + slot] = k;
        }
        self.K[slot * c + slot] = kappa;
        self.slots.push(slot);
    }

    /// Whether a diagonal entry of LLᵀ, another at every call, is off by more than c·ε relative. O(c).
    fn has_drifted(&mut self) -> bool {
        self.probe = (self.probe + 1) % self.c;
        let k = self.at(self.probe, self.probe);
        !((self.L.diagonal_of_product(self.probe) - k).abs() <= DRIFT * self.c as f64 * f64::EPSILON * k)
    }

    /// Entry (i, j) of K_YY, by positions.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.K[self.slots[j] * self.c + self.slots[i]]
    }

    /// L row by row, as an exchange extends it.
    fn refactor(&mut self) -> Result<()> {
        let c = self.c;
        self.exchanges = 0;
        let mut fresh = Triangle::zeros(c);
        for m in 0..c {
            let row: Vec<f64> = (0..m).map(|j| self.at(m, j)).collect();
            if fresh.extend(m, &row, self.at(m, m)) <= 0.0 {
                return Err(Error::NotPositiveDefinite { order: c, pivot: m, jitter: 0.0 });
            }
        }
        self.L = fresh;
        self.refreshes += 1;
        Ok(())
    }

    /// L, c × c.
    pub fn lower(&self) -> faer::Mat<f64> {
        faer::Mat::from_fn(self.c, self.c, |i, j| if i >= j { self.L.at(i, j) } else { 0.0 })
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        (0..self.c).map(|j| 2.0 * self.L.at(j, j).ln()).sum()
    }

    /// max |LLᵀ − K_YY|_ij / √(K_ii K_jj), at c³/3 flops.
    pub fn residual(&self) -> f64 {
        let entry = |i: usize, j: usize| {
            let sum: f64 = (0..=j.min(i)).map(|k| self.L.at(i, k) * self.L.at(j, k)).sum();
            (sum - self.at(i, j)).abs() / (self.at(i, i) * self.at(j, j)).sqrt()
        };
        (0..self.c).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).fold(0.0, f64::max)
    }

    /// Number of times L was computed afresh, the first included.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
