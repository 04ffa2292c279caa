//! Kernel principal components and spectral embedding: against dense eigenvectors, their bounds,
//! streams, and what they refuse.

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, RowTree, SymmetricEigen, random};
use nystrom_sketch::{
    FeatureMap, FeatureMoments, KernelPca, LandmarkSelector, Landmarks, SpectralEmbedding,
    SpectralSums, Uniform, Whitening,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn normal(n: usize, d: usize, seed: u64) -> Mat<f64> {
    random::standard_normal(n, d, &mut Pcg64::seed_from_u64(seed))
}

/// Points whose directions have different variances, so that components are told apart.
fn stretched(n: usize, seed: u64) -> Mat<f64> {
    let x = normal(n, 3, seed);
    Mat::from_fn(n, 3, |i, j| [3.0, 1.5, 0.5][j] * x[(i, j)])
}

fn gaussian(x: MatRef<'_, f64>, scale: f64) -> KernelMatrix<'_, f64, Gaussian> {
    KernelMatrix::new(Gaussian::new(scale).unwrap(), Points::from_rows(x)).unwrap()
}

/// HAH/n.
fn centred(a: MatRef<'_, f64>) -> Mat<f64> {
    let n = a.nrows();
    let h = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - 1.0 / n as f64);
    &h * a * &h * (1.0 / n as f64)
}

fn map_of(k: &dyn PsdMatrix<f64>, landmarks: &Landmarks) -> FeatureMap<f64> {
    let rows = landmarks.indices();
    FeatureMap::new(k.block(rows.into(), rows.into()).as_ref(), Whitening::default()).unwrap()
}

/// L = ΦΦᵀ, and its features Φᵀ.
fn approximation(k: &dyn PsdMatrix<f64>, landmarks: &Landmarks) -> (Mat<f64>, Mat<f64>) {
    let mut k_j = k.block(landmarks.indices().into(), (0..k.dim()).into());
    let phi = map_of(k, landmarks).apply_in_place(k_j.as_mut()).to_owned();
    (phi.transpose() * &phi, phi)
}

/// Whether the columns of `a` are those of `b` up to their signs, and their largest difference.
fn assert_same_up_to_sign(a: MatRef<'_, f64>, b: MatRef<'_, f64>, tolerance: f64) {
    for j in 0..b.ncols() {
        let (a, b) = (a.col(j), b.col(j));
        let off = (a - b).norm_max().min((a + b).norm_max());
        assert!(off <= tolerance * b.norm_max(), "column {j}: {off:e}");
    }
}

#[test]
fn with_every_row_a_landmark_components_are_those_of_exact_kernel_pca() {
    let x = normal(70, 2, 1);
    let k = gaussian(x.as_ref(), 1.0);
    let all = Landmarks::all(70).unwrap();
    let pca = KernelPca { components: 4 }.fit(&k, &all).unwrap();
    let eigen = SymmetricEigen::new(centred(whole(&k).as_ref()).as_ref()).unwrap();
    for (ours, exact) in pca.variances().iter().zip(eigen.values()) {
        assert!((ours / exact - 1.0).abs() < 1e-9, "{ours} {exact}");
    }
    let trace: f64 = eigen.values().iter().sum();
    assert!((pca.total_variance() / trace - 1.0).abs() < 1e-9);
    assert!((pca.shares()[0] - eigen.values()[0] / trace).abs() < 1e-9);
    assert!(pca.left_over() < 1e-10 && pca.subspace_bound().unwrap() < 1e-8);
    // scores: unit eigenvectors times √(nλ)
    let exact =
        Mat::from_fn(70, 4, |i, j| eigen.vectors()[(i, j)] * (70.0 * eigen.values()[j]).sqrt());
    let scores = pca.transform_rows(&k, &all).unwrap();
    assert_same_up_to_sign(scores.as_ref(), exact.as_ref(), 1e-6);
    // the map of new points, applied to the rows
    let again = pca.transform(whole(&k).as_ref()).unwrap();
    assert!((again.transpose() - scores).norm_max() < 1e-12);
}

/// The bounds of the documentation, with dense eigenvalues and eigenvectors. Returns whether there
/// is a bound on the subspace.
fn assert_bounds(k: MatRef<'_, f64>, landmarks: &Landmarks, p: usize) -> bool {
    let (n, dense) = (k.nrows(), Dense::new(k).unwrap());
    let Ok(pca) = (KernelPca { components: p }).fit(&dense, landmarks) else { return false };
    let scale = dense.trace() / n as f64;
    let (rounding, eta) = (1e-8 * scale, pca.left_over());
    let exact = SymmetricEigen::new(centred(k).as_ref()).unwrap();
    for (lambda, alpha) in pca.variances().iter().zip(exact.values()) {
        assert!(lambda - alpha <= rounding && alpha - lambda <= eta + rounding, "{lambda} {alpha}");
    }
    let total: f64 = exact.values().iter().sum();
    assert!((-rounding..=eta + rounding).contains(&(total - pca.total_variance())));
    let share = exact.values()[..p].iter().sum::<f64>() / total;
    let [least, most] = pca.exact_share();
    assert!(least - 1e-6 <= share && share <= most + 1e-6, "{least} {share} {most}");
    let Some(bound) = pca.subspace_bound() else { return false };
    let (l, _) = approximation(&dense, landmarks);
    let ours = SymmetricEigen::new(centred(l.as_ref()).as_ref()).unwrap();
    let outside = ours.vectors().subcols(p, n - p).transpose() * exact.vectors().subcols(0, p);
    let gap = pca.variances()[p - 1] - ours.values().get(p).copied().unwrap_or(0.0);
    let tolerance = rounding / gap;
    assert!(outside.norm_l2() <= bound + tolerance, "{} {bound}", outside.norm_l2());
    true
}

proptest! {
    #[test]
    fn bounds_on_variances_shares_and_angles_hold((k, seed) in any_psd(), share in 0.1..1.0_f64) {
        let (n, rng) = (k.nrows(), &mut Pcg64::seed_from_u64(seed));
        let m = ((n as f64 * share) as usize).max(1);
        let dense = Dense::new(k.as_ref()).unwrap();
        let landmarks = Uniform::default().select(&dense, m, rng).unwrap();
        for p in 1..=m.min(3).min(n - 1) {
            assert_bounds(k.as_ref(), &landmarks, p);
        }
    }
}

#[test]
fn many_landmarks_give_a_bound_on_the_subspace() {
    let x = stretched(60, 2);
    let k = gaussian(x.as_ref(), 3.0);
    let rows = Uniform::default().select(&k, 30, &mut Pcg64::seed_from_u64(3)).unwrap();
    assert!((1..4).all(|p| assert_bounds(whole(&k).as_ref(), &rows, p)));
}

#[test]
fn merged_sums_give_the_fit_in_memory() {
    let x = normal(3000, 2, 4);
    let k = gaussian(x.as_ref(), 1.0);
    let landmarks = Uniform::default().select(&k, 30, &mut Pcg64::seed_from_u64(5)).unwrap();
    let map = map_of(&k, &landmarks);
    let pca = KernelPca { components: 3 };
    let kernel_values =
        |rows: std::ops::Range<usize>| k.block(landmarks.indices().into(), rows.into());
    let tiles = || RowTree::tiles(0..3000, 700).enumerate();

    let mut parts = [0, 1].map(|_| FeatureMoments::zeros(map.rank()));
    let mut total = vec![0.0; 30];
    for (t, rows) in tiles() {
        let (mut k_j, diag) = (kernel_values(rows.clone()), vec![1.0; rows.len()]);
        SpectralSums::add_kernel_sums(&mut total, k_j.as_ref()).unwrap();
        parts[t % 2].add(map.apply_in_place(k_j.as_mut()).as_ref(), &diag).unwrap();
    }
    let [mut sums, other] = parts;
    sums.merge(&sums.from_numbers(&other.to_numbers()).unwrap()).unwrap();
    let (ours, memory) = (pca.finish(&map, &sums).unwrap(), pca.fit(&k, &landmarks).unwrap());
    assert!((ours.left_over() / memory.left_over() - 1.0).abs() < 1e-9);
    let [a, b] = [&ours, &memory].map(|fit| fit.transform_rows(&k, &landmarks).unwrap());
    assert!((a - b).norm_max() < 1e-8);

    let mut parts = [0, 1].map(|_| SpectralSums::new(&map, &total).unwrap());
    for (t, rows) in tiles() {
        let (mut k_j, diag) = (kernel_values(rows.clone()), vec![1.0; rows.len()]);
        parts[t % 2].add(map.apply_in_place(k_j.as_mut()), &diag).unwrap();
    }
    let [mut sums, other] = parts;
    sums.merge(&sums.from_numbers(&other.to_numbers()).unwrap()).unwrap();
    let spectral = SpectralEmbedding { components: 3 };
    let ours = spectral.finish(&map, &sums).unwrap();
    let memory = spectral.fit(&k, &landmarks).unwrap();
    let [a, b] = [&ours, &memory].map(|fit| fit.transform_rows(&k, &landmarks).unwrap());
    assert!((&a - &b).norm_max() < 1e-6 * b.norm_max());
    total[0] += 1.0;
    let error = sums.merge(&SpectralSums::new(&map, &total).unwrap()).unwrap_err();
    assert!(error.to_string().contains("first passes"), "{error}");
}

#[test]
fn numbers_of_other_sums_are_refused() {
    let sums = FeatureMoments::zeros(4);
    let numbers = sums.to_numbers();
    assert_eq!(numbers.len(), 3 + 4 + 10);
    assert_eq!(sums.from_numbers(&numbers).unwrap().to_numbers(), numbers);
    let error = FeatureMoments::zeros(5).from_numbers(&numbers).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 23, got: 17, .. }), "{error}");
    let bad: Vec<f64> = numbers.iter().map(|_| f64::NAN).collect();
    assert!(matches!(sums.from_numbers(&bad), Err(Error::NonFinite { .. })));
}

