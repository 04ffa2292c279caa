//! Recursive-RLS: the spectral guarantees, unbiased weights, exact limits, kernel entries, and what
//! is refused.

use crate::common::samples::*;
use crate::common::*;
use faer::Mat;
use nystrom_leverage::{
    Draw, Inclusion, LandmarkSelector, Landmarks, RecursiveNystrom, RecursiveRls,
    RecursiveRlsOfSize, RidgeLeverage, UnitWeights, exact_scores,
};
use nystrom_linalg_core::{Cholesky, Counted, Dense, Error, Ridge};
use nystrom_sketch::Nystrom;

/// Theorem of Algorithm 2 with its own constants, δ = 0.03: K ⪯ K̃ + μI and the factor-½ guarantee
/// fail in at most 3δ of the runs. Of 12 runs, 0.09·12 + 5·√(12·0.09·0.91) = 6 may fail; at p =
/// 0.09 more do so with probability below 3e-5.
#[test]
fn the_theorem_at_its_own_constants() {
    let (n, mu, repeats) = (1000, 400.0, 12);
    let k = psd(Kind::Rough, n, 1);
    let (phi, dense) = (features(k.as_ref()), Dense::new(k.as_ref()).unwrap());
    let mut rng = rng(2);
    let (mut failures, mut kept) = (0, 0);
    for _ in 0..repeats {
        let sample =
            RecursiveRls::theorem(0.03).sample(&dense, Ridge::Absolute(mu), &mut rng).unwrap();
        let nystrom = Nystrom::new(&dense, &sample.dictionary.landmarks().unwrap()).unwrap();
        let f = nystrom.factor();
        // K̃ + μI − K
        let rest =
            Mat::from_fn(n, n, |i, j| if i == j { mu } else { 0.0 }) - &k + f * f.transpose();
        let both =
            Cholesky::new(rest.as_ref()).is_ok() && is_accurate(&phi, &sample.dictionary, mu, 0.5);
        failures += usize::from(!both);
        kept += sample.dictionary.len();
    }
    assert!(failures <= 6, "{failures} of {repeats} failed");
    assert!(kept < repeats * n * 3 / 4, "nothing was left out, so nothing was tested: {kept}");
}

/// With p_i ≥ q·τ̂_i and the sample of the half accurate to ½, τ̂_i ≥ τ_i/(3/2): at every level
/// matrix Bernstein holds with 2q/3.
#[test]
fn the_practical_form_holds_to_the_bernstein_bound() {
    let (n, mu, q, repeats) = (800, 150.0, 140.0, 12);
    let k = ornstein_uhlenbeck(n);
    let (phi, dense, sigma) =
        (features(k.as_ref()), Dense::new(k.as_ref()).unwrap(), eigenvalues(k.as_ref()));
    let rls = RecursiveRls::with_oversampling(q);
    let mut rng = rng(4);
    let samples: Vec<_> =
        (0..repeats).map(|_| rls.sample(&dense, Ridge::Absolute(mu), &mut rng).unwrap()).collect();
    let levels = samples[0].levels.len() as f64;
    // d_eff and σ_1 of a prefix are at most those of K; 1 + μ/σ_1 of the halves at most 2⁴ times
    // that of K.
    let bound = levels * 16.0 * bernstein(d_eff(&sigma, mu), mu, sigma[0], q / 1.5, 0.5);
    assert!(bound < 1.0, "the bound says nothing: {bound}");
    let failures = samples.iter().filter(|s| !is_accurate(&phi, &s.dictionary, mu, 0.5)).count();
    let allowed = repeats as f64 * bound + 5.0 * (repeats as f64 * bound).sqrt();
    assert!(failures as f64 <= allowed, "{failures} of {repeats} failed, {allowed} allowed");
    let most = samples.iter().map(|s| s.dictionary.len()).max().unwrap();
    assert!(most < n * 9 / 10, "nothing was left out: {most}");
    // Over-estimates: scores against half of the rows are not below the exact ones by more than the
    // factor 3/2.
    let exact = exact_scores(&dense, Ridge::Absolute(mu)).unwrap().scores;
    let low = |s: &&nystrom_leverage::RecursiveSample<f64>| {
        s.over_estimates.iter().zip(&exact).any(|(a, b)| *a < b / 1.5)
    };
    assert!(samples.iter().filter(low).count() as f64 <= allowed);
}

