//! What theorems say of dictionaries, with the accuracy ε = ‖P − P̃‖ computed: ε itself, sampling
//! by exact scores, unions, SQUEAK at every moment of a stream, merge trees.
#![allow(non_snake_case)]

use crate::common::samples::*;
use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::{Cholesky, Dense, Error, PsdMatrix, Ridge, SymmetricEigen};
use nystrom_sketch::{Nystrom, approximation_sample_size};
use proptest::prelude::*;
use rand::RngExt;

/// The failure probability of the theorems here. At this δ the theorem itself allows no failure
/// among the few runs of a test: 30 runs fail once with probability 3e-7.
const DELTA: f64 = 1e-8;

fn spectrum(k: &Mat<f64>) -> ExactSpectrum<f64> {
    ExactSpectrum::new(&Dense::new(k.as_ref()).unwrap()).unwrap()
}

/// U diag(√λ) over the numerical rank: no shift, whose square root (about 10⁻⁸) would show where
/// rows of K are equal and ε is 0.
fn eigenfeatures(k: &Mat<f64>) -> Mat<f64> {
    let eigen = SymmetricEigen::new(k.as_ref()).unwrap();
    let (U, r) = (eigen.vectors(), eigen.rank());
    Mat::from_fn(k.nrows(), k.nrows(), |i, j| {
        if j < r { U[(i, j)] * eigen.values()[j].sqrt() } else { 0.0 }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_global_rejects: 200,
        ..ProptestConfig::default() })]

    /// ε is the edge of the two orderings, which `is_accurate` decides by Cholesky factorisations.
    #[test]
    fn epsilon_is_the_edge_of_the_spectral_orderings((k, seed) in any_psd(),
        log_mu in -1.0..2.0_f64, draws in 1..80_usize) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let D = Dictionary::uniform(n, draws, Draw::WithReplacement, &mut rng(seed)).unwrap();
        let epsilon = spectrum(&k).accuracy(&D, Ridge::Absolute(mu)).unwrap();
        let phi = eigenfeatures(&k);
        prop_assert!(is_accurate(&phi, &D, mu, epsilon * (1.0 + 1e-6) + 1e-9), "above {epsilon}");
        prop_assert!(epsilon < 1e-6 || !is_accurate(&phi, &D, mu, epsilon * (1.0 - 1e-6) - 1e-9),
            "below {epsilon}");
    }

    /// What ε < 1 promises: scores in [l/(1 + ε), l/(1 − ε)] and 0 ⪯ K − L_μ ⪯ μ/(1 − ε)·I.
    #[test]
    fn epsilon_bounds_scores_and_the_nystrom_error((k, seed) in any_psd(),
        log_mu in -1.0..2.0_f64, draws in 10..400_usize) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let (K, ridge) = (Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(mu));
        let D = Dictionary::uniform(n, draws, Draw::WithReplacement, &mut rng(seed)).unwrap();
        let epsilon = spectrum(&k).accuracy(&D, ridge).unwrap();
        prop_assume!(epsilon < 0.99);
        let scores = Projector::new(&K, &D, ridge).unwrap().scores(&K, (0..n).into()).unwrap();
        for (tau, l) in scores.iter().zip(exact_scores(&K, ridge).unwrap().scores) {
            prop_assert!(*tau >= l / (1.0 + epsilon) - 1e-8 && *tau <= l / (1.0 - epsilon) + 1e-8,
                "{tau} for {l}, ε = {epsilon}");
        }
        let gap = &k - whole(&Nystrom::regularized(&K, &D, ridge).unwrap());
        let slack = 1e-9 * (1.0 + K.trace());
        prop_assert!(largest_eigenvalue(gap.as_ref()) <= mu / (1.0 - epsilon) + slack
            && smallest_eigenvalue(gap.as_ref()) >= -slack);
    }

    /// Two dictionaries of disjoint rows, accurate to ε_A and ε_B at γ, make a union that is
    /// accurate to max(ε_A, ε_B) at 2γ: −ε(K_A + γ) ⪯ … ⪯ ε(K_A + γ) add up to ε(K + 2γ). It is
    /// what DICT-MERGE builds on.
    #[test]
    fn a_union_is_as_accurate_at_twice_the_ridge((k, seed) in any_psd(), log_mu in -1.0..2.0_f64,
        cut in 0.1..0.9_f64) {
        let (n, gamma) = (k.nrows(), 10f64.powf(log_mu));
        let a = ((n as f64 * cut) as usize).clamp(1, n - 1);
        let part = |rows: std::ops::Range<usize>| {
            let (block, len) = (k.as_ref().submatrix(rows.start, rows.start, rows.len(),
                rows.len()).to_owned(), rows.len());
            let D = Dictionary::uniform(len, 2 * len, Draw::WithReplacement,
                &mut rng(seed ^ rows.start as u64)).unwrap();
            (spectrum(&block).accuracy(&D, Ridge::Absolute(gamma)).unwrap(), D)
        };
        let ((eps_a, D_A), (eps_b, D_B)) = (part(0..a), part(a..n));
        let below = D_B.indices().iter().map(|i| a + i);
        let rows = D_A.indices().iter().copied().chain(below).collect();
        let union = Dictionary::new(n, rows, [D_A.weights(), D_B.weights()].concat()).unwrap();
        let epsilon = spectrum(&k).accuracy(&union, Ridge::Absolute(2.0 * gamma)).unwrap();
        prop_assert!(epsilon <= eps_a.max(eps_b) * (1.0 + 1e-9) + 1e-9, "{epsilon} from {eps_a} \
            and {eps_b}");
    }
}

