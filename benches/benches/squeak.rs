//! SQUEAK on a stream in d = 3, and DISQUEAK on the same points: time per point.
//!
//! `cargo bench -p nystrom-benches --bench squeak`. If the environment variable `NYSTROM_MILLION`
//! is set, a stream of 10⁶ points, which are never all in memory, runs first, once. Its time, the
//! size of its dictionary and the peak of resident memory are printed.
#![allow(missing_docs, clippy::print_stdout)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nystrom::faer::Mat;
use nystrom::kernels::{Gaussian, Points};
use nystrom::leverage::{Disqueak, Squeak, SqueakParams};
use nystrom::linalg_core::random;
use nystrom::rand::SeedableRng;
use nystrom::rand_pcg::Pcg64;
use nystrom_benches::{flat, heavy, peak};
use std::time::{Duration, Instant};

const D: usize = 3;
const BLOCK: usize = 10_000;

fn kernel() -> Gaussian {
    Gaussian::new(2.0).unwrap()
}

/// λ = 1e-4, so that γ = nλ grows with the length of the stream, as for regression.
fn stream(blocks: usize) -> Squeak<Gaussian, f64> {
    let mut rng = Pcg64::seed_from_u64(0);
    let gamma = 1e-4 * (blocks * BLOCK) as f64;
    let mut squeak = Squeak::new(kernel(), D, gamma, SqueakParams::new(10)).unwrap();
    for _ in 0..blocks {
        let x: Mat<f64> = random::standard_normal(D, BLOCK, &mut rng);
        squeak.push(Points::from_cols(x.as_ref()), &mut rng).unwrap();
    }
    squeak.settle(&mut rng).unwrap();
    squeak
}

fn million() {
    let start = Instant::now();
    let squeak = stream(100);
    let (time, peak) = (start.elapsed(), peak());
    let d_eff: f64 = squeak
        .member_scores()
        .unwrap()
        .iter()
        .zip(squeak.dictionary().weights())
        .map(|(t, w)| t * w)
        .sum();
    println!(
        "{} points in {time:.1?}: {} kept, sum of weights {:.0}, d_eff about {:.0} (Σ w τ̃/(1 − \
         ε)); {peak}",
        squeak.n_seen(),
        squeak.dictionary().len(),
        squeak.dictionary().total_weight(),
        2.0 * d_eff,
    );
}

fn squeak(c: &mut Criterion) {
    if std::env::var_os("NYSTROM_MILLION").is_some() {
        million();
    }
    let mut group = flat(c, "squeak");
    group.measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(2 * BLOCK as u64));
    for blocks in [2, 4, 8] {
        // with γ = nλ at fixed λ, d_eff hardly grows, so the time should be linear in n
        heavy(&mut group, BenchmarkId::new("stream", blocks * BLOCK), || {
            stream(blocks).dictionary().len()
        });
    }
    let x: Mat<f64> = random::standard_normal(D, 2 * BLOCK, &mut Pcg64::seed_from_u64(0));
    let disqueak = Disqueak::new(SqueakParams::new(10), 8);
    group.bench_function("disqueak/n=20000/chunks=8", |b| {
        let points = Points::from_cols(x.as_ref());
        b.iter(|| {
            disqueak.of_points(&kernel(), points, 2.0, &mut Pcg64::seed_from_u64(0)).unwrap().len()
        });
    });
    group.finish();
}

criterion_group!(benches, squeak);
criterion_main!(benches);
