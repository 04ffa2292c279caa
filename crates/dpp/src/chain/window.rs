//! Ratios of det K_YY for many proposed exchanges, from one Cholesky factor.
//!
//! # Formulas
//! With S = Y − v, Li, Jegelka & Sra (2016) exchange v for u by the ratio
//!
//! ρ = det K_{S+u}/det K_{S+v} = (K_uu − K_uS K_SS⁻¹ K_Su)/(K_vv − K_vS K_SS⁻¹ K_Sv)
//!
//! and update the inverse by block-inverse formulas. Let k = K_{Y,u}. The residual of u given Y is
//! γ = K_uu − kᵀK_YY⁻¹k, so that det K_{Y+u} = γ det K_YY. Removing v from Y + u multiplies the
//! determinant by \[(K_{Y+u})⁻¹\]_vv = \[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²/γ. Hence
//!
//! **ρ = γ·\[K_YY⁻¹\]_vv + \[K_YY⁻¹k\]_v²**,
//!
//! a sum of two terms that are never negative. Each proposal needs one row and one column of
//! K_YY⁻¹. For the proposals of a window, items C for positions V, the matrix
//!
//! ```text
//! P = [ K_CC − K_CY K_YY⁻¹ K_YC     (K_YY⁻¹ K_YC)_Vᵀ ]  =  [ K_CC  0 ]  −  WᵀW
//!     [ (K_YY⁻¹ K_YC)_V             −(K_YY⁻¹)_VV     ]     [ 0     0 ]
//! ```
//!
//! contains all that is needed. Here W = L⁻¹\[K_YC, −E_V\], K_YY = LLᵀ, and E_V are columns of I. P
//! is the matrix of K for Y and C, swept on Y. An exchange is a further sweep, on v and u: the
//! block-inverse update of these rows, of rank two, in O(|V|²) in place of O(c²) flops. The factor
//! is recomputed after every window, so that rounding errors do not accumulate.
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

/// A window ends when det K_YY exceeds this multiple of its least value in the window. Entries of P
/// grow as det K_YY falls, and cancel as it rises; the limit bounds the relative error of P by this
/// multiple of ε, and errors do not carry over to later windows.
const RISE: f64 = 1e6;
/// Marks a position of Y that is in no proposal, and so has no row of P.
pub(super) const NOWHERE: usize = usize::MAX;

/// P for the q proposals of a batch from number `first` on. Row j is that of the item of proposal
/// first + j, row q + j that of its position.
#[derive(Debug, Clone)]
pub(super) struct Window {
    first: usize,
    pub q: usize,
    W: Rows,
    pub P: Rows,
    pub at: Vec<usize>,     // for each position of Y, the row of P of its item
    pub signs: Vec<f64>,    // of the rows on which P was swept: 1 entered, -1 left; else 0
    change: f64,            // det K_YY now / det K_YY of the factor
    least: f64,             // the least value of `change` in this window
    scratch: [Vec<f64>; 2], // copies of two rows of P
    pub joining: Joining,
}

/// The state of a window to which proposals are added one by one.
#[derive(Debug, Clone, Default)]
pub(super) struct Joining {
    pub W: Rows, // Wᵀ
    pub N: Rows, // P_n for the two rows of the new proposal
    pub A: Rows, // σ_s P⁰_ns
}

impl Window {
    /// An empty window for sets of c items.
    pub fn for_size(c: usize) -> Self {
        Window {
            first: 0,
            q: 0,
            W: Rows::default(),
            P: Rows::default(),
            at: vec![NOWHERE; c],
            signs: Vec::new(),
            change: 1.0,
            least: 1.0,
            scratch: Default::default(),
            joining: Joining::default(),
        }
    }

    /// Starts with P = 0, for at most `q` proposals from number `first` on.
    pub fn begin(&mut self, first: usize, q: usize) {
        (self.first, self.q, self.change, self.least) = (first, q, 1.0, 1.0);
        self.P.reset(2 * q, 2 * q);
        self.at.fill(NOWHERE);
        self.signs.clear();
        self.signs.resize(2 * q, 0.0);
    }

    /// Computes P for the proposals from number `first` on, from the factor of K_YY. 2c² + 4qc
    /// flops per proposal.
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

    /// det K_YY of the current Y over that of the factor.
    pub fn change(&self) -> f64 {
        self.change
    }

    /// Whether P is accurate enough for the remaining proposals: det K_YY is at most `RISE` times
    /// its least value in the window.
    pub fn is_accurate(&self) -> bool {
        self.change <= RISE * self.least
    }

    /// ρ for proposal number `j` of the batch, with K_uu = κ. Residuals of u of at most
    /// `rounding`·κ may be rounding error and count as 0: both the residual given Y, γ, and that
    /// given Y − v, ρ/\[K_YY⁻¹\]_vv. NaN if entries of P are.
    pub fn ratio(&self, j: usize, v: usize, kappa: f64, rounding: f64) -> f64 {
        let [M_vv, x, gamma] = self.corner(self.at[v], j - self.first);
        let gamma = if gamma <= rounding * kappa { 0.0 } else { gamma };
        let ratio = gamma * M_vv + x * x;
        if ratio <= rounding * kappa * M_vv { 0.0 } else { ratio }
    }

    /// \[K_YY⁻¹\]_vv, \[K_YY⁻¹k\]_v and γ, for the position of row e and the item of row u.
    fn corner(&self, e: usize, u: usize) -> [f64; 3] {
        [-self.P.at(e, e), self.P.at(e, u), self.P.at(u, u)]
    }

    /// Carries out proposal number `j`, whose ratio is ρ: sweeps P on the item that leaves position
    /// v and the item that enters. 4(2q)² flops.
    pub fn exchange(&mut self, j: usize, v: usize, ratio: f64) {
        let (e, u) = (self.at[v], j - self.first);
        let corner = self.corner(e, u);
        work::flops(4 * self.P.width * self.P.width);
        let (P, scratch) = (&mut self.P, &mut self.scratch);
        dispatch(Sweep { P, rows: [e, u], corner, ratio, scratch });
        self.at[v] = u;
        self.signs[u] = 1.0;
        self.signs[e] = if e < self.q { 0.0 } else { -1.0 };
        self.change *= ratio;
        self.least = self.least.min(self.change);
    }
}

/// The sweep of P for an exchange. Let a and b be the columns of P for e ∈ Y, which leaves, and u ∉
/// Y, which enters, and m = −P_ee, x = P_eu and γ = P_uu, so that ρ = mγ + x². Then
///
/// α = (γa − xb)/ρ,   β = (xa + mb)/ρ,   P ← P + αaᵀ − βbᵀ
///
/// for all other rows and columns; α and β become the columns of e and u, with the 2 × 2 block γ/ρ,
/// x/ρ, −m/ρ.
struct Sweep<'a> {
    P: &'a mut Rows,
    rows: [usize; 2],
    corner: [f64; 3],
    ratio: f64,
    scratch: &'a mut [Vec<f64>; 2],
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Sweep { P, rows: [e, u], corner: [m, x, gamma], ratio, scratch: [a, b] } = self;
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