#[test]
fn the_bound_can_fail() {
    let k = psd(Kind::Rough, 300, 3);
    let phi = features(k.as_ref());
    let dense = Dense::new(k.as_ref()).unwrap();
    let starved = RecursiveRls::with_oversampling(0.3);
    let mut rng = rng(4);
    let bad = (0..10).filter(|_| {
        let sample = starved.sample(&dense, Ridge::Absolute(10.0), &mut rng).unwrap();
        !is_accurate(&phi, &sample.dictionary, 10.0, 0.5)
    });
    assert!(bad.count() >= 8);
}

#[test]
fn weights_are_unbiased() {
    let k = psd(Kind::LowRank, 40, 5);
    let dense = Dense::new(k.as_ref()).unwrap();
    let mut rng = rng(6);
    let inclusion = Inclusion::Practice { oversampling: 20.0, base: 10 };
    let rls = RecursiveRls { inclusion, ..RecursiveRls::default() };
    assert_unbiased(40, 20_000, 0.08, || {
        rls.sample(&dense, Ridge::Absolute(8.0), &mut rng).unwrap().dictionary
    });
    let sized = RecursiveRlsOfSize { size: 15, accelerated: false };
    let rough = psd(Kind::Rough, 40, 7);
    let rough = Dense::new(rough.as_ref()).unwrap();
    assert_unbiased(40, 10_000, 0.08, || {
        sized.dictionary(&rough, Ridge::Absolute(1.0), &mut rng).unwrap()
    });
}

#[test]
fn everything_kept_is_exact() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let k = psd(kind, 150, 8);
        let k = Dense::new(k.as_ref()).unwrap();
        let ridge = Ridge::Absolute(0.5);
        let exact = exact_scores(&k, ridge).unwrap().scores;
        let rls = RecursiveRls::with_oversampling(1e12);
        let sample = rls.sample(&k, ridge, &mut rng(9)).unwrap();
        assert!(
            sample.dictionary.len() == 150 && sample.dictionary.weights().iter().all(|w| *w == 1.0)
        );
        assert_close(&rls.scores(&k, ridge, &mut rng(9)).unwrap(), &exact, 1e-9);
        let full = RecursiveRlsOfSize { size: 150, accelerated: true };
        assert_close(&full.scores(&k, ridge, &mut rng(9)).unwrap(), &exact, 1e-9);
        // Within the base nothing is sampled, and the over-estimates are the scores.
        let inclusion = Inclusion::Practice { oversampling: 0.1, base: 150 };
        let whole = RecursiveRls { inclusion, ..rls }.sample(&k, ridge, &mut rng(9)).unwrap();
        assert_close(&whole.over_estimates, &exact, 1e-9);
    }
}

