//! The limit of the work of a search.

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

/// The name and the operations of each effort.
const EFFORTS: [(&str, f64); 3] = [("quick", 2e11), ("default", 1.1e12), ("thorough", 1.3e13)];

impl Effort {
    /// The number of operations that the effort allows.
    pub fn work(self) -> f64 {
        EFFORTS[self as usize].1
    }

    /// The name of the effort on the command line.
    pub fn name(self) -> &'static str {
        EFFORTS[self as usize].0
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
    /// The speed of a search in operations, relative to that of products in flops.
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
    rounded(seconds * rate, 2)
}

/// The value rounded to this many significant digits, at least 1.
///
/// ```
/// assert_eq!(nystrom_pipeline::rounded(1234.5, 2), 1200.0);
/// ```
pub fn rounded(value: f64, digits: usize) -> f64 {
    let decimals = digits - 1;
    format!("{value:.decimals$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(rounded(1234.5, 2), 1200.0);
    }

    #[test]
    fn efforts_differ() {
        let [quick, usual, thorough] =
            [Effort::Quick, Effort::Default, Effort::Thorough].map(Effort::work);
        assert!(quick < usual && usual < thorough);
    }
}
