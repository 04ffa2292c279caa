//! Every kernel against values computed with 50 digits by `high_precision.py` (mpmath), beside this
//! file.
#![allow(clippy::excessive_precision)]

use nystrom_kernels::*;
use nystrom_linalg_core::Scalar;

const X: [f64; 3] = [0.25, -1.5, 2.0];
const Y: [f64; 3] = [0.5, -1.0, 0.625];
const L: f64 = 0.75;

#[rustfmt::skip]
const VALUES: [(&str, f64); 20] = [
    ("gaussian", 0.1410933807013414827),
    ("gaussian gamma", 0.43772173662773396043),
    ("gaussian bandwidth", 0.64363402408212607308),
    ("laplacian euclidean", 0.13819949600517767162),
    ("laplacian l1", 0.058816471642429890842),
    ("matern 3/2", 0.14371569261240867774),
    ("matern 5/2", 0.14308495808437788826),
    ("matern 0.3", 0.12944496515413961616),
    ("rational quadratic", 0.39295427882082667246),
    ("power exponential 0.3", 0.29309380197404090555),
    ("power exponential 1.7", 0.041114911343082760091),
    ("power exponential l1 0.7", 0.12580234647495978161),
    ("linear", 3.375),
    ("polynomial", 14.999043196439743042),
    ("periodic", 0.0098326657586115853495),
    ("gaussian ard", 0.47526207564983102862),
    ("bernoulli 1", -0.033854166666666666667),
    ("bernoulli 2", -0.00089992947048611111111),
    ("bernoulli 3", -0.000022959583020084118717),
    ("bernoulli 4", -5.8212756085648107781e-7),
];

/// (ν, t, 2^{1−ν}/Γ(ν) t^ν K_ν(t))
#[rustfmt::skip]
const MATERN: [(f64, f64, f64); 90] = [
    (0.1, 1e-12, 0.99610703802644089642),
    (0.1, 1e-05, 0.90221321642789664092),
    (0.1, 0.01, 0.61072273291110271213),
    (0.1, 0.3, 0.24073533728749437983),
    (0.1, 1.0, 0.082885930243851322052),
    (0.1, 4.5, 0.0014605501351308725912),
    (0.1, 30.0, 5.8783321493817657502e-15),
    (0.1, 300.0, 1.2920513034613933515e-132),
    (0.1, 650.0, 9.4186262814764660516e-285),
    (0.5, 1e-12, 0.999999999999),
    (0.5, 1e-05, 0.99999000004999983333),
    (0.5, 0.01, 0.99004983374916805337),
    (0.5, 0.3, 0.74081822068171787429),
    (0.5, 1.0, 0.3678794411714423216),
    (0.5, 4.5, 0.011108996538242306496),
    (0.5, 30.0, 9.3576229688401746049e-14),
    (0.5, 300.0, 5.1482002224120137812e-131),
    (0.5, 650.0, 5.1119519486511562468e-283),
    (0.77, 1e-12, 0.99999999999999999951),
    (0.77, 1e-05, 0.99999997069654085014),
    (0.77, 0.01, 0.99888257675502733973),
    (0.77, 0.3, 0.86494691907621033288),
    (0.77, 1.0, 0.50971649782892961065),
    (0.77, 4.5, 0.021148318506583657728),
    (0.77, 30.0, 2.8883983625411993452e-13),
    (0.77, 300.0, 2.9441022837233940339e-130),
    (0.77, 650.0, 3.6009307886254542359e-282),
    (1.0, 1e-12, 1.0),
    (1.0, 1e-05, 0.99999999939355715096),
    (1.0, 0.01, 0.99973894118296247642),
    (1.0, 0.3, 0.91679761003719749823),
    (1.0, 1.0, 0.60190723019723457474),
    (1.0, 4.5, 0.031851427090356403618),
    (1.0, 30.0, 6.5031960056746482746e-13),
    (1.0, 300.0, 1.1189687574997118096e-129),
    (1.0, 650.0, 1.6343826440411080781e-281),
    (1.5, 1e-12, 1.0),
    (1.5, 1e-05, 0.99999999995000033333),
    (1.5, 0.01, 0.99995033208665973411),
    (1.5, 0.3, 0.96306368688623322835),
    (1.5, 1.0, 0.73575888234288464319),
    (1.5, 4.5, 0.061099480960332685729),
    (1.5, 30.0, 2.9008631203404541275e-12),
    (1.5, 300.0, 1.5496082669460161481e-128),
    (1.5, 650.0, 3.3278807185719027167e-280),
    (2.0, 1e-12, 1.0),
    (2.0, 1e-05, 0.99999999997500000001),
    (2.0, 0.01, 0.99997500341947053118),
    (2.0, 0.3, 0.97855831276169087713),
    (2.0, 1.0, 0.81241944931758874141),
    (2.0, 4.5, 0.096649981678100400955),
    (2.0, 30.0, 1.0246468334651218498e-11),
    (2.0, 300.0, 1.6868523722751115866e-127),
    (2.0, 650.0, 5.324006170290658842e-279),
    (3.3, 1e-12, 1.0),
    (3.3, 1e-05, 0.99999999998913043478),
    (3.3, 0.01, 0.99998913053929486193),
    (3.3, 0.3, 0.99030051448526957636),
    (3.3, 1.0, 0.90037058540647427296),
    (3.3, 4.5, 0.20212249524227904591),
    (3.3, 30.0, 1.4448005927327623161e-10),
    (3.3, 300.0, 4.2882791228274833694e-125),
    (3.3, 650.0, 3.6753223900571482129e-276),
    (4.5, 1e-12, 1.0),
    (4.5, 1e-05, 0.99999999999285714286),
    (4.5, 0.01, 0.99999285717857123016),
    (4.5, 0.3, 0.9936002139427336368),
    (4.5, 1.0, 0.93196125096765388138),
    (4.5, 4.5, 0.2973045198547097276),
    (4.5, 30.0, 1.0014929142237133727e-9),
    (4.5, 300.0, 4.1058522648911765082e-123),
    (4.5, 650.0, 8.8252534379694559789e-274),
    (10.5, 1e-12, 1.0),
    (10.5, 1e-05, 0.99999999999736842105),
    (10.5, 0.01, 0.99999736842492259632),
    (10.5, 0.3, 0.99763471049032658106),
    (10.5, 1.0, 0.97406694843813745375),
    (10.5, 4.5, 0.59596465958542634517),
    (10.5, 30.0, 5.0412382037790150767e-7),
    (10.5, 300.0, 5.5755371857532796578e-115),
    (10.5, 650.0, 1.1438726567801977496e-263),
    (25.0, 1e-12, 1.0),
    (25.0, 1e-05, 0.99999999999895833333),
    (25.0, 0.01, 0.99999895833389945631),
    (25.0, 0.3, 0.99906295840349727409),
    (25.0, 1.0, 0.98963973184819627245),
    (25.0, 4.5, 0.81059854033585244661),
    (25.0, 30.0, 0.00030747793200776620377),
    (25.0, 300.0, 8.5695895581439186754e-101),
    (25.0, 650.0, 8.205865393709366467e-245),
];

