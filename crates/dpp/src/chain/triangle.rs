//! A lower triangular matrix laid out for the swap chain's inner loops: eight numbers at a time, no
//! remainders.
//!
//! All in `f64`; `wide.rs` adds what is done to 32 digits.

use faer::MatRef;
use nystrom_linalg_core::{ops::dot_in, work};
use pulp::{Simd, WithSimd};

/// A multiple of the numbers in a register: 8 with AVX-512, 4 with AVX2.
pub(super) const WIDTH: usize = 8;
/// Columns of L applied together in a triangular solve.
const COLUMNS: usize = 4;

/// L, c × c lower triangular, with room for one row and column more.
///
/// Column by column with a stride of c + 1 rounded up to a multiple of 8, and 8 more; whatever is
/// not in the lower triangle is 0, so that loops may begin above their first row and end below
/// their last.
#[derive(Debug, Clone)]
pub(super) struct Triangle {
    pub(super) c: usize,
    pub(super) stride: usize,
    pub(super) entries: Vec<f64>,
    // entries + low is L to 32 digits, as long as all exchanges are carried out so
    pub(super) low: Vec<f64>,
    pub(super) inverse: Vec<f64>, // 1/L_kk, and 0 beyond c
    pub(super) x: [Vec<f64>; 2],  // work space: a vector and what it lacks
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

    /// The lower triangle of `L` (c × c).
    pub fn set(&mut self, L: MatRef<'_, f64>) {
        for j in 0..self.c {
            for i in j..self.c {
                self.entries[j * self.stride + i] = L[(i, j)];
            }
            self.inverse[j] = L[(j, j)].recip();
        }
    }

    /// 1/L_kk for all k.
    pub fn inverse_diagonal(&self) -> &[f64] {
        &self.inverse[..self.c]
    }

    /// z ← L⁻¹z, and h ← L⁻¹h for an h that is 0 above `start`; then ‖z‖², ‖h‖², hᵀz. c²/2 and (c −
    /// start)²/2 multiply-adds.
    pub fn solve_both(&self, z: &mut [f64], h: &mut [f64], start: usize) -> [f64; 3] {
        work::triangular_solve(self.c, 1);
        work::triangular_solve(self.c - start, 1);
        pulp::Arch::new().dispatch(SolveBoth { L: self, z, h, start })
    }

    /// Columns k, …, k + 3 of a forward substitution, for N right-hand sides.
    #[inline(always)]
    fn forward_step<S: Simd, const N: usize>(&self, simd: S, k: usize, mut rhs: [&mut [f64]; N]) {
        let top = k / WIDTH * WIDTH;
        let column =
            |j: usize| &self.entries[(k + j) * self.stride + top..][..self.inverse.len() - top];
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
            subtract(simd, &mut x[top..], L, solved);
            // their rows of L lie in the range just subtracted
            x[k..k + COLUMNS].copy_from_slice(&solved);
        }
    }

    /// The row (zᵀ, `corner`) below; z has c entries that count.
    pub fn append(&mut self, z: &[f64], corner: f64) {
        let c = self.c;
        for (j, &z) in z[..c].iter().enumerate() {
            self.entries[j * self.stride + c] = z;
        }
        self.entries[c * self.stride + c] = corner;
    }

    /// Row and column p of the c + 1 leave: what is behind them moves up and left by one, rotated
    /// so that LLᵀ without row and column p is as before.
    pub fn delete(&mut self, p: usize) {
        work::flops(3 * (self.c - p) * (self.c - p + 1));
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
        [dot_in(simd, z, z), dot_in(simd, h, h), dot_in(simd, h, z)]
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
        let Delete { L: Triangle { c, stride, entries, inverse, x: [x, _], .. }, p } = self;
        let (c, stride) = (*c, *stride);
        for column in entries.chunks_exact_mut(stride).take(p) {
            column.copy_within(p + 1.., p);
        }
        let below = stride - p - 1;
        // column p, to be rotated away
        x[..below].copy_from_slice(&entries[p * stride + p + 1..(p + 1) * stride]);
        for k in p + 1..=c {
            let length = (c + 2 - k).next_multiple_of(WIDTH); // row c is then 0 again
            let (left, right) = entries.split_at_mut(k * stride);
            let (to, from) =
                (&mut left[(k - 1) * stride + k - 1..][..length], &right[k..][..length]);
            let x = &mut x[k - p - 1..][..length];
            let r = (from[0] * from[0] + x[0] * x[0]).sqrt();
            inverse[k - 1] = r.recip();
            rotate(simd, to, from, x, [from[0] / r, x[0] / r]);
        }
        entries[c * stride + c] = 0.0;
    }
}

/// x −= L·s, four columns of L.
#[inline(always)]
pub(super) fn subtract<S: Simd>(simd: S, x: &mut [f64], L: [&[f64]; COLUMNS], s: [f64; COLUMNS]) {
    let [l0, l1, l2, l3] = L.map(|column| S::as_simd_f64s(column).0);
    let [s0, s1, s2, s3] = s.map(|s| simd.splat_f64s(-s));
    let x = S::as_mut_simd_f64s(x).0;
    for ((x, (l0, l1)), (l2, l3)) in x.iter_mut().zip(l0.iter().zip(l1)).zip(l2.iter().zip(l3)) {
        let sum = simd.mul_add_e_f64s(*l1, s1, simd.mul_add_e_f64s(*l0, s0, *x));
        *x = simd.mul_add_e_f64s(*l3, s3, simd.mul_add_e_f64s(*l2, s2, sum));
    }
}

/// (to, x) ← (cos·from + sin·x, cos·x − sin·from).
#[inline(always)]
fn rotate<S: Simd>(simd: S, to: &mut [f64], from: &[f64], x: &mut [f64], [cos, sin]: [f64; 2]) {
    let (to, from, x) =
        (S::as_mut_simd_f64s(to).0, S::as_simd_f64s(from).0, S::as_mut_simd_f64s(x).0);
    let (cos, sin, minus_sin) = (simd.splat_f64s(cos), simd.splat_f64s(sin), simd.splat_f64s(-sin));
    for ((to, from), x) in to.iter_mut().zip(from).zip(x) {
        *to = simd.mul_add_e_f64s(cos, *from, simd.mul_f64s(sin, *x));
        *x = simd.mul_add_e_f64s(cos, *x, simd.mul_f64s(minus_sin, *from));
    }
}
