//! The two-sample test: its level, its statistic, its power, and what it refuses.

use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::testing::{Broken, same_at_any_thread_count};
use nystrom_linalg_core::{Dense, Error, PsdMatrix, random};
use nystrom_sketch::{LandmarkSelector, Landmarks, TwoSample, TwoSampleTest, Uniform};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The test of points whose first `first` rows are one sample.
fn test(
    x: MatRef<'_, f64>,
    first: usize,
    m: usize,
    options: TwoSample,
    rng: &mut dyn Rng,
) -> TwoSampleTest {
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), Points::from_rows(x)).unwrap();
    let landmarks = Uniform::default().select(&k, m, rng).unwrap();
    options.test(&k, &landmarks, first, rng).unwrap()
}

/// The number of p-values up to 0.05 in 2000 draws of two samples of one distribution.
fn rejections(sizes: [usize; 2], bins: usize) -> usize {
    let options = TwoSample { permutations: 99, bins };
    let rejects = |seed: u64| {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let x = random::standard_normal::<f64>(sizes[0] + sizes[1], 1, rng);
        test(x.as_ref(), sizes[0], 8, options, rng).p_value <= 0.05
    };
    (0..2000).filter(|&seed| rejects(seed)).count()
}

/// With 99 permutations P(p ≤ 0.05) = 0.05: in 2000 draws 100 rejections, standard deviation 9.75,
/// so that more than four of them either way happen once in 16,000.
#[test]
fn one_distribution_is_rejected_at_the_level_whatever_the_sizes() {
    for (sizes, bins) in [([40, 40], 512), ([100, 100], 20), ([130, 40], 17), ([2, 70], 512)] {
        let count = rejections(sizes, bins);
        assert!((61..=139).contains(&count), "{sizes:?}, {bins} bins: {count} of 2000");
    }
}

