//! Exchanges carried out to 32 digits: a row below L, and a row that leaves it.

use super::double::Double;
use super::triangle::{Triangle, WIDTH};
use nystrom_linalg_core::work;
use pulp::{Simd, WithSimd};

impl Triangle {
    /// (LLᵀ)_pp to 32 digits, rounded.
    pub fn diagonal_of_product_wide(&self, p: usize) -> f64 {
        let row = (0..=p).map(|j| Double::new(self.at(p, j), self.low[j * self.stride + p]));
        row.fold(Double::from(0.0), |sum, l| sum + l * l).high
    }

    /// Row m below the first m, so that LLᵀ has the row (kᵀ, κ): z = L⁻¹k and √(κ − ‖z‖²) in the
    /// corner, to 32 digits. Returns κ − ‖z‖²; the corner is 0 if that is not positive. About m²/2
    /// multiply-adds of [`Double`]s.
    pub fn extend_wide(&mut self, m: usize, k: &[f64], kappa: f64) -> f64 {
        work::triangular_solve(m, 1);
        pulp::Arch::new().dispatch(Extend { L: self, m, k, kappa })
    }

    /// As [`delete`](Self::delete), to 32 digits.
    pub fn delete_wide(&mut self, p: usize) {
        work::flops(3 * (self.c - p) * (self.c - p + 1));
        pulp::Arch::new().dispatch(Delete { L: self, p });
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
        let Extend { L, m, k, kappa } = self;
        let Triangle { c, stride, entries, low, inverse, x: [x, x_low] } = L;
        let (stride, end) = (*stride, m.next_multiple_of(WIDTH));
        x[..m].copy_from_slice(&k[..m]);
        x_low[..m].fill(0.0);
        let mut rest = Double::from(kappa); // κ − ‖z‖²
        for j in 0..m {
            let (at, column) = (j * stride + j, j * stride + m);
            let z = Double::new(x[j], x_low[j])
                .divided_by(Double::new(entries[at], low[at]), inverse[j]);
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
    let [cos, sin, minus] =
        [cos, sin, -sin].map(|a| [a.high, a.low, -a.high].map(|a| simd.splat_f64s(a)));
    let to = to.iter_mut().zip(to_low);
    for (((to, to_low), (&f, &f_low)), (x, x_low)) in
        to.zip(from.iter().zip(from_low)).zip(x.iter_mut().zip(x_low))
    {
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
    // p + q − (ax + by)
    let excess = simd.add_f64s(simd.mul_add_f64s(minus_a, x, p), simd.mul_add_f64s(minus_b, y, q));
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
