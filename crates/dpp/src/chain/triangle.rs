//! A lower triangular matrix laid out for the swap chain's inner loops: eight numbers at a time, no remainders.
//!
//! Proposals read it in `f64`; exchanges extend and rotate it in numbers of two `f64`.

use super::double::Double;
use pulp::{Simd, WithSimd};

/// A multiple of the numbers in a register: 8 with AVX-512, 4 with AVX2.
const WIDTH: usize = 8;
/// Columns of L applied together in a triangular solve.
const COLUMNS: usize = 4;

/// L, c × c lower triangular, with room for one row and column more.
///
/// Column by column with a stride of c + 1 rounded up to a multiple of 8, and 8 more; whatever is not in the lower triangle is 0, so
/// that loops may begin above their first row and end below their last.
#[derive(Debug, Clone)]
pub(super) struct Triangle {
    c: usize,
    stride: usize,
    entries: Vec<f64>,
    low: Vec<f64>,     // what the entries lack, so that entries + low is L to 32 digits
    inverse: Vec<f64>, // 1/L_kk, and 0 beyond c
    x: [Vec<f64>; 2],  // work space: a vector and what it lacks
}

impl Triangle {
    pub fn zeros(c: usize) -> Self {
        let padded = (c + 1).next_multiple_of(WIDTH);
        let stride = padded + WIDTH;
        let zeros = || vec![0.0; stride * padded];
        let x = [vec![0.0; stride], vec![0.0; stride]];
        Triangle { c, stride, entries: zeros(), low: zeros(), inverse: vec![0.0; padded], x }
    }

    /// A vector for the functions below: its first c entries count, the others are 0.
    pub fn vector(&self) -> Vec<f64> {
        vec![0.0; self.stride]
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[j * self.stride + i]
    }

    /// (LLᵀ)_pp to 32 digits, rounded.
    pub fn diagonal_of_product(&self, p: usize) -> f64 {
        let row = (0..=p).map(|j| Double::new(self.at(p, j), self.low[j * self.stride + p]));
        row.fold(Double::from(0.0), |sum, l| sum + l * l).high
    }

    /// z ← L⁻¹z, and h ← L⁻¹h for an h that is 0 above `start`; then ‖z‖², ‖h‖², hᵀz. c²/2 and (c − start)²/2 multiply-adds.
    pub fn solve_both(&self, z: &mut [f64], h: &mut [f64], start: usize) -> [f64; 3] {
        pulp::Arch::new().dispatch(SolveBoth { L: self, z, h, start })
    }

    /// Columns k, …, k + 3 of a forward substitution, for N right-hand sides.
    #[inline(always)]
    fn forward_step<S: Simd, const N: usize>(&self, simd: S, k: usize, mut rhs: [&mut [f64]; N]) {
        let top = k / WIDTH * WIDTH;
        let column = |j: usize| &self.entries[(k + j) * self.stride + top..][..self.inverse.len() - top];
        let L = [column(0), column(1), column(2), column(3)];
        let l = |i: usize, j: usize| L[j][k - top + i];
        let inverse = &self.inverse[k..k + COLUMNS];
        let solved: [_; N] = std::array::from_fn(|r| {
            let x = &rhs[r][k..k + COLUMNS];
            let x0 = x[0] * inverse[0];
            let x1 = (x[1] - l(1, 0) * x0) * inverse[1];
            let x2 = (x[2] - l(2, 0) * x0 - l(2, 1) * x1) * inverse[2];
            let x3 = (x[3] - l(3, 0) * x0 - l(3, 1) * x1 - l(3, 2) * x2) * inverse[3];
            [x0, x1, x2, x3]
        });
        for (x, solved) in rhs.iter_mut().zip(solved) {
            subtract_four(simd, &mut x[top..], L, solved);
            x[k..k + COLUMNS].copy_from_slice(&solved); // their rows of L lie in the range just subtracted
        }
    }

    /// Row m below the first m, so that LLᵀ has the row (kᵀ, κ): z = L⁻¹k and √(κ − ‖z‖²) in the corner, to 32 digits. Returns
    /// κ − ‖z‖²; the corner is 0 if that is not positive. About m²/2 multiply-adds of [`Double`]s.
    pub fn extend(&mut self, m: usize, k: &[f64], kappa: f64) -> f64 {
        pulp::Arch::new().dispatch(Extend { L: self, m, k, kappa })
    }

    /// Row and column p of the c + 1 leave: what is behind them moves up and left by one, rotated so that LLᵀ without row and column p
    /// is as before, to 32 digits.
    pub fn delete(&mut self, p: usize) {
        pulp::Arch::new().dispatch(Delete { L: self, p });
    }
}

