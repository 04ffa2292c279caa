//! Sparse points: the kernel values of the dense points that they stand for.

use faer::{Mat, MatRef};
use nystrom_kernels::testing::check_kernel;
use nystrom_kernels::{
    Ard, Bernoulli, FromFn, Gaussian, KMeans, Kernel, KernelMatrix, LaplacianL1, Linear, Matern32,
    MinMax, Periodic, PointSet, Points, Polynomial, PowerExponentialL1, Precomputed, Product,
    RationalQuadratic, Scaled, SparseRows, SquaredExponential, Sum, Tanimoto, kernel_probe,
    median_heuristic, median_manhattan_heuristic,
};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, testing};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// n × d numbers, a share of which is not 0. Every fifth row is nearly another one, every seventh
/// equals another one, every eleventh is 0.
fn rows(n: usize, d: usize, share: f64, rng: &mut dyn Rng) -> Mat<f64> {
    let mut x = Mat::zeros(n, d);
    for i in 0..n {
        for k in 0..d {
            x[(i, k)] = match i {
                _ if i % 11 == 10 => 0.0,
                _ if i > 3 && i % 7 == 0 => x[(i % 3, k)],
                _ if i > 3 && i % 5 == 0 => x[(i % 4, k)] * (1.0 + 1e-9),
                _ if rng.random::<f64>() < share => rng.random::<f64>() * 4.0 - 1.5,
                _ => 0.0,
            };
        }
    }
    x
}

fn narrow<T: Scalar>(x: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, k| T::lit(x[(i, k)]))
}

/// Blocks of every kind of `kernel` equal those of the dense points.
fn agrees<T: Scalar>(name: &str, kernel: &dyn Kernel<T>, x: MatRef<'_, f64>, digits: f64) {
    let x = narrow::<T>(x);
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let (dense, sparse) = (Points::from_rows(x.as_ref()), sparse.points());
    kernel.check_points(sparse).unwrap();
    let (n, m) = (dense.len(), dense.len().div_ceil(3));
    let largest = kernel.gram(dense).norm_max().f64();
    let near = |a: MatRef<'_, T>, b: MatRef<'_, T>, what: &str| {
        assert_eq!(a.shape(), b.shape());
        for j in 0..a.ncols() {
            for i in 0..a.nrows() {
                let gap = (a[(i, j)].f64() - b[(i, j)].f64()).abs();
                let bound = digits * T::EPS.f64() * largest;
                assert!(gap <= bound, "{name}, {what} at ({i}, {j}): {gap:e} > {bound:e}");
            }
        }
    };
    near(kernel.gram(sparse).as_ref(), kernel.gram(dense).as_ref(), "Gram matrix");
    let wide = kernel.eval(sparse.slice(0..m), sparse);
    near(wide.as_ref(), kernel.eval(dense.slice(0..m), dense).as_ref(), "wide block");
    // the side that is indexed changes no bit, nor does the place in a block
    assert_eq!(kernel.eval(sparse, sparse.slice(0..m)), wide.transpose(), "{name}");
    let one = kernel.eval(sparse.slice(n - 1..n), sparse.slice(0..1));
    assert_eq!(one[(0, 0)], wide[(0, n - 1)], "{name}");
    check_kernel(kernel, sparse);
}

fn every_kernel<T: Scalar>(x: MatRef<'_, f64>) {
    let d = x.ncols();
    let lengths: Vec<f64> = (0..d).map(|k| 0.5 + k as f64 % 3.0).collect();
    let gaussian = Gaussian::new(1.3).unwrap();
    agrees::<T>("Gaussian", &gaussian, x, 200.0);
    let ard: Ard<SquaredExponential> = gaussian.with_length_scales(&lengths).unwrap();
    agrees::<T>("Gaussian with length scales", &ard, x, 200.0);
    agrees::<T>("tiny units", &Gaussian::new(1e-30).unwrap(), x, 200.0);
    agrees::<T>("huge units", &Gaussian::new(1e30).unwrap(), x, 200.0);
    agrees::<T>("Matérn", &Matern32::new(2.0).unwrap(), x, 200.0);
    agrees::<T>("rational", &RationalQuadratic::new(1.5, 2.0).unwrap(), x, 200.0);
    agrees::<T>("Laplacian", &LaplacianL1::new(3.0).unwrap(), x, 400.0);
    agrees::<T>("power of L1", &PowerExponentialL1::new(1.0, 4.0).unwrap(), x, 400.0);
    agrees::<T>("linear", &Linear::with_bias(0.5).unwrap(), x, 200.0);
    agrees::<T>("polynomial", &Polynomial::new(3, 0.2, 1.0).unwrap(), x, 400.0);
    let absolute = Mat::from_fn(x.nrows(), d, |i, k| x[(i, k)].abs());
    agrees::<T>("min–max", &MinMax, absolute.as_ref(), 400.0);
    let both = Product::new(Scaled::new(gaussian, 2.0).unwrap(), Linear::new());
    agrees::<T>("combination", &Sum::new(both, Matern32::new(1.0).unwrap()), x, 400.0);
}

