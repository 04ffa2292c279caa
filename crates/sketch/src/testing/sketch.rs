//! A test of the contracts of [`Sketch`] and [`SketchDistribution`].

use crate::{Sketch, SketchDistribution};
use faer::Mat;
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{Error, Scalar, Streams, ops, random};
use rand::Rng;

/// Number of independent sketches over which SSᵀ is averaged.
const DRAWS: u64 = 4000;
/// Standard errors by which an entry of the average may differ from its expectation. A normal
/// variable differs by more with probability 1.3e-15, so that with up to a thousand entries, and
/// with the deviation of an average of 4000 from normality, the false-alarm rate is far below 1e-6.
const STANDARD_ERRORS: f64 = 8.0;

/// Checks that `law` keeps the contract of [`SketchDistribution`] and that its sketches keep that
/// of [`Sketch`]. Sketches have `n` rows (about a dozen, because n² entries of SSᵀ are tested) and
/// `d` columns. The checks are:
///
/// * E\[SSᵀ\] = I: every entry of the mean over 4000 draws is within 8 of its standard errors.
/// * The support has distinct rows in range; there are at most d columns; scales are finite and not
///   0.
/// * Products with all rows, in two pieces and with a row-major matrix agree with the dense S.
/// * A sketch and a product have the same bits with 1, 2 and 8 threads.
/// * d = 0 and n = 0 give [`Error::Empty`], and d > n gives [`Error::TooMany`].
///
/// ```
/// use nystrom_sketch::{GaussianSketch, testing::check_sketch};
/// use rand::SeedableRng;
/// check_sketch::<f64>(&GaussianSketch, 8, 3, &mut rand_pcg::Pcg64::seed_from_u64(0));
/// ```
///
/// # Randomness
/// One key; all draws are from its streams.
///
/// # Panics
/// If a check fails; the message names the check.
pub fn check_sketch<T: Scalar>(
    law: &dyn SketchDistribution<T>,
    n: usize,
    d: usize,
    rng: &mut dyn Rng,
) {
    let streams = Streams::from_rng(rng);
    for r in 0..20 {
        let sketch = law.draw(n, d, &mut streams.stream(r)).expect("a sketch");
        check_shape(&*sketch, n, d);
        check_products(&*sketch, &mut streams.stream(100 + r));
    }
    check_errors(law, n, &streams);
    check_threads(law, n, d, &streams);
    check_mean(law, n, d, &streams.child(0));
}

fn check_shape<T: Scalar>(sketch: &dyn Sketch<T>, n: usize, d: usize) {
    assert!(sketch.n() == n && (1..=d).contains(&sketch.width()), "shape of the sketch");
    assert_eq!(sketch.scales().len(), sketch.width(), "one scale per column");
    assert!(
        sketch.scales().iter().all(|c| c.is_finite() && *c != 0.0),
        "scales {:?}",
        sketch.scales()
    );
    let mut rows = sketch.support().to_vec();
    rows.sort_unstable();
    rows.dedup();
    assert!(
        rows.len() == sketch.support().len() && rows.last().is_some_and(|&i| i < n),
        "distinct rows in range"
    );
}

/// Compares k S̄ with the dense product: computed at once, in two pieces, and from a row-major k.
fn check_products<T: Scalar>(sketch: &dyn Sketch<T>, rng: &mut dyn Rng) {
    let (u, d, b) = (sketch.support().len(), sketch.width(), 5);
    let k: Mat<T> = random::standard_normal(b, u, rng);
    let s = sketch.expand(Mat::<f64>::identity(d, d).as_ref());
    let wide = Mat::from_fn(b, u, |i, j| k[(i, j)].f64());
    let exact = ops::times(wide.as_ref(), s.as_ref());
    let tolerance = 16.0 * u as f64 * T::EPS * s.norm_max() * k.norm_max().f64();
    let product = |cut: usize| {
        let mut out = Mat::<T>::zeros(b, d);
        for positions in [0..cut, cut..u] {
            sketch.add_product(
                out.as_mut(),
                k.as_ref().subcols(positions.start, positions.len()),
                positions,
            );
        }
        out
    };
    let row_major = k.transpose().to_owned();
    let mut strided = Mat::<T>::zeros(b, d);
    sketch.add_product(strided.as_mut(), row_major.transpose(), 0..u);
    for (what, out) in [
        ("whole", product(u)),
        ("in two pieces", product(u / 2)),
        ("of a row-major matrix", strided),
    ] {
        for j in 0..d {
            for i in 0..b {
                let gap = (out[(i, j)].f64() - exact[(i, j)]).abs();
                assert!(gap <= tolerance, "product {what}: entry ({i}, {j}) is off by {gap:e}");
            }
        }
    }
}

fn check_errors<T: Scalar>(law: &dyn SketchDistribution<T>, n: usize, streams: &Streams) {
    let draw = |n, d| law.draw(n, d, &mut streams.stream(0)).err();
    assert!(matches!(draw(n, 0), Some(Error::Empty { .. })), "no columns: {:?}", draw(n, 0));
    assert!(matches!(draw(0, 1), Some(Error::Empty { .. })), "no rows: {:?}", draw(0, 1));
    let wide = draw(n, n + 1);
    assert!(matches!(wide, Some(Error::TooMany { .. })), "wider than tall: {wide:?}");
}

fn check_threads<T: Scalar>(
    law: &dyn SketchDistribution<T>,
    n: usize,
    d: usize,
    streams: &Streams,
) {
    same_at_any_thread_count(|| {
        let sketch = law.draw(n, d, &mut streams.stream(1)).expect("a sketch");
        let k: Mat<T> =
            random::standard_normal(300, sketch.support().len(), &mut streams.stream(2));
        let mut out = Mat::zeros(300, sketch.width());
        sketch.add_product(out.as_mut(), k.as_ref(), 0..k.ncols());
        (sketch.to_dense(), out)
    });
}

/// Compares the mean of every entry of SSᵀ with I, in units of its standard error.
fn check_mean<T: Scalar>(law: &dyn SketchDistribution<T>, n: usize, d: usize, streams: &Streams) {
    let (mut sum, mut squares) = (Mat::<f64>::zeros(n, n), Mat::<f64>::zeros(n, n));
    for r in 0..DRAWS {
        let s = law.draw(n, d, &mut streams.stream(r)).expect("a sketch").to_dense();
        let sst = ops::times(s.as_ref(), s.transpose());
        for j in 0..n {
            for i in 0..n {
                sum[(i, j)] += sst[(i, j)];
                squares[(i, j)] += sst[(i, j)].powi(2);
            }
        }
    }
    let draws = DRAWS as f64;
    for j in 0..n {
        for i in 0..n {
            let mean = sum[(i, j)] / draws;
            let error = ((squares[(i, j)] / draws - mean * mean).max(0.0) / draws).sqrt();
            let gap = (mean - if i == j { 1.0 } else { 0.0 }).abs();
            let margin = STANDARD_ERRORS * error + 64.0 * T::EPS;
            assert!(
                gap <= margin,
                "E[SSᵀ]: entry ({i}, {j}) is off by {gap:e}, {:.1} standard errors",
                gap / error
            );
        }
    }
}
