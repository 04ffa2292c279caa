//! What the benches share: the problems of the peer comparison, and how work of seconds is timed.

mod heavy;
pub mod problems;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode};

pub use heavy::heavy;

/// A group of ten samples of equally many runs.
pub fn flat<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group
}

/// The peak of resident memory, as Linux words it.
pub fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("VmHWM: unknown").into()
}

/// That of the programs and of the package for Python; NumPy asks for large pages, too.
#[global_allocator]
static ALLOCATOR: nystrom::linalg_core::LargePages = nystrom::linalg_core::LargePages;
