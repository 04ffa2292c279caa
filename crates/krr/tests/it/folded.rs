//! Cross-validation from one pass over the rows.

use crate::common::{Blocks, gaussian, sample, weights};
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{
    CrossValidation, EachRidge, FoldedEquations, Folds, NormalEquations, NystromKrr, Problem,
    RowPasses, RowSums,
};
use nystrom_linalg_core::{Error, Ridge};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const RIDGES: [f64; 4] = [1e-1, 1e-3, 1e-5, 1e-7];

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(4)
}

fn ridges() -> Vec<Ridge<f64>> {
    RIDGES.map(Ridge::PerSample).to_vec()
}

/// The equations over no rows, with a constant or not.
fn empty(
    centers: Points<'_, f64>,
    t: usize,
    intercept: bool,
    folds: usize,
) -> FoldedEquations<Gaussian, f64> {
    let state = if intercept {
        NormalEquations::with_intercept(gaussian(1.0), centers, &vec![9.0; t])
    } else {
        NormalEquations::new(gaussian(1.0), centers, t)
    };
    state.unwrap().folded(folds, &mut rng()).unwrap()
}

/// The errors of cross-validation as it is elsewhere, on the same folds.
#[test]
fn it_is_cross_validation_on_the_same_folds() {
    let n = 1700;
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + 10.0 + (i as f64 * 9.7).sin());
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let centers = problem.x.slice(0..20);
    for intercept in [false, true] {
        let mut folded = empty(centers, 2, intercept, 5);
        folded.accumulate(problem).unwrap();
        let scores = folded.scores(&ridges()).unwrap();
        let of: Vec<usize> = (0..n).map(|i| folded.fold(i as u64)).collect();
        let folds = Folds::of(&of, 5).unwrap();
        let procedure = EachRidge::new(
            |kernel: &Gaussian, ridge, train: Problem<'_, f64>, at, _: &mut dyn Rng| {
                let krr = NystromKrr { intercept, ..NystromKrr::new(*kernel, ridge) };
                krr.fit(train, centers)?.predict(at)
            },
        );
        let table = CrossValidation { folds: 5, ..CrossValidation::default() };
        let table = table
            .run_on(folds, &procedure, &[gaussian(1.0)], &ridges(), problem, &mut rng())
            .unwrap();
        for (ours, theirs) in scores.iter().zip(&table.scores) {
            assert_eq!((ours.score.ridge, ours.score.values.len()), (theirs.ridge, 5));
            for (a, b) in ours.score.values.iter().zip(&theirs.values) {
                assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}, {intercept}");
            }
            assert!((ours.score.standard_error / theirs.standard_error - 1.0).abs() < 1e-7);
            assert!(ours.rounding < 1e-9 * ours.score.mean);
        }
    }
}

/// By brute force, with weights; and all folds together are the plain equations.
#[test]
fn weights_count() {
    let n = 1200;
    let (x, y) = sample::<f64>(n, 2, 1, 6);
    let w = weights(n);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let centers = problem.x.slice(0..15);
    let mut folded = empty(centers, 1, true, 3);
    folded.accumulate(problem).unwrap();
    let scores = folded.scores(&ridges()).unwrap();
    for (ridge, of) in ridges().into_iter().zip(&scores) {
        for (fold, error) in of.score.values.iter().enumerate() {
            let (mut square, mut weight) = (0.0, 0.0);
            let train: Vec<usize> = (0..n).filter(|i| folded.fold(*i as u64) != fold).collect();
            let x_of = problem.x.gather(train.as_slice().into());
            let y_of = Mat::from_fn(train.len(), 1, |i, _| y[(train[i], 0)]);
            let w_of: Vec<f64> = train.iter().map(|&i| w[i]).collect();
            let rows = Problem::new(x_of.points(), y_of.as_ref());
            let krr = NystromKrr { intercept: true, ..NystromKrr::new(gaussian(1.0), ridge) };
            let f = krr.fit(rows.weighted(&w_of), centers).unwrap().predict(problem.x).unwrap();
            for i in (0..n).filter(|i| folded.fold(*i as u64) == fold) {
                square += w[i] * (y[(i, 0)] - f[(i, 0)]).powi(2);
                weight += w[i];
            }
            assert!((error * weight / square - 1.0).abs() < 1e-8, "{error} {}", square / weight);
        }
    }
    let mut plain = NormalEquations::with_intercept(gaussian(1.0), centers, &[9.0]).unwrap();
    plain.accumulate(problem).unwrap();
    let mut together = folded.together().unwrap();
    assert_eq!(together.rows(), n as u64);
    let [a, b] = [&mut together, &mut plain]
        .map(|state| state.solve(Ridge::PerSample(1e-3)).unwrap().predict(problem.x).unwrap());
    assert!((a - &b).norm_max() < 1e-10 * b.norm_max());
}

