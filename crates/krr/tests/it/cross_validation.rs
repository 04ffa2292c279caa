//! k-fold cross-validation against fits written out, its randomness, and bad input.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::Solver;
use nystrom_krr::{
    Better, CrossValidation, CvTable, EachRidge, ExactGrid, ExactKrr, Folds, NystromGrid,
    NystromKrr, Problem, Score, lambda_grid, metrics,
};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{Draw, Landmarks, Uniform};
use rand::RngExt;

#[test]
fn folds_are_a_partition_with_the_right_law() {
    for (n, k) in [(2, 2), (10, 3), (11, 10), (100, 7)] {
        let folds = Folds::random(n, k, &mut rng(1)).unwrap();
        assert_eq!(folds.len(), k);
        let mut all: Vec<usize> = (0..k).flat_map(|f| folds.test(f).to_vec()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<_>>());
        for f in 0..k {
            assert!(folds.test(f).len().abs_diff(n / k) <= 1);
            assert!(folds.train(f).iter().all(|i| !folds.test(f).contains(i)));
            assert_eq!(folds.train(f).len() + folds.test(f).len(), n);
        }
    }
    // Row 0 is in the first of two parts with probability 1/2: 4000 draws, standard deviation 31.6,
    // 5 of them for 1e-6.
    let generator = &mut rng(2);
    let first =
        (0..4000).filter(|_| Folds::random(6, 2, generator).unwrap().test(0).contains(&0)).count();
    assert!(first.abs_diff(2000) < 158, "{first}");
}

