//! K̃_λ(p): closed forms, quadrature and table against values computed with mpmath (30 digits), and
//! against each other.

use nystrom_kernels::{
    Gaussian, Matern, Matern12, Matern32, Matern52, RationalQuadratic, Scaled, Sum,
};
use nystrom_leverage::{FromSpectralDensity, LocalScore, Stationary};
use proptest::prelude::*;

fn assert_close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got / expected - 1.0).abs() < tolerance, "{what}: {got} is not {expected}");
}

#[test]
fn matern_reference_table() {
    let third = 3.0_f64.sqrt();
    // p, λ, d, ν, a, K̃, K̃_0
    let table = [
        (1.0, 1e-2, 1, 0.5, 1.0, 7.0534561585860, 7.0710678118655),
        (1.0, 1e-4, 1, 1.5, third, 7.5240586708122, 7.5490182423855),
        (0.01, 1e-3, 1, 0.5, 1.0, 218.21789023599, 223.60679774998),
        (1.0, 1e-2, 3, 0.5, 1.0, 19.775335456031, 19.973539506092),
        (0.2, 1e-4, 3, 0.5, 1.0, 942.38636342019, 944.49036949901),
        (0.5, 1e-4, 3, 1.5, third, 83.880782924188, 85.738275810499),
        (1.0, 1e-3, 2, 1.5, third, 10.188938781585, 10.427660341389),
        (0.3, 1e-4, 8, 0.5, 1.0, 2383.0178798828, 2416.2047695311),
    ];
    for (p, lambda, d, nu, a, exact, leading) in table {
        let kernel = Matern::from_a(nu, a).unwrap();
        let score = LocalScore::new(&kernel, d, lambda).unwrap();
        let what = format!("d = {d}, nu = {nu}, p = {p}");
        assert_close(score.at(p).unwrap(), exact, 5e-14, &what);
        assert_close(score.by_quadrature(p).unwrap(), exact, 2e-13, &what);
        assert_close(score.leading(p).unwrap(), leading, 5e-14, &what);
    }
}

#[test]
fn gaussian_reference_table() {
    let table = [
        (1, 1.0, 1e-2, 0.5, 1.9365176749211),
        (2, 1.0, 1e-2, 0.5, 1.8312616401083),
        (3, 1.0, 1e-5, 0.5, 4.8108482784177),
        (5, 0.3, 1e-5, 0.5, 724.1627902946),
        (3, 0.3, 1e-2, 0.05, 62.869848450028),
    ];
    for (d, sigma, lambda, p, exact) in table {
        let kernel = Gaussian::new(sigma).unwrap();
        let score = LocalScore::new(&kernel, d, lambda).unwrap();
        assert_close(score.at(p).unwrap(), exact, 2e-13, "polylogarithm");
        assert_close(score.by_quadrature(p).unwrap(), exact, 2e-13, "quadrature");
        assert!(score.leading(p).is_none() && score.second_order(p).is_none());
    }
}

#[test]
fn other_kernels_and_the_flat_boundary_against_mpmath() {
    let check = |kernel: &dyn Stationary, d, p, lambda, interior, boundary| {
        let score = LocalScore::new(kernel, d, lambda).unwrap();
        assert_close(score.at(p).unwrap(), interior, 1e-12, "interior");
        assert_close(score.by_quadrature(p).unwrap(), interior, 1e-12, "quadrature");
        assert_close(score.flat_boundary(p).unwrap(), boundary, 1e-12, "boundary");
    };
    check(&Matern::from_a(2.3, 1.7).unwrap(), 4, 0.3, 1e-4, 50.22158014505072, 101.0214393981277);
    check(&Matern::from_a(0.25, 2.0).unwrap(), 2, 5.0, 1e-3, 204.1802975573002, 254.6985128503525);
    check(
        &RationalQuadratic::new(1.0, 1.0).unwrap(),
        1,
        0.5,
        1e-3,
        3.469081557486745,
        14.1057151371777,
    );
    // its density has a pole at 0 in three dimensions
    check(
        &RationalQuadratic::new(1.0, 0.7).unwrap(),
        3,
        2.0,
        1e-3,
        5.809748962580835,
        15.49130408590591,
    );
    check(&Matern12::from_a(1.0).unwrap(), 1, 1.0, 1e-2, 7.053456158585983, 13.17744687875783);
    check(&Matern32::new(1.0).unwrap(), 3, 0.5, 1e-4, 83.88078292418803, 161.8630678852863);
    check(&Gaussian::new(0.3).unwrap(), 3, 0.05, 1e-2, 62.86984845002826, 77.3715375966812);
    check(&Gaussian::new(1.0).unwrap(), 1, 2.0, 1e-6, 0.8825076009145488, 9.139975857486418);
}

