//! Gradients: of every kernel against finite differences away from points, slopes against 50
//! digits, and what coincident points count.
#![allow(clippy::excessive_precision)]

use crate::tiles::normal;
use faer::{Mat, MatRef};
use nystrom_kernels::testing::check_gradient;
use nystrom_kernels::*;
use nystrom_linalg_core::Scalar;
use nystrom_linalg_core::testing::same_at_any_thread_count;
use proptest::prelude::*;

type Boxed<T> = Box<dyn DifferentiableKernel<T>>;

/// Every differentiable kernel that accepts points of any dimension.
fn kernels<T: Scalar>(length_scale: f64, d: usize) -> Vec<(&'static str, Boxed<T>)> {
    let gaussian = Gaussian::new(length_scale).unwrap();
    let scales: Vec<f64> = (0..d).map(|k| length_scale * (1.0 + k as f64)).collect();
    let matern = Matern32::new(length_scale).unwrap();
    let l1 = LaplacianL1::new(2.0 * length_scale).unwrap();
    vec![
        ("matern 1/2", Box::new(Matern12::new(length_scale).unwrap())),
        ("matern 0.3", Box::new(Matern::new(0.3, length_scale).unwrap())),
        ("power exponential 0.6", Box::new(PowerExponential::new(0.6, length_scale).unwrap())),
        ("laplacian l1", Box::new(l1)),
        ("power l1", Box::new(PowerExponentialL1::new(0.7, 2.0 * length_scale).unwrap())),
        ("product", Box::new(Product::new(l1, Matern12::new(length_scale).unwrap()))),
        ("gaussian", Box::new(gaussian)),
        ("gaussian ard", Box::new(gaussian.with_length_scales(&scales).unwrap())),
        ("matern 3/2", Box::new(matern)),
        ("matern 3/2 ard", Box::new(matern.with_length_scales(&scales).unwrap())),
        ("matern 5/2", Box::new(Matern52::new(length_scale).unwrap())),
        ("matern 1.2", Box::new(Matern::new(1.2, length_scale).unwrap())),
        ("matern 4", Box::new(Matern::new(4.0, length_scale).unwrap())),
        ("power exponential 1.6", Box::new(PowerExponential::new(1.6, length_scale).unwrap())),
        ("power exponential 2", Box::new(PowerExponential::new(2.0, length_scale).unwrap())),
        ("rational quadratic", Box::new(RationalQuadratic::new(0.7, length_scale).unwrap())),
        ("rational quadratic 1", Box::new(RationalQuadratic::new(1.0, length_scale).unwrap())),
        ("linear", Box::new(Linear::with_bias(0.5).unwrap())),
        ("polynomial", Box::new(Polynomial::new(3, 0.2, 1.0).unwrap())),
        ("polynomial 1", Box::new(Polynomial::new(1, 0.2, 1.0).unwrap())),
        ("periodic", Box::new(Periodic::new(3.0, length_scale).unwrap())),
        ("sum", Box::new(Sum::new(gaussian, Polynomial::new(2, 0.1, 1.0).unwrap()))),
        ("scaled", Box::new(Scaled::new(matern, 3.0).unwrap())),
    ]
}

fn gradient<T: Scalar>(
    kernel: &dyn DifferentiableKernel<T>,
    x: MatRef<'_, T>,
    z: MatRef<'_, T>,
    weights: MatRef<'_, T>,
) -> Mat<T> {
    let mut out = Mat::from_fn(x.nrows(), weights.ncols() / z.nrows() * x.ncols(), |_, _| T::nan());
    kernel.gradient_into(out.as_mut(), Points::from_rows(x), Points::from_rows(z), weights);
    out
}

