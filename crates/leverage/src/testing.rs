//! The contract of [`RidgeLeverage`] as a test for any implementation (feature `testing`).

use crate::{Dictionary, RidgeLeverage, exact_scores};
use faer::Mat;
use nystrom_linalg_core::testing::{Broken, Kind, psd, rng, same_at_any_thread_count};
use nystrom_linalg_core::{Dense, Error, PsdMatrix, Result, Ridge};

/// Panics unless `estimator` satisfies the contract of [`RidgeLeverage`], on matrices of order 1
/// to 1200.
///
/// Checked, at one seed:
///
/// * scores lie in \[0, K_ii/(K_ii + μ)\], also for rows of zeros, and in \[l_i/`factor`,
///   l_i·`factor`\] for the exact scores l_i;
/// * equal rows have equal scores;
/// * a dictionary has distinct rows of the matrix with positive finite weights, or the result is
///   [`Error::EmptySample`];
/// * the same seed gives the same bits, twice and on 1, 2 and 8 threads;
/// * [`scores_and_dictionary`](RidgeLeverage::scores_and_dictionary) returns the scores and the
///   dictionary of two separate runs;
/// * 4K at the ridge 4μ has the scores of K at μ: there is no hidden absolute constant;
/// * an empty matrix, a ridge that is not positive and finite, and NaN on the diagonal are errors,
///   never panics.
///
/// The matrices for which `factor` is checked have order 300 and an effective dimension between 1
/// and 25, so an estimator of fixed size should have about 100 rows or more.
///
/// ```
/// use nystrom_leverage::{RecursiveRls, testing::check_estimator};
/// check_estimator(&RecursiveRls::with_oversampling(20.0), 2.0);
/// ```
///
/// # Panics
/// If the contract is violated; the message names the violation and the matrix or row.
pub fn check_estimator(estimator: &dyn RidgeLeverage<f64>, factor: f64) {
    for kind in Kind::ALL {
        let k = psd(kind, 300, 1);
        check_accuracy(estimator, &k, Ridge::Absolute(8.0), factor, &format!("{kind:?}"));
        check_scaling(estimator, &k);
    }
    check_accuracy(
        estimator,
        &Mat::full(300, 300, 2.0),
        Ridge::PerSample(0.01),
        factor,
        "all rows equal",
    );
    check_equal_rows(estimator);
    check_small(estimator);
    check_zeros(estimator);
    check_bits(estimator);
    check_errors(estimator);
    check_one_run(estimator);
}

fn scores(estimator: &dyn RidgeLeverage<f64>, k: &Mat<f64>, ridge: Ridge<f64>) -> Vec<f64> {
    let k = Dense::new(k.as_ref()).expect("a symmetric matrix");
    let scores = estimator.scores(&k, ridge, &mut rng(7)).expect("scores of a valid matrix");
    let mu = ridge.absolute(k.dim()).expect("a valid ridge");
    assert_eq!(scores.len(), k.dim(), "one score for every row");
    for (i, (&l, k_ii)) in scores.iter().zip(k.diag()).enumerate() {
        let most = k_ii / (k_ii + mu) * (1.0 + 1e-12);
        assert!(
            (0.0..=most).contains(&l),
            "row {i}: the score {l} is not in [0, K_ii/(K_ii + μ)], K_ii = {k_ii}, μ = {mu}"
        );
    }
    check_dictionary(estimator.dictionary(&k, ridge, &mut rng(7)), k.dim());
    scores
}

fn check_dictionary(dictionary: Result<Dictionary<f64>>, n: usize) {
    match dictionary {
        Err(Error::EmptySample { .. }) => {}
        Err(other) => panic!("no dictionary of a valid matrix: {other}"),
        Ok(dictionary) => {
            assert_eq!(dictionary.n(), n, "the dictionary's order");
            let mut rows = dictionary.indices().to_vec();
            rows.sort_unstable();
            assert!(
                rows.windows(2).all(|pair| pair[0] < pair[1]),
                "a row occurs twice in the dictionary"
            );
            assert!(
                rows.last().is_none_or(|&last| last < n),
                "a row outside the matrix in the dictionary"
            );
            let positive = |w: &f64| *w > 0.0 && w.is_finite();
            assert!(
                dictionary.weights().iter().all(positive),
                "a weight that is not positive and finite"
            );
        }
    }
}

fn check_accuracy(
    estimator: &dyn RidgeLeverage<f64>,
    k: &Mat<f64>,
    ridge: Ridge<f64>,
    factor: f64,
    what: &str,
) {
    let exact = exact_scores(&Dense::new(k.as_ref()).expect("a symmetric matrix"), ridge)
        .expect("exact scores")
        .scores;
    for (i, (found, exact)) in scores(estimator, k, ridge).into_iter().zip(exact).enumerate() {
        let near = found <= exact * factor + 1e-9 && found >= exact / factor - 1e-9;
        assert!(
            near,
            "{what}, row {i}: {found} is not within a factor {factor} of the exact score {exact}"
        );
    }
}

