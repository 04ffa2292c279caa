//! Methods that store an n × n matrix by definition: exact ridge leverage scores and exact kernel
//! ridge regression, against n.
//!
//! `cargo bench -p nystrom-benches --bench exact_scores`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::kernels::Matern32;
use nystrom::leverage::exact_scores;
use nystrom::prelude::*;
use nystrom_benches::{heavy, problems};

/// Problem b of the peer comparison, with λ = 0.075·n^(−2/3) as there.
fn scores(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact_scores_f64");
    for n in [2000, 5000, 10_000] {
        let x = problems::bimodal::<f64>(n);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let ridge = Ridge::PerSample(0.075 * (n as f64).powf(-2.0 / 3.0));
        heavy(&mut group, BenchmarkId::from_parameter(n), || {
            exact_scores(&k, ridge).unwrap().d_eff()
        });
    }
    group.finish();
}

fn regression(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact_krr_f64");
    for n in [2000, 5000, 10_000] {
        let (x, y) = problems::cosines(n, 10, 1);
        let krr = ExactKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6));
        let id = BenchmarkId::from_parameter(n);
        heavy(&mut group, id, || krr.fit((Points::from_rows(x.as_ref()), y.as_ref())).unwrap());
    }
    group.finish();
}

criterion_group!(benches, scores, regression);
criterion_main!(benches);
