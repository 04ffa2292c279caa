//! Full-data regression by conjugate gradients against the exact solution.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{FromFn, Gaussian, Kernel, Points};
use nystrom_krr::{
    ExactKrr, Extras, FullKrr, FullPath, IterativeFit, IterativeOptions, Problem, Stop,
};
use nystrom_linalg_core::{Error, KeptTriangle, Ridge, Scalar};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// ‖α − α*‖ ≤ ‖r‖/nλ, and f = Kα: a residual of 1e-12 leaves 1e-12·‖y‖·n/nλ ≤ 1e-8 times the
    /// size of y.
    #[test]
    fn at_convergence_it_is_the_exact_solution(
        n in 2..400usize, t in 1..4usize, rank in 1..40usize, seed in 0..1000u64,
        log_lambda in -3.0..0.0f64, weighted: bool, intercept: bool,
    ) {
        let (x, y) = sample::<f64>(n, 2, t, seed);
        let (points, w) = (Points::from_rows(x.as_ref()), weights(n));
        prop_assume!(!weighted || w.iter().any(|&w| w > 0.0));
        let ridge = Ridge::PerSample(10f64.powf(log_lambda));
        let options = IterativeOptions { tolerance: 1e-12, max_iterations: 500, memory: None };
        let full = FullKrr { intercept, options, rank: Some(rank.min(n)),
            ..FullKrr::new(gaussian(0.7), ridge) };
        let problem = Problem { weights: weighted.then_some(&w[..]), x: points, y: y.as_ref() };
        let fit = full.fit(problem, &mut rng(seed)).unwrap();
        prop_assert!(fit.converged(), "{:?} {:e}", fit.report.stop, fit.report.residual);
        let exact = ExactKrr { intercept, ..ExactKrr::new(gaussian(0.7), ridge) };
        let exact = exact.fit(problem).unwrap();
        let (a, b) = (fit.model.predict(points).unwrap(), exact.predict(points).unwrap());
        prop_assert!(distance(a.as_ref(), b.as_ref()) < 1e-8 * (1.0 + b.norm_max()), "{:e}",
            distance(a.as_ref(), b.as_ref()));
        for (a, b) in fit.model.intercept().iter().zip(exact.intercept()) {
            prop_assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()));
        }
    }
}

#[test]
fn the_rank_buys_iterations_and_the_entries_are_counted() {
    let n = 1500;
    let (x, y) = sample::<f64>(n, 2, 1, 0);
    let points = Points::from_rows(x.as_ref());
    let at = |rank| {
        let full =
            FullKrr { rank: Some(rank), ..FullKrr::new(gaussian(0.5), Ridge::PerSample(1e-4)) };
        full.fit((points, y.as_ref()), &mut rng(1)).unwrap()
    };
    let (low, high) = (at(5), at(300));
    assert!(low.converged() && high.converged());
    assert!(
        4 * high.report.iterations < low.report.iterations,
        "{} {}",
        high.report.iterations,
        low.report.iterations
    );
    assert!(high.report.condition < low.report.condition);
    // a pass evaluates one triangle, by blocks of 256: five whole ones and one of 220 on the
    // diagonal
    let squares = 5 * 256 * 256 + 220 * 220;
    let pass = ((n * n - squares) / 2 + squares) as u64;
    assert_eq!(low.report.passes, low.report.iterations + 1);
    let before = low.report.kernel_entries - low.report.passes as u64 * pass;
    // n diagonal entries, and for rank 5 the n columns of at most a few rounds of proposals
    assert!(before >= (6 * n) as u64 && before < (20 * n) as u64, "{before}");
}

