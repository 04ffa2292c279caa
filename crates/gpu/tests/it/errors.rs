//! Typed errors, before work is done.

use crate::support::{gpu, normal, options};
use faer::{Mat, mat};
use nystrom_gpu::{Gpu, GpuError, GpuOptions, GpuProducts, adapters};
use nystrom_kernels::{Gaussian, Matern, Points};
use nystrom_linalg_core::Error;

#[test]
fn the_list_names_the_adapter() {
    let gpu = gpu();
    let all = adapters();
    let listed = all.iter().find(|adapter| adapter.name == gpu.adapter()).unwrap();
    assert!(listed.largest_buffer >= 1 << 27 && listed.to_string().starts_with(gpu.adapter()));
}

#[test]
fn no_adapter() {
    let options = GpuOptions { name: Some("abacus".into()), ..GpuOptions::default() };
    let error = Gpu::open(&options).unwrap_err();
    let GpuError::NoAdapter { wanted, found } = &error else { panic!("{error}") };
    assert!(wanted.contains("abacus") && !found.is_empty());
}

#[test]
fn nan_is_refused_on_the_host() {
    let (gpu, kernel) = (gpu(), Gaussian::new(1.0).unwrap());
    let bad = mat![[0.0], [f64::NAN], [1.0]];
    let good = mat![[0.0], [1.0], [2.0]];
    let [x, z] = [bad.as_ref(), good.as_ref()].map(Points::from_rows);
    for pair in [[x, z], [z, x]] {
        let error = GpuProducts::new(&gpu, &kernel, pair[0], pair[1], 1).unwrap_err();
        let found = matches!(error, GpuError::Input(Error::NonFinite { row: 1, col: 0, .. }));
        assert!(found, "{error}");
    }
    let mut products = GpuProducts::symmetric(&gpu, &kernel, z, 1).unwrap();
    let error = products.mul(bad.as_ref()).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::NonFinite { row: 1, col: 0, .. })), "{error}");
    // and the device is as good as before
    assert!(products.mul(good.as_ref()).is_ok());
}

#[test]
fn wrong_shapes() {
    let (gpu, kernel, x) = (gpu(), Gaussian::new(1.0).unwrap(), normal(10, 2, 1));
    let points = Points::from_rows(x.as_ref());
    let other = Points::from_rows(x.as_ref().subcols(0, 1));
    let error = GpuProducts::new(&gpu, &kernel, points, other, 1).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::Shape { .. })), "{error}");
    let error = GpuProducts::symmetric(&gpu, &kernel, points.slice(0..0), 1).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::Empty { .. })), "{error}");
    let mut products = GpuProducts::symmetric(&gpu, &kernel, points, 1).unwrap();
    let error = products.mul(x.as_ref().subrows(0, 9)).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::Shape { .. })), "{error}");
    let error = products.mul_into(Mat::zeros(10, 1).as_mut(), x.as_ref()).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::Shape { .. })), "{error}");
}

#[test]
fn a_point_out_of_range() {
    let x = mat![[0.0], [1e30]];
    let x = Points::from_rows(x.as_ref());
    let error = GpuProducts::symmetric(&gpu(), &Gaussian::new(1.0).unwrap(), x, 1).unwrap_err();
    assert!(matches!(error, GpuError::Input(Error::InvalidParameter { .. })), "{error}");
}

#[test]
fn a_kernel_by_special_functions() {
    let x = Points::from_slice(&[0.0, 1.0]);
    let kernel = Matern::new(0.7, 1.0).unwrap();
    let error = GpuProducts::symmetric(&gpu(), &kernel, x, 1).unwrap_err();
    assert!(matches!(error, GpuError::Unsupported { .. }), "{error}");
}

/// As many points as the error says fit; one tile more does not.
#[test]
fn out_of_memory_says_how_many_points_fit() {
    let gpu = Gpu::open(&GpuOptions { memory: Some(1 << 20), ..options() }).unwrap();
    let (kernel, x) = (Gaussian::new(1.0).unwrap(), normal(30_000, 10, 1));
    let points = Points::from_rows(x.as_ref());
    for centers in [None, Some(points.slice(0..3000))] {
        let products = |n| match centers {
            None => GpuProducts::symmetric(&gpu, &kernel, points.slice(0..n), 1),
            Some(z) => GpuProducts::new(&gpu, &kernel, points.slice(0..n), z, 1),
        };
        let error = products(30_000).unwrap_err();
        let GpuError::OutOfMemory { rows, needed, available, fitting } = error else {
            panic!("{error}")
        };
        assert_eq!(available, 1 << 20);
        assert!(needed > available && fitting < rows && fitting > 1000, "{needed} {fitting}");
        if centers.is_none() {
            assert!(products(fitting).is_ok() && products(fitting + 64).is_err());
        }
    }
}

/// A device that is lost between two passes is an error, and what the caller holds stays.
#[test]
fn a_lost_device() {
    let (gpu, kernel, x) = (gpu(), Gaussian::new(1.0).unwrap(), normal(100, 2, 1));
    let points = Points::from_rows(x.as_ref());
    let mut products = GpuProducts::symmetric(&gpu, &kernel, points, 1).unwrap();
    let v = normal(100, 1, 2);
    let y = products.mul(v.as_ref()).unwrap();
    gpu.destroy();
    let error = products.mul(y.as_ref()).unwrap_err();
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
    let error = GpuProducts::symmetric(&gpu, &kernel, points, 1).unwrap_err();
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
    let mut again = GpuProducts::symmetric(&self::gpu(), &kernel, points, 1).unwrap();
    assert_eq!(again.mul(v.as_ref()).unwrap(), y);
}
