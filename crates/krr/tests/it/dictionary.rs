//! Regression through a weighted dictionary: against dense algebra, and its risk bound with ε
//! measured exactly.

#![allow(non_snake_case)]

use crate::common::{rng, same_at_any_thread_count};
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Points};
use nystrom_krr::risk::FixedDesign;
use nystrom_krr::{DictionaryKrr, ExactKrr};
use nystrom_linalg_core::{Cholesky, Error, Ridge, SymmetricEigen};
use proptest::prelude::*;
use rand::RngExt;

fn points(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.random::<f64>()).collect()
}

/// Rows kept with probability p, weight 1/p.
fn dictionary(n: usize, p: f64, seed: u64) -> (Vec<usize>, Vec<f64>) {
    let mut rng = rng(seed ^ 0xabc);
    let rows: Vec<usize> = (0..n).filter(|&i| i == 0 || rng.random::<f64>() < p).collect();
    let weights = vec![1.0 / p; rows.len()];
    (rows, weights)
}

/// B with BBᵀ = L_γ, from dense algebra on the columns.
fn factor(K: &Mat<f64>, rows: &[usize], weights: &[f64], gamma: f64) -> Mat<f64> {
    let m = rows.len();
    let ridged = Mat::from_fn(m, m, |i, j| {
        K[(rows[i], rows[j])] + if i == j { gamma / weights[i] } else { 0.0 }
    });
    let mut Bt = Mat::from_fn(m, K.nrows(), |i, j| K[(rows[i], j)]);
    Cholesky::new(ridged.as_ref()).unwrap().forward_in_place(Bt.as_mut());
    Bt.transpose().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_global_rejects: 200,
        ..ProptestConfig::default() })]

    #[test]
    fn predictions_are_those_of_dense_algebra(seed in any::<u64>(), log_mu in -3.0..0.0_f64,
    log_gamma in -3.0..0.0_f64) {
        let (n, kernel) = (70, Gaussian::new(0.2).unwrap());
        let (x, mu, gamma) = (points(n, seed), 10f64.powf(log_mu), 10f64.powf(log_gamma));
        let y = Mat::from_fn(n, 2, |i, j| (5.0 * x[i] + j as f64).sin());
        let K: Mat<f64> = kernel.gram(Points::from_slice(&x));
        let (rows, weights) = dictionary(n, 0.3, seed);
        let centers: Vec<f64> = rows.iter().map(|&i| x[i]).collect();
        let krr = DictionaryKrr { kernel, gamma: Ridge::Absolute(gamma),
            ridge: Ridge::Absolute(mu) };
        let centers = Points::from_slice(&centers);
        let model = krr.fit((Points::from_slice(&x), y.as_ref()), (centers, &weights)).unwrap();
        let B = factor(&K, &rows, &weights, gamma);
        let L = &B * B.transpose();
        let mut w = y.clone();
        let ridged = Mat::from_fn(n, n, |i, j| L[(i, j)] + if i == j { mu } else { 0.0 });
        Cholesky::new(ridged.as_ref()).unwrap().solve_in_place(w.as_mut());
        let dense = &L * &w; // L_γ(L_γ + μI)⁻¹y
        let f = model.predict(Points::from_slice(&x)).unwrap();
        prop_assert!((f - dense).norm_max() < 1e-8);
    }

    /// R(w̃) ≤ (1 + (γ/μ)/(1 − ε))² R(ŵ), risks in closed form, ε = ‖Ψ(I − SSᵀ)Ψᵀ‖ by dense
    /// eigendecompositions.
    #[test]
    fn the_risk_bound_holds(
        seed in any::<u64>(), log_mu in -2.0..1.0_f64, ratio in 0.05..2.0_f64, p in 0.4..0.95_f64,
        noise in 0.0..1.0_f64,
    ) {
        let (n, kernel) = (70, Gaussian::new(0.2).unwrap());
        let (x, mu) = (points(n, seed), 10f64.powf(log_mu));
        let gamma = ratio * mu;
        let k = KernelMatrix::new(kernel, Points::from_slice(&x)).unwrap();
        let K: Mat<f64> = kernel.gram(Points::from_slice(&x));
        let (rows, weights) = dictionary(n, p, seed);
        let mut deviation = vec![1.0; n];
        rows.iter().zip(&weights).for_each(|(&i, w)| deviation[i] -= w);
        let eigen = SymmetricEigen::new(K.as_ref()).unwrap();
        let root = |j: usize| { let s = eigen.values()[j].max(0.0); (s / (s + gamma)).sqrt() };
        let Psi = Mat::from_fn(n, n, |j, i| root(j) * eigen.vectors()[(i, j)]);
        let E = &Psi * Mat::from_fn(n, n, |i, j| deviation[i] * Psi[(j, i)]);
        let eps = SymmetricEigen::new(E.as_ref()).unwrap().values().iter().fold(0.0, |e: f64,
            v| e.max(v.abs()));
        prop_assume!(eps < 1.0);
        let f_star: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
        let B = factor(&K, &rows, &weights, gamma);
        let exact = FixedDesign::exact(&k, &f_star).unwrap().risk(Ridge::Absolute(mu),
            noise).unwrap();
        let sketched = FixedDesign::low_rank(B.as_ref(),
            &f_star).unwrap().risk(Ridge::Absolute(mu), noise).unwrap();
        let bound = (1.0 + ratio / (1.0 - eps)).powi(2);
        prop_assert!(sketched.total() <= bound * exact.total() * (1.0 + 1e-9), "{} > {bound}",
            sketched.ratio(exact));
        // K − L_γ ⪯ γ/(1 − ε)·I, from which the bound follows.
        let gap = &K - &B * B.transpose();
        let largest = SymmetricEigen::new(gap.as_ref()).unwrap().values()[0];
        prop_assert!(largest <= gamma / (1.0 - eps) * (1.0 + 1e-9) + 1e-10, "{largest} with eps \
            {eps}");
    }
}

