//! The Cholesky factor of K_YY under exchanges of one item: the machinery of the swap chain.
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

use super::triangle::Triangle;
use nystrom_linalg_core::{Cholesky, Error, Result};

/// Accepted exchanges after which the factor is computed afresh, as a multiple of c: c³/3 flops in
/// `f64`, c³/6 multiply-adds of 32 digits.
const REFRESH: usize = 2;
/// Relative error of a diagonal entry of LLᵀ at which the factor is computed afresh at once, in
/// units of c·ε.
const DRIFT: f64 = 100.0;
/// A squared pivot L_jj², the residual of an item beside those before it, of less than this times
/// K_jj asks for 32 digits. In `f64` the inverse is then known to about 5e-18·c/THIN, 1e-10 for c =
/// 200, at the pivots' word on the condition, and has two digits in reserve.
const THIN: f64 = 1e-5;

/// K_YY = LLᵀ for c items, in `f64` whatever the scalar of K is, with room for one item more.
///
/// An item keeps its *slot*, its row and column of the stored K_YY; its *position*, its row of L,
/// moves up when an earlier one leaves.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    c: usize,
    L: Triangle,
    wide: bool,         // whether L is kept to 32 digits
    slots: Vec<usize>,  // of the positions
    diagonal: Vec<f64>, // of K_YY, by positions
    K: Vec<f64>,        // c × c by slots
    exchanges: usize,   // since the last fresh factor
    refreshes: usize,
    probe: usize, // the position whose drift is looked at next
    z: Vec<f64>,
    h: Vec<f64>,
}

/// What the exchange of the item at `position` for u would do: ρ = det K_{Y−v+u}/det K_YY, and what
/// it takes to carry it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub ratio: f64,
    position: usize,
    gamma: f64,
    kappa: f64,
}

impl Factor {
    /// From K_YY (c × c, column by column), c³/3 flops, and c³/6 multiply-adds of 32 digits where
    /// they are needed.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, `NonFinite`.
    pub fn new(K: Vec<f64>, c: usize) -> Result<Self> {
        let L = Triangle::zeros(c);
        let mut factor = Factor {
            c,
            wide: false,
            slots: (0..c).collect(),
            diagonal: (0..c).map(|i| K[i * c + i]).collect(),
            K,
            exchanges: 0,
            refreshes: 0,
            probe: 0,
            z: L.vector(),
            h: L.vector(),
            L,
        };
        factor.refactor()?;
        if factor.is_thin() {
            factor.wide = true;
            factor.refactor()?;
        }
        Ok(factor)
    }

    /// det K_{Y−v+u}/det K_YY for v at `position`, given k = K_{Y,u} by positions and κ = K_uu.
    /// About 2c²/3 multiply-adds.
    ///
    /// With z = L⁻¹k and h = L⁻¹e_v: γ = κ − ‖z‖² is the residual of u beside all of Y, so det
    /// K_{Y+u} = γ det K_YY; and leaving v out of Y + u multiplies by [(K_{Y+u})⁻¹]_vv = ‖h‖² +
    /// (hᵀz)²/γ. Hence **ρ = γ‖h‖² + (hᵀz)²**, a sum of two terms that cannot be negative. A
    /// residual of u of at most `rounding`·κ cannot be told from 0 and counts as 0, be it γ or the
    /// one beside Y − v, ρ/‖h‖².
    pub fn exchange(&mut self, position: usize, k: &[f64], kappa: f64, rounding: f64) -> Exchange {
        let Factor { c, L, z, h, .. } = self;
        z[..*c].copy_from_slice(k);
        h.fill(0.0);
        h[position] = 1.0;
        let [zz, hh, hz] = L.solve_both(z, h, position);
        let gamma = if kappa - zz <= rounding * kappa { 0.0 } else { kappa - zz };
        let ratio = gamma * hh + hz * hz;
        let not_a_number =
            ratio.is_nan() && !(kappa.is_finite() && k.iter().all(|value| value.is_finite()));
        // 0 also where K is finite, but ‖h‖² or hᵀz too large for a number.
        let ratio = if not_a_number || ratio > rounding * kappa * hh { ratio } else { 0.0 };
        Exchange { ratio, position, gamma, kappa }
    }

