//! Exchanges of one item, judged for many proposals from one factor: ratios of det K_YY.
//!
//! # The paper's formula and the way to it
//! With S = Y − v, Li, Jegelka & Sra (2016) exchange v for u by the ratio
//!
//! ρ = det K_{S+u}/det K_{S+v} = (K_uu − K_uS K_SS⁻¹ K_Su)/(K_vv − K_vS K_SS⁻¹ K_Sv)
//!
//! and follow the inverse by block-inverse updates. Let k = K_{Y,u}. The residual of u beside all
//! of Y is γ = K_uu − kᵀK_YY⁻¹k, so det K_{Y+u} = γ det K_YY; and leaving v out of Y + u multiplies
//! by \[(K_{Y+u})⁻¹\]_vv = \[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²/γ. Hence
//!
//! **ρ = γ·\[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²**,
//!
//! a sum of two terms that cannot be negative. Of K_YY⁻¹ that takes one row and column for each
//! proposal. So the proposals of a window, items C for positions V, need of it no more than
//!
//! ```text
//! P = [ K_CC − K_CY K_YY⁻¹ K_YC     (K_YY⁻¹ K_YC)_Vᵀ ]  =  [ K_CC  0 ]  −  WᵀW
//!     [ (K_YY⁻¹ K_YC)_V             −(K_YY⁻¹)_VV     ]     [ 0     0 ]
//! ```
//!
//! with W = L⁻¹\[K_YC, −E_V\], K_YY = LLᵀ and E_V columns of I. It is K over Y and C, swept on Y.
//! An exchange is one sweep more, on v and u: the block-inverse update of these rows, of rank two,
//! O(|V|²) in the place of O(c²). The factor is computed afresh after every window, so that nothing
//! drifts.
//!
//! # Source
//! The sweep operator: J. H. Goodnight, *A tutorial on the SWEEP operator*, Amer. Statist. 33
//! (1979). Delayed updates: T. McDaniel et al., *Delayed Slater
//! determinant update algorithms for high efficiency quantum Monte Carlo*, J. Chem. Phys. 147
//! (2017).

use super::batch::Batch;
use super::factor::Factor;
use super::rows::Rows;
use nystrom_linalg_core::{Scalar, dispatch, work};
use pulp::{Simd, WithSimd};

/// A window ends when det K_YY is this many times as large as it has been. Entries of P grow as it
/// falls, and cancel as it rises. So at most so many digits of P are lost, and none in later
/// windows.
const RISE: f64 = 1e6;
/// The row of a position that no proposal names.
pub(super) const NOWHERE: usize = usize::MAX;

/// P for the proposals of a batch from number `first` on. The item of proposal first + j is in row
/// j, its position in row q + j, of q proposals.
#[derive(Debug, Clone)]
pub(super) struct Window {
    first: usize,
    pub q: usize,
    W: Rows,
    pub P: Rows,
    pub at: Vec<usize>,  // the row of what is at each position of V
    pub signs: Vec<f64>, // of rows on which P was swept: 1 for what came, -1 for what left
    change: f64,         // det K_YY over that of the factor, and
    least: f64,          // the least that it has been
    room: [Vec<f64>; 2], // two rows of P
    pub joining: Joining,
}

/// What a window keeps where proposals join it.
#[derive(Debug, Clone, Default)]
pub(super) struct Joining {
    pub W: Rows, // Wᵀ
    pub N: Rows, // P_n for the two rows that join
    pub A: Rows, // σ_s P⁰_ns
}

impl Window {
    /// Room for proposals of c items.
    pub fn with_room(c: usize) -> Self {
        Window {
            first: 0,
            q: 0,
            W: Rows::default(),
            P: Rows::default(),
            at: vec![NOWHERE; c],
            signs: Vec::new(),
            change: 1.0,
            least: 1.0,
            room: Default::default(),
            joining: Joining::default(),
        }
    }

    /// P = 0, for the proposals from number `first` on, `q` at most.
    pub fn begin(&mut self, first: usize, q: usize) {
        (self.first, self.q, self.change, self.least) = (first, q, 1.0, 1.0);
        self.P.reset(2 * q, 2 * q);
        self.at.fill(NOWHERE);
        self.signs.clear();
        self.signs.resize(2 * q, 0.0);
    }

