//! Fits of rows that are read block by block.

use crate::common::{Blocks, Unread, bits, gaussian, rng, sample, weights};
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{
    Block, Extras, Falkon, IterativeOptions, Krill, LambdaPath, NystromKrr, Problem, RowIter,
    RowSource, SolvedBy, Solver,
};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar};

fn path_bits<T: Scalar>(path: &LambdaPath<Gaussian, T>) -> Vec<u64>
where
    Gaussian: Kernel<T>,
{
    let numbers = |p: &nystrom_krr::PathPoint<T>| [p.mu, p.loo, p.gcv, p.d_eff, p.training];
    path.points().iter().flat_map(|p| numbers(p).map(f64::to_bits)).collect()
}

/// In memory and streamed, in blocks of one row, of sizes that divide nothing and of all rows: the
/// same bits, by every solver, with weights and intercept, over one leaf and over several.
fn the_same_bits<T: Scalar>()
where
    Gaussian: Kernel<T>,
{
    for n in [900, 9500] {
        let (x, y) = sample::<T>(n, 2, 2, 3);
        let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + T::lit(1000.0));
        let w: Vec<T> = weights(n).into_iter().map(T::lit).collect();
        let weighted = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let centers = weighted.x.slice(0..17);
        for (problem, intercept) in
            [(weighted, true), (Problem { weights: None, ..weighted }, false)]
        {
            let mut blocks = [1, 777, n].map(|size| Blocks::new(problem, size));
            for solver in [Solver::Auto, Solver::WhitenOnce, Solver::NormalEquations, Solver::Qr] {
                let ridge = Ridge::PerSample(T::lit(1e-3));
                let krr = NystromKrr { intercept, solver, ..NystromKrr::new(gaussian(1.0), ridge) };
                let whole = krr.fit(problem, centers).unwrap();
                for blocks in &mut blocks {
                    let model = krr.fit_source(blocks, centers).unwrap();
                    assert_eq!(bits(&model), bits(&whole), "{n} rows, {solver:?}");
                    assert_eq!(model.report(), whole.report());
                }
            }
            let krr = NystromKrr { intercept, ..NystromKrr::without_ridge(gaussian(1.0)) };
            let ridges = [1e-1, 1e-4].map(|l| Ridge::PerSample(T::lit(l)));
            let whole = krr.path(problem, centers, &ridges).unwrap();
            for blocks in &mut blocks {
                let path = krr.path_source(blocks, centers, &ridges).unwrap();
                assert_eq!(path_bits(&path), path_bits(&whole), "{n} rows");
            }
        }
    }
}

#[test]
fn double_precision_has_the_bits_of_memory() {
    the_same_bits::<f64>();
}

#[test]
fn single_precision_has_the_bits_of_memory() {
    the_same_bits::<f32>();
}

/// Once to count them, and once for each pass that the report counts.
#[test]
fn rows_are_read_once_more_than_the_report_counts_passes() {
    let (x, y) = sample::<f64>(2500, 5, 1, 5);
    let centers = Points::from_rows(x.as_ref()).slice(0..300);
    for (lambda, expected) in [(1.0, 1..2), (1e-9, 2..6), (1e-17, 1..2)] {
        let mut reads = 0;
        let mut rows = RowIter::new(|| {
            reads += 1;
            std::iter::once(Ok(Block { x: x.clone(), y: y.clone(), weights: None }))
        });
        let krr = NystromKrr::new(gaussian(1.5), Ridge::PerSample(lambda));
        let model = krr.fit_source(&mut rows, centers).unwrap();
        let passes = (model.report().kernel_entries as usize / 300 - 300) / 2500;
        assert!(expected.contains(&passes), "{passes} passes at {lambda:e}");
        assert_eq!(reads, 1 + passes, "{}", model.report().reason);
    }
}

fn block(rows: usize, value: f64) -> Block<f64> {
    Block { x: Mat::from_fn(rows, 1, |i, _| i as f64), y: Mat::full(rows, 1, value), weights: None }
}