/// Entries: at each level (rows + size of the sample below)·(size of the sample below); and n·m +
/// m² for scores.
#[test]
fn entries_are_those_of_the_claim() {
    let n = 1500;
    let k = psd(Kind::Gaussian, n, 10);
    let k = Counted::new(Dense::new(k.as_ref()).unwrap());
    let ridge = Ridge::Absolute(1.0);
    let sample = RecursiveRls::default().sample(&k, ridge, &mut rng(11)).unwrap();
    let levels = &sample.levels;
    assert_eq!(levels.iter().map(|l| l.rows).collect::<Vec<_>>(), [47, 94, 188, 375, 750, 1500]);
    let below = levels.iter().zip(&levels[1..]).map(|(s, l)| ((l.rows + s.kept) * s.kept) as u64);
    let recursion: u64 = below.sum();
    assert_eq!(k.entries(), recursion);
    let (m, largest) =
        (sample.dictionary.len() as u64, levels.iter().map(|l| l.kept).max().unwrap() as u64);
    assert!(recursion <= 2 * (n as u64 + 6) * largest + levels.len() as u64 * largest * largest);
    k.reset();
    RecursiveRls::default().scores(&k, ridge, &mut rng(11)).unwrap();
    assert_eq!(k.entries(), recursion + n as u64 * m + m * m);
    for (s, accelerated) in [(50, false), (200, true)] {
        k.reset();
        let sample = RecursiveNystrom { accelerated }.sample(&k, s, &mut rng(12)).unwrap();
        let rows = sample.levels[1..].iter().map(|l| l.rows).chain([n]);
        let each = sample
            .levels
            .iter()
            .zip(rows)
            .map(|(below, rows)| ((rows + 2 * below.kept) * below.kept) as u64);
        // the sample's block twice: for the ridge and for the scores
        assert_eq!(k.entries(), each.sum::<u64>());
        let inner = if accelerated { 43 } else { s }; // ⌈√((1500·200 + 200³)/6000)⌉ = 38 and some
        assert!(sample.levels[0].kept <= inner && sample.landmarks.len() == s);
    }
}

/// A cluster of 1990 rows and one of 10, far apart: 20 uniform landmarks miss the small one with
/// probability 0.9.
#[test]
fn the_small_cluster_is_found() {
    let n = 2000;
    let small = |i: usize| i >= 1990;
    let k = Mat::from_fn(n, n, |i, j| match (small(i), small(j)) {
        (false, false) => (-((i as f64 - j as f64) / 20000.0).powi(2)).exp(),
        (true, true) => (-((i as f64 - j as f64) / 20.0).powi(2)).exp(),
        _ => 0.0,
    });
    let k = Dense::new(k.as_ref()).unwrap();
    let (mut rng, mut missed) = (rng(13), 0);
    for _ in 0..20 {
        let hit = |l: &[usize]| l.iter().any(|&i| small(i));
        let rls = RecursiveRls::default().dictionary(&k, Ridge::Absolute(0.5), &mut rng).unwrap();
        let sized = RecursiveNystrom::default().select(&k, 20, &mut rng).unwrap();
        assert!(hit(rls.indices()) && hit(sized.indices()));
        missed += usize::from(!hit(Landmarks::uniform(n, 20, Draw::WithoutReplacement, &mut rng)
            .unwrap()
            .indices()));
    }
    assert!(missed >= 10, "{missed}");
}

#[test]
fn the_error_falls_with_the_size() {
    let k = psd(Kind::Rough, 800, 14);
    let k = Dense::new(k.as_ref()).unwrap();
    let error = |s: usize| {
        let landmarks = RecursiveNystrom::default().sample(&k, s, &mut rng(15)).unwrap().landmarks;
        Nystrom::new(&k, &landmarks).unwrap().trace_error(&k).unwrap()
    };
    let errors = [20, 60, 180, 540, 800].map(error);
    assert!(errors.windows(2).all(|e| e[1] < e[0]) && errors[4] < 1e-6, "{errors:?}");
}

