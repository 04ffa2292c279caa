//! Regression on all the data by products on the device, against the CPU's.

use crate::support::{gpu, normal, options};
use faer::Mat;
use nystrom_gpu::{DeviceMatrix, Gpu, GpuOptions, GpuProducts};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{
    Device, Extras, Falkon, FullKrr, Iteration, IterativeFit, IterativeOptions, KernelProduct,
    Krill, KrrModel, Monitor, metrics::rmse,
};
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
        let mut monitor = |iteration: &Iteration<'_, Gaussian, f64>| {
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
    let mut monitor = |iteration: &Iteration<'_, Gaussian, f64>| {
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

/// A fit by Falkon or KRILL through the first 60 points, on a device that is lost after two
/// iterations if `loses`.
fn restricted(by_krill: bool, gpu: &Gpu, loses: bool) -> IterativeFit<Gaussian, f64> {
    let (x, y) = problem();
    let (points, FullKrr { kernel, ridge, options, .. }) =
        (Points::from_rows(x.as_ref()), full(1e-3));
    let centers = points.slice(0..60);
    let mut monitor = |iteration: &Iteration<'_, Gaussian, f64>| {
        if loses && iteration.number == 2 {
            gpu.destroy();
        }
        Ok(ControlFlow::Continue(()))
    };
    let extras =
        Extras { monitor: Some(&mut monitor), device: Some(gpu as _), ..Extras::default() };
    if by_krill {
        let krill = Krill { options, ..Krill::new(kernel, ridge) };
        krill.fit_with((points, &y), centers, extras, &mut rng()).unwrap()
    } else {
        let falkon = Falkon { options, ..Falkon::new(kernel, ridge) };
        falkon.fit_with((points, &y), centers, extras).unwrap()
    }
}

#[test]
fn falkon_and_krill_continue_without_their_device() {
    for by_krill in [false, true] {
        let whole = restricted(by_krill, &gpu(), false);
        assert!(whole.converged() && whole.report.notice.is_none(), "{:?}", whole.report);
        let fit = restricted(by_krill, &gpu(), true);
        assert!(fit.converged(), "{:?}", fit.report);
        let notice = fit.report.notice.as_deref().unwrap();
        assert!(notice.contains("lost") && notice.contains("CPU"), "{notice}");
        // the iterations before the loss count
        let (before, all) = (&fit.report.history[..2], fit.report.iterations);
        assert_eq!(before, &whole.report.history[..2]);
        assert!(all > 3 && all.abs_diff(whole.report.iterations) <= 2, "{all}");
        // a device whose memory is too small computes nothing
        let small = Gpu::open(&GpuOptions { memory: Some(1 << 12), ..options() }).unwrap();
        let by_cpu = restricted(by_krill, &small, false);
        let notice = by_cpu.report.notice.as_deref().unwrap();
        assert!(by_cpu.converged() && notice.contains("points fit"), "{notice}");
        let values = |fit: &IterativeFit<Gaussian, f64>| fit.model.coefficients().to_owned();
        let distance = |fit| (values(fit) - values(&by_cpu)).norm_l2() / values(&by_cpu).norm_l2();
        assert!(distance(&whole) > 0.0 && distance(&whole) < 1e-3, "{:e}", distance(&whole));
        assert!(distance(&fit) > 0.0 && distance(&fit) < 1e-3, "{:e}", distance(&fit));
    }
}

/// Where values nearly cancel, and where there is no device, predictions are the CPU's.
#[test]
fn predictions_have_the_precision_of_their_check() {
    let (x, y) = problem();
    let (points, kernel, gpu) =
        (Points::from_rows(x.as_ref()), Gaussian::new(50.0).unwrap(), gpu());
    let sign = |i: usize| if i.is_multiple_of(2) { 1e3 } else { -1e3 };
    let even = Mat::from_fn(N, 1, |i, _| 1.0 + (i as f64).sin());
    // the same points in pairs, with opposite signs but for a part in 10⁹
    let pairs = Mat::from_fn(N, 3, |i, k| x[(i / 2, k)]);
    let pairs = Points::from_rows(pairs.as_ref());
    let cancels = Mat::from_fn(N, 1, |i, _| sign(i) * (1.0 + 1e-9 * i as f64));
    let report = full(1e-3).fit((points, &y), &mut rng()).unwrap().model.report().clone();
    let model = |centers: Points<'_, f64>, v: &Mat<f64>| {
        KrrModel::new(kernel, centers.to_owned(), v.clone(), vec![0.5], report.clone()).unwrap()
    };
    let product = |z, v: &Mat<f64>| gpu.times(&kernel, [points, z], v.as_ref());

    let on_device = product(points, &even).unwrap();
    let expected = kernel.eval(points, points) * &even;
    let share = (&on_device - &expected).norm_l2() / expected.norm_l2();
    assert!(1e-12 < share && share < 1e-5, "{share:e}");
    let (of_even, of_pairs) = (model(points, &even), model(pairs, &cancels));
    let predicted = of_even.predict_on(&gpu, points).unwrap();
    assert_eq!(predicted, Mat::from_fn(N, 1, |i, _| on_device[(i, 0)] + 0.5));

    assert!(product(pairs, &cancels).is_ok());
    assert_eq!(of_pairs.predict_on(&gpu, points), of_pairs.predict(points));
    gpu.destroy();
    let error = product(points, &even).unwrap_err();
    assert!(matches!(&error, Error::Device { problem } if problem.contains("lost")), "{error}");
    assert_eq!(of_even.predict_on(&gpu, points), of_even.predict(points));
}
