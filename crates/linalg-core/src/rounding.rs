//! Bounds on ‖E‖₂ for the rounding errors E of a matrix, from its blocks E_IJ: ‖E‖₂ is at most the
//! norm of the matrix of block norms.

use crate::{Scalar, ops};
use faer::{Accum, Mat, MatRef};

/// A bound ‖E‖₂² ≤ Σ_IJ b(E_IJ), by the choice of b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// b(E) = ‖E‖_F², at no extra cost.
    Frobenius,
    /// b(E) = ‖EᵀE‖_F ≥ ‖E‖₂², the square of the Schatten 4-norm. For independent errors in blocks
    /// of 256 × 256, it is smaller than ‖E‖_F² by a factor 256/√(2·256) ≈ 11.
    Schatten,
}

/// Errors are multiplied by this factor, so that their squares are not subnormal in `f32`.
const SCALE: f64 = (1_u32 << 24) as f64;
/// Covers the rounding of sums of 256 products in `f32`, which is at most
/// 256·2⁻²⁴·‖E‖_F² ≤ 16·256·2⁻²⁴·‖EᵀE‖_F.
const SLACK: f64 = 1.001;

/// The buffers of a thread: a block of errors E and its EᵀE.
pub(crate) struct Rounding {
    e: Mat<f32>,
    gram: Mat<f32>,
}

impl Rounding {
    pub fn new() -> Self {
        Rounding { e: Mat::new(), gram: Mat::new() }
    }

    /// out ← a, column by column; returns b(out − a).
    pub fn narrow<E: Scalar, T: Scalar>(
        &mut self,
        out: &mut [E],
        a: MatRef<'_, T>,
        bound: Bound,
    ) -> f64 {
        let mut square = 0.0;
        for (out, a) in out.chunks_mut(a.nrows()).zip(a.col_iter()) {
            for (out, a) in out.iter_mut().zip(a.iter()) {
                *out = E::lit(a.f64());
                square += (out.f64() - a.f64()).powi(2);
            }
        }
        if bound == Bound::Schatten && square > 0.0 { self.schatten(out, a) } else { square }
    }

    fn schatten<E: Scalar, T: Scalar>(&mut self, out: &[E], a: MatRef<'_, T>) -> f64 {
        let (h, w) = a.shape();
        self.e.resize_with(h, w, |_, _| 0.0);
        self.gram.resize_with(w, w, |_, _| 0.0);
        for (j, out) in out.chunks(h).enumerate() {
            for (i, out) in out.iter().enumerate() {
                self.e[(i, j)] = (SCALE * (out.f64() - a[(i, j)].f64())) as f32;
            }
        }
        let (e, gram) = (self.e.as_ref(), self.gram.as_mut());
        ops::matmul_here(gram, Accum::Replace, e.transpose(), e, 1.0);
        let gram = self.gram.as_ref();
        let squares: f64 =
            gram.col_iter().flat_map(|column| column.iter()).map(|g| g.f64().powi(2)).sum();
        SLACK * squares.sqrt() / (SCALE * SCALE)
    }
}
