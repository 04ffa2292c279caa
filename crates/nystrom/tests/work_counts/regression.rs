//! Direct fits: Nyström by its three solvers, prediction, exact regression, sketched regression.

use crate::measure::{Measured, alone, every, f64s, holds, measure, problem};
use nystrom::krr::{FullPath, IterativeOptions, Solver};
use nystrom::prelude::*;

const N: usize = 8192;
const M: usize = 400;

/// A fit with t = 1; the entries are the same with every solver.
fn fit(solver: Solver) -> Measured {
    let (x, y) = problem(N);
    let krr = NystromKrr {
        solver,
        ..NystromKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6))
    };
    let landmarks = every(N, M);
    let (model, measured) =
        measure(|| krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &landmarks).unwrap());
    assert_eq!(measured.entries as u64, model.report().kernel_entries, "the report");
    holds("  entries, nm + m²", measured.entries, (N * M + M * M) as f64, 1.0..=1.0);
    measured
}

fn sizes() -> [f64; 3] {
    [N as f64, M as f64, 1.0]
}

/// 4m² numbers (W's factor and four partial sums of half a square) and a tile.
fn bytes_of_sums() -> f64 {
    let [_, m, t] = sizes();
    f64s(4.0 * m * m + 1024.0 * (m + t))
}

/// nm² + m³: the Gram matrix; the factor of W, RRᵀ, the last factor. Products with y, and solves
/// for θ and β. (An automatic choice of the solver inverts W, too.)
#[test]
fn normal_equations_whitened_once() {
    alone(|| {
        let ([n, m, t], measured) = (sizes(), fit(Solver::WhitenOnce));
        let flops = n * m * m + m.powi(3) + 2.0 * n * m * t + 5.0 * m * m * t;
        holds("whitened once, flops", measured.flops, flops, 1.0..=1.05);
        holds("whitened once, bytes", measured.bytes, bytes_of_sums(), 0.9..=1.1);
    });
}

/// 2nm² + 2m³/3: every tile is whitened, RRᵀ is not needed.
#[test]
fn normal_equations_of_whitened_tiles() {
    alone(|| {
        let ([n, m, t], measured) = (sizes(), fit(Solver::NormalEquations));
        let flops = 2.0 * n * m * m + 2.0 * m.powi(3) / 3.0 + 2.0 * n * m * t + 3.0 * m * m * t;
        holds("whitened tiles, flops", measured.flops, flops, 1.0..=1.05);
        holds("whitened tiles, bytes", measured.bytes, bytes_of_sums(), 0.9..=1.1);
    });
}

/// nm² to whiten; 2m²(m + 1024 − m/3) for each tile under the triangle so far; 2m²(2m − m/3) for
/// each of the seven triangles that are put together, and for the ridge. In short (3 + m/768)nm² +
/// 27m³.
#[test]
fn streamed_qr() {
    alone(|| {
        let ([n, m, t], measured) = (sizes(), fit(Solver::Qr));
        let qr = |rows: f64| 2.0 * m * m * (rows - m / 3.0) + 2.0 * m * t * (2.0 * rows - m);
        let flops = n * m * m + m.powi(3) / 3.0 + n / 1024.0 * qr(m + 1024.0) + 8.0 * qr(2.0 * m);
        holds("QR, flops", measured.flops, flops, 1.0..=1.05);
        let short = (3.0 + m / 768.0) * n * m * m + 27.0 * m.powi(3);
        holds("QR, flops, in short", measured.flops, short, 1.0..=1.05);
        // W's factor, partial triangles, a tile, and the same tile under the triangle that it is
        // added to
        let bytes = f64s(m * m + 2.0 * m * m + 1024.0 * (m + t) + (m + 1024.0) * (m + t));
        holds("QR, bytes", measured.bytes, bytes, 0.9..=1.15);
    });
}

/// nm kernel values, 2nmt flops, and a tile of 256 rows a thread beside the predictions.
#[test]
fn prediction() {
    alone(|| {
        let (x, y) = problem(N);
        let points = Points::from_rows(x.as_ref());
        let krr = NystromKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6));
        let model = krr.fit((points, y.as_ref()), &every(N, M)).unwrap();
        let ([n, m, t], measured) = (sizes(), measure(|| model.predict(points).unwrap()).1);
        holds("prediction, entries", measured.entries, n * m, 1.0..=1.0);
        holds("prediction, flops", measured.flops, 2.0 * n * m * t, 1.0..=1.0);
        holds("prediction, bytes", measured.bytes, f64s(n * t + 256.0 * m), 1.0..=1.1);
    });
}

