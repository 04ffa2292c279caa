//! States of fits in the span of a sketch.

use crate::common::{Blocks, gaussian, rng, sample, weights};
use faer::Mat;
use nystrom_kernels::Points;
use nystrom_krr::{NormalEquations, Problem, RowPasses, RowSums, SketchedKrr, TallQr};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{Accumulation, GaussianSketch, Sketch, SketchDistribution};

/// With a sketch of all rows the state is the fit in memory: model, path, leave-one-out errors.
#[test]
fn a_sketch_of_all_rows_is_the_fit_in_memory() {
    let (n, d) = (1500, 24);
    let (x, y) = sample::<f64>(n, 3, 2, 7);
    let w = weights(n);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let ridges = [1e-2, 1e-4].map(Ridge::PerSample);
    let laws: [&dyn SketchDistribution<f64>; 2] = [&Accumulation::uniform(4), &GaussianSketch];
    for (law, intercept) in laws.into_iter().zip([true, false]) {
        let sketch = law.draw(n, d, &mut rng(1)).unwrap();
        let krr = SketchedKrr { intercept, ..SketchedKrr::new(gaussian(1.0), ridges[1]) };
        let theirs = krr.fit(problem, &*sketch).unwrap();
        let offset: &[f64] = &[0.5, -2.0];
        let offset = intercept.then_some(offset);
        let empty =
            NormalEquations::sketched(gaussian(1.0), problem.x, &*sketch, 2, offset).unwrap();
        let mut rows = Blocks::new(problem, 333);
        let mut state = rows.pass(empty.empty()).unwrap();
        let ours = state.solve(ridges[1]).unwrap();
        let [f, g] = [&ours, &theirs].map(|model| model.predict(problem.x).unwrap());
        assert!((&f - &g).norm_max() < 1e-8 * g.norm_max());
        assert_eq!((ours.report().n, ours.report().m), (n, sketch.support().len()));

        let all = SketchedKrr { intercept, ..SketchedKrr::without_ridge(gaussian(1.0)) };
        let theirs = all.path(problem, &*sketch, &ridges).unwrap();
        let path = state.path(&ridges).unwrap();
        let loo = rows.pass(path.errors()).unwrap().leave_one_out().unwrap();
        for ((point, loo), expected) in path.points().iter().zip(loo).zip(theirs.points()) {
            assert!((point.d_eff / expected.d_eff - 1.0).abs() < 1e-8);
            assert!((loo / expected.loo - 1.0).abs() < 1e-8);
        }
        // bytes, the other kind of sums, and sums in another span
        let bytes = state.to_bytes();
        assert!(empty.read(&bytes).unwrap().to_bytes() == bytes);
        let factor = TallQr::sketched(gaussian(1.0), problem.x, &*sketch, 2, offset).unwrap();
        let by_factor = rows.pass(factor).unwrap().solve(ridges[1]).unwrap();
        assert!((by_factor.predict(problem.x).unwrap() - &f).norm_max() < 1e-8 * g.norm_max());
        let another = law.draw(n, d, &mut rng(2)).unwrap();
        let another =
            NormalEquations::sketched(gaussian(1.0), problem.x, &*another, 2, offset).unwrap();
        assert!(matches!(state.merge(another), Err(Error::Incompatible { .. })));
    }
}

/// Carried to landmarks that are the support, the fit keeps what the sketch saw of each row.
#[test]
fn a_sketch_is_carried_to_landmarks() {
    let n = 2048; // whole tiles: rows that wait for theirs are kept as they are
    let (x, y) = sample::<f64>(n, 2, 1, 3);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let sketch = Accumulation::uniform(3).sample(n, 30, &mut rng(4)).unwrap();
    let support = problem.x.gather(Sketch::<f64>::support(&sketch).into());
    let mut state = NormalEquations::sketched(gaussian(1.0), problem.x, &sketch, 1, None).unwrap();
    state.accumulate(problem).unwrap();
    let before = state.clone().solve(Ridge::PerSample(1e-4)).unwrap();
    let carried = state.onto(support.points()).unwrap();
    let after = carried.solve(Ridge::PerSample(1e-4)).unwrap();
    let [f, g] = [&before, &after].map(|model| model.predict(problem.x).unwrap());
    let apart = (&f - &g).norm_max() / f.norm_max();
    assert!(apart < 1e-6, "{apart:e}");
}

/// Wrong numbers of rows, targets and offsets.
#[test]
fn what_does_not_fit_is_refused() {
    let x = Mat::from_fn(40, 1, |i, _| i as f64 / 10.0);
    let points = Points::from_rows(x.as_ref());
    let sketch = Accumulation::uniform(2).sample(40, 5, &mut rng(0)).unwrap();
    let of = |rows: usize, targets: usize, offset: Option<&[f64]>| {
        NormalEquations::sketched(gaussian(1.0), points.slice(0..rows), &sketch, targets, offset)
    };
    assert!(of(40, 1, Some(&[0.0])).is_ok());
    assert!(matches!(of(39, 1, None), Err(Error::Shape { .. })));
    assert!(matches!(of(40, 0, None), Err(Error::Empty { .. })));
    assert!(matches!(of(40, 2, Some(&[0.0])), Err(Error::Shape { .. })));
    assert!(matches!(of(40, 1, Some(&[f64::NAN])), Err(Error::InvalidParameter { .. })));
}