#[test]
fn gradients_are_finite_differences() {
    // no coordinates within a quarter of each other
    let on_grid = |n, d, seed, shift| {
        let near = normal::<f64>(n, d, seed);
        Mat::from_fn(n, d, |i, k| (2.0 * near[(i, k)]).round() / 2.0 + shift)
    };
    for (d, length_scale) in [(1, 1.0), (3, 1.5), (25, 5.0)] {
        let (x, z) = (on_grid(20, d, 1, 0.25), on_grid(30, d, 2, 0.0));
        for (name, kernel) in kernels::<f64>(length_scale, d) {
            println!("{name}, d = {d}");
            check_gradient(&*kernel, Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
        }
    }
    let (x, z) = (on_grid(20, 1, 1, 0.25), on_grid(30, 1, 2, 0.0));
    for beta in 1..=4 {
        let kernel = Bernoulli::new(beta).unwrap();
        check_gradient(&kernel, Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
    }
}

#[test]
#[should_panic(expected = "gradient")]
fn a_wrong_gradient_is_found() {
    struct Wrong;
    impl Profile for Wrong {
        fn at<V: Lane>(&self, s: V) -> V {
            SquaredExponential.at(s)
        }
        fn slope<V: Lane>(&self, s: V) -> V {
            SquaredExponential.slope(s) * 1.00001
        }
    }
    let (x, z) = (normal(5, 2, 1), normal(7, 2, 2));
    let kernel = Isotropic::with_profile(Wrong, 1.0).unwrap();
    check_gradient(&kernel, Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
}

#[test]
fn single_precision_agrees_with_double() {
    let (n, m, d) = (9, 14, 4);
    let (x, z, w) = (normal::<f64>(n, d, 3), normal::<f64>(m, d, 4), normal::<f64>(n, m, 5));
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    for ((name, wide), (_, single)) in kernels::<f64>(1.5, d).iter().zip(kernels::<f32>(1.5, d)) {
        let a = gradient(&**wide, x.as_ref(), z.as_ref(), w.as_ref());
        let b = gradient(&*single, narrow(&x).as_ref(), narrow(&z).as_ref(), narrow(&w).as_ref());
        for k in 0..d {
            for i in 0..n {
                let (a, b) = (a[(i, k)], f64::from(b[(i, k)]));
                assert!((a - b).abs() <= 2e-4 * (1.0 + a.abs()), "{name}: {b} for {a}");
            }
        }
    }
}

#[test]
fn several_sums_at_once_are_the_sums_one_by_one() {
    let (n, m, d) = (11, 6, 3);
    let (x, z, w) = (normal::<f64>(n, d, 6), normal::<f64>(m, d, 7), normal::<f64>(n, 3 * m, 8));
    for (name, kernel) in kernels::<f64>(1.0, d) {
        let all = gradient(&*kernel, x.as_ref(), z.as_ref(), w.as_ref());
        assert_eq!(all.ncols(), 3 * d);
        for sum in 0..3 {
            let weights = w.as_ref().subcols(m * sum, m);
            let one = gradient(&*kernel, x.as_ref(), z.as_ref(), weights);
            let gap = (&one - all.as_ref().subcols(d * sum, d)).norm_max();
            assert!(gap <= 1e-13 * (1.0 + one.norm_max()), "{name}: {gap:e}");
        }
    }
}

/// A centre at the point itself changes nothing for kernels of a distance, rough or smooth.
#[test]
fn coincident_points_count_nothing() {
    let (n, d) = (6, 3);
    let (x, others) = (normal::<f64>(n, d, 9), normal::<f64>(8, d, 10));
    let both = Mat::from_fn(n + 8, d, |j, k| if j < n { x[(j, k)] } else { others[(j - n, k)] });
    let w = normal::<f64>(n, n + 8, 11);
    let without = Mat::from_fn(n, n + 8, |i, j| if i == j { 0.0 } else { w[(i, j)] });
    let of_distance = |name: &str| !["linear", "polynomial", "polynomial 1", "sum"].contains(&name);
    for (name, kernel) in kernels::<f64>(1.0, d) {
        let with = gradient(&*kernel, x.as_ref(), both.as_ref(), w.as_ref());
        let without = gradient(&*kernel, x.as_ref(), both.as_ref(), without.as_ref());
        assert!(with.col_iter().flat_map(|c| c.iter()).all(|g| g.is_finite()), "{name}");
        if of_distance(name) {
            assert!((&with - &without).norm_max() <= 1e-12, "{name}");
        }
    }
}

/// Where one coordinate coincides, the L1 kernel counts 0 for that coordinate: the mean of both
/// sides.
#[test]
fn coincident_coordinates_count_nothing_in_l1() {
    let kernel = LaplacianL1::new(2.0).unwrap();
    let (x, z) = (faer::mat![[1.0, 0.5]], faer::mat![[1.0, 2.5]]);
    let g = gradient::<f64>(&kernel, x.as_ref(), z.as_ref(), faer::mat![[3.0]].as_ref());
    assert_eq!(g[(0, 0)], 0.0);
    assert!((g[(0, 1)] - 3.0 * 0.5 * (-1.0_f64).exp()).abs() < 1e-15);
}

#[test]
fn far_from_the_origin_gradients_keep_their_digits() {
    let (n, m, d) = (10, 20, 3);
    let grid =
        |a: Mat<f64>| Mat::from_fn(a.nrows(), d, |i, k| (a[(i, k)] * 1024.0).round() / 1024.0);
    let (x, z, w) = (grid(normal(n, d, 12)), grid(normal(m, d, 13)), normal::<f64>(n, m, 14));
    let moved = |a: &Mat<f64>| Mat::from_fn(a.nrows(), d, |i, k| a[(i, k)] + 1048576.0);
    for (name, kernel) in kernels::<f64>(1.0, d).into_iter().filter(|(name, _)| {
        !["linear", "polynomial", "polynomial 1", "sum", "periodic"].contains(name)
    }) {
        let near = gradient(&*kernel, x.as_ref(), z.as_ref(), w.as_ref());
        let far = gradient(&*kernel, moved(&x).as_ref(), moved(&z).as_ref(), w.as_ref());
        let gap = (&near - &far).norm_max();
        assert!(gap <= 1e-12 * near.norm_max(), "{name}: {gap:e}");
    }
}

#[test]
fn the_same_bits_with_one_two_and_eight_threads() {
    let (x, z, w) = (normal::<f64>(300, 4, 15), normal::<f64>(200, 4, 16), normal(300, 400, 17));
    for (name, kernel) in kernels::<f64>(1.0, 4) {
        println!("{name}"); // shown if it fails
        same_at_any_thread_count(|| gradient(&*kernel, x.as_ref(), z.as_ref(), w.as_ref()));
    }
}

/// κ′ of a profile by its own closed form, by the default from `at`, and in registers.
fn slopes<P: Profile + Copy>(profile: P, s: f64) -> [f64; 3] {
    struct Default<P>(P);
    impl<P: Profile> Profile for Default<P> {
        fn at<V: Lane>(&self, s: V) -> V {
            self.0.at(s)
        }
    }
    // on the line ∂k(x, 0)/∂x = 2x κ′(x²)
    let kernel = Isotropic::with_profile(profile, 1.0).unwrap();
    let one = faer::mat![[1.0]];
    let x = s.sqrt();
    let in_registers = gradient::<f64>(
        &kernel,
        faer::mat![[x]].as_ref(),
        faer::mat![[0.0]].as_ref(),
        one.as_ref(),
    );
    [
        profile.slope(Plain(s)).0,
        Default(profile).slope(Plain(s)).0,
        in_registers[(0, 0)] / (2.0 * x),
    ]
}

#[test]
fn slopes_agree_with_high_precision() {
    for (name, s, exact) in SLOPES {
        let (kind, parameter) = name.split_once(' ').unwrap_or((name, ""));
        let p = match parameter {
            "1/2" => 0.5,
            "3/2" => 1.5,
            "5/2" => 2.5,
            _ => parameter.parse().unwrap_or(0.0),
        };
        let found = match kind {
            "gaussian" => slopes(SquaredExponential, s),
            "matern" => slopes(*Matern::new(p, 1.0).unwrap().profile(), s),
            "rational" => slopes(*RationalQuadratic::new(p, 1.0).unwrap().profile(), s),
            _ => slopes(*PowerExponential::new(p, 1.0).unwrap().profile(), s),
        };
        // what goes through `map` is differentiated by differences of a number near 1
        let by_map = kind == "rational" || (kind == "matern" && ![0.5, 1.5, 2.5].contains(&p));
        let loose = if by_map { 1e-9 * (exact.abs() + 1.0 / s) } else { 1e-12 * exact.abs() };
        let cancelling = if kind == "matern" { 1e-15 / s.sqrt() } else { 0.0 };
        for (found, tolerance) in
            found.into_iter().zip([1e-12 * exact.abs(), loose + cancelling, 1e-12 * exact.abs()])
        {
            assert!((found - exact).abs() <= tolerance, "{name} at {s}: {found:e}, not {exact:e}");
        }
    }
}

/// Slopes at 0 of smooth profiles are limits; of rough ones no numbers.
#[test]
fn slopes_where_points_coincide() {
    let at_zero = |profile: MaternNu| profile.slope(Plain(0.0)).0;
    assert_eq!(SquaredExponential.slope(Plain(0.0)).0, -0.5);
    assert_eq!(MaternThreeHalves.slope(Plain(0.0)).0, -1.5);
    assert_eq!(at_zero(*Matern::new(4.0, 1.0).unwrap().profile()), -4.0 / 6.0);
    assert!(!at_zero(*Matern::new(1.0, 1.0).unwrap().profile()).is_finite());
    assert!(!Exponential.slope(Plain(0.0)).0.is_finite());
    assert!(!PowerExponential::new(1.9, 1.0).unwrap().profile().slope(Plain(0.0)).0.is_finite());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]
    /// ∇ₓk(x, z) = −∇_z k(x, z) for kernels of a difference: what one point gains the other loses.
    #[test]
    fn gradients_of_stationary_kernels_are_antisymmetric(seed in 0_u64..1 << 40, d in 1_usize..6,
        exponent in -1.0_f64..1.0) {
        let (x, z) = (normal::<f64>(1, d, seed), normal::<f64>(1, d, seed + 1));
        let one = faer::mat![[1.0]];
        for (name, kernel) in kernels::<f64>(10_f64.powf(exponent), d) {
            if ["linear", "polynomial", "polynomial 1", "sum"].contains(&name) {
                continue;
            }
            let there = gradient(&*kernel, x.as_ref(), z.as_ref(), one.as_ref());
            let back = gradient(&*kernel, z.as_ref(), x.as_ref(), one.as_ref());
            let gap = (&there + &back).norm_max();
            prop_assert!(gap <= 1e-12 * there.norm_max() + 1e-300, "{}: {:e}", name, gap);
        }
    }
}

/// (profile, s, κ′(s))
#[rustfmt::skip]
const SLOPES: [(&str, f64, f64); 65] = [
    ("gaussian", 1e-08, -0.49999999750000001),
    ("gaussian", 0.01, -0.49750623959634116),
    ("gaussian", 0.7, -0.35234404485935673),
    ("gaussian", 2.5, -0.14325239843009505),
    ("gaussian", 40.0, -1.0305768112192789e-9),
    ("matern 1/2", 1e-08, -4999.5000249991666),
    ("matern 1/2", 0.01, -4.5241870901797978),
    ("matern 1/2", 0.7, -0.25885952598718225),
    ("matern 1/2", 2.5, -0.065060909633362027),
    ("matern 1/2", 40.0, -0.00014165128954980178),
    ("matern 3/2", 1e-08, -1.4997402148775657),
    ("matern 3/2", 0.01, -1.2614476970895706),
    ("matern 3/2", 0.7, -0.35215897686864571),
    ("matern 3/2", 2.5, -0.096989972761237122),
    ("matern 3/2", 40.0, -2.6220053426806439e-5),
    ("matern 5/2", 1e-08, -0.83333331250310539),
    ("matern 5/2", 0.01, -0.81536006502213364),
    ("matern 5/2", 0.7, -0.36841343058129926),
    ("matern 5/2", 2.5, -0.11014995040265462),
    ("matern 5/2", 40.0, -9.102368677395977e-6),
    ("matern 0.3", 1e-08, -97773.376042704909),
    ("matern 0.3", 0.01, -5.9854848997441329),
    ("matern 0.3", 0.7, -0.2023288363961207),
    ("matern 0.3", 2.5, -0.050636771553059154),
    ("matern 0.3", 40.0, -0.00023120438008445255),
    ("matern 1", 1e-08, -8.9796983472531141),
    ("matern 1", 0.01, -2.0873250716727098),
    ("matern 1", 0.7, -0.32589934942164586),
    ("matern 1", 2.5, -0.085465862953544884),
    ("matern 1", 40.0, -5.3960439607966634e-5),
    ("matern 4", 1e-08, -0.66666666000000007),
    ("matern 4", 0.01, -0.66006461324661265),
    ("matern 4", 0.7, -0.37065768100968081),
    ("matern 4", 2.5, -0.12021705717552605),
    ("matern 4", 40.0, -3.0522126494463105e-6),
    ("rational 0.7", 1e-08, -0.49999999392857149),
    ("rational 0.7", 0.01, -0.49398660587902177),
    ("rational 0.7", 0.7, -0.25096598565707899),
    ("rational 0.7", 2.5, -0.087614872449067519),
    ("rational 0.7", 40.0, -0.0015793816398719369),
    ("rational 1", 1e-08, -0.49999999500000004),
    ("rational 1", 0.01, -0.49503725155317938),
    ("rational 1", 0.7, -0.27434842249657065),
    ("rational 1", 2.5, -0.098765432098765432),
    ("rational 1", 40.0, -0.0011337868480725624),
    ("power 0.3", 1e-08, -888564.85082631644),
    ("power 0.3", 0.01, -4.5543710383071914),
    ("power 0.3", 0.7, -0.078720549436576646),
    ("power 0.3", 2.5, -0.021855468535243261),
    ("power 0.3", 40.0, -0.0011457392380094098),
    ("power 1", 1e-08, -4999.5000249991666),
    ("power 1", 0.01, -4.5241870901797978),
    ("power 1", 0.7, -0.25885952598718225),
    ("power 1", 2.5, -0.065060909633362027),
    ("power 1", 40.0, -0.00014165128954980178),
    ("power 1.7", 1e-08, -13.471590000816172),
    ("power 1.7", 0.01, -1.6624692136160911),
    ("power 1.7", 0.7, -0.42848973408656202),
    ("power 1.7", 2.5, -0.083833609593335985),
    ("power 1.7", 40.0, -5.0096135734153755e-11),
    ("power 2", 1e-08, -0.99999999000000005),
    ("power 2", 0.01, -0.99004983374916805),
    ("power 2", 0.7, -0.49658530379140954),
    ("power 2", 2.5, -0.082084998623898795),
    ("power 2", 40.0, -4.248354255291589e-18),
];