#[test]
fn the_embedding_is_that_of_the_dense_laplacian() {
    let x = normal(90, 2, 6);
    let k = gaussian(x.as_ref(), 1.0);
    for landmarks in [
        Landmarks::all(90).unwrap(),
        Uniform::default().select(&k, 40, &mut Pcg64::seed_from_u64(7)).unwrap(),
    ] {
        let (l, _) = approximation(&k, &landmarks);
        let d: Vec<f64> = (0..90).map(|i| l.row(i).iter().sum()).collect();
        let normalised = Mat::from_fn(90, 90, |i, j| l[(i, j)] / (d[i] * d[j]).sqrt());
        let eigen = SymmetricEigen::new(normalised.as_ref()).unwrap();
        assert!((eigen.values()[0] - 1.0).abs() < 1e-9); // the trivial one
        let map = SpectralEmbedding { components: 3 }.fit(&k, &landmarks).unwrap();
        for (nu, mu) in map.eigenvalues().iter().zip(&eigen.values()[1..]) {
            assert!((nu - (1.0 - mu)).abs() < 1e-7, "{nu} {mu}");
        }
        let exact = Mat::from_fn(90, 3, |i, j| eigen.vectors()[(i, j + 1)] / d[i].sqrt());
        let ours = map.transform_rows(&k, &landmarks).unwrap();
        assert_same_up_to_sign(ours.as_ref(), exact.as_ref(), 1e-5);
    }
}

