//! Fits as states: blocks, merges, bytes, paths.

use crate::common::{bits, gaussian, rng, same_at_any_thread_count, sample, weights};
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{
    CenterProducts, NormalEquations, NystromKrr, PassInput, Problem, RowSums, Solver, TallQr,
};
use nystrom_linalg_core::{Error, Ridge, RowTree, Scalar};
use proptest::prelude::*;
use std::ops::Range;

/// Rows of a problem.
fn part<'a, T: Scalar>(problem: Problem<'a, T>, rows: Range<usize>) -> Problem<'a, T> {
    Problem {
        x: problem.x.slice(rows.clone()),
        y: problem.y.subrows(rows.start, rows.len()),
        weights: problem.weights.map(|w| &w[rows]),
    }
}

/// Points among which Gaussians of length 1 tell 20 centres apart.
fn problem<T: Scalar>(n: usize, t: usize) -> (Mat<T>, Mat<T>, Vec<T>) {
    let (x, y) = sample::<T>(n, 3, t, 5);
    (x, y, weights(n).into_iter().map(T::lit).collect())
}

/// States of the leaves, merged along their tree, are the fit in memory to the bit; and so is one
/// whose rows come in any blocks where there is one leaf.
#[test]
fn leaves_merged_along_the_tree_are_the_fit_in_memory() {
    for n in [700, 9000] {
        let (x, y, w) = problem::<f64>(n, 2);
        let whole = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let (centers, ridge) = (whole.x.slice(0..20), Ridge::PerSample(1e-3));
        let solver = Solver::NormalEquations;
        let krr = NystromKrr { solver, ..NystromKrr::new(gaussian(1.0), ridge) };
        let empty = NormalEquations::new(gaussian(1.0), centers, 2).unwrap();
        let leaf = |rows: Range<usize>| {
            let mut state = empty.empty();
            for (start, end) in [(0, 300), (300, rows.len())] {
                let rows = rows.start + start..rows.start + end;
                state.accumulate(part(whole, rows)).unwrap();
            }
            state
        };
        let merge = |mut a: NormalEquations<Gaussian, f64>, b| {
            a.merge(b).unwrap();
            a
        };
        let state = RowTree::large(n).reduce_in_order(leaf, merge).unwrap();
        let (ours, theirs) = (state.solve(ridge).unwrap(), krr.fit(whole, centers).unwrap());
        assert_eq!(bits(&ours), bits(&theirs), "{n} rows");
        assert_eq!(ours.report().kernel_entries, theirs.report().kernel_entries);

        let krr = NystromKrr { solver: Solver::Qr, ..krr };
        let empty = TallQr::new(gaussian(1.0), centers, 2).unwrap();
        let leaf = |rows: Range<usize>| {
            let mut state = empty.empty();
            state.accumulate(part(whole, rows)).unwrap();
            state
        };
        let merge = |mut a: TallQr<Gaussian, f64>, b| {
            a.merge(b).unwrap();
            a
        };
        let state = RowTree::large(n).reduce_in_order(leaf, merge).unwrap();
        let (ours, theirs) = (state.solve(ridge).unwrap(), krr.fit(whole, centers).unwrap());
        assert_eq!(bits(&ours), bits(&theirs), "{n} rows by QR");
    }
}