#[test]
fn scores_are_those_of_fits_written_out() {
    let (x, y) = sample::<f64>(60, 2, 2, 5);
    let points = Points::from_rows(x.as_ref());
    let kernels = [gaussian(0.3), gaussian(1.5)];
    let ridges = [1e-1, 1e-4].map(Ridge::PerSample);
    let cv = CrossValidation { folds: 4, ..CrossValidation::default() };
    let table = cv
        .run(&ExactGrid { intercept: true }, &kernels, &ridges, (points, y.as_ref()), &mut rng(3))
        .unwrap();
    for score in &table.scores {
        let losses: Vec<f64> = (0..4)
            .map(|f| {
                let (train, test) = (table.folds.train(f), table.folds.test(f));
                let take = |a: &Mat<f64>, rows: &[usize]| {
                    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
                };
                let krr = ExactKrr {
                    intercept: true,
                    ..ExactKrr::new(kernels[score.kernel], ridges[score.ridge])
                };
                let (x_train, x_test) = (take(&x, &train), take(&x, test));
                let model = krr
                    .fit((Points::from_rows(x_train.as_ref()), take(&y, &train).as_ref()))
                    .unwrap();
                let f = model.predict(Points::from_rows(x_test.as_ref())).unwrap();
                metrics::mse(f.as_ref(), take(&y, test).as_ref()).unwrap()
            })
            .collect();
        let mean = losses.iter().sum::<f64>() / 4.0;
        assert!((score.mean - mean).abs() < 1e-12);
        let sd = (losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
        assert!((score.standard_error - sd / 2.0).abs() < 1e-12);
    }
    let best = table.best().unwrap();
    assert!(table.scores.iter().all(|s| s.mean >= best.mean));
    assert!(
        table.within_one_standard_error().iter().all(|s| s.mean <= best.mean + best.standard_error)
    );
    assert!(table.within_one_standard_error().contains(&best));
}

#[test]
fn one_decomposition_for_many_ridges_scores_as_single_fits() {
    let (x, y) = sample::<f64>(80, 2, 1, 6);
    let points = Points::from_rows(x.as_ref());
    let ridges = lambda_grid(1.0, 1e-6, 20).unwrap(); // more than 15: from an eigendecomposition
    let cv = CrossValidation { folds: 5, ..CrossValidation::default() };
    let one_by_one = EachRidge::new(|k: &Gaussian, ridge, train, at, _| {
        ExactKrr::new(*k, ridge).fit(train)?.predict(at)
    });
    let a = cv
        .run(&ExactGrid::default(), &[gaussian(0.8)], &ridges, (points, y.as_ref()), &mut rng(1))
        .unwrap();
    let b =
        cv.run(&one_by_one, &[gaussian(0.8)], &ridges, (points, y.as_ref()), &mut rng(1)).unwrap();
    assert_eq!(a.folds, b.folds);
    for (a, b) in a.scores.iter().zip(&b.scores) {
        assert!((a.mean - b.mean).abs() < 1e-9 * b.mean, "{} {}", a.mean, b.mean);
    }
    // Ridges that a Cholesky factorisation cannot see, few of them: the eigendecomposition steps
    // in.
    let tiny = [Ridge::PerSample(1e-25)];
    let table = cv
        .run(&ExactGrid::default(), &[gaussian(3.0)], &tiny, (points, y.as_ref()), &mut rng(1))
        .unwrap();
    assert!(table.scores[0].mean.is_finite());
}

/// The same folds and fits, scored by an error and by R²: R² is 1 − mse/spread in each fold, so
/// what is best by one should not be worst by the other.
#[test]
fn scores_know_which_way_is_better() {
    let (x, y) = sample::<f64>(120, 2, 1, 7);
    let points = Points::from_rows(x.as_ref());
    let kernels = [gaussian(0.02), gaussian(1.5), gaussian(60.0)];
    let run = |score| {
        let cv = CrossValidation { folds: 4, score };
        let ridges = [Ridge::PerSample(1e-3)];
        cv.run(&ExactGrid::default(), &kernels, &ridges, (points, y.as_ref()), &mut rng(5)).unwrap()
    };
    let (by_mse, by_rmse, by_r2) = (run(Score::mse()), run(Score::rmse()), run(Score::r2()));
    assert_eq!(
        [by_mse.better, by_rmse.better, by_r2.better],
        [Better::Lower, Better::Lower, Better::Higher]
    );
    let best = by_r2.best().unwrap();
    assert_eq!(
        (best.kernel, by_mse.best().unwrap().kernel, by_rmse.best().unwrap().kernel),
        (1, 1, 1)
    );
    assert!(
        best.mean > 0.5 && by_r2.scores.iter().all(|s| s.mean <= best.mean),
        "{:?}",
        by_r2.scores
    );
    // the worst by R² is far outside a standard error of the best
    let near: Vec<usize> = by_r2.within_one_standard_error().iter().map(|s| s.kernel).collect();
    assert_eq!(near, [1]);
    let own = run(Score::higher_is_better(|f, y, _| Ok(-metrics::mse(f, y)?)));
    assert_eq!(own.best().unwrap().kernel, 1);
    assert_eq!(own.best().unwrap().mean, -by_mse.best().unwrap().mean);
}

/// A table from before scores had a direction: all were losses.
#[cfg(feature = "serde")]
#[test]
fn a_table_without_a_direction_holds_losses() {
    let text = r#"{"scores":[{"kernel":0,"ridge":0,"mean":2.0,"standard_error":0.1,"losses":[1.9,2.1]},
        {"kernel":1,"ridge":0,"mean":1.0,"standard_error":0.1,"losses":[0.9,1.1]}],
        "folds":{"parts":[[0],[1]]}}"#;
    let table: CvTable = serde_json::from_str(text).unwrap();
    assert_eq!((table.better, table.best().unwrap().kernel), (Better::Lower, 1));
    assert_eq!(table.scores[0].values, [1.9, 2.1]);
}

/// A file whose parts are no partition of the rows into two parts or more.
#[cfg(feature = "serde")]
#[test]
fn folds_that_are_no_partition_are_refused() {
    let read = |parts: serde_json::Value| {
        serde_json::from_value::<Folds>(serde_json::json!({"parts": parts}))
    };
    let folds = read(serde_json::json!([[2, 0], [1]])).unwrap();
    assert_eq!((folds.test(0), folds.test(1)), (&[0, 2][..], &[1][..]));
    for (parts, why) in [
        (serde_json::json!([[0], [5]]), "row 5 of 2 is there twice, or is no row"),
        (serde_json::json!([[0, 0], [1]]), "row 0 of 3 is there twice, or is no row"),
        (serde_json::json!([[0, 1]]), "number of folds = 1"),
        (serde_json::json!([[0, 1], []]), "rows of a fold is empty"),
        (serde_json::json!([]), "number of folds = 0"),
    ] {
        let error = read(parts).unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
    }
}

