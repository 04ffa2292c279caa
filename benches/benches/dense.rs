//! The limits of the machine: products that compute one triangle, Cholesky factorisations,
//! eigendecompositions, and copies of memory.
//!
//! `cargo bench -p nystrom-benches --bench dense`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nystrom::faer::linalg::matmul::triangular::{self, BlockStructure};
use nystrom::faer::{Accum, Mat, Par};
use nystrom::linalg_core::{Cholesky, Scalar, SymmetricEigen, ops, random};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::heavy;
use std::time::Duration;

fn normal<T: Scalar>(rows: usize, cols: usize) -> Mat<T> {
    random::standard_normal(rows, cols, &mut Pcg64::seed_from_u64(0))
}

/// The lower triangle of PᵀP for a tall P, 20,000 × 2000.
fn one_triangle<T: Scalar>(c: &mut Criterion) {
    let (n, m) = (20_000_usize, 2000_usize);
    let p = normal::<T>(n, m);
    let mut gram = Mat::<T>::zeros(m, m);
    let mut group = c.benchmark_group(format!("syrk_{}", T::NAME));
    group.throughput(Throughput::Elements((n * m * m) as u64)); // flops of one triangle
    heavy(&mut group, BenchmarkId::from_parameter(m), || {
        triangular::matmul(
            gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Replace,
            p.transpose(),
            BlockStructure::Rectangular,
            p.as_ref(),
            BlockStructure::Rectangular,
            T::one(),
            Par::rayon(0),
        );
    });
    group.finish();
}

fn positive_definite<T: Scalar>(n: usize) -> Mat<T> {
    let x = normal::<T>(n, n);
    let mut a = Mat::zeros(n, n);
    ops::matmul(a.as_mut(), Accum::Replace, x.as_ref(), x.transpose(), T::one());
    (0..n).for_each(|i| a[(i, i)] += T::lit(n as f64));
    a
}

fn cholesky<T: Scalar>(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("cholesky_{}", T::NAME));
    for n in [1000_usize, 2000, 4000, 8000] {
        let a = positive_definite::<T>(n);
        group.throughput(Throughput::Elements((n.pow(3) / 3) as u64)); // flops
        heavy(&mut group, BenchmarkId::from_parameter(n), || Cholesky::new(a.as_ref()).unwrap());
    }
    group.finish();
}

fn eigen(c: &mut Criterion) {
    let mut group = c.benchmark_group("eigen_f64");
    for n in [1000, 2000, 4000] {
        let a = positive_definite::<f64>(n);
        heavy(&mut group, BenchmarkId::from_parameter(n), || {
            SymmetricEigen::new(a.as_ref()).unwrap()
        });
    }
    group.finish();
}

/// Copies 320 MB in memory, on one thread.
fn copy(c: &mut Criterion) {
    let from = vec![1.0_f64; 40_000_000];
    let mut to = vec![0.0_f64; from.len()];
    let mut group = c.benchmark_group("copy");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(2))
        .throughput(Throughput::Bytes(16 * from.len() as u64));
    group.bench_function("f64", |b| b.iter(|| to.copy_from_slice(&from)));
    group.finish();
}

criterion_group!(
    benches,
    one_triangle::<f64>,
    one_triangle::<f32>,
    cholesky::<f64>,
    cholesky::<f32>,
    eigen,
    copy
);
criterion_main!(benches);
