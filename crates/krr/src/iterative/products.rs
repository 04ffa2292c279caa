//! Products with the kernel matrix of all the data, wherever they are computed.

use faer::{MatMut, MatRef};
use nystrom_linalg_core::{KeptTriangle, Result, Scalar};

/// Products with the n × n matrix K of a kernel on all the data, for
/// [`FullKrr::fit_by`](crate::FullKrr::fit_by): computed on a device, on other machines, or from a
/// stored matrix.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef};
/// use nystrom_krr::KernelProduct;
/// use nystrom_linalg_core::{Result, ops};
/// struct Stored(Mat<f64>);
/// impl KernelProduct for Stored {
///     fn product(&mut self, out: MatMut<'_, f64>, a: MatRef<'_, f64>, _: bool) -> Result<()> {
///         ops::matmul(out, Accum::Replace, self.0.as_ref(), a, 1.0);
///         Ok(())
///     }
/// }
/// ```
pub trait KernelProduct {
    /// out = Kα for α (n × t); or K̂α for a nearby symmetric K̂, unless it has to be `exact`.
    ///
    /// # Errors
    /// Of the computation; they end the fit.
    fn product(&mut self, out: MatMut<'_, f64>, alpha: MatRef<'_, f64>, exact: bool) -> Result<()>;

    /// A bound on ‖K̂ − K‖₂.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// Replaces K̂ by K, for which there are `exact_budget_bytes` of memory: from now on
    /// [`rounding`](Self::rounding) is 0.
    fn give_up_rounding(&mut self, _exact_budget_bytes: u64) {}
}

impl<T: Scalar> KernelProduct for KeptTriangle<'_, T> {
    fn product(&mut self, out: MatMut<'_, f64>, alpha: MatRef<'_, f64>, exact: bool) -> Result<()> {
        if exact {
            self.exact_mul_into(out, alpha)
        } else {
            self.mul_into(out, alpha)
        }
        Ok(())
    }

    fn rounding(&self) -> f64 {
        self.error()
    }

    fn give_up_rounding(&mut self, exact_budget_bytes: u64) {
        self.keep_exactly(exact_budget_bytes);
    }
}

impl<P: KernelProduct + ?Sized> KernelProduct for &mut P {
    fn product(&mut self, out: MatMut<'_, f64>, alpha: MatRef<'_, f64>, exact: bool) -> Result<()> {
        (**self).product(out, alpha, exact)
    }

    fn rounding(&self) -> f64 {
        (**self).rounding()
    }

    fn give_up_rounding(&mut self, exact_budget_bytes: u64) {
        (**self).give_up_rounding(exact_budget_bytes);
    }
}