struct SolveBoth<'a> {
    L: &'a Triangle,
    z: &'a mut [f64],
    h: &'a mut [f64],
    start: usize,
}

impl WithSimd for SolveBoth<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
        let SolveBoth { L, z, h, start } = self;
        let start = start / COLUMNS * COLUMNS;
        for k in (0..start).step_by(COLUMNS) {
            L.forward_step(simd, k, [&mut *z]);
        }
        for k in (start..L.c).step_by(COLUMNS) {
            L.forward_step(simd, k, [&mut *z, &mut *h]);
        }
        [dot(simd, z, z), dot(simd, h, h), dot(simd, h, z)]
    }
}

struct Extend<'a> {
    L: &'a mut Triangle,
    m: usize,
    k: &'a [f64],
    kappa: f64,
}

impl WithSimd for Extend<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Extend { L: Triangle { c, stride, entries, low, inverse, x: [x, x_low] }, m, k, kappa } = self;
        let (stride, end) = (*stride, m.next_multiple_of(WIDTH));
        x[..m].copy_from_slice(&k[..m]);
        x_low[..m].fill(0.0);
        let mut rest = Double::from(kappa); // κ − ‖z‖²
        for j in 0..m {
            let (at, column) = (j * stride + j, j * stride + m);
            let z = Double::new(x[j], x_low[j]).divided_by(Double::new(entries[at], low[at]), inverse[j]);
            let rows = j / WIDTH * WIDTH..end; // x above row j is no longer read
            let L = [&entries, &low].map(|part| &part[j * stride..][rows.clone()]);
            subtract(simd, [&mut x[rows.clone()], &mut x_low[rows.clone()]], L, z);
            (entries[column], low[column]) = (z.high, z.low);
            rest = rest - z * z;
        }
        let root = if rest.high > 0.0 { rest.inverse_root() } else { Double::from(0.0) };
        let corner = rest * root;
        (entries[m * stride + m], low[m * stride + m]) = (corner.high, corner.low);
        if m < *c {
            inverse[m] = root.high;
        }
        rest.high
    }
}

struct Delete<'a> {
    L: &'a mut Triangle,
    p: usize,
}

impl WithSimd for Delete<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Delete { L: Triangle { c, stride, entries, low, inverse, x: [x, x_low] }, p } = self;
        let (c, stride) = (*c, *stride);
        for part in [&mut *entries, &mut *low] {
            part.chunks_exact_mut(stride).take(p).for_each(|column| column.copy_within(p + 1.., p));
        }
        let below = c - p;
        let leaving = p * stride + p + 1..p * stride + c + 1; // column p, to be rotated away
        for (x, part) in [(&mut *x, &*entries), (&mut *x_low, &*low)] {
            x[..below].copy_from_slice(&part[leaving.clone()]);
            x[below..].fill(0.0);
        }
        for k in p + 1..=c {
            let length = (c + 2 - k).next_multiple_of(WIDTH); // row c is then 0 again
            let [(to, from), (to_low, from_low)] = [&mut *entries, &mut *low].map(|part| {
                let (left, right) = part.split_at_mut(k * stride);
                (&mut left[(k - 1) * stride + k - 1..][..length], &right[k..][..length])
            });
            let (x, x_low) = (&mut x[k - p - 1..][..length], &mut x_low[k - p - 1..][..length]);
            let (a, b) = (Double::new(from[0], from_low[0]), Double::new(x[0], x_low[0]));
            let root = (a * a + b * b).inverse_root();
            inverse[k - 1] = root.high;
            rotate(simd, [to, to_low], [from, from_low], [x, x_low], [a * root, b * root]);
        }
        entries[c * stride + c] = 0.0;
        low[c * stride + c] = 0.0;
    }
}

/// x −= l·s to 32 digits; vectors with their low parts.
#[inline(always)]
fn subtract<S: Simd>(simd: S, [x, x_low]: [&mut [f64]; 2], l: [&[f64]; 2], s: Double) {
    let (x, x_low) = (S::as_mut_simd_f64s(x).0, S::as_mut_simd_f64s(x_low).0);
    let [l, l_low] = l.map(|l| S::as_simd_f64s(l).0);
    let [s, minus, minus_low] = [s.high, -s.high, -s.low].map(|s| simd.splat_f64s(s));
    for ((x, x_low), (&l, &l_low)) in x.iter_mut().zip(x_low).zip(l.iter().zip(l_low)) {
        let product = simd.mul_f64s(l, minus);
        let excess = simd.mul_add_f64s(l, s, product); // −ls = product − excess
        let [sum, error] = two_sum(simd, *x, product);
        let small = simd.mul_add_f64s(l_low, minus, simd.mul_add_f64s(l, minus_low, *x_low));
        [*x, *x_low] = quick_sum(simd, sum, simd.add_f64s(simd.sub_f64s(error, excess), small));
    }
}

