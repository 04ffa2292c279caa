//! Exact scores: against eigenvalues, high precision, closed forms, and the inequalities of section
//! 3 of Alaoui & Mahoney (2015).
#![allow(non_snake_case, clippy::excessive_precision)] // reference values as printed

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Bernoulli, KernelMatrix, Points};
use nystrom_leverage::{Exact, ExactRoute, ExactSpectrum, RidgeLeverage, exact_scores};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Ridge, SymmetricEigen};
use proptest::prelude::*;

/// Rounding error allowed in a score: K carries errors of n·ε·σ_1, which the ridge μ divides.
fn tolerance(k: &Mat<f64>, mu: f64) -> f64 {
    4.0 * k.nrows() as f64 * f64::EPSILON * (1.0 + largest_eigenvalue(k.as_ref()) / mu)
}

fn scores(k: &Mat<f64>, mu: f64) -> Vec<f64> {
    exact_scores(&Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(mu)).unwrap().scores
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn range_sum_and_degrees_of_freedom((k, _) in any_psd(), log_mu in -5.0..2.0_f64) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let exact = exact_scores(&Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(mu)).unwrap();
        let slack = tolerance(&k, mu);
        for (i, &l) in exact.scores.iter().enumerate() {
            prop_assert!(0.0 <= l && l <= k[(i, i)] / (k[(i, i)] + mu) && l < 1.0, "l_{i} = {l}");
        }
        // Σ l_i = tr K(K + μI)⁻¹, from the eigenvalues
        let eigen = SymmetricEigen::new(k.as_ref()).unwrap();
        let trace: f64 = eigen.values().iter().map(|s| s.max(0.0) / (s.max(0.0) + mu)).sum();
        prop_assert!((exact.d_eff() - trace).abs() <= n as f64 * slack, "{} against {trace}",
            exact.d_eff());
        prop_assert!(exact.d_eff() <= exact.d_mof() * (1.0 + 1e-15) && exact.d_mof() <= n as f64);
        prop_assert!(exact.d_eff() <= eigen.rank() as f64 + n as f64 * slack);
    }

    /// l_i(λ) falls in λ, but l_i(λε) ≤ l_i(λ)/ε.
    #[test]
    fn monotone_in_the_ridge((k, _) in any_psd(), log_mu in -3.0..2.0_f64,
        epsilon in 0.01..1.0_f64) {
        let mu = 10f64.powf(log_mu);
        let slack = tolerance(&k, mu * epsilon);
        for (smaller, larger) in scores(&k, mu * epsilon).iter().zip(scores(&k, mu)) {
            prop_assert!(*smaller >= larger - slack);
            prop_assert!(*smaller <= larger / epsilon * (1.0 + slack) + slack / epsilon);
        }
    }

    /// A new row never raises the others' scores and never lowers d_eff. By Sherman–Morrison and
    /// Cauchy–Schwarz it lowers a score τ to τ/(1 + s) at most, s = (k_xx − k_xᵀ(K + μI)⁻¹k_x)/μ.
    /// (The bound τ/(1 + τ), found in the literature on streams, holds for a copy of the row itself
    /// but not in general: see `a_neighbour_can_explain_away_more_than_half`.)
    #[test]
    fn adding_a_point((k, _) in any_psd(), log_mu in -3.0..2.0_f64) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let slack = tolerance(&k, mu);
        let old = k.as_ref().submatrix(0, 0, n - 1, n - 1).to_owned();
        let (before, after) = (scores(&old, mu), scores(&k, mu));
        let mut ridged = old.clone();
        (0..n - 1).for_each(|i| ridged[(i, i)] += mu);
        let k_x = k.as_ref().submatrix(0, n - 1, n - 1, 1);
        let explained = (k_x.transpose() * solve(ridged.as_ref(), k_x))[(0, 0)];
        let s = (k[(n - 1, n - 1)] - explained).max(0.0) / mu;
        for (old, new) in before.iter().zip(&after) {
            prop_assert!(*new <= old + slack && *new >= old / (1.0 + s) - slack, "{old} became \
                {new}, s = {s}");
        }
        prop_assert!(after.iter().sum::<f64>() >= before.iter().sum::<f64>() - n as f64 * slack);
    }

    /// A copy of row i turns its score τ into τ/(1 + τ), exactly.
    #[test]
    fn adding_a_copy((k, _) in any_psd(), log_mu in -3.0..2.0_f64) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let twice = Mat::from_fn(n + 1, n + 1, |i, j| k[(i.min(n - 1), j.min(n - 1))]);
        let slack = tolerance(&twice, mu);
        let (before, after) = (scores(&k, mu)[n - 1], scores(&twice, mu));
        prop_assert!((after[n - 1] - before / (1.0 + before)).abs() <= slack
            && (after[n] - after[n - 1]).abs() <= slack);
    }

    #[test]
    fn the_spectrum_gives_the_same_scores_along_a_path((k, _) in any_psd()) {
        let K = Dense::new(k.as_ref()).unwrap();
        let spectrum = ExactSpectrum::new(&K).unwrap();
        for mu in [1e-4, 1e-2, 1.0, 100.0] {
            let path = spectrum.scores(Ridge::Absolute(mu)).unwrap();
            let slack = tolerance(&k, mu);
            prop_assert!(path.scores.iter().zip(scores(&k, mu)).all(|(a,
                b)| (a - b).abs() <= slack));
            let whole = spectrum.d_eff(Ridge::Absolute(mu)).unwrap();
            prop_assert!((path.d_eff() - whole).abs() <= k.nrows() as f64 * slack);
        }
    }

    /// K = QDQᵀ with Q known: rank-k scores are row norms of the first k columns of Q.
    #[test]
    fn rank_k_scores_of_a_known_basis(n in 2..30_usize, seed in any::<u64>(),
    fraction in 0.0..1.0_f64) {
        let rank = 1 + ((n - 1) as f64 * fraction) as usize;
        let noise = psd(Kind::Gaussian, n, seed);
        let Q = SymmetricEigen::new(noise.as_ref()).unwrap().vectors().to_owned();
        let D = Mat::from_fn(n, n, |i, j| if i == j && i < rank { (rank - i) as f64 } else { 0.0 });
        let product = &Q * D * Q.transpose();
        let k = Mat::from_fn(n, n, |i, j| (product[(i, j)] + product[(j, i)]) / 2.0);
        let spectrum = ExactSpectrum::new(&Dense::new(k.as_ref()).unwrap()).unwrap();
        prop_assert_eq!(spectrum.rank(), rank);
        for c in 1..=rank {
            let leverage = spectrum.rank_k_scores(c).unwrap();
            for (i, &score) in leverage.iter().enumerate() {
                let expected = Q.row(i).subcols(0, c).squared_norm_l2();
                prop_assert!((score - expected).abs() < 1e-11 * n as f64, "{score} against \
                    {expected}");
            }
            prop_assert!((leverage.iter().sum::<f64>() - c as f64).abs() < 1e-12 * n as f64);
        }
        if rank < n {
            let refused = spectrum.rank_k_scores(rank + 1);
            prop_assert_eq!(refused, Err(Error::RankDeficient { requested: rank + 1, rank }));
        }
        prop_assert_eq!(spectrum.rank_k_scores(0), Err(Error::Empty { what: "rank (k)" }));
    }
}