/// Rows that are read elsewhere are in the folds of their places, and blocks leave no trace.
#[test]
fn folds_belong_to_the_places_of_rows() {
    let (n, cut) = (2500, 1111);
    let (x, y) = sample::<f64>(n, 2, 1, 2);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let empty = empty(problem.x.slice(0..12), 1, false, 4);
    let bytes = |rows: usize| {
        let mut blocks = Blocks::new(problem, rows);
        RowPasses::pass(&mut blocks, empty.empty()).unwrap().to_bytes()
    };
    assert!(bytes(n) == bytes(333));
    let errors = |sums: FoldedEquations<Gaussian, f64>| {
        let scores = sums.scores(&ridges()).unwrap();
        scores.into_iter().flat_map(|of| of.score.values).collect::<Vec<f64>>()
    };
    let whole = errors(empty.read(&bytes(n)).unwrap());
    let part = |before: usize, count: usize, at: usize| {
        let mut sums = empty.empty_at(at as u64);
        let y = y.as_ref().subrows(before, count);
        sums.accumulate((problem.x.slice(before..before + count), y)).unwrap();
        empty.read(&sums.to_bytes()).unwrap()
    };
    let mut sums = part(0, cut, 0);
    sums.merge(part(cut, n - cut, cut)).unwrap();
    for (a, b) in errors(sums).iter().zip(&whole) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
    // behind another number of rows they are other folds
    let mut sums = part(0, cut, 0);
    sums.merge(part(cut, n - cut, 0)).unwrap();
    assert!(errors(sums).iter().zip(&whole).any(|(a, b)| (a / b - 1.0).abs() > 1e-6));
    let counts = (0..n as u64).fold([0; 4], |mut counts, row| {
        counts[empty.fold(row)] += 1;
        counts
    });
    // 2500/4 ± 6 deviations of √(2500·3/16) = 21.7: false alarms below 1e-8
    assert!(counts.iter().all(|count: &i32| (count - 625).abs() < 130), "{counts:?}");
}

/// Targets in the span of the centres: what is left is rounding, and is said to be.
#[test]
fn errors_below_rounding_are_told() {
    let (x, _) = sample::<f64>(1500, 2, 1, 2);
    let points = Points::from_rows(x.as_ref());
    let y = Mat::from_fn(1500, 1, |_, _| 1e6);
    let mut sums = empty(points.slice(0..12), 1, true, 4);
    sums.accumulate((points, &y)).unwrap();
    let scores = sums.scores(&ridges()).unwrap();
    assert!(scores.iter().all(|of| of.score.mean <= of.rounding), "{scores:?}");
}

