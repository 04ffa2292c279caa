//! Conjugate gradients: what goes before, an iteration, and the memory that was planned.

use crate::measure::{Measured, alone, every, f64s, holds, measure, problem};
use nystrom::krr::{IterationReport, IterativeOptions};
use nystrom::prelude::*;

const N: usize = 8192;
const M: usize = 512;

/// That many iterations, whatever the residual, and at most `memory` bytes.
fn options(max_iterations: usize, memory: Option<u64>) -> IterativeOptions {
    IterativeOptions { tolerance: 1e-300, max_iterations, memory }
}

/// The work of each of the iterations from the 2nd to the 12th. A run ends with one pass more, for
/// the true residual.
fn per_iteration(run: impl Fn(usize) -> Measured) -> (Measured, Measured) {
    let (few, many) = (run(2), run(12));
    let each = |of: fn(&Measured) -> f64| (of(&many) - of(&few)) / 10.0;
    let iteration = Measured {
        flops: each(|m| m.flops),
        entries: each(|m| m.entries),
        diagonal: each(|m| m.diagonal),
        bytes: 0.0,
    };
    (few, iteration)
}

/// What was planned, and not much less: on one thread a tile and two sums are under way, not one
/// set a leaf.
fn as_planned(name: &str, measured: Measured, report: &IterationReport, model: usize) {
    let plan = report.memory;
    let held = (plan.factors + plan.vectors + plan.kept) as f64;
    holds(
        &format!("{name}, bytes"),
        measured.bytes,
        plan.total() as f64 + f64s(8.0 * model as f64),
        0.0..=1.0,
    );
    assert!(
        measured.bytes >= 0.6 * held,
        "{name}: {} bytes, and {held} planned without tiles",
        measured.bytes
    );
}

/// An iteration: nm kernel values and 4nmt + 4m²t flops. Before: m² values; the factor of K_mm, the
/// product RᵀΩR in panels of 256 columns, its factor, M³/3 + (2M³/3 + 256M²) + M³/3, and a pass for
/// the right-hand side.
#[test]
fn falkon() {
    alone(|| {
        let (x, y) = problem(N);
        let (points, landmarks) = (Points::from_rows(x.as_ref()), every(N, M));
        let run = |iterations: usize, memory: Option<u64>| {
            let falkon = Falkon::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6));
            let falkon = Falkon { options: options(iterations, memory), ..falkon };
            let (fit, measured) = measure(|| falkon.fit((points, y.as_ref()), &landmarks).unwrap());
            assert_eq!(
                (fit.report.iterations, fit.report.kernel_entries as f64),
                (iterations, measured.entries)
            );
            as_planned("Falkon", measured, &fit.report, M);
            measured
        };
        let (n, m, t) = (N as f64, M as f64, 1.0);
        let (whole, iteration) = per_iteration(|iterations| run(iterations, None));
        holds("Falkon, entries an iteration", iteration.entries, n * m, 1.0..=1.0);
        holds(
            "Falkon, flops an iteration",
            iteration.flops,
            4.0 * n * m * t + 4.0 * m * m * t,
            1.0..=1.01,
        );
        let before = whole.flops - 3.0 * iteration.flops; // two iterations, and the true residual
        let factors = m.powi(3) / 3.0 + (2.0 * m.powi(3) / 3.0 + 256.0 * m * m) + m.powi(3) / 3.0;
        holds("Falkon, flops before", before, factors + 2.0 * n * m * t, 1.0..=1.1);
        holds("Falkon, entries in all", whole.entries, m * m + 4.0 * n * m, 1.0..=1.0);
        let kept = run(12, Some(1 << 30)); // room for all of K_nm
        holds("Falkon, entries where K_nm is kept", kept.entries, m * m + n * m, 1.0..=1.0);
    });
}

