//! Regression on all the data by products on the device, against the CPU's.

use crate::support::{gpu, normal};
use faer::Mat;
use nystrom_gpu::{DeviceMatrix, GpuProducts};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{Extras, FullKrr, IterativeOptions, KernelProduct, metrics::rmse};
use nystrom_linalg_core::{Error, Ridge};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::ops::ControlFlow;

const N: usize = 700;

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(5)
}

/// Points and targets.
fn problem() -> (Mat<f64>, Mat<f64>) {
    let (x, noise) = (normal(N, 3, 1), normal(N, 1, 2));
    let y = Mat::from_fn(N, 1, |i, _| (x[(i, 0)] + x[(i, 1)]).sin() + 0.1 * noise[(i, 0)]);
    (x, y)
}

fn full(lambda: f64) -> FullKrr<Gaussian, f64> {
    let options = IterativeOptions { tolerance: 1e-8, ..IterativeOptions::default() };
    let kernel = Gaussian::new(1.5).unwrap();
    FullKrr { options, rank: Some(30), ..FullKrr::new(kernel, Ridge::PerSample(lambda)) }
}

/// The true residual is within the tolerance even if that is below what `f32` allows, and with a
/// ridge for which `f32` values are not safe the products are the CPU's.
#[test]
fn fits_equal_those_of_the_cpu() {
    let ((x, y), gpu) = (problem(), gpu());
    let points = Points::from_rows(x.as_ref());
    for (lambda, safe) in [(1e-3, true), (1e-11, false)] {
        let mut full = full(lambda);
        full.options.tolerance = if safe { 1e-8 } else { 1e-3 };
        let mut products = DeviceMatrix::new(&gpu, &full.kernel, points, 1, &mut rng()).unwrap();
        assert!(products.rounding() > 0.0);
        let extras = Extras::default();
        let fit = full.fit_by((points, &y), &mut products, extras, &mut rng()).unwrap();
        let of_cpu = full.fit((points, &y), &mut rng()).unwrap();
        let [a, b] = [&fit, &of_cpu].map(|fit| fit.model.predict(points).unwrap());
        let distance = rmse(a.as_ref(), b.as_ref()).unwrap();
        println!("{lambda:e}: {distance:e}, residual {:e}", fit.report.residual);
        assert_eq!(fit.converged(), of_cpu.converged());
        assert!(fit.converged() && distance < 1e-5 || !safe, "{:?}", fit.report);
        assert!(safe || products.rounding() == 0.0);
    }
}

/// The estimate is above ‖K̃ − K‖_F, and not far.
#[test]
fn the_rounding_is_estimated() {
    let ((x, _), gpu) = (problem(), gpu());
    let (points, kernel) = (Points::from_rows(x.as_ref()), Gaussian::new(1.5).unwrap());
    let products = DeviceMatrix::new(&gpu, &kernel, points, 1, &mut rng()).unwrap();
    let mut device = GpuProducts::symmetric(&gpu, &kernel, points, 32).unwrap();
    let error = device.mul(Mat::identity(N, N).as_ref()).unwrap() - kernel.gram(points);
    let (norm, estimate) = (error.norm_l2(), products.rounding());
    assert!(norm < estimate && estimate < 4.0 * norm, "{norm:e} {estimate:e}");
}

/// The monitor keeps the state before the device is lost; another device continues from it.
#[test]
fn a_fit_continues_on_another_device() {
    let ((x, y), full) = (problem(), full(1e-3));
    let (points, gpu) = (Points::from_rows(x.as_ref()), gpu());
    let (mut state, lost) = (None, gpu.clone());
    let mut monitor = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
        state = Some(iteration.state());
        if iteration.number == 2 {
            lost.destroy();
        }
        Ok(ControlFlow::Continue(()))
    };
    let products = DeviceMatrix::new(&gpu, &full.kernel, points, 1, &mut rng()).unwrap();
    let extras = Extras { monitor: Some(&mut monitor), ..Extras::default() };
    let error = full.fit_by((points, &y), products, extras, &mut rng()).unwrap_err();
    assert!(matches!(error, Error::Device { .. }), "{error}");
    let state = state.unwrap();
    let again = self::gpu();
    let products = DeviceMatrix::new(&again, &full.kernel, points, 1, &mut rng()).unwrap();
    let extras = Extras { resume: Some(&state), ..Extras::default() };
    let fit = full.fit_by((points, &y), products, extras, &mut rng()).unwrap();
    assert!(fit.converged() && fit.report.iterations > 2, "{:?}", fit.report);
}
