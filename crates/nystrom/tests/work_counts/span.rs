//! What 64 threads are offered: work, over the span that no number of threads goes below.

use crate::measure::{alone, measure};
use nystrom::krr::Solver;
use nystrom::linalg_core::{Cholesky, GramSums, RowTree, ops, work};
use nystrom::prelude::*;

const THREADS: usize = 64;

/// Work over span of what is cut for 64 threads.
fn offered<R>(f: impl FnOnce() -> R) -> f64 {
    work_and_share(f)[1]
}

/// Flops, and these over the span.
fn work_and_share<R>(f: impl FnOnce() -> R) -> [f64; 2] {
    let (_, work) = work::for_threads(THREADS, || work::counted(f));
    [work.flops as f64, work.flops as f64 / work.span as f64]
}

/// Of a triangular solve for 1024 columns and of the sums over a tile of as many rows, as there are
/// in every pass over the rows.
#[test]
fn solves_and_sums_have_a_piece_for_every_thread() {
    alone(|| {
        let (m, rows) = (512, 1024);
        let (lower, mut b) = (Mat::<f64>::identity(m, m), Mat::<f64>::zeros(m, rows));
        assert_eq!(offered(|| ops::solve_lower(lower.as_ref(), b.as_mut())), 64.0);
        assert_eq!(offered(|| ops::solve_upper(lower.as_ref(), b.as_mut())), 64.0);
        let few = b.as_mut().subcols_mut(0, 128);
        assert_eq!(offered(|| ops::solve_lower(lower.as_ref(), few)), 8.0);
        let (mut sums, y) = (GramSums::zeros(m, 1), Mat::zeros(rows, 1));
        assert!(offered(|| sums.add(b.transpose(), y.as_ref())) >= 64.0);
        // in its panels of 256 columns it is a chain: 2·256³/3 of 512³/3 flops, and the solve
        // between them
        let factor = offered(|| Cholesky::new(lower.as_ref()));
        assert!((3.0..4.0).contains(&factor), "{factor}");
    });
}

/// A whole fit: rows are whitened before their products; W and the normal equations are factored.
#[test]
fn a_nystrom_fit_offers_64_threads_work() {
    alone(|| {
        let (n, m) = (65_536, 512);
        let x: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
        let y = Mat::from_fn(n, 1, |i, _| (9.0 * x[i]).sin());
        let landmarks = Landmarks::new(n, (0..m).map(|j| j * n / m).collect()).unwrap();
        let krr = NystromKrr {
            solver: Solver::NormalEquations,
            ..NystromKrr::new(Gaussian::new(0.01).unwrap(), Ridge::PerSample(1e-4))
        };
        let fit = || krr.fit((Points::from_slice(&x), &y), &landmarks).unwrap();
        let [flops, share] = work_and_share(fit);
        let products = (2 * n * m * m) as f64;
        assert!(flops > products && flops < 1.1 * products, "{flops} flops");
        assert!(share >= 64.0, "work is {share} times the span");
    });
}

/// Whatever the number of threads, one state is added to while ⌈log₂ leaves⌉ wait: none for each
/// thread.
#[test]
fn few_triangles_are_alive() {
    alone(|| {
        let (n, p) = (65_536, 512);
        let leaves = RowTree::large(n).leaves();
        let alive = leaves.next_power_of_two().ilog2() as usize + 1;
        let (z, y) = (Mat::<f64>::zeros(64, p), Mat::<f64>::zeros(64, 1));
        let add = |sums: &mut GramSums, _| {
            sums.add(z.as_ref(), y.as_ref());
            Ok(())
        };
        let sums = || GramSums::over_rows(n, p, 1, add).unwrap();
        let (_, work) = work::for_threads(THREADS, || measure(sums));
        let triangle = (8 * (p * p / 2 + 128 * p + p)) as f64;
        let most = alive as f64 * triangle;
        assert!(work.bytes <= 1.05 * most && work.bytes > 0.9 * most, "{} of {most}", work.bytes);
        assert_eq!((leaves, alive), (8, 4));
    });
}
