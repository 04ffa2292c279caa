//! Kernels whose evaluation can be interrupted.

use crate::run::Stop;
use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{Kernel, Points};
use nystrom::linalg_core::Scalar;
use std::sync::Arc;

/// A kernel that checks [`Stop`] before every block.
#[derive(Clone)]
pub struct Watched<T: Scalar> {
    /// The kernel.
    pub kernel: Arc<dyn Kernel<T>>,
    /// The flag that asks the computation to end.
    pub stop: Stop,
}

impl<T: Scalar> Kernel<T> for Watched<T> {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        self.stop.check();
        self.kernel.eval_into(out, x, y);
    }

    fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.kernel.diag_into(out, x);
    }

    fn check_dim(&self, d: usize) -> nystrom::Result<()> {
        self.kernel.check_dim(d)
    }

    fn check_points(&self, x: Points<'_, T>) -> nystrom::Result<()> {
        self.kernel.check_points(x)
    }

    fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
        self.stop.check();
        self.kernel.gram_into(out, x);
    }
}
