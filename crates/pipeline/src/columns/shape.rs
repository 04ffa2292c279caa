//! Choices about all columns of a table, between which a search compares.

use serde::{Deserialize, Serialize};

/// Choices about the columns of a table; [`PLAIN`](Self::PLAIN) makes none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// Skewed columns are put on a logarithmic scale in both directions from their median.
    pub log: bool,
    /// Texts with too many levels for a feature each become the mean of the target in their level.
    pub level_means: bool,
    /// Dates are days alone, without their place in year, week and day.
    pub days_only: bool,
    /// Columns of whole numbers that number the rows are features.
    pub index: bool,
}

impl Shape {
    /// No choice.
    pub const PLAIN: Shape =
        Shape { log: false, level_means: false, days_only: false, index: false };

    /// This shape with one more choice, for each that is not made yet.
    pub(crate) fn next(self) -> [Shape; 4] {
        [
            Shape { index: true, ..self },
            Shape { log: true, ..self },
            Shape { level_means: true, ..self },
            Shape { days_only: true, ..self },
        ]
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let made = [
            (self.log, "logarithmic where skewed"),
            (self.level_means, "many levels as means of the target"),
            (self.days_only, "dates as days alone"),
            (self.index, "row numbers as a feature"),
        ];
        let words: Vec<&str> = made.iter().filter(|(made, _)| *made).map(|(_, w)| *w).collect();
        f.write_str(if words.is_empty() { "as they are" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}
