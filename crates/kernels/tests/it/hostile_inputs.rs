//! Numbers from the ends of the range, and points made of them.

use faer::Mat;
use nystrom_linalg_core::Scalar;

/// Positive numbers from the smallest to the largest.
pub const ENDS: [f64; 16] = [
    5e-324,
    1e-310,
    1e-300,
    1e-200,
    1e-100,
    1e-45,
    1e-40,
    1e-10,
    0.3,
    1.0,
    1e10,
    1e40,
    1e100,
    1e200,
    1e300,
    f64::MAX,
];

/// A point for each number: it, and small multiples of it in the other coordinates.
pub fn of_points<T: Scalar>(numbers: &[f64], d: usize) -> Mat<T> {
    Mat::from_fn(numbers.len(), d, |i, k| T::lit(numbers[i] * (1.0 - 0.125 * (k % 4) as f64)))
}

/// Point sets of finite numbers of `T`.
pub fn point_sets<T: Scalar>(d: usize) -> Vec<(String, Mat<T>)> {
    let max = T::max_value().f64();
    let mut sets: Vec<Vec<f64>> = vec![
        vec![0.0],
        vec![0.0, 0.0],
        vec![-0.0, 0.0, 1.0],
        vec![0.5; 9],
        vec![1e7, 0.0, 0.5, 0.5],
        vec![max, -max, 0.0, 1.0],
        vec![max, max],
    ];
    for e in [1e-320, 1e-300, 1e-160, 1e-45, 1e-38, 1e-20, 1e19, 1e20, 1e38, 1e155, 1e200, 1e300] {
        sets.push(vec![e, 2.0 * e, -e, 0.0, 1.0, e]);
    }
    let fits = |set: &Vec<f64>| set.iter().all(|x| T::lit(*x).is_finite());
    sets.into_iter().filter(fits).map(|set| (format!("{set:?}"), of_points(&set, d))).collect()
}
