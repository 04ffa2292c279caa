//! The regression problem of the peer comparison: standard normal points, a smooth target of 30 random cosines, noise 0.1.

use nystrom::faer::Mat;
use nystrom::linalg_core::random::standard_normal;
use nystrom::prelude::*;

/// n × d points and n × 1 targets.
pub fn cosines(n: usize, d: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let target = &mut Pcg64::seed_from_u64(777);
    let frequencies: Mat<f64> = standard_normal(d, 30, target);
    let shifts: Mat<f64> = standard_normal(30, 1, target);
    let amplitudes: Mat<f64> = standard_normal(30, 1, target);
    let rng = &mut Pcg64::seed_from_u64(seed);
    let (x, noise): (Mat<f64>, Mat<f64>) = (standard_normal(n, d, rng), standard_normal(n, 1, rng));
    let phase = &x * &frequencies;
    let term = |i: usize, c: usize| (phase[(i, c)] / 4.0 + 3.0 * shifts[(c, 0)]).cos() * amplitudes[(c, 0)];
    let y = Mat::from_fn(n, 1, |i, _| (0..30).map(|c| term(i, c)).sum::<f64>() / 15.0_f64.sqrt() + 0.1 * noise[(i, 0)]);
    (x, y)
}
