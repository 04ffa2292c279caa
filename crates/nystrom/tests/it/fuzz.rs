//! No file makes the loading of a saved model panic, hang or take much memory, nor the use of what
//! was loaded.
//!
//! Valid files are damaged byte by byte and, still JSON, value by value. How many cases: see the
//! module `damage`. Options and reports are in `fuzz_plain.rs`.

use nystrom::faer::MatMut;
use nystrom::kernels::Bernoulli;
use nystrom::kernels::{Ard, MinMax, Periodic, Precomputed, Product, Scaled};
use nystrom::kernels::{SquaredExponential, Sum, Tanimoto};
use nystrom::krr::{Certificate, CertificateReport, DivideAndConquerModel, Folds, LinearMap};
use nystrom::leverage::{MergeTree, MergeTreeState, StreamDictionary, TreeShape};
use nystrom::linalg_core::{ConjugateGradients, LinearSystem, SavedSolve, Stop};
use nystrom::prelude::*;
use proptest::prelude::proptest;

use crate::damage::{cases, guarded};
use crate::damage_json::{Target, damaged_one_of, target};

/// A kernel, evaluated in one to three dimensions.
macro_rules! kernel {
    ($value:expr => $type:ty) => {
        target!($value => $type, |kernel: $type| {
            for d in 1..4 {
                let x = Mat::from_fn(d, 4, |i, j| ((i + 2) * j) as f64 / 3.0);
                let points = Points::from_cols(x.as_ref());
                if kernel.check_points(points).is_ok() {
                    assert_eq!(kernel.gram(points).nrows(), 4);
                }
            }
        })
    };
}

/// A model with this kernel, which predicts.
macro_rules! model {
    ($kernel:expr => $type:ty) => {
        target!(fitted($kernel) => KrrModel<$type, f64>, |model: KrrModel<$type, f64>| {
            let x = Mat::from_fn(model.centers().dim(), 3, |i, j| (i + j) as f64);
            if let Ok(f) = model.predict(Points::from_cols(x.as_ref())) {
                assert_eq!((f.nrows(), f.ncols()), (3, model.coefficients().ncols()));
            }
        })
    };
}

const X: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

fn fitted<K: Kernel<f64> + Clone>(kernel: K) -> KrrModel<K, f64> {
    let y = Mat::from_fn(6, 2, |i, j| (i + j) as f64);
    let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, Ridge::PerSample(0.1)) };
    krr.fit((Points::from_slice(&X), y.as_ref()), &Landmarks::new(6, vec![0, 2, 5]).unwrap())
        .unwrap()
}

fn streamed() -> Squeak<Gaussian, f64> {
    let mut squeak =
        Squeak::new(Gaussian::new(1.0).unwrap(), 1, 0.5, SqueakParams::new(5)).unwrap();
    squeak.push(Points::from_slice(&X), &mut Pcg64::seed_from_u64(0)).unwrap();
    squeak
}

/// Three chunks of two points, none done.
fn tree() -> MergeTree<Gaussian, f64> {
    let (kernel, params) = (Gaussian::new(1.0).unwrap(), SqueakParams::new(5));
    let rng = &mut Pcg64::seed_from_u64(2);
    MergeTree::new(kernel, 1, 0.5, params, TreeShape::Balanced, &[2; 3], rng).unwrap()
}

fn chunk(c: usize) -> Points<'static, f64> {
    Points::from_slice(&X[2 * c..2 * (c + 1)])
}

/// diag(1, 2, …), without a preconditioner.
struct Diagonal;

impl LinearSystem for Diagonal {
    fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
        out.copy_from(Mat::from_fn(x.nrows(), x.ncols(), |i, j| (i + 1) as f64 * x[(i, j)]));
        Ok(())
    }
    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(r);
    }
}

/// A solve after its second iteration.
fn saved_solve(b: MatRef<'_, f64>) -> SavedSolve {
    let mut solve = ConjugateGradients::start(&mut Diagonal, b, None).unwrap();
    let two = &mut |cg: &ConjugateGradients| (cg.iterations() == 2).then_some(Stop::Asked);
    solve.run(&mut Diagonal, b, 1e-8, 100, two).unwrap();
    solve.save()
}

fn kernels() -> Vec<Target> {
    let gaussian = || Gaussian::new(1.5).unwrap();
    let ard = gaussian().with_length_scales(&[1.0, 2.0]).unwrap();
    vec![
        kernel!(gaussian() => Gaussian),
        kernel!(Matern32::new(1.0).unwrap() => Matern32),
        kernel!(Matern::new(0.8, 1.5).unwrap() => Matern),
        kernel!(RationalQuadratic::new(0.8, 1.5).unwrap() => RationalQuadratic),
        kernel!(LaplacianL1::new(2.0).unwrap() => LaplacianL1),
        kernel!(Bernoulli::new(3).unwrap() => Bernoulli),
        kernel!(Periodic::new(2.0, 1.0).unwrap() => Periodic),
        kernel!(Linear::with_bias(1.0).unwrap() => Linear),
        kernel!(Polynomial::new(3, 0.5, 1.0).unwrap() => Polynomial),
        kernel!(Precomputed::new(Mat::<f64>::identity(3, 3)).unwrap() => Precomputed<f64>),
        kernel!(Tanimoto => Tanimoto),
        kernel!(MinMax => MinMax),
        kernel!(ard => Ard<SquaredExponential>),
        kernel!(Sum::new(Scaled::new(gaussian(), 2.0).unwrap(), Product::new(gaussian(),
            Linear::new()))
            => Sum<Scaled<Gaussian>, Product<Gaussian, Linear>>),
    ]
}

