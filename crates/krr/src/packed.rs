//! A lower triangle in half the memory of a square.

use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{Scalar, ops};
use std::any::Any;

/// Columns of a panel.
const PANEL: usize = 256;

/// The lower triangle of a p × p matrix of `f64`, as panels of 256 columns, each from its first diagonal entry downwards:
/// p²/2 + 128p numbers. A reduction along [`RowTree`](nystrom_linalg_core::RowTree) holds six of these.
#[derive(Debug, Clone)]
pub(crate) struct PackedLower {
    order: usize,
    panels: Vec<Mat<f64>>,
}

impl PackedLower {
    pub fn zeros(order: usize) -> Self {
        Self::from_fn(order, |_, _| 0.0)
    }

    /// Entry (i, j) is `entry(i, j)`, called for i ≥ j (and a few others next to the diagonal that are never read).
    pub fn from_fn(order: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let panel = |start: usize| {
            Mat::from_fn(order - start, PANEL.min(order - start), |i, j| {
                if i >= j { entry(start + i, start + j) } else { 0.0 }
            })
        };
        PackedLower { order, panels: (0..order).step_by(PANEL).map(panel).collect() }
    }

    pub fn order(&self) -> usize {
        self.order
    }

    /// Entry (i, j), i ≥ j.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.panels[j / PANEL][(i - j / PANEL * PANEL, j % PANEL)]
    }

    /// self += ZZᵀ for the first `cols` columns of Z (p × at least `cols`): p²·cols flops.
    ///
    /// Products are taken in the precision of Z. An `f32` product is finished in a panel of its own and then added in `f64`,
    /// so that errors do not grow with the number of tiles.
    pub fn add_gram<T: Scalar>(&mut self, Z: &Mat<T>, cols: usize) {
        let wide = (Z as &dyn Any).downcast_ref::<Mat<f64>>();
        let mut scratch = Mat::<T>::zeros(if wide.is_some() { 0 } else { self.order }, PANEL.min(self.order));
        for (k, panel) in self.panels.iter_mut().enumerate() {
            let (start, height, width) = (k * PANEL, panel.nrows(), panel.ncols());
            match wide {
                Some(Z) => {
                    gram_panel(panel.as_mut(), Accum::Add, Z.as_ref().submatrix(start, 0, height, cols));
                }
                None => {
                    let mut product = scratch.as_mut().submatrix_mut(0, 0, height, width);
                    gram_panel(product.rb_mut(), Accum::Replace, Z.as_ref().submatrix(start, 0, height, cols));
                    for j in 0..width {
                        for i in j..height {
                            panel[(i, j)] += product[(i, j)].f64();
                        }
                    }
                }
            }
        }
    }

    /// self + other.
    pub fn plus(mut self, other: &PackedLower) -> Self {
        for (a, b) in self.panels.iter_mut().zip(&other.panels) {
            *a += b;
        }
        self
    }
}

/// The trapezoid `out` (h × w) becomes, or gains, the first w columns of the lower triangle of zzᵀ, z h × b.
fn gram_panel<T: Scalar>(out: faer::MatMut<'_, T>, accum: Accum, z: MatRef<'_, T>) {
    let width = out.ncols();
    let (square, below) = out.split_at_row_mut(width);
    let (head, tail) = z.split_at_row(width);
    ops::gram_lower(square, accum, head.transpose(), T::one());
    if tail.nrows() > 0 {
        ops::matmul(below, accum, tail, head.transpose(), T::one());
    }
}
