//! Scores of all rows by Recursive-RLS, BLESS and BLESS-R on the bimodal design of Chen & Yang
//! (2021) in three dimensions, Matérn 3/2, λ = 0.075·n^(−2/3). The cost is nearly linear in n:
//! O(n·m) entries and O(n·m²) flops for a dictionary of m ≈ q·d_eff rows.
//!
//! `cargo bench -p nystrom-benches --bench recursive_bless`; one thread: prefix
//! `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::kernels::{KernelMatrix, Matern32, Points};
use nystrom::leverage::{Bless, BlessR, RecursiveRls, RecursiveRlsOfSize, RidgeLeverage};
use nystrom::linalg_core::{Ridge, Scalar};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::{heavy, problems};

fn scores<T: Scalar>(c: &mut Criterion)
where
    Matern32: nystrom::kernels::Kernel<T>,
{
    let mut group = c.benchmark_group(format!("recursive_bless_{}", T::NAME));
    for n in [10_000, 50_000, 200_000] {
        let x = problems::bimodal::<T>(n);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let ridge = Ridge::PerSample(T::lit(0.075 * (n as f64).powf(-2.0 / 3.0)));
        let s = (n as f64).sqrt() as usize;
        let estimators: [(&str, Box<dyn RidgeLeverage<T>>); 5] = [
            ("recursive q=1.5", Box::new(RecursiveRls::with_oversampling(1.5))),
            ("recursive q=3", Box::new(RecursiveRls::default())),
            ("recursive s=√n", Box::new(RecursiveRlsOfSize { size: s, accelerated: true })),
            ("bless q=2", Box::new(Bless { oversampling: 2.0, ..Bless::default() })),
            ("bless-r q=2", Box::new(BlessR { oversampling: 2.0, ..BlessR::default() })),
        ];
        for (name, estimator) in &estimators {
            heavy(&mut group, BenchmarkId::new(*name, n), || {
                estimator.scores(&k, ridge, &mut Pcg64::seed_from_u64(1)).unwrap().len()
            });
        }
    }
    group.finish();
}

criterion_group!(benches, scores::<f64>, scores::<f32>);
criterion_main!(benches);
