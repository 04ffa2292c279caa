//! k-means: Lloyd's invariants, seeding, empty clusters, threads, bad input.

use faer::Mat;
use nystrom_kernels::{Clusters, KMeans, Points};
use nystrom_linalg_core::testing::{rng, same_at_any_thread_count};
use nystrom_linalg_core::{Error, random};
use proptest::prelude::*;

fn squared(x: Points<'_, f64>, i: usize, z: Points<'_, f64>, j: usize) -> f64 {
    (0..x.dim()).map(|c| (x.coordinate(i, c) - z.coordinate(j, c)).powi(2)).sum()
}

/// Every point belongs to its nearest centre, and the error is the sum of the squared distances.
fn check(x: Points<'_, f64>, clusters: &Clusters<f64>) {
    let z = clusters.centers();
    let mut error = 0.0;
    for (i, &own) in clusters.assignment().iter().enumerate() {
        let nearest = (0..z.len()).map(|j| squared(x, i, z, j)).fold(f64::INFINITY, f64::min);
        assert!(squared(x, i, z, own) <= nearest * (1.0 + 1e-12) + 1e-300);
        error += nearest;
    }
    assert!((error - clusters.quantization_error()).abs() <= 1e-11 * error + 1e-300);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn points_belong_to_the_nearest_centre_and_iterations_never_hurt(seed in any::<u64>(),
    n in 1..300_usize, d in 1..5_usize, k in 1..30_usize) {
        let a = random::standard_normal::<f64>(n, d, &mut rng(seed));
        let (x, k) = (Points::from_rows(a.as_ref()), k.min(n));
        let mut before = f64::INFINITY;
        for iterations in 0..6 {
            let clusters = KMeans { iterations }.run(x, k, &mut rng(seed)).unwrap();
            check(x, &clusters);
            prop_assert!(clusters.centers().len() == k && clusters.iterations() <= iterations);
            prop_assert!(clusters.quantization_error() <= before * (1.0 + 1e-12));
            before = clusters.quantization_error();
        }
        // run to the end: every centre is the mean of its points
        let end = KMeans { iterations: 1000 }.run(x, k, &mut rng(seed)).unwrap();
        prop_assert!(end.iterations() < 1000);
        for j in 0..k {
            let own: Vec<usize> = (0..n).filter(|&i| end.assignment()[i] == j).collect();
            prop_assert!(!own.is_empty());
            for c in 0..d {
                let mean = own.iter().map(|&i| a[(i, c)]).sum::<f64>() / own.len() as f64;
                prop_assert!((mean - end.centers().coordinate(j, c)).abs() < 1e-12);
            }
        }
    }
}

/// Ten far-apart clusters of very different sizes: k-means++ puts a centre into each, with
/// probability far above what uniform seeding has.
#[test]
fn separated_clusters_are_found() {
    let size = |j: usize| if j == 0 { 500 } else { 5 };
    let centre_of: Vec<usize> = (0..10).flat_map(|j| vec![j; size(j)]).collect();
    let noise = random::standard_normal::<f64>(centre_of.len(), 2, &mut rng(3));
    let a = Mat::from_fn(centre_of.len(), 2, |i, c| {
        noise[(i, c)] + 1e4 * (centre_of[i] * (c + 1)) as f64
    });
    let x = Points::from_rows(a.as_ref());
    for seed in 0..20 {
        let clusters = KMeans::default().run(x, 10, &mut rng(seed)).unwrap();
        assert!(clusters.quantization_error() < 4.0 * centre_of.len() as f64);
    }
}

/// A centre that loses all its points is put on the farthest one: no cluster stays empty while
/// points differ.
#[test]
fn no_cluster_stays_empty() {
    // Copies make Lloyd's iterations drop centres.
    for seed in 0..200 {
        let a =
            Mat::from_fn(30, 1, |i, _| [0.0, 1.0, 1.1, 5.0, 5.2, 9.0][(i * 7 + seed as usize) % 6]);
        let x = Points::from_rows(a.as_ref());
        let clusters = KMeans { iterations: 50 }.run(x, 5, &mut rng(seed)).unwrap();
        check(x, &clusters);
        let mut used = clusters.assignment().to_vec();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 5);
    }
}

#[test]
fn fewer_distinct_points_give_fewer_centres() {
    let a = Mat::from_fn(40, 2, |i, c| ((i % 3) * (c + 1)) as f64);
    let clusters = KMeans::default().run(Points::from_rows(a.as_ref()), 10, &mut rng(0)).unwrap();
    assert_eq!((clusters.centers().len(), clusters.quantization_error()), (3, 0.0));
    let one = KMeans::default().run(Points::from_slice(&[7.0]), 1, &mut rng(0)).unwrap();
    assert_eq!((one.centers().coordinate(0, 0), one.assignment()), (7.0, &[0][..]));
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads_nor_much_on_the_precision() {
    let a = random::standard_normal::<f64>(5000, 3, &mut rng(1));
    let x = Points::from_rows(a.as_ref());
    let one = same_at_any_thread_count(|| KMeans::default().run(x, 40, &mut rng(2)).unwrap());
    let b = Mat::from_fn(5000, 3, |i, j| a[(i, j)] as f32);
    let single = KMeans::default().run(Points::from_rows(b.as_ref()), 40, &mut rng(2)).unwrap();
    assert!((single.quantization_error() / one.quantization_error() - 1.0).abs() < 0.05);
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let x: Vec<f64> = (0..20).map(|i| (i * i) as f64).collect();
    let clusters = KMeans::default().run(Points::from_slice(&x), 4, &mut rng(2024)).unwrap();
    let z: Vec<f64> = (0..4).map(|j| clusters.centers().coordinate(j, 0)).collect();
    assert_eq!(z, [183.5, 83.0, 307.5, 13.0]);
}

#[test]
fn bad_input_is_refused() {
    let x = [0.0, 1.0, 2.0];
    let run = |x: &[f64], k| KMeans::default().run(Points::from_slice(x), k, &mut rng(0));
    assert!(matches!(run(&x, 0), Err(Error::Empty { .. })));
    assert!(matches!(run(&x, 4), Err(Error::TooMany { requested: 4, available: 3, .. })));
    assert!(matches!(run(&[], 1), Err(Error::Empty { .. })));
    assert!(matches!(run(&[0.0, f64::NAN], 1), Err(Error::NonFinite { row: 1, col: 0, .. })));
}
