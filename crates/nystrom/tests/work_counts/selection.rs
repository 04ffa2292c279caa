//! Columns and sketches: randomly pivoted Cholesky, a Nyström approximation, an accumulation.

use crate::measure::{alone, every, f64s, holds, measure, problem};
use nystrom::linalg_core::PivotedCholesky;
use nystrom::prelude::*;
use nystrom::sketch::SketchProduct;

const N: usize = 8192;

/// nk entries and nk² flops for the pivots, at most a quarter more for the proposals; the factor,
/// and a round's proposals.
#[test]
fn accelerated_rp_cholesky() {
    alone(|| {
        let k = 300;
        let (x, _) = problem(N);
        let matrix =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let rng = &mut Pcg64::seed_from_u64(9);
        let (factor, measured) = measure(|| RpCholesky::default().factor(&matrix, k, rng).unwrap());
        assert_eq!(factor.rank(), k);
        let (n, k) = (N as f64, k as f64);
        holds("RPCholesky, entries", measured.entries, n * k, 1.0..=1.25);
        holds("RPCholesky, diagonal entries", measured.diagonal, n, 1.0..=1.0);
        holds("RPCholesky, flops", measured.flops, n * k * k, 1.0..=1.25);
        holds("RPCholesky, bytes", measured.bytes, f64s(n * k), 1.0..=1.1);
    });
}

/// nm + m² entries, nm² + m³/3 flops, n·m numbers (twice while the factor is made of tiles).
#[test]
fn nystrom_approximation() {
    alone(|| {
        let m = 300;
        let (x, _) = problem(N);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let landmarks = every(N, m);
        let measured = measure(|| Nystrom::new(&k, &landmarks).unwrap()).1;
        let (n, m) = (N as f64, m as f64);
        holds("Nyström, entries", measured.entries, n * m + m * m, 1.0..=1.0);
        holds("Nyström, flops", measured.flops, n * m * m + m.powi(3) / 3.0, 1.0..=1.05);
        holds("Nyström, bytes", measured.bytes, f64s(n * m + 1024.0 * m + 2.0 * m * m), 0.9..=1.1);
    });
}

/// KS for an accumulation of m matrices: n·u entries, u ≤ md the distinct rows drawn, 2nmd flops, a
/// tile at a time.
#[test]
fn product_with_an_accumulation() {
    alone(|| {
        let (d, m) = (100, 5);
        let (x, _) = problem(N);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let sketch =
            Accumulation::uniform(m).sample::<f64>(N, d, &mut Pcg64::seed_from_u64(10)).unwrap();
        let product = SketchProduct::new(&k, &sketch).unwrap();
        let measured = measure(|| product.for_each_tile(|_, _| Ok(())).unwrap()).1;
        let [n, d, m, u] = [N, d, m, sketch.support().len()].map(|size| size as f64);
        holds("accumulation, entries", measured.entries, n * u, 1.0..=1.0);
        holds("accumulation, entries, nmd", measured.entries, n * m * d, 0.9..=1.0);
        holds("accumulation, flops", measured.flops, 2.0 * n * m * d, 0.98..=1.0);
        holds(
            "accumulation, bytes",
            measured.bytes,
            f64s(512.0 * 512.0 + 3.0 * 512.0 * d),
            0.9..=1.1,
        );
    });
}

/// A factor of a stored matrix grows with its columns: room for 8 at first, the diagonal and what
/// is left of it.
#[test]
fn pivoted_cholesky_of_low_rank() {
    alone(|| {
        let n = 2000;
        let (x, _) = problem(n);
        let a = Linear::new().gram(Points::from_rows(x.as_ref()));
        let (factor, measured) = measure(|| PivotedCholesky::new(a.as_ref(), 1e-10).unwrap());
        assert_eq!(factor.rank(), 3);
        holds("pivoted Cholesky, bytes", measured.bytes, f64s(n as f64 * (8.0 + 2.0)), 0.9..=1.2);
    });
}
