//! Regression on all the data over rows that are shown in passes.

use crate::common::{Blocks, Unread, bits, gaussian, sample, weights};
use faer::Mat;
use nystrom_kernels::{FromFn, Gaussian, Kernel, Points};
use nystrom_krr::{
    Extras, FullKrr, Iteration, IterativeFit, IterativeOptions, Problem, RowIter, RowPasses,
    RowSums, SolvedBy,
};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(5)
}

fn full<T: Scalar>(intercept: bool, tolerance: f64) -> FullKrr<Gaussian, T>
where
    Gaussian: Kernel<T>,
{
    let options = IterativeOptions { tolerance, max_iterations: 500, memory: None };
    let full = FullKrr::new(gaussian(0.7), Ridge::PerSample(T::lit(1e-5)));
    FullKrr { intercept, options, rank: Some(60), ..full }
}

/// The rows of several places, cut at these rows; what each finds travels as bytes, to the left or
/// to the right first.
struct Places<'a> {
    problem: Problem<'a, f64>,
    cuts: Vec<usize>,
    from_the_left: bool,
}

impl RowPasses<f64> for Places<'_> {
    fn pass<S: RowSums<f64>>(&mut self, empty: S) -> Result<S> {
        let Problem { x, y, weights } = self.problem;
        let part = |ends: &[usize]| {
            let (start, count) = (ends[0], ends[1] - ends[0]);
            let mut sums = empty.empty();
            sums.accumulate(Problem {
                x: x.slice(start..ends[1]),
                y: y.subrows(start, count),
                weights: weights.map(|w| &w[start..ends[1]]),
            })?;
            empty.read(&sums.to_bytes())
        };
        let merged = |a: Result<S>, b: Result<S>| {
            let mut a = a?;
            a.merge(b?)?;
            Ok(a)
        };
        let parts = self.cuts.windows(2).map(part);
        let all = if self.from_the_left {
            parts.reduce(merged)
        } else {
            parts.rev().reduce(|b, a| merged(a, b))
        };
        all.unwrap()
    }
}

/// In passes it is the fit in memory, with weights and a constant. Blocks, threads and who reads
/// which rows leave no trace, and a fit that is gone on with has the bits of one that was not
/// stopped.
#[test]
fn in_passes_it_is_the_fit_in_memory() {
    let n = 2500; // more than a piece of points
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let y = Mat::from_fn(n, 2, |i, j| y[(i, j)] + 10.0);
    let w = weights(n);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    for intercept in [false, true] {
        let krr = full::<f64>(intercept, 1e-10);
        let memory = krr.fit(problem, &mut rng()).unwrap();
        let mut states = Vec::new();
        let mut keep = |iteration: &Iteration<'_, Gaussian, f64>| {
            states.push(iteration.state());
            Ok(ControlFlow::Continue(()))
        };
        let extras = Extras { monitor: Some(&mut keep), ..Extras::default() };
        let mut rows = Blocks::new(problem, 700);
        let whole = krr.fit_passes(&mut rows, [2, 2], extras, &mut rng()).unwrap();
        let report = &whole.report;
        assert!(whole.converged() && report.passes > report.iterations, "{report:?}");
        let [ours, theirs] = [&whole, &memory].map(|fit| fit.model.predict(problem.x).unwrap());
        assert!((ours - &theirs).norm_max() < 1e-7 * theirs.norm_max());
        assert_eq!(whole.model.centers().len(), n);
        assert_eq!(whole.model.report().solver, SolvedBy::FullConjugateGradients);
        assert_eq!(report.kernel_entries as usize, 61 * n + (report.passes - 1) * n * n);
        let again = |rows: usize, resume: usize| -> IterativeFit<Gaussian, f64> {
            let extras = Extras { resume: states.get(resume), ..Extras::default() };
            let mut rows = Blocks::new(problem, rows);
            krr.fit_passes(&mut rows, [2, 2], extras, &mut rng()).unwrap()
        };
        for (rows, resume) in [(1111, usize::MAX), (n, states.len() / 2)] {
            let again = again(rows, resume);
            assert_eq!(bits(&again.model), bits(&whole.model));
            assert_eq!(again.model.report(), whole.model.report());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(bits(&pool.install(|| again(1024, usize::MAX)).model), bits(&whole.model));
    }
}

