//! Inner products of vectors, in vector registers.

use crate::{dispatch, work};
use faer::{Mat, MatMut};
use pulp::{Simd, WithSimd};

/// Σ x_i y_i on the calling thread, in vector registers. If the lengths differ, the longer vector
/// is cut to the length of the shorter one.
///
/// ```
/// use nystrom_linalg_core::ops;
/// let x: Vec<f64> = (0..37).map(f64::from).collect();
/// assert_eq!(ops::dot(&x, &x), 16206.0);
/// ```
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot_in(simd, self.0, self.1)
        }
    }
    dispatch(Dot(x, y))
}

/// [`dot`] inside code that is already dispatched to an instruction set: four sums over whole
/// registers, and one over the remaining entries.
#[inline(always)]
pub fn dot_in<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let size = x.len().min(y.len());
    let ((xs, x_rest), (ys, y_rest)) = (S::as_simd_f64s(&x[..size]), S::as_simd_f64s(&y[..size]));
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (x, y) in xs.chunks(4).zip(ys.chunks(4)) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum = simd.mul_add_e_f64s(*x, *y, *sum);
        }
    }
    let [a, b, c, d] = sums;
    let sum = simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d));
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    simd.reduce_sum_f64s(sum) + rest
}

/// The inner products of m vectors x_i and p vectors y_j of n numbers each: the m × p matrix with
/// the entries ⟨x_i, y_j⟩.
///
/// The vectors may lie anywhere in memory, and nothing is copied. On the calling thread, 2mpn
/// flops. Up to 4 × 4 entries are summed at the same time, so that a number is loaded into a
/// register once for four entries. The bits of an entry depend on its two vectors only. They may
/// differ from those of [`dot`], which adds in another order.
///
/// # Panics
/// If the vectors differ in length.
///
/// ```
/// use nystrom_linalg_core::ops;
/// let (a, b, c) = ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 2.0, 2.0]);
/// let products = ops::dots(&[&a, &b], &[&c]);
/// assert_eq!((products[(0, 0)], products[(1, 0)]), (12.0, 2.0));
/// ```
pub fn dots(xs: &[&[f64]], ys: &[&[f64]]) -> Mat<f64> {
    let size = xs.iter().chain(ys).next().map_or(0, |x| x.len());
    assert!(xs.iter().chain(ys).all(|x| x.len() == size), "vectors of the same length");
    work::product(xs.len(), ys.len(), size);
    let mut out = Mat::zeros(xs.len(), ys.len());
    dispatch(Dots { xs, ys, out: out.as_mut() });
    out
}

/// Vectors x_i of a tile.
const TILE_ROWS: usize = 4;

/// The task of [`dots`].
struct Dots<'a> {
    xs: &'a [&'a [f64]],
    ys: &'a [&'a [f64]],
    out: MatMut<'a, f64>,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // 4 × 4 sums fit 32 registers, 4 × 2 sums fit 16
        let width = if const { S::REGISTER_COUNT >= 32 } { 4 } else { 2 };
        for i in (0..self.xs.len()).step_by(TILE_ROWS) {
            for j in (0..self.ys.len()).step_by(width) {
                match width.min(self.ys.len() - j) {
                    1 => self.tile::<S, 1>(simd, i, j),
                    2 => self.tile::<S, 2>(simd, i, j),
                    3 => self.tile::<S, 3>(simd, i, j),
                    _ => self.tile::<S, 4>(simd, i, j),
                }
            }
        }
    }
}

