//! Predictions of Nyström kernel ridge regression at 10,000 points. Gaussian kernel, d = 10.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nystrom::prelude::*;
use nystrom_benches::problems;

fn predict(c: &mut Criterion) {
    let mut group = c.benchmark_group("nystrom_predict");
    let (x, y) = problems::cosines(5_000, 10, 1);
    let (at, _) = problems::cosines(10_000, 10, 2);
    for m in [1000, 2000] {
        let krr = NystromKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6));
        let points = Points::from_rows(x.as_ref());
        let model = krr.fit((points, y.as_ref()), points.slice(0..m)).unwrap();
        group.throughput(Throughput::Elements(10_000 * m as u64));
        group.bench_function(BenchmarkId::from_parameter(m), |b| {
            b.iter(|| model.predict(Points::from_rows(at.as_ref())).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, predict);
criterion_main!(benches);