/// Scores of weighted rows are weighted means over fits that are weighted, too.
#[test]
fn scores_of_weighted_rows_are_those_of_fits_written_out() {
    let (x, y) = sample::<f64>(60, 2, 2, 5);
    let (points, w) = (Points::from_rows(x.as_ref()), weights(60));
    let problem = Problem::new(points, y.as_ref()).weighted(&w);
    let ridges = [1e-1, 1e-4].map(Ridge::PerSample);
    let cv = CrossValidation { folds: 4, ..CrossValidation::default() };
    let grid = ExactGrid { intercept: true };
    let table = cv.run(&grid, &[gaussian(0.8)], &ridges, problem, &mut rng(3)).unwrap();
    for score in &table.scores {
        let krr = ExactKrr { intercept: true, ..ExactKrr::new(gaussian(0.8), ridges[score.ridge]) };
        for (fold, value) in score.values.iter().enumerate() {
            let take = |rows: &[usize]| {
                let x = Mat::from_fn(rows.len(), 2, |i, k| x[(rows[i], k)]);
                let y = Mat::from_fn(rows.len(), 2, |i, j| y[(rows[i], j)]);
                (x, y, rows.iter().map(|&row| w[row]).collect::<Vec<f64>>())
            };
            let (train, test) = (take(&table.folds.train(fold)), take(table.folds.test(fold)));
            let problem = Problem::new(Points::from_rows(train.0.as_ref()), train.1.as_ref());
            let model = krr.fit(problem.weighted(&train.2)).unwrap();
            let f = model.predict(Points::from_rows(test.0.as_ref())).unwrap();
            let squares = (0..f.nrows()).map(|i| {
                test.2[i] * (0..2).map(|j| (f[(i, j)] - test.1[(i, j)]).powi(2)).sum::<f64>()
            });
            let mse = squares.sum::<f64>() / (2.0 * test.2.iter().sum::<f64>());
            assert!((value - mse).abs() < 1e-12, "{value} against {mse}");
        }
    }
}

/// Few rows of positive weight among many: each fold has some, whatever the seed.
#[test]
fn every_fold_has_rows_of_positive_weight() {
    let (x, y) = sample::<f64>(60, 2, 1, 6);
    let w: Vec<f64> = (0..60).map(|i| if i % 8 == 3 { 1.5 } else { 0.0 }).collect(); // 8 of them
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let run = |folds: usize, seed: u64| {
        let cv = CrossValidation { folds, ..CrossValidation::default() };
        let ridges = [Ridge::PerSample(1e-2)];
        cv.run(&ExactGrid::default(), &[gaussian(0.8)], &ridges, problem, &mut rng(seed))
    };
    for seed in 0..50 {
        for folds in [4, 8] {
            let table = run(folds, seed).unwrap();
            assert!(table.scores[0].mean.is_finite(), "{folds} folds, seed {seed}");
        }
    }
    assert!(matches!(run(9, 0), Err(Error::TooMany { requested: 9, available: 8, .. })));
}

/// Nyström with landmarks drawn in the training part, through the closure.
fn with_random_landmarks() -> CvTable {
    let (x, y) = sample::<f64>(1500, 2, 1, 8);
    let fit = EachRidge::new(
        |k: &Gaussian, ridge, train: Problem<'_, f64>, at, rng: &mut dyn rand::Rng| {
            let x = train.x;
            let start = rng.random_range(0..x.len() - 30);
            NystromKrr::new(*k, ridge).fit(train, x.slice(start..start + 30))?.predict(at)
        },
    );
    let cv = CrossValidation { folds: 3, ..CrossValidation::default() };
    let ridges = [1e-2, 1e-5].map(Ridge::PerSample);
    let kernels = [gaussian(0.5), gaussian(0.5)];
    let problem = (Points::from_rows(x.as_ref()), y.as_ref());
    cv.run(&fit, &kernels, &ridges, problem, &mut rng(4)).unwrap()
}

#[test]
fn the_same_bits_with_any_number_of_threads_and_the_same_draws_for_every_kernel() {
    let one = same_at_any_thread_count(with_random_landmarks);
    assert_eq!(one.scores[0].values, one.scores[2].values); // the two kernels are equal
}

