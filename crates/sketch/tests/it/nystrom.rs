//! L and L_γ against dense algebra, the orderings they must obey, and Theorem 1's deterministic
//! bound.
#![allow(non_snake_case, clippy::excessive_precision)] // reference values as printed

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Ridge, RowTree, SymmetricEigen, ops};
use nystrom_sketch::{Dictionary, Draw, FeatureMap, Landmarks, Nystrom, NystromStream, Whitening};
use proptest::prelude::*;

/// Semi-definiteness is checked to this fraction of the largest eigenvalue of K.
const PSD_TOLERANCE: f64 = 1e-8;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn regularised_below_plain_below_k((k, seed) in any_psd(), m in 1..20_usize,
        log_ridge in -10.0..1.0_f64) {
        let n = k.nrows();
        let sigma = largest_eigenvalue(k.as_ref());
        let K = Dense::new(k.as_ref()).unwrap();
        let dictionary = Dictionary::with_replacement(&K.diag(), m, &mut rng(seed)).unwrap();
        let gamma = Ridge::PerSample(10f64.powf(log_ridge));
        let l_gamma = whole(&Nystrom::regularized(&K, &dictionary, gamma).unwrap());
        for whitening in [Whitening::ShiftedCholesky, Whitening::eigen()] {
            let l = Nystrom::with_whitening(&K, &dictionary.landmarks().unwrap(),
                whitening).unwrap();
            let l = whole(&l);
            prop_assert!(smallest_eigenvalue((&k - &l).as_ref()) >= -PSD_TOLERANCE * sigma,
                "L above K, {whitening:?}");
            prop_assert!(smallest_eigenvalue((&l - &l_gamma).as_ref()) >= -PSD_TOLERANCE * sigma,
                "L_γ above L");
        }
        prop_assert!(smallest_eigenvalue(l_gamma.as_ref()) >= -1e-14 * n as f64 * sigma);
    }

    /// K − K(K + δI)⁻¹K = δK(K + δI)⁻¹ ⪯ δI by Cholesky; the eigenvalue route drops at most
    /// n·ε·σ_1. Without a shift, which is for blocks with a ridge, the substitution R⁻¹K may lose
    /// √κ (Higham 2002, Theorem 8.5), where κ = σ_1/σ_n and rounding keeps σ_n above ε·σ_1.
    #[test]
    fn exact_when_every_row_is_a_landmark((k, _) in any_psd()) {
        let (n, sigma) = (k.nrows() as f64, largest_eigenvalue(k.as_ref()));
        let K = Dense::new(k.as_ref()).unwrap();
        let all = Landmarks::all(k.nrows()).unwrap();
        let kappa = sigma / smallest_eigenvalue(k.as_ref()).max(f64::EPSILON * sigma);
        for whitening in [Whitening::ShiftedCholesky, Whitening::Cholesky, Whitening::eigen()] {
            let l = Nystrom::with_whitening(&K, &all, whitening).unwrap();
            let error = (&k - whole(&l)).norm_max();
            let unshifted = whitening == Whitening::Cholesky && l.jitter() == 0.0;
            let lost = if unshifted { kappa.sqrt() } else { 1.0 };
            let allowed = l.jitter() + 30.0 * n * f64::EPSILON * sigma * lost;
            prop_assert!(error <= allowed, "{whitening:?}: {error:e} > {allowed:e}");
        }
    }

    /// KS(SᵀKS + γI)⁻¹SᵀK with S written out, one column a draw, repetitions kept: merging them
    /// must not matter.
    #[test]
    fn regularised_form_equals_its_definition((k, seed) in any_psd(), m in 1..30_usize,
        log_ridge in -4.0..1.0_f64) {
        let n = k.nrows();
        let p: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let total: f64 = p.iter().sum();
        let draws = nystrom_linalg_core::random::with_replacement(&p, m, &mut rng(seed)).unwrap();
        let gamma = 10f64.powf(log_ridge);
        let S = Mat::from_fn(n, m, |i,
            j| if draws[j] == i { 1.0 / (m as f64 * p[i] / total).sqrt() } else { 0.0 });
        let KS = &k * &S;
        let mut core = S.transpose() * &KS;
        (0..m).for_each(|j| core[(j, j)] += gamma);
        let expected = &KS * solve(core.as_ref(), KS.transpose());
        let dictionary = Dictionary::from_draws(&draws, &p).unwrap();
        let K = Dense::new(k.as_ref()).unwrap();
        let l = whole(&Nystrom::regularized(&K, &dictionary, Ridge::Absolute(gamma)).unwrap());
        prop_assert!((&l - &expected).norm_max() <= 1e-9 * k.norm_max().max(1.0));
    }

    /// Theorem 1's companion fact: K − L_γ ⪯ γ/(1 − t) I with t = λ_max(Φ − Φ^½UᵀSSᵀUΦ^½), Φ =
    /// Σ(Σ + γI)⁻¹, whenever t < 1.
    #[test]
    fn theorem_1_structural_bound((k, seed) in any_psd(), log_ridge in -3.0..1.0_f64) {
        let n = k.nrows();
        let K = Dense::new(k.as_ref()).unwrap();
        let gamma = 10f64.powf(log_ridge);
        let dictionary = Dictionary::with_replacement(&vec![1.0; n], 4 * n,
            &mut rng(seed)).unwrap();
        let t = theorem_1_t(&k, &dictionary, gamma);
        prop_assume!(t < 0.999);
        let l = whole(&Nystrom::regularized(&K, &dictionary, Ridge::Absolute(gamma)).unwrap());
        let largest = largest_eigenvalue((&k - &l).as_ref());
        prop_assert!(largest <= gamma / (1.0 - t) * (1.0 + 1e-9) + 1e-10, "t = {t}: {largest} \
            against {}", gamma / (1.0 - t));
    }

    #[test]
    fn diagonal_products_blocks_and_trace_agree_with_the_dense_matrix((k, seed) in any_psd(),
        m in 1..20_usize) {
        let n = k.nrows();
        let K = Dense::new(k.as_ref()).unwrap();
        let landmarks = Landmarks::uniform(n, m, Draw::WithReplacement, &mut rng(seed)).unwrap();
        let stream = NystromStream::new(&K, &landmarks, Whitening::default()).unwrap();
        let stored = Nystrom::new(&K, &landmarks).unwrap();
        let l = stored.factor() * stored.factor().transpose();
        let tolerance = 1e-12 * (1.0 + k.norm_max()) * n as f64;
        let x = Mat::from_fn(n, 2, |i, j| ((i + 3 * j) as f64).sin());
        let mut product = Mat::zeros(n, 2);
        stored.mul_into(product.as_mut(), x.as_ref());
        prop_assert!((&product - &l * &x).norm_max() < tolerance);
        let trace: f64 = (0..n).map(|i| k[(i, i)] - l[(i, i)]).sum();
        prop_assert!((stored.trace_error(&K).unwrap() - trace).abs() < tolerance);
        prop_assert!((stream.trace_error().unwrap() - trace).abs() < tolerance);
        prop_assert!(stored.diag().iter().zip(stream.diag().unwrap()).all(|(a,
            b)| (a - b).abs() < tolerance));
        let rows = [n - 1, 0, n / 2];
        let block: Mat<f64> = stored.block((&rows).into(), (0..n).into());
        for (s, &i) in rows.iter().enumerate() {
            for j in 0..n {
                prop_assert!((block[(s, j)] - l[(i, j)]).abs() < tolerance);
            }
        }
        let gram = stream.gram_lower().unwrap();
        let expected = stored.factor().transpose() * stored.factor();
        for j in 0..stored.rank() {
            prop_assert!((j..stored.rank()).all(|i| (gram[(i, j)] - expected[(i,
                j)]).abs() < tolerance));
        }
    }

    /// φ(x)ᵀβ = k_J(x)ᵀθ: what prediction at new points rests on. Ridge-free W here, so tolerance
    /// grows with 1/δ^½.
    #[test]
    fn landmark_weights_pull_back((k, seed) in any_psd()) {
        let n = k.nrows();
        let m = n.div_ceil(3);
        let w = k.as_ref().submatrix(0, 0, m, m);
        let beta: Mat<f64> = nystrom_linalg_core::random::standard_normal(m, 2, &mut rng(seed));
        for whitening in [Whitening::ShiftedCholesky, Whitening::Eigen { cutoff: Some(1e-6) }] {
            let map = FeatureMap::with_diagonal(w, |_| 0.1, whitening).unwrap();
            let beta = beta.as_ref().subrows(0, map.rank());
            let mut phi = k.as_ref().subrows(0, m).to_owned();
            let left = map.apply_in_place(phi.as_mut()).transpose().to_owned() * beta;
            let right = k.as_ref().subrows(0, m).transpose() * map.landmark_weights(beta);
            prop_assert!((left - right).norm_max() < 1e-11 * (1.0 + k.norm_max()));
        }
    }
}

