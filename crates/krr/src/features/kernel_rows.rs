//! Rows of K_nm, and of KS for a sketch S that is known by its rows at some centres.

use crate::features::{FeatureRows, Source};
use crate::{FitReport, SolvedBy};
use faer::{Accum, ColMut, Mat, MatMut};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Scalar, ops, work};
use nystrom_sketch::{ProductBuffer, Sketch};
use rayon::prelude::*;
use std::ops::Range;

/// A product takes the entries of S̄ one by one if at most 1 in `DENSE` is not 0. Each then takes
/// about as long as `DENSE` entries of a dense product.
const DENSE: usize = 8;

/// g(x_i) = S̄ᵀk_Z(x_i), row i of KS for a sketch S whose rows at Z are not zero; or k_Z(x_i).
pub(crate) struct KernelRows<'a, T, K> {
    pub kernel: &'a K,
    pub centers: Points<'a, T>,
    span: Option<SketchColumns<T>>,
}

/// S̄, the rows of S that are not zero.
pub(crate) fn span<T: Scalar>(sketch: &dyn Sketch<T>) -> Mat<f64> {
    sketch.expand(Mat::<f64>::identity(sketch.width(), sketch.width()).as_ref())
}

/// Sθ; θ without a sketch.
pub(crate) fn spread(S: Option<&Mat<f64>>, theta: Mat<f64>) -> Mat<f64> {
    let Some(S) = S else { return theta };
    ops::times(S.as_ref(), theta.as_ref())
}

/// SᵀA; A without a sketch.
pub(crate) fn gathered(S: Option<&Mat<f64>>, A: Mat<f64>) -> Mat<f64> {
    let Some(S) = S else { return A };
    ops::times(S.transpose(), A.as_ref())
}

/// S̄, u × m.
enum SketchColumns<T> {
    Dense(Mat<T>),
    /// The entries of each column, as row and value.
    Sparse(Vec<Vec<(usize, T)>>),
}

impl<'a, T: Scalar, K: Kernel<T>> KernelRows<'a, T, K> {
    /// `S` is S̄ of a sketch.
    pub fn new(kernel: &'a K, centers: Points<'a, T>, S: Option<&Mat<f64>>) -> Self {
        KernelRows { kernel, centers, span: S.map(SketchColumns::of) }
    }

    /// Sizes and cost of a fit with this number of passes. The caller adds the method.
    pub fn report(&self, rows: &FeatureRows<'_, T>, passes: usize) -> FitReport {
        let (n, m) = (rows.len(), self.centers.len());
        FitReport {
            jitter: rows.whitener.jitter,
            kernel_entries: (passes * n + m) as u64 * m as u64,
            ..FitReport::sized(SolvedBy::NormalEquations, n, self.centers, rows.targets())
        }
    }
}

impl<T: Scalar> SketchColumns<T> {
    fn of(S: &Mat<f64>) -> Self {
        let entries = |column: &[f64]| -> Vec<(usize, T)> {
            let entries = column.iter().enumerate().filter(|(_, s)| **s != 0.0);
            entries.map(|(p, s)| (p, T::lit(*s))).collect()
        };
        let columns: Vec<_> = (0..S.ncols()).map(|j| entries(S.col_as_slice(j))).collect();
        if DENSE * columns.iter().map(Vec::len).sum::<usize>() <= S.nrows() * S.ncols() {
            return SketchColumns::Sparse(columns);
        }
        SketchColumns::Dense(Mat::from_fn(S.nrows(), S.ncols(), |i, j| T::lit(S[(i, j)])))
    }

    fn columns(&self) -> usize {
        match self {
            SketchColumns::Dense(S) => S.ncols(),
            SketchColumns::Sparse(columns) => columns.len(),
        }
    }

    /// out = S̄ᵀk, each entry by one thread.
    fn product(&self, out: MatMut<'_, T>, k: &Mat<T>) {
        let columns = match self {
            SketchColumns::Dense(S) => {
                ops::matmul(out, Accum::Replace, S.transpose(), k.as_ref(), T::one());
                return;
            }
            SketchColumns::Sparse(columns) => columns,
        };
        work::product(k.ncols(), 1, columns.iter().map(Vec::len).sum());
        out.par_col_iter_mut().enumerate().for_each(|(i, mut out)| {
            let k = k.col_as_slice(i);
            for (j, column) in columns.iter().enumerate() {
                out[j] = column.iter().fold(T::zero(), |sum, &(p, s)| sum + s * k[p]);
            }
        });
    }
}

impl<T: Scalar, K: Kernel<T>> Source<T> for KernelRows<'_, T, K> {
    fn features(&self) -> usize {
        self.span.as_ref().map_or(self.centers.len(), SketchColumns::columns)
    }

    fn fill(
        &self,
        out: MatMut<'_, T>,
        x: Points<'_, T>,
        rows: Range<usize>,
        _: &mut Option<ProductBuffer<T>>,
    ) {
        let Some(span) = &self.span else { return self.kernel.eval_into(out, self.centers, x) };
        let mut k = Mat::zeros(self.centers.len(), rows.len());
        self.kernel.eval_into(k.as_mut(), self.centers, x);
        span.product(out, &k);
    }

    fn diagonal(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.kernel.diag_into(out, x);
    }
}