#[test]
fn values_are_those_of_dense_points() {
    let rng = &mut testing::rng(3);
    for (n, d, share) in [(1, 1, 1.0), (40, 7, 0.5), (90, 300, 0.05), (33, 21, 0.0)] {
        let x = rows(n, d, share, rng);
        every_kernel::<f64>(x.as_ref());
        every_kernel::<f32>(x.as_ref());
    }
    agrees::<f64>("Bernoulli", &Bernoulli::new(2).unwrap(), rows(30, 1, 0.7, rng).as_ref(), 1e3);
}

/// More points than are indexed at a time, and at any number of threads.
#[test]
fn bits_do_not_depend_on_threads() {
    let x = rows(1300, 400, 0.02, &mut testing::rng(4));
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let (points, kernel) = (sparse.points(), Gaussian::new(1.0).unwrap());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (kernel.gram(points), kernel.eval(points, points.slice(500..1200))))
    };
    let (gram, block) = on(1);
    assert_eq!(on(3), (gram.clone(), block.clone()));
    assert_eq!(gram.as_ref().subcols(500, 700), block.as_ref());
    assert_eq!(gram, gram.transpose());
}

/// Far from the origin ‖x‖² + ‖y‖² − 2⟨x, y⟩ has no digit left.
#[test]
fn near_points_far_away_keep_their_digits() {
    let x =
        faer::mat![[1e9, 0.0, 3.0], [1e9 + 1.0, 0.0, 3.0], [0.0, 1e200, 0.0], [0.0, 1e200, 1.0]];
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let kernel = Gaussian::new(1.0).unwrap();
    let k = kernel.gram(sparse.points());
    assert_eq!(k, kernel.gram(Points::from_rows(x.as_ref())));
    assert_eq!(k[(0, 1)], (-0.5_f64).exp());
    assert_eq!(k[(2, 3)], (-0.5_f64).exp());
}

/// Products of numbers below 1e-162 are 0.
#[test]
fn tiny_numbers_count() {
    let x = faer::mat![[1e-170, 2e-170, 0.0], [1e-170, 2e-170, 0.0], [3e-170, 0.0, 1e-170]];
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let [a, b] = [sparse.points(), Points::from_rows(x.as_ref())].map(|x| MinMax.gram(x));
    assert!((a - b).norm_max() < 1e-14);
}

/// n × d numbers would be 80 GB here.
#[test]
fn memory_is_that_of_the_coordinates() {
    let (n, d) = (10_000, 1_000_000);
    let columns = (0..n).flat_map(|i: usize| [i * 97 % d, (i * 97 + 1) % d]).map(|k| k as u32);
    let starts = (0..=n).map(|i| 2 * i).collect();
    let sparse = SparseRows::new(d, starts, columns.collect(), vec![1.0_f64; 2 * n]).unwrap();
    let k = KernelMatrix::new(Linear::new(), sparse.points()).unwrap();
    let columns: Mat<f64> = k.columns((&[0, 7]).into());
    assert_eq!((columns[(0, 0)], columns[(1, 0)], columns[(7, 1)]), (2.0, 0.0, 2.0));
    assert_eq!(columns.as_ref().col(0).sum(), 2.0);
}

