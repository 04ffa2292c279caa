//! Squared distances computed as ‖x‖² + ‖y‖² − 2⟨x, y⟩: one operation per coordinate, where a
//! difference takes two.
//!
//! The expansion loses as many digits as ‖x‖² + ‖y‖² is larger than ‖x − y‖². If more than four
//! binary digits are lost, or a norm overflows, the distance is computed from differences.
//! Distances of near or equal points, and of points far from the origin, are therefore as accurate
//! as without the expansion. The choice depends only on the two points: an entry has the same bits
//! in every block.

use super::lanes::Lanes;
use super::sums::{Panels, Sums, sums};
use crate::Lane;
use crate::metric::{DotProduct, Metric};
use nystrom_linalg_core::Scalar;
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// From this many coordinates on, the expansion is faster than differences.
const EXPAND_FROM_DIM: usize = 20;
/// The least ‖x − y‖²/(‖x‖² + ‖y‖²) for which the expansion is used: 2⁻⁴, four binary digits.
pub(super) const LEAST_RATIO: f64 = 0.0625;

/// Whether the metric `M` is expanded in `d` dimensions.
pub(super) const fn expands<M: Metric>(d: usize) -> bool {
    M::EXPANDS && d >= EXPAND_FROM_DIM
}

/// ‖x‖² and ‖y‖² for the points of a tile, in the order of their panels, and the (weighted) points
/// whose inner products are taken.
pub(super) struct Norms<'a, T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize> {
    points: Panels<'a, T, S, G, C, R>,
    x: Vec<[T::Register<S>; R]>,
    y: Vec<[[T; C]; G]>,
    /// Whether no expansion in this tile can overflow.
    finite: bool,
}

impl<'a, T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize>
    Norms<'a, T, S, G, C, R>
{
    /// The norms of packed points.
    #[inline(always)]
    pub(super) fn new(simd: S, points: Panels<'a, T, S, G, C, R>) -> Self {
        let Panels { x, y, d } = points;
        let (mut x_norms, mut y_norms) = (
            vec![[T::v_splat(simd, T::zero()); R]; x.len() / d],
            vec![[[T::zero(); C]; G]; y.len() / d],
        );
        for (norms, panel) in x_norms.iter_mut().zip(x.chunks_exact(d)) {
            panel.iter().for_each(|x| add_squares::<T>(cast_slice_mut(norms), cast_slice(x)));
        }
        for (norms, panel) in y_norms.iter_mut().zip(y.chunks_exact(d)) {
            panel.iter().for_each(|y| add_squares(norms.as_flattened_mut(), y.as_flattened()));
        }
        let mut all = cast_slice::<_, T>(x_norms.as_flattened())
            .iter()
            .chain(y_norms.as_flattened().as_flattened());
        // ‖x − y‖² ≤ 4 max(‖x‖², ‖y‖²)
        let finite = all.all(|&norm| (T::lit(4.0) * norm).is_finite());
        Norms { points, x: x_norms, y: y_norms, finite }
    }

    /// ‖x_i − y_j‖² by the expansion, for panel `p` of x and panel `q` of y, and whether all of
    /// them are accurate enough.
    #[inline(always)]
    pub(super) fn expanded(&self, simd: S, (p, q): (usize, usize)) -> (Sums<T, S, G, C, R>, bool) {
        let mut distances =
            sums::<T, S, DotProduct, G, C, R>(simd, self.points.x(p), self.points.y(q));
        let mut short = Lanes::<T, S>::splat(simd, T::zero());
        for (column, &y) in distances.as_flattened_mut().iter_mut().zip(self.y[q].as_flattened()) {
            for (distance, &x) in column.iter_mut().zip(&self.x[p]) {
                let norms = Lanes::<T, S>::new(simd, x) + Lanes::splat(simd, y);
                let expanded = Lanes::new(simd, *distance).mul_add(norms.lit(-2.0), norms);
                short = short + excess(expanded, norms).at_most(0.0);
                *distance = expanded.register;
            }
        }
        let some_short =
            cast_slice::<_, T>(&[short.register]).iter().any(|&short| short < T::zero());
        (distances, self.finite && !some_short)
    }

    /// `expanded`, with every entry that is not accurate enough replaced by the entry of `exact`,
    /// which is computed from differences.
    #[inline(always)]
    pub(super) fn corrected(
        &self,
        simd: S,
        (p, q): (usize, usize),
        mut expanded: Sums<T, S, G, C, R>,
        exact: Sums<T, S, G, C, R>,
    ) -> Sums<T, S, G, C, R> {
        let columns = expanded.as_flattened_mut().iter_mut().zip(exact.as_flattened());
        for ((column, exact), &y) in columns.zip(self.y[q].as_flattened()) {
            for ((distance, &exact), &x) in column.iter_mut().zip(exact).zip(&self.x[p]) {
                let norms = Lanes::<T, S>::new(simd, x) + Lanes::splat(simd, y);
                let excess = excess(Lanes::new(simd, *distance), norms);
                let either = T::v_where_negative(simd, excess.register, exact, *distance);
                let overflow = excess.mul_add(excess.lit(0.0), excess.lit(-1.0)); // −1, or NaN
                *distance = T::v_where_negative(simd, overflow.register, either, exact);
            }
        }
        expanded
    }
}

/// distance − LEAST_RATIO·norms: negative if the expansion is not accurate enough.
#[inline(always)]
fn excess<V: Lane>(distance: V, norms: V) -> V {
    norms.mul_add(norms.lit(-LEAST_RATIO), distance)
}

/// sums[i] += x[i]², with two roundings on every machine, so that norms of x and of y agree.
#[inline(always)]
fn add_squares<T: Scalar>(sums: &mut [T], x: &[T]) {
    for (sum, &x) in sums.iter_mut().zip(x) {
        *sum += x * x;
    }
}
