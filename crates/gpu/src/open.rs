//! A device is tested before it is used.

use crate::device::Gpu;
use crate::products::GpuProducts;
use crate::{DeviceKernel, GpuError, GpuOptions, Result};
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};

/// Columns of the test: five blocks whose sums are folded separately.
const COLUMNS: usize = 5 * 2048;

impl Gpu {
    /// Opens a device and tests its sums.
    ///
    /// WGSL lets a compiler reassociate additions, and two-float sums would then lose their digits.
    /// So three sums, one for each way in which threads share the work, must be exact:
    /// 2²⁷ + 1 + … + 1 − 2²⁶ − 2²⁶, where an `f32` sum gives 0.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`], which names what was looked for and what was found;
    /// [`GpuError::NoDevice`]; [`GpuError::InexactSums`] if the test fails.
    ///
    /// ```no_run
    /// use nystrom_gpu::{Gpu, GpuOptions};
    /// let gpu = Gpu::open(&GpuOptions::default())?;
    /// println!("{}", gpu.adapter());
    /// # Ok::<(), nystrom_gpu::GpuError>(())
    /// ```
    pub fn open(options: &GpuOptions) -> Result<Self> {
        let gpu = Gpu::untested(options)?;
        gpu.test_sums()?;
        Ok(gpu)
    }

    fn test_sums(&self) -> Result<()> {
        let mut gpu = self.clone();
        gpu.memory = u64::MAX; // whatever the caller leaves for points
        let (kernel, x, z) = (Gaussian::new(1.0)?, [0.0], vec![0.0; COLUMNS]);
        let (x, z) = (Points::from_slice(&x), Points::from_slice(&z));
        let v = |i: usize| match i {
            0 => 2.0_f64.powi(27),
            i if i == COLUMNS - 1 || i == 4 * 2048 + 256 => -2.0_f64.powi(26),
            i if (2048..4 * 2048).contains(&i) => 1.0,
            _ => 0.0,
        };
        let expected = (3 * 2048) as f64;
        for t in [1, 8, 32] {
            let formula = kernel.formula()?;
            let mut products = GpuProducts::of_formula(&gpu, &formula, x, Some(z), t)?;
            let sums = products.mul(Mat::from_fn(COLUMNS, t, |i, _| v(i)).as_ref())?;
            let wrong = (0..t).map(|j| sums[(0, j)]).find(|&sum| sum != expected);
            if let Some(got) = wrong {
                return Err(GpuError::InexactSums { adapter: gpu.adapter, expected, got });
            }
        }
        Ok(())
    }
}