#[test]
fn a_warm_start_and_a_monitor() {
    let (x, y) = sample::<f64>(600, 2, 2, 2);
    let points = Points::from_rows(x.as_ref());
    for intercept in [false, true] {
        let full = FullKrr { intercept, ..FullKrr::new(gaussian(0.5), Ridge::PerSample(1e-3)) };
        let cold = full.fit((points, y.as_ref()), &mut rng(3)).unwrap();
        let extras = Extras { start: Some(cold.model.coefficients()), ..Extras::default() };
        let warm = full.fit_with((points, y.as_ref()), extras, &mut rng(3)).unwrap();
        assert!(cold.converged() && warm.converged());
        if !intercept {
            assert_eq!(warm.report.iterations, 0); // with one, the constant's column starts from 0
        }
        let (a, b) = (warm.model.predict(points).unwrap(), cold.model.predict(points).unwrap());
        assert!(distance(a.as_ref(), b.as_ref()) < 1e-3);
        let mut last = Mat::zeros(0, 0);
        let mut watch = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
            last = iteration.model()?.predict(points)?;
            Ok(if iteration.number == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        };
        let extras = Extras { monitor: Some(&mut watch), ..Extras::default() };
        let stopped = full.fit_with((points, y.as_ref()), extras, &mut rng(3)).unwrap();
        assert_eq!((stopped.report.stop.clone(), stopped.report.iterations), (Stop::Asked, 2));
        assert!(stopped.model.predict(points).unwrap() == last);
    }
}

fn same_bits<T: Scalar>()
where
    Gaussian: Kernel<T>,
{
    let (x, y) = sample::<T>(1500, 3, 2, 4);
    let full =
        FullKrr { intercept: true, ..FullKrr::new(gaussian(1.0), Ridge::PerSample(T::lit(1e-3))) };
    same_at_any_thread_count(|| {
        let problem = (Points::from_rows(x.as_ref()), y.as_ref());
        let fit: IterativeFit<Gaussian, T> = full.fit(problem, &mut rng(5)).unwrap();
        (fit.model.coefficients().to_owned(), fit.report.history)
    });
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    same_bits::<f64>();
    same_bits::<f32>();
}

/// In f32 the values of the kernel are rounded, and nothing else.
#[test]
fn single_precision_agrees_with_double() {
    let (x, y) = sample::<f64>(800, 2, 1, 6);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    let (x32, y32) = (narrow(&x), narrow(&y));
    let wide = FullKrr::new(gaussian(1.0), Ridge::PerSample(1e-4))
        .fit((Points::from_rows(x.as_ref()), y.as_ref()), &mut rng(7));
    let single = FullKrr::new(gaussian(1.0), Ridge::PerSample(1e-4))
        .fit((Points::from_rows(x32.as_ref()), y32.as_ref()), &mut rng(7));
    let (wide, single) = (wide.unwrap(), single.unwrap());
    assert!(wide.converged() && single.converged());
    let a = wide.model.predict(Points::from_rows(x.as_ref())).unwrap();
    let b = single.model.predict(Points::from_rows(x32.as_ref())).unwrap();
    let b = Mat::from_fn(800, 1, |i, _| b[(i, 0)] as f64);
    // the two residuals of 1e-6 alone allow 2e-6·‖y‖·n/nλ; what is seen is 2.5e-5
    assert!(distance(a.as_ref(), b.as_ref()) < 2.5e-4, "{:e}", distance(a.as_ref(), b.as_ref()));
}

