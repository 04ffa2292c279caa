//! Prediction intervals and standard deviations of a model.

use super::Model;
use crate::classes::{Calibration, ClassErrors, Classes};
use crate::columns::{Note, column_of};
use crate::error::{Error, Result};
use crate::intervals::{Conformal, ResidualSizes, Uncertainty};
use crate::problem::WeightedTable;
use crate::target::{TargetScale, inverse_in_units};
use crate::validation::Coverage;
use nystrom::faer::Mat;
use nystrom_data::Table;

/// Prediction intervals for the n rows of a table and t targets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Intervals {
    /// The predictions, n × t.
    pub values: Mat<f64>,
    /// The lower ends of the intervals, n × t.
    pub lower: Mat<f64>,
    /// The upper ends of the intervals, n × t.
    pub upper: Mat<f64>,
    /// Notes about cells that the fitted table did not have.
    pub notes: Vec<Note>,
}

/// Standard deviations for the n rows of a table and t targets, in the units of the targets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Deviations {
    /// The standard deviations of the predicted function, n × t.
    pub of_function: Mat<f64>,
    /// The standard deviations of a new value, which includes noise, n × t.
    pub of_value: Mat<f64>,
}

impl Model {
    /// Intervals that contain the target of a new row with probability at least `level`, if new
    /// rows and fitted rows are exchangeable. The probability is an average over rows and fits.
    /// This is the guarantee of [`Calibrate::Share`](crate::Calibrate::Share); those of CV+ and
    /// jackknife+ are weaker (see [`Calibrate`](crate::Calibrate)).
    ///
    /// If the targets were fitted on a log or root scale, they have no negative values, and no
    /// interval begins below 0.
    ///
    /// # Errors
    /// [`Error::NotCalibrated`] if the model was fitted without
    /// [`Fit::calibrate`](crate::Fit::calibrate); [`Error::FewCalibrationRows`] if there are fewer
    /// than level/(1 − level) calibration rows; [`Error::Option`] unless 0 < level < 1; those of
    /// [`predict`](Self::predict).
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::{Calibrate, Fit};
    /// let a: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
    /// let y: Vec<f64> = a.iter().map(|a| a + f64::from(*a as u32 % 7)).collect();
    /// let columns = vec![Column::numbers("a", a), Column::numbers("y", y)];
    /// let table = Table::new("t", columns).unwrap();
    /// let fit = Fit { calibrate: Some(Calibrate::Share(0.3)), work: Some(1e8), ..Fit::default() };
    /// let model = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?.model;
    /// let new = Table::new("new", vec![Column::numbers("a", vec![50.5])]).unwrap();
    /// let intervals = model.intervals(&new, 0.9)?;
    /// assert!(intervals.lower[(0, 0)] < 54.0 && 54.0 < intervals.upper[(0, 0)]);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn intervals(&self, table: &Table, level: f64) -> Result<Intervals> {
        self.has_intervals(level)?;
        let (model, x, notes) = self.at(table)?;
        let points = x.points();
        let values = model.values(points)?;
        let [mut lower, upper] = match (&model.plus, &model.conformal) {
            (Some(plus), _) => {
                plus.ends(points, level)?.map(|end| inverse_in_units(end, &self.targets))
            }
            (None, Some(conformal)) => conformal.ends(&values, points, level)?,
            (None, None) => return Err(Error::NotCalibrated),
        };
        if self.target_scale() != TargetScale::Plain {
            let ends = lower.col_iter_mut().flat_map(|column| column.iter_mut());
            ends.for_each(|end| *end = end.max(0.0)); // no value is below
        }
        Ok(Intervals { values, lower, upper, notes })
    }

    /// Checks that the model has intervals of this level.
    ///
    /// # Errors
    /// Those errors of [`intervals`](Self::intervals) that do not depend on the rows of a table.
    pub fn has_intervals(&self, level: f64) -> Result<()> {
        match (&self.plus, &self.conformal) {
            (Some(plus), _) => plus.ranks(level).map(drop),
            (None, Some(conformal)) => conformal.quantiles(level).map(drop),
            (None, None) => Err(Error::NotCalibrated),
        }
    }

    /// Standard deviations for the rows of a table, of the Gaussian process whose posterior mean is
    /// the model ([`Posterior`]). Unlike [`intervals`](Self::intervals), they are valid only if the
    /// noise has the same variance everywhere and the kernel is the covariance of the function.
    ///
    /// [`Posterior`]: nystrom::krr::Posterior
    ///
    /// # Cost
    /// m kernel values and m² flops for each row, m ≤ 1000.
    ///
    /// # Errors
    /// [`Error::NoDeviations`] if the model was fitted without
    /// [`Fit::deviations`](crate::Fit::deviations); those of [`predict`](Self::predict).
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::Fit;
    /// let a: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100) / 25.0).collect();
    /// let y: Vec<f64> = a.iter().map(|a| a.sin()).collect();
    /// let columns = vec![Column::numbers("a", a), Column::numbers("y", y)];
    /// let table = Table::new("t", columns).unwrap();
    /// let fit = Fit { deviations: true, work: Some(1e8), ..Fit::default() };
    /// let model = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?.model;
    /// let new = Table::new("new", vec![Column::numbers("a", vec![2.0, 40.0])]).unwrap();
    /// let found = model.deviations(&new)?.of_function;
    /// assert!(found[(0, 0)] < 0.1 * found[(1, 0)]); // far from the data it knows nothing
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn deviations(&self, table: &Table) -> Result<Deviations> {
        self.uncertainty()?;
        let (model, x, _) = self.at(table)?;
        let [of_function, of_value] = model.uncertainty()?.at(x.points())?;
        Ok(Deviations { of_function, of_value })
    }

    /// The variances from which [`deviations`](Self::deviations) computes standard deviations.
    ///
    /// # Errors
    /// [`Error::NoDeviations`] if the model was fitted without
    /// [`Fit::deviations`](crate::Fit::deviations).
    pub fn uncertainty(&self) -> Result<&Uncertainty> {
        self.uncertainty.as_ref().ok_or(Error::NoDeviations)
    }

    /// Stores the scores of rows on which no choice depends, and returns the coverage of one half
    /// of them by the other.
    pub(crate) fn calibrate(
        &mut self,
        sizes: ResidualSizes,
        table: &Table,
    ) -> Result<Vec<Coverage>> {
        let x = self.features_of(table)?;
        let points = x.points();
        let (f, s) = (self.values(points)?, sizes.at(points)?);
        let (mut scores, mut coverage) = (Vec::new(), Vec::new());
        for (j, target) in self.targets.iter().enumerate() {
            let y = table.numbers(target.name.as_str())?;
            let score = |i: usize| (y[i] - f[(i, j)]).abs() / s[(i, j)];
            let mut of_target: Vec<f64> = (0..y.len()).map(score).collect();
            coverage.push(Coverage::of(&target.name, &of_target));
            of_target.sort_by(f64::total_cmp);
            scores.push(of_target);
        }
        self.conformal = Some(Conformal { sizes, scores });
        Ok(coverage)
    }

    /// Calibrates the probabilities on rows on which no choice depends, and returns their errors
    /// there.
    pub(crate) fn calibrate_classes(&mut self, aside: &WeightedTable) -> Result<ClassErrors> {
        let (table, classes) = (&aside.table, self.tells_apart()?);
        let column = column_of(table, &classes.target)?;
        let truth = classes.of(column)?;
        let values = self.predict(table)?.values;
        let (weights, count) = (aside.weights.as_deref(), classes.names.len());
        let (calibration, errors) =
            Calibration::with_errors(values.as_ref(), &truth, weights, count);
        self.classes = self.classes.take().map(|classes| Classes { calibration, ..classes });
        Ok(errors)
    }
}
