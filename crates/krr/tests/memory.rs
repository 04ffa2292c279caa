//! What a fit holds at its peak, against what it planned. A program of its own with one test:
//! whatever is allocated counts.
#![allow(missing_docs)]

use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{
    AutoKrr, Falkon, IterativeOptions, Krill, Method, NystromKrr, Plan, ProblemSize, lambda_grid,
};
use nystrom_linalg_core::{Ridge, random};
use nystrom_sketch::Landmarks;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

const N: usize = 30_000;
const M: usize = 400;

/// The result, and the most bytes held at one time beyond those held before.
fn peak<R>(work: impl FnOnce() -> R) -> (R, u64) {
    ALLOCATOR.reset_peak_memory();
    let result = work();
    (result, ALLOCATOR.get_peak_memory() as u64)
}

/// At most the plan, with the model and a tenth for what is small; at least what is held whatever
/// the number of threads.
fn within(name: &str, peak: u64, planned: u64, held: u64) {
    println!("{name}: {:.2} MB of {:.2} MB planned", peak as f64 / 1e6, planned as f64 / 1e6);
    let model = (8 * M * 5 + 200_000) as u64;
    assert!(
        peak <= planned + planned / 10 + model,
        "{name}: {peak} bytes against {planned} planned"
    );
    assert!(peak >= held, "{name}: {peak} bytes, and {held} must be held");
}

struct Problem<'a> {
    x: Points<'a, f64>,
    y: MatRef<'a, f64>,
    landmarks: Landmarks,
}

#[test]
fn the_peak_is_what_was_planned() {
    let rng = &mut Pcg64::seed_from_u64(0);
    let x: Mat<f64> = random::standard_normal(N, 3, rng);
    let y = Mat::from_fn(N, 1, |i, _| (x[(i, 0)] + x[(i, 1)]).sin());
    let landmarks = Landmarks::new(N, (0..N).step_by(N / M).take(M).collect()).unwrap();
    let problem = Problem { x: Points::from_rows(x.as_ref()), y: y.as_ref(), landmarks };
    // each thread has tiles of its own
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        // What the threads keep for good is not counted later.
        let krr = NystromKrr::new(kernel(), Ridge::PerSample(1e-4));
        drop(krr.fit((problem.x, problem.y), &problem.landmarks).unwrap());
        iterative(&problem);
        direct(&problem);
        path(&problem);
    });
}

fn kernel() -> Gaussian {
    Gaussian::new(1.0).unwrap()
}

/// Falkon and KRILL keep as much of K_nm as the budget allows, and stay below it.
fn iterative(Problem { x, y, landmarks }: &Problem<'_>) {
    let ridge = Ridge::PerSample(1e-5);
    for megabytes in [None, Some(40), Some(200)] {
        let memory = megabytes.map(|megabytes| megabytes * 1_000_000);
        let options = IterativeOptions { memory, max_iterations: 4, ..IterativeOptions::default() };
        let falkon = Falkon { options, ..Falkon::new(kernel(), ridge) };
        let krill = Krill { options, ..Krill::new(kernel(), ridge) };
        let (by_falkon, peak_falkon) = peak(|| falkon.fit((*x, *y), landmarks).unwrap());
        let rng = &mut Pcg64::seed_from_u64(1);
        let (by_krill, peak_krill) = peak(|| krill.fit((*x, *y), landmarks, rng).unwrap());
        for (name, fit, peak) in
            [("Falkon", by_falkon, peak_falkon), ("KRILL", by_krill, peak_krill)]
        {
            let plan = fit.report.memory;
            within(
                &format!("{name}, {megabytes:?} MB allowed, {} rows kept", plan.kept_rows),
                peak,
                plan.total(),
                plan.kept + plan.vectors,
            );
            assert!(
                memory.is_none_or(|memory| peak <= memory),
                "{name}: {peak} bytes of {memory:?} allowed"
            );
            assert_eq!(plan.kept_rows == N, megabytes == Some(200), "{name}");
        }
    }
}

/// What `AutoKrr` says of the direct method.
fn direct(Problem { x, y, landmarks }: &Problem<'_>) {
    let size = ProblemSize { n: N, d: 3, m: M, t: 1, weighted: false };
    let plan = Plan::new::<f64>(size, &IterativeOptions::default()).unwrap();
    let planned =
        plan.estimates.iter().find(|estimate| estimate.method == Method::Direct).unwrap().bytes;
    let krr = AutoKrr::new(kernel(), Ridge::PerSample(1e-4));
    let rng = &mut Pcg64::seed_from_u64(2);
    let (fit, peak) = peak(|| krr.fit((*x, *y), landmarks, rng).unwrap());
    assert_eq!(fit.plan.method, Method::Direct);
    within("direct", peak, planned, (8 * M * M) as u64);
}

/// 6m² numbers and tiles of 1024·(m + L + Lt), as the documentation of the path says.
fn path(Problem { x, y, landmarks }: &Problem<'_>) {
    let ridges = lambda_grid(1e-1, 1e-8, 20).unwrap();
    let krr = NystromKrr::without_ridge(kernel());
    let (path, peak) = peak(|| krr.path((*x, *y), landmarks, &ridges).unwrap());
    assert_eq!(path.points().len(), 20);
    let tiles = 4; // one under way on each thread, and two of each
    within(
        "path",
        peak,
        (8 * (6 * M * M + tiles * 1024 * (M + 2 * 20))) as u64,
        (16 * M * M) as u64,
    );
}
