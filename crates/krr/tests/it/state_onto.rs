//! States carried over to other centres.

use crate::common::{gaussian, sample, weights};
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{NormalEquations, Problem, RowSums};
use nystrom_linalg_core::{Error, Ridge, Scalar};

const RIDGE: f64 = 1e-3;

/// Over these centres, with these rows.
fn state<T: Scalar>(
    centers: Points<'_, T>,
    problem: Problem<'_, T>,
    intercept: bool,
) -> NormalEquations<Gaussian, T> {
    let t = problem.y.ncols();
    let mut state = if intercept {
        NormalEquations::with_intercept(gaussian(1.0), centers, &vec![0.5; t]).unwrap()
    } else {
        NormalEquations::new(gaussian(1.0), centers, t).unwrap()
    };
    state.accumulate(problem).unwrap();
    state
}

fn predictions<T: Scalar>(state: NormalEquations<Gaussian, T>, x: Points<'_, T>) -> Mat<f64> {
    let f = state.solve(Ridge::PerSample(T::lit(RIDGE))).unwrap().predict(x).unwrap();
    Mat::from_fn(f.nrows(), f.ncols(), |i, j| f[(i, j)].f64())
}

/// Fewer centres, in another order: the state that the rows would have made; rows in the sums
/// (1024 of 1500) and rows that wait.
fn drops_centres<T: Scalar>(within: f64) {
    let (x, y) = sample::<T>(1500, 3, 2, 5);
    let w: Vec<T> = weights(1500).into_iter().map(T::lit).collect();
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let many = problem.x.slice(0..20);
    let few = Mat::from_fn(12, 3, |i, k| x[(19 - i, k)]);
    let few = Points::from_rows(few.as_ref());
    for intercept in [false, true] {
        let carried = state(many, problem, intercept).onto(few).unwrap();
        assert_eq!(carried.rows(), 1500);
        let ours = predictions(carried, problem.x);
        let theirs = predictions(state(few, problem, intercept), problem.x);
        let distance = (&ours - &theirs).norm_max();
        assert!(distance < within, "{distance:e} with {}", T::NAME);
    }
}

#[test]
fn dropping_centres_is_exact() {
    drops_centres::<f64>(1e-8);
    drops_centres::<f32>(2e-3);
}

/// Along a new centre the rows before count as far as the old centres see it: with old ones so
/// close that they see everything, that is all of it.
#[test]
fn what_the_old_centres_see_is_kept() {
    let x: Vec<f64> = (0..2048).map(|i| f64::from(i) / 512.0).collect();
    let y = Mat::from_fn(2048, 1, |i, _| (2.0 * x[i]).sin());
    let problem = Problem::new(Points::from_slice(&x), y.as_ref());
    let grid = |count: usize, from: f64| -> Vec<f64> {
        (0..count).map(|j| from + 4.0 * j as f64 / count as f64).collect()
    };
    let distance = |old: &[f64], new: &[f64]| {
        let carried = state(Points::from_slice(old), problem, true);
        let carried = carried.onto(Points::from_slice(new)).unwrap();
        let exact = state(Points::from_slice(new), problem, true);
        (&predictions(carried, problem.x) - &predictions(exact, problem.x)).norm_max()
    };
    let new = grid(10, 0.1);
    assert!(distance(&grid(16, 0.0), &new) < 1e-4);
    // two centres see little of the other eight
    assert!(distance(&[0.0, 2.0], &new) > 1e-2);
}

#[test]
fn centres_of_another_dimension_are_refused() {
    let (x, y) = sample::<f64>(10, 3, 1, 5);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let carried = state(problem.x, problem, false).onto(Points::from_slice(&[0.0]));
    assert!(matches!(carried, Err(Error::Shape { .. })));
}
