//! Kernel k-means: its bounds on the exact cost, what it finds, and what it refuses.

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, RowTree, random};
use nystrom_sketch::{
    ClusterSums, FeatureMap, KernelClusters, KernelKMeans, LandmarkSelector, Landmarks, Uniform,
    Whitening,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// tr A(I − P): the cost of clusters.
fn cost(a: MatRef<'_, f64>, labels: &[usize]) -> f64 {
    let n = a.nrows();
    let mut counts = vec![0.0; n];
    labels.iter().for_each(|&j| counts[j] += 1.0);
    let within = |i: usize| {
        let same = (0..n).filter(|&l| labels[l] == labels[i]);
        a[(i, i)] - same.map(|l| a[(i, l)]).sum::<f64>() / counts[labels[i]]
    };
    (0..n).map(within).sum()
}

/// The adjusted Rand index of two partitions.
fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let pairs = |n: usize| (n * n.saturating_sub(1)) as f64 / 2.0;
    let count = |same: &dyn Fn(usize) -> (usize, usize)| {
        let mut counts = std::collections::HashMap::new();
        (0..a.len()).for_each(|i| *counts.entry(same(i)).or_insert(0) += 1);
        counts.into_values().map(pairs).sum::<f64>()
    };
    let (both, left, right) =
        (count(&|i| (a[i], b[i])), count(&|i| (a[i], 0)), count(&|i| (b[i], 0)));
    let expected = left * right / pairs(a.len());
    (both - expected) / ((left + right) / 2.0 - expected)
}

proptest! {
    #[test]
    fn the_exact_cost_is_within_the_bounds((k, seed) in any_psd(), share in 0.1..1.0_f64) {
        let (n, rng) = (k.nrows(), &mut Pcg64::seed_from_u64(seed));
        let dense = Dense::new(k.as_ref()).unwrap();
        let m = ((n as f64 * share) as usize).max(1);
        let landmarks = Uniform::default().select(&dense, m, rng).unwrap();
        let clusters = 1 + n / 5;
        let found = KernelKMeans { clusters, ..KernelKMeans::default() };
        let found = found.fit(&dense, &landmarks, rng).unwrap();
        let (exact, [least, most]) = (cost(k.as_ref(), found.labels()), found.cost_bounds());
        let rounding = 1e-6 * dense.trace();
        prop_assert!(least - rounding <= exact && exact <= most + rounding);
        prop_assert!(found.labels().iter().all(|&j| j < found.clusters()));
        if m == n {
            prop_assert!((exact - found.inertia()).abs() <= rounding);
        }
        // no row is nearer to another centre
        let k_j = k.as_ref().subrows(0, n).to_owned();
        let k_j = Mat::from_fn(m, n, |s, t| k_j[(landmarks.indices()[s], t)]);
        if found.converged() {
            let labels = found.predict(k_j.as_ref()).unwrap();
            let moved = (cost(k.as_ref(), &labels) - exact).abs();
            prop_assert!(labels == found.labels() || moved < most - least + rounding);
        }
    }
}

fn rings(n: usize) -> (Mat<f64>, Vec<usize>) {
    let radius = |i: usize| if i.is_multiple_of(2) { 0.5 } else { 5.0 };
    let x = Mat::from_fn(n, 2, |i, j| {
        radius(i) * (0.37 * i as f64 - j as f64 * std::f64::consts::FRAC_PI_2).cos()
    });
    (x, (0..n).map(|i| i % 2).collect())
}

/// A kernel of the squared radius tells rings apart; one that is nearly linear in the plane cuts
/// them in halves.
#[test]
fn rings_are_found_by_a_kernel_that_sees_their_radius() {
    let (x, truth) = rings(3000);
    let squares = Mat::from_fn(3000, 1, |i, _| x.row(i).squared_norm_l2());
    let points = Points::from_rows(squares.as_ref());
    let k = KernelMatrix::new(Gaussian::new(5.0).unwrap(), points).unwrap();
    let rng = &mut Pcg64::seed_from_u64(1);
    let landmarks = Uniform::default().select(&k, 20, rng).unwrap();
    let two = KernelKMeans { clusters: 2, ..KernelKMeans::default() };
    let found = two.fit(&k, &landmarks, rng).unwrap();
    assert!((adjusted_rand(found.labels(), &truth) - 1.0).abs() < 1e-12);
    assert!(found.converged() && found.iterations() < 10);
    let plane = KernelMatrix::new(Gaussian::new(50.0).unwrap(), Points::from_rows(x.as_ref()));
    let plane = two.fit(&plane.unwrap(), &landmarks, rng).unwrap();
    assert!(adjusted_rand(plane.labels(), &truth) < 0.2);
}

fn groups(seed: u64) -> (Mat<f64>, Vec<usize>) {
    let noise: Mat<f64> = random::standard_normal(2400, 2, &mut Pcg64::seed_from_u64(seed));
    let group = |i: usize| i % 6;
    let x = Mat::from_fn(2400, 2, |i, j| {
        let at = [group(i) % 3, group(i) / 3][j] as f64;
        6.0 * at + 0.5 * noise[(i, j)]
    });
    (x, (0..2400).map(group).collect())
}

