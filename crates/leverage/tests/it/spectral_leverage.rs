//! Spectral analysis behind the interface of all estimators: beside the others, and what it does
//! with a matrix that is not its own.

use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Matern12, Points, Scaled};
use nystrom_leverage::{
    Audit, Bless, Draw, Exact, LandmarkSelector, LeverageProportional, RecursiveRls, RidgeLeverage,
    SpectralAnalysis, SpectralLeverage,
};
use nystrom_linalg_core::{Counted, Error, Ridge};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const RIDGE: Ridge<f64> = Ridge::PerSample(1e-3);

/// 1500 points in the plane, nine tenths of them in a corner.
fn cloud() -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(3);
    Mat::from_fn(1500, 2, |i, _| rng.random::<f64>() * if i % 10 == 0 { 1.0 } else { 0.3 })
}

#[test]
fn it_stands_in_one_loop_with_the_others_and_takes_no_entries() {
    let (x, kernel) = (cloud(), Matern12::new(0.5).unwrap());
    let points = Points::from_rows(x.as_ref());
    let k = Counted::new(KernelMatrix::new(kernel, points).unwrap());
    let mut rng = Pcg64::seed_from_u64(1);
    let spectral = SpectralLeverage::new(&kernel, points);
    let scores = spectral.scores(&k, RIDGE, &mut rng).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (0, 1));
    assert_eq!(scores, SpectralAnalysis::default().scores(&kernel, points, RIDGE).unwrap().scores);

    let exact = Exact.scores(&k, RIDGE, &mut rng).unwrap();
    let estimators: [Box<dyn RidgeLeverage<f64>>; 3] =
        [Box::new(RecursiveRls::default()), Box::new(Bless::default()), Box::new(spectral)];
    for estimator in &estimators {
        let scores = estimator.scores(&k, RIDGE, &mut rng).unwrap();
        let mut ratios: Vec<f64> = scores.iter().zip(&exact).map(|(a, b)| a / b).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        // half of the points within 40 %
        assert!(ratios[375] > 0.6 && ratios[1125] < 1.4, "{} {}", ratios[375], ratios[1125]);
        // an audit of 200 rows sees no ratio beyond those of all rows
        let audit = Audit { rows: 200, ..Audit::default() };
        let report = audit.of_estimator(&k, RIDGE, estimator.as_ref(), &mut rng).unwrap();
        assert!(report.largest_overestimate().1 < 3.0 && report.largest_underestimate().1 < 3.0);
    }
    let selector =
        LeverageProportional { estimator: spectral, ridge: RIDGE, draw: Draw::WithoutReplacement };
    assert_eq!(selector.select(&k, 40, &mut rng).unwrap().len(), 40);
}

#[test]
fn the_dictionary_is_unbiased_and_as_large_as_stated() {
    let (x, kernel) = (cloud(), Matern12::new(0.5).unwrap());
    let points = Points::from_rows(x.as_ref());
    let k = KernelMatrix::new(kernel, points).unwrap();
    let spectral = SpectralLeverage::new(&kernel, points);
    let found = spectral.report(&k, RIDGE).unwrap();
    let draws = (5.0 * found.d_eff()).ceil();
    // Σw = Σ_draws 1/(m q_i) has mean n and variance (1/m)(Σ 1/q_i − n²); 200 dictionaries, five
    // standard errors: 6e-7.
    let q = found.sampling_probabilities();
    let variance = (q.iter().map(|q| 1.0 / q).sum::<f64>() - 1500.0 * 1500.0) / draws;
    let mut rng = Pcg64::seed_from_u64(2);
    let mut mean = 0.0;
    for _ in 0..200 {
        let dictionary = spectral.dictionary(&k, RIDGE, &mut rng).unwrap();
        assert!(dictionary.len() as f64 <= draws && dictionary.n() == 1500);
        mean += dictionary.total_weight() / 200.0;
    }
    assert!((mean - 1500.0).abs() < 5.0 * (variance / 200.0).sqrt(), "{mean}");
    // the weights are those of the law: counts of draws when multiplied by m q_i
    let dictionary = spectral.dictionary(&k, RIDGE, &mut rng).unwrap();
    let count = |(&i, w): (&usize, &f64)| w * draws * q[i];
    let counts: Vec<f64> =
        dictionary.indices().iter().zip(dictionary.weights()).map(count).collect();
    assert!(counts.iter().all(|c| (c - c.round()).abs() < 1e-9 && *c > 0.5));
    assert!((counts.iter().sum::<f64>() - draws).abs() < 1e-6);
    assert_eq!(dictionary.indices()[..4], [1124, 710, 58, 707]); // pinned
    // both from one run
    let [mut two, mut one] = [3; 2].map(Pcg64::seed_from_u64);
    let apart = spectral.dictionary(&k, RIDGE, &mut two).unwrap();
    let both = spectral.scores_and_dictionary(&k, RIDGE, &mut one).unwrap();
    assert_eq!(both, (found.scores, apart));
}

#[test]
fn a_matrix_that_is_not_its_own_is_refused() {
    let (x, kernel) = (cloud(), Matern12::new(0.5).unwrap());
    let points = Points::from_rows(x.as_ref());
    let spectral = SpectralLeverage::new(&kernel, points);
    let mut rng = Pcg64::seed_from_u64(1);
    let fewer = KernelMatrix::new(kernel, points.slice(0..1499)).unwrap();
    let error = spectral.scores(&fewer, RIDGE, &mut rng).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 1500, got: 1499, .. }), "{error}");
    let twice = Scaled::new(Gaussian::new(0.5).unwrap(), 2.0).unwrap();
    let other = KernelMatrix::new(&twice as &dyn Kernel<f64>, points).unwrap();
    let error = spectral.scores(&other, RIDGE, &mut rng).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { value: 2.0, .. }), "{error}");
    let own = SpectralLeverage { kernel: &twice, ..spectral };
    assert!(own.scores(&other, RIDGE, &mut rng).is_ok());

    let k = KernelMatrix::new(kernel, points).unwrap();
    for bad in [0.0, -1.0, f64::NAN] {
        let spectral = SpectralLeverage { oversampling: bad, ..spectral };
        assert!(matches!(
            spectral.dictionary(&k, RIDGE, &mut rng),
            Err(Error::InvalidParameter { .. })
        ));
    }
    let small = SpectralLeverage { max_size: 10, ..spectral };
    assert!(matches!(
        small.dictionary(&k, RIDGE, &mut rng),
        Err(Error::SampleTooLarge { cap: 10, .. })
    ));
    assert!(small.scores(&k, RIDGE, &mut rng).is_ok());
    let nobody: Mat<f64> = Mat::zeros(0, 2);
    let empty = SpectralLeverage::new(&kernel, Points::from_rows(nobody.as_ref()));
    assert!(empty.scores(&k, RIDGE, &mut rng).is_err());
    assert!(spectral.scores(&k, Ridge::PerSample(-1.0), &mut rng).is_err());
}

#[test]
fn single_precision() {
    let x = cloud();
    let x = Mat::from_fn(1500, 2, |i, k| x[(i, k)] as f32);
    let kernel = Scaled::new(Matern12::new(0.5).unwrap(), 0.3).unwrap();
    let points = Points::from_rows(x.as_ref());
    let k = KernelMatrix::new(kernel, points).unwrap();
    let mut rng = Pcg64::seed_from_u64(1);
    assert!(
        SpectralLeverage::new(&kernel, points)
            .dictionary(&k, Ridge::PerSample(1e-3), &mut rng)
            .unwrap()
            .len()
            > 10
    );
}