fn value(name: &str) -> f64 {
    VALUES.iter().find(|(n, _)| *n == name).expect("a row of the table").1
}

/// k(x, y) from a 2 × 2 block, for points of dimension `d`.
fn entry<T: Scalar>(kernel: &dyn Kernel<T>, x: &[f64], y: &[f64]) -> f64 {
    let both = faer::Mat::from_fn(x.len(), 2, |k, i| T::lit(if i == 0 { x[k] } else { y[k] }));
    let points = Points::from_cols(both.as_ref());
    kernel.check_points(points).expect("valid points");
    kernel.eval(points, points)[(0, 1)].f64()
}

fn check<K: Kernel<f64> + Kernel<f32>>(name: &str, kernel: K, d: usize) {
    let (x, y) = (&X[..d], if d == 1 { &Y[2..] } else { &Y[..d] });
    let exact = value(name);
    let wide = entry::<f64>(&kernel, x, y);
    let narrow = entry::<f32>(&kernel, x, y);
    assert!(
        (wide - exact).abs() <= 8.0 * f64::EPSILON * exact.abs(),
        "{name}: {wide:e}, exactly {exact:e}"
    );
    assert!(
        (narrow - exact).abs() <= 16.0 * f32::EPSILON as f64 * exact.abs(),
        "{name} in f32: {narrow:e}, exactly {exact:e}"
    );
}

