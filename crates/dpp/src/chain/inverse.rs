//! K_YY⁻¹ under exchanges of one item: one product a proposal, one update of rank two an exchange.

use super::principal::Principal;
use super::triangle::{WIDTH, subtract};
use super::volume::Exchange;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{ops, work};
use pulp::{Simd, WithSimd};

/// Columns of M taken together.
const COLUMNS: usize = 4;
/// Drift of a diagonal entry of K_YY·M at which M is computed afresh at once, in units of
/// ε·c·Σ K_ii M_ii.
const DRIFT: f64 = 100.0;

/// M = K_YY⁻¹, c × c, by positions.
///
/// Column by column, with rows and columns of zeros beyond c, so that loops have no remainders.
#[derive(Debug, Clone)]
pub(super) struct Inverse {
    c: usize,
    stride: usize,
    M: Vec<f64>,
    k: Vec<f64>, // −K_{Y,u} of the last proposal
    b: Vec<f64>, // M·K_{Y,u} of the last proposal
    p: Vec<f64>, // of the update M − ppᵀ + qqᵀ
    q: Vec<f64>,
}

impl Inverse {
    /// Room for c items.
    pub fn with_room(c: usize) -> Self {
        let stride = c.next_multiple_of(WIDTH);
        let vector = || vec![0.0; stride];
        let M = vec![0.0; stride * c.next_multiple_of(COLUMNS)];
        Inverse { c, stride, M, k: vector(), b: vector(), p: vector(), q: vector() }
    }

    /// M = L⁻ᵀL⁻¹: 2c³ flops.
    pub fn set(&mut self, L: MatRef<'_, f64>) {
        let c = self.c;
        let mut X = Mat::<f64>::identity(c, c);
        ops::solve_lower(L, X.as_mut());
        let mut M = MatMut::from_column_major_slice_with_stride_mut(&mut self.M, c, c, self.stride);
        ops::gram_lower(M.rb_mut(), Accum::Replace, X.as_ref(), 1.0);
        ops::mirror_lower(M);
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.M[j * self.stride + i]
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.M[j * self.stride..][..self.stride]
    }

    /// As [`Volume::exchange`](super::volume::Volume::exchange): **ρ = γ·M_vv + b_v²**, b = Mk, γ =
    /// κ − kᵀb. c² multiply-adds.
    pub fn exchange(&mut self, v: usize, k: &[f64], kappa: f64, rounding: f64) -> Exchange {
        self.k.iter_mut().zip(k).for_each(|(to, k)| *to = -k);
        work::product(self.c, 1, self.c);
        let explained = pulp::Arch::new().dispatch(Product { of: self });
        Exchange::new(v, k, kappa, [explained, self.at(v, v), self.b[v]], rounding)
    }

    /// Gets ready for [`carry_out`](Self::carry_out) the last exchange looked at. Returns Σ
    /// K_ii·M_ii as it will be, ∞ if M would be no inverse. O(c).
    ///
    /// Without v the inverse is M − mmᵀ/α with m = M·e_v and α = M_vv, a matrix that is 0 in row
    /// and column v; of what it makes of k, b′ = b − (b_v/α)·m, the residual of u is s = ρ/α; and
    /// with u in the place of v the inverse gains (b′ − e_v)(b′ − e_v)ᵀ/s.
    pub fn prepare(&mut self, exchange: &Exchange, K: &Principal) -> f64 {
        let Exchange { position: v, ratio, kappa, .. } = *exchange;
        let alpha = self.at(v, v);
        let (root, weight) = (alpha.sqrt().recip(), (ratio / alpha).sqrt().recip());
        let Inverse { c, stride, M, b, p, q, .. } = self;
        let along = b[v] / alpha;
        let m = &M[v * *stride..][..*c];
        for i in 0..*c {
            p[i] = root * m[i];
            q[i] = weight * (b[i] - along * m[i]);
        }
        q[v] = -weight;
        let mut sum = 0.0;
        for i in 0..*c {
            let (diagonal, M_ii) = if i == v {
                (kappa, weight * weight)
            } else {
                (K.at(i, i), M[i * *stride + i] - p[i] * p[i] + q[i] * q[i])
            };
            let inflation = diagonal * M_ii; // 1 over the part of K_ii that the others leave
            sum += if inflation >= 0.5 { inflation } else { f64::INFINITY };
        }
        sum
    }