    /// Carries out the last [`exchange`](Self::exchange) looked at, whose k this is: u takes the
    /// slot of v and the last position.
    ///
    /// L of Y + u is L with the row (zᵀ, √γ) below (to 32 digits: c²/2 multiply-adds); leaving out
    /// the row of v is a sequence of plane rotations of the columns behind it, at most c²/2 of them
    /// element by element, c²/6 on average.
    ///
    /// Back to `f64` it goes at the next refresh only, so that switching costs no more than
    /// refreshing does.
    pub fn carry_out(&mut self, exchange: Exchange, k: &[f64]) {
        let Exchange { position, gamma, kappa, .. } = exchange;
        self.store(position, k, kappa);
        let Factor { L, z, wide, .. } = self;
        if *wide {
            L.extend_wide(self.c, k, kappa);
            L.delete_wide(position);
        } else {
            L.append(z, gamma.sqrt());
            L.delete(position);
        }
        self.exchanges += 1;
        let due = self.exchanges >= REFRESH * self.c.max(16) || self.has_drifted();
        if due || (!self.wide && self.is_thin()) {
            let was = self.wide;
            self.wide = self.is_thin();
            if self.refactor().is_err() {
                // rounding errors deny K_YY a factor: the rotated one serves on, it always exists
                self.wide = was;
            }
        }
    }

    /// K_{Y,u} and K_uu into the slot of the item at `position`, which then belongs to the last
    /// position.
    fn store(&mut self, position: usize, k: &[f64], kappa: f64) {
        let (c, slot) = (self.c, self.slots.remove(position));
        let others = k[..position].iter().chain(&k[position + 1..]);
        for (&other, &k) in self.slots.iter().zip(others) {
            self.K[slot * c + other] = k;
            self.K[other * c + slot] = k;
        }
        self.K[slot * c + slot] = kappa;
        self.slots.push(slot);
        self.diagonal.remove(position);
        self.diagonal.push(kappa);
    }

    /// Whether a squared pivot is so small that `f64` would not do. O(c).
    fn is_thin(&self) -> bool {
        self.L
            .inverse_diagonal()
            .iter()
            .zip(&self.diagonal)
            .any(|(inverse, k)| inverse * inverse * k * THIN > 1.0)
    }

    /// Whether a diagonal entry of LLᵀ, another at every call, is off by more than 100·c·ε
    /// relative. O(c).
    fn has_drifted(&mut self) -> bool {
        self.probe = (self.probe + 1) % self.c;
        let (p, k) = (self.probe, self.diagonal[self.probe]);
        let product = if self.wide {
            self.L.diagonal_of_product_wide(p)
        } else {
            (0..=p).map(|j| self.L.at(p, j).powi(2)).sum()
        };
        !((product - k).abs() <= DRIFT * self.c as f64 * f64::EPSILON * k)
    }

    /// Entry (i, j) of K_YY, by positions.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.K[self.slots[j] * self.c + self.slots[i]]
    }

    fn refactor(&mut self) -> Result<()> {
        self.exchanges = 0;
        if self.wide {
            self.L = self.fresh_wide()?;
        } else {
            let K = faer::Mat::from_fn(self.c, self.c, |i, j| self.at(i, j));
            self.L.set(Cholesky::new(K.as_ref())?.lower());
        }
        self.refreshes += 1;
        Ok(())
    }

    /// L row by row, as an exchange extends it.
    fn fresh_wide(&self) -> Result<Triangle> {
        let mut L = Triangle::zeros(self.c);
        for m in 0..self.c {
            let row: Vec<f64> = (0..m).map(|j| self.at(m, j)).collect();
            if L.extend_wide(m, &row, self.diagonal[m]) <= 0.0 {
                return Err(Error::NotPositiveDefinite { order: self.c, pivot: m, jitter: 0.0 });
            }
        }
        Ok(L)
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
            (sum - self.at(i, j)).abs() / (self.at(i, i).sqrt() * self.at(j, j).sqrt())
        };
        (0..self.c)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| entry(i, j))
            .fold(0.0, f64::max)
    }

    /// Number of times L was computed afresh, the first included.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