fn theorem_1_t(k: &Mat<f64>, dictionary: &Dictionary<f64>, gamma: f64) -> f64 {
    let eigen = SymmetricEigen::new(k.as_ref()).unwrap();
    let (U, n) = (eigen.vectors(), k.nrows());
    let phi: Vec<f64> = eigen.values().iter().map(|s| s.max(0.0) / (s.max(0.0) + gamma)).collect();
    let mut sst = vec![0.0; n];
    dictionary.indices().iter().zip(dictionary.weights()).for_each(|(&i, &w)| sst[i] = w);
    let t = Mat::from_fn(n, n, |a, b| {
        let inner: f64 = (0..n).map(|i| U[(i, a)] * (1.0 - sst[i]) * U[(i, b)]).sum();
        (phi[a] * phi[b]).sqrt() * inner
    });
    largest_eigenvalue(t.as_ref())
}

/// Six points, landmarks 0, 3, 4, weights 2, ½, 3, γ = 0.1; the expected values come from 50-digit
/// arithmetic with an explicit inverse of W (mpmath).
#[test]
fn agrees_with_high_precision() {
    let x: [f64; 6] = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0];
    let k = Mat::from_fn(6, 6, |i, j| (-(x[i] - x[j]).powi(2) / 0.18).exp());
    let K = Dense::new(k.as_ref()).unwrap();
    let landmarks = Landmarks::new(6, vec![0, 3, 4]).unwrap();
    for whitening in [Whitening::ShiftedCholesky, Whitening::eigen()] {
        let l = Nystrom::with_whitening(&K, &landmarks, whitening).unwrap();
        assert!((l.trace_error(&K).unwrap() - 0.36214786086990937).abs() < 1e-13, "{whitening:?}");
    }
    let dictionary = Dictionary::new(6, vec![0, 3, 4], vec![2.0, 0.5, 3.0]).unwrap();
    let diag = Nystrom::regularized(&K, &dictionary, Ridge::PerSample(0.1 / 6.0)).unwrap().diag();
    let expected = [
        0.95303427155575751,
        0.91971585800230729,
        0.85390713890737363,
        0.84639106590490375,
        0.96785955556060055,
        0.64597266955256292,
    ];
    assert!(diag.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{diag:?}");
}

