//! What stands beside the kernels on inputs from the ends of the numbers: densities, profiles, the
//! median heuristic, k-means.

use crate::hostile::kernels;
use crate::hostile_inputs::{ENDS, of_points, point_sets};
use faer::Mat;
use nystrom_kernels::*;
use nystrom_linalg_core::testing::soon;
use nystrom_linalg_core::{Error, Result, Scalar};
use rand::SeedableRng;
use rand_pcg::Pcg64;

#[test]
fn spectral_densities_are_numbers() {
    soon("spectral densities", || {
        for p in ENDS {
            let kernels: Vec<(&str, Result<Box<dyn RadialSpectralDensity>>)> = vec![
                ("gaussian", Gaussian::new(p).map(|k| Box::new(k) as _)),
                ("matern 1/2", Matern12::new(p).map(|k| Box::new(k) as _)),
                ("matern 5/2", Matern52::new(p).map(|k| Box::new(k) as _)),
                ("matern nu", Matern::new(p, 1.0).map(|k| Box::new(k) as _)),
                ("rational quadratic", RationalQuadratic::new(0.7, p).map(|k| Box::new(k) as _)),
                (
                    "rational quadratic alpha",
                    RationalQuadratic::new(p, 1.0).map(|k| Box::new(k) as _),
                ),
                (
                    "scaled",
                    Gaussian::new(1.0).and_then(|k| Scaled::new(k, p)).map(|k| Box::new(k) as _),
                ),
                (
                    "sum",
                    Gaussian::new(p)
                        .map(|k| Box::new(Sum::new(k, Gaussian::new(1.0).unwrap())) as _),
                ),
            ];
            for (name, kernel) in kernels {
                let Ok(kernel) = kernel else { continue };
                for norm in ENDS.into_iter().chain([0.0, -1.0, f64::INFINITY]) {
                    for d in [1, 2, 3, 10, 1000, 1 << 40] {
                        let ln = kernel.ln_radial_spectral_density(norm, d);
                        assert!(!ln.is_nan(), "{name} at {p:e}, |s| = {norm:e}, d = {d}");
                    }
                }
                kernel.ln_radial_spectral_density(f64::NAN, 2); // returns
            }
            let ard = Gaussian::new(1.0).unwrap().with_length_scales(&[p, 1.0]).unwrap();
            for s in ENDS {
                assert!(!LaplacianL1::new(p).unwrap().ln_spectral_density(&[s, -s, 0.0]).is_nan());
                assert!(!ard.ln_spectral_density(&[s, -s]).is_nan());
            }
        }
    });
}

/// A rational quadratic kernel of huge α is the Gaussian, density and all; sums around the peak
/// meet those from 0.
#[test]
fn the_density_of_a_rational_quadratic_kernel_of_any_order() {
    let gaussian = Gaussian::new(1.0).unwrap();
    for alpha in [1e8, 1e12, 1e20, 1e100, 1e300] {
        let kernel = RationalQuadratic::new(alpha, 1.0).unwrap();
        for d in [1, 5, 40] {
            for s in [0.0, 0.01, 0.3, 1.0] {
                let gap = kernel.ln_radial_spectral_density(s, d)
                    - gaussian.ln_radial_spectral_density(s, d);
                assert!(
                    gap.abs() < 1e-9 + 1e5 / alpha,
                    "alpha = {alpha:e}, d = {d}, s = {s}: {gap:e}"
                );
            }
        }
    }
    for d in [1, 6] {
        let order = |order: f64| RationalQuadratic::new(order + 0.5 * d as f64, 1.0).unwrap();
        let (below, above) = (order(100.0 * (1.0 - 1e-13)), order(100.0 * (1.0 + 1e-13)));
        for s in [0.0, 1e-9, 0.05, 0.7, 3.0] {
            let [a, b] = [&below, &above].map(|k| k.ln_radial_spectral_density(s, d));
            assert!((a - b).abs() < 1e-10 * (1.0 + a.abs()), "d = {d}, s = {s}: {a} and {b}");
        }
    }
}

