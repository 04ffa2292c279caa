//! KS and SᵀKS, and the estimator f_S, for every sketch S. The problem is the bimodal design of
//! Chen & Yang (2021) in three dimensions, γ = 0.5, Matérn ½, λ = 0.3·n^(−4/7), and S has
//! d = ⌊1.3·n^(3/7)⌋ columns.
//!
//! `cargo bench -p nystrom-benches --bench sketches`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern12, Points};
use nystrom::krr::SketchedKrr;
use nystrom::linalg_core::Ridge;
use nystrom::rand::{RngExt, SeedableRng};
use nystrom::rand_pcg::Pcg64;
use nystrom::sketch::{
    Accumulation, GaussianSketch, Localized, Rademacher, SketchDistribution, SketchedMatrix,
    SparseSign, Subsampling, VerySparse,
};
use nystrom_benches::{flat, problems};
use std::time::Duration;

/// n for all sketches, including dense ones, which evaluate n²/2 kernel entries.
const SMALL: usize = 8000;
/// n for sparse sketches, which evaluate far fewer kernel entries.
const LARGE: usize = 200_000;

fn bimodal(n: usize) -> (Mat<f64>, Mat<f64>) {
    let mut rng = Pcg64::seed_from_u64(0);
    let cluster = 1.0 / (1.0 + (n as f64).sqrt());
    let x = problems::two_clusters(n, |u| u < cluster, &mut rng);
    let y = Mat::from_fn(n, 1, |i, _| (3.0 * x[(i, 0)]).sin() + rng.random::<f64>() - 0.5);
    (x, y)
}

fn width(n: usize) -> usize {
    (1.3 * (n as f64).powf(3.0 / 7.0)) as usize
}

type Laws = Vec<(&'static str, Box<dyn SketchDistribution<f64>>)>;

/// The sketches for each n.
fn laws() -> [(usize, Laws); 2] {
    [(SMALL, sparse().into_iter().chain(dense()).collect()), (LARGE, sparse())]
}

fn sparse() -> Laws {
    vec![
        ("nystrom", Box::new(Subsampling::default())),
        ("accumulation m=4", Box::new(Accumulation::uniform(4))),
        ("accumulation m=32", Box::new(Accumulation::uniform(32))),
    ]
}

fn dense() -> Laws {
    vec![
        ("very sparse", Box::new(VerySparse::default())),
        ("localised B=4", Box::new(Localized::shuffled(4))),
        ("sparse sign", Box::new(SparseSign::default())),
        ("Rademacher", Box::new(Rademacher)),
        ("Gaussian", Box::new(GaussianSketch)),
    ]
}

fn product(c: &mut Criterion) {
    let mut group = flat(c, "sketch_product");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(1));
    for (n, laws) in laws() {
        let (x, _) = bimodal(n);
        let k =
            KernelMatrix::new(Matern12::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        for (name, law) in &laws {
            group.bench_function(BenchmarkId::new(*name, n), |b| {
                b.iter(|| {
                    let sketch = law.draw(n, width(n), &mut Pcg64::seed_from_u64(1)).unwrap();
                    SketchedMatrix::new(&k, &*sketch).unwrap().unscaled().nrows()
                });
            });
        }
    }
    group.finish();
}

fn estimator(c: &mut Criterion) {
    let mut group = flat(c, "sketched_krr");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(1));
    for (n, laws) in laws() {
        let (x, y) = bimodal(n);
        let krr = SketchedKrr::new(
            Matern12::new(1.0).unwrap(),
            Ridge::PerSample(0.3 * (n as f64).powf(-4.0 / 7.0)),
        );
        for (name, law) in &laws {
            group.bench_function(BenchmarkId::new(*name, n), |b| {
                b.iter(|| {
                    let sketch = law.draw(n, width(n), &mut Pcg64::seed_from_u64(1)).unwrap();
                    krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &*sketch).unwrap()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, product, estimator);
criterion_main!(benches);
