//! The limit of the work of a search.

use crate::cost::full_work;
use crate::error::Result;
use crate::kernel::Family;
use nystrom::faer::Mat;
use nystrom::krr::{FullPath, IterativeOptions};
use nystrom::prelude::*;
use std::ops::Range;

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

/// The name and the operations of each effort: 7e9 operations a second, a slow pair of cores.
const EFFORTS: [(&str, f64); 3] = [("quick", 7e10), ("default", 4.2e11), ("thorough", 4.2e12)];

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
/// # Errors
/// None in practice: those of a fit to a problem of its own.
///
/// # Cost
/// Three times what a search does for two candidates on 1500 rows, some 2e9 operations in all.
///
/// ```
/// use nystrom_pipeline::{Fit, work_in};
/// use std::time::Instant;
/// let start = Instant::now();
/// let work = work_in(90.0, || start.elapsed().as_secs_f64())?;
/// assert!(work > 0.0);
/// let fit = Fit { work: Some(work), ..Fit::default() };
/// # drop(fit);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
pub fn work_in(seconds: f64, mut now: impl FnMut() -> f64) -> Result<f64> {
    const TIMES: usize = 3;
    let problem = SpeedTrial::new();
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let start = now();
        problem.run()?;
        least = least.min(now() - start);
    }
    Ok(rounded(seconds * SpeedTrial::work() / least.max(f64::MIN_POSITIVE), 2))
}

/// Two candidates of a search on a problem of its own: a smooth kernel and one of the L1 distance.
struct SpeedTrial {
    x: Mat<f64>,
    y: Mat<f64>,
}

impl SpeedTrial {
    const ROWS: usize = 1500;
    const VALIDATION: usize = 500;
    const DIM: usize = 10;
    const RIDGES: [f64; 6] = [1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4];
    const FAMILIES: [Family; 2] = [Family::Matern { nu: 2.5 }, Family::LaplacianL1];

    /// What a search counts for the candidates.
    fn work() -> f64 {
        let (d, columns) = (SpeedTrial::DIM, SpeedTrial::RIDGES.len());
        2.0 * full_work(SpeedTrial::ROWS, d, columns, SpeedTrial::VALIDATION, true)
    }

    /// Points of an additive recurrence, and a target with noise.
    fn new() -> SpeedTrial {
        let n = SpeedTrial::ROWS + SpeedTrial::VALIDATION;
        let place = |i: usize, j: usize| (i as f64 * ((j + 2) as f64).sqrt()).fract();
        let x = Mat::from_fn(n, SpeedTrial::DIM, |i, j| 3.5 * (place(i, j) - 0.5));
        let y = |i: usize| (2.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)] + place(i, 99) - 0.5;
        let y = Mat::from_fn(n, 1, |i, _| y(i));
        SpeedTrial { x, y }
    }

    fn run(&self) -> Result<()> {
        let points = Points::from_rows(self.x.as_ref());
        let part = |rows: Range<usize>| {
            (points.slice(rows.clone()), self.y.as_ref().subrows(rows.start, rows.len()))
        };
        let n = SpeedTrial::ROWS;
        let ridges = SpeedTrial::RIDGES.map(Ridge::Absolute);
        for family in SpeedTrial::FAMILIES {
            let scale = if family.is_manhattan() { 12.0 } else { 4.5 };
            let options =
                IterativeOptions { tolerance: 1e-4, max_iterations: 45, memory: Some(1 << 28) };
            let path = FullPath::new(family.kernel(scale, SpeedTrial::DIM)?, &ridges);
            let path = FullPath { options, ..path };
            let rng = &mut Pcg64::seed_from_u64(0);
            let _fit = path.fit(part(0..n), part(n..n + SpeedTrial::VALIDATION), rng)?;
        }
        Ok(())
    }
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
        // a trial takes 2 seconds by the first clock, 1 by the second
        let clock = |step: f64| {
            let mut time = 0.0;
            move || {
                time += step;
                time
            }
        };
        let work = SpeedTrial::work();
        assert_eq!(work_in(10.0, clock(2.0)).unwrap(), rounded(5.0 * work, 2));
        assert_eq!(work_in(10.0, clock(1.0)).unwrap(), rounded(10.0 * work, 2));
        assert_eq!(rounded(1234.5, 2), 1200.0);
    }

    #[test]
    fn efforts_differ() {
        let [quick, usual, thorough] =
            [Effort::Quick, Effort::Default, Effort::Thorough].map(Effort::work);
        assert!(quick < usual && usual < thorough);
    }
}
