//! Centres that are no data points, ensembles and the modified Nyström approximation.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, KMeans, Kernel, KernelMatrix, Matern32, Points};
use nystrom_linalg_core::testing::check_psd_matrix;
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, random};
use nystrom_sketch::{
    EnsembleNystrom, EnsembleWeights, ErrorNorms, LandmarkSelector, Landmarks, ModifiedNystrom,
    Nystrom, Uniform, Whitening, frobenius_error, rp_cholesky,
};
use proptest::prelude::*;

fn uniform(k: &dyn PsdMatrix<f64>, m: usize, seed: u64) -> Landmarks {
    Uniform::default().select(k, m, &mut rng(seed)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any centres: 0 ⪯ L ⪯ K, for k-means centres and for centres far from all data; and rows of K
    /// as centres give what landmarks give.
    #[test]
    fn explicit_centres_stay_below_k(seed in any::<u64>(), n in 5..60_usize, m in 1..10_usize) {
        let a = random::standard_normal::<f64>(n, 2, &mut rng(seed));
        let (x, m) = (Points::from_rows(a.as_ref()), m.min(n));
        let k = KernelMatrix::new(Matern32::new(0.7).unwrap(), x).unwrap();
        let dense = whole(&k);
        let clusters = KMeans::default().run(x, m, &mut rng(seed)).unwrap();
        let elsewhere = Mat::from_fn(2, m, |c, j| 3.0 * (j as f64 + c as f64).sin());
        for (centers, whitening) in [
            (clusters.centers(), Whitening::default()),
            (clusters.centers(), Whitening::eigen()),
            (Points::from_cols(elsewhere.as_ref()), Whitening::default()),
        ] {
            let (c, w) = k.against(centers).unwrap();
            let l = Nystrom::from_blocks(c.as_ref(), w.as_ref(), whitening).unwrap();
            prop_assert!(l.indices().is_empty() && l.dim() == n);
            prop_assert!(smallest_eigenvalue((&dense - whole(&l)).as_ref()) > -1e-11 * n as f64);
            // new points: φ(x)ᵀφ(x) ≤ k(x, x)
            let at = Mat::from_fn(2, 3, |c, j| (c as f64 - j as f64).cos());
            let mut phi = k.kernel().eval(centers, Points::from_cols(at.as_ref()));
            let phi = l.map().apply_in_place(phi.as_mut());
            prop_assert!(phi.col_iter().all(|phi| phi.squared_norm_l2() <= 1.0 + 1e-12));
        }
        let landmarks = uniform(&k, m, seed);
        let rows = x.gather(landmarks.indices().into());
        let (c, w) = k.against(rows.points()).unwrap();
        let l = Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default()).unwrap();
        let same = Nystrom::new(&k, &landmarks).unwrap();
        prop_assert!((whole(&l) - whole(&same)).norm_max() < 1e-10);
    }

    /// The modified approximation is the projection of K: no other core is nearer, and the Nyström
    /// approximation with the same columns is one.
    #[test]
    fn the_modified_core_is_the_nearest((a, seed) in any_psd(), m in 1..10_usize) {
        let (n, k) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let landmarks = uniform(&k, m.min(n), seed);
        let (modified, plain) = (ModifiedNystrom::new(&k, &landmarks).unwrap(), Nystrom::new(&k,
            &landmarks).unwrap());
        let (best, other) = (whole(&modified), whole(&plain));
        let scale = a.norm_l2();
        prop_assert!((&a - &best).norm_l2() <= (&a - &other).norm_l2() + 1e-11 * scale);
        prop_assert!(smallest_eigenvalue(best.as_ref()) >= -1e-12 * scale);
        // K − K̃ is orthogonal to every CYCᵀ: to F_L Y F_Lᵀ with the factor of the same range
        let inside = plain.factor().transpose() * (&a - &best) * plain.factor();
        prop_assert!(inside.norm_max() <= 1e-9 * scale * scale, "{}", inside.norm_max());
    }

    /// Uniform and exponential weights are a mean, so 0 ⪯ K̃ ⪯ K, and the error is at most the mean
    /// of the experts' errors (convexity).
    #[test]
    fn ensembles_stay_below_k((a, seed) in any_psd(), m in 1..6_usize, p in 1..5_u64) {
        let (n, k) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let experts: Vec<Landmarks> = (0..p).map(|r| uniform(&k, m.min(n), seed ^ r)).collect();
        let held_out = [0, n / 2];
        for weights in [EnsembleWeights::Uniform, EnsembleWeights::Exponential { eta: 3.0,
        held_out: &held_out }] {
            let ensemble = EnsembleNystrom::new(&k, &experts, weights).unwrap();
            prop_assert!((ensemble.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(ensemble.weights().iter().all(|&mu| mu >= 0.0));
            let l = whole(&ensemble);
            let (scale, left) = (a.norm_l2(), &a - &l);
            prop_assert!(smallest_eigenvalue(left.as_ref()) >= -1e-11 * scale);
            prop_assert!(smallest_eigenvalue(l.as_ref()) >= -1e-12 * scale);
            let errors = experts.iter().map(|j| frobenius_error(&k, &Nystrom::new(&k,
                j).unwrap()).unwrap());
            let mean: f64 = errors.zip(ensemble.weights()).map(|(e, mu)| mu * e).sum();
            prop_assert!(left.norm_l2() <= mean + 1e-11 * scale);
        }
    }
}

/// Centres spread over the data beat landmarks drawn among them when these are few, as Zhang, Tsang
/// & Kwok report.
#[test]
fn k_means_centres_beat_uniform_landmarks() {
    let a = random::standard_normal::<f64>(800, 3, &mut rng(1));
    let x = Points::from_rows(a.as_ref());
    let k = KernelMatrix::new(Gaussian::new(1.5).unwrap(), x).unwrap();
    let (mut k_means, mut random) = (0.0, 0.0);
    for seed in 0..5 {
        let clusters = KMeans::default().run(x, 30, &mut rng(seed)).unwrap();
        let (c, w) = k.against(clusters.centers()).unwrap();
        k_means += frobenius_error(
            &k,
            &Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default()).unwrap(),
        )
        .unwrap();
        random += frobenius_error(&k, &Nystrom::new(&k, &uniform(&k, 30, seed)).unwrap()).unwrap();
    }
    assert!(k_means < 0.5 * random, "{k_means} against {random}");
}

/// One expert with weight 1 is the Nyström approximation; the ridge weights minimise their
/// objective.
#[test]
fn weights_are_what_they_say() {
    let a = psd(Kind::Rough, 60, 3);
    let k = Dense::new(a.as_ref()).unwrap();
    let experts: Vec<Landmarks> = (0..3).map(|r| uniform(&k, 6, r)).collect();
    let single = EnsembleNystrom::new(&k, &experts[..1], EnsembleWeights::Uniform).unwrap();
    assert!((whole(&single) - whole(&Nystrom::new(&k, &experts[0]).unwrap())).norm_max() < 1e-13);

    let held_out: Vec<usize> = (5..25).collect();
    let parts: Vec<Mat<f64>> =
        experts.iter().map(|j| whole(&Nystrom::new(&k, j).unwrap())).collect();
    let columns = a.subcols(5, 20);
    let error = |mu: &[f64]| {
        let sum = parts
            .iter()
            .zip(mu)
            .fold(Mat::<f64>::zeros(60, 20), |sum, (l, &mu)| sum + l.subcols(5, 20) * mu);
        (sum - columns).squared_norm_l2() / columns.squared_norm_l2()
    };
    let exponential = EnsembleWeights::Exponential { eta: 4.0, held_out: &held_out };
    let mu = EnsembleNystrom::new(&k, &experts, exponential).unwrap().weights().to_vec();
    let alone: Vec<f64> =
        (0..3).map(|r| error(&[0, 1, 2].map(|s| if s == r { 1.0 } else { 0.0 })).sqrt()).collect();
    for r in 1..3 {
        assert!(((mu[r] / mu[0]).ln() + 4.0 * (alone[r] - alone[0])).abs() < 1e-10);
    }
    let lambda = 1e-3;
    let ridge =
        EnsembleNystrom::new(&k, &experts, EnsembleWeights::Ridge { lambda, held_out: &held_out })
            .unwrap();
    let objective = |mu: &[f64]| error(mu) + lambda * mu.iter().map(|mu| mu * mu).sum::<f64>();
    let least = objective(ridge.weights());
    for r in 0..3 {
        for step in [-1e-3, 1e-3] {
            let mut mu = ridge.weights().to_vec();
            mu[r] += step;
            assert!(objective(&mu) > least);
        }
    }
    assert!(error(ridge.weights()) < error(&[1.0 / 3.0; 3]));
}

/// Where the least-squares weights would be negative: none is, the ensemble is psd, and no other
/// weights that are not negative do better.
#[test]
fn ridge_weights_are_not_negative() {
    let mut bound = 0; // cases in which a weight is held at 0
    for seed in 0..40 {
        let a = psd(Kind::Gaussian, 40, seed);
        let k = Dense::new(a.as_ref()).unwrap();
        let experts: Vec<Landmarks> =
            (0..5).map(|r| uniform(&k, 3 + 3 * r, 7 * seed + r as u64)).collect();
        let held_out: Vec<usize> = (0..40).collect();
        let lambda = 1e-9;
        let ensemble = EnsembleNystrom::new(
            &k,
            &experts,
            EnsembleWeights::Ridge { lambda, held_out: &held_out },
        )
        .unwrap();
        let mu = ensemble.weights();
        assert!(mu.iter().all(|mu| *mu >= 0.0), "{mu:?}");
        bound += usize::from(mu.contains(&0.0));
        assert!(smallest_eigenvalue(whole(&ensemble).as_ref()) > -1e-12 * a.norm_l2());
        let parts: Vec<Mat<f64>> =
            experts.iter().map(|j| whole(&Nystrom::new(&k, j).unwrap())).collect();
        let objective = |mu: &[f64]| {
            let sum =
                parts.iter().zip(mu).fold(Mat::<f64>::zeros(40, 40), |sum, (l, &mu)| sum + l * mu);
            (sum - &a).squared_norm_l2() / a.squared_norm_l2()
                + lambda * mu.iter().map(|mu| mu * mu).sum::<f64>()
        };
        let least = objective(mu);
        for r in 0..5 {
            for step in [-1e-4_f64, 1e-4] {
                let mut other = mu.to_vec();
                other[r] = (other[r] + step).max(0.0);
                assert!(objective(&other) >= least - 1e-13, "seed {seed}, weight {r} by {step}");
            }
        }
    }
    assert!(bound > 5, "{bound} of 40 cases say something");
}

/// As a psd matrix an ensemble is consistent: blocks, diagonal, products and the sum of its
/// experts.
#[test]
fn an_ensemble_is_the_weighted_sum() {
    let a = psd(Kind::Gaussian, 50, 3);
    let k = Dense::new(a.as_ref()).unwrap();
    let experts: Vec<Landmarks> = (0..3).map(|r| uniform(&k, 4 + r, r as u64)).collect();
    let weights = EnsembleWeights::Ridge { lambda: 1e-4, held_out: &[1, 9, 30] };
    let ensemble = EnsembleNystrom::new(&k, &experts, weights).unwrap();
    let parts = experts.iter().map(|j| whole(&Nystrom::new(&k, j).unwrap()));
    let sum =
        parts.zip(ensemble.weights()).fold(Mat::<f64>::zeros(50, 50), |sum, (l, &mu)| sum + l * mu);
    let all = whole(&ensemble);
    assert!((&all - &sum).norm_max() < 1e-13 && all == all.transpose());
    assert!(ensemble.diag().iter().enumerate().all(|(i, &d)| d == all[(i, i)]));
    let corner: Mat<f64> = ensemble.block((&[3, 40, 7]).into(), (10..30).into());
    assert!((corner - Mat::from_fn(3, 20, |s, t| sum[([3, 40, 7][s], 10 + t)])).norm_max() < 1e-13);
    let (x, mut y) = (Mat::from_fn(50, 2, |i, j| (i * (j + 1)) as f64 / 50.0), Mat::zeros(50, 2));
    ensemble.mul_into(y.as_mut(), x.as_ref());
    assert!((y - sum * x).norm_max() < 1e-11);
}

#[test]
fn entries_and_threads() {
    let (n, m) = (600, 20);
    let a = psd(Kind::Rough, n, 1);
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let landmarks = uniform(&k, m, 0);
    k.reset();
    ModifiedNystrom::new(&k, &landmarks).unwrap();
    assert!(k.entries() as usize <= n * m + m * m + n * n);
    k.reset();
    let experts = [landmarks.clone(), uniform(&k, m, 1)];
    let weights = EnsembleWeights::Exponential { eta: 1.0, held_out: &[3, 8, 70] };
    EnsembleNystrom::new(&k, &experts, weights).unwrap();
    assert_eq!(k.entries() as usize, 2 * (n * m + m * m) + 3 * n);
    same_at_any_thread_count(|| {
        let ensemble = EnsembleNystrom::new(&k, &experts, weights).unwrap();
        (
            ModifiedNystrom::new(&k, &landmarks).unwrap().factor().to_owned(),
            ensemble.weights().to_vec(),
            whole(&ensemble),
        )
    });
}

/// Where nothing is lost nothing may be lost: all columns, or a rank below m.
#[test]
fn limits_and_bad_input() {
    let a = psd(Kind::LowRank, 30, 1);
    let k = Dense::new(a.as_ref()).unwrap();
    for m in [5, 30] {
        let modified = ModifiedNystrom::new(&k, &uniform(&k, m, 1)).unwrap();
        assert!(
            modified.factor().ncols() == 3
                && ErrorNorms::exact(&k, &modified).unwrap().spectral < 1e-11
        );
    }
    let one = [uniform(&k, 3, 1)];
    let refused = |weights| EnsembleNystrom::new(&k, &one, weights).unwrap_err();
    assert!(matches!(
        EnsembleNystrom::new(&k, &[], EnsembleWeights::Uniform),
        Err(Error::Empty { .. })
    ));
    let held_out = [1];
    for eta in [-1.0, f64::NAN, f64::INFINITY] {
        let error = refused(EnsembleWeights::Exponential { eta, held_out: &held_out });
        assert!(matches!(error, Error::InvalidParameter { name: "eta", .. }));
    }
    assert!(matches!(
        refused(EnsembleWeights::Ridge { lambda: 0.0, held_out: &held_out }),
        Error::InvalidParameter { .. }
    ));
    assert!(matches!(
        refused(EnsembleWeights::Ridge { lambda: 1.0, held_out: &[] }),
        Error::Empty { .. }
    ));
    let error = refused(EnsembleWeights::Exponential { eta: 1.0, held_out: &[30] });
    assert!(matches!(error, Error::IndexOutOfRange { index: 30, n: 30, .. }));
    let nan = Broken { n: 5, bad: vec![(3, 1, f64::NAN)] };
    let two = Landmarks::new(5, vec![0, 2]).unwrap();
    assert!(matches!(ModifiedNystrom::new(&nan, &two), Err(Error::NonFinite { .. })));
    let weights = EnsembleWeights::Exponential { eta: 1.0, held_out: &[1] };
    let error = EnsembleNystrom::new(&nan, &[two], weights).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 3, col: 1, .. }), "{error:?}");
    let (c, w) = (Mat::<f64>::identity(4, 2), Mat::<f64>::identity(3, 3));
    let blocks = |c: &Mat<f64>, w: &Mat<f64>| {
        Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default()).err()
    };
    assert!(matches!(blocks(&c, &w), Some(Error::Shape { .. })));
    assert!(matches!(blocks(&Mat::zeros(0, 3), &w), Some(Error::Empty { .. })));
    let bad = Mat::from_fn(4, 3, |i, _| if i == 2 { f64::NAN } else { 1.0 });
    assert!(matches!(blocks(&bad, &w), Some(Error::NonFinite { row: 2, col: 0, .. })));
}

#[test]
fn every_approximation_is_a_psd_matrix() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let a = psd(kind, 24, 4);
        let k = Dense::new(a.as_ref()).unwrap();
        let landmarks = uniform(&k, 6, 1);
        check_psd_matrix(&Nystrom::new(&k, &landmarks).unwrap());
        check_psd_matrix(&ModifiedNystrom::new(&k, &landmarks).unwrap());
        let experts = [landmarks, uniform(&k, 6, 2)];
        check_psd_matrix(&EnsembleNystrom::new(&k, &experts, EnsembleWeights::Uniform).unwrap());
        check_psd_matrix(&rp_cholesky(&k, 6, &mut rng(2)).unwrap());
    }
}