/// Before the iterations, which are Falkon's: two passes, 16nM + 5M³ flops (at most: R, the sketch
/// whitened and squared, its factor).
#[test]
fn krill() {
    alone(|| {
        let (x, y) = problem(N);
        let (points, landmarks) = (Points::from_rows(x.as_ref()), every(N, M));
        let run = |iterations: usize| {
            let krill = Krill::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6));
            let krill = Krill { options: options(iterations, None), ..krill };
            let rng = &mut Pcg64::seed_from_u64(2);
            let (fit, measured) =
                measure(|| krill.fit((points, y.as_ref()), &landmarks, rng).unwrap());
            assert_eq!(
                (fit.report.iterations, fit.report.kernel_entries as f64),
                (iterations, measured.entries)
            );
            as_planned("KRILL", measured, &fit.report, M);
            measured
        };
        let (n, m, t) = (N as f64, M as f64, 1.0);
        let (whole, iteration) = per_iteration(run);
        holds("KRILL, entries an iteration", iteration.entries, n * m, 1.0..=1.0);
        holds(
            "KRILL, flops an iteration",
            iteration.flops,
            4.0 * n * m * t + 4.0 * m * m * t,
            1.0..=1.01,
        );
        let before = whole.flops - 3.0 * iteration.flops;
        holds(
            "KRILL, flops before",
            before,
            16.0 * n * m + 5.0 * m.powi(3) + 2.0 * n * m * t,
            0.9..=1.0,
        );
        holds("KRILL, entries in all", whole.entries, m * m + 5.0 * n * m, 1.0..=1.0);
    });
}

/// An iteration: n²/2 + 128n kernel values, 2n²t + 4nkt + 2k²t flops. Before: nk² for the factor,
/// nk² + k³/3 for its square.
#[test]
fn full_data() {
    alone(|| {
        let (n, k) = (3000, 200);
        let (x, y) = problem(n);
        let run = |iterations: usize| {
            let krr = FullKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-4));
            let krr = FullKrr { rank: Some(k), options: options(iterations, None), ..krr };
            let rng = &mut Pcg64::seed_from_u64(3);
            let (fit, measured) =
                measure(|| krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), rng).unwrap());
            let counted = measured.entries + measured.diagonal;
            assert_eq!(
                (fit.report.iterations, fit.report.kernel_entries as f64),
                (iterations, counted)
            );
            as_planned("full data", measured, &fit.report, n);
            measured
        };
        let (whole, iteration) = per_iteration(run);
        let (n, k, t) = (n as f64, k as f64, 1.0);
        holds(
            "full data, entries an iteration",
            iteration.entries,
            n * n / 2.0 + 128.0 * n,
            0.95..=1.0,
        );
        let flops = 2.0 * n * n * t + 4.0 * n * k * t + 2.0 * k * k * t;
        holds("full data, flops an iteration", iteration.flops, flops, 1.0..=1.01);
        let before = whole.flops - 3.0 * iteration.flops;
        // a quarter of the first for proposals
        let preconditioner = n * k * k * 1.25 + n * k * k + k.powi(3) / 3.0;
        holds("full data, flops before", before, preconditioner, 0.85..=1.05);
    });
}

/// With a budget the triangle is evaluated once; an iteration evaluates nothing and takes the same
/// flops. The last pass, for the residual, needs no values either: the rounding is bounded.
#[test]
fn full_data_kept() {
    alone(|| {
        let (n, k) = (3000, 200);
        let (x, y) = problem(n);
        let run = |iterations: usize, memory: Option<u64>| {
            let krr = FullKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-4));
            let krr = FullKrr { rank: Some(k), options: options(iterations, memory), ..krr };
            let rng = &mut Pcg64::seed_from_u64(3);
            let (fit, measured) =
                measure(|| krr.fit((Points::from_rows(x.as_ref()), &y), rng).unwrap());
            as_planned("full data, kept", measured, &fit.report, n);
            measured
        };
        let (_, iteration) = per_iteration(|iterations| run(iterations, Some(1 << 30)));
        assert_eq!((iteration.entries, iteration.diagonal), (0.0, 0.0));
        let (kept, anew) = (run(2, Some(1 << 30)), run(2, None));
        // two iterations and the residual
        let pass = (n * n) as f64 / 2.0 + 128.0 * n as f64;
        holds("full data, values kept", anew.entries - kept.entries, 2.0 * pass, 0.95..=1.0);
        holds("full data, flops kept", kept.flops, anew.flops, 1.0..=1.0);
    });
}
