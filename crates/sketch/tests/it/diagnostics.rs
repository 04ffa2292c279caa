//! K-satisfiability, incoherence and the sizes that follow from them.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Dense, Error, Streams};
use nystrom_sketch::{
    Accumulation, GaussianSketch, Landmarks, Localized, Rademacher, SizeConstants,
    SketchDiagnostics, SketchDistribution, SketchedMatrix, SparseSketch, Subsampling, VerySparse,
    Whitening,
};
use proptest::prelude::*;
use rand::RngExt;

fn diagnostics(k: &Mat<f64>) -> SketchDiagnostics {
    SketchDiagnostics::new(&Dense::new(k.as_ref()).unwrap()).unwrap()
}

/// K/n = diag(σ): eigenvectors are unit vectors, everything has a closed form.
fn diagonal(sigma: &[f64]) -> SketchDiagnostics {
    let n = sigma.len();
    diagnostics(&Mat::from_fn(n, n, |i, j| if i == j { n as f64 * sigma[i] } else { 0.0 }))
}

fn selection(n: usize, rows: &[usize]) -> SparseSketch<f64> {
    SparseSketch::from_landmarks(&Landmarks::new(n, rows.to_vec()).unwrap()).unwrap()
}

#[test]
fn closed_forms_of_a_diagonal_matrix() {
    let sigma = [0.5, 0.1, 0.02, 0.004, 0.0008];
    let of = diagonal(&sigma);
    let delta = 0.02;
    // 0.02 ≤ δ is below
    assert_eq!(
        (of.d_delta(delta).unwrap(), of.d_delta(1.0).unwrap(), of.d_delta(1e-9).unwrap()),
        (2, 0, 5)
    );
    let l = sigma.map(|s| s / (s + delta));
    assert!((of.statistical_dimension(delta).unwrap() - l.iter().sum::<f64>()).abs() < 1e-14);
    assert!((of.incoherence(delta, None).unwrap() - 5.0 * l[0]).abs() < 1e-12);
    let p = [1.0, 1.0, 8.0, 8.0, 2.0]; // row 1 is the worst now: first part of its score over 1/20
    assert!((of.incoherence(delta, Some(&p)).unwrap() - 20.0 * l[0]).abs() < 1e-12);
    assert_eq!(of.incoherence(delta, Some(&[1.0, 1.0, 1.0, 0.0, 1.0])).unwrap(), f64::INFINITY);

    let whole = of.satisfiability(&selection(5, &[0, 1, 2, 3, 4]), delta).unwrap(); // S = I
    assert!(whole.head < 1e-14 && (whole.tail - 1.0).abs() < 1e-14 && whole.holds(1.0 + 1e-12));
    // misses the second eigenvector
    let blind = of.satisfiability(&selection(5, &[0, 3]), delta).unwrap();
    assert!((blind.head - 1.0).abs() < 1e-14 && !blind.holds(9.0) && blind.error() > 1e10);
    assert!((blind.tail - (0.004_f64 / delta).sqrt()).abs() < 1e-14);
    let doubled =
        SparseSketch::<f64>::new(5, vec![vec![(0, 1.2)], vec![(1, 1.0)], vec![(2, 3.0)]]).unwrap();
    let doubled = of.satisfiability(&doubled, delta).unwrap();
    assert!((doubled.head - 0.44).abs() < 1e-14 && (doubled.tail - 3.0).abs() < 1e-14);
    assert!((doubled.error() - delta * (1.0 + 3.0 / 0.56_f64.sqrt()).powi(2)).abs() < 1e-14);
}

/// n points in [0, 1] and n^0.6 of them in [2, 2.5].
fn two_clusters(n: usize, gaussian: bool) -> Mat<f64> {
    let mut rng = rng(1);
    let share = 1.0 / (1.0 + (n as f64).powf(0.4));
    let x: Vec<f64> = (0..n)
        .map(|_| {
            let (far, u) = (rng.random::<f64>() < share, rng.random::<f64>());
            if far { 2.0 + 0.5 * u } else { u }
        })
        .collect();
    Mat::from_fn(n, n, |i, j| {
        let r = (x[i] - x[j]).abs() / 0.3;
        if gaussian { (-r * r / 2.0).exp() } else { (1.0 + r) * (-r).exp() }
    })
}

