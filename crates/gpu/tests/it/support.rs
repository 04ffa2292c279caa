//! What the tests share: the device, random points, and the product in `f64`.

use faer::{Mat, MatRef};
use nystrom_gpu::{DeviceKernel, Gpu, GpuOptions, GpuProducts};
use nystrom_kernels::Points;
use nystrom_linalg_core::random;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// A part of the name of the adapter of the tests.
pub fn name() -> String {
    std::env::var("NYSTROM_GPU").unwrap_or_else(|_| "llvmpipe".into())
}

/// The adapter of the tests.
pub fn options() -> GpuOptions {
    GpuOptions { name: Some(name()), ..GpuOptions::default() }
}

pub fn gpu() -> Gpu {
    Gpu::open(&options()).unwrap()
}

pub fn normal(n: usize, d: usize, seed: u64) -> Mat<f64> {
    random::standard_normal(n, d, &mut Pcg64::seed_from_u64(seed))
}

/// The largest error of a product with K(X, Z), and the largest share that the error of an entry
/// has of Σ|k v|.
pub struct Errors {
    pub largest: f64,
    pub share: f64,
}

/// Computes K(X, Z)V on the device, and compares with `f64`.
pub fn errors(
    gpu: &Gpu,
    kernel: &impl DeviceKernel,
    [x, z]: [MatRef<'_, f64>; 2],
    v: MatRef<'_, f64>,
) -> Errors {
    let (x, z) = (Points::from_rows(x), Points::from_rows(z));
    let y = GpuProducts::new(gpu, kernel, x, z, v.ncols()).unwrap().mul(v).unwrap();
    compared(kernel.eval(x, z).as_ref(), v, y.as_ref())
}

/// The errors of y = KV.
pub fn compared(k: MatRef<'_, f64>, v: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Errors {
    let mut errors = Errors { largest: 0.0, share: 0.0 };
    for j in 0..v.ncols() {
        for i in 0..k.nrows() {
            let terms = || (0..k.ncols()).map(|l| k[(i, l)] * v[(l, j)]);
            let (exact, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
            let error = (y[(i, j)] - exact).abs();
            errors.largest = errors.largest.max(error);
            errors.share = errors.share.max(if error > 0.0 { error / size } else { 0.0 });
        }
    }
    errors
}
