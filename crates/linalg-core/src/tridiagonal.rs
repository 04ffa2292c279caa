//! The ratio of the extreme eigenvalues of a tridiagonal matrix, by bisection on eigenvalue counts.

/// Bisection steps on the logarithm of an eigenvalue: enough for all digits.
const HALVINGS: usize = 60;
/// Upper limit of the ratio: larger ratios are rounding errors.
const LARGEST_RATIO: f64 = 1e18;

/// λ_max/λ_min, at most 1e18, of a symmetric tridiagonal k × k matrix given by its `diagonal` (k
/// entries) and the `squares` of its off-diagonal entries (k − 1). The ratio is 1e18 if the matrix
/// is not numerically positive definite, and 1 if k < 2 or an entry is not finite.
///
/// Bisection on the number of eigenvalues below a bound: O(k) per step. The entries are first
/// divided by the largest, so that none is too small or too large for the arithmetic.
///
/// Source: G. Golub, C. Van Loan, *Matrix computations*, 8.4.1.
pub(crate) fn eigenvalue_ratio(diagonal: &[f64], squares: &[f64]) -> f64 {
    let k = diagonal.len();
    let off_diagonal: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
    let entries = || diagonal.iter().chain(&off_diagonal);
    if k < 2 || !entries().all(|entry| entry.is_finite()) {
        return 1.0;
    }
    let scale = entries().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    if scale == 0.0 {
        return LARGEST_RATIO;
    }
    let diagonal: Vec<f64> = diagonal.iter().map(|entry| entry / scale).collect();
    let off_diagonal: Vec<f64> = off_diagonal.iter().map(|entry| entry / scale).collect();
    let squares: Vec<f64> = off_diagonal.iter().map(|entry| entry * entry).collect();
    let beside = |i: usize| off_diagonal.get(i).copied().unwrap_or_default();
    let row = |i: usize| diagonal[i] + beside(i) + if i == 0 { 0.0 } else { beside(i - 1) };
    let most = (0..k).map(row).fold(0.0, f64::max); // Gershgorin
    let least = most / LARGEST_RATIO;
    // no eigenvalue is positive, or the smallest is not
    if most <= 0.0 || below(&diagonal, &squares, least) > 0 {
        return LARGEST_RATIO;
    }
    let eigenvalue = |index: usize| {
        let (mut low, mut high) = (least.ln(), most.ln());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if below(&diagonal, &squares, middle.exp()) > index {
                high = middle;
            } else {
                low = middle;
            }
        }
        (0.5 * (low + high)).exp()
    };
    (eigenvalue(k - 1) / eigenvalue(0)).max(1.0)
}

/// The number of eigenvalues below x, which is the number of negative pivots of T − xI (Sturm).
fn below(diagonal: &[f64], squares: &[f64], x: f64) -> usize {
    let (mut count, mut pivot) = (0, 1.0_f64);
    for (i, a) in diagonal.iter().enumerate() {
        let before = if i == 0 { 0.0 } else { squares[i - 1] / pivot };
        pivot = a - x - before;
        if pivot == 0.0 {
            pivot = f64::MIN_POSITIVE;
        }
        count += usize::from(pivot < 0.0);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymmetricEigen;
    use faer::Mat;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_ratio_of_the_eigenvalues(
            diagonal in prop::collection::vec(0.1..10.0f64, 2..30),
            share in prop::collection::vec(0.0..0.49f64, 30),
        ) {
            let k = diagonal.len();
            // diagonally dominant, thus positive definite
            let off_diagonal: Vec<f64> =
                (0..k - 1).map(|i| share[i] * diagonal[i].min(diagonal[i + 1])).collect();
            let squares: Vec<f64> = off_diagonal.iter().map(|b| b * b).collect();
            let T = Mat::from_fn(k, k, |i, j| match i.abs_diff(j) {
                0 => diagonal[i],
                1 => off_diagonal[i.min(j)],
                _ => 0.0,
            });
            let eigen = SymmetricEigen::new(T.as_ref()).unwrap();
            let expected = eigen.values()[0] / eigen.values()[k - 1];
            let ratio = eigenvalue_ratio(&diagonal, &squares);
            prop_assert!((ratio / expected - 1.0).abs() < 1e-10, "{ratio} {expected}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_the_largest_ratio() {
        assert_eq!(eigenvalue_ratio(&[1.0, 1.0], &[4.0]), LARGEST_RATIO);
        assert_eq!(eigenvalue_ratio(&[1.0, 1e-20], &[0.0]), LARGEST_RATIO);
        assert_eq!(eigenvalue_ratio(&[-1.0, -1.0], &[0.0]), LARGEST_RATIO);
        assert_eq!(eigenvalue_ratio(&[-3.0, -2.0], &[1.0]), LARGEST_RATIO);
        assert_eq!(eigenvalue_ratio(&[0.0, 0.0], &[0.0]), LARGEST_RATIO);
    }

    /// Entries at both ends of the range of `f64`; 1e-320 is known to 1 in 2000.
    #[test]
    fn the_ratio_does_not_depend_on_the_scale() {
        for (small, tolerance) in [(1e-320, 1e-3), (1e-307, 1e-12), (1.0, 1e-12), (8e307, 1e-12)] {
            let ratio = eigenvalue_ratio(&[small, 2.0 * small], &[0.0]);
            assert!((ratio / 2.0 - 1.0).abs() < tolerance, "{ratio} at {small:e}");
        }
    }

    #[test]
    fn what_is_no_matrix_has_no_ratio() {
        assert_eq!(eigenvalue_ratio(&[], &[]), 1.0);
        assert_eq!(eigenvalue_ratio(&[3.0], &[]), 1.0);
        assert_eq!(eigenvalue_ratio(&[f64::INFINITY, 1.0], &[0.0]), 1.0);
        assert_eq!(eigenvalue_ratio(&[f64::NAN, f64::NAN], &[0.0]), 1.0);
        assert_eq!(eigenvalue_ratio(&[f64::NAN, 1.0], &[0.0]), 1.0);
        assert_eq!(eigenvalue_ratio(&[2.0, 1.0], &[f64::INFINITY]), 1.0);
    }
}
