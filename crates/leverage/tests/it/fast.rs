//! Alaoui & Mahoney's fast scores: the deterministic bracket, Theorems 3 and 4 at their own sample
//! sizes, cost, bits, bad input.
#![allow(non_snake_case, clippy::excessive_precision)] // reference values as printed

use crate::common::*;
use faer::Mat;
use nystrom_leverage::{AlaouiMahoney, FastScores, RidgeLeverage, exact_scores, fast_scores};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Ridge};
use nystrom_sketch::{Dictionary, Draw, Landmarks, Nystrom, risk_sample_size};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// l_i − ‖K − L‖₂/(nλ) ≤ l̃_i ≤ l_i for any landmarks (resolvent identity; L ⪯ K).
    #[test]
    fn deterministic_bracket((k, seed) in any_psd(), m in 1..20_usize, log_mu in -3.0..2.0_f64) {
        let mu = 10f64.powf(log_mu);
        let K = Dense::new(k.as_ref()).unwrap();
        let landmarks = Landmarks::uniform(k.nrows(), m, Draw::WithReplacement,
            &mut rng(seed)).unwrap();
        let fast = fast_scores(&K, &landmarks, Ridge::Absolute(mu)).unwrap();
        let exact = exact_scores(&K, Ridge::Absolute(mu)).unwrap();
        let gap = largest_eigenvalue((&k - whole(&Nystrom::new(&K, &landmarks).unwrap())).as_ref());
        // the tolerance of L ⪯ K over μ
        let slack = 1e-8 * (1.0 + largest_eigenvalue(k.as_ref()) / mu);
        for (fast, exact) in fast.scores.iter().zip(&exact.scores) {
            prop_assert!(*fast <= exact + slack && *fast >= exact - gap / mu - slack,
                "{fast} for {exact}, gap {}", gap / mu);
        }
        prop_assert!(fast.d_eff() <= exact.d_eff() + slack * k.nrows() as f64);
    }

    /// l̃_i = [L(L + μI)⁻¹]_ii is what the exact formula gives for L.
    #[test]
    fn fast_scores_are_the_exact_scores_of_the_approximation((k, seed) in any_psd(),
        m in 1..20_usize, log_mu in -3.0..2.0_f64) {
        let ridge = Ridge::Absolute(10f64.powf(log_mu));
        let K = Dense::new(k.as_ref()).unwrap();
        let landmarks = Landmarks::uniform(k.nrows(), m, Draw::WithReplacement,
            &mut rng(seed)).unwrap();
        let L = Nystrom::new(&K, &landmarks).unwrap();
        let slack = 1e-12 * (1.0 + largest_eigenvalue(k.as_ref()) / 10f64.powf(log_mu));
        let expected = exact_scores(&L, ridge).unwrap().scores;
        for (a, b) in fast_scores(&K, &landmarks, ridge).unwrap().scores.iter().zip(expected) {
            prop_assert!((a - b).abs() < slack, "{a} against {b}");
        }
    }

    #[test]
    fn every_row_a_landmark_gives_the_exact_scores((k, _) in any_psd(), log_mu in -3.0..2.0_f64) {
        let mu = 10f64.powf(log_mu);
        let K = Dense::new(k.as_ref()).unwrap();
        let fast = fast_scores(&K, &Landmarks::all(k.nrows()).unwrap(),
            Ridge::Absolute(mu)).unwrap();
        let exact = exact_scores(&K, Ridge::Absolute(mu)).unwrap();
        let slack = (fast.jitter + 1e-13 * largest_eigenvalue(k.as_ref())) / mu + 1e-13;
        prop_assert!(fast.scores.iter().zip(&exact.scores).all(|(a, b)| (a - b).abs() <= slack));
    }
}

/// Values from 50-digit arithmetic (mpmath, explicit inverses) for landmarks 0, 3, 4 of six points,
/// λ = 1e-2.
#[test]
fn agrees_with_high_precision() {
    let x: [f64; 6] = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0];
    let k = Mat::from_fn(6, 6, |i, j| (-(x[i] - x[j]).powi(2) / 0.18).exp());
    let landmarks = Landmarks::new(6, vec![0, 3, 4]).unwrap();
    let fast =
        fast_scores(&Dense::new(k.as_ref()).unwrap(), &landmarks, Ridge::PerSample(1e-2)).unwrap();
    let expected = [
        0.59979742942771635,
        0.37242946844445111,
        0.41442101539016346,
        0.49352438254090871,
        0.55797247914732264,
        0.42503334492474007,
    ];
    assert!(
        fast.scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13),
        "{:?}",
        fast.scores
    );
}

