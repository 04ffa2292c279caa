//! Every bad parameter and every bad point set is a typed error that names the value.

use faer::{Mat, mat};
use nystrom_kernels::*;
use nystrom_linalg_core::{Error, Result};
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn refuses<K>(parameter: &str, constructor: impl Fn(f64) -> Result<K>, bad: &[f64]) {
    for &value in bad {
        match constructor(value) {
            Err(Error::InvalidParameter { name, value: named, .. }) => {
                assert_eq!(name, parameter);
                assert!(named == value || named.is_nan() && value.is_nan());
            }
            Err(other) => panic!("{parameter} = {value}: {other}"),
            Ok(_) => panic!("{parameter} = {value} was accepted"),
        }
    }
}

const NOT_POSITIVE: [f64; 5] = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
const NEGATIVE: [f64; 4] = [-1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn parameters() {
    refuses("length scale", Gaussian::new, &NOT_POSITIVE);
    refuses("gamma", Gaussian::from_gamma, &NOT_POSITIVE);
    refuses("squared bandwidth", Gaussian::from_squared_bandwidth, &NOT_POSITIVE);
    refuses("length scale", LaplacianEuclidean::new, &NOT_POSITIVE);
    refuses("a", Matern12::from_a, &NOT_POSITIVE);
    refuses("length scale", Matern32::new, &NOT_POSITIVE);
    refuses("a", Matern32::from_a, &NOT_POSITIVE);
    refuses("length scale", Matern52::new, &NOT_POSITIVE);
    refuses("a", Matern52::from_a, &NOT_POSITIVE);
    refuses("nu", |nu| Matern::new(nu, 1.0), &NOT_POSITIVE);
    refuses("nu", |nu| Matern::new(nu, 1.0), &[100.1]);
    refuses("length scale", |l| Matern::new(1.0, l), &NOT_POSITIVE);
    refuses("a", |a| Matern::from_a(1.0, a), &NOT_POSITIVE);
    refuses("nu", |nu| Matern::from_a(nu, 1.0), &[0.0, f64::NAN]);
    refuses("power", |q| PowerExponentialL1::new(q, 1.0), &NOT_POSITIVE);
    refuses("power", |q| PowerExponentialL1::new(q, 1.0), &[1.0_f64.next_up(), 2.0]);
    refuses("power", |q| PowerExponential::new(q, 1.0), &NOT_POSITIVE);
    refuses("power", |q| PowerExponential::new(q, 1.0), &[2.0_f64.next_up(), 3.0]);
    refuses("length scale", |l| PowerExponential::new(1.0, l), &NOT_POSITIVE);
    refuses("alpha", |alpha| RationalQuadratic::new(alpha, 1.0), &NOT_POSITIVE);
    refuses("length scale", |l| RationalQuadratic::new(1.0, l), &NOT_POSITIVE);
    refuses("length scale", LaplacianL1::new, &NOT_POSITIVE);
    refuses("gamma", LaplacianL1::from_gamma, &NOT_POSITIVE);
    refuses("bias", Linear::with_bias, &NEGATIVE);
    refuses("gamma", |g| Polynomial::new(2, g, 1.0), &NOT_POSITIVE);
    refuses("offset", |c| Polynomial::new(2, 1.0, c), &NEGATIVE);
    refuses("degree", |p| Polynomial::new(p as u32, 1.0, 1.0), &[0.0]);
    refuses("beta", |b| Bernoulli::new(b as u32), &[0.0, 5.0]);
    refuses("period", |p| Periodic::new(p, 1.0), &NOT_POSITIVE);
    refuses("length scale", |l| Periodic::new(1.0, l), &NOT_POSITIVE);
    refuses("factor of a kernel", |c| Scaled::new(Linear::new(), c), &NOT_POSITIVE);
    refuses("length scale", |l| Gaussian::new(1.0)?.with_length_scales(&[1.0, l]), &NOT_POSITIVE);
    assert!(matches!(
        Gaussian::new(1.0).unwrap().with_length_scales(&[]),
        Err(Error::Empty { .. })
    ));
}

#[test]
fn points() {
    let gaussian = Gaussian::new(1.0).unwrap();
    let bad = |x: Mat<f64>| {
        KernelMatrix::new(gaussian, Points::from_rows(x.as_ref())).map(|_| ()).unwrap_err()
    };
    assert!(matches!(bad(Mat::zeros(0, 3)), Error::Empty { what: "points (n)" }));
    assert!(matches!(bad(Mat::zeros(3, 0)), Error::Empty { what: "coordinates of a point (d)" }));
    assert!(matches!(
        bad(mat![[1.0, 2.0], [3.0, f64::NAN]]),
        Error::NonFinite { row: 1, col: 1, .. }
    ));
    assert!(matches!(bad(mat![[f64::INFINITY]]), Error::NonFinite { row: 0, col: 0, .. }));

    let x = mat![[1.0, 2.0]];
    let x = Points::from_rows(x.as_ref());
    let ard = gaussian.with_length_scales(&[1.0, 2.0, 3.0]).unwrap();
    assert!(matches!(KernelMatrix::new(&ard, x), Err(Error::Shape { expected: 3, got: 2, .. })));
    let bernoulli = Bernoulli::new(1).unwrap();
    assert!(matches!(
        KernelMatrix::new(bernoulli, x),
        Err(Error::Shape { expected: 1, got: 2, .. })
    ));
    let sum = Sum::new(gaussian, bernoulli);
    assert!(matches!(KernelMatrix::new(sum, x), Err(Error::Shape { expected: 1, got: 2, .. })));
    let scaled = Scaled::new(Product::new(bernoulli, gaussian), 2.0).unwrap();
    assert!(matches!(KernelMatrix::new(scaled, x), Err(Error::Shape { expected: 1, got: 2, .. })));
    assert!(matches!(
        x.check_same_dim(Points::from_slice(&[1.0])),
        Err(Error::Shape { expected: 2, got: 1, .. })
    ));
}

#[test]
fn precomputed() {
    assert!(matches!(Precomputed::<f64>::new(Mat::zeros(0, 0)), Err(Error::Empty { .. })));
    assert!(matches!(Precomputed::<f64>::new(Mat::zeros(2, 3)), Err(Error::Shape { .. })));
    assert!(matches!(Precomputed::new(mat![[f64::NAN]]), Err(Error::NonFinite { .. })));
    assert!(matches!(
        Precomputed::new(mat![[1.0, 2.0], [0.0, 1.0]]),
        Err(Error::NotSymmetric { .. })
    ));
    let k = Precomputed::new(mat![[1.0, 0.5], [0.5, 1.0]]).unwrap();
    let bad = |x: &[f64]| KernelMatrix::new(&k, Points::from_slice(x)).map(|_| ()).unwrap_err();
    assert!(matches!(bad(&[0.0, 2.0]), Error::IndexOutOfRange { position: 1, index: 2, n: 2, .. }));
    assert!(matches!(bad(&[0.5]), Error::InvalidParameter { value: 0.5, .. }));
    assert!(matches!(bad(&[1.0, -1.0]), Error::InvalidParameter { value: -1.0, .. }));
    assert!(matches!(bad(&[f64::NAN]), Error::NonFinite { .. }));
    let flat = mat![[0.0, 1.0]];
    assert!(matches!(
        KernelMatrix::new(&k, Points::from_rows(flat.as_ref())),
        Err(Error::Shape { expected: 1, got: 2, .. })
    ));
    // also behind a combination
    let scaled = Scaled::new(&k, 2.0).unwrap();
    assert!(KernelMatrix::new(scaled, Points::from_slice(&[7.0])).is_err());
}

#[test]
fn median_heuristic_without_distances() {
    let mut rng = Pcg64::seed_from_u64(0);
    let mut ask = |x: &[f64], pairs| median_heuristic(Points::from_slice(x), pairs, &mut rng);
    assert!(matches!(ask(&[], 10), Err(Error::Empty { .. })));
    assert!(matches!(ask(&[1.0, 2.0], 0), Err(Error::Empty { .. })));
    assert!(matches!(ask(&[1.0], 10), Err(Error::InvalidParameter { value: 1.0, .. })));
    assert!(matches!(ask(&[3.0; 50], 100), Err(Error::InvalidParameter { value: 0.0, .. })));
    assert!(matches!(ask(&[1.0, f64::NAN], 10), Err(Error::NonFinite { .. })));
    assert_eq!(ask(&[1.0, 3.5], 10).unwrap(), 2.5);
    // nine of ten pairs at distance 0: the others decide
    let mostly_equal: Vec<f64> = (0..40).map(|i| if i == 7 { 2.0 } else { 0.0 }).collect();
    assert_eq!(ask(&mostly_equal, 1000).unwrap(), 2.0);
}

#[test]
fn median_heuristic_is_the_median_and_repeats_for_a_seed() {
    // a constant feature
    let x = Mat::from_fn(200, 2, |i, k| if k == 0 { (i * i % 199) as f64 } else { 5.0 });
    let points = Points::from_rows(x.as_ref());
    let estimate = |seed| median_heuristic(points, 4000, &mut Pcg64::seed_from_u64(seed)).unwrap();
    assert_eq!(estimate(1), estimate(1));
    let mut all: Vec<f64> = (0..200)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (x[(i, 0)] - x[(j, 0)]).abs())
        .collect();
    all.retain(|&r| r > 0.0);
    all.sort_by(f64::total_cmp);
    let quantile = |q: f64| all[(q * all.len() as f64) as usize];
    assert!((quantile(0.45)..=quantile(0.55)).contains(&estimate(2)));
}

