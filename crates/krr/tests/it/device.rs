//! Regression on all the data with products of a device: everything that has one calls it.

use crate::common::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{
    Device, Extras, Falkon, FullKrr, FullPath, IterativeFit, IterativeOptions, KernelProduct,
    Krill, Problem,
};
use nystrom_linalg_core::{Error, Result, Ridge, ops};
use nystrom_sketch::Landmarks;
use rand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Computes with K in `f32`, and counts products.
#[derive(Default)]
struct Rounded {
    /// Whether products have three digits only.
    coarse: bool,
    /// Products before the device is lost; 0: it is never lost.
    lifetime: usize,
    matrices: AtomicUsize,
    products: Arc<AtomicUsize>,
}

struct RoundedMatrix {
    near: Mat<f64>,
    exact: Mat<f64>,
    given_up: bool,
    products: Arc<AtomicUsize>,
}

fn rounded(k: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(k.nrows(), k.ncols(), |i, j| f64::from(k[(i, j)] as f32))
}

impl<K: Kernel<f64>> Device<K, f64> for Rounded {
    fn matrix<'a>(
        &self,
        kernel: &'a K,
        x: Points<'a, f64>,
        _: usize,
        _: &mut dyn Rng,
    ) -> Result<Box<dyn KernelProduct + 'a>> {
        self.matrices.fetch_add(1, Relaxed);
        let exact = kernel.gram(x);
        let near = rounded(&exact);
        let products = Arc::clone(&self.products);
        Ok(Box::new(RoundedMatrix { near, exact, given_up: false, products }))
    }

    fn times(
        &self,
        kernel: &K,
        [x, z]: [Points<'_, f64>; 2],
        v: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let before = self.products.fetch_add(1, Relaxed);
        if self.lifetime > 0 && before >= self.lifetime {
            return Err(Error::Device { problem: "lost".into() });
        }
        let k = kernel.eval(x, z);
        if self.coarse {
            return Ok(
                Mat::from_fn(k.nrows(), k.ncols(), |i, j| (1e3 * k[(i, j)]).round() / 1e3) * v
            );
        }
        Ok(rounded(&k) * v)
    }
}

impl KernelProduct for RoundedMatrix {
    fn product(&mut self, out: MatMut<'_, f64>, a: MatRef<'_, f64>, exact: bool) -> Result<()> {
        self.products.fetch_add(1, Relaxed);
        let k = if exact || self.given_up { &self.exact } else { &self.near };
        ops::matmul(out, Accum::Replace, k.as_ref(), a, 1.0);
        Ok(())
    }
    fn rounding(&self) -> f64 {
        if self.given_up { 0.0 } else { (&self.near - &self.exact).norm_l2() }
    }
    fn give_up_rounding(&mut self, _: u64) {
        self.given_up = true;
    }
    fn notice(&self) -> Option<String> {
        self.given_up.then(|| "given up".into())
    }
}

fn full(lambda: f64) -> FullKrr<Gaussian, f64> {
    FullKrr { intercept: true, ..FullKrr::new(gaussian(0.7), Ridge::PerSample(lambda)) }
}

#[test]
fn a_fit_and_its_predictions_are_those_of_the_cpu() {
    let (x, y) = sample::<f64>(400, 2, 2, 3);
    let (points, device) = (Points::from_rows(x.as_ref()), Rounded::default());
    let extras = || Extras { device: Some(&device), ..Extras::default() };
    let fit = full(1e-3).fit_with((points, y.as_ref()), extras(), &mut rng(1)).unwrap();
    let by_cpu = full(1e-3).fit((points, y.as_ref()), &mut rng(1)).unwrap();
    assert!(fit.converged() && fit.report.notice.is_none(), "{:?}", fit.report);
    assert_eq!(device.matrices.load(Relaxed), 1);
    assert!(device.products.load(Relaxed) >= fit.report.iterations);
    let before = device.products.load(Relaxed);
    let f = fit.model.predict_on(&device, points).unwrap();
    assert_eq!(device.products.load(Relaxed), before + 1);
    let expected = by_cpu.model.predict(points).unwrap();
    let apart = distance(f.as_ref(), expected.as_ref());
    assert!(0.0 < apart && apart < 1e-4, "{apart:e}");
    // a ridge below what the rounding of K allows
    let low = full(1e-12).fit_with((points, y.as_ref()), extras(), &mut rng(1)).unwrap();
    assert_eq!(low.report.notice.as_deref(), Some("given up"));
}

#[test]
fn the_cpu_predicts_in_place_of_a_lost_or_imprecise_device() {
    let (x, y) = sample::<f64>(80, 2, 2, 3);
    let (points, device) =
        (Points::from_rows(x.as_ref()), Rounded { lifetime: 1, ..Rounded::default() });
    let model = full(1e-3).fit((points, y.as_ref()), &mut rng(1)).unwrap().model;
    let by_cpu = model.predict(points).unwrap();
    let [on_device, after_loss] = [0, 1].map(|_| model.predict_on(&device, points).unwrap());
    assert_ne!(on_device, by_cpu);
    assert_eq!(after_loss, by_cpu);
    let coarse = Rounded { coarse: true, ..Rounded::default() };
    assert_eq!(model.predict_on(&coarse, points).unwrap(), by_cpu);
    // what is wrong with the input is an error in any case
    let other = Points::from_slice(&[0.0]);
    assert!(matches!(model.predict_on(&device, other), Err(Error::Shape { .. })));
}