#[test]
fn selected_rows_and_length_scales_are_those_of_dense_points() {
    let x = rows(60, 25, 0.2, &mut testing::rng(5));
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let (dense, points) = (Points::from_rows(x.as_ref()), sparse.points());
    let list = [5, 59, 5, 0];
    let some = points.gather((&list).into());
    assert_eq!(PointSet::from(sparse.clone()).points().stored(), sparse.nonzeros());
    for (t, &i) in list.iter().enumerate() {
        for k in 0..25 {
            assert_eq!(some.points().coordinate(t, k), x[(i, k)]);
        }
    }
    let (kernel, of) = (Gaussian::new(2.0).unwrap(), |points| {
        let k = KernelMatrix::new(Gaussian::new(2.0)?, points)?;
        Ok::<Mat<f64>, Error>(k.block((&list).into(), (3..9).into()))
    });
    assert!((of(points).unwrap() - of(dense).unwrap()).norm_max() < 1e-14);
    for heuristic in [median_heuristic::<f64>, median_manhattan_heuristic] {
        let of = |points| heuristic(points, 500, &mut testing::rng(6)).unwrap();
        assert!((of(points) / of(dense) - 1.0).abs() < 1e-14);
    }
    // probes tell length scales apart, also at points without coordinates
    let zero = SparseRows::new(9, vec![0, 0], vec![], vec![]).unwrap();
    for points in [points, zero.points()] {
        let other = Gaussian::new(2.000001).unwrap();
        assert_ne!(kernel_probe(&kernel, points), kernel_probe(&other, points));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let new = |d, starts: &[usize], columns: &[u32], values: &[f64]| {
        SparseRows::new(d, starts.to_vec(), columns.to_vec(), values.to_vec())
    };
    assert!(matches!(new(3, &[], &[], &[]), Err(Error::Shape { .. })));
    assert!(matches!(new(3, &[1, 1], &[0], &[1.0]), Err(Error::Shape { .. })));
    assert!(matches!(new(3, &[0, 2], &[0], &[1.0]), Err(Error::Shape { .. })));
    assert!(matches!(new(3, &[0, 1], &[0, 1], &[1.0]), Err(Error::Shape { .. })));
    assert!(matches!(new(3, &[0, 2, 1, 2], &[0, 1], &[1.0; 2]), Err(Error::Shape { .. })));
    assert!(matches!(new(3, &[0, 9, 2], &[0, 1], &[1.0; 2]), Err(Error::Shape { .. })));
    assert!(matches!(
        new(3, &[0, 1, 2], &[0, 3], &[1.0; 2]),
        Err(Error::IndexOutOfRange { position: 1, index: 3, n: 3, .. })
    ));
    assert!(matches!(
        new(3, &[0, 3], &[2, 0, 2], &[1.0; 3]),
        Err(Error::DuplicateIndex { index: 2, .. })
    ));
    assert!(matches!(
        new((1 << 32) + 1, &[0], &[], &[]),
        Err(Error::TooMany { requested: 4294967297, .. })
    ));
    let sorted = new(3, &[0, 2], &[2, 0], &[5.0, 7.0]).unwrap();
    assert_eq!((sorted.columns(), sorted.values()), (&[0, 2][..], &[7.0, 5.0][..]));

    let spoiled = new(3, &[0, 1, 2], &[0, 1], &[1.0, f64::NAN]).unwrap();
    let error = KernelMatrix::new(Linear::new(), spoiled.points()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 1, col: 1, .. }), "{error}");
    let empty = new(3, &[0], &[], &[]).unwrap();
    assert!(matches!(empty.points().check(), Err(Error::Empty { .. })));

    let one = new(1, &[0, 1], &[0], &[1.0]).unwrap();
    let points = one.points();
    let refused = |result: Result<()>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Sparse { .. }), "{error}");
        assert!(error.to_string().contains("dense"), "{error}");
    };
    refused(Kernel::check_points(&Tanimoto, points));
    refused(Kernel::check_points(&Periodic::new(1.0, 1.0).unwrap(), points));
    refused(Kernel::check_points(&FromFn::new(|_: &[f64], _: &[f64]| 1.0), points));
    let stored = Precomputed::new(Mat::<f64>::identity(2, 2)).unwrap();
    refused(Kernel::check_points(&stored, points));
    refused(KMeans::default().run(points, 1, &mut testing::rng(0)).map(drop));
    refused(points.check_same_dim(Points::from_slice(&[1.0])));
    let negative = new(2, &[0, 0, 1], &[1], &[-1.0]).unwrap();
    let error = Kernel::check_points(&MinMax, negative.points()).unwrap_err();
    assert!(matches!(error, Error::Coordinate { row: 1, col: 1, .. }), "{error}");
    let huge = new(2, &[0, 1], &[1], &[1e200]).unwrap();
    let error = Kernel::check_points(&Linear::new(), huge.points()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { .. }), "{error}");
}

#[test]
fn rows_come_back_from_a_file() {
    let x = rows(8, 5, 0.4, &mut testing::rng(7));
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    let sets = [PointSet::Dense(x.transpose().to_owned()), PointSet::Sparse(sparse)];
    for points in sets {
        let text = serde_json::to_string(&points).unwrap();
        assert_eq!(serde_json::from_str::<PointSet<f64>>(&text).unwrap(), points);
    }
    let damaged = r#"{"sparse":{"dimension":2,"starts":[0,1],"columns":[2],"values":[1.0]}}"#;
    let error = serde_json::from_str::<PointSet<f64>>(damaged).unwrap_err().to_string();
    assert!(error.contains("index 2"), "{error}");
}

proptest! {
    #[test]
    fn any_sparse_rows_have_the_values_of_dense_ones(
        n in 1_usize..30, d in 1_usize..40, share in 0.0..1.0, seed in any::<u64>()
    ) {
        let x = rows(n, d, share, &mut testing::rng(seed));
        agrees::<f64>("Gaussian", &Gaussian::new(1.3).unwrap(), x.as_ref(), 200.0);
        agrees::<f64>("Laplacian", &LaplacianL1::new(3.0).unwrap(), x.as_ref(), 400.0);
        agrees::<f32>("Gaussian", &Gaussian::new(1.3).unwrap(), x.as_ref(), 200.0);
    }
}