#[test]
fn gaussian_in_two_dimensions_is_a_logarithm() {
    let (sigma, lambda) = (0.7, 1e-3);
    let kernel = Gaussian::new(sigma).unwrap();
    let score = LocalScore::new(&kernel, 2, lambda).unwrap();
    let area = 2.0 * std::f64::consts::PI * sigma * sigma;
    for p in [1e-30, 1e-8, 1e-3, 0.5, 40.0, 1e9, 1e30] {
        assert_close(
            score.at(p).unwrap(),
            (p * area / lambda).ln_1p() / (area * p),
            1e-13,
            "ln(1 + x)",
        );
        assert_close(score.by_quadrature(p).unwrap(), score.at(p).unwrap(), 1e-12, "quadrature");
    }
}

#[test]
fn gaussian_from_tiny_to_huge_arguments() {
    for d in [1, 2, 3, 5, 10, 40] {
        let kernel = Gaussian::new(0.5).unwrap();
        for lambda in [1e-250, 1e-12, 1e-2, 1e100] {
            let score = LocalScore::new(&kernel, d, lambda).unwrap();
            for p in [1e-200, 1e-9, 1.0, 1e12, 1e200] {
                let (value, check) = (score.at(p).unwrap(), score.by_quadrature(p).unwrap());
                assert!(
                    value > 0.0 && value <= score.limit() * (1.0 + 1e-12),
                    "d {d} λ {lambda} p {p}: {value}"
                );
                assert_close(value, check, 1e-11, &format!("d {d} λ {lambda} p {p}"));
            }
        }
    }
}

#[test]
fn power_rule() {
    // K̃_0 ∝ p^{d/(2α) − 1} = p^{−2ν/(2ν+d)}
    for (nu, d) in [(0.5, 1), (0.5, 3), (1.5, 2), (2.5, 5), (0.3, 7)] {
        let kernel = Matern::new(nu, 0.8).unwrap();
        let score = LocalScore::new(&kernel, d, 1e-6).unwrap();
        let exponent =
            (score.leading(0.3).unwrap() / score.leading(0.7).unwrap()).ln() / (0.3_f64 / 0.7).ln();
        assert!(
            (exponent + 2.0 * nu / (2.0 * nu + d as f64)).abs() < 1e-12,
            "{nu} {d}: {exponent}"
        );
        // … and where a h → 0 the exact K̃ follows it
        let exact = LocalScore::new(&kernel, d, 1e-18).unwrap();
        let ratio = exact.at(0.3).unwrap() / exact.at(0.7).unwrap();
        assert!((ratio / (0.3_f64 / 0.7).powf(exponent) - 1.0).abs() < 0.02, "{nu} {d}");
    }
}

