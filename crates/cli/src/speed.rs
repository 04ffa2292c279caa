//! Timings on a few rows, made before the plan is printed, from which it predicts its times.

use crate::kernel::AnyKernel;
use nystrom::linalg_core::{PsdMatrix, random};
use nystrom::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Rows of the larger of two samples, or an eighth of all rows if that is fewer.
const ROWS: usize = 1000;

/// The speed of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Seconds for one value of this kernel on these rows.
    pub value: f64,
    /// Seconds for one flop of a matrix product.
    pub flop: f64,
}

impl Speed {
    /// Times at most 10⁶ kernel values and a product of 400 × 400 matrices, each in its second run.
    pub fn measure(kernel: &AnyKernel, points: Points<'_, f64>) -> Speed {
        let some = points.slice(0..points.len().min(ROWS));
        let mut block = Mat::zeros(some.len(), some.len());
        let value = second_run(|| kernel.eval_into(block.as_mut(), some, some));
        let square = Mat::<f64>::from_fn(400, 400, |i, j| (i + j) as f64);
        let flop = second_run(|| drop(std::hint::black_box(&square * &square)));
        Speed { value: value / (some.len() as f64).powi(2), flop: flop / (2.0 * 400_f64.powi(3)) }
    }
}

fn second_run(mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The predicted cost of leverage scores whose cost depends on the data. The size of their
/// dictionary on s rows is modelled as D(s) = s·D/(s + s₀), which saturates at D; runs on two
/// random samples of rows determine D and s₀.
#[derive(Debug, Clone, Copy)]
pub struct TrialRun {
    pub kernel_values: f64,
    pub seconds: f64,
    /// Bytes, if the dictionary has as many members as there are kernel values for each row.
    pub bytes: f64,
}

impl TrialRun {
    /// Runs `scores` on two samples of random rows. The samples are drawn from a separate
    /// generator, so that the command draws the same random numbers with and without a trial. None
    /// if `scores` fails, as it may on too few rows.
    pub fn run(
        kernel: &AnyKernel,
        points: Points<'_, f64>,
        scores: impl Fn(
            &dyn PsdMatrix<f64>,
            Points<'_, f64>,
            &mut dyn Rng,
        ) -> crate::failure::Result<Vec<f64>>,
    ) -> Option<TrialRun> {
        let rng = &mut Pcg64::seed_from_u64(0);
        let count = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&count);
        let kernel = &kernel.clone().metered(move |values| {
            counter.fetch_add(values as u64, Ordering::Relaxed);
        });
        // the kernel values for each of s rows, about the size of the dictionary, and the seconds
        let mut sample = |s: usize| {
            let rows = random::uniform_subset(points.len(), s, rng).ok()?;
            let few = points.gather(rows.as_slice().into());
            let few = few.points();
            let (before, start) = (count.load(Ordering::Relaxed), Instant::now());
            scores(&KernelMatrix::new(kernel, few).ok()?, few, rng).ok()?;
            let values = count.load(Ordering::Relaxed) - before;
            Some((values as f64 / s as f64, start.elapsed().as_secs_f64()))
        };
        let s = ROWS.min(points.len() / 8);
        let ((half, _), (whole, seconds)) = (sample(s / 2)?, sample(s)?);
        let (n, times) = (points.len() as f64, points.len() as f64 / s as f64);
        let growth = growth(half, whole, times);
        let size = growth * whole;
        let bytes = 8.0 * (3.0 * size * size + 1024.0 * size + 2.0 * n);
        Some(TrialRun { kernel_values: n * size, seconds: times * growth.powi(2) * seconds, bytes })
    }
}

/// The factor by which a dictionary is larger on `times` as many rows, given its size `half` on
/// half of the rows and `whole` on all rows.
fn growth(half: f64, whole: f64, times: f64) -> f64 {
    let saturation = whole / half - 1.0; // 0: saturated; 1: proportional to the number of rows
    let inverse = 1.0 - saturation * (1.0 - times.recip());
    if inverse > 0.0 {
        inverse.recip().clamp(1.0, times)
    } else if saturation > 0.0 {
        times
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::growth;

    #[test]
    fn a_dictionary_grows_until_it_is_full() {
        let size = |s: f64| 300.0 * s / (s + 200.0);
        assert!(
            (growth(size(500.0), size(1000.0), 50.0) - size(50_000.0) / size(1000.0)).abs() < 1e-9
        );
        assert_eq!(growth(40.0, 40.0, 50.0), 1.0);
        assert_eq!(growth(40.0, 38.0, 50.0), 1.0); // by chance
        assert!((growth(500.0, 1000.0, 50.0) - 50.0).abs() < 1e-9);
        assert_eq!(growth(500.0, 1100.0, 50.0), 50.0);
        assert_eq!(growth(0.0, 0.0, 50.0), 1.0); // no kernel values at all
    }
}
