//! The preconditioners against dense matrices.

use super::MemoryPlan;
use super::preconditioner::{falkon, krill};
use super::system::RowProducts;
use super::tiles::KernelTiles;
use crate::Problem;
use crate::features::{KernelRows, factor};
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_linalg_core::{Cholesky, Streams, SymmetricEigen, ops, random};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::sync::atomic::AtomicU64;

/// n standard normal points in the plane, every tenth of them ten times as far out.
fn skewed(n: usize, seed: u64) -> Mat<f64> {
    let mut x = random::standard_normal::<f64>(n, 2, &mut Pcg64::seed_from_u64(seed));
    (0..n).step_by(10).for_each(|i| (0..2).for_each(|k| x[(i, k)] *= 10.0));
    x
}

/// ΦᵀΦ + μI for Φ = K_nm R⁻ᵀ.
fn whitened_normal_matrix(
    k: &Gaussian,
    x: Points<'_, f64>,
    z: Points<'_, f64>,
    R: &Cholesky<f64>,
    mu: f64,
) -> Mat<f64> {
    let mut phi_t = k.eval(z, x);
    R.forward_in_place(phi_t.as_mut());
    let mut out = ops::times(phi_t.as_ref(), phi_t.transpose());
    ops::add_to_diagonal(out.as_mut(), mu);
    out
}

/// Eigenvalues of G⁻¹AG⁻ᵀ, largest first.
fn preconditioned(A: MatRef<'_, f64>, G: &Cholesky<f64>) -> Vec<f64> {
    let mut A = A.to_owned();
    G.forward_in_place(A.as_mut());
    G.forward_in_place(A.transpose_mut());
    SymmetricEigen::new(A.as_ref()).unwrap().values().to_vec()
}

fn condition(values: &[f64]) -> f64 {
    values[0] / values[values.len() - 1]
}

/// BᵀHB = I. What rounding leaves: kernel values are off by e ≈ n·ε in norm (with what the solves
/// add). So Φ = K_nm R⁻ᵀ is off by e/σ_min(R) with σ_min(R)² ≥ δ. ΦᵀΦ/μ is off by 2‖Φ‖ times that
/// over μ, ‖Φ‖² = ‖K‖ < 100.
#[test]
fn falkons_preconditioner_is_exact_when_every_point_is_a_centre() {
    let x = skewed(300, 1);
    let x = Points::from_rows(x.as_ref());
    for (ell, well_conditioned) in [(0.1, true), (1.0, false)] {
        let k = Gaussian::new(ell).unwrap();
        let R = factor::<f64>(k.gram(x).as_ref()).unwrap();
        let least = SymmetricEigen::new(k.gram(x).as_ref()).unwrap().values()[299].max(R.jitter());
        assert_eq!(least > 1e-6, well_conditioned, "{least:e}");
        for mu in [1e-4, 1.0, 300.0] {
            let G = falkon(&R, &[1.0; 300], mu).unwrap();
            let values = preconditioned(whitened_normal_matrix(&k, x, x, &R, mu).as_ref(), &G);
            let off = values.iter().map(|v| (v - 1.0).abs()).fold(0.0, f64::max);
            let rounding = 2.0 * 10.0 * 300.0 * f64::EPSILON / least.sqrt() / mu;
            assert!(off < rounding.max(1e-13), "l = {ell}, mu = {mu}: {off:e} > {rounding:e}");
        }
    }
}

/// Rudi, Carratino & Rosasco 2017, theorems 1 and 2 (not at hand when this was written). They have
/// an error of e^(−t/2) after t iterations with m ≥ 5(1 + 14κ²/λ) ln(8κ²/(λδ)) uniform centres,
/// with probability 1 − δ. By the bound ((√c − 1)/(√c + 1))^t of conjugate gradients that is a
/// condition number c of at most ((√e + 1)/(√e − 1))² = 16.7. That is what is verified here, for
/// κ = λ = 1 and δ = 1e-6: m = 1193.
#[test]
fn falkons_condition_number_obeys_its_bound_at_the_theorems_size() {
    let (n, lambda, delta) = (3000, 1.0, 1e-6);
    let m = (5.0 * (1.0 + 14.0 / lambda) * (8.0_f64 / (lambda * delta)).ln()).ceil() as usize;
    let (x, k) = (skewed(n, 2), Gaussian::new(1.0).unwrap());
    let draws = random::with_replacement(&vec![1.0; n], m, &mut Pcg64::seed_from_u64(3)).unwrap();
    let dictionary = nystrom_sketch::Dictionary::from_draws(&draws, &vec![1.0; n]).unwrap();
    let x = Points::from_rows(x.as_ref());
    let z = x.gather(dictionary.indices().into());
    let z = z.points();
    let R = factor::<f64>(k.gram(z).as_ref()).unwrap();
    let mu = n as f64 * lambda;
    let G = falkon(&R, dictionary.weights(), mu).unwrap();
    let values = preconditioned(whitened_normal_matrix(&k, x, z, &R, mu).as_ref(), &G);
    let root = 0.5_f64.exp();
    assert!(condition(&values) <= ((root + 1.0) / (root - 1.0)).powi(2), "{}", condition(&values));
}

