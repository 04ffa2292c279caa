//! The contract of `Kernel` for every kernel, on awkward point sets; positive semi-definiteness on
//! random ones.

use faer::Mat;
use nystrom_kernels::testing::check_kernel;
use nystrom_kernels::*;
use nystrom_linalg_core::testing::check_psd_matrix;
use nystrom_linalg_core::{PsdMatrix, Scalar, random};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Every kernel that accepts points of any dimension.
fn kernels<T: Scalar>(length_scale: f64, d: usize) -> Vec<(&'static str, Box<dyn Kernel<T>>)> {
    let gaussian = Gaussian::new(length_scale).unwrap();
    let scales: Vec<f64> = (0..d).map(|k| length_scale * (1.0 + k as f64)).collect();
    vec![
        ("gaussian", Box::new(gaussian)),
        ("gaussian ard", Box::new(gaussian.with_length_scales(&scales).unwrap())),
        ("matern 1/2", Box::new(Matern12::new(length_scale).unwrap())),
        ("matern 3/2", Box::new(Matern32::new(length_scale).unwrap())),
        ("matern 5/2", Box::new(Matern52::new(length_scale).unwrap())),
        ("matern 0.3", Box::new(Matern::new(0.3, length_scale).unwrap())),
        ("matern 4", Box::new(Matern::new(4.0, length_scale).unwrap())),
        ("power exponential 1.4", Box::new(PowerExponential::new(1.4, length_scale).unwrap())),
        ("power exponential l1", Box::new(PowerExponentialL1::new(0.7, length_scale).unwrap())),
        ("power exponential 2", Box::new(PowerExponential::new(2.0, length_scale).unwrap())),
        ("rational quadratic", Box::new(RationalQuadratic::new(0.7, length_scale).unwrap())),
        ("laplacian l1", Box::new(LaplacianL1::new(length_scale).unwrap())),
        ("linear", Box::new(Linear::new())),
        ("polynomial", Box::new(Polynomial::new(3, 0.5, 1.0).unwrap())),
        ("periodic", Box::new(Periodic::new(1.0, length_scale).unwrap())),
        ("sum", Box::new(Sum::new(gaussian, Linear::with_bias(0.5).unwrap()))),
        ("product", Box::new(Product::new(gaussian, Polynomial::new(2, 1.0, 1.0).unwrap()))),
        ("scaled", Box::new(Scaled::new(gaussian, 3.0).unwrap())),
        ("closure", Box::new(FromFn::new(|x: &[T], y: &[T]| x[0] * y[0] + T::one()))),
    ]
}

fn check_all<T: Scalar>(x: &Mat<T>) {
    for length_scale in [0.1, 1.0, 30.0] {
        for (_, kernel) in kernels::<T>(length_scale, x.ncols()) {
            check_kernel(&*kernel, Points::from_rows(x.as_ref()));
        }
    }
}

#[test]
fn random_points() {
    let mut rng = Pcg64::seed_from_u64(1);
    check_all::<f64>(&random::standard_normal(40, 3, &mut rng));
    check_all::<f32>(&random::standard_normal(33, 7, &mut rng));
    check_all::<f64>(&random::standard_normal(20, 1, &mut rng));
}

#[test]
fn a_kernel_on_points_is_a_psd_matrix() {
    let x = random::standard_normal::<f64>(30, 3, &mut Pcg64::seed_from_u64(3));
    for (_, kernel) in kernels::<f64>(1.0, 3) {
        check_psd_matrix(&KernelMatrix::new(&*kernel, Points::from_rows(x.as_ref())).unwrap());
    }
    let narrow = Mat::from_fn(30, 3, |i, k| x[(i, k)] as f32);
    check_psd_matrix(
        &KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(narrow.as_ref()))
            .unwrap(),
    );
}

#[test]
fn one_point_duplicates_and_constant_features() {
    check_all::<f64>(&Mat::from_fn(1, 1, |_, _| 0.3));
    check_all::<f64>(&Mat::from_fn(25, 2, |i, k| if k == 0 { (i / 5) as f64 } else { 7.0 }));
    check_all::<f32>(&Mat::from_fn(20, 3, |_, k| k as f32));
}

#[test]
fn equal_points_have_the_value_of_the_diagonal() {
    let x = Mat::from_fn(30, 4, |i, k| ((i % 3) as f64 + 0.1).sqrt() * (k as f64 - 1.3));
    let k = Matern32::new(0.7).unwrap().gram(Points::from_rows(x.as_ref()));
    assert!((0..30).all(|i| k[(i, (i + 3) % 30)] == 1.0));
}