/// The bytes of a state are those of its rows, whatever the blocks and the number of threads.
#[test]
fn blocks_and_threads_leave_no_trace() {
    fn check<T: Scalar>()
    where
        Gaussian: nystrom_kernels::Kernel<T>,
    {
        let (x, y, w) = problem::<T>(2500, 1);
        let whole = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let centers = whole.x.slice(0..20);
        let bytes = |size: usize| {
            same_at_any_thread_count(|| {
                let mut state =
                    NormalEquations::with_intercept(gaussian(1.0), centers, &[0.5]).unwrap();
                for rows in RowTree::tiles(0..2500, size) {
                    state.accumulate(part(whole, rows)).unwrap();
                }
                assert_eq!(state.rows(), 2500);
                state.to_bytes()
            })
        };
        let one = bytes(2500);
        assert!([1, 700, 1024].into_iter().all(|size| bytes(size) == one));
    }
    check::<f64>();
    check::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// A fit in two places is the fit in one, with an offset that is not the mean.
    #[test]
    fn two_places_are_one(
        n in 30..2500usize, cut in 0.0..1.0f64, intercept: bool, seed in 0..99u64,
    ) {
        let (x, y) = sample::<f64>(n, 2, 2, seed);
        let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + 100.0);
        let w = weights(n);
        let whole = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let (centers, ridge) = (whole.x.slice(0..10), Ridge::PerSample(1e-4));
        let empty = if intercept {
            NormalEquations::with_intercept(gaussian(0.7), centers, &[99.0, 0.0]).unwrap()
        } else {
            NormalEquations::new(gaussian(0.7), centers, 2).unwrap()
        };
        let cut = 1 + ((n - 2) as f64 * cut) as usize;
        let (mut here, mut there) = (empty.empty(), empty.empty());
        here.accumulate(part(whole, 0..cut)).unwrap();
        there.accumulate(part(whole, cut..n)).unwrap();
        here.merge(there).unwrap();
        let krr = NystromKrr { intercept, ..NystromKrr::new(gaussian(0.7), ridge) };
        let ours = here.solve(ridge).unwrap().predict(whole.x).unwrap();
        let theirs = krr.fit(whole, centers).unwrap().predict(whole.x).unwrap();
        prop_assert!((ours - theirs).norm_max() < 1e-7);
    }
}

/// Its points are those of the path in memory, without the second pass.
#[test]
fn a_path_needs_no_second_pass() {
    let (x, y, w) = problem::<f64>(1500, 2);
    let whole = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let centers = whole.x.slice(0..20);
    let ridges = [1e-1, 1e-3, 1e-5].map(Ridge::PerSample);
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(gaussian(1.0)) };
    let theirs = krr.path(whole, centers, &ridges).unwrap();
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    let check = |ours: nystrom_krr::StatePath<Gaussian, f64>| {
        for (a, b) in ours.points().iter().zip(theirs.points()) {
            assert!(close(a.d_eff, b.d_eff) && close(a.gcv, b.gcv), "{a:?} {b:?}");
            assert!(close(a.training, b.training) && a.rounding < 1e-10 * a.training);
        }
        assert_eq!(ours.best_by_gcv().ridge, theirs.best_by_gcv().ridge);
        let [a, b] = [ours.model_at(ridges[1]).unwrap(), theirs.model_at(ridges[1]).unwrap()]
            .map(|model| model.predict(whole.x).unwrap());
        assert!((a - b).norm_max() < 1e-9);
    };
    let mut sums = NormalEquations::with_intercept(gaussian(1.0), centers, &[3.0, -1.0]).unwrap();
    sums.accumulate(whole).unwrap();
    check(sums.path(&ridges).unwrap());
    let mut triangle = TallQr::with_intercept(gaussian(1.0), centers, &[3.0, -1.0]).unwrap();
    triangle.accumulate(whole).unwrap();
    check(triangle.path(&ridges).unwrap());
}

