//! Gradients of kernels f(Σ_k m(x_k, z_k)): f′ of the sums, then the chain rule for m.

use super::{Formula, Scales, eval_into};
use crate::chain_rule::Chain;
use crate::{Lane, Points};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef, unzip, zip};
use nystrom_linalg_core::Scalar;

/// The formula f′ in place of f, so that blocks of f′ are evaluated like blocks of the kernel.
struct Slope<'a, F>(&'a F);

impl<F: Formula> Formula for Slope<'_, F> {
    type Metric = F::Metric;
    const SCALED: bool = F::SCALED;
    const WEIGHTED: bool = F::WEIGHTED;

    fn scales<T: Scalar>(&self, d: usize) -> Scales<T> {
        self.0.scales(d)
    }
    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        self.0.slope(sum)
    }
    fn coordinate<T: Scalar>(value: T) -> T {
        F::coordinate(value)
    }
}

/// [`DifferentiableKernel::gradient_into`](crate::DifferentiableKernel::gradient_into) of a
/// formula.
pub(crate) fn gradient_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: MatMut<'_, T>,
    x: Points<'_, T>,
    z: Points<'_, T>,
    weights: MatRef<'_, T>,
) {
    let (t, d, m) = (sums(&out, x, z, weights), x.dim(), z.len());
    let mut slopes = Mat::zeros(x.len(), m); //                              f′(s_ij)
    eval_into(&Slope(formula), slopes.as_mut(), x, z);
    zip!(&mut slopes).for_each(|unzip!(slope)| {
        if !num_traits::Float::is_finite(*slope) {
            *slope = T::zero(); // f has no derivative here: the term counts as 0
        }
    });
    let packed = F::Metric::packed(x, z, F::coordinate);
    let mut h = Mat::zeros(x.len(), m);
    for sum in 0..t {
        let weights = weights.subcols(m * sum, m); //           h_ij = w_ij f′(s_ij)
        zip!(&mut h, &slopes, weights).for_each(|unzip!(h, slope, w)| *h = *w * *slope);
        let mut out = out.rb_mut().subcols_mut(d * sum, d);
        F::Metric::chain(out.rb_mut(), h.as_ref(), &packed); // Σ_j h_ij ∂m(x_ik, z_jk)/∂x_ik
        for k in 0..d {
            let scale = formula.length_scale(k); // the sum is over x/ℓ, hence a factor ℓ^−POWER
            for entry in out.rb_mut().col_mut(k).iter_mut() {
                let inner = (0..F::Metric::POWER).fold(entry.f64(), |g, _| g / scale);
                *entry = T::lit(inner);
            }
        }
    }
}

/// The number t of sums, after a check of all shapes.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn sums<T: Scalar>(
    out: &MatMut<'_, T>,
    x: Points<'_, T>,
    z: Points<'_, T>,
    weights: MatRef<'_, T>,
) -> usize {
    let t = weights.ncols() / z.len().max(1);
    assert_eq!(x.dim(), z.dim(), "points of one dimension");
    assert_eq!(weights.shape(), (x.len(), z.len() * t), "a weight for each pair and sum");
    assert_eq!(out.shape(), (x.len(), x.dim() * t), "a gradient for each point and sum");
    t
}