/// Calandriello, Lazaric & Valko, Proposition 1: m ≥ (2 d_eff(γ)/ε²) ln(n/δ) draws by the exact
/// scores give K − L_γ ⪯ γ/(1 − ε)·I with probability 1 − δ (one side of ‖P − P̃‖ ≤ ε). As printed;
/// [`approximation_sample_size`] adds ε/3 to d_eff.
#[test]
fn draws_by_exact_scores_keep_proposition_1() {
    let (n, gamma) = (600, 60.0);
    let k = ornstein_uhlenbeck(n);
    let (K, ridge, oracle) =
        (Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(gamma), spectrum(&k));
    let exact = exact_scores(&K, ridge).unwrap();
    for epsilon in [0.5, 0.8] {
        let least = 2.0 * exact.d_eff() / (epsilon * epsilon) * (n as f64 / DELTA).ln();
        let m = least.ceil() as usize;
        assert!(m < n, "{m} draws of {n} rows test nothing");
        let rule = approximation_sample_size(n, exact.d_eff(), 1.0, epsilon, DELTA).unwrap();
        assert!((m..m + 40).contains(&rule), "{rule} against {m}");
        let mut largest = 0.0_f64;
        for seed in 0..30 {
            let D = Dictionary::with_replacement(&exact.scores, m, &mut rng(seed)).unwrap();
            let approximation = whole(&Nystrom::regularized(&K, &D, ridge).unwrap());
            let most = |i, j| if i == j { gamma / (1.0 - epsilon) } else { 0.0 };
            let rest = Mat::from_fn(n, n, |i, j| most(i, j) + approximation[(i, j)] - k[(i, j)]);
            assert!(Cholesky::new(rest.as_ref()).is_ok(), "ε = {epsilon}, seed {seed}");
            if seed < 3 {
                largest = largest.max(oracle.accuracy(&D, ridge).unwrap());
            }
        }
        assert!(largest > 0.1 * epsilon, "ε = {epsilon} was never in danger: {largest}");
    }
}

fn line(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.random::<f64>()).collect()
}

/// ε, d_eff and Σq of a dictionary of the first points of `x`.
fn judged(kernel: Gaussian, x: &[f64], I: &StreamDictionary<f64>, gamma: f64) -> (f64, f64, f64) {
    let spectrum = spectrum(&kernel.gram(Points::from_slice(x)));
    let ridge = Ridge::Absolute(gamma);
    let copies = I.copies().iter().map(|&q| f64::from(q)).sum();
    (
        spectrum.accuracy(&I.by_rows().unwrap(), ridge).unwrap(),
        spectrum.d_eff(ridge).unwrap(),
        copies,
    )
}

/// SQUEAK's theorem with its own q̄ = 39α ln(2n/δ)/ε²: with probability 1 − δ, at every moment t the
/// dictionary is (ε, γ)-accurate and Σq ≤ 3q̄·d_eff(γ)_t.
///
/// The published algorithm, one point at a time, and chunks; γ = 2, and a γ far below k(x, x) = 1,
/// which the theorem excludes. At this q̄ no point is dropped below some 10⁵ of them, but copies
/// are.
#[test]
fn at_every_moment_of_the_stream() {
    let (n, epsilon, kernel) = (96, 0.5, Gaussian::new(0.2).unwrap());
    let copies = SqueakParams::copies_for(n, epsilon, DELTA).unwrap();
    for (chunk, gamma) in [(1, 2.0), (12, 2.0), (1, 0.02)] {
        for seed in 0..20 {
            let (x, mut rng) = (line(n, seed), rng(seed));
            let params = SqueakParams { chunk: Some(chunk), epsilon, ..SqueakParams::new(copies) };
            let mut squeak = Squeak::new(kernel, 1, gamma, params).unwrap();
            for t in (0..n).step_by(12) {
                squeak.push(Points::from_slice(&x[t..t + 12]), &mut rng).unwrap();
                let (eps, d_eff, total) = judged(kernel, &x[..t + 12], squeak.dictionary(), gamma);
                let place = format!("chunks of {chunk}, γ = {gamma}, stream {seed}, {}", t + 12);
                assert!(eps <= epsilon, "{place}: {eps}");
                assert!(total <= 3.0 * f64::from(copies) * d_eff, "{place}: {total} copies");
            }
            let left: f64 = squeak.dictionary().copies().iter().map(|&q| f64::from(q)).sum();
            let given = n as f64 * f64::from(copies);
            assert!(left < 0.3 * given, "hardly a copy was dropped, so nothing was tested");
        }
    }
}

