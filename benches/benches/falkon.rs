//! Iterative regression with a Gaussian kernel, ℓ = 3, λ = 1e-6, d = 10 and uniform centres. For
//! n = 50,000: ten iterations, the set-up alone, and iterations to a residual of 1e-6. For
//! n = 200,000: ten iterations. Also regression with all rows as centres, to a residual of 1e-6.
//!
//! `cargo bench -p nystrom-benches --bench falkon`. If the environment variable `NYSTROM_MILLION`
//! is set, n = 10⁶ with 4000 centres runs first, once in each precision, and prints the time of an
//! iteration and the peak of resident memory. Fits with all rows as centres then include
//! n = 100,000.
#![allow(missing_docs, clippy::print_stdout)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::krr::{IterationReport, IterativeOptions};
use nystrom::linalg_core::Scalar;
use nystrom::prelude::*;
use nystrom_benches::{heavy, peak, problems};
use std::time::Instant;

fn falkon<T: Scalar>(
    iterations: usize,
    tolerance: f64,
    memory: Option<u64>,
) -> Falkon<Gaussian, T> {
    let options = IterativeOptions { tolerance, max_iterations: iterations, memory };
    Falkon { options, ..Falkon::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(T::lit(1e-6))) }
}

fn run<T: Scalar>(falkon: &Falkon<Gaussian, T>, x: &Mat<T>, y: &Mat<T>, m: usize) -> IterationReport
where
    Gaussian: Kernel<T>,
{
    let x = Points::from_rows(x.as_ref());
    falkon.fit((x, y.as_ref()), x.slice(0..m)).unwrap().report
}

fn million<T: Scalar>()
where
    Gaussian: Kernel<T>,
{
    let (n, m) = (1_000_000, 4000);
    let (x, y) = problems::cosines(n, 10, 1);
    let (x, y) = (problems::cast(&x), problems::cast(&y));
    let time = |iterations| {
        let start = Instant::now();
        (run(&falkon::<T>(iterations, 1e-12, Some(2 << 30)), &x, &y, m), start.elapsed())
    };
    let ((_, one), (report, six)) = (time(1), time(6));
    println!(
        "{}, n = {n}, m = {m}: {:.1?} an iteration, residual {:.1e} after six ({six:.1?}); \
         planned {} MB beside x and y, {}",
        T::NAME,
        (six - one) / 5,
        report.residual,
        report.memory.total() >> 20,
        peak(),
    );
}

fn benches(c: &mut Criterion) {
    if std::env::var_os("NYSTROM_MILLION").is_some() {
        million::<f32>();
        million::<f64>();
    }
    at_50_000(c);
    ten_iterations_at_200_000(c);
    full(c);
}

fn at_50_000(c: &mut Criterion) {
    let (x, y) = problems::cosines(50_000, 10, 1);
    let (x32, y32) = (problems::cast::<f32>(&x), problems::cast::<f32>(&y));
    let mut group = c.benchmark_group("falkon");
    for m in [1000, 2000] {
        heavy(&mut group, BenchmarkId::new("setup", m), || run(&falkon(0, 1e-6, None), &x, &y, m));
        for (name, memory) in [("ten/recomputed", None), ("ten/kept", Some(2 << 30))] {
            heavy(&mut group, BenchmarkId::new(name, m), || {
                run(&falkon(10, 1e-15, memory), &x, &y, m)
            });
        }
        let id = BenchmarkId::new("ten/recomputed/f32", m);
        heavy(&mut group, id, || run(&falkon(10, 1e-15, None), &x32, &y32, m));
        heavy(&mut group, BenchmarkId::new("falkon to 1e-6", m), || {
            run(&falkon(200, 1e-6, None), &x, &y, m)
        });
        let krill = Krill {
            options: IterativeOptions { max_iterations: 200, ..IterativeOptions::default() },
            ..Krill::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6))
        };
        let points = Points::from_rows(x.as_ref());
        heavy(&mut group, BenchmarkId::new("krill to 1e-6", m), || {
            krill
                .fit((points, y.as_ref()), points.slice(0..m), &mut Pcg64::seed_from_u64(0))
                .unwrap()
        });
    }
    group.finish();
}

/// Times the set-up with ten iterations and with none. The time of an iteration is a tenth of the
/// difference.
fn ten_iterations_at_200_000(c: &mut Criterion) {
    let (x, y) = problems::cosines(200_000, 10, 1);
    let mut group = c.benchmark_group("falkon_n200000");
    for iterations in [0, 10] {
        let id = BenchmarkId::new(format!("{iterations} iterations"), "m=1000");
        heavy(&mut group, id, || run(&falkon(iterations, 1e-15, None), &x, &y, 1000));
    }
    group.finish();
}

fn full(c: &mut Criterion) {
    let million = std::env::var_os("NYSTROM_MILLION").map(|_| (100_000, 1000));
    let (x, y) = problems::cosines(100_000, 10, 1);
    let mut group = c.benchmark_group("full_krr_to_1e-6");
    for (n, rank) in [(10_000, 500), (20_000, 500)].into_iter().chain(million) {
        let krr = FullKrr {
            rank: Some(rank),
            ..FullKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-3))
        };
        let (x, y) = (Points::from_rows(x.as_ref()).slice(0..n), y.as_ref().subrows(0, n));
        heavy(&mut group, BenchmarkId::new(format!("rank={rank}"), n), || {
            krr.fit((x, y), &mut Pcg64::seed_from_u64(0)).unwrap()
        });
    }
    group.finish();
}

criterion_group!(iterative, benches);
criterion_main!(iterative);
