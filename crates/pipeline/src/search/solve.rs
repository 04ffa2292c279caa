//! Calls of the regressions, at the rows and targets of the search.

use super::Search;
use crate::error::Result;
use crate::kernel::AnyKernel;
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::{Extras, FullPath, IterativeOptions, LambdaPath, Problem, lambda_grid};
use nystrom::prelude::*;

/// Up to so many rows systems are solved directly.
pub(super) const DIRECT: usize = 600;
/// How often a ridge that is lost in rounding errors is raised tenfold there.
const RAISED: usize = 12;
/// Iterations at most; a search does not wait for the last digits.
const ITERATIONS: usize = 45;

/// Fits on all the given rows at several ridges, compared on validation rows.
pub(super) struct Solved {
    /// At the best ridge.
    pub model: KrrModel<AnyKernel, f64>,
    /// The mean square error on the validation rows at each ridge.
    pub squares: Vec<f64>,
    /// The relative residual at which the fit was good enough.
    pub residual: f64,
}

/// Rows of the problem with their features.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub x: MatRef<'a, f64>,
    pub rows: &'a [usize],
}

impl Search<'_> {
    /// Fits at μ = nλ for all `mus`, each compared on the rows of `validation`.
    pub(super) fn solve(
        &self,
        kernel: &AnyKernel,
        train: Rows<'_>,
        validation: Rows<'_>,
        mus: &[f64],
    ) -> Result<Solved> {
        if train.rows.len() <= DIRECT {
            return self.one_by_one(kernel, train, validation, mus);
        }
        let ridges: Vec<Ridge<f64>> = mus.iter().copied().map(Ridge::Absolute).collect();
        let path =
            FullPath { options: self.options(1e-4), ..FullPath::new(kernel.clone(), &ridges) };
        let [data, of_validation] = [train, validation].map(|part| self.data(part));
        let found =
            path.fit(data.problem(train), of_validation.problem(validation), &mut self.stream(2))?;
        Ok(Solved {
            squares: found.errors.iter().map(|error| error * error).collect(),
            residual: found.enough,
            model: found.fit.model,
        })
    }

    fn one_by_one(
        &self,
        kernel: &AnyKernel,
        train: Rows<'_>,
        validation: Rows<'_>,
        mus: &[f64],
    ) -> Result<Solved> {
        let mut squares = Vec::new();
        let mut best: Option<(f64, KrrModel<AnyKernel, f64>)> = None;
        for &mu in mus {
            let model = self.full(kernel, train, mu, 1e-4, None)?;
            let f = model.predict(Points::from_rows(validation.x))?;
            let square = self.mean_square(f.as_ref(), validation.rows);
            squares.push(square);
            if best.as_ref().is_none_or(|(least, _)| square < *least) {
                best = Some((square, model));
            }
        }
        let (_, model) = best.ok_or(nystrom::Error::Empty { what: "ridges" })?;
        Ok(Solved { model, squares, residual: 1e-4 })
    }

    /// The fit to all of these rows at μ = nλ, which may have begun elsewhere.
    pub(super) fn full(
        &self,
        kernel: &AnyKernel,
        train: Rows<'_>,
        mu: f64,
        residual: f64,
        start: Option<Mat<f64>>,
    ) -> Result<KrrModel<AnyKernel, f64>> {
        let data = self.data(train);
        let problem = data.problem(train);
        if train.rows.len() <= DIRECT {
            return direct(kernel, problem, mu);
        }
        let ridge = Ridge::Absolute(mu);
        let krr =
            FullKrr { options: self.options(residual), ..FullKrr::new(kernel.clone(), ridge) };
        let extras = Extras { start: start.as_ref().map(Mat::as_ref), ..Extras::default() };
        Ok(krr.fit_with(problem, extras, &mut self.stream(3))?.model)
    }

    pub(super) fn options(&self, tolerance: f64) -> IterativeOptions {
        IterativeOptions { tolerance, max_iterations: ITERATIONS, memory: self.fit.memory }
    }

    /// The path of λ at x, the features of `rows`, with these landmarks.
    pub(super) fn path(
        &self,
        kernel: &AnyKernel,
        train: Rows<'_>,
        landmarks: &Landmarks,
    ) -> Result<LambdaPath<AnyKernel, f64>> {
        let data = self.data(train);
        let ridges = lambda_grid(1e-1, 1e-10, 28)?;
        let krr = NystromKrr::without_ridge(kernel.clone());
        Ok(krr.path(data.problem(train), landmarks, &ridges)?)
    }

    pub(super) fn data(&self, part: Rows<'_>) -> Data {
        let weights = self.problem.weights.as_ref();
        Data {
            y: gather(self.problem.y.as_ref(), part.rows),
            weights: weights.map(|w| part.rows.iter().map(|&row| w[row]).collect()),
        }
    }

    /// The same of classes, with targets ±1.
    pub(super) fn signs(&self, part: Rows<'_>) -> Data {
        let Data { y, weights } = self.data(part);
        let sign = |i, j| if y[(i, j)] > 0.0 { 1.0 } else { -1.0 };
        Data { y: Mat::from_fn(y.nrows(), y.ncols(), sign), weights }
    }
}

/// The exact fit at μ. As long as μ is lost in the rounding errors of K, as with rows that are
/// repeated, it is raised tenfold.
pub(super) fn direct(
    kernel: &AnyKernel,
    problem: Problem<'_, f64>,
    mut mu: f64,
) -> Result<KrrModel<AnyKernel, f64>> {
    for _ in 0..RAISED {
        match ExactKrr::new(kernel.clone(), Ridge::Absolute(mu)).fit(problem) {
            Err(nystrom::Error::NotPositiveDefinite { .. }) => mu *= 10.0,
            other => return Ok(other?),
        }
    }
    Ok(ExactKrr::new(kernel.clone(), Ridge::Absolute(mu)).fit(problem)?)
}

/// Targets and weights of some rows.
pub(super) struct Data {
    y: Mat<f64>,
    weights: Option<Vec<f64>>,
}

impl Data {
    pub(super) fn problem<'a>(&'a self, part: Rows<'a>) -> Problem<'a, f64> {
        Problem {
            x: Points::from_rows(part.x),
            y: self.y.as_ref(),
            weights: self.weights.as_deref(),
        }
    }
}

/// Matrices of as many columns, one below another.
pub(super) fn stacked<'a>(parts: impl IntoIterator<Item = &'a Mat<f64>> + Clone) -> Mat<f64> {
    let (rows, columns) =
        parts.clone().into_iter().fold((0, 0), |(n, _), a| (n + a.nrows(), a.ncols()));
    let (mut out, mut start) = (Mat::zeros(rows, columns), 0);
    for part in parts {
        out.as_mut().subrows_mut(start, part.nrows()).copy_from(part);
        start += part.nrows();
    }
    out
}

/// These rows of a matrix.
pub(super) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)])
}
