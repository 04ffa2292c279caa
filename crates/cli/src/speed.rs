//! How long work will take here: timed on a few rows before the plan is printed.

use crate::kernel::AnyKernel;
use nystrom::linalg_core::{PsdMatrix, random};
use nystrom::prelude::*;
use std::time::Instant;

/// Rows of a trial; an eighth of all if those are fewer.
const ROWS: usize = 1000;

/// Seconds of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// For a value of this kernel on these rows.
    pub value: f64,
    /// For a flop of a product of matrices.
    pub flop: f64,
}

impl Speed {
    /// Times at most 10⁶ kernel values and a small product, each at its second run.
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

/// What an estimate whose work depends on the data took on a few random rows, in proportion for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    pub kernel_values: f64,
    pub seconds: f64,
    /// Memory if the dictionary is as large as the kernel values of one row say.
    pub bytes: f64,
}

impl Trial {
    /// Runs `scores` on random rows. The generator is its own, so that the command draws as it would without a trial. Nothing if the
    /// trial fails, as scores may on too few rows.
    pub fn run(
        kernel: &AnyKernel,
        points: Points<'_, f64>,
        scores: impl FnOnce(&dyn PsdMatrix<f64>, Points<'_, f64>, &mut dyn Rng) -> crate::failure::Result<Vec<f64>>,
    ) -> Option<Trial> {
        let rng = &mut Pcg64::seed_from_u64(0);
        let (n, s) = (points.len(), ROWS.min(points.len() / 8));
        let rows = random::uniform_subset(n, s, rng).ok()?;
        let few = points.gather(rows.as_slice().into());
        let few = Points::from_cols(few.as_ref());
        let before = kernel.values_so_far();
        let start = Instant::now();
        scores(&KernelMatrix::new(kernel, few).ok()?, few, rng).ok()?;
        let (seconds, values) = (start.elapsed().as_secs_f64(), (kernel.values_so_far() - before) as f64);
        let (times, size) = (n as f64 / s as f64, values / s as f64);
        let bytes = 8.0 * (3.0 * size * size + 1024.0 * size + 2.0 * n as f64);
        Some(Trial { kernel_values: times * values, seconds: times * seconds, bytes })
    }
}
