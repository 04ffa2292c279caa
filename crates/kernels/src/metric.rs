//! Sums over coordinates of two points, to which kernels apply a formula.

use crate::Lane;

/// A sum over coordinates Σ_k m(x_k, y_k), the argument of a kernel's formula.
pub trait Metric: Copy + Send + Sync {
    /// Whether the sum equals ‖x‖² + ‖y‖² − 2⟨x, y⟩, which is half the work and is used where it
    /// loses few digits.
    const EXPANDS: bool = false;
    /// m(x, 0), which is also m(0, x).
    fn alone(x: f64) -> f64;
    /// m(x, y) − m(x, 0) − m(0, y), the same for (y, x).
    fn joint(x: f64, y: f64) -> f64;
    /// sum + m(x, y).
    fn add<V: Lane>(sum: V, x: V, y: V) -> V;
    /// sum + m(wx, wy), w > 0. For distances, x − y is computed first and then multiplied by w, so
    /// that points far from 0 keep their digits.
    fn add_weighted<V: Lane>(sum: V, x: V, y: V, w: V) -> V {
        Self::add(sum, x * w, y * w)
    }
}

/// ‖x − y‖² = Σ (x_k − y_k)², computed from differences wherever they are more accurate: 0 for
/// equal points, no cancellation far from the origin.
#[derive(Debug, Clone, Copy)]
pub struct SquaredDistance;

/// ‖x − y‖₁ = Σ |x_k − y_k|.
#[derive(Debug, Clone, Copy)]
pub struct Manhattan;

/// ⟨x, y⟩ = Σ x_k y_k.
#[derive(Debug, Clone, Copy)]
pub struct DotProduct;

impl Metric for SquaredDistance {
    const EXPANDS: bool = true;
    #[inline(always)]
    fn alone(x: f64) -> f64 {
        x * x
    }
    #[inline(always)]
    fn joint(x: f64, y: f64) -> f64 {
        -2.0 * (x * y)
    }
    #[inline(always)]
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        let u = x - y;
        u.mul_add(u, sum)
    }
    #[inline(always)]
    fn add_weighted<V: Lane>(sum: V, x: V, y: V, w: V) -> V {
        let u = (x - y) * w;
        u.mul_add(u, sum)
    }
}

impl Metric for Manhattan {
    #[inline(always)]
    fn alone(x: f64) -> f64 {
        x.abs()
    }
    #[inline(always)]
    fn joint(x: f64, y: f64) -> f64 {
        // not by the product, which is 0 for tiny numbers
        let alike = (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
        if alike { -2.0 * x.abs().min(y.abs()) } else { 0.0 }
    }
    #[inline(always)]
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        sum + (x - y).abs()
    }
    #[inline(always)]
    fn add_weighted<V: Lane>(sum: V, x: V, y: V, w: V) -> V {
        (x - y).abs().mul_add(w, sum)
    }
}

impl Metric for DotProduct {
    #[inline(always)]
    fn alone(_: f64) -> f64 {
        0.0
    }
    #[inline(always)]
    fn joint(x: f64, y: f64) -> f64 {
        x * y
    }
    #[inline(always)]
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        x.mul_add(y, sum)
    }
}