#[test]
fn wrong_input_is_refused() {
    let (x, y) = sample::<f64>(30, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let full = FullKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let fit =
        |full: FullKrr<Gaussian, f64>| full.fit((points, y.as_ref()), &mut rng(0)).unwrap_err();
    assert_eq!(
        fit(FullKrr { rank: Some(0), ..full }),
        Error::Empty { what: "columns of the preconditioner" }
    );
    assert!(matches!(
        fit(FullKrr { rank: Some(31), ..full }),
        Error::TooMany { requested: 31, available: 30, .. }
    ));
    assert!(matches!(
        fit(FullKrr { ridge: Ridge::PerSample(0.0), ..full }),
        Error::InvalidParameter { .. }
    ));
    let options = IterativeOptions { memory: Some(10_000), ..IterativeOptions::default() };
    assert!(matches!(fit(FullKrr { options, ..full }), Error::OutOfBudget { budget: 10_000, .. }));
    let short = Mat::<f64>::zeros(29, 1);
    assert!(matches!(
        full.fit((points, short.as_ref()), &mut rng(0)),
        Err(Error::Shape { expected: 30, got: 29, .. })
    ));
    let extras = Extras { start: Some(short.as_ref()), ..Extras::default() };
    assert!(matches!(
        full.fit_with((points, y.as_ref()), extras, &mut rng(0)),
        Err(Error::Shape { expected: 30, got: 29, .. })
    ));
}

/// As with Falkon: a tolerance below rounding and a monitor that fails leave the model so far, a
/// reason and the history.
#[test]
fn a_stall_and_a_monitor_that_fails_leave_a_model() {
    let (x, y) = sample::<f64>(150, 2, 1, 9);
    let points = Points::from_rows(x.as_ref());
    let options = IterativeOptions { tolerance: 1e-16, max_iterations: 1000, memory: None };
    let full =
        FullKrr { options, rank: Some(10), ..FullKrr::new(gaussian(0.5), Ridge::PerSample(1e-4)) };
    let stalled = full.fit((points, y.as_ref()), &mut rng(0)).unwrap();
    assert_eq!(stalled.report.stop, Stop::Stalled);
    assert!(
        stalled.report.residual < 1e-9 && stalled.report.history.len() == stalled.report.iterations
    );
    let exact =
        ExactKrr::new(gaussian(0.5), Ridge::PerSample(1e-4)).fit((points, y.as_ref())).unwrap();
    let f = stalled.model.predict(points).unwrap();
    assert!(distance(f.as_ref(), exact.predict(points).unwrap().as_ref()) < 1e-6);
    assert!(matches!(stalled.into_model(), Err(Error::NotConverged { .. })));
    let mut fails =
        |_: &nystrom_krr::Iteration<'_, Gaussian, f64>| Err("no validation file".into());
    let extras = Extras { monitor: Some(&mut fails), ..Extras::default() };
    let failed = full.fit_with((points, y.as_ref()), extras, &mut rng(0)).unwrap();
    assert_eq!(failed.report.stop, Stop::MonitorFailed("no validation file".into()));
    assert!(failed.model.predict(points).unwrap().norm_max() < 10.0);
}

/// Kept in `f32` or evaluated in every pass: the same f, and the kept one evaluates K once. A
/// budget for half of the triangle keeps half; one that holds none recomputes.
#[test]
fn a_kept_triangle_gives_the_same_fit_for_fewer_kernel_values() {
    let n = 1500;
    let (x, y) = sample::<f64>(n, 2, 2, 10);
    let (points, w) = (Points::from_rows(x.as_ref()), weights(n));
    let fit = |memory: Option<u64>, intercept: bool| {
        let options = IterativeOptions { tolerance: 1e-8, max_iterations: 500, memory };
        let full = FullKrr {
            intercept,
            options,
            rank: Some(50),
            ..FullKrr::new(gaussian(0.5), Ridge::PerSample(1e-4))
        };
        full.fit(Problem::new(points, y.as_ref()).weighted(&w), &mut rng(11)).unwrap()
    };
    for intercept in [false, true] {
        let anew = fit(None, intercept);
        let least = anew.report.memory.total();
        let whole = fit(Some(1 << 30), intercept);
        let half = fit(Some(least + (n * 50 * 4 + 3 * n * n / 2) as u64), intercept);
        assert_eq!(fit(Some(least), intercept).report.memory, anew.report.memory);
        assert!(anew.converged() && whole.converged() && half.converged());
        assert!(whole.report.memory.kept_rows == n && anew.report.memory.kept_rows == 0);
        assert!((n / 3..n).contains(&half.report.memory.kept_rows));
        let entries = [&whole, &half, &anew].map(|fit| fit.report.kernel_entries);
        assert!(2 * entries[0] < entries[1] && entries[1] < entries[2], "{entries:?}");
        let f = [&whole, &half, &anew].map(|fit| fit.model.predict(points).unwrap());
        // two residuals of 1e-8 allow 2e-8·‖y‖/λ in norm; an entry is a hundredth of that at most
        assert!(distance(f[0].as_ref(), f[2].as_ref()) < 1e-5);
        assert!(distance(f[1].as_ref(), f[2].as_ref()) < 1e-5);
    }
}

/// A ridge below what the rounding to `f32` may change: what is kept is not rounded, as much as
/// there is room for.
#[test]
fn a_ridge_below_rounding_is_solved_in_double_precision() {
    let (x, y) = sample::<f64>(400, 2, 1, 12);
    let points = Points::from_rows(x.as_ref());
    let fit = |memory| {
        let options = IterativeOptions { tolerance: 1e-6, max_iterations: 400, memory };
        let ridge = Ridge::Absolute(1e-6);
        let full = FullKrr { options, rank: Some(200), ..FullKrr::new(gaussian(0.5), ridge) };
        full.fit((points, &y), &mut rng(13)).unwrap()
    };
    let (kept, anew) = (fit(Some(1 << 30)), fit(None));
    let bytes = 2 * KeptTriangle::<f64>::bytes(400);
    assert_eq!((kept.report.memory.kept, kept.report.memory.kept_rows), (bytes, 400));
    assert!(kept.model.coefficients() == anew.model.coefficients());
    assert!(2 * kept.report.kernel_entries < anew.report.kernel_entries);
    let budget = anew.report.memory.total() + 400 * 200 * 4 + bytes / 2;
    let half = fit(Some(budget));
    assert!(half.report.memory.total() <= budget && half.report.memory.kept <= bytes / 2);
    assert!(half.model.coefficients() == anew.model.coefficients());
}

/// Ridges that run together are as good as each alone, and the best is that of the smallest error.
#[test]
fn a_path_is_its_ridges_one_by_one() {
    let n = 900;
    let (x, y) = sample::<f64>(n + 300, 2, 2, 14);
    let points = Points::from_rows(x.as_ref());
    let (train, valid) = (points.slice(0..n), points.slice(n..n + 300));
    let (y_train, y_valid) = (y.as_ref().subrows(0, n), y.as_ref().subrows(n, 300));
    let ridges = [1.0, 1e-2, 1e-4].map(Ridge::PerSample);
    for (intercept, memory) in [(false, None), (true, Some(1 << 30))] {
        let options = IterativeOptions { tolerance: 1e-9, max_iterations: 500, memory };
        let path = FullPath {
            intercept,
            options,
            rank: Some(60),
            ..FullPath::new(gaussian(0.5), &ridges)
        };
        let path = path.fit((train, y_train), (valid, y_valid), &mut rng(15)).unwrap();
        let least = path.errors.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(path.errors[path.best] <= 1.0005 * least);
        for (r, ridge) in ridges.into_iter().enumerate() {
            let exact = ExactKrr { intercept, ..ExactKrr::new(gaussian(0.5), ridge) };
            let f = exact.fit((train, y_train)).unwrap().predict(valid).unwrap();
            let error = ((&f - y_valid).squared_norm_l2() / 600.0).sqrt();
            // the run stops where another 0.1 % is not gained
            assert!((path.errors[r] / error - 1.0).abs() < 1e-2, "{} {error}", path.errors[r]);
        }
        let f = path.fit.model.predict(valid).unwrap();
        let error = ((&f - y_valid).squared_norm_l2() / 600.0).sqrt();
        assert!((error - path.errors[path.best]).abs() < 1e-12);
        assert_eq!(path.fit.model.report().ridge, path.ridges[path.best]);
        let looks: Vec<usize> = path.looks.iter().map(|look| look.0).collect();
        assert!(looks.windows(2).all(|pair| pair[0] < pair[1]) && looks[0] == 4);
    }
}

/// With a small ridge and a poor preconditioner the error stands still for the first iterations.
/// That is not the end.
#[test]
fn a_path_that_begins_slowly_goes_on() {
    let n = 1200;
    let (x, y) = sample::<f64>(n + 300, 2, 1, 21);
    let points = Points::from_rows(x.as_ref());
    let (train, valid) = (points.slice(0..n), points.slice(n..n + 300));
    let (y_train, y_valid) = (y.as_ref().subrows(0, n), y.as_ref().subrows(n, 300));
    let ridge = Ridge::Absolute(1e-3);
    let options = IterativeOptions { tolerance: 1e-9, max_iterations: 4000, memory: None };
    let path = FullPath { options, rank: Some(1), ..FullPath::new(gaussian(0.3), &[ridge]) };
    let path = path.fit((train, y_train), (valid, y_valid), &mut rng(22)).unwrap();
    assert!(path.residuals[0] < 0.03, "{}", path.residuals[0]);
    // a fit to the residual that was enough is as good as the end, to 0.05 %. It may end a few
    // iterations earlier, by how sums are rounded, where the error is smaller by chance: by 0.12 %
    // without vector registers
    assert!(path.enough > path.residuals[0]);
    let krr = FullKrr { rank: Some(1), ..FullKrr::new(gaussian(0.3), ridge) };
    let options = IterativeOptions { tolerance: path.enough, ..krr.options };
    let options = IterativeOptions { max_iterations: 4000, ..options };
    let again = FullKrr { options, ..krr }.fit((train, y_train), &mut rng(22)).unwrap();
    assert!(again.converged() && again.report.iterations < path.fit.report.iterations);
    let f = again.model.predict(valid).unwrap();
    let error = ((&f - y_valid).squared_norm_l2() / 300.0).sqrt();
    assert!((0.995..1.001).contains(&(error / path.errors[0])), "{error} {}", path.errors[0]);
    // it did stand still at the first two looks
    let looks: Vec<f64> = path.looks.iter().map(|look| look.1[0]).collect();
    assert!(
        looks.windows(2).any(|pair| pair[1] > 0.999 * pair[0] && pair[1] > 1.05 * path.errors[0])
    );
}

/// Kernel values of the looks are evaluated once where there is room, and nothing else changes.
#[test]
fn validation_values_are_kept_where_there_is_room() {
    let n = 700;
    let (x, y) = sample::<f64>(n + 200, 2, 1, 17);
    let points = Points::from_rows(x.as_ref());
    let (train, valid) = (points.slice(0..n), points.slice(n..n + 200));
    let (y_train, y_valid) = (y.as_ref().subrows(0, n), y.as_ref().subrows(n, 200));
    let ridges = [1e-4, 1e-5].map(Ridge::PerSample);
    let count = AtomicUsize::new(0);
    let counting = |x: &[f64], y: &[f64]| {
        count.fetch_add(1, Ordering::Relaxed);
        (-x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
    };
    let kernel = FromFn::new(counting);
    let fit = |memory: Option<u64>| {
        count.store(0, Ordering::Relaxed);
        let options = IterativeOptions { tolerance: 1e-9, max_iterations: 200, memory };
        let path = FullPath { options, rank: Some(5), ..FullPath::new(&kernel, &ridges) };
        let path = path.fit((train, y_train), (valid, y_valid), &mut rng(18)).unwrap();
        (path.looks, count.load(Ordering::Relaxed))
    };
    let ((looks, values), (again, more)) = (fit(Some(1 << 30)), fit(None));
    // the same after four iterations, but for the rounding of the triangle to f32
    let (first, second) = (&looks[0], &again[0]);
    assert!(first.0 == 4 && second.0 == 4);
    assert!(first.1.iter().zip(&second.1).all(|(a, b)| (a / b - 1.0).abs() < 1e-4));
    assert!(looks.len() > 4 && again.len() > 4);
    assert!(values + (again.len() - 1) * 200 * n <= more, "{values} {more}");
}

#[test]
fn a_path_refuses_wrong_input() {
    let (x, y) = sample::<f64>(40, 2, 1, 16);
    let points = Points::from_rows(x.as_ref());
    let (train, y) = (points.slice(0..30), y.as_ref());
    let fit = |ridges: &[Ridge<f64>], rows: usize| {
        let valid = (points.slice(30..40), y.subrows(30, rows));
        FullPath::new(gaussian(1.0), ridges).fit((train, y.subrows(0, 30)), valid, &mut rng(0))
    };
    let ridge = Ridge::PerSample(1e-2);
    assert!(fit(&[ridge], 10).is_ok());
    assert!(matches!(fit(&[], 10), Err(Error::Empty { .. })));
    assert!(matches!(fit(&[ridge], 9), Err(Error::Shape { expected: 10, got: 9, .. })));
    assert!(matches!(
        fit(&[ridge, Ridge::PerSample(0.0)], 10),
        Err(Error::InvalidParameter { .. })
    ));
}
