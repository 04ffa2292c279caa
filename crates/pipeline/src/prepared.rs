//! A table as the rows of one regression, for callers that choose kernel and ridge themselves.

use crate::classes::Task;
use crate::columns::{Columns, Shape};
use crate::error::Result;
use crate::features::Features;
use crate::fit::Fit;
use crate::problem::TableProblem;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::Table;
use std::collections::HashMap;

/// The features, targets and weights of the rows of a table, as a regression takes them.
///
/// Columns become features as in a [`Fit`]. Equal rows are merged into one row, whose weight is
/// their number.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// How the columns became features.
    pub columns: Columns,
    /// The names of all columns of the table, in its order.
    pub layout: Vec<String>,
    /// The features.
    pub x: Features,
    /// The targets, n × t, in their own units.
    pub y: Mat<f64>,
    /// The weights of the rows, with mean 1; `None` if rows have no weights and all rows differ.
    pub weights: Option<Vec<f64>>,
    /// Notes for the user about decisions on the table.
    pub notes: Vec<String>,
}

impl Fit {
    /// The features, targets and weights of the rows of `table` that a regression can use.
    ///
    /// # Cost
    /// O(n log n) operations for each column; 8nd bytes, or 12 for each stored number of sparse
    /// rows.
    ///
    /// # Errors
    /// Those of [`Columns::fit`] and [`Fit::table`]; [`Error::Values`](crate::Error::Values) for a
    /// target that is not a number.
    ///
    /// ```
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::Fit;
    /// let a = Column::numbers("a", vec![1.0, 2.0, 4.0, 7.0]);
    /// let y = Column::numbers("y", vec![0.0, 1.0, f64::NAN, 5.0]);
    /// let prepared = Fit::default().prepare(&Table::new("t", vec![a, y]).unwrap(), ["y"])?;
    /// assert_eq!((prepared.x.points().len(), prepared.y[(2, 0)]), (3, 5.0));
    /// assert!(prepared.notes[0].contains("miss the target"));
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn prepare<S: Into<String>>(
        &self,
        table: &Table,
        targets: impl IntoIterator<Item = S>,
    ) -> Result<Prepared> {
        let targets: Vec<String> = targets.into_iter().map(Into::into).collect();
        let fit = Fit { task: Task::Regression, ..self.clone() };
        // the generator deals out folds, which nobody looks at
        let alone = (None, &HashMap::new());
        let problem =
            TableProblem::new(&fit, table, &targets, alone, &mut Pcg64::seed_from_u64(0))?;
        let (columns, x) = problem.features(&fit.columns, Shape::PLAIN, None)?;
        let table = &problem.table;
        let of_targets = targets.iter().map(|name| table.numbers(name.as_str()));
        let of_targets = of_targets.collect::<nystrom_data::Result<Vec<&[f64]>>>()?;
        Ok(Prepared {
            columns,
            layout: problem.table.names().map(str::to_owned).collect(),
            x,
            y: Mat::from_fn(table.rows(), targets.len(), |i, j| of_targets[j][i]),
            weights: problem.weights,
            notes: problem.notes,
        })
    }
}
