//! How two points become one number: a sum over coordinates.

use crate::Lane;

/// A sum over coordinates Σ_k m(x_k, y_k), the argument of a kernel's formula.
pub trait Metric: Copy + Send + Sync {
    /// Whether the sum is ‖x‖² + ‖y‖² − 2⟨x, y⟩, so that half the work will do where that loses no digits.
    const EXPANDS: bool = false;
    /// sum + m(x, y).
    fn add<V: Lane>(sum: V, x: V, y: V) -> V;
}

/// ‖x − y‖² = Σ (x_k − y_k)², from differences wherever they are more exact: 0 for equal points, no cancellation far from the origin.
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
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        let u = x - y;
        u.mul_add(u, sum)
    }
}

impl Metric for Manhattan {
    #[inline(always)]
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        sum + (x - y).abs()
    }
}

impl Metric for DotProduct {
    #[inline(always)]
    fn add<V: Lane>(sum: V, x: V, y: V) -> V {
        x.mul_add(y, sum)
    }
}
