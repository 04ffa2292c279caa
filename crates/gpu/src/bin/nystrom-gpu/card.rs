//! A card for the commands of `nystrom`.

use faer::{Mat, MatRef};
use nystrom_cli::Card;
use nystrom_gpu::{Gpu, GpuError, GpuOptions, GpuProducts};
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{Device, KernelProduct};
use nystrom_pipeline::AnyKernel;
use rand::Rng;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A product that takes this long tells the speed of a card.
const SECONDS: f64 = 0.1;
/// Sizes of the products of which the last tells it.
const SMALLEST: usize = 1 << 10;
const LARGEST: usize = 1 << 20;

struct OpenGpu {
    gpu: Gpu,
    /// The message of the last error of `times`.
    failure: Mutex<Option<String>>,
}

/// The card whose name contains a text, or the best one.
pub fn open(name: Option<&str>) -> Result<Arc<dyn Card>, String> {
    let options = GpuOptions { name: name.map(str::to_owned), ..GpuOptions::default() };
    let gpu = Gpu::open(&options).map_err(|error| error.to_string())?;
    Ok(Arc::new(OpenGpu { gpu, failure: Mutex::default() }))
}

impl Device<AnyKernel, f64> for OpenGpu {
    fn matrix<'a>(
        &self,
        kernel: &'a AnyKernel,
        x: Points<'a, f64>,
        columns: usize,
        rng: &mut dyn Rng,
    ) -> nystrom_linalg_core::Result<Box<dyn KernelProduct + 'a>> {
        self.gpu.matrix(kernel, x, columns, rng)
    }

    fn times(
        &self,
        kernel: &AnyKernel,
        points: [Points<'_, f64>; 2],
        v: MatRef<'_, f64>,
    ) -> nystrom_linalg_core::Result<Mat<f64>> {
        let product = self.gpu.times(kernel, points, v);
        if let Err(error) = &product {
            let failure = Some(error.to_string());
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        }
        product
    }
}

impl Card for OpenGpu {
    fn name(&self) -> String {
        self.gpu.adapter().to_owned()
    }

    fn bytes(&self, n: usize, d: usize, sides: usize) -> u64 {
        GpuProducts::bytes(n, None, d, sides)
    }

    fn values_per_second(&self, d: usize, sides: usize) -> Result<f64, String> {
        rate(&self.gpu, d, sides).map_err(|error| error.to_string())
    }

    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The most right-hand sides that are multiplied at a time.
const SIDES: usize = 32;

/// Kernel values a second. The products before the last take as long together as the last one.
fn rate(gpu: &Gpu, d: usize, sides: usize) -> Result<f64, GpuError> {
    let kernel = Gaussian::new((d as f64).sqrt())?;
    let (mut n, sides) = (SMALLEST, sides.clamp(1, SIDES));
    loop {
        let x = Mat::from_fn(n, d, |i, k| ((i + 1) as f64 * (k as f64 + 2.5).sqrt()).fract());
        let v = Mat::from_fn(n, sides, |i, j| (i as f64 + j as f64).sin());
        let mut products =
            GpuProducts::symmetric(gpu, &kernel, Points::from_rows(x.as_ref()), sides)?;
        if n == SMALLEST {
            products.mul(v.as_ref())?; // the driver compiles the program
        }
        let start = Instant::now();
        products.mul(v.as_ref())?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= SECONDS || n == LARGEST {
            return Ok((n as f64).powi(2) / seconds);
        }
        n *= 2;
    }
}