#[test]
fn ranges_of_the_two_closed_forms() {
    // relative errors measured independently: d = 3, ν = 1/2, λ = 1e-4, p = 1: +1.0e-3, −5e-7
    let kernel = Matern12::from_a(1.0).unwrap();
    let score = LocalScore::new(&kernel, 3, 1e-4).unwrap();
    let exact = score.at(1.0).unwrap();
    assert_close(score.leading(1.0).unwrap() / exact - 1.0, 1.0e-3, 0.1, "first order");
    assert_close(1.0 - score.second_order(1.0).unwrap() / exact, 5e-7, 0.1, "second order");
    // d = 3, ν = 3/2, λ = 1e-2, p = .01: +50 %, −6 %
    let kernel = Matern32::new(1.0).unwrap();
    let score = LocalScore::new(&kernel, 3, 1e-2).unwrap();
    let exact = score.at(0.01).unwrap();
    assert_close(score.leading(0.01).unwrap() / exact - 1.0, 0.5, 0.05, "first order");
    assert_close(1.0 - score.second_order(0.01).unwrap() / exact, 0.06, 0.1, "second order");
}

#[test]
fn a_multiple_of_a_kernel_is_another_ridge_and_a_sum_is_its_density() {
    let plain = Matern52::new(0.4).unwrap();
    let scaled = Scaled::new(plain, 3.0).unwrap();
    let narrow = LocalScore::new(&plain, 2, 1e-3).unwrap();
    let high = LocalScore::new(&scaled, 2, 3e-3).unwrap();
    assert_close(high.at(0.7).unwrap(), narrow.at(0.7).unwrap(), 1e-12, "3k with 3λ");
    assert_close(high.leading(0.7).unwrap(), narrow.leading(0.7).unwrap(), 1e-12, "closed form");
    assert_eq!(high.limit(), narrow.limit());
    let twice = Sum::new(plain, plain);
    let doubled = LocalScore::new(&twice, 2, 2e-3).unwrap();
    assert_close(doubled.at(0.7).unwrap(), narrow.at(0.7).unwrap(), 1e-12, "k + k with 2λ");
    assert_eq!(doubled.limit(), narrow.limit());
}

#[test]
fn length_scales_per_coordinate_are_a_change_of_variables() {
    let ard = Matern32::new(1.0).unwrap().with_length_scales(&[0.5, 2.0, 3.0]).unwrap();
    let unit = Matern32::new(1.0).unwrap();
    let (stretched, plain) =
        (LocalScore::new(&ard, 3, 1e-3).unwrap(), LocalScore::new(&unit, 3, 1e-3).unwrap());
    let volume = 0.5 * 2.0 * 3.0;
    for p in [0.01, 0.4, 7.0] {
        assert_close(stretched.at(p).unwrap(), plain.at(p * volume).unwrap(), 1e-12, "K̃");
        assert_close(
            stretched.leading(p).unwrap(),
            plain.leading(p * volume).unwrap(),
            1e-12,
            "K̃_0",
        );
        assert_close(
            stretched.flat_boundary(p).unwrap(),
            plain.flat_boundary(p * volume).unwrap() * volume / volume,
            1e-12,
            "jump",
        );
    }
    let same = Matern32::new(1.0).unwrap().with_length_scales(&[0.5, 0.5]).unwrap();
    let half = Matern32::new(0.5).unwrap();
    let (a, b) =
        (LocalScore::new(&same, 2, 1e-3).unwrap(), LocalScore::new(&half, 2, 1e-3).unwrap());
    assert_close(a.at(0.3).unwrap(), b.at(0.3).unwrap(), 1e-12, "equal length scales");
    assert!(LocalScore::new(&ard, 2, 1e-3).is_err());
}

#[test]
fn bad_arguments_are_refused() {
    let kernel = Matern32::new(1.0).unwrap();
    assert!(LocalScore::new(&kernel, 0, 1e-3).is_err());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(LocalScore::new(&kernel, 2, bad).is_err());
        let score = LocalScore::new(&kernel, 2, 1e-3).unwrap();
        assert!(
            score.at(bad).is_err()
                && score.by_quadrature(bad).is_err()
                && score.flat_boundary(bad).is_err()
        );
        assert!(score.leading(bad).is_none() && score.second_order(bad).is_none());
        assert!(FromSpectralDensity::new(bad, |_, _| 0.0).is_err());
    }
    // 1/‖s‖ is not integrable in three dimensions
    let heavy = FromSpectralDensity::new(1.0, |norm: f64, _| -norm.ln()).unwrap();
    let error = LocalScore::new(&heavy, 3, 1.0).unwrap().at(1.0).unwrap_err();
    assert!(error.to_string().contains("spectral density"), "{error}");
}