/// One heavy row of norm² 100, nearly orthogonal to 999 light ones of norm² 0.005.
///
/// Theorem 4's additive bound says something at p < n only if the diagonal is unequal: for a
/// constant diagonal, l_i > 2ε needs p ≥ 16n/(1 − 2ε) ln(n/ρ) columns. Here tr K/n = 0.105, p = 749
/// < n and the heavy score 0.769 exceeds 2ε = 0.7.
fn heavy_and_light() -> (Mat<f64>, Ridge<f64>, f64, f64) {
    let light = psd(Kind::Gaussian, 1000, 8);
    let k = Mat::from_fn(1000, 1000, |i, j| {
        let scale = |i: usize| if i == 0 { 10.0 } else { 0.005_f64.sqrt() };
        let cosine = if (i == 0) != (j == 0) { 0.01 * light[(i.max(j), 1)] } else { light[(i, j)] };
        if i == j { scale(i).powi(2) } else { scale(i) * scale(j) * cosine }
    });
    (k, Ridge::Absolute(30.0), 0.35, 0.1)
}

#[test]
fn theorem_4_at_its_own_sample_size() {
    let (k, ridge, epsilon, rho) = heavy_and_light();
    let K = Dense::new(k.as_ref()).unwrap();
    let am = AlaouiMahoney::for_accuracy(1000, K.trace(), ridge, epsilon, rho).unwrap();
    assert!(am.columns < 1000, "p = {}", am.columns);
    let exact = exact_scores(&K, ridge).unwrap().scores;
    assert!(exact[0] > 2.0 * epsilon, "the bound must bind: {}", exact[0]);
    let (repeats, mut rng) = (100, rng(1));
    let mut failures = 0;
    for _ in 0..repeats {
        let fast: Vec<f64> = am.scores(&K, ridge, &mut rng).unwrap();
        let holds =
            |(fast, exact): (&f64, &f64)| *fast >= exact - 2.0 * epsilon && *fast <= exact + 1e-9;
        failures += !fast.iter().zip(&exact).all(holds) as usize;
    }
    // Binomial(100, 0.1) exceeds 10 + 5·3 = 25 with probability 5e-6
    assert!(failures <= 25, "{failures} of {repeats} failed");
}

/// l̃_i ≥ (σ_n − nλε)/(σ_n + nλε) l_i says something only if nλε < σ_n ≤ tr K/n, hence p > 8n
/// ln(n/ρ): more draws than rows, of which a few per million are missed. Checked where it is 2/3.
#[test]
fn theorem_4_multiplicative_at_its_own_sample_size() {
    let (n, epsilon, rho) = (40, 0.25, 0.1);
    let base = psd(Kind::Gaussian, n, 4);
    let k = Mat::from_fn(n, n, |i, j| base[(i, j)] + if i == j { 1.0 } else { 0.0 });
    let K = Dense::new(k.as_ref()).unwrap();
    let sigma_n = smallest_eigenvalue(k.as_ref());
    let ridge = Ridge::Absolute(0.2 * sigma_n / epsilon); // nλε = σ_n/5
    let am = AlaouiMahoney::for_accuracy(n, K.trace(), ridge, epsilon, rho).unwrap();
    let exact = exact_scores(&K, ridge).unwrap().scores;
    let (repeats, mut rng) = (100, rng(1));
    let mut failures = 0;
    for _ in 0..repeats {
        let fast: Vec<f64> = am.scores(&K, ridge, &mut rng).unwrap();
        let holds =
            |(fast, exact): (&f64, &f64)| *fast >= 0.8 / 1.2 * exact && *fast <= exact + 1e-9;
        failures += !fast.iter().zip(&exact).all(holds) as usize;
    }
    assert!(failures <= 25, "{failures} of {repeats} failed");
}

/// The step of Theorem 3 that its sample size is made for: with p columns drawn by l_i(λε), t ≤ ½
/// in Theorem 1 and so K − L_{λε} ⪯ 2nλε I, except with probability ρ.
#[test]
fn alaoui_mahoney_spectral_bound_behind_theorem_3() {
    let (n, rho) = (800, 0.1);
    let k = psd(Kind::Gaussian, n, 12);
    let K = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(60.0); // nλε
    let exact = exact_scores(&K, ridge).unwrap();
    let p = risk_sample_size(n, exact.d_eff(), 1.0, rho).unwrap();
    assert!(p < n, "p = {p} at d_eff = {}", exact.d_eff());
    let (repeats, mut rng) = (20, rng(3));
    let failures = (0..repeats).filter(|_| {
        let dictionary = Dictionary::with_replacement(&exact.scores, p, &mut rng).unwrap();
        let l = whole(&Nystrom::regularized(&K, &dictionary, ridge).unwrap());
        largest_eigenvalue((&k - l).as_ref()) > 2.0 * 60.0
    });
    // Binomial(20, 0.1) exceeds 10 with probability 7e-7
    let failures = failures.count();
    assert!(failures <= 10, "{failures} of {repeats} failed");
}

