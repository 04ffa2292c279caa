//! Alaoui & Mahoney's fast scores at n = 50,000 and p = 500, O(np²) flops. The factor is not
//! stored, so kernel entries are evaluated twice.
//!
//! `cargo bench -p nystrom-benches --bench fast_scores`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nystrom::kernels::{Gaussian, KernelMatrix, Points};
use nystrom::leverage::{Landmarks, fast_scores};
use nystrom::linalg_core::{Ridge, Scalar, random};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::flat;
use std::time::Duration;

const N: usize = 50_000;
const P: usize = 500;

fn fast<T: Scalar>(c: &mut Criterion) {
    let x = random::standard_normal::<T>(N, 10, &mut Pcg64::seed_from_u64(0));
    let k = KernelMatrix::new(Gaussian::new(3.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let landmarks = Landmarks::new(N, (0..P).map(|j| j * (N / P)).collect()).unwrap();
    let mut group = flat(c, &format!("fast_scores_{}", T::NAME));
    group.measurement_time(Duration::from_secs(2));
    // flops: Gram and three triangular solves
    group.throughput(Throughput::Elements((4 * N * P * P) as u64));
    group.bench_function(format!("n={N}/p={P}"), |b| {
        b.iter(|| fast_scores(&k, &landmarks, Ridge::PerSample(T::lit(1e-4))).unwrap().d_eff());
    });
    group.finish();
}

criterion_group!(benches, fast::<f64>, fast::<f32>);
criterion_main!(benches);
