//! Sparse points: every fit is that of the dense points that they stand for, and models of them are
//! saved and predict.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, LaplacianL1, Linear, Points, SparseRows};
use nystrom_krr::{
    Certificate, DictionaryKrr, DivideAndConquerKrr, ExactKrr, Falkon, FullKrr, IterativeOptions,
    Krill, KrrModel, LearnedMetric, LogisticKrr, NormalEquations, NystromKrr, Problem, RowSums,
    SketchedKrr, TightCertificate, lambda_grid,
};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{Accumulation, Dictionary, LandmarkSelector, Landmarks, RpCholesky};
use rand::RngExt;

const N: usize = 260;

/// Rows of word counts, their targets, and both forms of the rows.
fn texts() -> (Mat<f64>, Mat<f64>, SparseRows<f64>) {
    let rng = &mut rng(1);
    let d = 150;
    let mut x = Mat::zeros(N, d);
    for i in 0..N {
        for _ in 0..1 + i % 12 {
            let word = (rng.random::<f64>().powi(2) * d as f64) as usize;
            x[(i, word)] += 1.0;
        }
    }
    let y = Mat::from_fn(N, 2, |i, j| (0..d).map(|k| x[(i, k)] * ((k + j) as f64).sin()).sum());
    let sparse = SparseRows::from_dense(x.as_ref()).unwrap();
    (x, y, sparse)
}

fn agree<K: Kernel<f64>>(
    name: &str,
    (x, y): ([Points<'_, f64>; 2], &Mat<f64>),
    fit: impl Fn(Problem<'_, f64>) -> KrrModel<K, f64>,
) {
    let [dense, sparse] = x.map(|x| fit((x, y).into()).predict(x).unwrap());
    let gap = distance(dense.as_ref(), sparse.as_ref());
    assert!(gap < 1e-8 * dense.norm_max(), "{name}: {gap:e}");
}

#[test]
fn every_fit_is_that_of_dense_points() {
    let (x, y, sparse) = texts();
    let both = [Points::from_rows(x.as_ref()), sparse.points()];
    let (kernel, ridge, w) = (gaussian(3.0), Ridge::PerSample(1e-3), weights(N));
    let landmarks = &Landmarks::new(N, (0..N).step_by(4).collect()).unwrap();
    let options = IterativeOptions { tolerance: 1e-12, max_iterations: 300, memory: None };
    let data = (both, &y);
    agree("Nyström", data, |problem| {
        let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, ridge) };
        krr.fit(problem.weighted(&w), landmarks).unwrap()
    });
    agree("Laplacian", data, |problem| {
        NystromKrr::new(LaplacianL1::new(9.0).unwrap(), ridge).fit(problem, landmarks).unwrap()
    });
    agree("linear", data, |problem| {
        NystromKrr::new(Linear::new(), ridge).fit(problem, landmarks).unwrap()
    });
    agree("exact", data, |problem| ExactKrr::new(kernel, ridge).fit(problem).unwrap());
    agree("all data", data, |problem| {
        let full = FullKrr { options, rank: Some(60), ..FullKrr::new(kernel, ridge) };
        full.fit(problem, &mut rng(2)).unwrap().model
    });
    agree("Falkon", data, |problem| {
        let falkon = Falkon { options, ..Falkon::new(kernel, ridge) };
        falkon.fit(problem, landmarks).unwrap().model
    });
    agree("KRILL", data, |problem| {
        let krill = Krill { options, ..Krill::new(kernel, ridge) };
        krill.fit(problem, landmarks, &mut rng(3)).unwrap().model
    });
    agree("sketch", data, |problem| {
        let sketch = Accumulation::uniform(4).sample(N, 40, &mut rng(4)).unwrap();
        SketchedKrr::new(kernel, ridge).fit(problem, &sketch).unwrap()
    });
    agree("dictionary", data, |problem| {
        let dictionary = Dictionary::new(N, (0..80).collect(), vec![3.0; 80]).unwrap();
        DictionaryKrr { kernel, ridge, gamma: Ridge::PerSample(1e-2) }
            .fit(problem, &dictionary)
            .unwrap()
    });
    agree("path", data, |problem| {
        let grid = lambda_grid(1e-1, 1e-6, 8).unwrap();
        let krr = NystromKrr::without_ridge(kernel);
        let path = krr.path(problem, landmarks, &grid).unwrap();
        let residuals = path.leave_one_out(grid[3], problem).unwrap();
        assert!(residuals.norm_max() > 0.0);
        path.model_at(grid[3]).unwrap()
    });
    let labels = Mat::from_fn(N, 1, |i, _| if y[(i, 0)] > 0.0 { 1.0 } else { -1.0 });
    agree("classes", (both, &labels), |problem| {
        let krr = LogisticKrr { tolerance: 1e-10, ..LogisticKrr::new(kernel, ridge) };
        krr.fit(problem, landmarks).unwrap()
    });
    let parts = DivideAndConquerKrr { parts: 3, ..DivideAndConquerKrr::new(kernel, ridge) };
    let [dense, sparse] =
        both.map(|x| parts.fit((x, &y), &mut rng(5)).unwrap().predict(x).unwrap());
    assert!(distance(dense.as_ref(), sparse.as_ref()) < 1e-8 * dense.norm_max());
}

#[test]
fn selectors_and_certificates_see_the_same_matrix() {
    let (x, y, sparse) = texts();
    let [dense, sparse] = [Points::from_rows(x.as_ref()), sparse.points()].map(|x| {
        let k = KernelMatrix::new(gaussian(3.0), x).unwrap();
        let chosen = RpCholesky::default().select(&k, 30, &mut rng(6)).unwrap();
        let krr = NystromKrr::new(gaussian(3.0), Ridge::PerSample(1e-3));
        let model = krr.fit((x, &y), &chosen).unwrap();
        let all = Certificate { rows: 1000, ..Certificate::default() };
        let bound = all.certify(&model, (x, &y), &mut rng(7)).unwrap();
        let tight = TightCertificate::default();
        let tight = tight.certify(&model, (x, &y), &mut rng(7)).unwrap();
        (chosen.indices().to_vec(), bound.targets[0].bound, tight.targets[0].bound)
    });
    assert_eq!(dense.0, sparse.0);
    assert!((dense.1 / sparse.1 - 1.0).abs() < 1e-6 && (dense.2 / sparse.2 - 1.0).abs() < 1e-6);
}

#[test]
fn a_saved_model_predicts_the_same_bits() {
    let (_, y, sparse) = texts();
    let krr = NystromKrr::new(gaussian(3.0), Ridge::PerSample(1e-3));
    let landmarks = Landmarks::new(N, (0..N).step_by(4).collect()).unwrap();
    let model = krr.fit((sparse.points(), &y), &landmarks).unwrap();
    assert!(model.centers().is_sparse() && model.centers().stored() < sparse.nonzeros());
    let text = serde_json::to_string(&model).unwrap();
    let loaded: KrrModel<Gaussian, f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, model);
    let of = |model: &KrrModel<_, f64>| model.predict(sparse.points()).unwrap();
    assert_eq!(of(&loaded), of(&model));
    // a word that no row of the fit has
    let new = SparseRows::new(150, vec![0, 2], vec![3, 149], vec![1.0, 2.0]).unwrap();
    assert!(loaded.predict(new.points()).is_ok());
}