/// Two groups without an edge between them: the eigenvalue 1 occurs twice, and its vector other
/// than the trivial one tells the groups apart.
#[test]
fn parts_without_an_edge_are_told_apart() {
    let entry = |i: usize, j: usize| {
        if i % 2 == j % 2 { (-((i as f64 - j as f64) / 40.0).powi(2)).exp() } else { 0.0 }
    };
    let k = Evaluated { n: 80, entry };
    let all = Landmarks::all(80).unwrap();
    let map = SpectralEmbedding { components: 1 }.fit(&k, &all).unwrap();
    assert!(map.eigenvalues()[0].abs() < 1e-8, "{:?}", map.eigenvalues());
    let z = map.transform_rows(&k, &all).unwrap();
    assert!((0..80).all(|i| (z[(i, 0)] - z[(i % 2, 0)]).abs() < 1e-6 * z[(0, 0)].abs()));
    assert!(z[(0, 0)] * z[(1, 0)] < 0.0);
}

#[test]
fn the_same_bits_at_any_number_of_threads_and_nearly_the_same_in_f32() {
    let x = stretched(2500, 8);
    let k = gaussian(x.as_ref(), 4.0);
    let landmarks = Uniform::default().select(&k, 40, &mut Pcg64::seed_from_u64(9)).unwrap();
    let pca = KernelPca { components: 2 };
    let spectral = SpectralEmbedding { components: 2 };
    let (a, b) = same_at_any_thread_count(|| {
        let a = pca.fit(&k, &landmarks).unwrap().transform_rows(&k, &landmarks).unwrap();
        (a, spectral.fit(&k, &landmarks).unwrap().transform_rows(&k, &landmarks).unwrap())
    });
    let single = Mat::from_fn(2500, 3, |i, j| x[(i, j)] as f32);
    let points = Points::from_rows(single.as_ref());
    let k = KernelMatrix::new(Gaussian::new(4.0).unwrap(), points).unwrap();
    let narrow = pca.fit(&k, &landmarks).unwrap().transform_rows(&k, &landmarks).unwrap();
    let wide = Mat::from_fn(2500, 2, |i, j| f64::from(narrow[(i, j)]));
    assert_same_up_to_sign(wide.as_ref(), a.as_ref(), 2e-2);
    let narrow = spectral.fit(&k, &landmarks).unwrap().transform_rows(&k, &landmarks).unwrap();
    let wide = Mat::from_fn(2500, 2, |i, j| f64::from(narrow[(i, j)]));
    assert_same_up_to_sign(wide.as_ref(), b.as_ref(), 0.1); // small degrees, of outliers
}

