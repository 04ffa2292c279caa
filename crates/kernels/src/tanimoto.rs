//! The Tanimoto kernel of sets of bits.

use crate::bit_panels::{BitPanels, PANEL};
use crate::load::saved_kernel;
use crate::tile::{ROWS, for_each_lower_tile, for_each_tile};
use crate::{Kernel, Points};
use faer::reborrow::*;
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{
    CountOnes, Error, Result, RowTree, Scalar, WithOnes, dispatch_ones, work,
};
use pulp::Simd;
use pulp::bytemuck::cast_slice;
use std::ops::Range;

/// Most points of a block that are packed at a time.
const PACKED: usize = 8192;

/// The Tanimoto (Jaccard) kernel |x ∧ y|/|x ∨ y| of rows of bits, made by [`Bits`](crate::Bits):
/// the number of common ones, divided by the number of positions with a one in either row.
///
/// k(x, x) = 1, also for a row without ones, and two rows without ones have k = 1. With this
/// convention the kernel is still positive semi-definite: rows without ones have the values of rows
/// with a single one, at a further position that no other row uses. All values are quotients of
/// whole numbers, correctly rounded, so that every processor computes the same bits.
///
/// Points are those of [`Bits::points`](crate::Bits::points): d numbers in [1, 2), each with 52
/// bits in `f64` or 23 in `f32`. [`check_points`](Kernel::check_points) refuses others, but it
/// cannot tell packed bits from other numbers in [1, 2).
///
/// # Cost
/// A block of n × m entries of b bits takes n·m·b/64 steps, each a conjunction, a count and an
/// addition of 64-bit words; a register of AVX-512 with VPOPCNTDQ takes 8 at a time. Up to 8192
/// rows and 8192 columns of a block are copied at a time, all points for a Gram matrix.
///
/// # Source
/// L. Ralaivola, S. J. Swamidass, H. Saigo & P. Baldi, *Graph kernels for chemical informatics*,
/// Neural Networks 18 (2005), with the proof that the kernel is positive semi-definite.
///
/// ```
/// use nystrom_kernels::{Bits, Kernel, KernelMatrix, Points, Tanimoto};
/// let bits = Bits::<f64>::from_positions([vec![0, 3, 1000], vec![3, 1000], vec![]], 2048)?;
/// let k = Tanimoto.gram(bits.points());
/// assert_eq!((k[(0, 1)], k[(0, 2)], k[(2, 2)]), (2.0 / 3.0, 0.0, 1.0));
/// // coordinates that are not packed bits are refused
/// let error = KernelMatrix::new(Tanimoto, Points::from_slice(&[0.0, 1.0])).unwrap_err();
/// assert!(error.to_string().contains("point 0 has the coordinate 0"));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tanimoto;

saved_kernel! { [] Tanimoto = "tanimoto".into(), {} of {}, |_| Ok(Tanimoto) }

impl<T: Scalar> Kernel<T> for Tanimoto {
    fn eval_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        assert!(
            out.nrows() == x.len() && out.ncols() == y.len(),
            "a block has a row per x and a column per y"
        );
        assert_eq!(x.dim(), y.dim(), "points of one dimension");
        work::entries(x.len(), y.len());
        for cols in RowTree::tiles(0..y.len(), PACKED) {
            let packed_y = BitPanels::new(y.slice(cols.clone()));
            for rows in RowTree::tiles(0..x.len(), PACKED) {
                let packed_x = BitPanels::new(x.slice(rows.clone()));
                let out = out.rb_mut().subcols_mut(cols.start, cols.len());
                block(out.subrows_mut(rows.start, rows.len()), &packed_x, &packed_y);
            }
        }
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        assert_eq!(out.nrows(), x.len(), "a diagonal has an entry per point");
        work::diagonal_entries(x.len());
        out.fill(T::one());
    }

    /// Checks that n ≥ 1, d ≥ 1 and that all coordinates are in [1, 2). O(nd).
    ///
    /// # Errors
    /// Those of [`Points::check`], and [`Error::Coordinate`] for a number outside [1, 2).
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        if x.is_empty() || x.dim() == 0 || x.is_sparse() {
            return x.check_dense();
        }
        for row in 0..x.len() {
            for (col, value) in x.as_cols().col(row).iter().map(|value| value.f64()).enumerate() {
                if !(1.0..2.0).contains(&value) {
                    x.check()?;
                    let requirement = "in [1, 2), a coordinate of packed bits; pack rows of bits \
                                       with `Bits`";
                    return Err(Error::Coordinate { row, col, value, requirement });
                }
            }
        }
        Ok(())
    }

    fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
        assert_eq!(out.nrows(), x.len(), "a Gram matrix has a row per point");
        work::entries(x.len(), x.len());
        let x = &BitPanels::new(x);
        for_each_lower_tile(out, |out, rows, cols| {
            dispatch_ones(Fill { out, x, rows, y: x, cols })
        });
    }
}