/// The leave-one-out errors of a second pass are those of the path in memory, in whatever parts the
/// rows are seen.
#[test]
fn leave_one_out_errors_take_one_more_pass() {
    let (x, y, w) = problem::<f64>(3500, 2);
    let whole = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let centers = whole.x.slice(0..20);
    let ridges = [1e-1, 1e-3, 1e-5].map(Ridge::PerSample);
    for intercept in [false, true] {
        let krr = NystromKrr { intercept, ..NystromKrr::without_ridge(gaussian(1.0)) };
        let theirs = krr.path(whole, centers, &ridges).unwrap();
        let mut state = if intercept {
            NormalEquations::with_intercept(gaussian(1.0), centers, &[3.0, -1.0]).unwrap()
        } else {
            NormalEquations::new(gaussian(1.0), centers, 2).unwrap()
        };
        state.accumulate(whole).unwrap();
        let path = state.path(&ridges).unwrap();
        let of = |rows: Range<usize>, block: usize| {
            let mut errors = path.errors();
            for start in rows.clone().step_by(block) {
                errors.accumulate(part(whole, start..rows.end.min(start + block))).unwrap();
            }
            errors
        };
        let mut all = of(0..3500, 3500);
        let loo = all.leave_one_out().unwrap();
        for (ours, theirs) in loo.iter().zip(theirs.points()) {
            assert!((ours / theirs.loo - 1.0).abs() < 1e-9, "{ours} {}", theirs.loo);
            // not the training error by another name
            assert!(*ours > 1.001 * theirs.training);
        }
        for (ours, theirs) in all.training().unwrap().iter().zip(theirs.points()) {
            assert!((ours / theirs.training - 1.0).abs() < 1e-9);
        }
        // the same bits in other blocks, and from parts that were bytes
        assert_eq!(of(0..3500, 611).leave_one_out().unwrap(), loo);
        let (mut first, second) = (of(0..2048, 100), of(2048..3500, 1300));
        first.merge(path.errors().read(&second.to_bytes()).unwrap()).unwrap();
        assert_eq!(first.rows(), 3500);
        for (a, b) in first.leave_one_out().unwrap().iter().zip(&loo) {
            assert!((a / b - 1.0).abs() < 1e-12);
        }
        // a part is not all, and errors of another path are none of this one
        let error = of(0..2000, 999).leave_one_out().unwrap_err();
        assert!(matches!(error, Error::Shape { expected: 3500, got: 2000, .. }), "{error}");
        let other = state.path(&ridges[..1]).unwrap().errors();
        assert!(matches!(all.merge(other.empty()), Err(Error::Incompatible { .. })));
        assert!(matches!(all.read(&other.to_bytes()), Err(Error::Incompatible { .. })));
        assert_eq!(all.leave_one_out().unwrap(), loo);
        let narrow = part(Problem::new(whole.x, y.subcols(0, 1)), 0..5);
        assert!(matches!(all.accumulate(narrow), Err(Error::Shape { .. })));
    }
}

/// A target in the span of the centres leaves next to nothing: what is said of it is rounding, and
/// the level says so.
#[test]
fn a_training_error_of_rounding_is_known_as_such() {
    let (x, _, _) = problem::<f64>(800, 1);
    let points = Points::from_rows(x.as_ref());
    let centers = points.slice(0..20);
    let theta = Mat::from_fn(20, 1, |j, _| 100.0 * (j as f64).sin());
    let y = nystrom_kernels::Kernel::<f64>::eval(&gaussian(1.0), points, centers) * theta;
    let mut state = NormalEquations::new(gaussian(1.0), centers, 1).unwrap();
    state.accumulate((points, &y)).unwrap();
    let path = state.path(&[1e-2, 1e-13].map(Ridge::PerSample)).unwrap();
    let measured = |ridge| {
        let f = path.model_at(ridge).unwrap().predict(points).unwrap();
        (f - &y).squared_norm_l2() / 800.0
    };
    for point in path.points() {
        let gap = (point.training - measured(point.ridge)).abs();
        assert!(gap <= point.rounding, "{gap:e} above {:e}", point.rounding);
    }
    let [large, small] = [&path.points()[0], &path.points()[1]];
    assert!(large.training > 1e3 * large.rounding, "{large:?}");
    assert!(measured(small.ridge) < small.rounding, "{small:?}");
    // a second pass measures it, far below that level
    let mut errors = path.errors();
    errors.accumulate((points, &y)).unwrap();
    for (point, training) in path.points().iter().zip(errors.training().unwrap()) {
        let exact = measured(point.ridge);
        assert!((training / exact - 1.0).abs() < 0.5, "{training:e}, and {exact:e} by predictions");
    }
    assert!(errors.training().unwrap()[1] < 0.1 * small.rounding);
}