impl Dots<'_> {
    /// The entries of rows i to i + 3 and columns j to j + P − 1, each with one register of sums
    /// and one sum over the remaining numbers. Rows beyond the last are computed as the last one
    /// and dropped.
    #[inline(always)]
    fn tile<S: Simd, const P: usize>(&mut self, simd: S, i: usize, j: usize) {
        let Dots { xs, ys, out } = self;
        let registers = S::as_simd_f64s(xs[i]).0.len();
        let (mut x, mut y) = ([(&[][..], &[][..]); TILE_ROWS], [(&[][..], &[][..]); P]);
        for (a, x) in x.iter_mut().enumerate() {
            let (whole, rest) = S::as_simd_f64s(xs[(i + a).min(xs.len() - 1)]);
            *x = (&whole[..registers], rest);
        }
        for (b, y) in y.iter_mut().enumerate() {
            let (whole, rest) = S::as_simd_f64s(ys[j + b]);
            *y = (&whole[..registers], rest);
        }
        let mut sums = [[simd.splat_f64s(0.0); P]; TILE_ROWS];
        for r in 0..registers {
            for (sums, x) in sums.iter_mut().zip(&x) {
                for (sum, y) in sums.iter_mut().zip(&y) {
                    *sum = simd.mul_add_e_f64s(x.0[r], y.0[r], *sum);
                }
            }
        }
        for (a, (sums, x)) in sums.iter().zip(&x).enumerate() {
            for (b, (sum, y)) in sums.iter().zip(&y).enumerate() {
                if i + a < out.nrows() {
                    let rest: f64 = x.1.iter().zip(y.1).map(|(x, y)| x * y).sum();
                    out[(i + a, j + b)] = simd.reduce_sum_f64s(*sum) + rest;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::Arch;

    /// The products by every instruction set of this machine.
    fn every_way(xs: &[&[f64]], ys: &[&[f64]]) -> Vec<Mat<f64>> {
        let mut results = vec![dots(xs, ys)];
        let mut add = |run: &dyn Fn(Dots<'_>)| {
            let mut out = Mat::zeros(xs.len(), ys.len());
            run(Dots { xs, ys, out: out.as_mut() });
            results.push(out);
        };
        add(&|task| Arch::new().dispatch(task));
        add(&|task| task.with_simd(pulp::Scalar::new()));
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            add(&|task| Simd::vectorize(avx2, task));
        }
        results
    }

    /// `count` vectors of `size` numbers.
    fn vectors(count: usize, size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
        (0..count).map(|i| (0..size).map(|r| entry(i, r)).collect()).collect()
    }

    fn slices(vectors: &[Vec<f64>]) -> Vec<&[f64]> {
        vectors.iter().map(Vec::as_slice).collect()
    }

    /// All remainders of tiles and registers; sums of integers are exact in any order.
    #[test]
    fn dots_are_those_of_a_loop() {
        let xs = vectors(9, 70, |i, r| ((7 * i + 3 * r + i * r) % 11) as f64 - 5.0);
        let ys = vectors(9, 70, |j, r| ((5 * j + 2 * r + j * r) % 13) as f64 - 6.0);
        for size in (0..20).chain([31, 32, 37, 64, 70]) {
            let cut = |vectors: &[Vec<f64>], count: usize| {
                vectors[..count].iter().map(|x| x[..size].to_vec()).collect::<Vec<_>>()
            };
            for (m, p) in (0..=9).flat_map(|m| (0..=9).map(move |p| (m, p))) {
                let (xs, ys) = (cut(&xs, m), cut(&ys, p));
                let plain =
                    Mat::from_fn(m, p, |i, j| (0..size).map(|r| xs[i][r] * ys[j][r]).sum::<f64>());
                for products in every_way(&slices(&xs), &slices(&ys)) {
                    assert_eq!(products, plain, "m = {m}, p = {p}, n = {size}");
                }
            }
        }
    }

    /// An entry has the same bits whatever other vectors are in the lists.
    #[test]
    fn an_entry_depends_on_its_two_vectors() {
        for size in [3, 37, 200] {
            let xs = vectors(7, size, |i, r| ((i * size + r) as f64).sin());
            let ys = vectors(6, size, |j, r| ((j * size + r) as f64).cos());
            let (xs, ys) = (slices(&xs), slices(&ys));
            let all = every_way(&xs, &ys);
            for (i, j) in (0..7).flat_map(|i| (0..6).map(move |j| (i, j))) {
                for (one, all) in every_way(&xs[i..=i], &ys[j..=j]).iter().zip(&all) {
                    assert_eq!(one[(0, 0)].to_bits(), all[(i, j)].to_bits(), "{size}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "vectors of the same length")]
    fn vectors_of_two_lengths_panic() {
        dots(&[&[1.0, 2.0]], &[&[1.0]]);
    }
}
