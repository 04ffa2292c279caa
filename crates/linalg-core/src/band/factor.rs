//! B − σI = PLU for a band matrix, with partial pivoting.

use super::Band;
use super::vectors::add_in;
use crate::ops::dot_in;
use crate::{dispatch, work};
use pulp::{Simd, WithSimd};

/// The factors of B − σI. At any step, the at most b + 1 candidate rows for the next pivot are in
/// b + 1 places; the multipliers of a step are listed by place.
///
/// 4nb² flops, 3nb numbers of memory; 6nb flops per solve.
///
/// Source: G. Golub, C. Van Loan, *Matrix computations*, 4.3.3.
pub(super) struct BandFactor {
    n: usize,
    b: usize,
    upper: Vec<f64>,    // row j, from its diagonal entry on, is at index j·(2b + 1)
    lower: Vec<f64>,    // the multipliers of step j are at index j·(b + 1)
    places: Vec<usize>, // the place of the pivot row of step j
}

impl BandFactor {
    /// Factors B − `shift`·I. A pivot whose absolute value is below `least` is replaced by `least`.
    pub fn new(band: &Band, shift: f64, least: f64) -> Self {
        let (n, b) = (band.n, band.b);
        work::flops(4 * n * b * b);
        let mut factor = BandFactor {
            n,
            b,
            upper: vec![0.0; n * (2 * b + 1)],
            lower: vec![0.0; n * (b + 1)],
            places: vec![0; n],
        };
        dispatch(Eliminate { band, shift, least, factor: &mut factor });
        factor
    }

    /// x ← (B − σI)⁻¹x.
    pub fn solve(&self, x: &mut [f64]) {
        work::flops(6 * self.n * self.b);
        dispatch(Solve { factor: self, x });
    }
}

struct Eliminate<'a> {
    band: &'a Band,
    shift: f64,
    least: f64,
    factor: &'a mut BandFactor,
}

impl Eliminate<'_> {
    /// out ← row i of B − σI, from column max(i − b, 0) on.
    #[inline(always)]
    fn row(&self, i: usize, out: &mut [f64]) {
        let Band { n, b, ref entries } = *self.band;
        let first = i.saturating_sub(b);
        out.fill(0.0);
        for j in first..i {
            out[j - first] = entries[j * (b + 1) + i - j];
        }
        let size = (b + 1).min(n - i);
        out[i - first..][..size].copy_from_slice(&entries[i * (b + 1)..][..size]);
        out[i - first] -= self.shift;
    }
}

impl WithSimd for Eliminate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Band { n, b, .. } = *self.band;
        let width = 2 * b + 1;
        let mut rows = vec![0.0; (b + 1) * width];
        let mut waiting = vec![false; b + 1];
        for i in 0..n.min(b + 1) {
            self.row(i, &mut rows[i * width..(i + 1) * width]);
            waiting[i] = true;
        }
        for j in 0..n {
            let head = |place: usize| rows[place * width].abs();
            let better = |best: Option<usize>, place: usize| match best {
                _ if !waiting[place] => best,
                Some(known) if head(known) >= head(place) => best,
                _ => Some(place),
            };
            let place = (0..=b).fold(None, better).expect("as many rows as columns");
            let pivot = &mut self.factor.upper[j * width..(j + 1) * width];
            pivot.copy_from_slice(&rows[place * width..(place + 1) * width]);
            if pivot[0].abs() < self.least {
                pivot[0] = self.least;
            }
            let (inverse, rest) = (pivot[0].recip(), &pivot[1..]);
            let multipliers = &mut self.factor.lower[j * (b + 1)..(j + 1) * (b + 1)];
            for (at, row) in rows.chunks_exact_mut(width).enumerate() {
                if at == place || !waiting[at] {
                    continue;
                }
                let multiplier = row[0] * inverse;
                for t in 0..rest.len() {
                    row[t] = row[t + 1] - multiplier * rest[t];
                }
                row[2 * b] = 0.0;
                multipliers[at] = multiplier;
            }
            self.factor.places[j] = place;
            waiting[place] = j + b + 1 < n;
            if waiting[place] {
                self.row(j + b + 1, &mut rows[place * width..(place + 1) * width]);
            }
        }
    }
}

struct Solve<'a> {
    factor: &'a BandFactor,
    x: &'a mut [f64],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let BandFactor { n, b, ref upper, ref lower, ref places } = *self.factor;
        let mut x = vec![0.0; n + 2 * b]; // zeros after the last row
        x[..n].copy_from_slice(self.x);
        let mut waiting = x[..=b].to_vec();
        for j in 0..n {
            let place = places[j];
            let y = waiting[place];
            add_in(simd, &mut waiting, -y, &lower[j * (b + 1)..(j + 1) * (b + 1)]);
            waiting[place] = if j + b + 1 < n { x[j + b + 1] } else { 0.0 };
            x[j] = y;
        }
        for j in (0..n).rev() {
            let row = &upper[j * (2 * b + 1)..(j + 1) * (2 * b + 1)];
            let known = dot_in(simd, &row[1..], &x[j + 1..]);
            x[j] = (x[j] - known) / row[0];
        }
        self.x.copy_from_slice(&x[..n]);
    }
}
