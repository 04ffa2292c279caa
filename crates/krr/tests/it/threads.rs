//! The same bits with 1, 2 and 8 threads.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{
    ExactKrr, FullKrr, FullLogisticKrr, FullPath, IterativeOptions, KrrModel, NystromKrr, Problem,
    ProblemSize, Solver, TightCertificate,
};
use nystrom_linalg_core::{Error, Ridge, Scalar};

fn bits<T: Scalar>(a: faer::MatRef<'_, T>) -> Vec<u64> {
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)].f64().to_bits())).collect()
}

/// Coefficients, intercepts and predictions of `fit`, under pools of three sizes.
fn check<T: Scalar>(at: &Mat<T>, fit: impl Fn() -> KrrModel<Gaussian, T> + Sync)
where
    Gaussian: Kernel<T>,
{
    same_at_any_thread_count(|| {
        let model = fit();
        let f = model.predict(Points::from_rows(at.as_ref())).unwrap();
        let b: Vec<u64> = model.intercept().iter().map(|b| b.f64().to_bits()).collect();
        (bits(model.coefficients()), b, bits(f.as_ref()))
    });
}

fn all_fits<T: Scalar>(t: usize)
where
    Gaussian: Kernel<T>,
{
    let (x, y) = sample::<T>(3100, 4, t, 11); // four leaves, the last one short
    let (at, _) = sample::<T>(700, 4, 1, 12);
    let points = Points::from_rows(x.as_ref());
    let w: Vec<T> = weights(3100).into_iter().map(T::lit).collect();
    // whitening the sums of an f32 pass afterwards fails at 333 centres of this smoothness: far
    // below its boundary
    let once = if T::EPS < 1e-10 { Solver::WhitenOnce } else { Solver::Auto };
    for solver in [once, Solver::NormalEquations, Solver::Qr] {
        let krr = NystromKrr {
            intercept: true,
            solver,
            ..NystromKrr::new(gaussian(2.0), Ridge::PerSample(T::lit(1e-3)))
        };
        check(&at, || {
            krr.fit(Problem::new(points, y.as_ref()).weighted(&w), points.slice(0..333)).unwrap()
        });
    }
    let exact = ExactKrr {
        intercept: true,
        ..ExactKrr::new(gaussian(2.0), Ridge::PerSample(T::lit(1e-3)))
    };
    check(&at, || exact.fit((points.slice(0..600), y.as_ref().subrows(0, 600))).unwrap());
}

#[test]
fn double_precision() {
    all_fits::<f64>(1);
    all_fits::<f64>(3);
}

#[test]
fn single_precision() {
    all_fits::<f32>(1);
    all_fits::<f32>(3);
}

/// Memory for a part of K in `f32`: which part it is decides bits, and no thread may decide it.
#[test]
fn what_a_budget_keeps_does_not_depend_on_threads() {
    let (x, y) = sample::<f64>(1800, 4, 1, 13);
    let (at, _) = sample::<f64>(50, 4, 1, 14);
    let points = Points::from_rows(x.as_ref());
    let (train, valid) = (points.slice(0..1500), points.slice(1500..1800));
    let (targets, others) = (y.as_ref().subrows(0, 1500), y.as_ref().subrows(1500, 300));
    // the triangle takes 4.5 MB, and what is left after 8 MiB of blocks does not hold it
    let memory = Some(12 << 20);
    let options = IterativeOptions { tolerance: 1e-4, memory, ..IterativeOptions::default() };
    let ridge = Ridge::PerSample(1e-4);
    let full = FullKrr { options, rank: Some(40), ..FullKrr::new(gaussian(2.0), ridge) };
    let fit = full.fit((train, targets), &mut rng(0)).unwrap();
    let kept = fit.report.memory.kept;
    assert!(1_000_000 < kept && kept < 4_400_000, "{kept} bytes of the triangle");
    check(&at, || full.fit((train, targets), &mut rng(0)).unwrap().model);

    let ridges = [1e-2, 1e-4].map(Ridge::PerSample);
    let path = FullPath { options, rank: Some(40), ..FullPath::new(gaussian(2.0), &ridges) };
    check(&at, || path.fit((train, targets), (valid, others), &mut rng(0)).unwrap().fit.model);

    let signs = Mat::from_fn(1500, 1, |i, _| if targets[(i, 0)] > 0.0 { 1.0 } else { -1.0 });
    let classes = FullLogisticKrr { options, ..FullLogisticKrr::new(gaussian(2.0), ridge) };
    check(&at, || classes.fit((train, signs.as_ref()), &mut rng(0)).unwrap());

    let tight = TightCertificate { passes: 6, memory, ..TightCertificate::default() };
    let certify = |tight: TightCertificate| {
        same_at_any_thread_count(|| {
            tight.certify(&fit.model, (train, targets), &mut rng(0)).map_err(|e| e.to_string())
        })
    };
    assert!(certify(tight).is_ok());

    // their preconditioners have a higher rank: with more memory these two keep a part, too
    let memory = Some(20 << 20);
    let part = TightCertificate { memory, ..tight };
    let size = ProblemSize { n: 1500, d: 4, m: 1500, t: 1, weighted: false };
    let kept = part.cost::<f64>(size).unwrap().memory.kept;
    assert!(500_000 < kept && kept < 4_400_000, "{kept} bytes of the triangle");
    assert!(certify(part).is_ok());
    let options = |memory| IterativeOptions { memory, ..options };
    let classify = |memory| {
        let classes = FullLogisticKrr { options: options(memory), ..classes };
        classes.fit((train, signs.as_ref()), &mut rng(0))
    };
    let entries = |memory| classify(memory).unwrap().report().kernel_entries as f64;
    assert!(entries(memory) < 0.8 * entries(None), "a part of K is evaluated once");
    check(&at, || classify(memory).unwrap());

    // a budget below the blocks of eight threads is refused with any number of threads
    let small = Some(6 << 20);
    let refused = same_at_any_thread_count(|| {
        let full = FullKrr { options: options(small), ..full };
        let full = full.fit((train, targets), &mut rng(0)).map(drop).unwrap_err();
        [full, classify(small).map(drop).unwrap_err()]
    });
    let budget = 6 << 20;
    for error in refused {
        assert!(matches!(error, Error::OutOfBudget { budget: b, .. } if b == budget), "{error}");
    }
    assert!(certify(TightCertificate { memory: small, ..tight }).is_err());
}
