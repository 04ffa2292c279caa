//! Iterative regression: Gaussian, ℓ = 3, λ = 1e-6, d = 10, n = 50,000, uniform centres: ten iterations, the set-up alone, and to a residual of 1e-6.
//!
//! `cargo bench -p nystrom-benches --bench falkon`. With the environment variable `NYSTROM_MILLION` set, n = 10⁶ with 4000 centres goes by
//! first, once in each precision: the time of an iteration and the peak of resident memory are printed.
#![allow(missing_docs, clippy::print_stdout)]

mod peer_data;
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use nystrom::krr::{IterationReport, IterativeOptions};
use nystrom::linalg_core::Scalar;
use nystrom::prelude::*;
use std::time::{Duration, Instant};

const N: usize = 50_000;

fn falkon<T: Scalar>(iterations: usize, tolerance: f64, memory: Option<u64>) -> Falkon<Gaussian, T> {
    let options = IterativeOptions { tolerance, max_iterations: iterations, memory };
    Falkon { options, ..Falkon::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(T::lit(1e-6))) }
}

fn run<T: Scalar>(falkon: &Falkon<Gaussian, T>, x: &Mat<T>, y: &Mat<T>, m: usize) -> IterationReport
where
    Gaussian: Kernel<T>,
{
    let x = Points::from_rows(x.as_ref());
    falkon.fit(x, y.as_ref(), x.slice(0..m)).unwrap().report
}

fn million<T: Scalar>()
where
    Gaussian: Kernel<T>,
{
    let (n, m) = (1_000_000, 4000);
    let (x, y) = peer_data::cosines(n, 10, 1);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::lit(a[(i, j)]));
    let (x, y) = (narrow(&x), narrow(&y));
    let time = |iterations| {
        let start = Instant::now();
        (run(&falkon::<T>(iterations, 1e-12, Some(2 << 30)), &x, &y, m), start.elapsed())
    };
    let ((_, one), (report, six)) = (time(1), time(6));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!(
        "{}, n = {n}, m = {m}: {:.1?} an iteration, residual {:.1e} after six ({six:.1?}); planned {} MB beside x and y, {peak}",
        T::NAME,
        (six - one) / 5,
        report.residual,
        report.memory.total() >> 20,
    );
}

fn benches(c: &mut Criterion) {
    if std::env::var_os("NYSTROM_MILLION").is_some() {
        million::<f32>();
        million::<f64>();
    }
    let (x, y) = peer_data::cosines(N, 10, 1);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    let (x32, y32) = (narrow(&x), narrow(&y));
    let mut group = c.benchmark_group("falkon");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    for m in [1000, 2000] {
        group.bench_function(BenchmarkId::new("setup", m), |b| b.iter(|| run(&falkon(0, 1e-6, None), &x, &y, m)));
        for (name, memory) in [("ten/recomputed", None), ("ten/kept", Some(2 << 30))] {
            group.bench_function(BenchmarkId::new(name, m), |b| b.iter(|| run(&falkon(10, 1e-15, memory), &x, &y, m)));
        }
        group.bench_function(BenchmarkId::new("ten/recomputed/f32", m), |b| {
            b.iter(|| run(&falkon(10, 1e-15, None), &x32, &y32, m));
        });
        group.bench_function(BenchmarkId::new("falkon to 1e-6", m), |b| {
            b.iter(|| run(&falkon(200, 1e-6, None), &x, &y, m));
        });
        let krill = Krill {
            options: IterativeOptions { max_iterations: 200, ..IterativeOptions::default() },
            ..Krill::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6))
        };
        group.bench_function(BenchmarkId::new("krill to 1e-6", m), |b| {
            let points = Points::from_rows(x.as_ref());
            b.iter(|| krill.fit(points, y.as_ref(), points.slice(0..m), &mut Pcg64::seed_from_u64(0)).unwrap());
        });
    }
    group.finish();
    let mut group = c.benchmark_group("full");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    let full = FullKrr { rank: Some(500), ..FullKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-3)) };
    group.bench_function("to 1e-6/n=10000/rank=500", |b| {
        let (x, y) = (Points::from_rows(x.as_ref()).slice(0..10_000), y.as_ref().subrows(0, 10_000));
        b.iter(|| full.fit(x, y, &mut Pcg64::seed_from_u64(0)).unwrap());
    });
    group.finish();
}

criterion_group!(iterative, benches);
criterion_main!(iterative);
