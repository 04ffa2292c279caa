//! The certificate of a Nyström fit, from 1000 rows of K, with 500 landmarks. Gaussian kernel,
//! ℓ = 3, λ = 1e-4, d = 10.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::krr::Certificate;
use nystrom::prelude::*;
use nystrom_benches::problems;

fn certificate(c: &mut Criterion) {
    let mut group = c.benchmark_group("certificate");
    group.sample_size(10);
    for n in [10_000, 100_000] {
        let (x, y) = problems::cosines(n, 10, 1);
        let points = Points::from_rows(x.as_ref());
        let krr = NystromKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-4));
        let model = krr.fit((points, y.as_ref()), points.slice(0..500)).unwrap();
        group.bench_function(BenchmarkId::new("rows1000/m500", n), |b| {
            let rng = &mut Pcg64::seed_from_u64(0);
            b.iter(|| Certificate::default().certify(&model, (points, y.as_ref()), rng).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, certificate);
criterion_main!(benches);