/// Three places, whichever two of them are put together first.
#[test]
fn places_are_put_together_in_the_order_of_their_rows() {
    let n = 2300;
    let (x, y) = sample::<f64>(n, 3, 1, 8);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let fit = |cuts: &[usize], from_the_left| {
        let mut places = Places { problem, cuts: cuts.to_vec(), from_the_left };
        let krr = full::<f64>(true, 1e-8);
        let fit = krr.fit_passes(&mut places, [3, 1], Extras::default(), &mut rng()).unwrap();
        assert!(fit.converged(), "{:?}", fit.report);
        fit.model
    };
    let cuts = [0, 500, 501, n];
    assert_eq!(bits(&fit(&cuts, true)), bits(&fit(&cuts, false)));
    // tiles that begin elsewhere: another order of operations for some rows, and the same function
    let [a, b] = [&cuts[..], &[0, n]].map(|cuts| fit(cuts, true).predict(problem.x).unwrap());
    assert!((a - &b).norm_max() < 1e-6 * b.norm_max());
}

/// In `f32` values travel as `f64`, so that none is rounded twice.
#[test]
fn single_precision_is_that_of_memory_to_rounding() {
    let n = 700;
    let (x, y) = sample::<f32>(n, 2, 1, 1);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let krr = FullKrr { ridge: Ridge::PerSample(1e-3), ..full::<f32>(true, 1e-6) };
    let memory = krr.fit(problem, &mut rng()).unwrap();
    let mut rows = Blocks::new(problem, 300);
    let passes = krr.fit_passes(&mut rows, [2, 1], Extras::default(), &mut rng()).unwrap();
    let [ours, theirs] = [&passes, &memory].map(|fit| fit.model.predict(problem.x).unwrap());
    assert!((ours - &theirs).norm_max() < 1e-4 * theirs.norm_max());
}

