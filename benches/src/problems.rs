//! Problems a and b of the comparison with peers.

use nystrom::faer::Mat;
use nystrom::linalg_core::Scalar;
use nystrom::linalg_core::random::standard_normal;
use nystrom::prelude::*;
use nystrom::rand::RngExt;

/// Problem a. The points are standard normal, n × d. The targets, n × 1, are a smooth sum of 30
/// random cosines with noise of standard deviation 0.1.
pub fn cosines(n: usize, d: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let target = &mut Pcg64::seed_from_u64(777);
    let frequencies: Mat<f64> = standard_normal(d, 30, target);
    let shifts: Mat<f64> = standard_normal(30, 1, target);
    let amplitudes: Mat<f64> = standard_normal(30, 1, target);
    let rng = &mut Pcg64::seed_from_u64(seed);
    let (x, noise): (Mat<f64>, Mat<f64>) = (standard_normal(n, d, rng), standard_normal(n, 1, rng));
    let phase = &x * &frequencies;
    let term = |i: usize, c: usize| {
        (phase[(i, c)] / 4.0 + 3.0 * shifts[(c, 0)]).cos() * amplitudes[(c, 0)]
    };
    let y = Mat::from_fn(n, 1, |i, _| {
        (0..30).map(|c| term(i, c)).sum::<f64>() / 15.0_f64.sqrt() + 0.1 * noise[(i, 0)]
    });
    (x, y)
}

/// Problem b, the bimodal design of Chen & Yang (2021) in three dimensions, n × 3. A point is
/// uniform on the unit cube with probability n/(n + n^0.4), otherwise in the far cluster.
pub fn bimodal<T: Scalar>(n: usize) -> Mat<T> {
    let first = 1.0 / (1.0 + (n as f64).powf(-0.6));
    cast(&two_clusters(n, |u| u >= first, &mut Pcg64::seed_from_u64(0)))
}

/// Points uniform on the unit cube, n × 3, except those for which `far` is true at a uniform random
/// number: their coordinates are on [2, 2.5] with density 4(5 − 2x).
pub fn two_clusters(n: usize, far: impl Fn(f64) -> bool, rng: &mut Pcg64) -> Mat<f64> {
    let mut x = Mat::zeros(n, 3);
    for i in 0..n {
        let far = far(rng.random());
        for k in 0..3 {
            let u: f64 = rng.random();
            x[(i, k)] = if far { 2.5 - 0.5 * (1.0 - u).sqrt() } else { u };
        }
    }
    x
}

/// The matrix in another precision.
pub fn cast<T: Scalar>(a: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::lit(a[(i, j)]))
}