/// out[(i, j)] = k(x_i, y_j).
fn block<T: Scalar>(out: MatMut<'_, T>, x: &BitPanels, y: &BitPanels) {
    if out.row_stride() != 1 && out.col_stride() == 1 {
        return block(out.transpose_mut(), y, x); // k(x, y) = k(y, x)
    }
    for_each_tile(out, |out, rows, cols| dispatch_ones(Fill { out, x, rows, y, cols }));
}

/// The task of filling one tile: out[(i, j)] = k(x_i, y_j) for the points `rows` of x and `cols` of
/// y, which begin with a panel.
struct Fill<'a, T> {
    out: MatMut<'a, T>,
    x: &'a BitPanels,
    rows: Range<usize>,
    y: &'a BitPanels,
    cols: Range<usize>,
}

impl<T: Scalar> WithOnes for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_ones<S: Simd, C: CountOnes<S>>(self, simd: S, count: C) {
        if self.cols.len() == 1 {
            self.run::<S, C, 1, 1>(simd, count);
        } else if const { S::U64_LANES == 8 } {
            self.run::<S, C, 2, 8>(simd, count);
        } else {
            self.run::<S, C, 1, 4>(simd, count);
        }
    }
}

impl<T: Scalar> Fill<'_, T> {
    /// Fills the tile `WIDTH` columns at a time, with counts for `R` registers of rows in
    /// registers.
    #[inline(always)]
    fn run<S: Simd, C: CountOnes<S>, const R: usize, const WIDTH: usize>(
        mut self,
        simd: S,
        count: C,
    ) {
        let mut common = [[0.0; ROWS]; WIDTH];
        for first in self.cols.clone().step_by(WIDTH) {
            let y = self.y.panel(first / PANEL);
            for row in self.rows.clone().step_by(PANEL) {
                let x = self.x.panel(row / PANEL);
                for register in (0..PANEL / S::U64_LANES).step_by(R) {
                    let counts: [_; WIDTH] = count_common::<S, C, R, WIDTH>(
                        (simd, count),
                        x.iter().map(|words| &S::as_simd_u64s(&words.0).0[register..]),
                        y.iter().map(|words| &words.0[first % PANEL..]),
                    );
                    let at = row - self.rows.start + register * S::U64_LANES;
                    for (common, counts) in common.iter_mut().zip(&counts) {
                        let counts: &[f64] = cast_slice(counts);
                        common[at..at + counts.len()].copy_from_slice(counts);
                    }
                }
            }
            for (j, common) in (first..self.cols.end).zip(&common) {
                let out = self.out.rb_mut().col_mut(j - self.cols.start);
                let own = self.y.ones(j..j + 1)[0];
                similarities(out, common, self.x.ones(self.rows.clone()), own);
            }
        }
    }
}