/// n² kernel values an iteration, and a few for the fingerprint; what is reported is what is
/// evaluated.
#[test]
fn an_iteration_takes_every_pair_once() {
    let n = 500;
    let (x, y) = sample::<f64>(n, 2, 1, 17);
    let count = AtomicUsize::new(0);
    let kernel = FromFn::new(|x: &[f64], y: &[f64]| {
        count.fetch_add(1, Ordering::Relaxed);
        (-x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
    });
    let run = |max_iterations| {
        count.store(0, Ordering::Relaxed);
        let options = IterativeOptions { tolerance: 1e-300, max_iterations, memory: None };
        let krr = FullKrr::new(&kernel, Ridge::PerSample(1e-6));
        let krr = FullKrr { options, rank: Some(5), ..krr };
        let mut rows = Blocks::new((Points::from_rows(x.as_ref()), &y), 128);
        let fit = krr.fit_passes(&mut rows, [2, 1], Extras::default(), &mut rng()).unwrap();
        (fit.report.kernel_entries as usize, count.load(Ordering::Relaxed))
    };
    let ((few, evaluated), (many, more)) = (run(2), run(12));
    assert_eq!(many - few, 10 * n * n);
    assert!((more - evaluated) as f64 <= 10.2 * (n * n) as f64, "{more} {evaluated}");
    assert!(more - evaluated >= 10 * n * n && evaluated >= few, "{more} {evaluated} {few}");
}

#[test]
fn what_cannot_be_fitted_is_told() {
    let (x, y) = sample::<f64>(600, 2, 1, 3);
    let krr = full::<f64>(false, 1e-9);
    let fit = |krr: &FullKrr<Gaussian, f64>, x: &Mat<f64>, size: [usize; 2]| {
        let mut rows = Blocks::new((Points::from_rows(x.as_ref()), &y), 250);
        krr.fit_passes(&mut rows, size, Extras::default(), &mut rng())
    };
    assert!(fit(&krr, &x, [2, 1]).is_ok());
    assert!(matches!(fit(&krr, &x, [3, 1]), Err(Error::Shape { expected: 3, got: 2, .. })));
    assert!(matches!(fit(&krr, &x, [2, 2]), Err(Error::Shape { .. })));
    assert!(matches!(fit(&krr, &x, [0, 1]), Err(Error::Empty { .. })));
    assert!(matches!(fit(&krr, &x, [2, 0]), Err(Error::Empty { .. })));
    let mut with_nan = x.clone();
    with_nan[(333, 1)] = f64::NAN;
    assert!(matches!(fit(&krr, &with_nan, [2, 1]), Err(Error::NonFinite { .. })));

    // memory: what the plan says is enough, and a byte less is not
    let needed = krr.memory_in_passes([600, 2, 1]).unwrap().total();
    let with = |memory| {
        let options = IterativeOptions { memory: Some(memory), ..krr.options };
        FullKrr { options, ..krr }
    };
    assert!(fit(&with(needed), &x, [2, 1]).is_ok());
    let refused = fit(&with(needed - 1), &x, [2, 1]).unwrap_err();
    assert!(matches!(refused, Error::OutOfBudget { needed: n, .. } if n == needed), "{refused}");

    // what no number of rows could mend is told before any is read
    let refused = |krr: &FullKrr<Gaussian, f64>| {
        krr.fit_passes(&mut Unread, [2, 1], Extras::default(), &mut rng()).unwrap_err()
    };
    let no_ridge = FullKrr { ridge: Ridge::PerSample(0.0), ..krr };
    assert!(matches!(refused(&no_ridge), Error::InvalidParameter { .. }));
    assert!(matches!(refused(&with(1000)), Error::OutOfBudget { budget: 1000, .. }));
    let none = FullKrr { rank: Some(0), ..krr };
    assert!(matches!(refused(&none), Error::Empty { what: "columns of the preconditioner" }));
    let (wide, nan) = (Mat::zeros(600, 2), Mat::full(600, 1, f64::NAN));
    let refused = |start: &Mat<f64>| {
        let extras = Extras { start: Some(start.as_ref()), ..Extras::default() };
        krr.fit_passes(&mut Unread, [2, 1], extras, &mut rng()).unwrap_err()
    };
    assert!(matches!(refused(&wide), Error::Shape { expected: 1, got: 2, .. }));
    assert!(matches!(refused(&nan), Error::NonFinite { .. }));
    // unless its rank is given the preconditioner is cut to a quarter
    let budget = 30_000_000;
    let plan = FullKrr { rank: None, ..with(budget) }.memory_in_passes([20_000, 2, 1]).unwrap();
    assert!(plan.factors <= budget / 4 && plan.factors > budget / 8, "{plan:?} of {budget}");

    // rows that are not there again
    let mut reads = 0;
    let mut rows = RowIter::new(|| {
        reads += 1;
        let count = if reads < 4 { 3 } else { 2 };
        let part = |k: usize| {
            let x = Mat::from_fn(200, 2, |i, j| x[(200 * k + i, j)]);
            let y = Mat::from_fn(200, 1, |i, _| y[(200 * k + i, 0)]);
            Ok(nystrom_krr::Block { x, y, weights: None })
        };
        (0..count).map(part).collect::<Vec<_>>().into_iter()
    });
    let failed = krr.fit_passes(&mut rows, [2, 1], Extras::default(), &mut rng()).unwrap_err();
    assert!(matches!(failed, Error::Shape { expected: 600, got: 400, .. }), "{failed}");
    let mut none = RowIter::new(std::iter::empty);
    let failed = krr.fit_passes(&mut none, [2, 1], Extras::default(), &mut rng()).unwrap_err();
    assert!(matches!(failed, Error::Empty { .. }), "{failed}");
}

/// Passes whose sums come back damaged.
struct Damaged<'a>(Blocks<'a, f64>, usize);

impl RowPasses<f64> for Damaged<'_> {
    fn pass<S: RowSums<f64>>(&mut self, empty: S) -> Result<S> {
        let mut bytes = RowPasses::pass(&mut self.0, empty.empty())?.to_bytes();
        match self.1 {
            0 => bytes.truncate(bytes.len() - 8),
            1 => *bytes.last_mut().unwrap() ^= 1,
            at => bytes[at] ^= 1,
        }
        empty.read(&bytes)
    }
}

#[test]
fn damaged_values_do_not_come_back() {
    let (x, y) = sample::<f64>(100, 2, 1, 3);
    for at in [0, 1, 9, 20, 60] {
        let rows = Blocks::new((Points::from_rows(x.as_ref()), &y), 250);
        let krr = full::<f64>(false, 1e-9);
        let failed = krr.fit_passes(&mut Damaged(rows, at), [2, 1], Extras::default(), &mut rng());
        assert!(matches!(failed, Err(Error::Incompatible { .. })), "{at}: {failed:?}");
    }
}