#[test]
fn profiles_are_numbers_between_0_and_1() {
    fn check(name: &str, profile: &impl Profile) {
        for s in ENDS.into_iter().chain([0.0, f64::INFINITY]) {
            let k = profile.at(Plain(s)).0;
            assert!((0.0..=1.0).contains(&k), "{name} at {s:e}: {k}");
        }
        assert_eq!(profile.at(Plain(0.0)).0, 1.0, "{name}");
        assert!(profile.at(Plain(f64::NAN)).0.is_nan(), "{name}");
        profile.at(Plain(-1.0)); // returns
    }
    soon("profiles", || {
        check("gaussian", &SquaredExponential);
        check("matern 1/2", &Exponential);
        check("matern 3/2", &MaternThreeHalves);
        check("matern 5/2", &MaternFiveHalves);
        for p in ENDS {
            if let Ok(kernel) = Matern::new(p, 1.0) {
                check(&format!("matern {p:e}"), kernel.profile());
            }
            check(
                &format!("rational quadratic {p:e}"),
                RationalQuadratic::new(p, 1.0).unwrap().profile(),
            );
        }
    });
}

#[test]
fn the_median_heuristic_gives_a_length_or_says_why_not() {
    fn check<T: Scalar>() {
        for d in [1, 3] {
            for (set, x) in point_sets::<T>(d) {
                let rng = &mut Pcg64::seed_from_u64(1);
                if let Ok(l) = median_heuristic(Points::from_rows(x.as_ref()), 100, rng) {
                    assert!(l > 0.0 && l.is_finite(), "{set}");
                    Gaussian::new(l).unwrap();
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

/// As many centres as distinct points are asked for and found, whatever the unit, and all of them
/// are numbers.
#[test]
fn k_means_finds_distinct_points_in_any_unit() {
    fn check<T: Scalar>() {
        for d in [1, 3, 24] {
            for (set, x) in point_sets::<T>(d) {
                for k in 1..=x.nrows() {
                    let rng = &mut Pcg64::seed_from_u64(1);
                    let clusters = KMeans { iterations: 50 }
                        .run(Points::from_rows(x.as_ref()), k, rng)
                        .unwrap();
                    let z = clusters.centers();
                    assert!(z.check().is_ok(), "{set}, k = {k}");
                    assert!(clusters.assignment().iter().all(|&j| j < z.len()), "{set}, k = {k}");
                    assert!(clusters.quantization_error() >= 0.0, "{set}, k = {k}");
                }
            }
            for unit in
                ENDS.into_iter().filter(|&u| T::lit(8.0 * u).is_finite() && T::lit(u) > T::zero())
            {
                let x = of_points::<T>(&[1.0, 3.0, 8.0].map(|x| x * unit), d);
                let clusters = KMeans::default();
                let clusters = clusters
                    .run(Points::from_rows(x.as_ref()), 3, &mut Pcg64::seed_from_u64(2))
                    .unwrap();
                assert_eq!(clusters.centers().len(), 3, "unit {unit:e}, d = {d}, {}", T::NAME);
                assert_eq!(clusters.quantization_error(), 0.0);
            }
        }
    }
    soon("k-means", || {
        check::<f64>();
        check::<f32>();
    });
}

#[test]
fn no_points_and_no_coordinates() {
    for (name, kernel) in kernels::<f64>(1.0, 1) {
        let (none, one) = (Points::from_slice(&[]), Points::from_slice(&[0.5]));
        assert_eq!(kernel.gram(none).shape(), (0, 0), "{name}");
        assert_eq!(
            (kernel.eval(none, one).shape(), kernel.eval(one, none).shape()),
            ((0, 1), (1, 0)),
            "{name}"
        );
        assert!(matches!(kernel.check_points(none), Err(Error::Empty { .. })), "{name}");
    }
    let empty = Mat::<f64>::zeros(3, 0);
    let x = Points::from_rows(empty.as_ref());
    assert_eq!(Gaussian::new(1.0).unwrap().gram(x), Mat::from_fn(3, 3, |_, _| 1.0));
    assert_eq!(
        Linear::with_bias(2.0).unwrap().eval(x, x.slice(0..1)),
        Mat::from_fn(3, 1, |_, _| 2.0)
    );
    assert_eq!(Periodic::new(1.0, 1.0).unwrap().gram(x), Mat::from_fn(3, 3, |_, _| 1.0));
}
