//! Which method is taken, and that all give the same f.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::Points;
use nystrom_krr::{
    AutoKrr, Centers, IterativeOptions, Method, Plan, Problem, ProblemSize, SolvedBy, Stop,
};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{Dictionary, Draw};
use proptest::prelude::*;

const SIZE: ProblemSize = ProblemSize { n: 1_000_000, d: 10, m: 1000, t: 1, weighted: true };

fn method(size: ProblemSize, memory: Option<u64>) -> Method {
    let options = IterativeOptions { memory, ..IterativeOptions::default() };
    Plan::new::<f64>(size, &options).unwrap().method
}

#[test]
fn few_centres_are_solved_directly_and_many_iteratively() {
    assert_eq!(method(SIZE, None), Method::Direct);
    for (m, unweighted) in [(10_000, Method::Krill), (50_000, Method::Falkon)] {
        assert_eq!(method(ProblemSize { m, ..SIZE }, None), Method::Falkon);
        // KRILL has 6m³ flops before the first iteration
        assert_eq!(method(ProblemSize { m, weighted: false, ..SIZE }, None), unweighted, "{m}");
    }
    // as soon as it is cheaper, it stays so
    let direct = (100..20_000)
        .step_by(100)
        .map(|m| method(ProblemSize { m, ..SIZE }, None) == Method::Direct);
    assert!(direct.is_sorted_by(|a, b| a >= b));
    // more targets favour the direct method, which solves for them all at once
    let (one, many) = (ProblemSize { m: 4000, ..SIZE }, ProblemSize { m: 4000, t: 100, ..SIZE });
    assert_eq!((method(one, None), method(many, None)), (Method::Falkon, Method::Direct));
}

