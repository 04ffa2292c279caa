//! Choices about all columns of a table, which a search compares.

use serde::{Deserialize, Serialize};

/// Choices about the columns of a table; in [`PLAIN`](Self::PLAIN) all are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shape {
    /// Skewed columns are put on a logarithmic scale, in both directions from their median.
    pub log: bool,
    /// Categories with too many levels for a feature each become the mean of the target in their
    /// level.
    pub level_means: bool,
    /// Dates become the number of their day only, without their position in year, week and day.
    pub days_only: bool,
    /// Columns of whole numbers that number the rows are features.
    pub index: bool,
}

impl Shape {
    /// All choices off.
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

/// In files: `plain`, or the choices with `+` between them.
impl From<Shape> for String {
    fn from(shape: Shape) -> String {
        let made = shape.named().into_iter().filter(|(made, _)| *made);
        let words: Vec<&str> = made.map(|(_, word)| word).collect();
        if words.is_empty() { "plain".to_owned() } else { words.join("+") }
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Shape, String> {
        let mut shape = Shape::PLAIN;
        for word in text.split('+').filter(|word| *word != "plain") {
            match word {
                "log" => shape.log = true,
                "level-means" => shape.level_means = true,
                "days-only" => shape.days_only = true,
                "index" => shape.index = true,
                _ => return Err(format!("{word:?} is no shape of columns")),
            }
        }
        Ok(shape)
    }
}

impl Shape {
    fn named(self) -> [(bool, &'static str); 4] {
        [
            (self.log, "log"),
            (self.level_means, "level-means"),
            (self.days_only, "days-only"),
            (self.index, "index"),
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

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_have_words() {
        for shape in Shape::PLAIN.next().into_iter().chain([Shape::PLAIN]) {
            let both = Shape { log: true, ..shape };
            for shape in [shape, both] {
                assert_eq!(Shape::try_from(String::from(shape)), Ok(shape));
            }
        }
        assert!(Shape::try_from("bent".to_owned()).is_err());
    }
}