#[test]
fn kernel_values_are_those_of_the_documentation() {
    let x = normal(2100, 2, 10);
    let k = Counted::new(gaussian(x.as_ref(), 1.0));
    let landmarks = Uniform::default().select(&k, 20, &mut Pcg64::seed_from_u64(11)).unwrap();
    k.reset();
    let _ = KernelPca::default().fit(&k, &landmarks).unwrap();
    assert_eq!(k.entries(), 2100 * 20 + 20 * 20);
    k.reset();
    let _ = SpectralEmbedding::default().fit(&k, &landmarks).unwrap();
    assert_eq!(k.entries(), 2 * 2100 * 20 + 20 * 20);
}

#[test]
fn degenerate_rows_and_options_are_refused() {
    let constant = Evaluated { n: 30, entry: |_, _| 1.0 };
    let ten = Landmarks::new(30, (0..10).collect()).unwrap();
    let text = KernelPca::default().fit(&constant, &ten).unwrap_err().to_string();
    assert!(text.contains("all rows are alike"), "{text}");
    let error = SpectralEmbedding::default().fit(&constant, &ten).unwrap_err();
    assert!(matches!(error, Error::RankDeficient { requested: 2, rank: 0 }), "{error}");
    let one = Evaluated { n: 1, entry: |_, _| 1.0 };
    let all = Landmarks::all(1).unwrap();
    assert!(KernelPca { components: 1 }.fit(&one, &all).is_err());
    assert!(SpectralEmbedding { components: 1 }.fit(&one, &all).is_err());

    // three distinct rows, each ten times: two components
    let thrice = Evaluated { n: 30, entry: |i, j| f64::from(u8::from(i % 3 == j % 3)) };
    let pca = KernelPca { components: 2 }.fit(&thrice, &ten).unwrap();
    assert!(pca.variances().iter().all(|variance| (variance - 1.0 / 3.0).abs() < 1e-9));
    let error = KernelPca { components: 3 }.fit(&thrice, &ten).unwrap_err();
    assert!(matches!(error, Error::RankDeficient { requested: 3, rank: 2 }), "{error}");
    for p in [0, 11] {
        let [a, b] = [
            KernelPca { components: p }.fit(&thrice, &ten).map(|_| ()).unwrap_err(),
            SpectralEmbedding { components: p }.fit(&thrice, &ten).map(|_| ()).unwrap_err(),
        ];
        assert_eq!(a, b);
        assert!(matches!(a, Error::Empty { .. } | Error::TooMany { available: 10, .. }), "{a}");
    }
    let wrong = Landmarks::new(29, vec![3]).unwrap();
    let one = KernelPca { components: 1 };
    assert!(matches!(one.fit(&thrice, &wrong), Err(Error::Shape { .. })));
    assert!(matches!(pca.transform_rows(&thrice, &wrong), Err(Error::Shape { .. })));
    assert!(matches!(pca.transform(Mat::zeros(9, 1).as_ref()), Err(Error::Shape { .. })));
    let nan = Mat::full(10, 1, f64::NAN);
    assert!(matches!(pca.transform(nan.as_ref()), Err(Error::NonFinite { .. })));

    let bad = Broken { n: 10, bad: vec![(7, 3, f64::NAN)] };
    let two = Landmarks::new(10, vec![3, 4]).unwrap();
    let error = KernelPca::default().fit(&bad, &two).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 7, col: 3, .. }), "{error}");
    let error = SpectralEmbedding::default().fit(&bad, &two).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 7, col: 3, .. }), "{error}");
    let error =
        FeatureMoments::zeros(2).add(Mat::full(2, 1, f64::NAN).as_ref(), &[1.0]).unwrap_err();
    assert!(matches!(error, Error::NonFinite { .. }), "{error}");
}

#[test]
fn graphs_without_degrees_are_refused() {
    // no landmark is connected to row 1, in the second leaf row 1500
    for (n, row) in [(10, 1), (3000, 1500)] {
        let entry = move |i: usize, j: usize| f64::from(u8::from(i == j || (i != row && j != row)));
        let k = Evaluated { n, entry };
        let landmarks = Landmarks::new(n, vec![0, 3]).unwrap();
        let error = SpectralEmbedding { components: 1 }.fit(&k, &landmarks).unwrap_err();
        let Error::NotPositive { index, value, .. } = error else { panic!("{error}") };
        assert_eq!((index, value), (row, 0.0));
        assert!(error.to_string().contains("more landmarks"), "{error}");
    }
    let linear = Evaluated { n: 5, entry: |i, j| (i as f64 - 2.0) * (j as f64 - 2.0) };
    let error =
        SpectralEmbedding { components: 1 }.fit(&linear, &Landmarks::new(5, vec![0]).unwrap());
    let text = error.map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("weight of an edge = -4") && text.contains("Gaussian"), "{text}");
}
