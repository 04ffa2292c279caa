//! A 20,000 × 2000 kernel block, evaluated into a reused buffer, in entries per second, and the
//! machine's GEMM rate for comparison.
//!
//! `cargo bench -p nystrom-benches --bench kernel_block`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nystrom::faer::{Accum, Mat};
use nystrom::kernels::{Gaussian, Kernel, Matern12, Matern32, Matern52, Points};
use nystrom::linalg_core::{Scalar, ops, random};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::flat;
use std::time::Duration;

const ROWS: usize = 20_000;
const COLS: usize = 2000;

/// Normal points. On a lattice, where every vector register contains a pair of close points, blocks
/// with d ≥ 20 take 1.7 times as long, because distances are then computed twice.
fn points<T: Scalar>(n: usize, d: usize) -> Mat<T> {
    random::standard_normal(n, d, &mut Pcg64::seed_from_u64((n + d) as u64))
}

fn kernel_block<T: Scalar>(c: &mut Criterion) {
    let mut group = flat(c, &format!("kernel_block_{}", T::NAME));
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Elements((ROWS * COLS) as u64));
    let mut out = Mat::<T>::zeros(ROWS, COLS);
    let kernels: [(&str, &dyn Kernel<T>); 4] = [
        ("gaussian", &Gaussian::new(3.0).unwrap()),
        ("matern32", &Matern32::new(1.0).unwrap()),
        ("matern12", &Matern12::new(1.0).unwrap()),
        ("matern52", &Matern52::new(1.0).unwrap()),
    ];
    for d in [3, 10, 32, 100] {
        let (x, y) = (points::<T>(ROWS, d), points::<T>(COLS, d));
        let (x, y) = (Points::from_rows(x.as_ref()), Points::from_rows(y.as_ref()));
        for (name, kernel) in &kernels[..if d == 10 { 4 } else { 2 }] {
            group.bench_function(format!("{name}/d={d}"), |b| {
                b.iter(|| kernel.eval_into(out.as_mut(), x, y))
            });
        }
    }
    group.finish();
}

/// Multiply-adds per second of a 2000 × 2000 product, the limit of the machine in the same run.
fn gemm<T: Scalar>(c: &mut Criterion) {
    let (a, mut out) = (points::<T>(COLS, COLS), Mat::<T>::zeros(COLS, COLS));
    let mut group = flat(c, &format!("gemm_{}", T::NAME));
    group.throughput(Throughput::Elements(COLS.pow(3) as u64));
    group.bench_function("2000", |b| {
        b.iter(|| ops::matmul(out.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), T::one()));
    });
    group.finish();
}

criterion_group!(benches, gemm::<f64>, kernel_block::<f64>, gemm::<f32>, kernel_block::<f32>);
criterion_main!(benches);
