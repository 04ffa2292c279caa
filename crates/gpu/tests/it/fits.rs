//! Regression on all the data by products on the device, against the CPU's.

use crate::support::{gpu, normal};
use faer::Mat;
use nystrom_gpu::{DeviceMatrix, Gpu, GpuProducts};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{
    Device, Extras, FullKrr, IterativeOptions, KernelProduct, Monitor, metrics::rmse,
};
use nystrom_linalg_core::Ridge;
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
        assert_eq!(fit.report.notice.is_some(), !safe, "{:?}", fit.report.notice);
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

/// The device is lost after two iterations: the CPU continues from the iterate, and says so.
#[test]
fn a_fit_continues_without_its_device() {
    let ((x, y), full) = (problem(), full(1e-3));
    let points = Points::from_rows(x.as_ref());
    let fit_on = |gpu: Gpu, lost: bool| {
        let lost = lost.then(|| gpu.clone());
        let mut monitor = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
            if let Some(lost) = lost.as_ref().filter(|_| iteration.number == 2) {
                lost.destroy();
            }
            Ok(ControlFlow::Continue(()))
        };
        let device: &dyn Device<Gaussian, f64> = &gpu;
        let (monitor, device): (Option<&mut Monitor<'_, _, _>>, _) =
            (Some(&mut monitor), Some(device));
        let extras = Extras { monitor, device, ..Extras::default() };
        let fit = full.fit_with((points, &y), extras, &mut rng()).unwrap();
        (fit, gpu.lost())
    };
    let ((whole, none), (fit, lost)) = (fit_on(gpu(), false), fit_on(gpu(), true));
    assert!(whole.converged() && whole.report.notice.is_none() && none.is_none());
    assert!(fit.converged() && lost.is_some(), "{:?}", fit.report);
    let notice = fit.report.notice.unwrap();
    assert!(notice.contains("lost") && notice.contains("CPU"), "{notice}");
    // the iterations before the loss count: the same two, and as many in all, give or take two
    assert!(whole.report.iterations > 4);
    assert_eq!(fit.report.history[..2], whole.report.history[..2]);
    assert!(fit.report.iterations.abs_diff(whole.report.iterations) <= 2);
    let [a, b] = [&fit.model, &whole.model].map(|model| model.predict(points).unwrap());
    assert!(rmse(a.as_ref(), b.as_ref()).unwrap() < 1e-5);
}

/// A run that is saved continues on another device.
#[test]
fn a_saved_fit_continues_on_another_device() {
    let ((x, y), full) = (problem(), full(1e-3));
    let (points, mut state) = (Points::from_rows(x.as_ref()), None);
    let mut monitor = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
        state = Some(iteration.state());
        Ok(ControlFlow::Break(()))
    };
    let products = DeviceMatrix::new(&gpu(), &full.kernel, points, 1, &mut rng()).unwrap();
    let extras = Extras { monitor: Some(&mut monitor), ..Extras::default() };
    let first = full.fit_by((points, &y), products, extras, &mut rng()).unwrap();
    let again = gpu();
    let products = DeviceMatrix::new(&again, &full.kernel, points, 1, &mut rng()).unwrap();
    let extras = Extras { resume: state.as_ref(), ..Extras::default() };
    let fit = full.fit_by((points, &y), products, extras, &mut rng()).unwrap();
    assert!(!first.converged() && fit.converged() && fit.report.iterations > 1);
}

/// Where values nearly cancel, and where there is no device, predictions are the CPU's.
#[test]
fn predictions_have_the_precision_of_their_check() {
    let (x, _) = problem();
    let (points, kernel, gpu) =
        (Points::from_rows(x.as_ref()), Gaussian::new(50.0).unwrap(), gpu());
    let sign = |i: usize| if i.is_multiple_of(2) { 1e3 } else { -1e3 };
    let even = Mat::from_fn(N, 1, |i, _| 1.0 + (i as f64).sin());
    // the same points in pairs, with opposite signs but for a part in 10⁹
    let pairs = Mat::from_fn(N, 3, |i, k| x[(i / 2, k)]);
    let pairs = Points::from_rows(pairs.as_ref());
    let cancels = Mat::from_fn(N, 1, |i, _| sign(i) * (1.0 + 1e-9 * i as f64));
    let by_cpu = |z, v: &Mat<f64>| kernel.eval(points, z) * v;
    for (z, v, exact) in [(points, &even, false), (pairs, &cancels, true)] {
        let y = gpu.times(&kernel, [points, z], v.as_ref()).unwrap();
        let expected = by_cpu(z, v);
        let share = (&y - &expected).norm_l2() / expected.norm_l2();
        println!("{share:e}");
        assert_eq!(share < 1e-9, exact, "{share:e}");
        assert!(share < 1e-4, "{share:e}");
    }
    gpu.destroy();
    let y = gpu.times(&kernel, [points, points], even.as_ref()).unwrap();
    assert!((y - by_cpu(points, &even)).norm_max() < 1e-10);
}