/// Centres drawn by a distribution far from uniform: a far point thirty times as often as a near
/// one.
#[test]
fn weights_of_the_centres_belong_into_the_preconditioner() {
    let n = 2000;
    let (x, k) = (skewed(n, 4), Gaussian::new(2.0).unwrap());
    let x = Points::from_rows(x.as_ref());
    let p: Vec<f64> = (0..n).map(|i| if i % 10 == 0 { 30.0 } else { 1.0 }).collect();
    let dictionary =
        nystrom_sketch::Dictionary::<f64>::with_replacement(&p, 600, &mut Pcg64::seed_from_u64(5))
            .unwrap();
    let z = x.gather(dictionary.indices().into());
    let (z, m) = (z.points(), dictionary.len());
    let (R, mu) = (factor::<f64>(k.gram(z).as_ref()).unwrap(), n as f64 * 1e-3);
    let A = whitened_normal_matrix(&k, x, z, &R, mu);
    let with =
        |omega: &[f64]| condition(&preconditioned(A.as_ref(), &falkon(&R, omega, mu).unwrap()));
    let (weighted, forgotten) = (with(dictionary.weights()), with(&vec![n as f64 / m as f64; m]));
    assert!(
        weighted < 10.0 && forgotten > 2.0 * weighted,
        "weighted {weighted}, forgotten {forgotten}"
    );
}

/// With 2m rows an embedding of m dimensions has singular values about 1 ± √½. That gives a
/// condition number of 34 (the ratio of squares). The sparse one is close to a Gaussian one. Any
/// centres will do: here the first ones, with no weights at all.
#[test]
fn krills_condition_number_is_that_of_an_embedding() {
    let (n, m) = (3000, 200);
    let (x, k) = (skewed(n, 6), Gaussian::new(2.0).unwrap());
    let x = Points::from_rows(x.as_ref());
    let (z, y) = (x.slice(0..m), Mat::zeros(n, 1));
    let plan = MemoryPlan::restricted::<f64>(n, m, 1, 0, None).unwrap();
    let samples = Problem { x, y: y.as_ref(), weights: None };
    let (entries, source) = (AtomicU64::new(0), KernelRows::new(&k, z, None));
    let R = factor::<f64>(k.gram(z).as_ref()).unwrap();
    for mu in [1e-6, 1.0, 1e4] {
        let mut tiles = KernelTiles::new(&source, samples, &plan, None, (m, &entries));
        let G = krill(tiles.embedding(Streams::from_key(7)).unwrap(), &R, mu).unwrap();
        let values = preconditioned(whitened_normal_matrix(&k, x, z, &R, mu).as_ref(), &G);
        assert!(condition(&values) < 50.0, "mu = {mu}: {}", condition(&values));
    }
    assert_eq!(entries.into_inner(), 3 * (n * m) as u64);
}

/// E[SᵀS] = ΦᵀΦ: the mean over embeddings tends to the matrix itself. Over 200 of them each entry
/// is within 6 standard errors, which at most 2·m² = 3200 entries exceed with probability 3200·2e-9
/// < 1e-5 (normal approximation).
#[test]
fn krills_embedding_is_unbiased() {
    let (n, m, trials) = (1500, 40, 200);
    let (x, k) = (skewed(n, 8), Gaussian::new(2.0).unwrap());
    let x = Points::from_rows(x.as_ref());
    let (z, y) = (x.slice(0..m), Mat::zeros(n, 1));
    let w: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let samples = Problem { x, y: y.as_ref(), weights: Some(&w) };
    let plan = MemoryPlan::restricted::<f64>(n, m, 1, 0, None).unwrap();
    let (entries, source) = (AtomicU64::new(0), KernelRows::new(&k, z, None));
    let mut tiles = KernelTiles::new(&source, samples, &plan, None, (m, &entries));
    let (mut sum, mut squares) = (Mat::<f64>::zeros(m, m), Mat::<f64>::zeros(m, m));
    for key in 0..trials {
        let St = tiles.embedding(Streams::from_key(key)).unwrap();
        let gram = &St * St.transpose();
        sum += &gram;
        squares += Mat::from_fn(m, m, |i, j| gram[(i, j)].powi(2));
    }
    let C = k.eval(x, z);
    let expected = C.transpose() * Mat::from_fn(n, m, |i, j| w[i] * C[(i, j)]);
    let trials = trials as f64;
    for j in 0..m {
        for i in 0..m {
            let mean = sum[(i, j)] / trials;
            let error = ((squares[(i, j)] / trials - mean * mean) / trials).sqrt();
            assert!(
                (mean - expected[(i, j)]).abs() <= 6.0 * error + 1e-9,
                "({i}, {j}): {mean} {} {error}",
                expected[(i, j)]
            );
        }
    }
}