/// (to, x) ← (cos·from + sin·x, cos·x − sin·from) to 32 digits; vectors with their low parts.
#[inline(always)]
fn rotate<S: Simd>(
    simd: S,
    [to, to_low]: [&mut [f64]; 2],
    from: [&[f64]; 2],
    [x, x_low]: [&mut [f64]; 2],
    [cos, sin]: [Double; 2],
) {
    let (to, to_low) = (S::as_mut_simd_f64s(to).0, S::as_mut_simd_f64s(to_low).0);
    let (x, x_low) = (S::as_mut_simd_f64s(x).0, S::as_mut_simd_f64s(x_low).0);
    let [from, from_low] = from.map(|from| S::as_simd_f64s(from).0);
    let [cos, sin, minus] = [cos, sin, -sin].map(|a| [a.high, a.low, -a.high].map(|a| simd.splat_f64s(a)));
    let to = to.iter_mut().zip(to_low);
    for (((to, to_low), (&f, &f_low)), (x, x_low)) in to.zip(from.iter().zip(from_low)).zip(x.iter_mut().zip(x_low)) {
        let (from, old) = ([f, f_low], [*x, *x_low]);
        [*to, *to_low] = combination(simd, cos, from, sin, old);
        [*x, *x_low] = combination(simd, cos, old, minus, from);
    }
}

/// a·x + b·y to 32 digits, the factors with their low parts and the negative of their high ones.
#[inline(always)]
fn combination<S: Simd>(
    simd: S,
    [a, a_low, minus_a]: [S::f64s; 3],
    [x, x_low]: [S::f64s; 2],
    [b, b_low, minus_b]: [S::f64s; 3],
    [y, y_low]: [S::f64s; 2],
) -> [S::f64s; 2] {
    let (p, q) = (simd.mul_f64s(a, x), simd.mul_f64s(b, y));
    let excess = simd.add_f64s(simd.mul_add_f64s(minus_a, x, p), simd.mul_add_f64s(minus_b, y, q)); // p + q − (ax + by)
    let [sum, error] = two_sum(simd, p, q);
    let small = simd.mul_add_f64s(a_low, x, simd.mul_f64s(b_low, y));
    let small = simd.mul_add_f64s(a, x_low, simd.mul_add_f64s(b, y_low, small));
    quick_sum(simd, sum, simd.add_f64s(simd.sub_f64s(error, excess), small))
}

/// a + b and its rounding error (Knuth).
#[inline(always)]
fn two_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> [S::f64s; 2] {
    let sum = simd.add_f64s(a, b);
    let t = simd.sub_f64s(sum, a);
    [sum, simd.add_f64s(simd.sub_f64s(a, simd.sub_f64s(sum, t)), simd.sub_f64s(b, t))]
}

/// The same for |a| ≥ |b| (Dekker).
#[inline(always)]
fn quick_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> [S::f64s; 2] {
    let sum = simd.add_f64s(a, b);
    [sum, simd.sub_f64s(b, simd.sub_f64s(sum, a))]
}

/// x −= L·s, four columns of L.
#[inline(always)]
fn subtract_four<S: Simd>(simd: S, x: &mut [f64], L: [&[f64]; COLUMNS], s: [f64; COLUMNS]) {
    let [l0, l1, l2, l3] = L.map(|column| S::as_simd_f64s(column).0);
    let [s0, s1, s2, s3] = s.map(|s| simd.splat_f64s(-s));
    let x = S::as_mut_simd_f64s(x).0;
    for ((x, (l0, l1)), (l2, l3)) in x.iter_mut().zip(l0.iter().zip(l1)).zip(l2.iter().zip(l3)) {
        let sum = simd.mul_add_e_f64s(*l1, s1, simd.mul_add_e_f64s(*l0, s0, *x));
        *x = simd.mul_add_e_f64s(*l3, s3, simd.mul_add_e_f64s(*l2, s2, sum));
    }
}

/// Σ x_i y_i.
#[inline(always)]
fn dot<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let pairs = S::as_simd_f64s(x).0.iter().zip(S::as_simd_f64s(y).0);
    simd.reduce_sum_f64s(pairs.fold(simd.splat_f64s(0.0), |sum, (x, y)| simd.mul_add_e_f64s(*x, *y, sum)))
}