/// Section 3.5 takes any probability vector: with K_ii it is the estimator, to the bit. With others
/// the bracket of all landmarks holds, and rows of probability 0 are not drawn.
#[test]
fn columns_are_drawn_by_any_probability_vector() {
    let (n, ridge) = (120, Ridge::Absolute(0.5));
    let k = psd(Kind::Rough, n, 3);
    let (K, am) = (Dense::new(k.as_ref()).unwrap(), AlaouiMahoney { columns: 40 });
    let by_diagonal = am.scores_by(&K, ridge, &K.diag(), &mut rng(1)).unwrap();
    assert_eq!(by_diagonal, am.scores_and_dictionary(&K, ridge, &mut rng(1)).unwrap());
    let exact = exact_scores(&K, ridge).unwrap().scores;
    let every_third: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.2 } else { 0.0 }).collect();
    for probabilities in [&every_third, &vec![1.0; n], &exact, &by_diagonal.0] {
        let (fast, drawn) = am.scores_by(&K, ridge, probabilities, &mut rng(2)).unwrap();
        assert!(drawn.indices().iter().all(|&i| probabilities[i] > 0.0));
        let L = whole(&Nystrom::new(&K, &drawn.landmarks().unwrap()).unwrap());
        let gap = largest_eigenvalue((&k - L).as_ref()) / 0.5;
        for (fast, exact) in fast.iter().zip(&exact) {
            assert!(*fast <= exact + 1e-9 && *fast >= exact - gap - 1e-9, "{fast}, {exact}, {gap}");
        }
    }
    let refused = |p: &[f64]| am.scores_by(&K, ridge, p, &mut rng(0)).map(|_| ());
    assert!(matches!(refused(&[1.0; 119]), Err(Error::Shape { .. })));
    assert!(matches!(refused(&vec![0.0; n]), Err(Error::InvalidWeight { .. })));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut p = vec![1.0; n];
        p[7] = bad;
        assert!(matches!(refused(&p), Err(Error::InvalidWeight { index: 7, .. })), "{bad}");
    }
}

#[test]
fn entries_through_the_trait() {
    let k = psd(Kind::Gaussian, 90, 1);
    let K = Counted::new(Dense::new(k.as_ref()).unwrap());
    let am = AlaouiMahoney { columns: 20 };
    let m = RidgeLeverage::<f64>::dictionary(&am, &K, Ridge::Absolute(1.0), &mut rng(5))
        .unwrap()
        .len() as u64;
    assert_eq!((K.entries(), K.diagonal_entries()), (0, 90));
    K.reset();
    am.scores(&K, Ridge::Absolute(1.0), &mut rng(5)).unwrap();
    assert_eq!((K.entries(), K.diagonal_entries()), (90 * m + m * m, 2 * 90));
}

#[test]
fn the_same_bits_at_any_thread_count_and_close_in_f32() {
    let n = 2300;
    let x = |i: usize| (i as f64 * 0.618).fract();
    let k = Mat::from_fn(n, n, |i, j| (-(x(i) - x(j)).abs()).exp());
    let k32 = Mat::from_fn(n, n, |i, j| k[(i, j)] as f32);
    let (K, K32) = (Dense::new(k.as_ref()).unwrap(), Dense::new(k32.as_ref()).unwrap());
    let (am, ridge, ridge32) =
        (AlaouiMahoney { columns: 90 }, Ridge::PerSample(1e-3), Ridge::PerSample(1e-3_f32));
    let double: Vec<f64> = same_at_any_thread_count(|| am.scores(&K, ridge, &mut rng(7)).unwrap());
    let single: Vec<f32> =
        same_at_any_thread_count(|| am.scores(&K32, ridge32, &mut rng(7)).unwrap());
    // The larger shift of f32 makes L, and with it every score, smaller; together by at most tr(L −
    // L₃₂)/μ.
    let landmarks =
        RidgeLeverage::<f64>::dictionary(&am, &K, ridge, &mut rng(7)).unwrap().landmarks().unwrap();
    let (L, L32) = (Nystrom::new(&K, &landmarks).unwrap(), Nystrom::new(&K32, &landmarks).unwrap());
    let rounding = 1e-5;
    let differences: Vec<f64> = double.iter().zip(&single).map(|(a, b)| a - *b as f64).collect();
    assert!(differences.iter().all(|d| *d >= -rounding), "{differences:?}");
    let (total, allowed) = (differences.iter().sum::<f64>(), (L.trace() - L32.trace()) / 2.3);
    assert!(
        total <= allowed + rounding * n as f64 && allowed < 0.05 * double.iter().sum::<f64>(),
        "{total}, {allowed}"
    );
}