#[test]
fn with_every_point_and_a_vanishing_gamma_it_is_exact() {
    let (x, kernel) = (points(60, 1), Gaussian::new(0.1).unwrap());
    let y = Mat::from_fn(60, 1, |i, _| (5.0 * x[i]).sin());
    let points = Points::from_slice(&x);
    let krr = DictionaryKrr { kernel, gamma: Ridge::Absolute(1e-10), ridge: Ridge::Absolute(0.1) };
    let ours =
        krr.fit((points, y.as_ref()), (points, &[1.0; 60])).unwrap().predict(points).unwrap();
    let exact = ExactKrr::new(kernel, Ridge::Absolute(0.1))
        .fit((points, y.as_ref()))
        .unwrap()
        .predict(points)
        .unwrap();
    assert!((ours - exact).norm_max() < 1e-7);
}

#[test]
fn bits_do_not_depend_on_threads_and_bad_input_is_refused() {
    let (x, kernel) = (points(3000, 2), Gaussian::new(0.2).unwrap());
    let y = Mat::from_fn(3000, 1, |i, _| (5.0 * x[i]).sin());
    let krr = DictionaryKrr { kernel, gamma: Ridge::Absolute(0.1), ridge: Ridge::Absolute(0.1) };
    let (all, some) = (Points::from_slice(&x), Points::from_slice(&x[..90]));
    let fit = || krr.fit((all, y.as_ref()), (some, &[30.0; 90])).unwrap();
    let _ = same_at_any_thread_count(fit);

    let (all, some) = (Points::from_slice(&x), Points::from_slice(&x[..3]));
    let refused = |krr: DictionaryKrr<Gaussian, f64>, weights: &[f64]| {
        krr.fit((all, y.as_ref()), (some, weights)).unwrap_err()
    };
    assert!(matches!(refused(krr, &[1.0; 2]), Error::Shape { expected: 3, got: 2, .. }));
    assert!(matches!(
        refused(krr, &[1.0, 0.0, 1.0]),
        Error::InvalidParameter { name: "weight of a centre", .. }
    ));
    let [none, nan] = [Ridge::Absolute(0.0), Ridge::PerSample(f64::NAN)];
    assert!(matches!(
        refused(DictionaryKrr { gamma: none, ..krr }, &[1.0; 3]),
        Error::InvalidParameter { .. }
    ));
    assert!(matches!(
        refused(DictionaryKrr { ridge: nan, ..krr }, &[1.0; 3]),
        Error::InvalidParameter { .. }
    ));
    assert!(matches!(
        krr.fit((all, y.as_ref()), (Points::from_slice(&[]), &[0.0; 0])),
        Err(Error::Empty { .. })
    ));
}
