//! The best fit for a table.

use crate::classes::{ClassWeights, Task};
use crate::columns::ColumnOptions;
use crate::effort::Effort;
use crate::error::{Error, Result};
use crate::intervals::Calibrate;
use crate::split::Split;

/// Finds the best fit for a table: family of kernels, length scale, linear map, λ, centres, and how
/// skewed columns are treated.
///
/// Candidates are compared on validation rows, by successive halving: many on few rows, the best of
/// them on more. The winner is fitted to all rows, with as many centres as work and memory allow. A
/// candidate that is hardly better than a simpler one does not replace it. The plain default
/// (Gaussian kernel at the median distance, 500 landmarks, λ by leave-one-out) is always among
/// them.
///
/// Equal rows become one row, with the sum of their weights (1 without weights) as weight. So
/// errors on validation rows, and intervals, are those of rows that no training row equals.
///
/// Classes are fitted one-versus-rest, as several targets ±1, and compared by their mean square.
/// The values that the winner gave on validation rows make its probabilities ([`Calibration`]).
///
/// [`Calibration`]: crate::Calibration
///
/// # Cost
/// At most [`Effort::work`] operations by the counts of the methods used, unless the table is so
/// small that the smallest trial takes more. Beside the table 8nd bytes for each shape of the
/// columns.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Effort, Fit};
/// let a: Vec<f64> = (0..80).map(|i| f64::from(i % 9)).collect();
/// let b: Vec<f64> = (0..80).map(|i| f64::from(i * i % 7)).collect();
/// let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
/// let columns = vec![Column::numbers("a", a), Column::numbers("b", b), Column::numbers("y", y)];
/// let table = Table::new("t", columns).unwrap();
/// let fit = Fit { effort: Effort::Quick, ..Fit::default() };
/// let fitted = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?;
/// assert!(fitted.report.chosen.error < 0.1); // in standard deviations of y
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Fit {
    /// How much work it may do.
    pub effort: Effort,
    /// Operations, in the place of the effort's.
    pub work: Option<f64>,
    /// Bytes it may take beside the data; what they hold is kept rather than computed again.
    /// `None`: no kernel values are kept.
    pub memory: Option<u64>,
    /// Which columns are features, and how they become numbers.
    pub columns: ColumnOptions,
    /// A column with the weight of each row.
    pub weights: Option<String>,
    /// Whether targets are numbers or classes.
    pub task: Task,
    /// How much each class counts, if there are classes.
    pub class_weights: ClassWeights,
    /// How [`intervals`](crate::Model::intervals) are made, if they are wanted.
    pub calibrate: Option<Calibrate>,
    /// Whether [`deviations`](crate::Model::deviations) are wanted.
    pub deviations: bool,
    /// How rows are set aside for validation.
    pub split: Split,
}

impl Fit {
    /// The options of the command line that repeat this work with this seed, as models record it.
    ///
    /// ```
    /// use nystrom_pipeline::Fit;
    /// let fit = Fit { memory: Some(1 << 20), ..Fit::default() };
    /// assert_eq!(fit.settings(7), "--seed 7 --effort default --memory 1048576");
    /// ```
    pub fn settings(&self, seed: u64) -> String {
        let work = match self.work {
            Some(work) => format!("--work {work:e}"),
            None => format!("--effort {}", self.effort.name()),
        };
        let memory = self.memory.map_or_else(String::new, |bytes| format!(" --memory {bytes}"));
        format!("--seed {seed} {work}{memory}")
    }

    /// The operations that are allowed.
    pub(crate) fn checked_work(&self) -> Result<f64> {
        let work = self.work.unwrap_or(self.effort.work());
        if !(work > 0.0 && work.is_finite()) {
            let problem = format!("{work} is no amount of work; it must be positive");
            return Err(Error::Option { option: "work", problem });
        }
        Ok(work)
    }
}
