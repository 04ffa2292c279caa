//! Timing of work that takes seconds.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, SamplingMode};
use std::time::{Duration, Instant};

/// The number of runs of heavy work.
const RUNS: usize = 3;
/// Heavy work that takes longer than this runs only once.
const LONG: Duration = Duration::from_secs(20);

/// Times work that takes seconds. It runs three times, or once if it takes over 20 s. criterion
/// needs at least ten samples, so the measured times are repeated cyclically.
///
/// The median that criterion prints is that of the runs. Its confidence interval is meaningless.
pub fn heavy<O>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    mut work: impl FnMut() -> O,
) {
    let mut times = Vec::with_capacity(RUNS);
    let mut turn = 0;
    let mut once = || {
        if times.len() < RUNS && times.first().is_none_or(|first| *first < LONG) {
            let start = Instant::now();
            std::hint::black_box(work());
            times.push(start.elapsed());
        }
        turn += 1;
        times[(turn - 1) % times.len()]
    };
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(10));
    group.bench_function(id, |b| b.iter_custom(|iterations| (0..iterations).map(|_| once()).sum()));
}
