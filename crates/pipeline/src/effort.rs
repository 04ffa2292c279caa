//! The limit of the work of a search, and the sizes that fit within it.

use nystrom::faer::{Accum, Mat};
use nystrom::linalg_core::ops;

/// The limit of the work of a fit. Work is counted in floating-point operations, not in seconds, so
/// that the same effort gives the same model on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// About ten seconds on two cores.
    Quick,
    /// About a minute on two cores.
    #[default]
    Default,
    /// About ten minutes on two cores.
    Thorough,
}

impl Effort {
    /// The number of operations that the effort allows.
    pub fn work(self) -> f64 {
        match self {
            Effort::Quick => 2e11,
            Effort::Default => 1.1e12,
            Effort::Thorough => 1.3e13,
        }
    }

    /// The name of the effort on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Default => "default",
            Effort::Thorough => "thorough",
        }
    }
}

/// The operations that a search does in `seconds` seconds on this machine, to two digits. `now` is
/// the clock of the caller, in seconds. The result is a limit of work for [`Fit::work`], so that a
/// search with a time limit can be repeated exactly.
///
/// [`Fit::work`]: crate::Fit::work
///
/// # Cost
/// Five products of 400 × 400 matrices.
///
/// ```
/// use nystrom_pipeline::{Fit, work_in};
/// use std::time::Instant;
/// let start = Instant::now();
/// let work = work_in(90.0, || start.elapsed().as_secs_f64());
/// assert!(work > 0.0);
/// let fit = Fit { work: Some(work), ..Fit::default() };
/// # drop(fit);
/// ```
pub fn work_in(seconds: f64, mut now: impl FnMut() -> f64) -> f64 {
    const SIDE: usize = 400;
    /// What the rest of a search reaches of the speed of products.
    const SHARE: f64 = 0.2;
    let square = Mat::<f64>::from_fn(SIDE, SIDE, |i, j| (i + j) as f64);
    let mut product = Mat::zeros(SIDE, SIDE);
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let start = now();
        ops::matmul(product.as_mut(), Accum::Replace, square.as_ref(), square.as_ref(), 1.0);
        least = least.min(now() - start);
    }
    let rate = SHARE * 2.0 * (SIDE as f64).powi(3) / least.max(f64::MIN_POSITIVE);
    two_digits(seconds * rate)
}

/// A number to two digits.
pub(crate) fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// Operations that a kernel value takes, by the number of features.
fn value(d: usize) -> f64 {
    20.0 + 2.0 * d as f64
}

/// Of the operations of a product of matrices five take as long as one of a pass over K.
const PRODUCT: f64 = 0.2;

/// Operations of `NystromKrr::path` as its documentation counts them.
pub(crate) fn path_work(n: f64, m: f64, d: usize) -> f64 {
    PRODUCT * (5.0 * n * m * m + 10.0 * m.powi(3)) + 2.0 * n * m * value(d)
}

/// Operations of a Newton step of `LogisticKrr` for one column.
pub(crate) fn newton_work(n: usize, m: usize, d: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    PRODUCT * (2.0 * n * m * m + m.powi(3)) + 2.0 * n * m * value(d)
}

/// The same of `FullLogisticKrr` over a kept triangle: so many passes, and a preconditioner.
pub(crate) fn full_newton_work(n: usize) -> f64 {
    const PASSES: f64 = 22.0;
    let (n, rank) = (n as f64, (n as f64 / 10.0).min(1000.0));
    2.0 * PASSES * n * n + PRODUCT * 2.0 * n * rank * rank
}

/// Passes over the kernel matrix that a fit takes, as they are counted beforehand, …
const PASSES: f64 = 25.0;
/// … and how often its error is looked at.
const LOOKS: f64 = 7.0;

/// Operations of a fit on n rows at several ridges, compared on some validation rows. `kept`: the
/// kernel matrix is not computed for every pass.
pub(crate) fn full_work(n: usize, d: usize, ridges: usize, validation: usize, kept: bool) -> f64 {
    let (n, columns) = (n as f64, ridges as f64);
    let rank = (n / 10.0).min(1000.0);
    let triangles = if kept { 0.5 } else { 0.5 * PASSES };
    triangles * n * n * value(d)
        + 2.0 * PASSES * n * n * columns
        + n * rank * (rank + value(d))
        + LOOKS * n * validation as f64 * value(d)
}

/// Bytes of a fit on n rows that keeps a triangle of the kernel matrix.
pub(crate) fn full_bytes(n: usize) -> u64 {
    let (n, rank) = (n as u64, (n as u64 / 10).min(1000));
    2 * n * (n + 1) + 8 * n * rank + 48 * rank * rank
}

/// The most rows of a fit at six ridges within this work.
pub(crate) fn full_rows(work: f64, most: usize, d: usize, memory: Option<u64>) -> usize {
    let fits = |n: usize| {
        full_work(n, d, 6, 1500, true) <= work && memory.is_none_or(|bytes| full_bytes(n) <= bytes)
    };
    largest(most.min(100), most, fits)
}

/// The largest number from `low` to `most` that fits, if all below one that fits do; else `low`.
pub(crate) fn largest(mut low: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut high = most + 1;
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if fits(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_work_and_memory() {
        for work in [1e8, 1e9, 1e11] {
            for most in [3, 300, 100_000] {
                let n = full_rows(work, most, 10, None);
                assert!(n <= most && (full_work(n, 10, 6, 1500, true) <= work || n <= 100));
                assert!(n == most || n == 100 || full_work(n + 1, 10, 6, 1500, true) > work);
            }
        }
        assert!(full_bytes(full_rows(1e12, 100_000, 10, Some(10_000_000))) <= 10_000_000);
    }

    #[test]
    fn work_is_what_the_clock_says() {
        // a product takes 2 seconds by the first clock, 1 by the second: 1.28e8 flops in it
        let clock = |step: f64| {
            let mut time = 0.0;
            move || {
                time += step;
                time
            }
        };
        assert_eq!(work_in(10.0, clock(2.0)), 1.3e8);
        assert_eq!(work_in(10.0, clock(1.0)), 2.6e8);
        assert_eq!(two_digits(1234.5), 1200.0);
    }

    #[test]
    fn efforts_differ() {
        let [quick, usual, thorough] =
            [Effort::Quick, Effort::Default, Effort::Thorough].map(Effort::work);
        assert!(quick < usual && usual < thorough);
    }
}