/// A look at sums, and a way over bytes, leave later bits as they are. So it is in the middle of a
/// tile, and for sums to which the place of a row matters.
#[test]
fn a_look_and_a_save_leave_no_trace() {
    let (x, y, w) = problem::<f64>(2500, 1);
    let signs = Mat::from_fn(2500, 1, |i, _| if y[(i, 0)] > 0.0 { 1.0 } else { -1.0 });
    let whole = Problem::new(Points::from_rows(x.as_ref()), signs.as_ref()).weighted(&w);
    let centers = whole.x.slice(0..20);
    let ridges = [Ridge::PerSample(1e-3)];
    fn check<S: RowSums<f64> + Clone>(empty: S, whole: Problem<'_, f64>, look: impl Fn(&S)) {
        let sums = |disturbed: bool| {
            let mut sums = empty.empty_at(5000);
            for rows in [0..700, 700..1500, 1500..2500] {
                sums.accumulate(part(whole, rows)).unwrap();
                if disturbed {
                    look(&sums);
                    sums = empty.read(&sums.to_bytes()).unwrap();
                    sums.merge(empty.empty()).unwrap();
                }
            }
            assert_eq!(sums.rows(), 2500);
            sums.to_bytes()
        };
        assert!(sums(true) == sums(false));
    }
    let normal = NormalEquations::new(gaussian(1.0), centers, 1).unwrap();
    check(normal.clone(), whole, |state| {
        let _ = (state.solve(ridges[0]).unwrap(), state.path(&ridges).unwrap());
    });
    let qr = TallQr::new(gaussian(1.0), centers, 1).unwrap();
    check(qr, whole, |state| drop(state.solve(ridges[0]).unwrap()));
    let folded = normal.folded(3, &mut rng(1)).unwrap();
    check(folded, whole, |sums| {
        let _ = (sums.scores(&ridges).unwrap(), sums.together().unwrap());
    });
    let step = normal.newton(1, None).unwrap();
    check(step, whole, |sums| drop(sums.paths(&ridges).unwrap()));
    let mut all = normal.clone();
    all.accumulate(whole).unwrap();
    check(all.path(&ridges).unwrap().errors(), whole, |errors| {
        let _ = (errors.leave_one_out().is_ok(), errors.training().is_ok());
    });
    let key = PassInput::Embedded(7);
    let embedded = CenterProducts::new(&gaussian(1.0), centers, 1, key).unwrap();
    check(embedded, whole, |_| ());
    let u = Mat::from_fn(20, 1, |j, _| j as f64);
    let along = CenterProducts::new(&gaussian(1.0), centers, 1, PassInput::Along(u)).unwrap();
    check(along, whole, |_| ());
}

/// Rows that come again have other signs: with equal ones their part of ΨK would be doubled, and
/// that of KᵀK be four times as large, not twice.
#[test]
fn repeated_rows_have_signs_of_their_own() {
    let (x, y, _) = problem::<f64>(1024, 1);
    let tile = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let (kernel, centers) = (gaussian(1.0), tile.x.slice(0..5));
    let gram = nystrom_kernels::Kernel::<f64>::eval(&kernel, centers, tile.x);
    let exact = 2.0 * gram.squared_norm_l2();
    // ‖ΨK‖² over 400 keys: its mean is ‖K‖² of both tiles. Ψ has 10 rows, so that one of them
    // deviates by at most √(2/10), and their mean by 0.023; the bound is eight times that
    let mut sum = 0.0;
    for key in 0..400 {
        let mut sums = CenterProducts::new(&kernel, centers, 1, PassInput::Embedded(key)).unwrap();
        sums.accumulate(tile).unwrap();
        sums.accumulate(tile).unwrap();
        let model = sums.to_bytes();
        // all numbers of the matrix stand before the checksum
        let numbers = model.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        let count = 5 * 10;
        let all: Vec<f64> = numbers.collect();
        let matrix = &all[all.len() - 1 - count..all.len() - 1];
        sum += matrix.iter().map(|s| s * s).sum::<f64>();
    }
    let mean = sum / 400.0;
    assert!((mean / exact - 1.0).abs() < 0.18, "{mean} for {exact}");
}

