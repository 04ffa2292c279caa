//! Targets of classes: labels become targets ±1, and predicted values become probabilities.

mod calibration;
mod labels;
mod names;
mod score;
mod weights;

pub use calibration::Calibration;
pub(crate) use labels::{Labels, as_numbers, is_classes};
pub(crate) use names::{MOST_CLASSES, key};
pub use score::ClassErrors;
pub use weights::ClassWeights;

use crate::counts::{self, TextCounts};
use crate::error::Result;
use nystrom::faer::{Mat, MatRef};
use nystrom_data::Column;
use serde::{Deserialize, Serialize};

/// Whether a target is treated as numbers or as classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Task {
    /// Classes if the target is text, or has 2 to 10 different values, all whole numbers, with ten
    /// rows each on average; numbers otherwise. Texts that spell a number in every row count as
    /// numbers.
    #[default]
    Auto,
    /// Numbers.
    Regression,
    /// Classes, even if they look like numbers.
    Classification,
}

/// The classes of a model, and the calibration that turns its values into probabilities.
///
/// The fit is one-versus-rest: f_k is fitted to +1 in the rows of class k and −1 in all other rows,
/// for all k at once. With two classes, only the second has a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// The name of the target column.
    pub target: String,
    /// The names of the classes as in the table, in increasing order; numbers by value.
    pub names: Vec<String>,
    /// Whether all names are numbers.
    pub numbers: bool,
    /// The map from values f to probabilities.
    pub calibration: Calibration,
}

/// The number of rows of each value of a target, for up to ten spellings of each class.
pub(crate) type ClassCounts = TextCounts<1000>;

impl Classes {
    /// The likeliest class in each row of `probabilities` (n × K), as an index into `names`.
    pub fn likeliest(probabilities: MatRef<'_, f64>) -> Vec<usize> {
        let class = |i: usize| {
            let larger = |best: usize, k: usize| {
                if probabilities[(i, k)] > probabilities[(i, best)] { k } else { best }
            };
            (1..probabilities.ncols()).fold(0, larger)
        };
        (0..probabilities.nrows()).map(class).collect()
    }

    /// The index of a class in `names`: the same text, else an equal number if all classes are
    /// numbers, else a text that differs only in case or blanks.
    ///
    /// # Errors
    /// [`Error::UnknownClass`](crate::Error::UnknownClass) if no fitted row had this class.
    pub fn number(&self, name: &str) -> Result<usize> {
        let exact = self.names.iter().position(|other| other == name);
        let alike = || {
            let key = names::key(name, self.numbers);
            self.names.iter().position(|other| names::key(other, self.numbers) == key)
        };
        exact.or_else(alike).ok_or_else(|| labels::unknown(&self.target, name))
    }

    /// The class of each row of a column.
    pub(crate) fn of(&self, column: &Column) -> Result<Vec<usize>> {
        labels::rows_of(column, |name| self.number(name))
    }

    /// The name of the class with this number.
    pub fn name_of(value: f64) -> String {
        counts::name_of(value)
    }

    /// The probabilities, n × K, of values f, n × t.
    pub(crate) fn probabilities(&self, values: MatRef<'_, f64>) -> Mat<f64> {
        self.calibration.probabilities(values)
    }

    /// The number of functions that distinguish this many classes.
    pub(crate) fn functions(classes: usize) -> usize {
        if classes == 2 { 1 } else { classes }
    }

    /// A description of what is wrong, if no fit makes these classes.
    pub(crate) fn problem(&self, functions: usize) -> Option<String> {
        let count = self.names.len();
        if count < 2 || functions != Classes::functions(count) {
            return Some(format!("it has {functions} functions for {count} classes"));
        }
        let Calibration { slope, offsets } = &self.calibration;
        let sound = offsets.len() == count && offsets.iter().all(|b| b.is_finite());
        (!sound || !slope.is_finite()).then(|| "its probabilities are not calibrated".into())
    }
}