fn models() -> Vec<Target> {
    let y = Mat::from_fn(6, 1, |i, _| i as f64);
    let parts = DivideAndConquerKrr {
        parts: 2,
        ..DivideAndConquerKrr::new(Linear::new(), Ridge::PerSample(0.1))
    };
    let parts =
        parts.fit((Points::from_slice(&X), y.as_ref()), &mut Pcg64::seed_from_u64(0)).unwrap();
    vec![
        model!(Gaussian::new(1.5).unwrap() => Gaussian),
        model!(Matern::new(0.8, 1.5).unwrap() => Matern),
        model!(Precomputed::new(Mat::<f64>::identity(6, 6)).unwrap() => Precomputed<f64>),
        target!(parts => DivideAndConquerModel<Linear, f64>, |model: DivideAndConquerModel<Linear,
            f64>| {
            let _ = model.predict(Points::from_slice(&X));
        }),
    ]
}

fn streams() -> Vec<Target> {
    let mut half = tree();
    (1..3).for_each(|c| half.insert(c, chunk(c)).unwrap());
    vec![
        target!(streamed() => Squeak<Gaussian, f64>, |mut squeak: Squeak<Gaussian, f64>| {
            let rng = &mut Pcg64::seed_from_u64(1);
            let x = Mat::from_fn(squeak.dictionary().dim().min(9), 3, |i, j| (i + j) as f64);
            if squeak.push(Points::from_cols(x.as_ref()), rng).is_ok() {
                let _ = squeak.settle(rng);
            }
            let _ = squeak.member_scores();
            let _ = squeak.merge(&streamed().starting_at(1 << 40), rng);
        }),
        target!(half.state() => MergeTreeState<f64>, |state: MergeTreeState<f64>| {
            let mut tree = tree();
            if tree.take(state).is_ok() {
                (0..3).for_each(|c| drop(tree.insert(c, chunk(c))));
                let _ = tree.finish();
            }
        }),
        target!(streamed().dictionary() => StreamDictionary<f64>,
            |dictionary: StreamDictionary<f64>| {
            assert!(dictionary.weights().iter().all(|w| *w > 0.0 && w.is_finite()));
            assert_eq!(dictionary.points().len(), dictionary.len());
            let _ = dictionary.by_rows();
        }),
        target!(Landmarks::new(6, vec![0, 3]).unwrap() => Landmarks, |landmarks: Landmarks| {
            assert!(landmarks.indices().iter().all(|&i| i < landmarks.n()));
        }),
        target!(Dictionary::new(6, vec![0, 3], vec![1.0, 2.0]).unwrap() => Dictionary<f64>,
            |dictionary: Dictionary<f64>| {
            assert!(dictionary.indices().iter().all(|&i| i < dictionary.n()));
        }),
    ]
}

fn parts() -> Vec<Target> {
    let b = || Mat::from_fn(5, 2, |i, j| (i + 2 * j) as f64);
    let (x, y) = (Points::from_slice(&X), Mat::from_fn(6, 2, |i, j| (i * i + j) as f64));
    let model = fitted(Gaussian::new(1.5).unwrap());
    let certificate = Certificate { rows: 3, ..Certificate::default() };
    let certificate = certificate.certify(&model, (x, &y), &mut Pcg64::seed_from_u64(0)).unwrap();
    vec![
        target!(saved_solve(b().as_ref()) => SavedSolve, |saved: SavedSolve| {
            let b = Mat::from_fn(5, 2, |i, j| (i + 2 * j) as f64);
            if let Ok(mut solve) = ConjugateGradients::resume(&saved, &mut Diagonal, b.as_ref()) {
                let _ = solve.run(&mut Diagonal, b.as_ref(), 1e-8, 100, &mut |_| None);
                assert!(solve.condition() >= 1.0);
            }
            let _ = SavedSolve::from_bytes(&saved.to_bytes());
        }),
        target!(certificate => CertificateReport, |report: CertificateReport| {
            let _ = (report.closeness(), report.relative_bound(), report.scaled(&[2.0, 0.5]));
        }),
        target!(LinearMap::full(b().subrows(0, 2).to_owned()).unwrap() => LinearMap, by_map),
        target!(LinearMap::diagonal(vec![2.0, 0.5]).unwrap() => LinearMap, by_map),
        target!(Folds::random(9, 3, &mut Pcg64::seed_from_u64(0)).unwrap() => Folds,
            |folds: Folds| {
            let rows: usize = (0..folds.len()).map(|fold| folds.test(fold).len()).sum();
            let fits = |fold: usize| folds.train(fold).len() + folds.test(fold).len() == rows;
            assert!((0..folds.len()).all(fits));
            assert!((0..folds.len()).flat_map(|fold| folds.test(fold)).all(|&row| row < rows));
        }),
    ]
}

fn by_map(map: LinearMap) {
    let d = map.dim().min(9);
    let x = Mat::from_fn(d, 3, |i, j| (i + j) as f64);
    if let Ok(mapped) = map.apply(Points::from_cols(x.as_ref())) {
        assert_eq!(mapped.shape(), (d, 3));
    }
    let _ = (map.form(), map.matrix());
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    for (file, load) in [kernels(), models(), streams(), parts()].concat() {
        assert!(!file.is_empty());
        load(&file);
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn a_saved_kernel((load, file) in damaged_one_of(kernels())) {
        guarded(file, load);
    }

    #[test]
    fn a_saved_model((load, file) in damaged_one_of(models())) {
        guarded(file, load);
    }

    #[test]
    fn saved_parts_of_fits((load, file) in damaged_one_of(parts())) {
        guarded(file, load);
    }

    #[test]
    fn a_saved_stream((load, file) in damaged_one_of(streams())) {
        guarded(file, load);
    }
}