#[test]
fn leverage_scores_make_the_incoherence_smallest() {
    let n = 300;
    let k = two_clusters(n, true);
    let of = diagnostics(&k);
    let K = Mat::from_fn(n, n, |i, j| k[(i, j)] / n as f64);
    for delta in [1e-1, 1e-2, 1e-3] {
        let shifted = Mat::from_fn(n, n, |i, j| K[(i, j)] + if i == j { delta } else { 0.0 });
        let l = solve(shifted.as_ref(), K.as_ref());
        let scores: Vec<f64> = (0..n).map(|i| l[(i, i)]).collect();
        let M = of.incoherence(delta, Some(&scores)).unwrap();
        let d_stat = of.statistical_dimension(delta).unwrap();
        assert!(M <= d_stat * (1.0 + 1e-9) && M >= 0.5 * d_stat, "δ = {delta}: {M} of {d_stat}");
        let uniform = of.incoherence(delta, None).unwrap();
        assert!(
            uniform > 2.0 * d_stat && uniform <= n as f64,
            "δ = {delta}: {uniform}, d_stat {d_stat}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// K − K_S ⪯ nE for every sketch with a finite one, and both norms agree with their
    /// definitions.
    #[test]
    fn the_error_bound_holds((k, seed) in any_psd(), d in 1..40_usize, level in -4.0..0.0_f64) {
        let n = k.nrows();
        let K = Dense::new(k.as_ref()).unwrap();
        let of = SketchDiagnostics::new(&K).unwrap();
        let top = largest_eigenvalue(k.as_ref());
        let delta = 10.0_f64.powf(level) * of.eigenvalues()[0];
        let laws: [&dyn SketchDistribution<f64>; 7] = [
            &Subsampling::default(), &Accumulation::uniform(3), &Accumulation::uniform(30),
                &GaussianSketch, &Rademacher,
            &VerySparse::default(), &Localized::contiguous(1),
        ];
        for law in laws {
            let Ok(sketch) = law.draw(n, d.min(n), &mut rng(seed)) else { continue };
            let found = of.satisfiability(&*sketch, delta).unwrap();
            let S = sketch.to_dense();
            let (mut head, mut tail) = (Mat::zeros(found.d_delta, S.ncols()),
                Mat::zeros(n - found.d_delta, S.ncols()));
            let eigen = nystrom_linalg_core::SymmetricEigen::new(k.as_ref()).unwrap();
            for i in 0..n {
                for j in 0..S.ncols() {
                    let product: f64 = (0..n).map(|r| eigen.vectors()[(r, i)] * S[(r, j)]).sum();
                    if i < found.d_delta {
                        head[(i, j)] = product;
                    } else {
                        tail[(i - found.d_delta, j)] =
                            product * (eigen.values()[i].max(0.0) / n as f64).sqrt();
                    }
                }
            }
            let off = &head * head.transpose() - Mat::<f64>::identity(found.d_delta, found.d_delta);
            let norm = if found.d_delta > 0 { off.singular_values().unwrap()[0] } else { 0.0 };
            prop_assert!((norm - found.head).abs() < 1e-9 * (1.0 + norm));
            let norm = if found.d_delta < n { tail.singular_values().unwrap()[0] } else { 0.0 };
            prop_assert!((norm - found.tail * delta.sqrt()).abs() < 1e-6 * (top / n as f64).sqrt());
            prop_assert!(S.ncols() >= found.d_delta || found.error() == f64::INFINITY);
            if found.error().is_finite() {
                let F = SketchedMatrix::new(&K,
                    &*sketch).unwrap().factor(Whitening::default()).unwrap();
                let rest = &k - &F * F.transpose();
                let gap = largest_eigenvalue(rest.as_ref());
                prop_assert!(gap <= n as f64 * found.error() + 1e-8 * top, "{gap:e} above {:e}",
                    n as f64 * found.error());
            }
        }
    }
}

/// Theorem 3.6 with ρ = 0.1 and our constants: of 100 accumulations with its d and m at least 90
/// are K-satisfiable with c = 2 (98 or more in fact); with m = 1, 57 at δ = 1e-3, where the small
/// cluster matters.
#[test]
fn sizes_of_theorem_3_6_are_enough() {
    let (rho, trials) = (0.1, 100);
    let cases = [
        (400, true, 1e-1),
        (400, true, 1e-2),
        (400, true, 1e-3),
        (400, false, 1e-1),
        (400, false, 1e-2),
    ];
    for (n, gaussian, delta) in cases {
        let of = diagnostics(&two_clusters(n, gaussian));
        let size = of.accumulation_size(delta, None, rho, SizeConstants::default()).unwrap();
        let log = (n as f64 / rho).ln();
        assert!(size.d as f64 >= 0.5 * size.d_delta as f64 * log.powi(2) && size.d < n);
        assert!((size.m * size.d) as f64 >= size.incoherence * log.powi(3) / 16.0);
        let share = |m: usize| {
            let good = |seed: &u64| {
                let sketch =
                    Accumulation::uniform(m).sample::<f64>(n, size.d, &mut rng(*seed)).unwrap();
                of.satisfiability(&sketch, delta).unwrap().holds(2.0)
            };
            (0..trials).filter(good).count() as f64 / trials as f64
        };
        let (theorem, single) = (share(size.m), share(1));
        assert!(theorem >= 1.0 - rho, "n = {n}, δ = {delta}, {size:?}: {theorem}");
        if delta == 1e-3 {
            assert!(single < 0.8, "m = 1 would do as well: {single}");
        }
    }
}

#[test]
fn the_measured_m_falls_as_the_probabilities_fit() {
    let n = 300;
    let k = two_clusters(n, true);
    let of = diagnostics(&k);
    let delta = 1e-3;
    let shifted =
        Mat::from_fn(n, n, |i, j| k[(i, j)] / n as f64 + if i == j { delta } else { 0.0 });
    let l = solve(shifted.as_ref(), Mat::from_fn(n, n, |i, j| k[(i, j)] / n as f64).as_ref());
    let scores: Vec<f64> = (0..n).map(|i| l[(i, i)]).collect();
    // the smallest m of 1, 2, 4, … with which 9 of 10 sketches of d columns are K-satisfiable
    let smallest = |probabilities: Option<&[f64]>, d: usize, trials: u64, largest: u32| {
        let streams = Streams::from_rng(&mut rng(0));
        let enough = |m: &usize| {
            let law = Accumulation { m: *m, probabilities: probabilities.map(<[f64]>::to_vec) };
            let good = |r: &u64| {
                let stream = &mut streams.child(*m as u64).stream(*r);
                let sketch = law.sample::<f64>(n, d, stream).unwrap();
                of.satisfiability(&sketch, delta).unwrap().holds(2.0)
            };
            (0..trials).filter(good).count() as f64 >= 0.9 * trials as f64
        };
        (0..=largest).map(|power| 1 << power).find(enough)
    };
    let uniform = smallest(None, 200, 40, 10).unwrap();
    let leverage = smallest(Some(&scores), 200, 40, 10).unwrap();
    assert!(uniform > leverage, "{uniform} {leverage}");
    // with too few columns no m is enough
    assert_eq!(smallest(None, 12, 5, 3), None);
}

#[test]
fn bad_input_is_named() {
    assert!(matches!(
        SketchDiagnostics::new(&Broken { n: 0, bad: vec![] }),
        Err(Error::Empty { .. })
    ));
    let nan = Broken { n: 3, bad: vec![(1, 0, f64::NAN)] };
    assert!(matches!(SketchDiagnostics::new(&nan), Err(Error::NonFinite { .. })));
    let of = diagonal(&[0.5, 0.1, 0.02]);
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(of.d_delta(delta), Err(Error::InvalidParameter { .. })));
        assert!(matches!(
            of.satisfiability(&selection(3, &[0]), delta),
            Err(Error::InvalidParameter { .. })
        ));
        assert!(matches!(of.incoherence(delta, None), Err(Error::InvalidParameter { .. })));
        assert!(matches!(of.statistical_dimension(delta), Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(
        of.satisfiability(&selection(4, &[0]), 0.1),
        Err(Error::Shape { expected: 3, got: 4, .. })
    ));
    assert!(matches!(of.incoherence(0.1, Some(&[1.0; 2])), Err(Error::Shape { .. })));
    assert!(matches!(
        of.incoherence(0.1, Some(&[1.0, f64::NAN, 1.0])),
        Err(Error::InvalidWeight { index: 1, .. })
    ));
    for rho in [0.0, 1.0, f64::NAN] {
        let size = of.accumulation_size(0.1, None, rho, SizeConstants::default());
        assert!(matches!(size, Err(Error::InvalidParameter { name: "rho", .. })));
    }
    let constants = SizeConstants { c1: 0.0, c2: 1.0 };
    assert!(matches!(
        of.accumulation_size(0.1, None, 0.1, constants),
        Err(Error::InvalidParameter { name: "c1", .. })
    ));
}