#[test]
fn unit_weights_over_estimate() {
    let k = psd(Kind::Rough, 300, 16);
    let (k, ridge) = (Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(2.0));
    let exact = exact_scores(&k, ridge).unwrap().scores;
    let small = RecursiveRlsOfSize { size: 20, accelerated: false };
    let unit = UnitWeights(small).scores(&k, ridge, &mut rng(17)).unwrap();
    assert!(unit.iter().zip(&exact).all(|(a, b)| *a >= b - 1e-12));
    assert_eq!(
        UnitWeights(small).dictionary(&k, ridge, &mut rng(17)).unwrap(),
        small.dictionary(&k, ridge, &mut rng(17)).unwrap()
    );
    // Fewer rows than d_eff: proportions by unit weights are nearer to the truth.
    assert!(exact.iter().sum::<f64>() > 40.0);
    let weighted = small.scores(&k, ridge, &mut rng(17)).unwrap();
    let spread = |scores: &[f64]| {
        let mut r: Vec<f64> = scores.iter().zip(&exact).map(|(a, b)| a / b).collect();
        r.sort_by(f64::total_cmp);
        r[285] / r[15]
    };
    assert!(spread(&unit) < spread(&weighted), "{} {}", spread(&unit), spread(&weighted));
}

#[test]
fn threads_do_not_change_bits() {
    let k = psd(Kind::Gaussian, 2300, 18);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(0.3);
    same_at_any_thread_count(|| RecursiveRls::default().scores(&k, ridge, &mut rng(19)).unwrap());
    same_at_any_thread_count(|| {
        RecursiveNystrom { accelerated: true }.sample(&k, 120, &mut rng(20)).unwrap()
    });
}

#[test]
fn single_precision() {
    let k = psd(Kind::Rough, 600, 21);
    let k32 = Mat::from_fn(600, 600, |i, j| k[(i, j)] as f32);
    let (k, k32) = (Dense::new(k.as_ref()).unwrap(), Dense::new(k32.as_ref()).unwrap());
    let wide = RecursiveRls::default().scores(&k, Ridge::Absolute(5.0), &mut rng(22)).unwrap();
    let narrow =
        RecursiveRls::default().scores(&k32, Ridge::Absolute(5.0_f32), &mut rng(22)).unwrap();
    // The same random numbers: the dictionaries agree but for a coin that falls within rounding of
    // its probability.
    let off = wide.iter().zip(&narrow).filter(|(a, b)| (*a - f64::from(**b)).abs() > 1e-4).count();
    assert!(off < 300, "{off}");
    assert_eq!(
        RecursiveNystrom::default().sample(&k32, 50, &mut rng(23)).unwrap().landmarks.len(),
        50
    );
}

#[test]
fn small_and_degenerate_matrices() {
    let mut rng = rng(24);
    let k1 = faer::mat![[4.0_f64]];
    let k1 = Dense::new(k1.as_ref()).unwrap();
    assert_eq!(RecursiveRls::default().scores(&k1, Ridge::Absolute(1.0), &mut rng).unwrap(), [0.8]);
    assert_eq!(
        RecursiveNystrom::default().sample(&k1, 1, &mut rng).unwrap().landmarks.indices(),
        [0]
    );
    // All points equal: l_i = 1/(n + μ).
    let equal = Mat::<f64>::full(500, 500, 1.0);
    let equal = Dense::new(equal.as_ref()).unwrap();
    let scores = RecursiveRls::with_oversampling(50.0)
        .scores(&equal, Ridge::Absolute(5.0), &mut rng)
        .unwrap();
    let sum: f64 = scores.iter().sum();
    assert!((sum - 500.0 / 505.0).abs() < 0.5, "{sum}");
    for s in [1, 2, 3, 30, 499] {
        let sample =
            RecursiveNystrom { accelerated: s % 2 == 0 }.sample(&equal, s, &mut rng).unwrap();
        assert_eq!(sample.landmarks.len(), s);
    }
    // Rows of zeros: score 0, never in a dictionary of scores; landmarks only when nothing else is
    // left.
    let zeros: Vec<usize> = (0..50).collect();
    let k = without_rows(psd(Kind::Rough, 200, 25), &zeros);
    let k = Dense::new(k.as_ref()).unwrap();
    let scores = RecursiveRls::default().scores(&k, Ridge::Absolute(1.0), &mut rng).unwrap();
    assert!(scores[..50].iter().all(|l| *l == 0.0) && scores[50..].iter().all(|l| *l > 0.0));
    assert!(
        RecursiveNystrom::default()
            .sample(&k, 30, &mut rng)
            .unwrap()
            .landmarks
            .indices()
            .iter()
            .all(|i| *i >= 50)
    );
    assert_eq!(RecursiveNystrom::default().sample(&k, 170, &mut rng).unwrap().landmarks.len(), 170);
    let nothing = Mat::<f64>::zeros(100, 100);
    let nothing = Dense::new(nothing.as_ref()).unwrap();
    assert_eq!(
        RecursiveRls::default().scores(&nothing, Ridge::Absolute(1.0), &mut rng).unwrap(),
        vec![0.0; 100]
    );
    assert_eq!(
        RecursiveNystrom::default().sample(&nothing, 7, &mut rng).unwrap().landmarks.len(),
        7
    );
}

