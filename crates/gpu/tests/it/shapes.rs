//! Remainders of every tile, and products in blocks.

use crate::support::{compared, errors, gpu, normal, options};
use faer::Mat;
use nystrom_gpu::{Gpu, GpuOptions, GpuProducts};
use nystrom_kernels::{Gaussian, Kernel, Points};

const SHARE: f64 = 1e-6;

#[test]
fn remainders_of_rows_and_columns() {
    let (gpu, kernel) = (gpu(), Gaussian::new(1.0).unwrap());
    for n in [1, 63, 64, 65, 130] {
        for m in [1, 4, 63, 65, 2047, 2049] {
            for t in [1, 5] {
                let (x, z, v) = (normal(n, 2, 1), normal(m, 2, 2), normal(m, t, 3));
                let errors = errors(&gpu, &kernel, [x.as_ref(), z.as_ref()], v.as_ref());
                assert!(errors.share < SHARE, "{n} {m} {t}: {:e}", errors.share);
            }
        }
    }
}

#[test]
fn remainders_of_features() {
    let gpu = gpu();
    for d in [1, 15, 16, 17, 31, 32, 257, 1000] {
        let kernel = Gaussian::new((d as f64).sqrt()).unwrap();
        for t in [1, 9] {
            let (x, z, v) = (normal(65, d, 1), normal(130, d, 2), normal(130, t, 3));
            let errors = errors(&gpu, &kernel, [x.as_ref(), z.as_ref()], v.as_ref());
            assert!(errors.share < SHARE, "{d} {t}: {:e}", errors.share);
        }
    }
}

#[test]
fn any_number_of_right_hand_sides() {
    let (gpu, kernel) = (gpu(), Gaussian::new(1.0).unwrap());
    for t in [1, 2, 7, 8, 9, 28, 32, 33, 70] {
        let (x, z, v) = (normal(70, 3, 1), normal(200, 3, 2), normal(200, t, 3));
        let errors = errors(&gpu, &kernel, [x.as_ref(), z.as_ref()], v.as_ref());
        assert!(errors.share < SHARE, "{t}: {:e}", errors.share);
    }
}

/// Memory for one right-hand side serves three, one after the other; and there may be none.
#[test]
fn other_numbers_of_right_hand_sides_than_planned() {
    let (gpu, kernel, x) = (gpu(), Gaussian::new(1.0).unwrap(), normal(100, 2, 1));
    let x = Points::from_rows(x.as_ref());
    let mut products = GpuProducts::symmetric(&gpu, &kernel, x, 1).unwrap();
    let v = normal(100, 3, 2);
    let y = products.mul(v.as_ref()).unwrap();
    assert!(compared(kernel.gram(x).as_ref(), v.as_ref(), y.as_ref()).share < SHARE);
    assert_eq!(products.mul(v.as_ref().subcols(0, 0)).unwrap().ncols(), 0);
}

#[test]
fn transposed_products() {
    let (gpu, kernel) = (gpu(), Gaussian::new(1.0).unwrap());
    for [n, m] in [[70, 300], [300, 70]] {
        let (x, z, v) = (normal(n, 2, 1), normal(m, 2, 2), normal(n, 4, 3));
        let (x, z) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
        let mut products = GpuProducts::new(&gpu, &kernel, x, z, 4).unwrap();
        let mut y = Mat::zeros(m, 4);
        products.transposed_mul_into(y.as_mut(), v.as_ref()).unwrap();
        let k = kernel.eval(z, x);
        assert!(compared(k.as_ref(), v.as_ref(), y.as_ref()).share < SHARE);
    }
}

/// Many dispatches give the bits of one, and every product those of the one before.
#[test]
fn the_same_bits_in_blocks_and_again() {
    let (x, v) = (normal(3000, 2, 1), normal(3000, 8, 2));
    let (x, kernel) = (Points::from_rows(x.as_ref()), Gaussian::new(0.7).unwrap());
    for t in [1, 8] {
        let v = v.as_ref().subcols(0, t);
        let product = |operations| {
            let gpu = Gpu::open(&GpuOptions { operations, ..options() }).unwrap();
            let mut products = GpuProducts::symmetric(&gpu, &kernel, x, t).unwrap();
            let y = products.mul(v).unwrap();
            assert_eq!(y, products.mul(v).unwrap());
            y
        };
        let whole = product(Some(1 << 40));
        assert!(compared(kernel.gram(x).as_ref(), v, whole.as_ref()).share < SHARE);
        let blocks = product(Some(1));
        let close = compared(kernel.gram(x).as_ref(), v, blocks.as_ref());
        assert!(close.share < SHARE && (&whole - &blocks).norm_max() <= 1e-10 * whole.norm_max());
        assert_eq!(blocks, product(Some(1)));
    }
}

#[test]
fn weights_of_zero() {
    let (x, kernel) = (normal(200, 3, 1), Gaussian::new(1.0).unwrap());
    let x = Points::from_rows(x.as_ref());
    let mut products = GpuProducts::symmetric(&gpu(), &kernel, x, 1).unwrap();
    let zero = Mat::<f64>::zeros(200, 1);
    assert_eq!(products.mul(zero.as_ref()).unwrap(), zero);
    let mut v = normal(200, 1, 2);
    (0..200).step_by(2).for_each(|i| v[(i, 0)] = 0.0);
    let y = products.mul(v.as_ref()).unwrap();
    assert!(compared(kernel.gram(x).as_ref(), v.as_ref(), y.as_ref()).share < SHARE);
}

/// Columns have units of their own.
#[test]
fn right_hand_sides_of_any_size() {
    let (x, kernel) = (normal(100, 2, 1), Gaussian::new(1.0).unwrap());
    let x = Points::from_rows(x.as_ref());
    let size = [1e-300, 1e-40, 1.0, 1e38, 1e300];
    let v = normal(100, 5, 2);
    let v = Mat::from_fn(100, 5, |i, j| v[(i, j)] * size[j]);
    let y = GpuProducts::symmetric(&gpu(), &kernel, x, 5).unwrap().mul(v.as_ref()).unwrap();
    assert!(compared(kernel.gram(x).as_ref(), v.as_ref(), y.as_ref()).share < SHARE);
}