/// Errors of the reader come through, whenever they come; and so do those of the rows.
#[test]
fn what_is_wrong_with_the_rows_is_said() {
    let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let centers = [0.0, 1.0];
    let centers = Points::from_slice(&centers);
    let fit = |rows: &mut dyn RowSource<f64>| krr.fit_source(rows, centers).unwrap_err();

    let cut_off = || Error::Incompatible { what: "file", problem: "it is cut off".into() };
    let mut broken =
        RowIter::new(|| (0..3).map(|b| if b < 2 { Ok(block(5, 1.0)) } else { Err(cut_off()) }));
    assert_eq!(fit(&mut broken), cut_off());
    let mut passes = 0;
    let mut later = RowIter::new(|| {
        passes += 1;
        let fails = passes > 1;
        (0..3).map(move |b| if fails && b == 2 { Err(cut_off()) } else { Ok(block(5, 1.0)) })
    });
    assert_eq!(fit(&mut later), cut_off());
    let mut passes = 0;
    let mut shrinks = RowIter::new(|| {
        passes += 1;
        (0..if passes > 1 { 2 } else { 3 }).map(|_| Ok(block(5, 1.0)))
    });
    assert!(matches!(fit(&mut shrinks), Error::Shape { expected: 15, got: 10, .. }));

    let of =
        |blocks: Vec<Block<f64>>| RowIter::new(move || blocks.clone().into_iter().map(Result::Ok));
    assert!(matches!(fit(&mut of(vec![])), Error::Empty { .. }));
    assert!(matches!(
        fit(&mut of(vec![block(2, 1.0), block(2, f64::NAN)])),
        Error::NonFinite { .. }
    ));
    let wide = Block { x: Mat::zeros(2, 3), ..block(2, 1.0) };
    assert!(matches!(fit(&mut of(vec![wide.clone()])), Error::Shape { .. }));
    assert!(matches!(fit(&mut of(vec![block(2, 1.0), wide])), Error::Shape { .. }));
    let short = Block { y: Mat::zeros(1, 1), ..block(2, 1.0) };
    assert!(matches!(fit(&mut of(vec![short])), Error::Shape { .. }));
    let nothing = Block { weights: Some(vec![0.0; 2]), ..block(2, 1.0) };
    assert!(matches!(fit(&mut of(vec![nothing.clone()])), Error::Empty { .. }));
    // blocks without weight are rows like others where some block has weight
    assert!(krr.fit_source(&mut of(vec![nothing, block(3, 1.0)]), centers).is_ok());

    let mut fine = of(vec![block(5, 1.0)]);
    let none = krr.fit_source(&mut fine, Points::from_slice(&[]));
    assert!(matches!(none, Err(Error::Empty { .. })));
    let path = NystromKrr { intercept: true, ..NystromKrr::without_ridge(gaussian(1.0)) };
    let one = path.path_source(&mut of(vec![block(1, 1.0)]), centers, &[Ridge::PerSample(1.0)]);
    assert!(matches!(one, Err(Error::InvalidParameter { .. })));
    assert!(path.path_source(&mut fine, centers, &[]).is_err());
    let y = Mat::<f64>::zeros(3, 1);
    let mut uneven = Problem::from((Points::from_slice(&[1.0, 2.0]), &y));
    assert!(matches!(fit(&mut uneven), Error::Shape { .. }));
}

/// Falkon in passes is Falkon in memory, with weights and a constant. A fit that is gone on with
/// has the bits of one that was not stopped.
#[test]
fn falkon_takes_a_pass_for_each_iteration() {
    let (n, m) = (3000, 25);
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + 10.0);
    let w = weights(n);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let centers = problem.x.slice(0..m);
    let options = IterativeOptions { tolerance: 1e-9, ..IterativeOptions::default() };
    for intercept in [false, true] {
        let falkon = Falkon::new(gaussian(0.7), Ridge::PerSample(1e-5));
        let falkon = Falkon { intercept, options, ..falkon };
        let memory = falkon.fit(problem, centers).unwrap();
        let mut states = Vec::new();
        let mut keep = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
            states.push(iteration.state());
            Ok(std::ops::ControlFlow::Continue(()))
        };
        let extras = Extras { monitor: Some(&mut keep), ..Extras::default() };
        let mut rows = Blocks::new(problem, 700);
        let passes = falkon.fit_passes(&mut rows, centers, 2, extras).unwrap();
        assert!(passes.converged() && passes.report.passes > passes.report.iterations);
        let [ours, theirs] = [&passes, &memory].map(|fit| fit.model.predict(problem.x).unwrap());
        assert!((ours - &theirs).norm_max() < 1e-6 * theirs.norm_max());
        let entries = (passes.report.passes * n + m) * m;
        assert_eq!(passes.report.kernel_entries, entries as u64);
        // other blocks, and from the middle
        for resume in [None, Some(&states[states.len() / 2])] {
            let extras = Extras { resume, ..Extras::default() };
            let mut rows = Blocks::new(problem, 1111);
            let again = falkon.fit_passes(&mut rows, centers, 2, extras).unwrap();
            assert_eq!(bits(&again.model), bits(&passes.model));
        }
    }
}