    /// M − mmᵀ/α + (b′ − e_v)(b′ − e_v)ᵀ/s, of what was [prepared](Self::prepare): 2c²
    /// multiply-adds.
    pub fn carry_out(&mut self, exchange: &Exchange) {
        work::flops(4 * self.c * self.c);
        pulp::Arch::new().dispatch(RankTwo { of: self });
        let v = exchange.position;
        let Inverse { c, stride, M, q, .. } = self;
        // without v their row and column are 0: exactly so, whatever M_vv·M_iv/M_vv rounds to
        for (i, q_i) in q[..*c].iter().enumerate() {
            M[v * *stride + i] = q_i * q[v];
            M[i * *stride + v] = q_i * q[v];
        }
    }

    /// Σ K_ii·M_ii. O(c).
    pub fn inflation(&self, K: &Principal) -> f64 {
        (0..self.c).map(|i| K.at(i, i) * self.at(i, i)).sum()
    }

    /// Whether (K_YY·M)_pp is further from 1 than rounding explains. O(c).
    pub fn has_drifted(&self, p: usize, K: &Principal) -> bool {
        let product = ops::dot(K.column(p), &self.column(p)[..self.c]);
        let bound = DRIFT * f64::EPSILON * self.c as f64 * self.inflation(K);
        !((product - 1.0).abs() <= bound)
    }

    /// M, a copy.
    pub fn matrix(&self) -> Mat<f64> {
        Mat::from_fn(self.c, self.c, |i, j| self.at(i, j))
    }

    /// max |M·K_YY − I|_ij·√(K_ii/K_jj), at 2c³ flops.
    pub fn residual(&self, K: &Principal) -> f64 {
        let entry = |i: usize, j: usize| {
            let sum = ops::dot(K.column(j), &self.column(i)[..self.c]);
            let identity = f64::from(u8::from(i == j));
            (sum - identity).abs() * (K.at(i, i).sqrt() / K.at(j, j).sqrt())
        };
        (0..self.c).flat_map(|i| (0..self.c).map(move |j| entry(i, j))).fold(0.0, f64::max)
    }
}

/// b ← Mk; returns kᵀb.
struct Product<'a> {
    of: &'a mut Inverse,
}

impl WithSimd for Product<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Inverse { stride, M, k, b, .. } = self.of;
        b.fill(0.0);
        for (columns, k) in M.chunks_exact(COLUMNS * *stride).zip(k.chunks_exact(COLUMNS)) {
            let column = |j: usize| &columns[j * *stride..][..*stride];
            let columns = [column(0), column(1), column(2), column(3)];
            subtract(simd, b, columns, [k[0], k[1], k[2], k[3]]);
        }
        -ops::dot_in(simd, k, b)
    }
}

/// M ← M − ppᵀ + qqᵀ, exactly symmetric.
struct RankTwo<'a> {
    of: &'a mut Inverse,
}

impl WithSimd for RankTwo<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Inverse { stride, M, p, q, .. } = self.of;
        let coefficients = p.chunks_exact(COLUMNS).zip(q.chunks_exact(COLUMNS));
        for (columns, (p_j, q_j)) in M.chunks_exact_mut(COLUMNS * *stride).zip(coefficients) {
            let (left, right) = columns.split_at_mut(2 * *stride);
            let ((m0, m1), (m2, m3)) = (left.split_at_mut(*stride), right.split_at_mut(*stride));
            let [m0, m1, m2, m3] = [m0, m1, m2, m3].map(|column| S::as_mut_simd_f64s(column).0);
            let splat = |x: f64| simd.splat_f64s(x);
            let (p0, p1, p2, p3) = (splat(-p_j[0]), splat(-p_j[1]), splat(-p_j[2]), splat(-p_j[3]));
            let (q0, q1, q2, q3) = (splat(q_j[0]), splat(q_j[1]), splat(q_j[2]), splat(q_j[3]));
            let rows = S::as_simd_f64s(p).0.iter().zip(S::as_simd_f64s(q).0);
            let columns = m0.iter_mut().zip(m1).zip(m2.iter_mut().zip(m3));
            for (((m0, m1), (m2, m3)), (&p, &q)) in columns.zip(rows) {
                *m0 = simd.mul_add_f64s(p, p0, simd.mul_add_f64s(q, q0, *m0));
                *m1 = simd.mul_add_f64s(p, p1, simd.mul_add_f64s(q, q1, *m1));
                *m2 = simd.mul_add_f64s(p, p2, simd.mul_add_f64s(q, q2, *m2));
                *m3 = simd.mul_add_f64s(p, p3, simd.mul_add_f64s(q, q3, *m3));
            }
        }
    }
}
