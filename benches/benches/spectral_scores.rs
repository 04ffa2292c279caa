//! Spectral-analysis scores in three dimensions, on a cube and on the paper's two clusters. The
//! time grows with n as that of the density estimate.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::Ridge;
use nystrom::faer::Mat;
use nystrom::kernels::{Matern32, Points};
use nystrom::leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, SpectralAnalysis,
};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::{heavy, problems};

/// Points uniform on [0, 1]³, except a share `sparse` on [2, 2.5]³ with density ∝ Π(5 − 2x). d × n.
fn design(n: usize, sparse: f64) -> Mat<f64> {
    let x = problems::two_clusters(n, |u| u < sparse, &mut Pcg64::seed_from_u64(1));
    x.transpose().to_owned()
}

fn spectral_scores(c: &mut Criterion) {
    let mut group = c.benchmark_group("spectral_scores");
    let kernel = Matern32::new(1.0).unwrap();
    let estimate =
        |method| Density::Estimated(KernelDensity { bandwidth: Bandwidth::Rule(0.5), method });
    for n in [10_000, 100_000, 200_000, 1_000_000] {
        let (cube, bimodal) = (design(n, 0.0), design(n, 1.0 / (1.0 + (n as f64).powf(0.6))));
        let given: Vec<f64> = (0..n).map(|i| 1.0 + (i % 97) as f64 / 50.0).collect();
        let cases = [
            ("given", &cube, Density::Given(given.as_slice())),
            ("auto, cube", &cube, estimate(DensityMethod::Auto)),
            ("auto, bimodal", &bimodal, estimate(DensityMethod::Auto)),
            ("tree, bimodal", &bimodal, estimate(DensityMethod::Tree { tolerance: 0.05 })),
        ];
        for (name, x, density) in cases {
            if name.starts_with("tree") && n == 1_000_000 {
                continue; // takes about a minute per run
            }
            let analysis = SpectralAnalysis { density, guard: Guard::None };
            let ridge = Ridge::PerSample(0.075 * (n as f64).powf(-2.0 / 3.0));
            let points = Points::from_cols(x.as_ref());
            let id = BenchmarkId::new(name, n);
            heavy(&mut group, id, || analysis.scores(&kernel, points, ridge).unwrap());
        }
    }
    group.finish();
}

criterion_group!(benches, spectral_scores);
criterion_main!(benches);
