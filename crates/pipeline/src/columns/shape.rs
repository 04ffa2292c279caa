//! Choices about all columns of a table, which a search compares.

use serde::{Deserialize, Serialize};

/// Choices about the columns of a table; in [`PLAIN`](Self::PLAIN) all are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shape {
    /// Skewed columns are put on a logarithmic scale, in both directions from their median.
    pub log: bool,
    /// Numbers become their ranks among the fitted values.
    pub ranks: bool,
    /// Numbers that occur in many rows are categories as well.
    pub levels: bool,
    /// Categories with too many levels for a feature each have the mean of the target in their
    /// level as a feature too.
    pub level_means: bool,
    /// Dates become the number of their day only, without their position in year, week and day.
    pub days_only: bool,
    /// Columns of whole numbers that number the rows are features.
    pub index: bool,
}

impl Shape {
    /// All choices off.
    pub const PLAIN: Shape = Shape {
        log: false,
        ranks: false,
        levels: false,
        level_means: false,
        days_only: false,
        index: false,
    };

    /// This shape with one more choice switched on, for each choice.
    pub(crate) fn next(self) -> [Shape; 6] {
        [
            Shape { index: true, ..self },
            Shape { log: true, ..self },
            Shape { log: false, ranks: true, ..self },
            Shape { levels: true, ..self },
            Shape { level_means: true, ..self },
            Shape { days_only: true, ..self },
        ]
    }
}

/// The choices, each with its word in files and its description.
type Choice = (&'static str, &'static str, fn(&mut Shape) -> &mut bool);
const CHOICES: [Choice; 6] = [
    ("log", "logarithmic where skewed", |shape| &mut shape.log),
    ("ranks", "numbers as ranks", |shape| &mut shape.ranks),
    ("levels", "frequent numbers as categories too", |shape| &mut shape.levels),
    ("level-means", "means of the target by level", |shape| &mut shape.level_means),
    ("days-only", "dates as days alone", |shape| &mut shape.days_only),
    ("index", "row numbers as a feature", |shape| &mut shape.index),
];

impl Shape {
    /// The words `of` of the choices that are on, joined by `mark`; `none` if all are off.
    fn joined(mut self, of: fn(&Choice) -> &'static str, mark: &str, none: &str) -> String {
        let made = CHOICES.iter().filter(|(.., choice)| *choice(&mut self));
        let words: Vec<&str> = made.map(of).collect();
        if words.is_empty() { none.to_owned() } else { words.join(mark) }
    }
}

/// The form in files: `plain`, or the choices with `+` between them.
impl From<Shape> for String {
    fn from(shape: Shape) -> String {
        shape.joined(|(word, ..)| *word, "+", "plain")
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Shape, String> {
        let mut shape = Shape::PLAIN;
        for word in text.split('+').filter(|word| *word != "plain") {
            let choice = CHOICES.iter().find(|(other, ..)| *other == word);
            let (.., choice) = choice.ok_or_else(|| format!("{word:?} is no shape of columns"))?;
            *choice(&mut shape) = true;
        }
        Ok(shape)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.joined(|(_, words, _)| *words, ", ", "as they are"))
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