/// Unit vectors: 50 copies of e_1 and φ = (√0.99, 0.1); then e_2 arrives. The score of φ falls from
/// 0.50490 to 0.02884 (NumPy), far below τ/(1 + τ) = 0.33550 and τ/2: what e_2 explains of φ is all
/// that made it matter.
#[test]
fn a_neighbour_can_explain_away_more_than_half() {
    let x = |i: usize| match i {
        0..50 => [1.0, 0.0],
        50 => [0.99_f64.sqrt(), 0.1],
        _ => [0.0, 1.0],
    };
    let k = Mat::from_fn(52, 52, |i, j| x(i)[0] * x(j)[0] + x(i)[1] * x(j)[1]);
    let before = scores(&k.as_ref().submatrix(0, 0, 51, 51).to_owned(), 0.01)[50];
    let after = scores(&k, 0.01)[50];
    assert!(
        (before - 0.5049005049005).abs() < 1e-11 && (after - 0.0288405521236).abs() < 1e-11,
        "{before}, {after}"
    );
}

/// Values from 50-digit arithmetic (mpmath: 1 − μ[(K + μI)⁻¹]_ii by an explicit inverse) for six
/// points and the Gaussian kernel of bandwidth 0.3. At λ = 1e-8 an entry of K rounded by ε/2 may
/// move a score by about ε/(nλ) = 4e-9.
#[test]
fn agrees_with_high_precision() {
    let x: [f64; 6] = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0];
    let k = Mat::from_fn(6, 6, |i, j| (-(x[i] - x[j]).powi(2) / 0.18).exp());
    let K = Dense::new(k.as_ref()).unwrap();
    let coarse = [
        0.67915839411059619,
        0.49200315688808754,
        0.4367593857031924,
        0.52967037033189455,
        0.83805025310058362,
        0.85809183144689239,
    ];
    let fine = [
        0.99999489441236211,
        0.99998278460136958,
        0.99993097275880618,
        0.99995669902505299,
        0.99999954118645995,
        0.99999973668402531,
    ];
    for (lambda, expected, d_eff, slack) in
        [(1e-2, coarse, 3.8337333915812467, 1e-14), (1e-8, fine, 5.9998646286280681, 4e-9)]
    {
        let exact = exact_scores(&K, Ridge::PerSample(lambda)).unwrap();
        assert_eq!(exact.route, ExactRoute::Cholesky);
        let spectral = ExactSpectrum::new(&K).unwrap().scores(Ridge::PerSample(lambda)).unwrap();
        for (i, expected) in expected.iter().enumerate() {
            assert!(
                (exact.scores[i] - expected).abs() < slack,
                "{lambda}, {i}: {}",
                exact.scores[i]
            );
            assert!(
                (spectral.scores[i] - expected).abs() < slack,
                "{lambda}, {i}: {}",
                spectral.scores[i]
            );
        }
        assert!((exact.d_eff() - d_eff).abs() < 6.0 * slack);
    }
    let rank_2 = ExactSpectrum::new(&K).unwrap().rank_k_scores(2).unwrap();
    let expected = [
        0.23718407594231891,
        0.28999585587572814,
        0.26553682997304612,
        0.24227803074435238,
        0.48682254256023321,
        0.47818266490432123,
    ];
    assert!(rank_2.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{rank_2:?}");
}

