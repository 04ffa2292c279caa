//! The register tiles against the plain oracle: every remainder, every layout, far from the origin,
//! any number of threads.

use faer::{Mat, MatRef};
use nystrom_kernels::reference::Reference;
use nystrom_kernels::*;
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{Scalar, random};
use rand::SeedableRng;
use rand_pcg::Pcg64;

pub(crate) fn normal<T: Scalar>(n: usize, d: usize, seed: u64) -> Mat<T> {
    random::standard_normal(n, d, &mut Pcg64::seed_from_u64(seed))
}

fn widen<T: Scalar>(x: MatRef<'_, T>) -> Vec<Vec<f64>> {
    (0..x.nrows()).map(|i| (0..x.ncols()).map(|k| x[(i, k)].f64()).collect()).collect()
}

/// Largest |fast − plain| over the block, in units of ε.
fn worst<T: Scalar, K: Kernel<T> + Reference>(
    kernel: &K,
    fast: MatRef<'_, T>,
    x: MatRef<'_, T>,
    y: MatRef<'_, T>,
) -> f64 {
    let (x, y) = (widen(x), widen(y));
    let mut worst: f64 = 0.0;
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            worst = worst.max((fast[(i, j)].f64() - Reference::value(kernel, x, y)).abs());
        }
    }
    worst / T::EPS
}

fn every_shape<T: Scalar, K: Kernel<T> + Reference>(
    kernel: &K,
    dims: impl Iterator<Item = usize>,
    scale: impl Fn(usize) -> f64,
) {
    for d in dims {
        let (x, y) = (normal::<T>(70, d, 1), normal::<T>(20, d, 2));
        for n in 1..=70 {
            for m in [1 + n % 20, 20, 1 + (3 * n) % 20] {
                let (x, y) = (x.as_ref().subrows(70 - n, n), y.as_ref().subrows(20 - m, m));
                let block = kernel.eval(Points::from_rows(x), Points::from_rows(y));
                let error = worst(kernel, block.as_ref(), x, y);
                assert!(error <= scale(d), "{n} x {m}, d = {d}: {error} eps");
            }
        }
    }
}

#[test]
fn all_remainders_of_rows_columns_and_coordinates() {
    let bound = |d: usize| 4.0 + d as f64;
    every_shape::<f64, _>(&Gaussian::new(2.5).unwrap(), 1..=40, bound);
    every_shape::<f32, _>(&Gaussian::new(2.5).unwrap(), 1..=40, bound);
    every_shape::<f64, _>(&Matern32::new(3.0).unwrap(), [1, 3, 10].into_iter(), bound);
    every_shape::<f32, _>(&Matern52::new(3.0).unwrap(), [1, 3, 10].into_iter(), bound);
    every_shape::<f64, _>(&LaplacianL1::new(3.0).unwrap(), [1, 2, 7, 33].into_iter(), bound);
    every_shape::<f32, _>(&LaplacianEuclidean::new(3.0).unwrap(), [1, 2, 7, 33].into_iter(), bound);
    every_shape::<f64, _>(&RationalQuadratic::new(0.7, 1.0).unwrap(), [1, 5].into_iter(), bound);
    every_shape::<f64, _>(&RationalQuadratic::new(1.0, 1.0).unwrap(), [1, 5].into_iter(), bound);
    every_shape::<f64, _>(&Linear::with_bias(1.0).unwrap(), [1, 4, 17].into_iter(), |d| {
        8.0 * d as f64
    });
    every_shape::<f64, _>(&Polynomial::new(3, 0.1, 1.0).unwrap(), [1, 4].into_iter(), |_| 100.0);
    every_shape::<f32, _>(&Bernoulli::new(2).unwrap(), 1..=1, |_| 1.0);
    every_shape::<f64, _>(&Periodic::new(2.0, 1.5).unwrap(), [1, 3].into_iter(), |_| 16.0);
    let sum = Sum::new(
        Gaussian::new(1.0).unwrap(),
        Scaled::new(LaplacianL1::new(1.0).unwrap(), 0.5).unwrap(),
    );
    every_shape::<f64, _>(&Product::new(sum, Matern12::new(4.0).unwrap()), [2].into_iter(), |_| {
        10.0
    });
}

