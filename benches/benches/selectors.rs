//! Time to choose landmarks: every selector for the same number of landmarks, and randomly pivoted
//! Cholesky at n = 50,000 and 200,000, simple and accelerated. For comparison, the least possible
//! time: that of the kernel entries and of matrix products with the same flops.
//!
//! `cargo bench -p nystrom-benches --bench selectors`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::faer::{Accum, Mat};
use nystrom::kernels::{KMeans, KernelMatrix, Matern32, Points};
use nystrom::leverage::{
    AlaouiMahoney, Exact, FastRankLeverage, LeverageProportional, RankLeverage, RecursiveNystrom,
};
use nystrom::linalg_core::{PsdMatrix, Ridge, RowTree, ops, random};
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom::sketch::{
    AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Draw, Greedy, KMeansPlusPlus,
    LandmarkSelector, RpCholesky, SparseGreedy, Uniform, rp_cholesky,
};
use nystrom_benches::{flat, heavy};
use std::time::Duration;

const DIM: usize = 5;

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(0)
}

/// Every selector, for 100 landmarks among 2000 standard normal points. The number of points is
/// small because some selectors store an n × n matrix.
fn at_equal_number(c: &mut Criterion) {
    let (n, m) = (2000, 100);
    let x = random::standard_normal::<f64>(n, DIM, &mut rng());
    let k = KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let (ridge, draw) = (Ridge::PerSample(1e-4), Draw::WithoutReplacement);
    let selectors: [(&str, Box<dyn LandmarkSelector<f64>>); 15] = [
        ("Unif", Box::new(Uniform::default())),
        ("Diag", Box::new(Diagonal::default())),
        ("ColNorm", Box::new(ColumnNorm::default())),
        ("Lev", Box::new(RankLeverage::default())),
        ("RegLev", Box::new(LeverageProportional { estimator: Exact, ridge, draw })),
        ("AppLev", Box::new(FastRankLeverage { columns: 200, rank: None, draw })),
        (
            "AppRegLev",
            Box::new(LeverageProportional {
                estimator: AlaouiMahoney { columns: 200 },
                ridge,
                draw,
            }),
        ),
        ("Recursive", Box::new(RecursiveNystrom::default())),
        ("AdapFull", Box::new(AdaptiveFull::default())),
        ("AdapPart", Box::new(AdaptivePartial::default())),
        ("SparseGreedy", Box::new(SparseGreedy::default())),
        ("Greedy", Box::new(Greedy::default())),
        ("RPCholesky", Box::new(RpCholesky::default())),
        ("RPCholesky b=1", Box::new(RpCholesky { proposals: Some(1), tolerance: 0.0 })),
        ("KMeans++", Box::new(KMeansPlusPlus)),
    ];
    let mut group = flat(c, "selectors_n2000_m100");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(1));
    for (name, selector) in &selectors {
        group.bench_function(*name, |b| {
            b.iter(|| selector.select(&k, m, &mut rng()).unwrap().len())
        });
    }
    group.bench_function("KMeans centres", |b| {
        b.iter(|| KMeans::default().run(k.points(), m, &mut rng()).unwrap().quantization_error());
    });
    group.finish();
}

fn rp_cholesky_large(c: &mut Criterion) {
    for (n, ranks) in [(50_000, [500, 1000].as_slice()), (200_000, &[500])] {
        let x = random::standard_normal::<f64>(n, DIM, &mut rng());
        let k =
            KernelMatrix::new(Matern32::new(2.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let mut group = c.benchmark_group(format!("rp_cholesky_n{n}"));
        for &rank in ranks {
            heavy(&mut group, BenchmarkId::new("accelerated", rank), || {
                RpCholesky::default().factor(&k, rank, &mut rng()).unwrap().trace_error()
            });
            heavy(&mut group, BenchmarkId::new("entries and one product", rank), || {
                floor(&k, rank)
            });
        }
        if n == 50_000 {
            heavy(&mut group, BenchmarkId::new("simple", 500), || {
                rp_cholesky(&k, 500, &mut rng()).unwrap().trace_error()
            });
        }
        group.finish();
    }
}

/// Evaluates `rank` columns of k, and computes nk² flops (k = `rank`) in products with the shapes
/// of the accelerated form halfway through.
fn floor(k: &dyn PsdMatrix<f64>, rank: usize) -> f64 {
    let (n, wide) = (k.dim(), 128.min(rank));
    let columns: Vec<usize> = (0..rank).collect();
    let mut factor = Mat::<f64>::zeros(n, rank);
    let f_s = Mat::<f64>::zeros(rank / 2, wide);
    let mut g = Mat::<f64>::zeros(1024, wide);
    for rows in RowTree::tiles(0..n, 1024) {
        let mut tile = factor.as_mut().subrows_mut(rows.start, rows.len());
        k.block_into(tile.rb_mut(), rows.clone().into(), (&columns).into());
        for _ in 0..rank.div_ceil(wide) {
            let out = g.as_mut().subrows_mut(0, rows.len());
            ops::matmul(out, Accum::Add, tile.rb().subcols(0, rank / 2), f_s.as_ref(), 1.0);
        }
    }
    g[(0, 0)]
}

use nystrom::faer::reborrow::*;

criterion_group!(benches, at_equal_number, rp_cholesky_large);
criterion_main!(benches);
