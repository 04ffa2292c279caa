//! Code that the benches share: the problems of the peer comparison, and the timing of work that
//! takes seconds.

mod heavy;
pub mod problems;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode};

pub use heavy::heavy;

/// A benchmark group with ten samples, each with the same number of runs.
pub fn flat<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group
}

/// The peak of resident memory, as Linux reports it.
pub fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("VmHWM: unknown").into()
}

/// The allocator of the programs and of the Python package, which uses large pages as NumPy does.
#[global_allocator]
static ALLOCATOR: nystrom::linalg_core::LargePages = nystrom::linalg_core::LargePages;
