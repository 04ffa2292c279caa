//! A 20,000 × 2000 kernel block, evaluated into a reused buffer, in entries per second, and the
//! machine's GEMM rate for comparison. Also a 2000 × 1000 block of rows of 2048 bits: packed, by
//! Tanimoto, and as zeros and ones, by the linear kernel.
//!
//! `cargo bench -p nystrom-benches --bench kernel_block`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nystrom::faer::{Accum, Mat};
use nystrom::kernels::{
    Bits, Gaussian, Kernel, Linear, Matern12, Matern32, Matern52, Points, Tanimoto,
};
use nystrom::linalg_core::{Scalar, ops, random};
use nystrom::rand::{RngExt, SeedableRng};
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

/// Rows of 2048 bits, with 64 ones or somewhat less.
fn fingerprints<T: Scalar>(c: &mut Criterion) {
    const BITS: usize = 2048;
    let (n, m) = (2000, 1000);
    let rng = &mut Pcg64::seed_from_u64(1);
    let rows: Vec<[usize; 64]> =
        (0..n).map(|_| std::array::from_fn(|_| rng.random_range(0..BITS))).collect();
    let mut dense = Mat::<T>::zeros(n, BITS);
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&one| dense[(i, one)] = T::one());
    }
    let bits = Bits::<T>::from_positions(rows, BITS).unwrap();
    let (packed, dense) = (bits.points(), Points::from_rows(dense.as_ref()));
    let mut group = flat(c, &format!("fingerprints_{}", T::NAME));
    group.throughput(Throughput::Elements((n * m) as u64));
    let mut out = Mat::<T>::zeros(n, m);
    group.bench_function("tanimoto", |b| {
        b.iter(|| Tanimoto.eval_into(out.as_mut(), packed, packed.slice(0..m)));
    });
    group.bench_function("dense", |b| {
        b.iter(|| Linear::new().eval_into(out.as_mut(), dense, dense.slice(0..m)));
    });
    group.finish();
}

criterion_group!(
    benches,
    gemm::<f64>,
    kernel_block::<f64>,
    gemm::<f32>,
    kernel_block::<f32>,
    fingerprints::<f64>,
    fingerprints::<f32>
);
criterion_main!(benches);