#[test]
fn entries_are_n_m_plus_m_squared_a_pass() {
    let k = psd(Kind::Gaussian, 60, 1);
    let K = Counted::new(Dense::new(k.as_ref()).unwrap());
    let l = Nystrom::new(&K, &Landmarks::new(60, vec![5, 50, 7, 20]).unwrap()).unwrap();
    assert_eq!((K.entries(), K.diagonal_entries()), (60 * 4 + 16, 0));
    l.trace_error(&K).unwrap();
    assert_eq!((K.entries(), K.diagonal_entries()), (60 * 4 + 16, 60));
}

#[test]
fn stored_and_streamed_have_the_same_bits_at_any_thread_count() {
    let n = 2600; // three tiles, three leaves
    let x = |i: usize| (i as f64 * 0.618).fract();
    let k = Mat::from_fn(n, n, |i, j| (-(x(i) - x(j)).abs()).exp());
    let K = Dense::new(k.as_ref()).unwrap();
    let landmarks = Landmarks::uniform(n, 70, Draw::WithoutReplacement, &mut rng(4)).unwrap();
    let y = Mat::from_fn(n, 1, |i, _| x(i).sin());
    same_at_any_thread_count(|| {
        let stored = Nystrom::new(&K, &landmarks).unwrap();
        let stream = NystromStream::new(&K, &landmarks, Whitening::default()).unwrap();
        let mut kept = Mat::zeros(70, n);
        let gram = stream.gram_lower_keeping(kept.as_mut()).unwrap();
        assert!(kept.transpose() == stored.factor() && gram == stream.gram_lower().unwrap());
        let mut product = Mat::zeros(n, 1);
        stored.mul_into(product.as_mut(), y.as_ref());
        (stored.factor().to_owned(), gram, stored.trace_error(&K).unwrap(), product)
    });
}