/// What was made from something else is refused, and nothing is lost.
#[test]
fn states_that_do_not_belong_together_are_refused() {
    let (x, y, _) = problem::<f64>(50, 1);
    let points = Points::from_rows(x.as_ref());
    let one = |kernel, centers| NormalEquations::new(kernel, centers, 1).unwrap();
    let centers = points.slice(0..1); // whose Gram matrix is 1 for every Gaussian
    let mut state = one(gaussian(1.0), centers);
    state.accumulate((points, &y)).unwrap();
    let before = state.to_bytes();
    let offset =
        |offset| NormalEquations::with_intercept(gaussian(1.0), centers, &[offset]).unwrap();
    let mut others = [
        one(gaussian(1.000001), centers),
        one(gaussian(1.0), points.slice(1..2)),
        one(gaussian(1.0), points.slice(0..2)),
        NormalEquations::new(gaussian(1.0), centers, 2).unwrap(),
        offset(0.0),
    ];
    for other in &mut others {
        let refused = state.merge(other.clone()).unwrap_err();
        assert!(matches!(refused, Error::Incompatible { what: "state", .. }), "{refused}");
        assert!(state.read(&other.to_bytes()).is_err());
    }
    assert!(offset(0.0).merge(offset(1.0)).is_err());
    assert!(state.to_bytes() == before);
    state.merge(one(gaussian(1.0), centers)).unwrap(); // made anew from the same
    assert!(state.to_bytes() == before);
}

/// No damage passes: every byte changed, every length but the right one.
#[test]
fn damaged_bytes_are_refused() {
    let (x, y, _) = problem::<f64>(40, 1);
    let points = Points::from_rows(x.as_ref());
    let mut state = NormalEquations::new(gaussian(1.0), points.slice(0..3), 1).unwrap();
    state.accumulate((points, &y)).unwrap();
    let bytes = state.to_bytes();
    assert!(state.read(&bytes).unwrap().to_bytes() == bytes);
    for i in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1 << bit;
            let refused = state.read(&damaged).unwrap_err();
            assert!(matches!(refused, Error::Incompatible { what: "state", .. }), "byte {i}");
        }
        assert!(state.read(&bytes[..i]).is_err());
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(state.read(&longer).is_err());
    let factor = TallQr::new(gaussian(1.0), points.slice(0..3), 1).unwrap();
    assert!(factor.read(&bytes).is_err());
}

#[test]
fn bad_input_is_named_and_takes_nothing() {
    let (x, y, _) = problem::<f64>(10, 1);
    let points = Points::from_rows(x.as_ref());
    let new = |t| NormalEquations::new(gaussian(1.0), points.slice(0..3), t);
    assert!(matches!(new(0), Err(Error::Empty { .. })));
    let none = NormalEquations::new(gaussian(1.0), points.slice(0..0), 1);
    assert!(matches!(none, Err(Error::Empty { .. })));
    let mut state = new(1).unwrap();
    assert!(matches!(state.solve(Ridge::PerSample(1.0)), Err(Error::Empty { .. })));
    let zeros = vec![0.0; 10];
    state.accumulate(Problem::new(points, y.as_ref()).weighted(&zeros)).unwrap();
    assert!(matches!(state.path(&[Ridge::PerSample(1.0)]), Err(Error::Empty { .. })));
    let mut nan = y.clone();
    nan[(9, 0)] = f64::NAN;
    assert!(matches!(state.accumulate((points, &nan)), Err(Error::NonFinite { row: 9, .. })));
    let wide = Mat::<f64>::zeros(10, 2);
    assert!(matches!(state.accumulate((points, &wide)), Err(Error::Shape { .. })));
    assert!(matches!(state.accumulate((Points::from_slice(&zeros), &y)), Err(Error::Shape { .. })));
    assert_eq!(state.rows(), 10);
    assert!(state.path(&[]).is_err());
}