/// 2⁵²: the sum of it and a whole number below is an `f64` whose last bits are that number.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// The numbers of common ones of `R` registers of points and `WIDTH` points, as `f64`.
#[inline(always)]
fn count_common<'a, S: Simd, C: CountOnes<S>, const R: usize, const WIDTH: usize>(
    (simd, count): (S, C),
    x: impl Iterator<Item = &'a [S::u64s]>,
    y: impl Iterator<Item = &'a [u64]>,
) -> [[S::f64s; R]; WIDTH] {
    let mut sums = [[simd.splat_u64s(TWO_52.to_bits()); R]; WIDTH];
    for (x, y) in x.zip(y) {
        let (x, y): (&[_; R], &[_; WIDTH]) =
            (x[..R].try_into().expect("R"), y[..WIDTH].try_into().expect("WIDTH"));
        for j in 0..WIDTH {
            let y = simd.splat_u64s(y[j]);
            for i in 0..R {
                let ones = count.ones(simd, simd.and_u64s(x[i], y));
                sums[j][i] = simd.add_u64s(sums[j][i], ones);
            }
        }
    }
    let base = simd.splat_f64s(TWO_52);
    let mut counts = [[base; R]; WIDTH];
    for j in 0..WIDTH {
        for i in 0..R {
            counts[j][i] = simd.sub_f64s(simd.transmute_f64s_u64s(sums[j][i]), base);
        }
    }
    counts
}

/// out[i] = |x_i ∧ y|/|x_i ∨ y| from the numbers of common ones and those of ones of x_i and y.
#[inline(always)]
fn similarities<T: Scalar>(mut out: ColMut<'_, T>, common: &[f64], ones: &[f64], own: f64) {
    let similarity = |common: f64, ones: f64| {
        let all = ones + own;
        let empty = if all > 0.0 { 0.0 } else { 1.0 };
        T::lit(common + empty) / T::lit(all - common + empty)
    };
    let values = common.iter().zip(ones).map(|(&common, &ones)| similarity(common, ones));
    match out.rb_mut().try_as_col_major_mut() {
        Some(out) => out.as_slice_mut().iter_mut().zip(values).for_each(|(out, k)| *out = k),
        None => out.iter_mut().zip(values).for_each(|(out, k)| *out = k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bits;
    use faer::Mat;
    use nystrom_linalg_core::testing::{every_way_of_counting_ones, rng};
    use rand::RngExt;

    /// The block of all x and y.
    struct Whole<'a, T>(&'a BitPanels, &'a BitPanels, Mat<T>);

    impl<T: Scalar> WithOnes for Whole<'_, T> {
        type Output = Mat<T>;
        #[inline(always)]
        fn with_ones<S: Simd, C: CountOnes<S>>(self, simd: S, count: C) -> Mat<T> {
            let Whole(x, y, mut k) = self;
            let (rows, cols) = (0..k.nrows(), 0..k.ncols());
            Fill { out: k.as_mut(), x, rows, y, cols }.with_ones(simd, count);
            k
        }
    }

    #[test]
    fn every_instruction_set_computes_the_same_bits() {
        fn check<T: Scalar>(bits: usize, n: usize, m: usize) {
            let rng = &mut rng(bits as u64);
            let rows: Vec<Vec<usize>> = (0..n + m)
                .map(|i| {
                    (0..bits).filter(|_| rng.random::<f64>() < 0.1 * (i % 10) as f64).collect()
                })
                .collect();
            let points = Bits::<T>::from_positions(rows.clone(), bits).unwrap();
            let x = BitPanels::new(points.points().slice(0..n));
            let y = BitPanels::new(points.points().slice(n..n + m));
            let expected = Mat::from_fn(n, m, |i, j| {
                let (x, y) = (&rows[i], &rows[n + j]);
                let common = x.iter().filter(|one| y.contains(one)).count();
                let all = x.len() + y.len() - common;
                if all > 0 { T::of(common) / T::of(all) } else { T::one() }
            });
            for (name, k) in every_way_of_counting_ones(|| Whole(&x, &y, Mat::<T>::zeros(n, m))) {
                assert_eq!(k, expected, "{name}, {bits} bits");
            }
        }
        for bits in (1..=200).chain([2048]) {
            for (n, m) in [(20, 13), (3, 1)] {
                check::<f64>(bits, n, m);
                check::<f32>(bits, n, m);
            }
        }
    }
}
