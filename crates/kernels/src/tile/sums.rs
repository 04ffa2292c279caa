//! Sums over coordinates for a micro-tile, accumulated in registers.

use super::lanes::Lanes;
use super::pack::Aligned;
use crate::metric::Metric;
use nystrom_linalg_core::{Scalar, Vectorised};
use pulp::Simd;

/// Registers of rows in a micro-tile.
pub(super) const REGISTERS: usize = 2;
/// Columns of a group: 2 × 4 sums, two registers of x and one of y fit the 16 registers of AVX2.
/// AVX-512 has 32 registers and evaluates two groups at a time.
pub(super) const GROUP: usize = 4;
/// Registers of rows in a micro-tile of a single column, which then has as many sums as a group.
pub(super) const SINGLE_COLUMN_REGISTERS: usize = 8;

/// The sums of a micro-tile of `G` groups of `C` columns by `R` registers of rows, indexed
/// `[group][column][register]`.
pub(super) type Sums<T, S, const G: usize, const C: usize, const R: usize> =
    [[[<T as Vectorised>::Register<S>; R]; C]; G];

/// The points of a tile in the order in which micro-tiles read them: panel after panel, in a panel
/// coordinate after coordinate.
#[derive(Clone, Copy)]
pub(super) struct Panels<'a, T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize> {
    pub(super) x: &'a [[T::Register<S>; R]],
    pub(super) y: &'a [[[T; C]; G]],
    pub(super) d: usize,
}

impl<'a, T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize>
    Panels<'a, T, S, G, C, R>
{
    #[inline(always)]
    pub(super) fn new(x: &'a Aligned<T>, y: &'a Aligned<T>, d: usize) -> Self {
        let (x, _) = T::v_split::<S>(x.as_slice());
        let (y, _) = y.as_slice().as_chunks::<C>();
        Panels { x: x.as_chunks::<R>().0, y: y.as_chunks::<G>().0, d }
    }

    /// Panel `p` of x.
    #[inline(always)]
    pub(super) fn x(&self, p: usize) -> &'a [[T::Register<S>; R]] {
        &self.x[p * self.d..][..self.d]
    }

    /// Panel `q` of y.
    #[inline(always)]
    pub(super) fn y(&self, q: usize) -> &'a [[[T; C]; G]] {
        &self.y[q * self.d..][..self.d]
    }
}

/// Σ_k m(x_k, y_k) for one panel of x and one panel of y.
#[inline(always)]
pub(super) fn sums<
    T: Scalar,
    S: Simd,
    M: Metric,
    const G: usize,
    const C: usize,
    const R: usize,
>(
    simd: S,
    x: &[[T::Register<S>; R]],
    y: &[[[T; C]; G]],
) -> Sums<T, S, G, C, R> {
    let mut sums = [[[T::v_splat(simd, T::zero()); R]; C]; G];
    for (x, y) in x.iter().zip(y) {
        add_coordinate::<T, S, M, C, R>(simd, &mut sums[0], x, &y[0]);
        if const { G == 2 } {
            // no loop over groups: it would keep the sums in memory
            add_coordinate::<T, S, M, C, R>(simd, &mut sums[G - 1], x, &y[G - 1]);
        }
    }
    sums
}

/// Σ_k m(w_k x_k, w_k y_k) for one panel of x and one panel of y, with a weight w_k for each
/// coordinate.
#[inline(always)]
pub(super) fn weighted_sums<
    T: Scalar,
    S: Simd,
    M: Metric,
    const G: usize,
    const C: usize,
    const R: usize,
>(
    simd: S,
    x: &[[T::Register<S>; R]],
    y: &[[[T; C]; G]],
    weights: &[T],
) -> Sums<T, S, G, C, R> {
    let mut sums = [[[T::v_splat(simd, T::zero()); R]; C]; G];
    for ((x, y), &w) in x.iter().zip(y).zip(weights) {
        let w = Lanes::<T, S>::splat(simd, w);
        add_weighted::<T, S, M, C, R>(simd, &mut sums[0], x, &y[0], w);
        if const { G == 2 } {
            add_weighted::<T, S, M, C, R>(simd, &mut sums[G - 1], x, &y[G - 1], w);
        }
    }
    sums
}

/// sums[j][i] += m(x_i, y_j).
#[inline(always)]
fn add_coordinate<T: Scalar, S: Simd, M: Metric, const C: usize, const R: usize>(
    simd: S,
    sums: &mut [[T::Register<S>; R]; C],
    x: &[T::Register<S>; R],
    y: &[T; C],
) {
    for j in 0..C {
        let y_j = Lanes::<T, S>::splat(simd, y[j]);
        for i in 0..R {
            sums[j][i] = M::add(Lanes::new(simd, sums[j][i]), Lanes::new(simd, x[i]), y_j).register;
        }
    }
}

/// sums[j][i] += m(w·x_i, w·y_j).
#[inline(always)]
fn add_weighted<T: Scalar, S: Simd, M: Metric, const C: usize, const R: usize>(
    simd: S,
    sums: &mut [[T::Register<S>; R]; C],
    x: &[T::Register<S>; R],
    y: &[T; C],
    w: Lanes<T, S>,
) {
    for j in 0..C {
        let y_j = Lanes::<T, S>::splat(simd, y[j]);
        for i in 0..R {
            sums[j][i] =
                M::add_weighted(Lanes::new(simd, sums[j][i]), Lanes::new(simd, x[i]), y_j, w)
                    .register;
        }
    }
}