/// Lemma E.1 of Chen & Yang: K̃(p̂)/K̃(p) lies between 1 and p/p̂, so that a relative error ε of
/// the density makes one of at most ε/(1 − ε) in the score. K̃ falls in p, and pK̃ grows.
#[test]
fn a_score_is_no_farther_off_than_its_density() {
    let (matern, gauss) = (Matern::new(1.5, 0.7).unwrap(), Gaussian::new(0.4).unwrap());
    let mixture = Sum::new(Matern12::new(1.0).unwrap(), Gaussian::new(0.2).unwrap());
    let kernels: [&dyn Stationary; 3] = [&matern, &gauss, &mixture];
    for (kernel, d) in kernels.into_iter().flat_map(|kernel| [1, 2, 5].map(|d| (kernel, d))) {
        for (lambda, p) in [(1e-6, 3.0), (1e-3, 0.1), (0.1, 1.0), (10.0, 0.5)] {
            let score = LocalScore::new(kernel, d, lambda).unwrap();
            for factor in [0.2, 0.9, 0.999, 1.001, 1.1, 5.0_f64] {
                let ratio = score.at(factor * p).unwrap() / score.at(p).unwrap();
                let (low, high) = (factor.recip().min(1.0), factor.recip().max(1.0));
                let what = format!("d = {d}, λ = {lambda}, p = {p}, p̂/p = {factor}: {ratio}");
                assert!((low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&ratio), "{what}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn matern_laws(
        nu in 0.1..8.0_f64, a in 0.1..10.0_f64, d in 1..9_usize, ln_lambda in -25.0..2.0_f64,
        ln_p in -15.0..10.0_f64,
    ) {
        let kernel = Matern::from_a(nu, a).unwrap();
        let score = LocalScore::new(&kernel, d, ln_lambda.exp()).unwrap();
        let p = ln_p.exp();
        let (exact, quadrature) = (score.at(p).unwrap(), score.by_quadrature(p).unwrap());
        prop_assert!((exact / quadrature - 1.0).abs() < 1e-10, "{exact} {quadrature}");
        prop_assert!(score.leading(p).unwrap() >= exact * (1.0 - 1e-10));
        prop_assert!(exact <= score.limit() * (1.0 + 1e-10));
        prop_assert!(score.at(1.1 * p).unwrap() < exact * (1.0 + 1e-10));
        // p K̃ increases: dK̃/dp > −K̃/p
        prop_assert!(score.at(1.1 * p).unwrap() * 1.1 > exact * (1.0 - 1e-10));
        // the boundary value is an average of K̃ over [0, p]
        let boundary = score.flat_boundary(p).unwrap();
        prop_assert!(boundary >= exact * (1.0 - 1e-10)
            && boundary <= score.limit() * (1.0 + 1e-10));
        prop_assert!(boundary <= exact * (2.0 * nu + d as f64) / d as f64 * (1.0 + 1e-9),
            "{boundary} {exact}");
    }

    #[test]
    fn density_zero_is_the_limit(nu in 0.2..4.0_f64, d in 1..6_usize, gaussian in any::<bool>()) {
        let (matern, gauss) = (Matern::new(nu, 1.3).unwrap(), Gaussian::new(0.6).unwrap());
        let kernel: &dyn Stationary = if gaussian { &gauss } else { &matern };
        let score = LocalScore::new(kernel, d, 0.02).unwrap();
        prop_assert!((score.limit() - 50.0).abs() < 1e-12);
        prop_assert!((score.at(1e-14).unwrap() / score.limit() - 1.0).abs() < 1e-10);
    }
}