fn check_scaling(estimator: &dyn RidgeLeverage<f64>, k: &Mat<f64>) {
    let four = Mat::from_fn(k.nrows(), k.ncols(), |i, j| 4.0 * k[(i, j)]);
    let (once, scaled) = (
        scores(estimator, k, Ridge::Absolute(8.0)),
        scores(estimator, &four, Ridge::Absolute(32.0)),
    );
    let same = once.iter().zip(&scaled).all(|(a, b)| (a - b).abs() <= 1e-10);
    assert!(same, "4K at the ridge 4μ has other scores than K at μ: some constant is absolute");
}

fn check_equal_rows(estimator: &dyn RidgeLeverage<f64>) {
    for (i, pair) in
        scores(estimator, &psd(Kind::Doubled, 300, 2), Ridge::Absolute(2.0)).chunks(2).enumerate()
    {
        assert!(
            (pair[0] - pair[1]).abs() < 1e-9,
            "rows {} and {} are equal, their scores are not: {pair:?}",
            2 * i,
            2 * i + 1
        );
    }
}

/// Orders 1 and 2, where a sample may be empty. An estimator of fixed size may return `TooMany`.
fn check_small(estimator: &dyn RidgeLeverage<f64>) {
    for n in [1, 2] {
        let k = Mat::<f64>::full(n, n, 3.0);
        match estimator.scores(
            &Dense::new(k.as_ref()).expect("a symmetric matrix"),
            Ridge::Absolute(1.0),
            &mut rng(7),
        ) {
            Ok(_) => drop(scores(estimator, &k, Ridge::Absolute(1.0))),
            Err(error) => assert!(matches!(error, Error::TooMany { .. }), "order {n}: {error}"),
        }
    }
}

fn check_zeros(estimator: &dyn RidgeLeverage<f64>) {
    let k = psd(Kind::Rough, 300, 3);
    let k = Mat::from_fn(300, 300, |i, j| if i.min(j) < 20 { 0.0 } else { k[(i, j)] });
    let scores = scores(estimator, &k, Ridge::Absolute(8.0));
    assert!(scores[20..].iter().all(|l| *l > 0.0), "a row that is not zero has the score 0");
}

/// Uses more rows than one tile or leaf holds, so that threads can share the work.
fn check_bits(estimator: &dyn RidgeLeverage<f64>) {
    let n = 1200;
    let k = Mat::from_fn(n, n, |i, j| (-(i as f64 - j as f64).abs() / 300.0).exp());
    let k = Dense::new(k.as_ref()).expect("a symmetric matrix");
    let run = || {
        let dictionary = estimator.dictionary(&k, Ridge::Absolute(20.0), &mut rng(7));
        (dictionary, estimator.scores(&k, Ridge::Absolute(20.0), &mut rng(7)))
    };
    let one = run();
    assert!(run() == one, "the same seed gave other bits");
    assert!(same_at_any_thread_count(run) == one, "another number of threads gave other bits");
}

fn check_one_run(estimator: &dyn RidgeLeverage<f64>) {
    for (kind, mu) in [(Kind::Rough, 8.0), (Kind::Gaussian, 0.1)] {
        let k = psd(kind, 300, 4);
        let (k, ridge) = (Dense::new(k.as_ref()).expect("a symmetric matrix"), Ridge::Absolute(mu));
        let dictionary = estimator.dictionary(&k, ridge, &mut rng(7));
        let apart = dictionary
            .and_then(|dictionary| Ok((estimator.scores(&k, ridge, &mut rng(7))?, dictionary)));
        let both = estimator.scores_and_dictionary(&k, ridge, &mut rng(7));
        assert!(both == apart, "scores and dictionary from one run are not those of two runs");
    }
}

fn check_errors(estimator: &dyn RidgeLeverage<f64>) {
    let run = |k: &dyn PsdMatrix<f64>, ridge| {
        (
            estimator.scores(k, ridge, &mut rng(7)).err(),
            estimator.dictionary(k, ridge, &mut rng(7)).err(),
        )
    };
    let (scores, dictionary) = run(&Broken { n: 0, bad: vec![] }, Ridge::Absolute(1.0));
    assert!(scores.is_some() && dictionary.is_some(), "a matrix of order 0 was accepted");
    let identity = Broken { n: 300, bad: vec![] };
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for ridge in [Ridge::Absolute(value), Ridge::PerSample(value)] {
            let (scores, dictionary) = run(&identity, ridge);
            let refused = |error| matches!(error, Some(Error::InvalidParameter { .. }));
            assert!(
                refused(scores) && refused(dictionary),
                "the ridge {ridge:?} was not refused with InvalidParameter"
            );
        }
    }
    for value in [f64::NAN, f64::INFINITY] {
        let (scores, _) =
            run(&Broken { n: 300, bad: vec![(123, 123, value)] }, Ridge::Absolute(1.0));
        assert!(scores.is_some(), "K has {value} on its diagonal, but scores were returned");
    }
}
