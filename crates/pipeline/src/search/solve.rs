//! Calls of the regressions, at the rows and targets of the search.

use super::Search;
use super::trial::gather;
use crate::error::Result;
use crate::kernel::AnyKernel;
use nystrom::faer::MatRef;
use nystrom::krr::{self, LambdaPath, lambda_grid};
use nystrom::prelude::*;

/// The ridges of a path: λ from 1e-1 to 1e-10, three to a decade.
pub(super) fn ridges() -> Result<Vec<Ridge<f64>>> {
    Ok(lambda_grid(1e-1, 1e-10, 28)?)
}

impl Search<'_> {
    /// The path of λ at x, the features of `rows`, the first m of which are the landmarks.
    pub(super) fn path(
        &self,
        kernel: &AnyKernel,
        x: MatRef<'_, f64>,
        rows: &[usize],
        m: usize,
    ) -> Result<LambdaPath<AnyKernel, f64>> {
        let landmarks = Landmarks::new(rows.len(), (0..m.min(rows.len())).collect())?;
        self.path_at(kernel, x, rows, &landmarks)
    }

    /// The path of λ at x, the features of `rows`, with these landmarks.
    pub(super) fn path_at(
        &self,
        kernel: &AnyKernel,
        x: MatRef<'_, f64>,
        rows: &[usize],
        landmarks: &Landmarks,
    ) -> Result<LambdaPath<AnyKernel, f64>> {
        let y = gather(self.problem.y.as_ref(), rows);
        let weights = self.weights(rows);
        let (x, y) = (Points::from_rows(x), y.as_ref());
        let problem = krr::Problem { x, y, weights: weights.as_deref() };
        Ok(NystromKrr::without_ridge(kernel.clone()).path(problem, landmarks, &ridges()?)?)
    }

    /// The weights of these rows.
    fn weights(&self, rows: &[usize]) -> Option<Vec<f64>> {
        self.problem.weights.as_ref().map(|w| rows.iter().map(|&row| w[row]).collect())
    }
}