    /// For the proposals from number `first` on, given the factor of K_YY. 2c² + 4qc flops for each
    /// of them.
    pub fn open<T: Scalar>(&mut self, factor: &Factor, batch: &Batch<T>, first: usize) {
        let (c, q) = (self.at.len(), batch.items.len() - first);
        self.begin(first, q);
        let Window { W, P, at, .. } = self;
        W.reset(c, 2 * q);
        for j in 0..q {
            for (i, k) in batch.column(first + j).iter().enumerate() {
                W.entries[i * W.width + j] = k.f64(); //               K_YC
            }
            let v = batch.positions[first + j];
            W.row_mut(v)[q + j] = -1.0; //                             −E_V
            at[v] = q + j;
            for i in 0..q {
                P.row_mut(j)[i] = batch.between(first + j, first + i).f64(); // K_CC
            }
        }
        factor.solve(W); //                                            L⁻¹[K_YC, −E_V]
        P.subtract_gram(W);
    }

    /// det K_YY over that of the factor.
    pub fn change(&self) -> f64 {
        self.change
    }

    /// Whether P is of a det K_YY that the window may still be judged by.
    pub fn serves(&self) -> bool {
        self.change <= RISE * self.least
    }

    /// ρ for proposal number `j` of the batch, with K_uu = κ. A residual of u of at most
    /// `rounding`·κ cannot be told from 0 and counts as 0. It may be γ, or the one beside Y − v,
    /// ρ/\[K_YY⁻¹\]_vv. NaN if P is.
    pub fn ratio(&self, j: usize, v: usize, kappa: f64, rounding: f64) -> f64 {
        let [M_vv, x, gamma] = self.corner(self.at[v], j - self.first);
        let gamma = if gamma <= rounding * kappa { 0.0 } else { gamma };
        let ratio = gamma * M_vv + x * x;
        if ratio <= rounding * kappa * M_vv { 0.0 } else { ratio }
    }

    /// \[K_YY⁻¹\]_vv, \[K_YY⁻¹k\]_v and γ of the items in rows e and u.
    fn corner(&self, e: usize, u: usize) -> [f64; 3] {
        [-self.P.at(e, e), self.P.at(e, u), self.P.at(u, u)]
    }

    /// Carries proposal number `j` out, whose ratio is ρ: P is swept on the item that leaves
    /// position v and the one that comes. 4(2q)² flops.
    pub fn exchange(&mut self, j: usize, v: usize, ratio: f64) {
        let (e, u) = (self.at[v], j - self.first);
        let corner = self.corner(e, u);
        work::flops(4 * self.P.width * self.P.width);
        let (P, room) = (&mut self.P, &mut self.room);
        dispatch(Sweep { P, rows: [e, u], corner, ratio, room });
        self.at[v] = u;
        self.signs[u] = 1.0;
        self.signs[e] = if e < self.q { 0.0 } else { -1.0 };
        self.change *= ratio;
        self.least = self.least.min(self.change);
    }
}

/// With a and b the columns of P for e ∈ Y, which leaves, and u ∉ Y, which comes, m = −P_ee, x =
/// P_eu and γ = P_uu, so that ρ = mγ + x²:
///
/// α = (γa − xb)/ρ,   β = (xa + mb)/ρ,   P ← P + αaᵀ − βbᵀ
///
/// in all other rows, and α and β become the columns of e and u, with γ/ρ, x/ρ and −m/ρ in the
/// corner.
struct Sweep<'a> {
    P: &'a mut Rows,
    rows: [usize; 2],
    corner: [f64; 3],
    ratio: f64,
    room: &'a mut [Vec<f64>; 2],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Sweep { P, rows: [e, u], corner: [m, x, gamma], ratio, room: [a, b] } = self;
        for (to, row) in [(&mut *a, e), (&mut *b, u)] {
            to.clear();
            to.extend_from_slice(P.row(row));
        }
        let (m, x, gamma) = (m / ratio, x / ratio, gamma / ratio);
        for i in 0..P.entries.len() / P.width {
            let (alpha, beta) = (gamma * a[i] - x * b[i], x * a[i] + m * b[i]);
            let row = P.row_mut(i);
            for (p, (a, b)) in row.iter_mut().zip(a.iter().zip(&*b)) {
                *p += alpha * a - beta * b;
            }
            (row[e], row[u]) = (alpha, beta);
        }
        for i in 0..P.width {
            let (alpha, beta) = (gamma * a[i] - x * b[i], x * a[i] + m * b[i]);
            P.row_mut(e)[i] = alpha;
            P.row_mut(u)[i] = beta;
        }
        (P.row_mut(e)[e], P.row_mut(e)[u]) = (gamma, x);
        (P.row_mut(u)[e], P.row_mut(u)[u]) = (x, -m);
    }
}
