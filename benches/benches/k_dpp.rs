//! k-DPPs: the time per step of the swap chain and of the down–up walk. That of the swap chain must
//! not depend on n, and must grow with the subset size c with an exponent of at most 2.2. Also
//! exact draws: the first one, with the eigendecomposition or preparation, and later ones.
//!
//! The problem is the bimodal design in three dimensions with Matérn 3/2, ℓ = ½, as in the peer
//! comparison. Matrix-vector products of order c are timed for comparison with the steps.
//!
//! `cargo bench -p nystrom-benches --bench k_dpp`; one thread: prefix `RAYON_NUM_THREADS=1`.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::dpp::{DownUpWalk, LEnsemble, Rejection, RejectionKDpp, SwapChain, SwapRule};
use nystrom::faer::{Accum, Mat};
use nystrom::kernels::{Gaussian, KernelMatrix, Matern32, Points};
use nystrom::linalg_core::ops;
use nystrom::linalg_core::random::standard_normal;
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom::sketch::Uniform;
use nystrom_benches::{flat, heavy, problems};
use std::hint::black_box;
use std::time::Duration;

/// The number of steps in one measurement.
const STEPS: usize = 200;

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("k_dpp_{STEPS}_swap_steps"));
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    for n in [4_000, 1_000_000] {
        let x = problems::bimodal::<f64>(n);
        let k =
            KernelMatrix::new(Matern32::new(0.5).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        for size in [20, 50, 100, 200, 500] {
            for (name, rule) in
                [("lazy", SwapRule::LazyGibbs), ("metropolis", SwapRule::Metropolis)]
            {
                let rng = &mut Pcg64::seed_from_u64(1);
                let mut chain = SwapChain::start(&k, size, &Uniform::default(), rule, rng).unwrap();
                chain.run(20 * size, rng).unwrap();
                group.bench_function(BenchmarkId::new(format!("{name} n={n}"), size), |b| {
                    b.iter(|| chain.run(STEPS, rng).unwrap());
                });
            }
        }
    }
    for size in [20, 50, 100, 200, 500] {
        let (a, x) = (Mat::<f64>::identity(size, size), Mat::<f64>::zeros(size, 1));
        let mut y = Mat::zeros(size, 1);
        group.bench_function(BenchmarkId::new("matvec", size), |b| {
            b.iter(|| {
                (0..STEPS).for_each(|_| {
                    ops::matmul(y.as_mut(), Accum::Replace, black_box(&a).as_ref(), x.as_ref(), 1.0)
                })
            });
        });
    }
    group.finish();
}

fn exact(c: &mut Criterion) {
    let n = 4000;
    let x = problems::bimodal::<f64>(n);
    let k = KernelMatrix::new(Matern32::new(0.5).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let ensemble = LEnsemble::new(&k).unwrap();
    let rng = &mut Pcg64::seed_from_u64(1);
    let mut group = flat(c, "k_dpp_exact");
    group.warm_up_time(Duration::from_millis(100));
    for size in [50, 100, 200, 500] {
        group.bench_function(BenchmarkId::new("next draw", size), |b| {
            let k_dpp = ensemble.k_dpp(size).unwrap();
            b.iter(|| k_dpp.sample(rng));
        });
    }
    for size in [50, 100, 200] {
        let mut walk = DownUpWalk::start(&k, size, &Uniform::default(), rng).unwrap();
        group.bench_function(BenchmarkId::new("down-up step", size), |b| {
            b.iter(|| walk.step(rng).unwrap())
        });
    }
    heavy(&mut group, BenchmarkId::new("first draw", 100), || {
        LEnsemble::draw_of_size(&k, 100, rng).unwrap()
    });
    group.finish();
}

/// Draws by rejection from a million normal points in ten dimensions. The length scale of the
/// Gaussian kernel is their median distance.
fn by_rejection(c: &mut Criterion) {
    let rng = &mut Pcg64::seed_from_u64(1);
    let x = standard_normal::<f64>(1_000_000, 10, rng);
    let gaussian = Gaussian::new(18.68_f64.sqrt()).unwrap();
    let k = KernelMatrix::new(gaussian, Points::from_rows(x.as_ref())).unwrap();
    let mut group = flat(c, "k_dpp_by_rejection");
    for size in [20, 50] {
        let how = Rejection::of_size(size);
        let first = |rng: &mut Pcg64| {
            let mut k_dpp = RejectionKDpp::new(&k, size, how, rng).unwrap();
            let _ = k_dpp.sample(rng).unwrap();
            k_dpp
        };
        heavy(&mut group, BenchmarkId::new("first draw", size), || first(rng));
        let mut k_dpp = first(rng);
        group.bench_function(BenchmarkId::new("next draw", size), |b| {
            b.iter(|| k_dpp.sample(rng).unwrap())
        });
    }
    group.finish();
}

criterion_group!(benches, steps, exact, by_rejection);
criterion_main!(benches);