#[test]
fn the_bernoulli_kernel_on_a_grid_is_circulant() {
    let n = 60;
    let grid: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
    for beta in 1..=4 {
        let kernel = Bernoulli::new(beta).unwrap();
        check_kernel::<f64>(&kernel, Points::from_slice(&grid));
        let k = kernel.gram(Points::from_slice(&grid));
        for j in 0..n {
            for i in 0..n {
                let shifted = k[((i + 1) % n, (j + 1) % n)];
                // |k'| <= 2π k(0), and a difference of two grid points is off by up to 2^-53
                assert!(
                    (k[(i, j)] - shifted).abs() <= 4e-15 * k[(0, 0)],
                    "beta = {beta}, ({i}, {j})"
                );
            }
        }
        // periodic: shifting any point by a whole number changes nothing but rounding
        let shifted: Vec<f64> =
            grid.iter().enumerate().map(|(i, x)| x + (i % 5) as f64 - 2.0).collect();
        let moved = kernel.gram(Points::from_slice(&shifted));
        assert!((&moved - &k).norm_max() <= 1e-14 * k[(0, 0)]);
    }
}

#[test]
fn a_precomputed_matrix_is_a_kernel() {
    let x: Mat<f64> = random::standard_normal(30, 2, &mut Pcg64::seed_from_u64(2));
    let dense = Gaussian::new(1.0).unwrap().gram(Points::from_rows(x.as_ref()));
    let kernel = Precomputed::new(dense.clone()).unwrap();
    let all = kernel.indices();
    check_kernel(&kernel, Points::from_slice(&all));
    let matrix = KernelMatrix::new(&kernel, Points::from_slice(&all)).unwrap();
    assert_eq!(matrix.columns((&[3, 17]).into()).col(1).to_owned(), dense.col(17).to_owned());
    let some = [4.0, 4.0, 0.0];
    let k = kernel.gram(Points::from_slice(&some));
    assert_eq!((k[(0, 1)], k[(0, 2)]), (1.0, dense[(4, 0)]));
}

#[test]
fn the_matrix_of_a_kernel_is_the_kernel() {
    let x: Mat<f64> = random::standard_normal(50, 3, &mut Pcg64::seed_from_u64(3));
    let kernel = Matern32::new(1.0).unwrap();
    let points = Points::from_rows(x.as_ref());
    let k = KernelMatrix::new(&kernel, points).unwrap();
    let dense = kernel.gram(points);
    assert_eq!(k.block((0..50).into(), (0..50).into()), dense);
    assert_eq!(k.diag(), vec![1.0; 50]);
    let idx = [7, 3, 3, 49];
    let block = k.block((&idx).into(), (10..20).into());
    assert!((0..4).all(|s| (0..10).all(|t| block[(s, t)] == dense[(idx[s], 10 + t)])));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]
    #[test]
    fn psd_on_random_point_sets(seed in 0_u64..1 << 40, n in 1_usize..40, d in 1_usize..6,
    exponent in -2.0_f64..2.0) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let x: Mat<f64> = random::standard_normal(n, d, &mut rng);
        for (name, kernel) in kernels::<f64>(10_f64.powf(exponent), d) {
            let k = kernel.gram(Points::from_rows(x.as_ref()));
            let values = k.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            let smallest = values.into_iter().fold(f64::INFINITY, f64::min);
            prop_assert!(smallest >= -1e-12 * n as f64 * k.norm_max(), "{}: {:e}", name, smallest);
        }
    }
}

/// One pair is a block of one entry, through a reference, a box and an `Arc` as well.
#[test]
fn a_value_is_a_block_of_one_entry() {
    let coordinates = [0.3, -1.0, 2.0, 0.5, 0.25, 4.0];
    let x = Points::from_row_major(&coordinates, 3);
    let kernel = || Matern52::new(0.7).unwrap();
    let expected = Kernel::<f64>::eval(&kernel(), x, x)[(0, 1)];
    let (p, q) = coordinates.split_at(3);
    assert_eq!(Kernel::<f64>::value(&&kernel(), p, q), expected);
    assert_eq!(Kernel::<f64>::value(&Box::new(kernel()), p, q), expected);
    let shared: std::sync::Arc<dyn Kernel<f64>> = std::sync::Arc::new(kernel());
    assert_eq!(shared.value(p, q), expected);
    assert_eq!(shared.gram(x), kernel().gram(x));
}