fn six(k: &dyn PsdMatrix<f64>, seed: u64) -> KernelClusters<f64> {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let landmarks = Uniform::default().select(k, 60, rng).unwrap();
    KernelKMeans { clusters: 6, ..KernelKMeans::default() }.fit(k, &landmarks, rng).unwrap()
}

#[test]
fn groups_are_found_with_the_same_bits_at_any_number_of_threads() {
    let (x, truth) = groups(2);
    let k = KernelMatrix::new(Gaussian::new(2.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let (labels, inertia) = same_at_any_thread_count(|| {
        let found = six(&k, 3);
        (found.labels().to_vec(), found.inertia())
    });
    assert!((adjusted_rand(&labels, &truth) - 1.0).abs() < 1e-12);
    let single = Mat::from_fn(2400, 2, |i, j| x[(i, j)] as f32);
    let points = Points::from_rows(single.as_ref());
    let k = KernelMatrix::new(Gaussian::new(2.0).unwrap(), points).unwrap();
    let rng = &mut Pcg64::seed_from_u64(3);
    let landmarks = Uniform::default().select(&k, 60, rng).unwrap();
    let six = KernelKMeans { clusters: 6, ..KernelKMeans::default() };
    let narrow = six.fit(&k, &landmarks, rng).unwrap();
    assert!((adjusted_rand(narrow.labels(), &truth) - 1.0).abs() < 1e-12);
    assert!((narrow.inertia() / inertia - 1.0).abs() < 1e-2, "{} {inertia}", narrow.inertia());
}

#[test]
fn starts_share_the_kernel_values_of_a_pass() {
    let (x, _) = groups(4);
    let points = Points::from_rows(x.as_ref());
    let k = Counted::new(KernelMatrix::new(Gaussian::new(2.0).unwrap(), points).unwrap());
    let landmarks = Landmarks::new(2400, (0..20).collect()).unwrap();
    for starts in [1, 5] {
        k.reset();
        let how = KernelKMeans { clusters: 3, starts, iterations: 2 };
        let _ = how.fit(&k, &landmarks, &mut Pcg64::seed_from_u64(5)).unwrap();
        // norms, two passes for seeds, two iterations; W; the rows of the seeds
        let seeds = 20 * starts * (2 + 3);
        assert_eq!(k.entries() as usize, 5 * 2400 * 20 + 20 * 20 + seeds);
    }
}

#[test]
fn fewer_distinct_rows_give_fewer_clusters() {
    let thrice = Evaluated { n: 30, entry: |i, j| f64::from(u8::from(i % 3 == j % 3)) };
    let ten = Landmarks::new(30, (0..10).collect()).unwrap();
    let rng = &mut Pcg64::seed_from_u64(6);
    let how = KernelKMeans { clusters: 5, ..KernelKMeans::default() };
    let found = how.fit(&thrice, &ten, rng).unwrap();
    assert_eq!(found.clusters(), 3);
    assert!(found.inertia() < 1e-6 && (0..27).all(|i| found.labels()[i] == found.labels()[i + 3]));
    let one = Evaluated { n: 1, entry: |_, _| 1.0 };
    let how = KernelKMeans { clusters: 1, ..how };
    let found = how.fit(&one, &Landmarks::all(1).unwrap(), rng).unwrap();
    assert_eq!((found.labels(), found.clusters(), found.inertia() < 1e-12), (&[0][..], 1, true));
}

#[test]
fn impossible_options_and_values_are_refused() {
    let rng = &mut Pcg64::seed_from_u64(7);
    let k = Mat::<f64>::identity(10, 10);
    let (k, two) = (Dense::new(k.as_ref()).unwrap(), Landmarks::new(10, vec![3, 4]).unwrap());
    let usual = KernelKMeans { clusters: 2, ..KernelKMeans::default() };
    let mut error = |how: KernelKMeans, k: &dyn PsdMatrix<f64>, landmarks: &Landmarks| {
        how.fit(k, landmarks, rng).map(|_| ()).unwrap_err()
    };
    let none = error(KernelKMeans { clusters: 0, ..usual }, &k, &two);
    assert!(matches!(none, Error::Empty { .. }));
    let many = error(KernelKMeans { clusters: 11, ..usual }, &k, &two);
    assert!(matches!(many, Error::TooMany { requested: 11, available: 10, .. }));
    for (starts, iterations) in [(0, 9), (1001, 9), (1, 0)] {
        let how = KernelKMeans { starts, iterations, ..usual };
        assert!(matches!(error(how, &k, &two), Error::InvalidParameter { .. }));
    }
    let wrong = Landmarks::new(11, vec![10]).unwrap();
    assert!(matches!(error(usual, &k, &wrong), Error::Shape { .. }));
    let bad = Broken { n: 10, bad: vec![(7, 3, f64::NAN)] };
    let error = error(usual, &bad, &two);
    assert!(matches!(error, Error::NonFinite { row: 7, col: 3, .. }), "{error}");
}

/// Rows 0..300 in tiles of 70, in two parts that are merged, of which one came as numbers.
fn pass(
    (k, landmarks, map): (&dyn PsdMatrix<f64>, &Landmarks, &FeatureMap<f64>),
    before: &KernelClusters<f64>,
    with_traces: bool,
) -> KernelClusters<f64> {
    let mut parts = [0, 1].map(|_| ClusterSums::new(before));
    for (t, rows) in RowTree::tiles(0..300, 70).enumerate() {
        let mut k_j = k.block(landmarks.indices().into(), rows.clone().into());
        parts[t % 2].add(k_j.as_ref()).unwrap();
        if with_traces {
            let phi = map.apply_in_place(k_j.as_mut());
            parts[t % 2].add_traces(phi.as_ref(), &vec![1.0; rows.len()]).unwrap();
        }
    }
    let [mut sums, other] = parts;
    let other = ClusterSums::new(before).from_numbers(&other.to_numbers()).unwrap();
    sums.merge(&other).unwrap();
    sums.finish(map).unwrap()
}

#[test]
fn iterations_over_tiles_reach_a_fixed_point_of_those_in_memory() {
    let (x, rng) = (rings(300).0, &mut Pcg64::seed_from_u64(1));
    let k = KernelMatrix::new(Gaussian::new(2.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let landmarks = Uniform::default().select(&k, 40, rng).unwrap();
    let rows = landmarks.indices();
    let map =
        FeatureMap::new(k.block(rows.into(), rows.into()).as_ref(), Whitening::default()).unwrap();
    let how = KernelKMeans { clusters: 5, starts: 1, iterations: 1 };
    let start = how.fit(&k, &landmarks, rng).unwrap();
    let start = KernelClusters::from_weights(start.weights(), start.offsets()).unwrap();
    assert!(start.inertia() == f64::INFINITY && start.labels().is_empty());

    let all = (&k as &dyn PsdMatrix<f64>, &landmarks, &map);
    let (mut found, mut cost_before) = (pass(all, &start, true), f64::INFINITY);
    while !found.converged() {
        assert!(found.inertia() <= cost_before && found.iterations() < 100);
        cost_before = found.inertia();
        found = pass(all, &found, false);
    }
    let exact = k.block((0..300).into(), (0..300).into());
    let labels = found.predict(k.block(rows.into(), (0..300).into()).as_ref()).unwrap();
    let [least, most] = found.cost_bounds();
    let cost = cost(exact.as_ref(), &labels);
    assert!(least - 1e-6 <= cost && cost <= most + 1e-6, "{least} {cost} {most}");
    // one more pass moves nothing, with new traces or with those before
    for with_traces in [false, true] {
        let again = pass(all, &found, with_traces);
        assert!(again.converged() && (again.inertia() / found.inertia() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_cluster_without_rows_keeps_its_centre() {
    let x = [0.0, 0.1, 0.2, 9.0];
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), Points::from_slice(&x)).unwrap();
    let landmarks = Landmarks::new(4, (0..4).collect()).unwrap();
    let all = k.block((0..4).into(), (0..4).into());
    let map = FeatureMap::new(all.as_ref(), Whitening::default()).unwrap();
    let how = KernelKMeans { clusters: 2, ..KernelKMeans::default() };
    let start = how.fit(&k, &landmarks, &mut Pcg64::seed_from_u64(0)).unwrap();
    let far = start.labels()[3];
    let mut sums = ClusterSums::new(&start);
    sums.add(all.as_ref().subcols(0, 2)).unwrap(); // no row near 9
    let found = sums.finish(&map).unwrap();
    assert_eq!(found.weights().col(far), start.weights().col(far));
    assert!(found.weights().col(1 - far) != start.weights().col(1 - far));
    assert_eq!(found.predict(all.as_ref()).unwrap(), start.labels());
}

#[test]
fn sums_for_other_clusters_are_refused() {
    let clusters = |m, k| {
        let weights = Mat::<f64>::from_fn(m, k, |i, j| (i + 2 * j) as f64);
        KernelClusters::from_weights(weights.as_ref(), &vec![1.0; k]).unwrap()
    };
    let sums = ClusterSums::new(&clusters(3, 2));
    let numbers = sums.to_numbers();
    for other in [clusters(3, 3), clusters(2, 2)] {
        let mut others = ClusterSums::new(&other);
        assert!(matches!(others.merge(&sums), Err(Error::Shape { .. })));
        assert!(matches!(others.from_numbers(&numbers), Err(Error::Shape { .. })));
    }
    let nothing = Mat::<f64>::zeros(3, 0);
    let found = KernelClusters::from_weights(nothing.as_ref(), &[]);
    assert!(matches!(found, Err(Error::Empty { .. })));
    let nan = KernelClusters::from_weights(Mat::full(3, 1, f64::NAN).as_ref(), &[1.0]);
    assert!(matches!(nan, Err(Error::NonFinite { .. })));
    let mut sums = sums;
    let bad = Mat::full(3, 1, f64::INFINITY);
    assert!(sums.add(bad.as_ref()).is_err() && sums.to_numbers() == numbers);
}