#[test]
fn several_tiles_in_each_direction() {
    let (x, y) = (normal::<f64>(600, 5, 3), normal::<f64>(300, 5, 4));
    let kernel = Matern32::new(2.0).unwrap();
    let block = kernel.eval(Points::from_rows(x.as_ref()), Points::from_rows(y.as_ref()));
    assert!(worst(&kernel, block.as_ref(), x.as_ref(), y.as_ref()) <= 10.0);
    let gram = kernel.gram(Points::from_rows(x.as_ref()));
    assert!(worst(&kernel, gram.as_ref(), x.as_ref(), x.as_ref()) <= 10.0);
    assert!((0..600).all(|i| gram[(i, i)] == 1.0 && (0..i).all(|j| gram[(i, j)] == gram[(j, i)])));
}

#[test]
fn any_layout_of_points_and_output_gives_the_same_bits() {
    same_bits_in_any_layout(6);
    same_bits_in_any_layout(24);
}

fn same_bits_in_any_layout(d: usize) {
    let (n, m) = (70, 45);
    let (x, y) = (normal::<f64>(n, d, 5), normal::<f64>(m, d, 6));
    let kernel = Gaussian::new(1.5).unwrap();
    let block = kernel.eval(Points::from_rows(x.as_ref()), Points::from_rows(y.as_ref()));

    let (xt, yt) = (x.transpose().to_owned(), y.transpose().to_owned());
    assert_eq!(kernel.eval(Points::from_cols(xt.as_ref()), Points::from_cols(yt.as_ref())), block);
    assert_eq!(kernel.eval(Points::from_cols(xt.as_ref()), Points::from_rows(y.as_ref())), block);

    // every third column of a larger matrix, and rows in reverse order
    let wide: Vec<f64> = (0..3 * n * d)
        .map(|t| if (t / d).is_multiple_of(3) { x[(t / d / 3, t % d)] } else { f64::NAN })
        .collect();
    let third = MatRef::from_column_major_slice_with_stride(&wide, d, n, 3 * d);
    assert_eq!(kernel.eval(Points::from_cols(third), Points::from_rows(y.as_ref())), block);
    let reversed =
        kernel.eval(Points::from_rows(x.as_ref().reverse_rows()), Points::from_rows(y.as_ref()));
    assert_eq!(reversed.as_ref().reverse_rows().to_owned(), block);

    // row-major output, and one strided both ways
    let mut row_major = Mat::zeros(m, n);
    kernel.eval_into(
        row_major.as_mut().transpose_mut(),
        Points::from_rows(x.as_ref()),
        Points::from_rows(y.as_ref()),
    );
    assert_eq!(row_major.transpose().to_owned(), block);
    let mut backwards = Mat::zeros(n, m);
    kernel.eval_into(
        backwards.as_mut().reverse_rows_mut(),
        Points::from_rows(x.as_ref()),
        Points::from_rows(y.as_ref()),
    );
    assert_eq!(backwards.as_ref().reverse_rows().to_owned(), block);
}

#[test]
fn far_from_the_origin_no_digits_are_lost() {
    fn at_offset<T: Scalar>(offset: f64, grid: f64, d: usize) {
        // coordinates that T holds exactly at this offset, so that exact differences are known
        let n = 60;
        let near: Mat<f64> = normal(n, d, 7);
        let exact = Mat::from_fn(n, d, |i, k| (near[(i, k)] / grid).round() * grid);
        let far = Mat::from_fn(n, d, |i, k| T::lit(exact[(i, k)] + offset));
        let points = Points::from_rows(far.as_ref());
        let scales: Vec<f64> = (0..d).map(|k| 1.0 + k as f64).collect();
        let ard = Gaussian::new(1.0).unwrap().with_length_scales(&scales).unwrap();
        let (gaussian, matern, l1) = (
            Gaussian::new(2.0).unwrap(),
            Matern32::new(2.0).unwrap(),
            LaplacianL1::new(3.0).unwrap(),
        );
        let blocks: [(&dyn Kernel<T>, &dyn Reference); 4] =
            [(&gaussian, &gaussian), (&matern, &matern), (&l1, &l1), (&ard, &ard)];
        for (which, (kernel, oracle)) in blocks.into_iter().enumerate() {
            let k = kernel.gram(points);
            let rows = widen(exact.as_ref());
            for i in 0..n {
                for j in 0..n {
                    let value = oracle.value(&rows[i], &rows[j]);
                    let relative = (k[(i, j)].f64() - value).abs() / value;
                    assert!(
                        relative <= 100.0 * T::EPS,
                        "kernel {which} at ({i}, {j}): relative error {relative:e}"
                    );
                }
            }
        }
    }
    for d in [10, 30] {
        at_offset::<f64>(1e6, 2.0_f64.powi(-32), d);
        at_offset::<f32>(1e6, 2.0_f64.powi(-4), d); // f32 has spacing 1/16 there
        at_offset::<f64>(1e12, 2.0_f64.powi(-12), d);
    }
}

