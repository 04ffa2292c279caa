//! Kernel principal components, spectral embedding and kernel k-means: their sums over rows and
//! eigenvalues. Gaussian kernel, ℓ = 3, d = 10, 500 landmarks.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::prelude::*;
use nystrom::sketch::{KernelKMeans, KernelPca, SpectralEmbedding, Uniform};
use nystrom_benches::problems;

fn embedding(c: &mut Criterion) {
    let mut group = c.benchmark_group("embedding");
    group.sample_size(10);
    let kernel = Gaussian::new(3.0).unwrap();
    for n in [20_000, 80_000] {
        let (x, _) = problems::cosines(n, 10, 1);
        let k = KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap();
        let rng = &mut Pcg64::seed_from_u64(2);
        let landmarks = Uniform::default().select(&k, 500, rng).unwrap();
        group.bench_function(BenchmarkId::new("pca", n), |b| {
            b.iter(|| KernelPca::default().fit(&k, &landmarks).unwrap());
        });
        group.bench_function(BenchmarkId::new("spectral", n), |b| {
            b.iter(|| SpectralEmbedding::default().fit(&k, &landmarks).unwrap());
        });
        let ten = KernelKMeans { iterations: 10, ..KernelKMeans::default() };
        group.bench_function(BenchmarkId::new("k_means", n), |b| {
            b.iter(|| ten.fit(&k, &landmarks, &mut Pcg64::seed_from_u64(3)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, embedding);
criterion_main!(benches);
