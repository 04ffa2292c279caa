//! Every kernel against `f64`, and sums that lose no digits.

use crate::support::{compared, errors, gpu, normal};
use faer::Mat;
use nystrom_gpu::{DeviceKernel, GpuProducts};
use nystrom_kernels::{
    Exponential, Gaussian, Isotropic, Kernel, Lane, LaplacianL1, Matern, Matern12, Matern32,
    Matern52, Points, PowerExponential, PowerExponentialL1, Profile, RationalQuadratic,
};

/// For values computed with a relative error of some 2⁻²⁴ times the exponent.
const SHARE: f64 = 1e-6;

fn agrees(name: &str, kernel: &impl DeviceKernel, d: usize) {
    let gpu = gpu();
    let (x, z, v) = (normal(130, d, 1), normal(300, d, 2), normal(300, 3, 3));
    let errors = errors(&gpu, kernel, [x.as_ref(), z.as_ref()], v.as_ref());
    println!("{name} d = {d}: {:.1e}, {:.1e} of the sum", errors.largest, errors.share);
    assert!(errors.share < SHARE, "{name} d = {d}: {:e}", errors.share);
}

#[test]
fn gaussian() {
    agrees("gaussian", &Gaussian::new(0.8).unwrap(), 2);
    agrees("gaussian", &Gaussian::new(8.0).unwrap(), 33);
    let scales = [0.5, 3.0, 1e3];
    agrees("ard", &Gaussian::new(1.0).unwrap().with_length_scales(&scales).unwrap(), 3);
}

#[test]
fn matern() {
    agrees("matern 1/2", &Matern12::new(1.5).unwrap(), 3);
    agrees("matern 3/2", &Matern32::new(1.5).unwrap(), 3);
    agrees("matern 5/2", &Matern52::new(1.5).unwrap(), 3);
    agrees("matern by nu", &Matern::new(2.5, 1.5).unwrap(), 3);
    let ard = Isotropic::with_profile(Exponential, 1.0).unwrap();
    agrees("matern 1/2 ard", &ard.with_length_scales(&[0.7, 2.0]).unwrap(), 2);
}

#[test]
fn l1() {
    agrees("laplacian", &LaplacianL1::new(2.0).unwrap(), 4);
    for power in [0.1, 0.5, 1.0] {
        agrees("power exponential L1", &PowerExponentialL1::new(power, 2.0).unwrap(), 4);
    }
}

#[test]
fn power_exponential() {
    for power in [1e-3, 0.1, 0.7, 1.0, 1.5, 1.99, 2.0] {
        agrees("power exponential", &PowerExponential::new(power, 1.5).unwrap(), 3);
    }
}

#[test]
fn rational_quadratic() {
    for alpha in [1e-3, 0.5, 1.0, 3.0, 1e3, 1e6] {
        agrees("rational quadratic", &RationalQuadratic::new(alpha, 0.7).unwrap(), 3);
    }
}

/// The inverse multiquadric of a user.
struct InverseMultiquadric;
impl Profile for InverseMultiquadric {
    fn at<V: Lane>(&self, s: V) -> V {
        let one = s.lit(1.0);
        -(-one / (s.mul_add(one, one) + 0.0).abs().sqrt()) - s.lit(0.0)
    }
}
impl nystrom_gpu::DeviceProfile for InverseMultiquadric {}

#[test]
fn a_profile_of_a_user() {
    agrees("multiquadric", &Isotropic::with_profile(InverseMultiquadric, 2.0).unwrap(), 3);
}

/// Coordinates are centred in `f64` before they are rounded.
#[test]
fn points_far_from_zero_keep_their_digits() {
    let far = |x: Mat<f64>| Mat::from_fn(x.nrows(), x.ncols(), |i, k| x[(i, k)] + 1e7);
    let (x, z, v) = (far(normal(70, 2, 1)), far(normal(90, 2, 2)), normal(90, 1, 3));
    let kernel = Gaussian::new(1.0).unwrap();
    let errors = errors(&gpu(), &kernel, [x.as_ref(), z.as_ref()], v.as_ref());
    assert!(errors.share < SHARE, "{:e}", errors.share);
}

/// Points that are far apart: k is 0, and 1 of a point with itself.
#[test]
fn points_far_apart() {
    let x = Mat::from_fn(5, 2, |i, k| if k == 0 { 1e12 * i as f64 } else { 0.0 });
    let v = Mat::from_fn(5, 1, |i, _| (i + 1) as f64);
    let gpu = gpu();
    fn product(gpu: &nystrom_gpu::Gpu, k: &impl DeviceKernel, x: &Mat<f64>, v: &Mat<f64>) {
        let x = Points::from_rows(x.as_ref());
        assert_eq!(GpuProducts::symmetric(gpu, k, x, 1).unwrap().mul(v.as_ref()).unwrap(), *v);
    }
    product(&gpu, &Gaussian::new(1.0).unwrap(), &x, &v);
    product(&gpu, &Matern52::new(1.0).unwrap(), &x, &v);
    product(&gpu, &LaplacianL1::new(1.0).unwrap(), &x, &v);
    product(&gpu, &PowerExponential::new(0.5, 1.0).unwrap(), &x, &v);
}

/// The error of a sum does not grow with the number of its terms: 30,000 equal values and
/// right-hand sides that cancel.
#[test]
fn sums_lose_no_digits() {
    let m = 30_000;
    let (x, z) = ([0.5], vec![0.25; m]);
    let (x, z) = (Points::from_slice(&x), Points::from_slice(&z));
    let v = Mat::from_fn(m, 2, |i, j| {
        let big = if (i / 4096) % 2 == 0 { 1e5 } else { -1e5 };
        if j == 0 { 1.0 } else { big + (i % 4096) as f64 / 4096.0 }
    });
    let kernel = Gaussian::new(1.0).unwrap();
    let k = kernel.eval(x, z);
    for t in [1, 2] {
        let v = v.as_ref().subcols(2 - t, t);
        let y = GpuProducts::new(&gpu(), &kernel, x, z, t).unwrap().mul(v).unwrap();
        let errors = compared(k.as_ref(), v, y.as_ref());
        println!("{t}: {:.1e} of the sum", errors.share);
        assert!(errors.share < 5e-7, "{t}: {:e}", errors.share);
    }
}
