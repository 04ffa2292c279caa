//! The importance and effect of each column of a model.

mod dependence;
mod outputs;
mod slopes;

use crate::cost::value;
use crate::error::{Error, Result};
use crate::model::Model;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// The number of columns, the most important ones, whose partial dependence is computed.
const DEPENDENCES: usize = 6;
/// The largest number of rows in an average of partial dependence.
const DEPENDENCE_ROWS: usize = 100;
/// The largest number of slopes in memory.
const SLOPES: usize = 4_000_000;
/// The largest and the smallest number of rows in an average of slopes.
const ROWS: (usize, usize) = (500, 20);

/// The importance and effect of each column of a model, averaged over some rows. Standard errors
/// are those of the means over rows, for the given model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The number of rows in the averages.
    pub rows: usize,
    /// The names of the explained outputs: targets in their units, or the probabilities of classes
    /// (with two classes, only that of the second).
    pub outputs: Vec<String>,
    /// The columns, the most important first.
    pub columns: Vec<Influence>,
}

/// The importance and effect of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Influence {
    /// The name of the column. All features of the column count together.
    pub column: String,
    /// The share of the column in the diagonal of the learned metric AᵀA, if there is one.
    pub metric: Option<f64>,
    /// The share of the column in the mean squared slopes of f along the standardised features.
    pub slope: f64,
    /// For a column of numbers: the average derivative of each output, per unit of the column, over
    /// the rows in which the column has a value. Empty for a category.
    pub effects: Vec<Average>,
    /// The partial dependence, for the most important columns.
    pub dependence: Option<Dependence>,
}

/// A mean over rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Average {
    /// The mean.
    pub mean: f64,
    /// The standard error sd/√n; `None` for a single row.
    pub standard_error: Option<f64>,
}

/// Partial dependence (Friedman, 2001): the mean output if all rows had the same value in one
/// column and their own values in all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dependence {
    /// The number of rows in the averages.
    pub rows: usize,
    /// The values of the column.
    pub at: Grid,
    /// The mean of each output (outer) at each value (inner).
    pub means: Vec<Vec<Average>>,
}

/// The values of a column at which its [`Dependence`] is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grid {
    /// Quantiles from 2.5 to 97.5 %, or all values if there are few.
    Numbers(Vec<f64>),
    /// All levels.
    Levels(Vec<String>),
}

impl Influence {
    /// The share of the column in the diagonal of the learned metric, or in the squared slopes if
    /// there is no learned metric. [`Explanation::columns`] is sorted by this share.
    pub fn importance(&self) -> f64 {
        self.metric.unwrap_or(self.slope)
    }
}

impl Explanation {
    /// Whether all numbers are finite, as a model file requires.
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
    /// The importance and effect of each column, averaged over the rows of `table`, whose targets
    /// are not used. Partial dependence is averaged over the first 100 rows.
    ///
    /// # Cost
    /// With n rows, m centres and t targets: nm kernel values and 2nmdt flops for slopes, and up to
    /// 6·15·100·m kernel values for partial dependence. Memory: ndt numbers.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); [`Error::TooFewRows`] without rows;
    /// those of [`check_explains`](Self::check_explains).
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
        self.check_explains()?;
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

    /// Checks that the model can be [explained](Self::explain).
    ///
    /// # Errors
    /// [`Error::NoDerivatives`] for a kernel without derivatives, such as one of bits;
    /// [`Error::SparseFeatures`] for sparse rows.
    pub fn check_explains(&self) -> Result<()> {
        let kernel = self.regression().kernel();
        if !kernel.is_differentiable() {
            return Err(Error::NoDerivatives { kernel: kernel.describe() });
        }
        match self.columns().sparse() {
            Some((_, features)) => Err(Error::SparseFeatures { features }),
            None => Ok(()),
        }
    }

    /// Stores the [explanation](Self::explain) by these rows, if the model can be explained and the
    /// numbers of the explanation are finite.
    pub(crate) fn explained(&mut self, rows: &Table) -> Result<()> {
        if self.check_explains().is_ok() {
            self.explanation = Some(self.explain(rows)?).filter(Explanation::is_finite);
        }
        Ok(())
    }

    /// The number of rows over which [`explain`](Self::explain) can average with this many
    /// operations, between a minimum and a maximum.
    pub fn rows_to_explain(&self, work: f64) -> usize {
        let regression = self.regression();
        let (m, d) = (regression.centers().len() as f64, regression.centers().dim());
        let t = regression.coefficients().ncols();
        // every row has its slopes, and the first are moved along the dependences
        let (slopes, first) = (t as f64, DEPENDENCE_ROWS as f64);
        let moved = (DEPENDENCES.min(self.columns().names().len()) * dependence::POINTS) as f64;
        let evaluations = work / (m * value(d));
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