/// With every row a landmark and a bin, the squared statistic is that of Gretton et al. (JMLR
/// 2012), equation 5: the mean of K within x, plus that within y, less twice that between them.
#[test]
fn the_statistic_is_the_maximum_mean_discrepancy() {
    let rng = &mut Pcg64::seed_from_u64(1);
    let x = random::standard_normal::<f64>(50, 2, rng);
    let k = KernelMatrix::new(Gaussian::new(0.7).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let all = Landmarks::new(50, (0..50).collect()).unwrap();
    let found = TwoSample::default().test(&k, &all, 20, rng).unwrap();
    assert_eq!((found.bins, found.rows_of_bin, found.left_out), ([20, 30], 1, [0, 0]));
    let values = k.columns((0..50).into());
    let sign = |i: usize| if i < 20 { 1.0 / 20.0 } else { -1.0 / 30.0 };
    let terms = (0..2500).map(|at| (at / 50, at % 50));
    let square: f64 = terms.map(|(i, j)| sign(i) * sign(j) * values[(i, j)]).sum();
    assert!((found.mmd.powi(2) - square).abs() < 1e-9 * square, "{} {square}", found.mmd.powi(2));
}

/// In which of `draws` draws two normal samples of n/2 rows each are told apart at 5 %. Their means
/// are apart by 7/√n.
fn told_apart(n: usize, m: usize, bins: usize, draws: u64) -> Vec<bool> {
    let options = TwoSample { permutations: 99, bins };
    let tells = |seed: u64| {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let mut x = random::standard_normal::<f64>(n, 1, rng);
        (n / 2..n).for_each(|i| x[(i, 0)] += 7.0 / (n as f64).sqrt());
        test(x.as_ref(), n / 2, m, options, rng).p_value <= 0.05
    };
    (0..draws).map(tells).collect()
}

/// The loss of power is at most 0.02, but for twice the standard error of the paired difference.
/// `NYSTROM_SOAK=1` takes 1000 draws of 2000 rows for 200 of 400.
#[test]
fn few_landmarks_and_bins_lose_little_power() {
    let (n, draws) =
        if std::env::var_os("NYSTROM_SOAK").is_some() { (2000, 1000) } else { (400, 200) };
    let (exact, few) = (told_apart(n, n, n, draws), told_apart(n, 20, 100, draws));
    let share = |of: &[bool]| of.iter().filter(|told| **told).count() as f64 / draws as f64;
    let differ = exact.iter().zip(&few).filter(|(a, b)| a != b).count() as f64 / draws as f64;
    let (exact, few) = (share(&exact), share(&few));
    let error = (differ / draws as f64).sqrt();
    println!("power of {n} rows: {exact} with every row, {few} with 20 landmarks and 100 bins");
    assert!((0.6..0.99).contains(&exact), "{exact}: the problem is too easy or too hard");
    assert!(few > exact - 0.02 - 2.0 * error, "{few} for {exact}, ± {error}");
}

#[test]
fn sizes_decide_the_bins() {
    let rng = &mut Pcg64::seed_from_u64(2);
    let x = random::standard_normal::<f64>(5000, 1, rng);
    let bins = |first: usize, bins: usize| {
        let found = test(x.as_ref(), first, 5, TwoSample { permutations: 9, bins }, rng);
        (found.bins, found.rows_of_bin, found.left_out)
    };
    let mut bins = bins;
    assert_eq!(bins(2500, 500), ([250, 250], 10, [0, 0]));
    assert_eq!(bins(2503, 500), ([250, 249], 10, [3, 7]));
    assert_eq!(bins(100, 500), ([100, 1600], 1, [0, 3300])); // 16 times as many
    assert_eq!(bins(2, 500), ([2, 500], 1, [0, 4498]));
}

#[test]
fn the_same_bits_at_any_number_of_threads_and_nearly_the_same_in_f32() {
    let x = random::standard_normal::<f64>(3000, 3, &mut Pcg64::seed_from_u64(3));
    let found = same_at_any_thread_count(|| {
        test(x.as_ref(), 1000, 30, TwoSample::default(), &mut Pcg64::seed_from_u64(4))
    });
    let single = Mat::from_fn(3000, 3, |i, j| x[(i, j)] as f32);
    let k = Gaussian::new(1.0).unwrap();
    let k = KernelMatrix::new(k, Points::from_rows(single.as_ref())).unwrap();
    let rng = &mut Pcg64::seed_from_u64(4);
    let landmarks = Uniform::default().select(&k, 30, rng).unwrap();
    let rounded = TwoSample::default().test(&k, &landmarks, 1000, rng).unwrap();
    assert!((rounded.mmd / found.mmd - 1.0).abs() < 1e-2, "{rounded:?} {found:?}");
    assert!((rounded.p_value - found.p_value).abs() <= 0.01);
}

#[test]
fn equal_rows_are_not_told_apart() {
    let found = test(
        Mat::full(300, 2, 0.5).as_ref(),
        100,
        1,
        TwoSample::default(),
        &mut Pcg64::seed_from_u64(5),
    );
    assert_eq!((found.p_value, found.mmd < 1e-7), (1.0, true), "{found:?}");
}

#[test]
fn impossible_samples_and_options_are_refused() {
    let rng = &mut Pcg64::seed_from_u64(6);
    let k = Mat::<f64>::identity(10, 10);
    let (k, two) = (Dense::new(k.as_ref()).unwrap(), Landmarks::new(10, vec![3, 4]).unwrap());
    let usual = TwoSample::default();
    let mut error = |options: TwoSample, landmarks: &Landmarks, first: usize| {
        options.test(&k, landmarks, first, rng).unwrap_err().to_string()
    };
    for first in [0, 1, 9, 10, 11] {
        let text = error(usual, &two, first);
        assert!(text.contains("rows of a sample") && text.contains("at least 2"), "{text}");
    }
    assert!(error(TwoSample { permutations: 0, ..usual }, &two, 5).contains("take 999"));
    assert!(error(TwoSample { bins: 3, ..usual }, &two, 5).contains("take 512"));
    assert!(error(usual, &Landmarks::new(11, vec![10]).unwrap(), 5).contains("11"));
    let bad = Broken { n: 10, bad: vec![(7, 3, f64::NAN)] };
    let error = usual.test(&bad, &two, 5, rng).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 7, col: 3, .. }), "{error}");
}