/// x_i = (i − 1)/n with the Bernoulli kernel: K is circulant, so all scores equal (1/n) Σ_k
/// σ_k/(σ_k + μ) with σ_k the Fourier transform of its first row.
#[test]
fn circulant_case_has_constant_scores() {
    for (n, beta) in [(12, 1), (101, 1), (256, 2)] {
        let x: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
        let K = KernelMatrix::new(Bernoulli::new(beta).unwrap(), Points::from_slice(&x)).unwrap();
        let row: Mat<f64> = K.block((0..1).into(), (0..n).into());
        let sigma = |k: usize| -> f64 {
            (0..n)
                .map(|j| {
                    row[(0, j)] * (std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64).cos()
                })
                .sum()
        };
        for lambda in [1e-6, 1e-3] {
            let mu = n as f64 * lambda;
            let expected = (0..n).map(|k| sigma(k) / (sigma(k) + mu)).sum::<f64>() / n as f64;
            let exact = exact_scores(&K, Ridge::PerSample(lambda)).unwrap();
            for l in &exact.scores {
                assert!(
                    (l - expected).abs() < 1e-11,
                    "n = {n}, λ = {lambda}: {l} against {expected}"
                );
            }
            assert!((exact.d_mof() / exact.d_eff() - 1.0).abs() < 1e-9);
        }
    }
}

