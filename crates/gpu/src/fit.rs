//! Regression on all the data, and predictions, by products on a device.

use crate::device::Gpu;
use crate::formula::{DeviceKernel, Formula};
use crate::products::GpuProducts;
use crate::{GpuError, Result};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_krr::{Device, KernelProduct};
use nystrom_linalg_core::{PsdMatrix, random};
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
/// # A lost device
/// If the device is lost, or refuses a command, the product at work is computed again by K on the
/// CPU, and so are all later ones: the fit continues from the iterate that it has reached, and its
/// [notice](KernelProduct::notice) says so. A pass then takes n² kernel values on the CPU. A caller
/// who would rather wait for another device can save the run in a
/// [`Monitor`](nystrom_krr::Monitor), which may also stop it.
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
    /// `None` once K̃ is given up.
    device: Option<GpuProducts>,
    exact: KernelMatrix<'a, f64, &'a K>,
    /// The estimate of ‖K̃ − K‖_F.
    rounding: f64,
    notice: Option<String>,
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
        Self::with_formula(gpu, (kernel, &kernel.formula()?), x, targets, rng)
    }
}

impl<'a, K: Kernel<f64>> DeviceMatrix<'a, K> {
    /// As [`new`](Self::new), for a kernel of any type and its formula.
    ///
    /// # Errors
    /// As [`GpuProducts::new`].
    ///
    /// # Randomness
    /// As [`new`](Self::new).
    pub fn with_formula(
        gpu: &Gpu,
        (kernel, formula): (&'a K, &Formula),
        x: Points<'a, f64>,
        targets: usize,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        kernel.check_points(x)?;
        let mut device = GpuProducts::of_formula(gpu, formula, x, None, targets)?;
        let (n, count) = (x.len(), SAMPLES.min(x.len()));
        let sampled = random::uniform_subset(n, count, rng)?;
        // a product with a unit vector is a column of K̃: a sum of one term does not round
        let unit = |i: usize, j: usize| if sampled[j] == i { 1.0 } else { 0.0 };
        let columns = device.mul(Mat::from_fn(n, count, unit).as_ref())?;
        let z = x.gather((&sampled[..]).into());
        let error = columns - kernel.eval(x, z.points());
        let rounding = SAFETY * error.norm_l2() * (n as f64 / count as f64).sqrt();
        let exact = KernelMatrix::new(kernel, x)?;
        Ok(DeviceMatrix { device: Some(device), exact, rounding, notice: None })
    }
}

impl<K: Kernel<f64>> KernelProduct for DeviceMatrix<'_, K> {
    fn product(
        &mut self,
        mut out: MatMut<'_, f64>,
        alpha: MatRef<'_, f64>,
        exact: bool,
    ) -> nystrom_linalg_core::Result<()> {
        if let Some(device) = self.device.as_mut().filter(|_| !exact) {
            match device.mul_into(out.rb_mut(), alpha) {
                Ok(()) => return Ok(()),
                Err(GpuError::Input(error)) => return Err(error),
                Err(error) => {
                    self.notice = Some(format!("{error}. The CPU computed the rest of the fit"));
                    self.device = None;
                }
            }
        }
        self.exact.mul_into(out, alpha);
        Ok(())
    }

    fn rounding(&self) -> f64 {
        if self.device.is_some() { self.rounding } else { 0.0 }
    }

    fn give_up_rounding(&mut self, _: u64) {
        if self.device.take().is_some() {
            self.notice = Some(
                "the f32 values of the device are not exact enough for this ridge and tolerance; \
                 the CPU computed the rest of the fit in f64"
                    .into(),
            );
        }
    }

    fn notice(&self) -> Option<String> {
        self.notice.clone()
    }
}

/// The precision of [`matrix`](Device::matrix) is that of [`DeviceMatrix`], that of
/// [`times`](Device::times) is [`GpuProducts`'](GpuProducts#precision).
///
/// # Errors
/// Those of [`GpuProducts`]. A device that is lost or full, or does not evaluate the kernel, is
/// [`Error::Device`](nystrom_linalg_core::Error::Device).
impl<K: DeviceKernel> Device<K, f64> for Gpu {
    fn matrix<'a>(
        &self,
        kernel: &'a K,
        x: Points<'a, f64>,
        columns: usize,
        rng: &mut dyn Rng,
    ) -> nystrom_linalg_core::Result<Box<dyn KernelProduct + 'a>> {
        Ok(Box::new(DeviceMatrix::new(self, kernel, x, columns, rng)?))
    }

    fn times(
        &self,
        kernel: &K,
        [x, z]: [Points<'_, f64>; 2],
        v: MatRef<'_, f64>,
    ) -> nystrom_linalg_core::Result<Mat<f64>> {
        Ok(GpuProducts::new(self, kernel, x, z, v.ncols())?.mul(v)?)
    }
}
