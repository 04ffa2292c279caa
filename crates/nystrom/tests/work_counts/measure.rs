//! One measurement at a time, on one thread, and what it is compared with.

use nystrom::faer::Accum;
use nystrom::linalg_core::{ops, random, work};
use nystrom::prelude::*;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::alloc::System;
use std::ops::RangeInclusive;
use std::sync::{LazyLock, Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Counters and allocator are those of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// One thread, so that peaks are the same every time; flops and entries are so on any number. It
/// never ends: what it then gives back would be missing from the peak of another test.
static THREAD: LazyLock<ThreadPool> = LazyLock::new(|| {
    let thread = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    thread.install(|| {
        let (a, mut out) = (Mat::<f64>::zeros(1000, 1000), Mat::zeros(1000, 1000));
        // what it keeps for good is not counted later
        ops::matmul(out.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), 1.0);
    });
    thread
});

/// Runs a test while no other runs.
pub fn alone(test: impl FnOnce() + Send) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    THREAD.install(test);
}

/// What a piece of work did.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    pub flops: f64,
    pub entries: f64,
    pub diagonal: f64,
    /// The most bytes held at one time beyond those held before.
    pub bytes: f64,
}

pub fn measure<R>(f: impl FnOnce() -> R) -> (R, Measured) {
    ALLOCATOR.reset_peak_memory();
    let (result, work) = work::counted(f);
    let bytes = ALLOCATOR.get_peak_memory() as f64;
    let [flops, entries, diagonal] =
        [work.flops, work.entries, work.diagonal_entries].map(|count| count as f64);
    (result, Measured { flops, entries, diagonal, bytes })
}

/// Holds `measured` to `formula`, times a number in `factor`.
pub fn holds(what: &str, measured: f64, formula: f64, factor: RangeInclusive<f64>) {
    println!("{what}: {measured:.4e} of {formula:.4e}, factor {:.3}", measured / formula);
    let (low, high) = (factor.start() * formula, factor.end() * formula);
    assert!(
        measured >= low,
        "{what}: {measured:e} is less than {low:e}; the formula gives {formula:e}"
    );
    assert!(
        measured <= high,
        "{what}: {measured:e} is more than {high:e}; the formula gives {formula:e}"
    );
}

/// n standard normal points in three dimensions and the sine of their sum.
pub fn problem(n: usize) -> (Mat<f64>, Mat<f64>) {
    let x: Mat<f64> = random::standard_normal(n, 3, &mut Pcg64::seed_from_u64(0));
    let y = Mat::from_fn(n, 1, |i, _| (x[(i, 0)] + x[(i, 1)] + x[(i, 2)]).sin());
    (x, y)
}

/// m of n rows, evenly spread.
pub fn every(n: usize, m: usize) -> Landmarks {
    Landmarks::new(n, (0..m).map(|j| j * (n / m)).collect()).unwrap()
}

/// Bytes of that many `f64`.
pub fn f64s(count: f64) -> f64 {
    8.0 * count
}
