//! The test of two samples.

use crate::array::each_type;
use crate::kernel::{Spec, shared};
use crate::leverage::matrix;
use crate::rows::AnyRows;
use crate::run::run;
use nystrom::kernels::median_heuristic;
use nystrom::prelude::*;
use nystrom::sketch::{TwoSample, Uniform};
use pyo3::prelude::*;

/// Pairs of rows whose median distance is the default length scale.
const PAIRS: usize = 1000;

/// The distance, the p-value, the bins of each sample, the rows of a bin, the rows of each sample
/// that are left out.
type Found = (f64, f64, [usize; 2], usize, [usize; 2]);

/// Whether the first `first` rows of X and the others are of one distribution. Without a kernel it
/// is Gaussian, its length scale the median distance of the rows.
#[pyfunction]
#[pyo3(signature = (spec, X, first, landmarks, permutations, bins, seed, n_jobs=None))]
pub fn two_sample<'py>(
    py: Python<'py>,
    spec: Option<Spec<'py>>,
    X: AnyRows<'py>,
    first: usize,
    landmarks: usize,
    permutations: usize,
    bins: usize,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Found> {
    each_type!(X, x: T => {
        let points = x.points()?;
        let kernel = spec.map(|spec| spec.kernel::<T>()).transpose()?;
        run(py, n_jobs, |stop| {
            let rng = &mut Pcg64::seed_from_u64(seed);
            let kernel = match kernel {
                Some(kernel) => kernel,
                None => shared(Gaussian::new(median_heuristic(points, PAIRS, rng)?))?,
            };
            let k = matrix(kernel, stop, points)?;
            let rows = Uniform::default().select(&k, landmarks.min(points.len()), rng)?;
            let found = TwoSample { permutations, bins }.test(&k, &rows, first, rng)?;
            Ok((found.mmd, found.p_value, found.bins, found.rows_of_bin, found.left_out))
        })
    })
}