#[test]
fn every_kernel_agrees_with_high_precision() {
    check("gaussian", Gaussian::new(L).unwrap(), 3);
    check("gaussian gamma", Gaussian::from_gamma(0.375).unwrap(), 3);
    check("gaussian bandwidth", Gaussian::from_squared_bandwidth(5.0).unwrap(), 3);
    check("laplacian euclidean", LaplacianEuclidean::new(L).unwrap(), 3);
    check("laplacian euclidean", Matern12::from_a(1.0 / L).unwrap(), 3);
    check("laplacian euclidean", Matern::new(0.5, L).unwrap(), 3);
    check("laplacian l1", LaplacianL1::new(L).unwrap(), 3);
    check("laplacian l1", LaplacianL1::from_gamma(1.0 / L).unwrap(), 3);
    check("matern 3/2", Matern32::new(L).unwrap(), 3);
    check("matern 3/2", Matern::from_a(1.5, 3.0_f64.sqrt() / L).unwrap(), 3);
    check("matern 5/2", Matern52::new(L).unwrap(), 3);
    check("matern 5/2", Matern::new(2.5, L).unwrap(), 3);
    check("matern 0.3", Matern::new(0.3, L).unwrap(), 3);
    check("rational quadratic", RationalQuadratic::new(0.7, L).unwrap(), 3);
    check("power exponential 0.3", PowerExponential::new(0.3, L).unwrap(), 3);
    check("power exponential 1.7", PowerExponential::new(1.7, L).unwrap(), 3);
    check("gaussian bandwidth", PowerExponential::new(2.0, 5.0_f64.sqrt()).unwrap(), 3);
    check("laplacian euclidean", PowerExponential::new(1.0, L).unwrap(), 3);
    check("power exponential l1 0.7", PowerExponentialL1::new(0.7, L).unwrap(), 3);
    check("linear", Linear::with_bias(0.5).unwrap(), 3);
    check("polynomial", Polynomial::new(5, 0.25, 1.0).unwrap(), 3);
    check("periodic", Periodic::new(3.0, L).unwrap(), 3);
    check(
        "gaussian ard",
        Gaussian::new(1.0).unwrap().with_length_scales(&[0.5, 3.0, 1.25]).unwrap(),
        3,
    );
    for beta in 1..=4 {
        check(&format!("bernoulli {beta}"), Bernoulli::new(beta).unwrap(), 1);
    }
}

#[test]
fn matern_of_any_smoothness_is_within_1e12_of_high_precision() {
    for (nu, t, exact) in MATERN {
        let kernel = Matern::from_a(nu, 1.0).unwrap();
        let k = entry::<f64>(&kernel, &[0.0], &[t]);
        assert!((k - exact).abs() <= 1e-12 * exact, "nu = {nu}, t = {t}: {k:e}, exactly {exact:e}");
        let narrow = entry::<f32>(&kernel, &[0.0], &[t]);
        let tolerance = 1e-6 * exact * (1.0 + t) + 1e-44;
        assert!(
            (narrow - exact).abs() <= tolerance,
            "nu = {nu}, t = {t} in f32: {narrow:e}, exactly {exact:e}"
        );
    }
}

#[test]
fn the_bessel_function_agrees_with_the_closed_forms_at_half_integers() {
    // The closed forms take over exactly at 1/2, 3/2, 5/2, so the Bessel function is asked a hair
    // beside; dκ/dν is below 1.
    let t = faer::Mat::from_fn(200, 1, |i, _| 1e-3 * 1.06_f64.powi(i as i32));
    let origin = [0.0];
    let (x, y) = (Points::from_rows(t.as_ref()), Points::from_slice(&origin));
    for (nu, closed) in [
        (0.5, Matern12::from_a(1.0).unwrap().eval(x, y)),
        (1.5, Matern32::from_a(1.0).unwrap().eval(x, y)),
        (2.5, Matern52::from_a(1.0).unwrap().eval(x, y)),
    ] {
        let beside = Matern::from_a(f64::next_up(nu), 1.0).unwrap().eval(x, y);
        for i in 0..t.nrows() {
            let (a, b) = (beside[(i, 0)], closed[(i, 0)]);
            assert!(
                (a - b).abs() <= 1e-12 * b.max(1e-290),
                "nu = {nu}, t = {}: {a:e} against {b:e}",
                t[(i, 0)]
            );
        }
    }
}

#[test]
fn the_bernoulli_kernel_is_its_fourier_series() {
    for beta in 1..=4_u32 {
        let kernel = Bernoulli::new(beta).unwrap();
        for u in [0.0, 0.1, 0.37, 0.5, 0.93] {
            let terms = |m: i32| {
                (2.0 * std::f64::consts::PI * m as f64 * u).cos()
                    / (2.0 * std::f64::consts::PI * m as f64).powi(2 * beta as i32)
            };
            let last = 200_000;
            let series: f64 = 2.0 * (1..=last).rev().map(terms).sum::<f64>();
            let tail = 2.0
                / (2.0 * std::f64::consts::PI).powi(2 * beta as i32)
                / (last as f64).powi(2 * beta as i32 - 1);
            let k = entry::<f64>(&kernel, &[0.95 + u], &[0.95]);
            assert!(
                (k - series).abs() <= tail + 1e-15,
                "beta = {beta}, u = {u}: {k} against {series}"
            );
        }
    }
}
