//! A test of the contract of [`LandmarkSelector`].

use crate::{LandmarkSelector, Landmarks, Nystrom};
use faer::Mat;
use nystrom_linalg_core::testing::{Evaluated, rng, same_at_any_thread_count};
use nystrom_linalg_core::{Error, Indices, PsdMatrix, Result, Scalar, SymmetricEigen};

/// How many landmarks a selector returns when m are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// m, for every matrix.
    Exactly,
    /// m, or fewer if they determine the whole matrix up to rounding error.
    UpToRank,
    /// At most m, because draws with replacement may coincide; m > n is not an error.
    AtMost,
}

/// Checks that `selector` keeps the contract of [`LandmarkSelector`] on `k`, a psd matrix of order
/// 2 to a few hundred. The checks are:
///
/// * For several m and seeds, landmarks are distinct, in range and as many as promised.
/// * Their Nyström approximation satisfies L ⪯ K.
/// * The result for a seed is the same with 1, 2 and 8 threads.
/// * m = 0 gives [`Error::Empty`], and m > n gives [`Error::TooMany`] (or landmarks, for
///   [`Promise::AtMost`]).
/// * A matrix of zeros or of NaN gives an error or landmarks, not a panic.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Uniform, testing::{Promise, check_selector}};
/// let k = Mat::from_fn(30, 30, |i, j| (-(i as f64 - j as f64).abs() / 9.0).exp());
/// check_selector(&Uniform::default(), &Dense::new(k.as_ref())?, Promise::Exactly);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Panics
/// If a check fails; the message names the check.
pub fn check_selector<T: Scalar>(
    selector: &dyn LandmarkSelector<T>,
    k: &dyn PsdMatrix<T>,
    promise: Promise,
) {
    let n = k.dim();
    for m in [1, n.div_ceil(4), n] {
        for seed in 0..3 {
            let landmarks = same_at_any_thread_count(|| select(selector, k, m, seed));
            check_landmarks(&landmarks.expect("landmarks for 1 <= m <= n"), k, m, promise);
        }
    }
    assert!(
        matches!(select(selector, k, 0, 0), Err(Error::Empty { .. })),
        "m = 0 is not Error::Empty"
    );
    match (select(selector, k, n + 1, 0), promise) {
        (Ok(landmarks), Promise::AtMost) => assert!(landmarks.len() <= n),
        (result, _) => {
            assert!(matches!(result, Err(Error::TooMany { .. })), "m > n gives {result:?}")
        }
    }
    for value in [T::zero(), T::nan()] {
        let constant = Evaluated { n, entry: |_, _| value };
        let _ = select(selector, &constant, 1, 0);
        let _ = select(selector, &constant, n, 0);
    }
}

fn select<T: Scalar>(
    s: &dyn LandmarkSelector<T>,
    k: &dyn PsdMatrix<T>,
    m: usize,
    seed: u64,
) -> Result<Landmarks> {
    s.select(k, m, &mut rng(seed))
}

fn check_landmarks<T: Scalar>(
    landmarks: &Landmarks,
    k: &dyn PsdMatrix<T>,
    m: usize,
    promise: Promise,
) {
    let (n, len) = (k.dim(), landmarks.len());
    let mut sorted = landmarks.indices().to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(
        landmarks.n() == n && sorted.len() == len && sorted.iter().all(|&i| i < n),
        "not distinct rows of the matrix"
    );
    assert!(
        len <= m && (promise != Promise::Exactly || len == m),
        "{len} landmarks instead of {m}"
    );
    let l = Nystrom::new(k, landmarks).expect("the Nyström approximation of the landmarks");
    let all = || Indices::from(0..n);
    let (a, b) = (k.block(all(), all()), l.block(all(), all()));
    let left = Mat::from_fn(n, n, |i, j| a[(i, j)].f64() - b[(i, j)].f64());
    let eigenvalues = SymmetricEigen::new(left.as_ref()).expect("finite entries");
    let (largest, smallest) = (eigenvalues.values()[0], eigenvalues.values()[n - 1]);
    let tolerance = 1e3 * n as f64 * T::EPS * k.trace();
    assert!(smallest >= -tolerance, "K - L has the eigenvalue {smallest:e}");
    assert!(
        promise != Promise::UpToRank || len == m || largest <= tolerance,
        "{len} of {m} landmarks leave {largest:e}"
    );
}
