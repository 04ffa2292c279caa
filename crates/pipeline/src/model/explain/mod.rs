//! Which columns a model reacts to, and how.

mod dependence;
mod outputs;
mod slopes;

use crate::error::{Error, Result};
use crate::model::Model;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// Columns whose partial dependence is computed: the most important ones.
const DEPENDENCES: usize = 6;
/// Rows over which a partial dependence is averaged at most.
const DEPENDENCE_ROWS: usize = 100;
/// Slopes that are held at once at most.
const SLOPES: usize = 4_000_000;
/// Rows over which slopes are averaged at most, and at least.
const ROWS: (usize, usize) = (500, 20);

/// Which columns a model reacts to, and how, on average over some rows. The model is taken as
/// given: standard errors are those of means over rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Rows over which is averaged.
    pub rows: usize,
    /// What is explained: targets in their units, or the probabilities of classes (of two that of
    /// the second).
    pub outputs: Vec<String>,
    /// The columns, the most important first.
    pub columns: Vec<Influence>,
}

/// What a model makes of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Influence {
    /// The column; the features that it became count together.
    pub column: String,
    /// Its share of the diagonal of the learned metric AᵀA, if one was learnt.
    pub metric: Option<f64>,
    /// Its share of the mean square of the slopes of f along the standardised features.
    pub slope: f64,
    /// Of numbers: for each output its mean change by one unit of the column, the average
    /// derivative. It is over rows in which the column has a value. Of texts: none.
    pub effects: Vec<Average>,
    /// Of the most important columns.
    pub dependence: Option<Dependence>,
}

/// A mean over rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Average {
    /// The mean.
    pub mean: f64,
    /// sd/√n; none of a single row.
    pub standard_error: Option<f64>,
}

/// Partial dependence (Friedman, 2001): the mean output if all rows had the same value in a column,
/// and their own in the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dependence {
    /// Rows over which is averaged.
    pub rows: usize,
    /// The values.
    pub at: Grid,
    /// For each output its mean at each of the values.
    pub means: Vec<Vec<Average>>,
}

/// The values of a column at which its [`Dependence`] is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grid {
    /// Quantiles from 2.5 to 97.5 %, or all values if they are few.
    Numbers(Vec<f64>),
    /// All levels.
    Levels(Vec<String>),
}

impl Influence {
    /// Its share of the learned metric's diagonal, or of squared slopes if no metric was learnt;
    /// columns are in the order of this.
    pub fn importance(&self) -> f64 {
        self.metric.unwrap_or(self.slope)
    }
}

impl Explanation {
    /// Whether all its numbers are finite, as they have to be in a file.
    pub fn is_finite(&self) -> bool {
        let average =
            |a: &Average| a.mean.is_finite() && a.standard_error.is_none_or(f64::is_finite);
        self.columns.iter().all(|column| {
            column.metric.is_none_or(f64::is_finite)
                && column.slope.is_finite()
                && column.effects.iter().all(average)
                && column.dependence.iter().flat_map(|d| d.means.iter().flatten()).all(average)
        })
    }
}

impl Model {
    /// Which columns it reacts to, and how, on average over the rows of `table`; targets are not
    /// looked at. Partial dependence is averaged over the first 100 rows.
    ///
    /// # Cost
    /// With n rows and m centres nm kernel values and 2nmdt flops for slopes; up to 6·15·100·m
    /// kernel values for partial dependence. ndt numbers of memory.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); [`Error::TooFewRows`] without rows.
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::Fit;
    /// let a: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100) / 8.0).collect();
    /// let b: Vec<f64> = (0..100).map(|i| f64::from(i * 61 % 101) / 8.0).collect();
    /// let y = a.iter().zip(&b).map(|(a, b)| 3.0 * a + 0.1 * b).collect();
    /// let columns = [("a", a), ("b", b), ("y", y)].map(|(name, v)| Column::numbers(name, v));
    /// let table = Table::new("t", columns.into()).unwrap();
    /// let fit = Fit { work: Some(1e8), ..Fit::default() };
    /// let model = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?.model;
    /// let explanation = model.explain(&table)?;
    /// assert_eq!(explanation.columns[0].column, "a");
    /// assert!((explanation.columns[0].effects[0].mean - 3.0).abs() < 0.3);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn explain(&self, table: &Table) -> Result<Explanation> {
        if table.rows() == 0 {
            return Err(Error::TooFewRows { rows: 0 });
        }
        let x = self.columns().apply(table)?.x;
        let mut columns = slopes::influences(self, table, x.as_ref())?;
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|&a, &b| columns[b].importance().total_cmp(&columns[a].importance()));
        let some = x.as_ref().subrows(0, x.nrows().min(DEPENDENCE_ROWS));
        for &column in order.iter().take(DEPENDENCES) {
            columns[column].dependence = Some(dependence::of(self, table, some, column)?);
        }
        let columns = order.into_iter().map(|column| columns[column].clone()).collect();
        Ok(Explanation { rows: x.nrows(), outputs: self.output_names(), columns })
    }

    /// Keeps the [`explanation`](Self::explain) of these rows, if its numbers are finite.
    pub(crate) fn explained(&mut self, rows: &Table) -> Result<()> {
        self.explanation = Some(self.explain(rows)?).filter(Explanation::is_finite);
        Ok(())
    }

    /// So many rows are explained within this work, as far as they are not too few.
    pub fn rows_to_explain(&self, work: f64) -> usize {
        let regression = self.regression();
        let (m, d) = (regression.centers().len() as f64, regression.centers().dim());
        let t = regression.coefficients().ncols();
        // every row has its slopes, and the first are moved along the dependences
        let (slopes, first) = (t as f64, DEPENDENCE_ROWS as f64);
        let moved = (DEPENDENCES.min(self.columns().names().len()) * dependence::POINTS) as f64;
        let evaluations = work / (m * (20.0 + 2.0 * d as f64));
        let affordable = match evaluations - first * (moved + slopes) {
            left if left > 0.0 => first + left / slopes,
            _ => evaluations / (moved + slopes),
        };
        let most = ROWS.0.min(SLOPES / (d * t).max(1));
        (affordable.min(most as f64) as usize).max(ROWS.1)
    }

    /// f at features, n × t, in standard deviations of the targets.
    fn standardised(&self, x: Mat<f64>) -> Result<Mat<f64>> {
        let x = self.mapped(x);
        Ok(self.regression().predict(Points::from_rows(x.as_ref()))?)
    }
}

impl Average {
    fn of(values: &[f64]) -> Average {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let error = (squares / (n - 1.0) / n).sqrt();
        Average { mean, standard_error: (values.len() > 1).then_some(error) }
    }
}