#[test]
fn single_precision_stays_below_k_and_improves_with_landmarks() {
    let n = 300;
    let k64 = psd(Kind::Gaussian, n, 9);
    let k = Mat::from_fn(n, n, |i, j| k64[(i, j)] as f32);
    let K = Dense::new(k.as_ref()).unwrap();
    let order = Landmarks::uniform(n, n, Draw::WithoutReplacement, &mut rng(2)).unwrap();
    let mut last = f64::INFINITY;
    for m in [5, 20, 80, 300] {
        let landmarks = Landmarks::new(n, order.indices()[..m].to_vec()).unwrap();
        let l = Nystrom::new(&K, &landmarks).unwrap();
        let error = l.trace_error(&K).unwrap();
        assert!(error < last, "m = {m}: {error} after {last}"); // nested landmarks
        last = error;
        let l = whole(&l);
        let gap = Mat::from_fn(n, n, |i, j| k64[(i, j)] - l[(i, j)] as f64);
        assert!(
            smallest_eigenvalue(gap.as_ref()) >= -1e-4 * largest_eigenvalue(k64.as_ref()),
            "m = {m}"
        );
    }
    assert!(last <= n as f64 * 10.0 * f32::EPSILON as f64 * n as f64); // n·δ
}

#[test]
fn doubled_landmarks_do_not_break_the_factor() {
    let k = psd(Kind::Doubled, 40, 3); // rows 2i and 2i + 1 are equal
    let K = Dense::new(k.as_ref()).unwrap();
    let doubled = Landmarks::new(40, vec![0, 1, 6, 7, 20, 21]).unwrap();
    let single = Landmarks::new(40, vec![0, 6, 20]).unwrap();
    let reference = whole(&Nystrom::new(&K, &single).unwrap());
    let shifted = Nystrom::new(&K, &doubled).unwrap();
    assert!(shifted.jitter() > 0.0 && shifted.jitter() <= 1e-13 && shifted.rank() == 6);
    assert!((whole(&shifted) - &reference).norm_max() < 1e-12);
    let eigen = Nystrom::with_whitening(&K, &doubled, Whitening::eigen()).unwrap();
    assert_eq!((eigen.rank(), eigen.jitter()), (3, 0.0));
    assert!((whole(&eigen) - &reference).norm_max() < 1e-12);
}