/// The same at the root of merge trees of both shapes, for the q̄ of DICT-MERGE (α = (1 + 3ε)/(1 −
/// ε)).
#[test]
fn at_the_root_of_merge_trees() {
    let (n, epsilon, gamma, kernel) = (160, 0.5, 2.0, Gaussian::new(0.2).unwrap());
    let params = SqueakParams {
        epsilon,
        ..SqueakParams::new(SqueakParams::copies_for(n, epsilon, DELTA).unwrap())
    };
    for shape in [TreeShape::Balanced, TreeShape::Sequential] {
        for seed in 0..20 {
            let (x, disqueak) = (line(n, seed), Disqueak { params, chunks: 5, shape });
            let I =
                disqueak.of_points(&kernel, Points::from_slice(&x), gamma, &mut rng(seed)).unwrap();
            let (eps, d_eff, total) = judged(kernel, &x, &I, gamma);
            assert!(I.probabilities().iter().all(|&p| p < 1.0), "the dictionary was never shrunk");
            assert!(eps <= epsilon, "{shape:?}, seed {seed}: {eps}");
            assert!(total <= 3.0 * f64::from(params.copies) * d_eff, "{shape:?}, seed {seed}");
        }
    }
}

/// In practice: at q̄ = 40 a fifth of the points is kept, ε stays below 1 all along, and Σq below
/// q̄·d_eff. Measured, not proven; the starved stream shows that ε can be bad.
#[test]
fn a_few_copies_do_in_practice() {
    let (n, gamma, kernel) = (800, 2.0, Gaussian::new(0.1).unwrap());
    let run = |copies: u32, seed: u64| {
        let (x, mut rng) = (line(n, seed), rng(seed));
        let mut squeak = Squeak::new(kernel, 1, gamma, SqueakParams::new(copies)).unwrap();
        let mut worst = 0.0_f64;
        for t in (0..n).step_by(200) {
            squeak.push(Points::from_slice(&x[t..t + 200]), &mut rng).unwrap();
            let (eps, d_eff, total) = judged(kernel, &x[..t + 200], squeak.dictionary(), gamma);
            let settled = total - f64::from(copies) * squeak.pending() as f64;
            assert!(settled <= f64::from(copies) * d_eff, "{settled} copies at d_eff = {d_eff}");
            worst = worst.max(eps);
        }
        (worst, squeak.dictionary().len() - squeak.pending())
    };
    for seed in 0..3 {
        let (worst, kept) = run(40, seed);
        assert!(worst < 0.9 && kept < n / 3, "ε = {worst} with {kept} points");
        assert!(run(2, seed).0 > 0.9, "two copies were enough");
    }
}

#[test]
fn accuracy_of_odd_input() {
    let k = psd(Kind::Rough, 30, 1);
    let (spectrum, one) = (spectrum(&k), Ridge::Absolute(1.0));
    assert!(spectrum.accuracy(&Dictionary::full(30).unwrap(), one).unwrap() < 1e-13);
    // nothing kept: ‖P‖ = σ_1/(σ_1 + μ)
    let sigma = largest_eigenvalue(k.as_ref());
    let empty = spectrum.accuracy(&Dictionary::empty(30).unwrap(), one).unwrap();
    assert!((empty - sigma / (sigma + 1.0)).abs() < 1e-13);
    let zero = ExactSpectrum::new(&Dense::new(Mat::<f64>::zeros(5, 5).as_ref()).unwrap()).unwrap();
    assert_eq!(zero.accuracy(&Dictionary::empty(5).unwrap(), one).unwrap(), 0.0);
    assert!(matches!(
        spectrum.accuracy(&Dictionary::full(31).unwrap(), one),
        Err(Error::Shape { .. })
    ));
    let refused = spectrum.accuracy(&Dictionary::full(30).unwrap(), Ridge::Absolute(0.0));
    assert!(matches!(refused, Err(Error::InvalidParameter { .. })));
    // single precision, and any number of threads
    let x = line(300, 5);
    let x32: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let wide = KernelMatrix::new(Gaussian::new(0.1).unwrap(), Points::from_slice(&x)).unwrap();
    let narrow = KernelMatrix::new(Gaussian::new(0.1).unwrap(), Points::from_slice(&x32)).unwrap();
    let D = Dictionary::uniform(300, 60, Draw::WithoutReplacement, &mut rng(1)).unwrap();
    let D32 = Dictionary::new(300, D.indices().to_vec(), vec![5.0_f32; 60]).unwrap();
    let a =
        same_at_any_thread_count(|| ExactSpectrum::new(&wide).unwrap().accuracy(&D, one).unwrap());
    let b = ExactSpectrum::new(&narrow).unwrap().accuracy(&D32, Ridge::Absolute(1.0_f32)).unwrap();
    assert!((a - b).abs() < 1e-4 && a > 0.01, "{a} {b}");
}
