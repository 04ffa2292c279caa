//! Falkon on the span of a sketch.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{Falkon, IterativeOptions, SketchedKrr, Solver};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{
    Accumulation, Dictionary, GaussianSketch, Sketch, SketchDistribution, SparseSketch,
};
use proptest::prelude::*;

fn falkon(lambda: f64, options: IterativeOptions) -> Falkon<Gaussian, f64> {
    Falkon { options, ..Falkon::new(gaussian(0.7), Ridge::PerSample(lambda)) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Sparse ones are streamed, dense ones kept: either way f_S as solved directly.
    #[test]
    fn at_convergence_it_is_the_direct_solution(
        n in 20..300usize, t in 1..3usize, d in 1..15usize, seed in 0..1000u64,
        log_lambda in -4.0..0.0f64, dense: bool, intercept: bool,
    ) {
        let (x, y) = sample::<f64>(n, 3, t, seed);
        let (points, lambda) = (Points::from_rows(x.as_ref()), 10f64.powf(log_lambda));
        let law: &dyn SketchDistribution<f64> =
            if dense { &GaussianSketch } else { &Accumulation::uniform(3) };
        let sketch = law.draw(n, d.min(n), &mut rng(seed)).unwrap();
        let options = IterativeOptions { tolerance: 1e-12, max_iterations: 300, memory: None };
        let falkon = Falkon { intercept, ..falkon(lambda, options) };
        let fit = falkon.fit_sketch((points, y.as_ref()), &*sketch).unwrap();
        prop_assert!(fit.converged(), "{:?} {:e}", fit.report.stop, fit.report.residual);
        let direct = SketchedKrr { intercept, solver: Solver::Qr,
            ..SketchedKrr::new(gaussian(0.7), Ridge::PerSample(lambda)) };
        let direct = direct.fit((points, y.as_ref()), &*sketch).unwrap();
        let (a, b) = (fit.model.predict(points).unwrap(), direct.predict(points).unwrap());
        prop_assert!(distance(a.as_ref(), b.as_ref()) < 1e-8 * (1.0 + b.norm_max()), "{:e}",
            distance(a.as_ref(), b.as_ref()));
        prop_assert!(fit.model.centers().len() == sketch.support().len());
    }
}

/// A sketch with one entry √w in each column is a dictionary with weights w: the same centres,
/// equations and preconditioner.
#[test]
fn one_entry_per_column_is_a_dictionary() {
    let n = 2000;
    let (x, y) = sample::<f64>(n, 2, 1, 1);
    let points = Points::from_rows(x.as_ref());
    let p: Vec<f64> = (0..n).map(|i| 1.0 + (i % 7) as f64).collect();
    let dictionary = Dictionary::with_replacement(&p, 150, &mut rng(2)).unwrap();
    let columns = dictionary
        .indices()
        .iter()
        .zip(dictionary.weights())
        .map(|(&i, w)| vec![(i, w.sqrt())])
        .collect();
    let sketch = SparseSketch::new(n, columns).unwrap();
    let falkon = falkon(1e-3, IterativeOptions::default());
    let a = falkon.fit((points, y.as_ref()), &dictionary).unwrap();
    let b = falkon.fit_sketch((points, y.as_ref()), &sketch).unwrap();
    assert_eq!(a.report.iterations, b.report.iterations);
    assert!((a.report.condition / b.report.condition - 1.0).abs() < 1e-6);
    let (f, g) = (a.model.predict(points).unwrap(), b.model.predict(points).unwrap());
    // each is within 1e-6·‖y‖/(√n·λ) = 1e-3 of the solution; the same steps were taken, up to
    // rounding
    assert!(distance(f.as_ref(), g.as_ref()) < 1e-5, "{:e}", distance(f.as_ref(), g.as_ref()));
    assert_eq!(b.report.kernel_entries - a.report.kernel_entries, 0);
}

#[test]
fn entries_are_counted_and_kept_ones_evaluated_once() {
    let (n, d) = (3000, 40);
    let (x, y) = sample::<f64>(n, 2, 1, 3);
    let points = Points::from_rows(x.as_ref());
    let sparse = Accumulation::uniform(4).sample(n, d, &mut rng(4)).unwrap();
    let dense = GaussianSketch.sample::<f64>(n, d, &mut rng(5)).unwrap();
    let run = |sketch: &dyn Sketch<f64>, memory| {
        let options = IterativeOptions { memory, ..IterativeOptions::default() };
        falkon(1e-2, options).fit_sketch((points, y.as_ref()), sketch)
    };
    let u = Sketch::<f64>::support(&sparse).len();
    let (none, all) = (run(&sparse, None).unwrap(), run(&sparse, Some(1 << 28)).unwrap());
    let per_pass = (n * u) as u64;
    assert_eq!(all.report.kernel_entries, (u * u) as u64 + per_pass); // u ≤ 512: one tile
    assert_eq!(none.report.kernel_entries, (u * u) as u64 + none.report.passes as u64 * per_pass);
    assert!(none.model.coefficients() == all.model.coefficients());
    // dense: one triangle of K in tiles of 512, once; 8nd bytes are not to be had for less
    let kept = run(&dense, None).unwrap();
    let tiles: usize =
        (0..n).step_by(512).map(|start| (n.min(start + 512) - start) * n.min(start + 512)).sum();
    assert_eq!(
        (kept.report.kernel_entries, kept.report.memory.kept),
        (tiles as u64, (8 * n * d) as u64)
    );
    let needed = kept.report.memory.total();
    assert!(run(&dense, Some(needed)).is_ok());
    assert!(matches!(run(&dense, Some(needed - 1)), Err(Error::OutOfBudget { .. })));
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let (x, y) = sample::<f64>(2500, 2, 2, 6);
    for dense in [false, true] {
        let law: &dyn SketchDistribution<f64> =
            if dense { &GaussianSketch } else { &Accumulation::uniform(3) };
        same_at_any_thread_count(|| {
            let sketch = law.draw(2500, 30, &mut rng(7)).unwrap();
            let falkon = Falkon { intercept: true, ..falkon(1e-3, IterativeOptions::default()) };
            let problem = (Points::from_rows(x.as_ref()), y.as_ref());
            let fit = falkon.fit_sketch(problem, &*sketch).unwrap();
            (fit.model.coefficients().to_owned(), fit.report.history)
        });
    }
}

#[test]
fn a_sketch_of_another_size_is_refused() {
    let (x, y) = sample::<f64>(50, 2, 1, 8);
    let sketch = GaussianSketch.sample::<f64>(49, 5, &mut rng(9)).unwrap();
    let fit = falkon(1e-2, IterativeOptions::default())
        .fit_sketch((Points::from_rows(x.as_ref()), y.as_ref()), &sketch);
    assert!(matches!(fit, Err(Error::Shape { expected: 50, got: 49, .. })));
    let nothing = Mat::<f64>::zeros(0, 2);
    let fit = falkon(1e-2, IterativeOptions::default())
        .fit_sketch((Points::from_rows(nothing.as_ref()), y.as_ref()), &sketch);
    assert!(matches!(fit, Err(Error::Empty { .. })));
}

#[test]
fn a_budget_below_one_tile_is_refused_with_what_is_needed() {
    let (x, y) = sample::<f64>(3000, 2, 1, 8);
    let sketch = Accumulation::uniform(2).sample::<f64>(3000, 40, &mut rng(9)).unwrap();
    let fit = |memory| {
        let options = IterativeOptions { memory: Some(memory), ..IterativeOptions::default() };
        falkon(1e-2, options).fit_sketch((Points::from_rows(x.as_ref()), y.as_ref()), &sketch)
    };
    let Err(Error::OutOfBudget { needed, budget: 1000, .. }) = fit(1000) else { panic!() };
    assert!(matches!(fit(needed - 1), Err(Error::OutOfBudget { .. })));
    let report = fit(needed).unwrap().report;
    assert_eq!((report.memory.kept_rows, report.memory.total()), (0, needed));
}