/// Near pairs and far pairs in one register, d from where distances are expanded: every one to a
/// few ε, and the same bits in any block.
#[test]
fn expanded_distances_are_exact_for_near_points_and_the_same_in_every_block() {
    fn check<T: Scalar>(d: usize) {
        let n = 90;
        let centres = normal::<f64>(3, d, 9);
        let noise = normal::<f64>(n, d, 10);
        let x = Mat::from_fn(n, d, |i, k| {
            let spread = [1e-9, 1e-3, 1e-1, 1.0][i % 4] * noise[(i, k)];
            T::lit(10.0 * centres[(i % 3, k)] + if i % 7 == 0 { 0.0 } else { spread })
        });
        let points = Points::from_rows(x.as_ref());
        for length_scale in [0.01, 1.0, 10.0 * (d as f64).sqrt()] {
            let kernel = Gaussian::new(length_scale).unwrap();
            let block = kernel.eval(points, points);
            let rows = widen(x.as_ref());
            for i in 0..n {
                for j in 0..n {
                    let (value, exact) =
                        (block[(i, j)].f64(), Reference::value(&kernel, &rows[i], &rows[j]));
                    // A relative error of 32 ε in ‖x − y‖², twice what the expansion may cancel,
                    // moves exp(−s/2) by s/2 times that; s e^{−s/2} ≤ 2/e, so by 12 ε.
                    assert!(
                        (value - exact).abs() <= 12.0 * T::EPS,
                        "{value} for {exact}, d = {d}, l = {length_scale}"
                    );
                    assert_eq!(block[(i, j)], block[(j, i)]);
                }
                let alone = kernel.eval(points.slice(i..i + 1), points);
                assert!((0..n).all(|j| alone[(0, j)] == block[(i, j)]));
            }
        }
    }
    for d in [20, 33, 100] {
        check::<f64>(d);
        check::<f32>(d);
    }
}

/// A block of 64 MiB and more is written past the caches: the same bits as in small blocks, on the
/// boundaries of cache lines and off them.
#[test]
fn a_block_larger_than_the_caches_has_the_bits_of_small_ones() {
    let (n, m) = (4100, 2050);
    let (x, y) = (normal::<f64>(n, 2, 11), normal::<f64>(m, 2, 12));
    let (x, y) = (Points::from_rows(x.as_ref()), Points::from_rows(y.as_ref()));
    let kernel = Gaussian::new(1.0).unwrap();
    let mut block = Mat::from_fn(n + 1, m, |_, _| f64::NAN);
    for first in [0, 1] {
        kernel.eval_into(block.as_mut().subrows_mut(first, n), x, y);
        for rows in [0..100, 2000..2100, n - 100..n] {
            let small = kernel.eval(x.slice(rows.clone()), y);
            assert_eq!(block.as_ref().subrows(first + rows.start, rows.len()), small.as_ref());
        }
    }
}

#[test]
fn extreme_units_neither_overflow_nor_vanish() {
    for unit in [1e25, 1e-25] {
        let x = [0.0, unit as f32];
        let k = Gaussian::new(unit).unwrap().gram(Points::from_slice(&x));
        assert!((k[(0, 1)] - (-0.5_f32).exp()).abs() < 1e-6, "{unit}: {}", k[(0, 1)]);
    }
    let k = Matern32::new(1e-3).unwrap().gram(Points::from_slice(&[0.0, 1e300_f64, -1e300]));
    assert_eq!((k[(0, 1)], k[(0, 0)]), (0.0, 1.0));
    // subnormal values are kept
    let k = Gaussian::new(1.0).unwrap().gram(Points::from_slice(&[0.0, 38.0_f64]));
    assert!((k[(0, 1)] / (-722.0_f64).exp() - 1.0).abs() < 1e-9 && k[(0, 1)] < f64::MIN_POSITIVE);
}

#[test]
fn the_same_bits_with_one_two_and_eight_threads() {
    let x = normal::<f64>(700, 4, 8);
    let kernels: [Box<dyn Kernel<f64>>; 4] = [
        Box::new(Gaussian::new(1.0).unwrap()),
        Box::new(Sum::new(Linear::new(), Matern52::new(1.0).unwrap())),
        Box::new(FromFn::new(|x: &[f64], y: &[f64]| (x[0] * y[0]).cos())),
        Box::new(Matern::new(0.8, 1.0).unwrap()),
    ];
    for kernel in kernels {
        let x = Points::from_rows(x.as_ref());
        same_at_any_thread_count(|| {
            (kernel.gram(x.slice(0..300)), kernel.eval(x, x.slice(0..150)))
        });
    }
}