#[test]
fn extreme_ridges() {
    let k = psd(Kind::Rough, 300, 26);
    let k = Dense::new(k.as_ref()).unwrap();
    let mut rng = rng(27);
    let tiny = RecursiveRls::default().sample(&k, Ridge::Absolute(1e-12), &mut rng).unwrap();
    assert_eq!(tiny.dictionary.len(), 300); // all scores are 1
    // So large that nothing is kept: scores are still right, a dictionary is refused.
    let huge = Ridge::Absolute(1e9);
    let scores = RecursiveRls::default().scores(&k, huge, &mut rng).unwrap();
    assert_close(&scores, &exact_scores(&k, huge).unwrap().scores, 1e-12);
    let error = RecursiveRls::default().dictionary(&k, huge, &mut rng).unwrap_err();
    assert!(
        matches!(error, Error::EmptySample { ridge: 1e9, expected } if expected < 1e-5),
        "{error}"
    );
    // A cap is found before the rows are drawn.
    let capped = RecursiveRls { max_size: 100, ..RecursiveRls::default() };
    let error = capped.dictionary(&k, Ridge::Absolute(1e-12), &mut rng).unwrap_err();
    assert!(matches!(error, Error::SampleTooLarge { size, cap: 100, .. } if size > 100), "{error}");
}

#[test]
fn bad_input_is_refused() {
    let k = psd(Kind::Gaussian, 20, 28);
    let k = Dense::new(k.as_ref()).unwrap();
    let none = Broken { n: 0, bad: vec![] };
    let (ridge, mut rng) = (Ridge::Absolute(1.0), rng(29));
    let rls = RecursiveRls::default();
    assert!(matches!(rls.sample(&none, ridge, &mut rng), Err(Error::Empty { .. })));
    assert!(matches!(
        RecursiveNystrom::default().sample(&none, 1, &mut rng),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        RecursiveNystrom::default().sample(&k, 0, &mut rng),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        RecursiveNystrom::default().sample(&k, 21, &mut rng),
        Err(Error::TooMany { .. })
    ));
    for q in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = RecursiveRls::with_oversampling(q).sample(&k, ridge, &mut rng).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "oversampling", .. }));
    }
    for delta in [0.0, -0.1, 0.04, 1.0, f64::NAN] {
        assert!(RecursiveRls::theorem(delta).sample(&k, ridge, &mut rng).is_err());
    }
    for mu in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(rls.sample(&k, Ridge::Absolute(mu), &mut rng).is_err());
    }
    let inclusion = Inclusion::Practice { oversampling: 1.0, base: 0 };
    assert!(RecursiveRls { inclusion, ..rls }.sample(&k, ridge, &mut rng).is_err());
    let broken = Broken { n: 100, bad: vec![(3, 77, f64::NAN)] };
    let seen = RecursiveRls::with_oversampling(100.0).scores(&broken, ridge, &mut rng).unwrap_err();
    assert!(matches!(seen, Error::NonFinite { .. }));
}