#[test]
fn what_cannot_be_folded_is_told() {
    let (x, y) = sample::<f64>(30, 2, 1, 2);
    let points = Points::from_rows(x.as_ref());
    let state = NormalEquations::new(gaussian(1.0), points.slice(0..5), 1).unwrap();
    let folded = |folds| state.folded(folds, &mut rng());
    assert!(matches!(folded(1), Err(Error::InvalidParameter { .. })));
    let mut many = folded(60).unwrap();
    many.accumulate((points, &y)).unwrap();
    let refused = many.scores(&ridges()).unwrap_err();
    assert!(matches!(refused, Error::TooMany { requested: 60, available: 30, .. }), "{refused}");
    // two rows of weight, in one fold
    let mut two = [0.0; 30];
    let mut together = folded(2).unwrap();
    let other = (1..30).find(|&i| together.fold(i) == together.fold(0)).unwrap();
    [two[0], two[other as usize]] = [1.0; 2];
    together.accumulate(Problem::new(points, y.as_ref()).weighted(&two)).unwrap();
    let refused = together.scores(&ridges()).unwrap_err();
    assert!(matches!(refused, Error::Empty { what } if what.contains("one fold")), "{refused}");
    let mut few = folded(2).unwrap();
    assert!(matches!(few.scores(&ridges()), Err(Error::Empty { .. })));
    few.accumulate((points, &y)).unwrap();
    assert!(matches!(few.scores(&[]), Err(Error::Empty { .. })));
    // other folds, and other random numbers
    let other = state.folded(2, &mut Pcg64::seed_from_u64(5)).unwrap();
    for mut other in [folded(3).unwrap(), other] {
        assert!(matches!(other.merge(few.clone()), Err(Error::Incompatible { .. })));
        assert!(other.read(&few.to_bytes()).is_err());
    }
    let mut bytes = few.to_bytes();
    bytes[40] ^= 1;
    assert!(matches!(few.read(&bytes), Err(Error::Incompatible { .. })));
    assert!(matches!(Folds::of(&[0, 1, 2], 2), Err(Error::IndexOutOfRange { position: 2, .. })));
    assert!(matches!(Folds::of(&[0, 2, 2], 3), Err(Error::Empty { .. })));
    assert!(matches!(Folds::of(&[0, 0], 1), Err(Error::InvalidParameter { .. })));
}

/// 20 of 1000 rows have weight, so that chance often leaves one of 10 folds without: the others are
/// averaged, whatever the seed.
#[test]
fn folds_without_weight_do_not_count() {
    let (x, y) = sample::<f64>(1000, 2, 1, 2);
    let w: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i % 50 == 3))).collect();
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let state = NormalEquations::new(gaussian(1.0), problem.x.slice(0..5), 1).unwrap();
    let mut incomplete = 0;
    for seed in 0..40 {
        let mut folded = state.folded(10, &mut Pcg64::seed_from_u64(seed)).unwrap();
        folded.accumulate(problem).unwrap();
        let mut weight = [0.0; 10];
        (0..1000).for_each(|i| weight[folded.fold(i as u64)] += w[i]);
        let weighted = weight.iter().filter(|weight| **weight > 0.0).count();
        incomplete += usize::from(weighted < 10);
        for of in folded.scores(&ridges()).unwrap() {
            let values = &of.score.values;
            assert_eq!(values.len(), weighted, "seed {seed}");
            let mean = values.iter().sum::<f64>() / weighted as f64;
            assert!((of.score.mean - mean).abs() <= 1e-12 * mean && mean > 0.0);
        }
    }
    // in expectation more than half of the seeds
    assert!(incomplete > 10, "{incomplete} of 40");
}

/// By content, copies of a row are in one fold: the error of a fit to noise at points far from one
/// another is that of the mean, also if each row occurs four times.
#[test]
fn copies_are_left_out_together() {
    let (n, times) = (200, 4);
    let x = Mat::from_fn(times * n, 1, |i, _| 100.0 * (i % n) as f64);
    let y = Mat::from_fn(times * n, 1, |i, _| ((i % n) as f64 * 9.7).sin());
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let empty = empty(problem.x.slice(0..n), 1, false, 5);
    let error = |mut folded: FoldedEquations<Gaussian, f64>| {
        folded.accumulate(problem).unwrap();
        folded.scores(&[Ridge::Absolute(1e-3)]).unwrap()[0].score.mean
    };
    let square = y.squared_norm_l2() / (times * n) as f64;
    assert!(error(empty.clone()) < 0.1 * square);
    assert!((error(empty.clone().by_content()) / square - 1.0).abs() < 0.1);
    let (plain, mut together) = (empty.clone(), empty.by_content());
    assert!(matches!(together.merge(plain), Err(Error::Incompatible { .. })));
}