#[test]
fn memory_overrules_work() {
    // the direct method and KRILL hold 32m² bytes, Falkon half of them
    let m = 10_000;
    for weighted in [true, false] {
        let size = ProblemSize { m, weighted, ..SIZE };
        let plan = Plan::new::<f64>(
            size,
            &IterativeOptions { memory: Some(2_200_000_000), ..IterativeOptions::default() },
        )
        .unwrap();
        assert_eq!(plan.method, Method::Falkon);
        assert!(
            plan.reason.contains("of the 2200000000 allowed")
                && plan.reason.contains("weights") != weighted,
            "{}",
            plan.reason
        );
    }
    let error = Plan::new::<f64>(
        SIZE,
        &IterativeOptions { memory: Some(1000), ..IterativeOptions::default() },
    )
    .unwrap_err();
    let Error::OutOfBudget { needed, budget: 1000, .. } = error else { panic!("{error}") };
    assert!(
        method(SIZE, Some(needed)) == Method::Direct
            || method(SIZE, Some(needed)) == Method::Falkon
    );
    let error = Plan::new::<f64>(
        SIZE,
        &IterativeOptions { memory: Some(needed - 1), ..IterativeOptions::default() },
    );
    assert!(matches!(error, Err(Error::OutOfBudget { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Nothing that fits and is allowed has less work than the method taken.
    #[test]
    fn the_least_work_that_fits_is_taken(
        n in 1..10_000_000usize, d in 1..100usize, m in 1..50_000usize, t in 1..20usize,
        weighted: bool, log_memory in 20..40u32,
    ) {
        let size = ProblemSize { n, d, m, t, weighted };
        let budget = 1u64 << log_memory;
        match Plan::new::<f32>(size, &IterativeOptions { memory: Some(budget),
            ..IterativeOptions::default() }) {
            Ok(plan) => {
                let chosen = plan.estimates.iter().find(|e| e.method == plan.method).unwrap();
                prop_assert!(chosen.bytes <= budget);
                for other in &plan.estimates {
                    prop_assert!(other.bytes > budget || other.flops >= chosen.flops);
                }
            }
            Err(error) => {
                let Error::OutOfBudget { needed, .. } = error else { panic!("{error}") };
                prop_assert!(needed > budget);
            }
        }
    }
}

/// What is kept is evaluated once: 2 GB hold the 10⁵ rows of up to 2000 centres, and the iterations
/// cost their products only.
#[test]
fn rows_that_are_kept_are_evaluated_once() {
    let size = ProblemSize { n: 100_000, d: 10, m: 1000, t: 1, weighted: true };
    let plan = |memory| {
        let options = IterativeOptions { memory, ..IterativeOptions::default() };
        Plan::new::<f64>(size, &options).unwrap()
    };
    let flops =
        |plan: &Plan, method| plan.estimates.iter().find(|e| e.method == method).unwrap().flops;
    let (none, all) = (plan(None), plan(Some(2_000_000_000)));
    let (nm, value) = (1e8, 90.0);
    for (method, passes) in [(Method::Falkon, 32.0), (Method::Krill, 46.0)] {
        let saved = flops(&none, method) - flops(&all, method);
        let expected = (passes - 1.0) * nm * value;
        assert!((saved - expected).abs() < 1e-9 * expected, "{method:?}: {saved:e} {expected:e}");
    }
    assert_eq!(flops(&none, Method::Direct), flops(&all, Method::Direct));
    assert_eq!((none.method, all.method), (Method::Direct, Method::Falkon));
    // from 600 centres to 1900 it is the memory that decides
    for m in (600..1900).step_by(100) {
        assert_eq!(method(ProblemSize { m, ..size }, None), Method::Direct, "{m}");
        assert_eq!(method(ProblemSize { m, ..size }, Some(2_000_000_000)), Method::Falkon, "{m}");
    }
    // half of the rows kept: half of the saving, to a tile
    let half = plan(Some(470_000_000));
    let saved = (flops(&none, Method::Falkon) - flops(&half, Method::Falkon)) / (31.0 * nm * value);
    assert!((0.47..0.5).contains(&saved), "{saved}");
}

/// Nothing is barred: centres without weights are given twice Falkon's iterations, and the least
/// work wins.
#[test]
fn centres_without_weights_take_falkon_where_krills_factors_cost_more() {
    let size = ProblemSize { n: 100_000, d: 10, m: 20_000, t: 1, weighted: false };
    let plan = Plan::new::<f64>(size, &IterativeOptions::default()).unwrap();
    assert!(
        plan.method == Method::Falkon && plan.reason.contains("twice the iterations"),
        "{}",
        plan.reason
    );
    let iterations = |weighted| {
        let plan = Plan::new::<f64>(ProblemSize { weighted, ..size }, &IterativeOptions::default())
            .unwrap();
        plan.estimates[1].iterations as f64
    };
    assert!((iterations(false) / iterations(true) - 2.0).abs() < 0.05);
}

#[test]
fn sizes_that_are_none_are_refused() {
    let new = |size, options| Plan::new::<f64>(size, &options).unwrap_err();
    let options = IterativeOptions::default();
    let empty = [
        (ProblemSize { n: 0, ..SIZE }, "points (n)"),
        (ProblemSize { d: 0, ..SIZE }, "coordinates of a point (d)"),
        (ProblemSize { m: 0, ..SIZE }, "centres (m)"),
        (ProblemSize { t: 0, ..SIZE }, "right-hand sides (t)"),
    ];
    for (size, name) in empty {
        assert!(matches!(new(size, options), Error::Empty { what } if what == name), "{name}");
    }
    let huge = usize::MAX;
    for size in [ProblemSize { m: huge, ..SIZE }, ProblemSize { t: huge, ..SIZE }] {
        assert!(matches!(new(size, options), Error::TooMany { .. }));
    }
    let largest = ProblemSize { n: huge, d: huge, m: 1 << 26, t: 1 << 26, weighted: false };
    for memory in [None, Some(0), Some(u64::MAX)] {
        let plan = Plan::new::<f32>(largest, &IterativeOptions { memory, ..options });
        assert_eq!(plan.is_err(), memory == Some(0));
    }
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = new(SIZE, IterativeOptions { tolerance, ..options });
        assert!(matches!(error, Error::InvalidParameter { name: "tolerance", .. }), "{error}");
    }
}

#[test]
fn every_method_gives_the_same_function() {
    let (x, y) = sample::<f64>(3000, 2, 2, 0);
    let points = Points::from_rows(x.as_ref());
    let rng = &mut rng(1);
    let w = weights(3000);
    let dictionary = Dictionary::uniform(3000, 200, Draw::WithoutReplacement, rng).unwrap();
    let mut fit = |centers: Centers<'_, f64>, memory, expected| {
        let options =
            IterativeOptions { memory, max_iterations: 200, ..IterativeOptions::default() };
        let krr = AutoKrr {
            options,
            intercept: true,
            ..AutoKrr::new(gaussian(1.0), Ridge::PerSample(1e-2))
        };
        let problem = Problem::new(points, y.as_ref()).weighted(&w);
        let fit = krr.fit(problem, centers, rng).unwrap();
        assert_eq!(fit.plan.method, expected, "{}", fit.plan.reason);
        assert_eq!(fit.iterations.is_none(), expected == Method::Direct);
        let by = fit.model.report().solver;
        assert_eq!(by == SolvedBy::Falkon, expected == Method::Falkon);
        fit.model.predict(points).unwrap()
    };
    let direct: Mat<f64> = fit((&dictionary).into(), None, Method::Direct);
    let falkon = fit((&dictionary).into(), Some(2_900_000), Method::Falkon);
    assert!(
        distance(direct.as_ref(), falkon.as_ref()) < 1e-3,
        "{:e}",
        distance(direct.as_ref(), falkon.as_ref())
    );
    assert!(direct != falkon);
}

/// λ far below what 900 uniform centres are enough for: Falkon's condition number is in the
/// hundreds, KRILL's is not.
#[test]
fn falkon_is_left_where_its_preconditioner_is_poor() {
    let (x, y) = sample::<f64>(6000, 3, 1, 2);
    let points = Points::from_rows(x.as_ref());
    let dictionary = Dictionary::uniform(6000, 900, Draw::WithoutReplacement, &mut rng(3)).unwrap();
    let fit = |lambda: f64| {
        let options = IterativeOptions {
            tolerance: 1e-2,
            memory: Some(1 << 30),
            ..IterativeOptions::default()
        };
        let krr = AutoKrr { options, ..AutoKrr::new(gaussian(0.5), Ridge::PerSample(lambda)) };
        krr.fit((points, y.as_ref()), &dictionary, &mut rng(4)).unwrap()
    };
    let (good, poor) = (fit(1e-2), fit(1e-7));
    assert_eq!(good.plan.method, Method::Falkon);
    assert_eq!(poor.plan.method, Method::Krill);
    assert!(poor.plan.reason.contains("; left for Krill after "), "{}", poor.plan.reason);
    let report = poor.iterations.unwrap();
    assert!(report.stop == Stop::Converged && report.condition < 68.0, "{report:?}");
    assert_eq!(report.history.len(), report.iterations);
    assert_eq!(poor.model.report().solver, SolvedBy::Krill);
}