#[test]
fn kernels_survive_serialisation() {
    let kernel = Sum::new(
        Scaled::new(Matern::new(0.8, 1.5).unwrap(), 2.0).unwrap(),
        Product::new(
            Gaussian::new(1.0).unwrap().with_length_scales(&[2.0]).unwrap(),
            Bernoulli::new(3).unwrap(),
        ),
    );
    let text = serde_json::to_string(&kernel).unwrap();
    let back: Sum<Scaled<Matern>, Product<Ard<SquaredExponential>, Bernoulli>> =
        serde_json::from_str(&text).unwrap();
    assert_eq!(back, kernel);
    let table = Precomputed::new(mat![[1.0, 0.5], [0.5, 1.0_f32]]).unwrap();
    let back: Precomputed<f32> =
        serde_json::from_str(&serde_json::to_string(&table).unwrap()).unwrap();
    assert_eq!(back, table);
}

/// A damaged file with these fields under the kernel's name is refused with the message of the
/// kernel's own constructor.
fn refused<K: SavedKernel + serde::de::DeserializeOwned>(fields: &str, message: &str) {
    let text = format!(r#"{{"{}": {fields}}}"#, K::name());
    let error =
        serde_json::from_str::<K>(&text).err().unwrap_or_else(|| panic!("{text} was accepted"));
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn damaged_files_hold_no_kernel() {
    refused::<Gaussian>(
        r#"{"profile": null, "length_scale": -1.0}"#,
        "length scale = -1 is not valid",
    );
    refused::<Matern>(r#"{"profile": {"nu": 0.0}, "length_scale": 1.0}"#, "nu = 0 is not valid");
    refused::<Matern>(
        r#"{"profile": {"nu": 101.0}, "length_scale": 1.0}"#,
        "nu = 101 is not valid",
    );
    refused::<RationalQuadratic>(
        r#"{"profile": {"alpha": 0.0}, "length_scale": 1.0}"#,
        "alpha = 0 is not valid",
    );
    refused::<PowerExponential>(
        r#"{"profile": {"power": 2.5}, "length_scale": 1.0}"#,
        "power = 2.5 is not valid",
    );
    let ard = |scales: &str| format!(r#"{{"profile": null, "length_scales": [{scales}]}}"#);
    refused::<Ard<SquaredExponential>>(&ard("1.0, 0.0"), "length scale = 0");
    refused::<Ard<SquaredExponential>>(&ard(""), "length scales is empty");
    refused::<LaplacianL1>(r#"{"length_scale": 0.0}"#, "length scale = 0 is not valid");
    refused::<Bernoulli>(r#"{"beta": 5}"#, "beta = 5 is not valid");
    let gaussian = r#"{"profile": null, "length_scale": 1.0}"#;
    refused::<Periodic>(
        &format!(r#"{{"period": 0.0, "gaussian": {gaussian}}}"#),
        "period = 0 is not valid",
    );
    refused::<Linear>(r#"{"bias": -1.0}"#, "bias = -1 is not valid");
    refused::<Polynomial>(
        r#"{"degree": 0, "gamma": 1.0, "offset": 0.0}"#,
        "degree = 0 is not valid",
    );
    let named = format!(r#"{{"gaussian": {gaussian}}}"#);
    refused::<Scaled<Gaussian>>(
        &format!(r#"{{"kernel": {named}, "factor": 0.0}}"#),
        "factor of a kernel = 0",
    );
    let asymmetric =
        r#"{"matrix": {"nrows": 2, "ncols": 2, "column_major": [1.0, 0.5, 0.4, 1.0]}}"#;
    refused::<Precomputed<f64>>(asymmetric, "is not symmetric");
}
