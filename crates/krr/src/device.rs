//! Products with kernel matrices, wherever they are computed.

use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{KeptTriangle, Result, Scalar};
use rand::Rng;

/// A device that computes products with kernel matrices, such as a graphics card.
///
/// [`Extras::device`](crate::Extras::device) and [`FullPath::fit_on`](crate::FullPath::fit_on) fit
/// on a device (all the data, Falkon, KRILL),
/// [`KrrModel::predict_on`](crate::KrrModel::predict_on) predicts on it. Without a device the CPU
/// computes. If a product of a device fails, the CPU computes this product and later ones.
///
/// ```
/// use faer::{Accum, Mat, MatMut, MatRef};
/// use nystrom_kernels::{Gaussian, Kernel, Points};
/// use nystrom_krr::{Device, Extras, FullKrr, KernelProduct};
/// use nystrom_linalg_core::{Result, Ridge, ops};
/// use rand::{Rng, SeedableRng};
/// /// A device that stores the whole matrix.
/// struct Large;
/// struct Stored(Mat<f64>);
/// impl KernelProduct for Stored {
///     fn product(&mut self, out: MatMut<'_, f64>, a: MatRef<'_, f64>, _: bool) -> Result<()> {
///         ops::matmul(out, Accum::Replace, self.0.as_ref(), a, 1.0);
///         Ok(())
///     }
/// }
/// impl<K: Kernel<f64>> Device<K, f64> for Large {
///     fn matrix<'a>(
///         &self,
///         kernel: &'a K,
///         x: Points<'a, f64>,
///         _columns: usize,
///         _rng: &mut dyn Rng,
///     ) -> Result<Box<dyn KernelProduct + 'a>> {
///         Ok(Box::new(Stored(kernel.gram(x))))
///     }
///     fn times(
///         &self,
///         kernel: &K,
///         [x, z]: [Points<'_, f64>; 2],
///         v: MatRef<'_, f64>,
///     ) -> Result<Mat<f64>> {
///         Ok(kernel.eval(x, z) * v)
///     }
/// }
/// let x: Vec<f64> = (0..500).map(|i| i as f64 / 500.0).collect();
/// let y = Mat::from_fn(500, 1, |i, _| (9.0 * x[i]).sin());
/// let points = Points::from_slice(&x);
/// let full = FullKrr::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-4));
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let extras = Extras { device: Some(&Large), ..Extras::default() };
/// let fit = full.fit_with((points, &y), extras, rng)?;
/// let f = fit.model.predict_on(&Large, points)?;
/// assert!(fit.converged() && (f - y).norm_max() < 0.05);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait Device<K, T>: Sync {
    /// Products with the n × n matrix K of the kernel at the points x, for α of at most `columns`
    /// columns at a time.
    ///
    /// # Errors
    /// Before any work: the kernel, the points or their number do not suit the device.
    ///
    /// # Randomness
    /// Of an estimate of the [rounding](KernelProduct::rounding), if the device makes one.
    fn matrix<'a>(
        &self,
        kernel: &'a K,
        x: Points<'a, T>,
        columns: usize,
        rng: &mut dyn Rng,
    ) -> Result<Box<dyn KernelProduct + 'a>>;

    /// K(X, Z)·v for the points `[x, z]`, n and m of them, and v of m × t.
    ///
    /// # Errors
    /// [`Error::Device`](nystrom_linalg_core::Error::Device) if the device is lost, has too little
    /// memory, or does not evaluate the kernel. Falkon and KRILL then continue on the CPU, with a
    /// [notice](crate::IterationReport::notice), and
    /// [`predict_on`](crate::KrrModel::predict_on) predicts on the CPU. Other errors are those of
    /// the input.
    fn times(&self, kernel: &K, points: [Points<'_, T>; 2], v: MatRef<'_, f64>)
    -> Result<Mat<f64>>;
}

/// Products with the n × n matrix K of a kernel on all the data, for
/// [`FullKrr::fit_by`](crate::FullKrr::fit_by): computed on a [`Device`], on other machines, or
/// from a stored matrix.
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

    /// What a caller should know about where the products were computed, in words: for example
    /// that a device was lost, and that the CPU computed the rest.
    fn notice(&self) -> Option<String> {
        None
    }
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

/// Passes every call on.
macro_rules! through {
    ($pointer:ty) => {
        impl<P: KernelProduct + ?Sized> KernelProduct for $pointer {
            fn product(
                &mut self,
                out: MatMut<'_, f64>,
                alpha: MatRef<'_, f64>,
                exact: bool,
            ) -> Result<()> {
                (**self).product(out, alpha, exact)
            }

            fn rounding(&self) -> f64 {
                (**self).rounding()
            }

            fn give_up_rounding(&mut self, exact_budget_bytes: u64) {
                (**self).give_up_rounding(exact_budget_bytes);
            }

            fn notice(&self) -> Option<String> {
                (**self).notice()
            }
        }
    };
}
through!(&mut P);
through!(Box<P>);