#[test]
fn one_row() {
    let k = faer::mat![[2.0_f64]];
    let l = Nystrom::new(&Dense::new(k.as_ref()).unwrap(), &Landmarks::all(1).unwrap()).unwrap();
    assert!((l.diag()[0] - 2.0).abs() < 1e-14);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let pair = Landmarks::new(5, vec![1, 3]).unwrap();
    let nan = Broken { n: 5, bad: vec![(4, 3, f64::NAN)] }; // in C, not in W
    let error = Nystrom::new(&nan, &pair).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 4, col: 3, .. }), "{error}");
    let infinite = Broken { n: 5, bad: vec![(1, 3, f64::INFINITY)] }; // in W
    assert!(matches!(Nystrom::new(&infinite, &pair), Err(Error::NonFinite { .. })));
    let fine = Broken { n: 6, bad: vec![] };
    assert!(matches!(Nystrom::new(&fine, &pair), Err(Error::Shape { expected: 5, got: 6, .. })));
    let dictionary = Dictionary::<f64>::empty(6).unwrap();
    let ridge = Ridge::Absolute(1.0);
    assert!(matches!(
        Nystrom::regularized(&fine, &dictionary, ridge),
        Err(Error::Empty { what: "dictionary" })
    ));
    let full = Dictionary::full(6).unwrap();
    for bad in [0.0, -1.0, f64::NAN] {
        let refused = Nystrom::regularized(&fine, &full, Ridge::PerSample(bad));
        assert!(matches!(
            refused,
            Err(Error::InvalidParameter { name: "ridge lambda (PerSample)", .. })
        ));
    }
    let zero = Mat::<f64>::zeros(5, 5);
    let zero = Dense::new(zero.as_ref()).unwrap();
    assert!(matches!(Nystrom::new(&zero, &pair), Err(Error::NotPositiveDefinite { order: 2, .. })));
    let eigen = Nystrom::with_whitening(&zero, &pair, Whitening::eigen());
    assert!(matches!(eigen, Err(Error::RankDeficient { requested: 2, rank: 0 })));
    for cutoff in [-1.0, 1.0, f64::NAN] {
        let refused = Nystrom::with_whitening(
            &fine,
            &Landmarks::all(6).unwrap(),
            Whitening::Eigen { cutoff: Some(cutoff) },
        );
        assert!(matches!(refused, Err(Error::InvalidParameter { name: "eigenvalue cut-off", .. })));
    }
    let wide = Mat::<f64>::zeros(2, 3);
    assert!(matches!(
        FeatureMap::new(wide.as_ref(), Whitening::default()),
        Err(Error::Shape { .. })
    ));
    let none = Mat::<f64>::zeros(0, 0);
    assert!(matches!(
        FeatureMap::new(none.as_ref(), Whitening::default()),
        Err(Error::Empty { .. })
    ));
}

/// FᵀF is summed over the few leaves of a large tree, so that few r × r matrices are held and
/// added.
#[test]
fn the_gram_matrix_is_summed_along_the_large_tree() {
    let (n, m) = (9000, 5);
    assert!(RowTree::large(n).leaves() < RowTree::new(n).leaves());
    let landmarks = Landmarks::new(n, (0..m).map(|t| 1700 * t).collect()).unwrap();
    let k = Evaluated {
        n,
        entry: |i: usize, j: usize| (-((i as f64 - j as f64) / 3000.0).powi(2)).exp(),
    };
    let stream = NystromStream::new(&k, &landmarks, Whitening::default()).unwrap();
    let leaf = |rows: std::ops::Range<usize>| {
        let mut gram = Mat::zeros(m, m);
        let add = |_, phi: faer::MatMut<'_, f64>| {
            ops::gram_lower(gram.as_mut(), faer::Accum::Add, phi.as_ref().transpose(), 1.0);
            Ok(())
        };
        stream.for_each_tile(rows, add).unwrap();
        gram
    };
    let along_large = RowTree::large(n).reduce_in_order(leaf, |a, b| a + b).unwrap();
    assert_eq!(stream.gram_lower().unwrap(), along_large);
}