/// n²/2 + 128n entries, n³/3 + 2n²t flops, half a matrix and its panels.
#[test]
fn exact_regression() {
    alone(|| {
        let n = 1500;
        let (x, y) = problem(n);
        let krr = ExactKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-3));
        let (model, measured) =
            measure(|| krr.fit((Points::from_rows(x.as_ref()), y.as_ref())).unwrap());
        assert_eq!(measured.entries as u64, model.report().kernel_entries, "the report");
        let (n, t) = (n as f64, 1.0);
        holds("exact regression, entries", measured.entries, n * n / 2.0 + 128.0 * n, 0.95..=1.0);
        holds(
            "exact regression, flops",
            measured.flops,
            n.powi(3) / 3.0 + 2.0 * n * n * t,
            1.0..=1.05,
        );
        holds(
            "exact regression, bytes",
            measured.bytes,
            f64s(n * (n + 256.0) / 2.0 + 256.0 * n),
            0.95..=1.1,
        );
    });
}

/// nu + u² kernel values, u ≤ kd; 2nkd flops for KS and 2nd² + 2d³/3 more, as an accumulation of k
/// matrices.
#[test]
fn sketched_regression() {
    alone(|| {
        let (d, k) = (200, 3);
        let (x, y) = problem(N);
        let sketch = Accumulation::uniform(k).sample(N, d, &mut Pcg64::seed_from_u64(1)).unwrap();
        let solver = Solver::NormalEquations;
        let krr = SketchedKrr {
            solver,
            ..SketchedKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6))
        };
        let measured =
            measure(|| krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &sketch).unwrap()).1;
        let [n, d, k, u] = [N, d, k, sketch.support().len()].map(|size| size as f64);
        holds("sketched regression, entries", measured.entries, n * u + u * u, 0.9..=1.0);
        // KS, its rows on the support, SᵀKS
        let product = 2.0 * n * k * d + 2.0 * u * k * d + 2.0 * k * d * d;
        let flops = product + 2.0 * n * d * d + 2.0 * d.powi(3) / 3.0 + 2.0 * n * d;
        holds("sketched regression, flops", measured.flops, flops, 0.95..=1.05);
    });
}

/// nm slopes and 2nm(d + 1)t flops; of a tile of 256 rows the slopes, their products with the
/// coefficients, and those.
#[test]
fn gradients() {
    alone(|| {
        let (x, y) = problem(N);
        let points = Points::from_rows(x.as_ref());
        let krr = NystromKrr::new(Matern32::new(1.0).unwrap(), Ridge::PerSample(1e-6));
        let model = krr.fit((points, y.as_ref()), &every(N, M)).unwrap();
        let ([n, m, t], d) = (sizes(), x.ncols() as f64);
        let measured = measure(|| model.gradient(points).unwrap()).1;
        holds("gradient, entries", measured.entries, n * m, 1.0..=1.0);
        holds("gradient, flops", measured.flops, 2.0 * n * m * (d + 1.0) * t, 1.0..=1.0);
        let bytes = f64s(n * d * t + 256.0 * m * (t + 2.0));
        holds("gradient, bytes", measured.bytes, bytes, 0.9..=1.2);
    });
}

/// The path of a fit to four fifths of the rows at six ridges, compared on the others, and gn
/// slopes with their products for the gradients.
#[test]
fn a_learned_metric() {
    alone(|| {
        let (x, y) = problem(5 * M / 2);
        let points = Points::from_rows(x.as_ref());
        let metric = LearnedMetric {
            iterations: 1,
            multiples: vec![1.0],
            gradient_rows: M,
            ..LearnedMetric::default()
        };
        let mut rng = Pcg64::seed_from_u64(0);
        let learn = || metric.learn(&Matern32::new, (points, &y), &mut rng).unwrap();
        let (found, measured) = measure(learn);
        let (n, g, d) = (2 * M, M as f64, x.ncols() as f64);
        let ridges = [1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4].map(Ridge::Absolute);
        let options =
            IterativeOptions { tolerance: 1e-4, max_iterations: 45, memory: Some(u64::MAX) };
        let kernel = Matern32::new(found.length_scale()).unwrap();
        let path = FullPath { options, ..FullPath::new(kernel, &ridges) };
        let fit = || {
            let train = (points.slice(0..n), y.as_ref().subrows(0, n));
            let valid = (points.slice(n..n + M / 2), y.as_ref().subrows(n, M / 2));
            path.fit(train, valid, &mut rng).unwrap()
        };
        let path = measure(fit).1;
        let gradients = g * n as f64;
        holds("metric, entries", measured.entries, path.entries + gradients, 0.95..=1.05);
        // at most 45 iterations of six ridges, with a preconditioner of rank n/5
        let (n, ridges) = (n as f64, 6.0);
        let k = n / 5.0;
        let iterations = 45.0 * ridges * (2.0 * n * n + 4.0 * n * k);
        let most = iterations + 2.0 * n * k * k + 2.0 * gradients * (d + 1.0);
        holds("metric, flops", measured.flops, most, 0.2..=1.0);
        holds("metric, bytes", measured.bytes, path.bytes, 0.7..=1.3);
    });
}
