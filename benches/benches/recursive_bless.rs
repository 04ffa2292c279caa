//! Scores of all rows by Recursive-RLS, BLESS and BLESS-R on the bimodal design of Chen & Yang (2021) in three dimensions, Matérn 3/2,
//! λ = 0.075·n^(−2/3): near-linear in n, O(n·m) entries and O(n·m²) flops for a dictionary of m ≈ q·d_eff rows.
//!
//! `cargo bench -p nystrom-benches --bench recursive_bless`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern, Points};
use nystrom::leverage::{Bless, BlessR, RecursiveNystrom, RecursiveRls, RidgeLeverage};
use nystrom::linalg_core::{Ridge, Scalar};
use nystrom::rand::{RngExt, SeedableRng};
use nystrom::rand_pcg::Pcg64;
use std::time::Duration;

/// Uniform on the unit cube with probability n/(n + n^0.4), otherwise coordinates on [2, 2.5] with density 4(5 − 2x).
fn bimodal<T: Scalar>(n: usize) -> Mat<T> {
    let mut rng = Pcg64::seed_from_u64(0);
    let first = 1.0 / (1.0 + (n as f64).powf(-0.6));
    let mut x = Mat::zeros(n, 3);
    for i in 0..n {
        let in_cube = rng.random::<f64>() < first;
        for j in 0..3 {
            let u = rng.random::<f64>();
            x[(i, j)] = T::lit(if in_cube { u } else { 2.5 - 0.5 * (1.0 - u).sqrt() });
        }
    }
    x
}

fn scores<T: Scalar>(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("recursive_bless_{}", T::NAME));
    group.sampling_mode(SamplingMode::Flat).sample_size(10).warm_up_time(Duration::from_millis(100));
    for n in [50_000, 200_000] {
        let x = bimodal::<T>(n);
        let k = KernelMatrix::new(Matern::new(1.5, 1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let ridge = Ridge::PerSample(T::lit(0.075 * (n as f64).powf(-2.0 / 3.0)));
        let s = (n as f64).sqrt() as usize;
        let estimators: [(&str, Box<dyn RidgeLeverage<T>>); 6] = [
            ("recursive q=1", Box::new(RecursiveRls::with_oversampling(1.0))),
            ("recursive q=3", Box::new(RecursiveRls::default())),
            ("recursive s=√n", Box::new(RecursiveNystrom { size: s, accelerated: true })),
            ("bless q=5", Box::new(Bless::default())),
            ("bless-r q=2", Box::new(BlessR { oversampling: 2.0, ..BlessR::default() })),
            ("bless-r q=5", Box::new(BlessR::default())),
        ];
        for (name, estimator) in &estimators {
            group.bench_function(BenchmarkId::new(*name, n), |b| {
                b.iter(|| estimator.scores(&k, ridge, &mut Pcg64::seed_from_u64(1)).unwrap().len());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, scores::<f64>, scores::<f32>);
criterion_main!(benches);
