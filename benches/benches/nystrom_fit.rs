//! Nyström kernel ridge regression: the fit. Gaussian kernel, ℓ = 3, λ = 1e-6, d = 10, uniform landmarks.
#![allow(missing_docs)]

mod peer_data;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::krr::Solver;
use nystrom::prelude::*;

fn fit(c: &mut Criterion) {
    let mut group = c.benchmark_group("nystrom_fit");
    group.sample_size(10);
    for n in [50_000, 200_000] {
        let (x, y) = peer_data::cosines(n, 10, 1);
        for m in [1000, 2000] {
            let centers = Points::from_rows(x.as_ref()).slice(0..m);
            for solver in [Solver::Auto, Solver::NormalEquations] {
                let krr = NystromKrr { solver, ..NystromKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6)) };
                group.bench_function(BenchmarkId::new(format!("{solver:?}/m{m}"), n), |b| {
                    b.iter(|| krr.fit_centers(Points::from_rows(x.as_ref()), y.as_ref(), centers).unwrap());
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, fit);
criterion_main!(benches);
