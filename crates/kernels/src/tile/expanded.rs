//! Squared distances as ‖x‖² + ‖y‖² − 2⟨x, y⟩: one operation a coordinate where a difference takes two.
//!
//! The expansion loses the digits by which ‖x‖² + ‖y‖² exceeds ‖x − y‖². Where that is more than four binary digits
//! the distance is taken from differences, so that near points, equal points and points far from the origin are as exact as ever.
//! Which it is for a pair depends on the two points alone: an entry has the same bits in every block.

use super::direct::{self, GROUP, REGISTERS, Sums};
use super::lanes::Lanes;
use crate::Lane;
use crate::metric::{DotProduct, Metric};
use nystrom_linalg_core::Scalar;
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// Coordinates from which the expansion is the faster way.
const DIM: usize = 20;
/// The least ‖x − y‖²/(‖x‖² + ‖y‖²) for which it is used.
const KEPT: f64 = 0.0625;

/// ‖x‖² and ‖y‖² of the points of a tile, in the order of their panels.
pub(super) struct Norms<T: Scalar, S: Simd, const G: usize> {
    x: Vec<[T::Register<S>; REGISTERS]>,
    y: Vec<[[T; GROUP]; G]>,
}

impl<T: Scalar, S: Simd, const G: usize> Norms<T, S, G> {
    /// The norms of packed points in `d` dimensions; none if the metric `M` does not expand, for small `d`, and where a norm overflows.
    #[inline(always)]
    pub(super) fn new<M: Metric>(
        simd: S,
        x: &[[T::Register<S>; REGISTERS]],
        y: &[[[T; GROUP]; G]],
        d: usize,
    ) -> Option<Self> {
        if !M::EXPANDS || d < DIM {
            return None;
        }
        let (mut x_norms, mut y_norms) =
            (vec![[T::v_splat(simd, T::zero()); REGISTERS]; x.len() / d], vec![[[T::zero(); GROUP]; G]; y.len() / d]);
        for (norms, panel) in x_norms.iter_mut().zip(x.chunks_exact(d)) {
            panel.iter().for_each(|x| add_squares::<T>(cast_slice_mut(norms), cast_slice(x)));
        }
        for (norms, panel) in y_norms.iter_mut().zip(y.chunks_exact(d)) {
            panel.iter().for_each(|y| add_squares(norms.as_flattened_mut(), y.as_flattened()));
        }
        let mut all = cast_slice::<_, T>(&x_norms).iter().chain(y_norms.as_flattened().as_flattened());
        let finite = all.all(|&norm| (norm + norm).is_finite());
        finite.then_some(Norms { x: x_norms, y: y_norms })
    }

    /// ‖x_i − y_j‖² for panel `p` of x against panel `q` of y; `M` is that distance by differences.
    #[inline(always)]
    pub(super) fn squared_distances<M: Metric>(
        &self,
        simd: S,
        (p, x): (usize, &[[T::Register<S>; REGISTERS]]),
        (q, y): (usize, &[[[T; GROUP]; G]]),
    ) -> Sums<T, S, G> {
        let mut distances = direct::sums::<T, S, DotProduct, G>(simd, x, y);
        let norms_of = (&self.x[p], self.y[q].as_flattened());
        let mut short = Lanes::<T, S>::splat(simd, T::zero());
        for (column, &y) in distances.as_flattened_mut().iter_mut().zip(norms_of.1) {
            for (distance, &x) in column.iter_mut().zip(norms_of.0) {
                let norms = Lanes::<T, S>::new(simd, x) + Lanes::splat(simd, y);
                let expanded = Lanes::new(simd, *distance).mul_add(norms.lit(-2.0), norms);
                short = short + excess(expanded, norms).at_most(0.0);
                *distance = expanded.register;
            }
        }
        if cast_slice::<_, T>(&[short.register]).iter().any(|&short| short < T::zero()) {
            let exact = direct::sums::<T, S, M, G>(simd, x, y);
            for ((column, exact), &y) in
                distances.as_flattened_mut().iter_mut().zip(exact.as_flattened()).zip(norms_of.1)
            {
                for ((distance, &exact), &x) in column.iter_mut().zip(exact).zip(norms_of.0) {
                    let norms = Lanes::<T, S>::new(simd, x) + Lanes::splat(simd, y);
                    let excess = excess(Lanes::new(simd, *distance), norms);
                    *distance = T::v_where_negative(simd, excess.register, exact, *distance);
                }
            }
        }
        distances
    }
}

/// By how much a squared distance exceeds what the expansion can be trusted with.
#[inline(always)]
fn excess<V: Lane>(distance: V, norms: V) -> V {
    norms.mul_add(norms.lit(-KEPT), distance)
}

/// sums[i] += x[i]²; two roundings, whatever the machine, so that both sides of a tile agree.
#[inline(always)]
fn add_squares<T: Scalar>(sums: &mut [T], x: &[T]) {
    for (sum, &x) in sums.iter_mut().zip(x) {
        *sum += x * x;
    }
}