#[test]
fn what_needs_dense_points_says_so() {
    let (x, y, sparse) = texts();
    let (dense, points) = (Points::from_rows(x.as_ref()), sparse.points());
    let landmarks = &Landmarks::new(N, (0..40).collect()).unwrap();
    let krr = NystromKrr::new(gaussian(3.0), Ridge::PerSample(1e-3));
    let model = krr.fit((points, &y), landmarks).unwrap();
    let refused = |error: Error| {
        assert!(matches!(error, Error::Sparse { .. }), "{error}");
        assert!(error.to_string().contains("dense"), "{error}");
    };
    refused(model.predict(dense).unwrap_err());
    refused(model.gradient(points).unwrap_err());
    refused(krr.fit((points, &y), dense).unwrap_err());
    let problem = Problem::new(points, y.as_ref());
    let mut blocks = Blocks::new(problem, 100);
    refused(krr.fit_source(&mut blocks, points).unwrap_err());
    refused(krr.fit_source(&mut blocks, dense.slice(0..9)).unwrap_err());
    refused(NormalEquations::new(gaussian(3.0), points, 2).unwrap_err());
    let mut state = NormalEquations::new(gaussian(3.0), dense.slice(0..9), 2).unwrap();
    refused(state.accumulate(problem).unwrap_err());
    refused(LearnedMetric::default().learn(&Gaussian::new, problem, &mut rng(0)).unwrap_err());
    let narrow = SparseRows::new(3, vec![0, 1], vec![0], vec![1.0]).unwrap();
    assert!(matches!(model.predict(narrow.points()), Err(Error::Shape { expected: 150, .. })));
}