#[test]
fn duplicate_points_and_tiny_ridges() {
    let k = psd(Kind::Doubled, 60, 2);
    let K = Dense::new(k.as_ref()).unwrap();
    let landmarks = Landmarks::all(60).unwrap(); // W = K has rank 30
    for mu in [1.0, 1e-6, 1e-14, 1e-30] {
        let FastScores { scores, .. } = fast_scores(&K, &landmarks, Ridge::Absolute(mu)).unwrap();
        assert!(scores.iter().all(|l| (0.0..=1.0).contains(l)), "μ = {mu}");
        let twins = scores.chunks(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-6 || mu < 1e-10);
        assert!(twins, "μ = {mu}: {scores:?}");
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let am = AlaouiMahoney { columns: 3 };
    let run = |k: &dyn PsdMatrix<f64>, ridge| am.scores(k, ridge, &mut rng(0));
    let one = Ridge::Absolute(1.0);
    let fine = Broken { n: 5, bad: vec![] };
    for lambda in [0.0, -1.0, f64::NAN] {
        let refused = run(&fine, Ridge::PerSample(lambda));
        assert!(matches!(
            refused,
            Err(Error::InvalidParameter { name: "ridge lambda (PerSample)", .. })
        ));
        assert!(fast_scores(&fine, &Landmarks::all(5).unwrap(), Ridge::Absolute(lambda)).is_err());
    }
    assert!(matches!(
        run(&Broken { n: 0, bad: vec![] }, one),
        Err(Error::Empty { .. } | Error::InvalidParameter { .. })
    ));
    let none = AlaouiMahoney { columns: 0 };
    let refused: Result<Vec<f64>, _> = none.scores(&fine, one, &mut rng(0));
    assert!(matches!(refused, Err(Error::Empty { what: "columns (p)" })));
    let zero = Mat::<f64>::zeros(5, 5);
    let zero = Dense::new(zero.as_ref()).unwrap();
    assert!(matches!(run(&zero, one), Err(Error::InvalidWeight { .. })));
    let pair = Landmarks::new(5, vec![0, 1]).unwrap();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let off = Broken { n: 5, bad: vec![(4, 1, value)] };
        assert!(matches!(
            fast_scores(&off, &pair, one),
            Err(Error::NonFinite { row: 4, col: 1, .. })
        ));
        let on = Broken { n: 5, bad: vec![(3, 3, value)] };
        assert!(matches!(
            fast_scores(&on, &pair, one),
            Err(Error::NonFinite { row: 3, col: 3, .. })
        ));
        assert!(matches!(run(&on, one), Err(Error::InvalidWeight { index: 3, .. })));
    }
    let other = Landmarks::new(4, vec![0, 1]).unwrap();
    assert!(matches!(fast_scores(&fine, &other, one), Err(Error::Shape { .. })));
}

#[test]
fn theorem_4_sample_size() {
    let rule = |n, trace, epsilon, rho| {
        AlaouiMahoney::for_accuracy(n, trace, Ridge::PerSample(0.1_f64), epsilon, rho)
    };
    // 8·(500/(50·0.2) + 1/6)·ln(500/0.05) = 3696.4…
    assert_eq!(rule(500, 500.0, 0.2, 0.05).unwrap().columns, 3697);
    // plausible input, 10¹² columns: n = 10⁵, λ = 1e-7, ε = 0.1
    let many = AlaouiMahoney::for_accuracy(100_000, 1e5, Ridge::PerSample(1e-7_f64), 0.001, 0.1);
    assert!(
        matches!(many, Err(Error::InvalidParameter { name: "epsilon", value: 0.001, .. })),
        "{many:?}"
    );
    for trace in [1e300, f64::MAX] {
        assert!(matches!(
            rule(500, trace, 0.2, 0.1),
            Err(Error::InvalidParameter { name: "epsilon", .. })
        ));
    }
    for epsilon in [0.0, 0.5, -1.0, f64::NAN] {
        assert!(matches!(
            rule(500, 500.0, epsilon, 0.1),
            Err(Error::InvalidParameter { name: "epsilon", .. })
        ));
    }
    for rho in [0.0, 1.0, f64::NAN] {
        assert!(matches!(
            rule(500, 500.0, 0.2, rho),
            Err(Error::InvalidParameter { name: "rho", .. })
        ));
    }
    assert!(matches!(
        rule(500, 0.0, 0.2, 0.1),
        Err(Error::InvalidParameter { name: "trace of K", .. })
    ));
    assert!(matches!(rule(0, 1.0, 0.2, 0.1), Err(Error::Empty { .. })));
}