#[test]
fn passes_are_products_of_the_device() {
    let (x, y) = sample::<f64>(400, 2, 1, 4);
    let (points, device) = (Points::from_rows(x.as_ref()), Rounded::default());
    let mut rows = Blocks::new((points, y.as_ref()), 100);
    let extras = Extras { device: Some(&device), ..Extras::default() };
    let fit = full(1e-3).fit_passes(&mut rows, [2, 1], extras, &mut rng(1)).unwrap();
    let mut rows = Blocks::new((points, y.as_ref()), 100);
    let extras = Extras::default();
    let by_cpu = full(1e-3).fit_passes(&mut rows, [2, 1], extras, &mut rng(1)).unwrap();
    assert!(fit.converged() && device.products.load(Relaxed) >= fit.report.iterations);
    let [a, b] = [&fit, &by_cpu].map(|fit| fit.model.predict(points).unwrap());
    let apart = distance(a.as_ref(), b.as_ref());
    assert!(0.0 < apart && apart < 1e-4, "{apart:e}");
}

#[test]
fn a_path_looks_on_the_device() {
    let (x, y) = sample::<f64>(400, 2, 1, 5);
    let (points, y, device) = (Points::from_rows(x.as_ref()), y.as_ref(), Rounded::default());
    let [train, valid] =
        [0..300, 300..400].map(|of| (points.slice(of.clone()), y.subrows(of.start, of.len())));
    let path = FullPath {
        intercept: true,
        options: IterativeOptions { memory: Some(1 << 30), ..IterativeOptions::default() },
        ..FullPath::new(gaussian(0.7), &[1e-1, 1e-3, 1e-5].map(Ridge::PerSample))
    };
    let found = path.fit_on(Some(&device), train, valid, &mut rng(1)).unwrap();
    let by_cpu = path.fit(train, valid, &mut rng(1)).unwrap();
    assert_eq!((found.best, found.fit.report.memory.kept), (by_cpu.best, 0));
    // products with K, and one for each look and for the errors at the end
    let least = found.fit.report.iterations + found.looks.len() + 1;
    assert!(device.products.load(Relaxed) >= least && device.matrices.load(Relaxed) == 1);
    let best = found.best;
    assert!((found.errors[best] - by_cpu.errors[best]).abs() < 1e-4 * by_cpu.errors[best]);
}

/// A fit by Falkon or KRILL with 60 centres, weights and a constant.
fn restricted(
    by_krill: bool,
    lambda: f64,
    device: Option<&dyn Device<Gaussian, f64>>,
) -> IterativeFit<Gaussian, f64> {
    let (x, y) = sample::<f64>(500, 2, 2, 7);
    let w = weights(500);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let landmarks = &Landmarks::new(500, (0..60).map(|i| 8 * i).collect()).unwrap();
    let options = IterativeOptions { tolerance: 1e-9, max_iterations: 400, memory: None };
    let (kernel, ridge) = (gaussian(0.7), Ridge::PerSample(lambda));
    let extras = Extras { device, ..Extras::default() };
    if by_krill {
        let krill = Krill { intercept: true, options, ..Krill::new(kernel, ridge) };
        krill.fit_with(problem, landmarks, extras, &mut rng(8)).unwrap()
    } else {
        let falkon = Falkon { intercept: true, options, ..Falkon::new(kernel, ridge) };
        falkon.fit_with(problem, landmarks, extras).unwrap()
    }
}

/// Values of `f32` reach a residual of 1e-9: the CPU measures it, and the device refines.
#[test]
fn falkon_and_krill_refine_to_the_tolerance() {
    let (x, _) = sample::<f64>(500, 2, 2, 7);
    let points = Points::from_rows(x.as_ref());
    for by_krill in [false, true] {
        let device = Rounded::default();
        let fit = restricted(by_krill, 1e-3, Some(&device));
        let by_cpu = restricted(by_krill, 1e-3, None);
        assert!(fit.converged() && fit.report.residual <= 1e-9, "{:?}", fit.report);
        assert_eq!(fit.report.notice, None);
        // two products for each iteration
        assert!(device.products.load(Relaxed) >= 2 * fit.report.iterations);
        let [a, b] = [&fit, &by_cpu].map(|fit| fit.model.predict(points).unwrap());
        let apart = distance(a.as_ref(), b.as_ref());
        assert!(0.0 < apart && apart < 1e-6, "{apart:e}");
    }
}

#[test]
fn a_lost_or_imprecise_device_is_replaced_from_the_iterate() {
    for by_krill in [false, true] {
        let device = Rounded { lifetime: 7, ..Rounded::default() };
        let fit = restricted(by_krill, 1e-3, Some(&device));
        assert!(fit.converged() && device.products.load(Relaxed) == 8, "{:?}", fit.report);
        assert!(fit.report.notice.as_deref().unwrap().contains("lost"), "{:?}", fit.report);
        // three digits refine to nothing
        let coarse = Rounded { coarse: true, ..Rounded::default() };
        let fit = restricted(by_krill, 1e-3, Some(&coarse));
        assert!(fit.converged() && fit.report.residual <= 1e-9, "{:?}", fit.report);
        assert!(fit.report.notice.as_deref().unwrap().contains("precision"), "{:?}", fit.report);
    }
}