/// So is KRILL, up to its embedding, at centres that are no sample of the rows.
#[test]
fn krill_takes_one_pass_more() {
    let (n, m) = (3000, 25);
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + 10.0);
    let w = weights(n);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let corner = Mat::from_fn(2, m, |k, j| x[(j, k)] + 0.5);
    let centers = Points::from_cols(corner.as_ref());
    let rng = || rng(5);
    let options = IterativeOptions { tolerance: 1e-9, ..IterativeOptions::default() };
    let krill = Krill::new(gaussian(0.7), Ridge::PerSample(1e-5));
    let krill = Krill { intercept: true, options, ..krill };
    let memory = krill.fit(problem, centers, &mut rng()).unwrap();
    let in_passes = |block: usize| {
        let mut rows = Blocks::new(problem, block);
        krill.fit_passes(&mut rows, centers, 2, Extras::default(), &mut rng()).unwrap()
    };
    let passes = in_passes(700);
    assert!(passes.converged() && passes.report.passes > passes.report.iterations + 1);
    // as good a preconditioner
    assert!(passes.report.iterations <= memory.report.iterations + 3);
    let [ours, theirs] = [&passes, &memory].map(|fit| fit.model.predict(problem.x).unwrap());
    assert!((ours - &theirs).norm_max() < 1e-6 * theirs.norm_max());
    assert_eq!(passes.model.report().solver, SolvedBy::Krill);
    let entries = (passes.report.passes * n + m) * m;
    assert_eq!(passes.report.kernel_entries, entries as u64);
    assert_eq!(bits(&in_passes(1111).model), bits(&passes.model));
}

/// The state of a fit with other centres or targets is refused before any row is read.
#[test]
fn a_state_of_another_shape_is_refused_before_a_pass() {
    let (x, y) = sample::<f64>(300, 1, 1, 3);
    let points = Points::from_rows(x.as_ref());
    let falkon = Falkon::new(gaussian(0.7), Ridge::PerSample(1e-5));
    let krill = Krill::new(gaussian(0.7), Ridge::PerSample(1e-5));
    let mut state = None;
    let mut keep = |iteration: &nystrom_krr::Iteration<'_, Gaussian, f64>| {
        state = Some(iteration.state());
        Ok(std::ops::ControlFlow::Break(()))
    };
    let extras = Extras { monitor: Some(&mut keep), ..Extras::default() };
    let stopped = falkon.fit_with((points, &y), points.slice(0..8), extras).unwrap();
    assert_eq!(stopped.report.iterations, 1);
    let extras = || Extras { resume: state.as_ref(), ..Extras::default() };
    for (m, t) in [(9, 1), (8, 2)] {
        let centers = points.slice(0..m);
        let by_krill = krill.fit_passes(&mut Unread, centers, t, extras(), &mut rng(1));
        for refused in [falkon.fit_passes(&mut Unread, centers, t, extras()), by_krill] {
            let error = refused.map(drop).unwrap_err();
            assert!(matches!(error, Error::Incompatible { .. }), "{error}");
        }
    }
}

/// Rows that cannot be read again, and none at all.
#[test]
fn passes_that_fail_are_told() {
    let options = IterativeOptions { tolerance: 1e-9, ..IterativeOptions::default() };
    let falkon = Falkon { options, ..Falkon::new(gaussian(0.7), Ridge::PerSample(1e-5)) };
    let mut reads = 0;
    let mut rows = RowIter::new(|| {
        reads += 1;
        let blocks = if reads < 4 { 3 } else { 2 };
        (0..blocks).map(|k| Ok(block(40, f64::from(k))))
    });
    let points = [0.0, 1.0];
    let centers = Points::from_slice(&points);
    let failed = falkon.fit_passes(&mut rows, centers, 1, Extras::default()).unwrap_err();
    assert!(matches!(failed, Error::Shape { expected: 120, got: 80, .. }), "{failed}");
    // what no rows could mend is told before any is read
    let krill = Krill { options, ..Krill::new(gaussian(0.7), Ridge::PerSample(-1.0)) };
    let refused = krill.fit_passes(&mut Unread, centers, 1, Extras::default(), &mut rng(1));
    assert!(matches!(refused, Err(Error::InvalidParameter { .. })), "{refused:?}");
    let endless = Falkon { ridge: Ridge::PerSample(f64::INFINITY), ..falkon };
    let refused = endless.fit_passes(&mut Unread, centers, 1, Extras::default());
    assert!(matches!(refused, Err(Error::InvalidParameter { .. })), "{refused:?}");
    let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(0.0));
    let refused = krr.fit_source(&mut Unread, centers);
    assert!(matches!(refused, Err(Error::InvalidParameter { .. })), "{refused:?}");
    let path = NystromKrr::without_ridge(gaussian(1.0));
    let refused = path.path_source(&mut Unread, centers, &[1.0, -1.0].map(Ridge::PerSample));
    assert!(matches!(refused.map(drop), Err(Error::InvalidParameter { .. })));
    let mut rows = RowIter::new(|| (0..0).map(|_| Ok(block(1, 0.0))));
    let failed = falkon.fit_passes(&mut rows, centers, 1, Extras::default()).unwrap_err();
    assert!(matches!(failed, Error::Empty { .. }), "{failed}");
}