/// λ → 0: the scores become the rank-r leverage scores of K, whatever route is taken.
#[test]
fn vanishing_ridge_falls_back_to_the_spectrum() {
    let ones = Mat::<f64>::ones(7, 7);
    let exact = exact_scores(&Dense::new(ones.as_ref()).unwrap(), Ridge::Absolute(1e-30)).unwrap();
    assert_eq!(exact.route, ExactRoute::Spectrum);
    // eigenvalues of order ε·7 above 1e-30 are noise that counts as signal, so only the range is
    // promised
    assert!(
        exact.scores.iter().all(|l| (1.0 / 7.0 - 1e-12..=1.0).contains(l)),
        "{:?}",
        exact.scores
    );
    let low = psd(Kind::LowRank, 30, 5);
    let K = Dense::new(low.as_ref()).unwrap();
    let small = exact_scores(&K, Ridge::Absolute(1e-8)).unwrap();
    let leverage = ExactSpectrum::new(&K).unwrap().rank_k_scores(3).unwrap();
    assert!(small.scores.iter().zip(leverage).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn entries_are_n_squared() {
    let k = psd(Kind::Rough, 40, 2);
    let K = Counted::new(Dense::new(k.as_ref()).unwrap());
    exact_scores(&K, Ridge::Absolute(0.1)).unwrap();
    assert_eq!((K.entries(), K.diagonal_entries()), (1600, 40));
    K.reset();
    ExactSpectrum::new(&K).unwrap();
    assert_eq!((K.entries(), K.diagonal_entries()), (1600, 40));
}

#[test]
fn the_same_bits_at_any_thread_count() {
    let k = psd(Kind::Rough, 500, 3);
    let K = Dense::new(k.as_ref()).unwrap();
    same_at_any_thread_count(|| {
        let exact = exact_scores(&K, Ridge::PerSample(1e-3)).unwrap();
        let d_eff = exact.d_eff();
        (exact, d_eff, ExactSpectrum::new(&K).unwrap().scores(Ridge::PerSample(1e-3)).unwrap())
    });
}

#[test]
fn single_precision() {
    let k = psd(Kind::Gaussian, 200, 6);
    let k32 = Mat::from_fn(200, 200, |i, j| k[(i, j)] as f32);
    let K32 = Dense::new(k32.as_ref()).unwrap();
    let sigma = largest_eigenvalue(k.as_ref());
    for mu in [0.1, 10.0] {
        let slack = f32::EPSILON as f64 * (4.0 + sigma / mu); // measured: far below n times this
        for (a, b) in exact_scores(&K32, Ridge::Absolute(mu as f32))
            .unwrap()
            .scores
            .iter()
            .zip(scores(&k, mu))
        {
            assert!((*a as f64 - b).abs() <= 4.0 * slack, "μ = {mu}: {a} against {b}");
        }
    }
    // a ridge far below f32's resolution of K: typed or valid, never NaN
    let tiny = exact_scores(&K32, Ridge::Absolute(1e-12_f32)).unwrap();
    assert_eq!(tiny.route, ExactRoute::Spectrum);
    assert!(tiny.scores.iter().all(|l| (0.0..=1.0).contains(l)));
}

#[test]
fn edge_cases() {
    let one = faer::mat![[3.0]];
    let exact = exact_scores(&Dense::new(one.as_ref()).unwrap(), Ridge::PerSample(1.0)).unwrap();
    assert_eq!((exact.scores[0], exact.d_eff(), exact.d_mof(), exact.mu), (0.75, 0.75, 0.75, 1.0));
    let zero = Mat::<f64>::zeros(4, 4);
    let K = Dense::new(zero.as_ref()).unwrap();
    assert_eq!(exact_scores(&K, Ridge::Absolute(0.1)).unwrap().scores, [0.0; 4]);
    let spectrum = ExactSpectrum::new(&K).unwrap();
    assert_eq!(spectrum.scores(Ridge::Absolute(0.1)).unwrap().scores, [0.0; 4]);
    assert_eq!(spectrum.rank_k_scores(1), Err(Error::RankDeficient { requested: 1, rank: 0 }));
    let through_the_trait: Vec<f64> = Exact.scores(&K, Ridge::Absolute(0.1), &mut rng(0)).unwrap();
    assert_eq!(through_the_trait, [0.0; 4]);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let nothing = Broken { n: 0, bad: vec![] };
    assert!(matches!(exact_scores(&nothing, Ridge::Absolute(1.0)), Err(Error::Empty { .. })));
    assert!(matches!(ExactSpectrum::new(&nothing), Err(Error::Empty { .. })));
    for value in [f64::NAN, f64::INFINITY] {
        let bad = Broken { n: 4, bad: vec![(3, 1, value)] };
        assert!(matches!(
            exact_scores(&bad, Ridge::Absolute(1.0)),
            Err(Error::NonFinite { row: 3, col: 1, .. })
        ));
        assert!(matches!(ExactSpectrum::new(&bad), Err(Error::NonFinite { row: 3, col: 1, .. })));
    }
    let fine = Broken { n: 4, bad: vec![] };
    for lambda in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let refused = exact_scores(&fine, Ridge::PerSample(lambda));
        assert!(
            matches!(
                refused,
                Err(Error::InvalidParameter { name: "ridge lambda (PerSample)", .. })
            ),
            "{refused:?}"
        );
        assert!(ExactSpectrum::new(&fine).unwrap().scores(Ridge::Absolute(lambda)).is_err());
        assert!(
            RidgeLeverage::<f64>::dictionary(&Exact, &fine, Ridge::PerSample(lambda), &mut rng(0))
                .is_err()
        );
    }
}
