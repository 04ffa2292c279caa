//! Models that each leave out rows on which the search does not depend, for CV+ and jackknife+.

use super::Search;
use super::candidate::Candidate;
use super::finish::full_residual;
use super::solve::stacked;
use crate::error::{Error, Result};
use crate::examples::{Examples, landmark_path};
use crate::features::Features;
use crate::intervals::{Calibrate, Plus, Uncertainty, Variances, posterior};
use crate::kernel::AnyKernel;
use crate::model::Model;
use crate::report::{Iterations, Report};
use crate::split::permutation;
use crate::target::in_standard_units;
use nystrom::faer::Mat;
use nystrom::prelude::*;

/// The largest number of centres of jackknife+.
const CENTERS: usize = 500;
/// The largest number of coefficients of jackknife+: 256 MiB.
const MOST: usize = 1 << 25;

impl Search<'_> {
    /// Fits the model again to all rows, with the choices made without the rows set aside, and
    /// calibrates its intervals. Does nothing for [`Calibrate::Share`], whose rows stay set aside.
    pub(super) fn leave_out(
        &self,
        chosen: &Candidate,
        model: &mut Model,
        report: &mut Report,
    ) -> Result<()> {
        let how = self.fit.calibrate.filter(|how| !matches!(how, Calibrate::Share(_)));
        let Some(how) = how else { return Ok(()) };
        let data = self.fitted(chosen, model)?;
        let rows = data.y.nrows();
        let (regression, plus) = match how {
            Calibrate::Cross(parts) => self.cross(model, &data, parts, report)?,
            _ => self.jackknife(model, &data)?,
        };
        report.rows = rows;
        model.made.holds_all_rows &= regression.centers().len() == rows;
        if how == Calibrate::LeaveOneOut {
            model.made.centers = format!("{} rows at random", regression.centers().len());
        }
        model.made.lambda = regression.report().ridge / rows as f64;
        (model.regression, model.plus) = (regression, Some(plus));
        Ok(())
    }

    /// All rows to which the finished model is fitted; the rows of the search come first.
    fn fitted(&self, chosen: &Candidate, model: &Model) -> Result<Examples> {
        let rows: Vec<usize> = (0..self.n()).collect();
        let (x, y) = (self.rows(chosen, None, &rows), self.problem.y.clone());
        let mut data = Examples { x, y, weights: self.problem.weights.clone() };
        if let (Some(aside), Some(Calibrate::Cross(_) | Calibrate::LeaveOneOut)) =
            (&self.problem.aside, self.fit.calibrate)
        {
            let x = model.features_of(&aside.table)?;
            data.x = Features::stacked(&data.x, &x)?;
            data.y = stacked([&data.y, &in_standard_units(&aside.table, &model.targets)?]);
            data.weights = data.weights.zip(aside.weights.clone()).map(|(a, b)| [a, b].concat());
        }
        Ok(data)
    }

    /// The standard deviations of a finished model, from the variances of function and noise.
    pub(super) fn uncertainty(
        &self,
        chosen: &Candidate,
        model: &Model,
        variances: Variances,
    ) -> Result<Uncertainty> {
        let data = self.fitted(chosen, model)?;
        let n = data.y.nrows();
        let order = permutation(n, &mut self.stream(5))?;
        let (kernel, mu) = (model.regression.kernel(), model.regression.report().ridge);
        Ok(Uncertainty { posterior: posterior(kernel, data.problem(), &order, mu)?, variances })
    }

    /// CV+: one model without each part of the rows set aside, and one with all rows.
    fn cross(
        &self,
        model: &Model,
        data: &Examples,
        parts: usize,
        report: &mut Report,
    ) -> Result<Fits> {
        let residual = full_residual(&report.chosen);
        let ((n, t), seen) = (data.y.shape(), self.n());
        let part = |row: usize| (row >= seen).then(|| (row - seen) % parts);
        let all: Vec<usize> = (0..n).collect();
        let (whole, iterations) = self.with_rows(model, data, &all, residual)?;
        report.iterations = iterations;
        let m = whole.centers().len();
        let mut theta = Mat::zeros(m, parts * t);
        let mut residuals = vec![Vec::new(); t];
        for k in 0..parts {
            let (out, rows): (Vec<usize>, Vec<usize>) =
                all.iter().partition(|&&row| part(row) == Some(k));
            let (fit, iterations) = self.with_rows(model, data, &rows, residual)?;
            if let Some(short) = iterations.filter(|iterations| !iterations.converged) {
                report.iterations = Some(short);
            }
            let coefficients = fit.coefficients();
            for (i, &row) in rows.iter().enumerate().take(coefficients.nrows()) {
                let center = if m == n { row } else { i };
                (0..t).for_each(|j| theta[(center, k * t + j)] = coefficients[(i, j)]);
            }
            let f = fit.predict(data.x.select(&out).points())?;
            for (j, residuals) in residuals.iter_mut().enumerate() {
                let residual = |(i, &row): (usize, &usize)| (data.y[(row, j)] - f[(i, j)]).abs();
                residuals.push(out.iter().enumerate().map(residual).collect());
            }
        }
        let plus = Plus::of(&whole, theta, residuals)?;
        Ok((whole, plus))
    }

    /// The chosen fit to these rows: with all of them as centres, or with its landmarks.
    fn with_rows(
        &self,
        model: &Model,
        data: &Examples,
        rows: &[usize],
        residual: f64,
    ) -> Result<(Regression, Option<Iterations>)> {
        let (kernel, mu) = (model.regression.kernel().clone(), model.regression.report().ridge);
        let data = data.select(rows);
        let problem = data.problem();
        if model.made.holds_all_rows {
            return self.full(&kernel, problem, (mu, residual), None);
        }
        let krr = NystromKrr::new(kernel, Ridge::Absolute(mu));
        Ok((krr.fit(problem, model.regression.centers())?, None))
    }

    /// Jackknife+: all models that leave one of the rows set aside out, in closed form.
    fn jackknife(&self, model: &Model, data: &Examples) -> Result<Fits> {
        let ((n, t), seen) = (data.y.shape(), self.n());
        let (m, unseen) = (CENTERS.min(seen), n - seen);
        if m * unseen * t > MOST {
            let problem = format!(
                "loo would store {unseen} × {m} coefficients, more than 256 MiB; use cv:10"
            );
            return Err(Error::Option { option: "calibrate", problem });
        }
        // the ridge is chosen from the rows of the search
        let kernel = model.regression.kernel();
        let of_seen = data.select(&(0..seen).collect::<Vec<_>>());
        let landmarks = Landmarks::new(seen, self.everything[..m].to_vec())?;
        let path = landmark_path(kernel.clone(), of_seen.problem(), &landmarks)?;
        let ridge = Ridge::Absolute(path.best_by_loo().mu);
        let landmarks = Landmarks::new(n, self.everything[..m].to_vec())?;
        let problem = data.problem();
        let krr = NystromKrr::without_ridge(kernel.clone());
        let path = krr.path(problem, &landmarks, &[ridge])?;
        let (f, residuals) = (path.model_at(ridge)?, path.leave_one_out(ridge, problem)?);
        let g = path.responses(ridge, data.points().slice(seen..n))?;
        let r = |i: usize, j: usize| residuals[(seen + i, j)];
        let w = |i: usize| data.weights.as_ref().map_or(1.0, |w| w[seen + i]);
        // f₋ᵢ = f − wᵢrᵢgᵢ, where gᵢ is what one more unit of yᵢ changes for a weight of 1
        let entry = |row, column: usize| {
            let (i, j) = (column / t, column % t);
            f.coefficients()[(row, j)] - w(i) * r(i, j) * g[(row, i)]
        };
        let theta = Mat::from_fn(m, unseen * t, entry);
        let residuals =
            (0..t).map(|j| (0..unseen).map(|i| vec![r(i, j).abs()]).collect()).collect();
        let plus = Plus::of(&f, theta, residuals)?;
        Ok((f, plus))
    }
}

type Regression = KrrModel<AnyKernel, f64>;
/// The model of all rows, and those that leave some out.
type Fits = (Regression, Plus);
