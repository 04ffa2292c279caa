//! A path of 20 ridges of Nyström kernel ridge regression, compared with a single fit, and a path
//! of exact regression. Gaussian kernel, ℓ = 3, d = 10.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::krr::lambda_grid;
use nystrom::prelude::*;
use nystrom_benches::problems;

fn path(c: &mut Criterion) {
    let mut group = c.benchmark_group("lambda_path");
    group.sample_size(10);
    let ridges = lambda_grid(1e-2, 1e-8, 20).unwrap();
    let kernel = Gaussian::new(3.0).unwrap();
    for (n, m) in [(10_000, 500), (100_000, 500), (100_000, 1000)] {
        let (x, y) = problems::cosines(n, 10, 1);
        let points = Points::from_rows(x.as_ref());
        let krr = NystromKrr::new(kernel, Ridge::PerSample(1e-6));
        group.bench_function(BenchmarkId::new(format!("path/m{m}"), n), |b| {
            let krr = NystromKrr::without_ridge(kernel);
            b.iter(|| krr.path((points, y.as_ref()), points.slice(0..m), &ridges).unwrap());
        });
        group.bench_function(BenchmarkId::new(format!("one_fit/m{m}"), n), |b| {
            b.iter(|| krr.fit((points, y.as_ref()), points.slice(0..m)).unwrap());
        });
    }
    let (x, y) = problems::cosines(1000, 10, 1);
    let exact = ExactKrr::without_ridge(kernel);
    group.bench_function("exact_path/1000", |b| {
        b.iter(|| exact.path((Points::from_rows(x.as_ref()), y.as_ref()), &ridges).unwrap());
    });
    group.finish();
}

criterion_group!(benches, path);
criterion_main!(benches);
