//! Exact λ-ridge leverage scores, n × n: time against n, with the flops of the factorisation and of the inverse's diagonal.
//!
//! `cargo bench -p nystrom-benches --bench exact_scores`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use nystrom::faer::Mat;
use nystrom::kernels::{Gaussian, KernelMatrix, Points};
use nystrom::leverage::exact_scores;
use nystrom::linalg_core::{Ridge, random};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use std::time::Duration;

fn exact(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact_scores_f64");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    for n in [2000, 5000, 10_000] {
        let x: Mat<f64> = random::standard_normal(n, 10, &mut Pcg64::seed_from_u64(0));
        let k = KernelMatrix::new(Gaussian::new(3.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        group.throughput(Throughput::Elements(2 * (n as u64).pow(3) / 3)); // flops
        group.bench_with_input(BenchmarkId::from_parameter(n), &k, |b, k| {
            b.iter(|| exact_scores(k, Ridge::PerSample(1e-4)).unwrap().d_eff());
        });
    }
    group.finish();
}

criterion_group!(benches, exact);
criterion_main!(benches);
