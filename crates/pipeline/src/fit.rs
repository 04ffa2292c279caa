//! The search for the best fit for a table.

use crate::classes::{ClassWeights, Task};
use crate::columns::ColumnOptions;
use crate::device::SharedDevice;
use crate::effort::Effort;
use crate::error::{Error, Result};
use crate::intervals::Calibrate;
use crate::loss::TargetLoss;
use crate::split::Split;
use crate::target::TargetScale;

/// Finds the best fit for a table: kernel family, length scale, linear map, λ, centres, and the
/// treatment of the columns.
///
/// Candidates are compared by their errors on validation rows, by successive halving: many
/// candidates on few rows, then the best of them on more rows. Few rows are cut into folds several
/// times, since a single cut decides much. The winner is fitted to all rows, with as many centres
/// as work and memory allow. A candidate that is hardly better than a simpler one does not replace
/// it. The plain default (Gaussian kernel with the median distance as length scale, 500 landmarks,
/// λ by leave-one-out) is always among the candidates.
///
/// Equal rows are merged into one row, whose weight is the sum of their weights (1 each without
/// weights). So no validation or calibration row equals a training row, and errors and intervals
/// are those for new rows.
///
/// Classes are fitted one-versus-rest, as several targets ±1, and compared by their mean square
/// error. Of more than eight targets, four random combinations with signs ±1 stand for all while
/// candidates are compared; the finalists are fitted to the targets. Probabilities are calibrated
/// on the predictions of the winner for validation rows ([`Calibration`]).
///
/// Of sparse rows ([`SparseColumn`](nystrom_data::SparseColumn)), which are the only features,
/// candidates are linear functions and Gaussian and Laplacian kernels, without a metric.
///
/// [`Calibration`]: crate::Calibration
///
/// # Cost
/// At most [`Effort::work`] operations, by the counts in the documentation of the methods, unless
/// some 80 candidates on 100 rows, and a fit with 500 landmarks, take more. Memory beside the
/// table: 8nd bytes for each [`Shape`] of the columns that is tried (12 bytes for each number of
/// sparse rows, in each fold), and what [`memory`](Self::memory) allows.
///
/// [`Shape`]: crate::Shape
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
    /// The limit of the work.
    pub effort: Effort,
    /// The limit of the work in operations, instead of that of `effort`.
    pub work: Option<f64>,
    /// The limit of the memory beside the data, in bytes. Kernel values that fit are stored instead
    /// of evaluated again. `None`: no limit, and no kernel values are stored.
    pub memory: Option<u64>,
    /// The columns that are features, and how they become numbers.
    pub columns: ColumnOptions,
    /// The name of a column with the weight of each row.
    pub weights: Option<String>,
    /// Whether targets are numbers or classes.
    pub task: Task,
    /// The weights of the classes, if there are classes.
    pub class_weights: ClassWeights,
    /// How [`intervals`](crate::Model::intervals) are calibrated; `None`: the model has none.
    pub calibrate: Option<Calibrate>,
    /// Whether the model stores what [`deviations`](crate::Model::deviations) needs.
    pub deviations: bool,
    /// How rows are set aside for validation.
    pub split: Split,
    /// The scale on which targets are fitted; `None`: validation chooses, for numbers that are not
    /// negative, between the targets and, if they are less skewed, their logarithms and square
    /// roots. Predictions are means in the targets' own units on any scale. With
    /// [`deviations`](Self::deviations), and in streams, targets are fitted as they are.
    pub target_scale: Option<TargetScale>,
    /// What the final fit to numbers minimises, and so what it predicts. The search compares
    /// candidates by squares; another loss is then fitted with the kernel that it found, with
    /// landmarks.
    pub loss: TargetLoss,
    /// Where fits with all rows as centres are computed; `None`: on the CPU. Work is counted as on
    /// the CPU. Other fits, and those of at most 600 rows, are computed on the CPU in any case. If
    /// the device fails, the CPU computes the fit, and [`notes`](crate::Report::notes) says so.
    pub device: Option<SharedDevice>,
}

impl Fit {
    /// The options of the command line that repeat a search with this limit of work and memory and
    /// this seed, as recorded in models.
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

    /// The number of operations allowed; an error unless it is positive.
    pub(crate) fn checked_work(&self) -> Result<f64> {
        let work = self.work.unwrap_or(self.effort.work());
        if !(work > 0.0 && work.is_finite()) {
            let problem = format!("{work} is no number of operations; it must be positive");
            return Err(Error::Option { option: "work", problem });
        }
        Ok(work)
    }
}