#[test]
fn a_candidate_that_fails_is_not_the_best() {
    let (x, y) = sample::<f64>(30, 1, 1, 2);
    let fit = EachRidge::new(|k: &Gaussian, ridge, train, at: Points<'_, f64>, _| {
        let model = ExactKrr::new(*k, ridge).fit(train);
        model.map_or_else(|_| Ok(Mat::full(at.len(), 1, f64::NAN)), |model| model.predict(at))
    });
    let ridges = [Ridge::PerSample(1e-30), Ridge::PerSample(1e-2)];
    let cv = CrossValidation::default();
    let points = Points::from_rows(x.as_ref());
    let table = cv.run(&fit, &[gaussian(5.0)], &ridges, (points, y.as_ref()), &mut rng(1)).unwrap();
    assert!(table.scores[0].mean.is_nan());
    assert_eq!(table.best().unwrap().ridge, 1);
    let none =
        cv.run(&fit, &[gaussian(5.0)], &ridges[..1], (points, y.as_ref()), &mut rng(1)).unwrap();
    assert!(none.best().is_none() && none.within_one_standard_error().is_empty());
}

#[test]
fn bad_grids_and_samples_are_refused() {
    let (x, y) = sample::<f64>(6, 1, 1, 2);
    let (points, ridges, kernels) =
        (Points::from_rows(x.as_ref()), [Ridge::PerSample(1.0)], [gaussian(1.0)]);
    let run = |folds, kernels: &[Gaussian], ridges: &[Ridge<f64>], y: &Mat<f64>| {
        let cv = CrossValidation { folds, ..CrossValidation::default() };
        cv.run(&ExactGrid::default(), kernels, ridges, (points, y.as_ref()), &mut rng(0))
            .unwrap_err()
    };
    assert!(matches!(
        run(1, &kernels, &ridges, &y),
        Error::InvalidParameter { name: "number of folds", .. }
    ));
    assert!(matches!(
        run(7, &kernels, &ridges, &y),
        Error::TooMany { requested: 7, available: 6, .. }
    ));
    assert_eq!(run(2, &[], &ridges, &y), Error::Empty { what: "kernels of the grid" });
    assert_eq!(run(2, &kernels, &[], &y), Error::Empty { what: "ridges of the grid" });
    assert!(matches!(
        run(2, &kernels, &[Ridge::PerSample(0.0)], &y),
        Error::InvalidParameter { .. }
    ));
    assert!(matches!(
        run(2, &kernels, &ridges, &Mat::zeros(5, 1)),
        Error::Shape { expected: 6, got: 5, .. }
    ));
    let spoiled = Mat::from_fn(6, 1, |i, _| if i == 3 { f64::NAN } else { 0.0 });
    assert!(matches!(run(2, &kernels, &ridges, &spoiled), Error::NonFinite { row: 3, .. }));
    assert!(matches!(Folds::random(0, 2, &mut rng(0)), Err(Error::Empty { .. })));
}

#[test]
fn nystrom_grid_chooses_landmarks_in_the_training_part() {
    let (x, y) = sample::<f64>(300, 2, 1, 9);
    let points = Points::from_rows(x.as_ref());
    let ridges = [1e-1, 1e-4].map(Ridge::PerSample);
    let cv = CrossValidation { folds: 3, ..CrossValidation::default() };
    let grid = NystromGrid { selector: Uniform::default(), m: 40, intercept: true };
    let table =
        cv.run(&grid, &[gaussian(0.8)], &ridges, (points, y.as_ref()), &mut rng(1)).unwrap();
    let by_hand = EachRidge::new(
        |k: &Gaussian, ridge, train: Problem<'_, f64>, at, rng: &mut dyn rand::Rng| {
            let landmarks = Landmarks::uniform(train.x.len(), 40, Draw::WithoutReplacement, rng)?;
            let solver = Solver::NormalEquations; // whitening once differs in the sixth digit
            let krr = NystromKrr { intercept: true, solver, ..NystromKrr::new(*k, ridge) };
            krr.fit(train, &landmarks)?.predict(at)
        },
    );
    // one ridge at a time, so that the closure draws the same landmarks as the grid does once for
    // both
    for (r, score) in table.scores.iter().enumerate() {
        let other = cv
            .run(&by_hand, &[gaussian(0.8)], &ridges[r..=r], (points, y.as_ref()), &mut rng(1))
            .unwrap();
        let ratio = score.mean / other.scores[0].mean;
        assert!((ratio - 1.0).abs() < 1e-9, "{:e}", ratio - 1.0);
    }
    let all = NystromGrid { m: 10_000, ..grid };
    assert!(cv.run(&all, &[gaussian(0.8)], &ridges, (points, y.as_ref()), &mut rng(1)).is_ok());
}
