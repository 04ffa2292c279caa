//! Regression on all the data by products on a device.

use crate::device::Gpu;
use crate::formula::DeviceKernel;
use crate::products::GpuProducts;
use crate::{GpuError, Result};
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::{KernelMatrix, Points};
use nystrom_krr::KernelProduct;
use nystrom_linalg_core::{Error, PsdMatrix, random};
use rand::Rng;

/// Columns of K̃ that are compared with K.
const SAMPLES: usize = 32;
/// The estimate of ‖K̃ − K‖_F is multiplied by this factor.
const SAFETY: f64 = 2.0;

/// Products with K(X, X) for [`FullKrr::fit_by`](nystrom_krr::FullKrr::fit_by): K̃ on a device, and
/// K in `f64` on the CPU where it has to be exact.
///
/// # Precision
/// ‖K̃ − K‖₂ ≤ ‖K̃ − K‖_F, whose square is estimated from 32 random columns without bias, and then
/// doubled. This is an estimate, not a proof. The rounding of right-hand sides and sums, some
/// 10⁻⁷‖K‖‖α‖, is not in it; where it stalls a fit, the fit continues with K.
///
/// # Cost
/// 32n kernel values in `f64` and one product at the start. Every product with K takes n² kernel
/// values on the CPU.
///
/// ```no_run
/// use faer::Mat;
/// use nystrom_gpu::{DeviceMatrix, Gpu, GpuOptions};
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Extras, FullKrr};
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x = Mat::from_fn(100_000, 10, |i, k| ((i * (k + 3)) as f64).sin());
/// let y = Mat::from_fn(100_000, 1, |i, _| x[(i, 0)] * x[(i, 1)]);
/// let (points, kernel) = (Points::from_rows(x.as_ref()), Gaussian::new(1.0)?);
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let gpu = Gpu::open(&GpuOptions::default())?;
/// let products = DeviceMatrix::new(&gpu, &kernel, points, 1, rng)?;
/// let full = FullKrr::new(kernel, Ridge::PerSample(1e-6));
/// let fit = full.fit_by((points, &y), products, Extras::default(), rng)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceMatrix<'a, K> {
    device: GpuProducts,
    exact: KernelMatrix<'a, f64, &'a K>,
    /// The estimate of ‖K̃ − K‖_F; 0 once K̃ is given up.
    rounding: f64,
    given_up: bool,
}

impl<'a, K: DeviceKernel> DeviceMatrix<'a, K> {
    /// Products for `targets` targets (with an intercept one more) at the points x.
    ///
    /// # Errors
    /// As [`GpuProducts::new`].
    ///
    /// # Randomness
    /// 32 columns, uniform and without repetition.
    pub fn new(
        gpu: &Gpu,
        kernel: &'a K,
        x: Points<'a, f64>,
        targets: usize,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let mut device = GpuProducts::symmetric(gpu, kernel, x, targets)?;
        let (n, count) = (x.len(), SAMPLES.min(x.len()));
        let sampled = random::uniform_subset(n, count, rng)?;
        // a product with a unit vector is a column of K̃: a sum of one term does not round
        let unit = |i: usize, j: usize| if sampled[j] == i { 1.0 } else { 0.0 };
        let columns = device.mul(Mat::from_fn(n, count, unit).as_ref())?;
        let z = x.gather((&sampled[..]).into());
        let error = columns - kernel.eval(x, Points::from_cols(z.as_ref()));
        let rounding = SAFETY * error.norm_l2() * (n as f64 / count as f64).sqrt();
        let exact = KernelMatrix::new(kernel, x)?;
        Ok(DeviceMatrix { device, exact, rounding, given_up: false })
    }
}

impl<K: DeviceKernel> KernelProduct for DeviceMatrix<'_, K> {
    fn product(
        &mut self,
        out: MatMut<'_, f64>,
        alpha: MatRef<'_, f64>,
        exact: bool,
    ) -> nystrom_linalg_core::Result<()> {
        if exact || self.given_up {
            self.exact.mul_into(out, alpha);
            return Ok(());
        }
        self.device.mul_into(out, alpha).map_err(|error| match error {
            GpuError::Input(error) => error,
            error => Error::Device { problem: error.to_string() },
        })
    }

    fn rounding(&self) -> f64 {
        if self.given_up { 0.0 } else { self.rounding }
    }

    fn give_up_rounding(&mut self, _: u64) {
        self.given_up = true;
    }
}
