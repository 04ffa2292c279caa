//! Turns the columns of a table into numerical features, the same way for every other table.
//!
//! `decide.rs` decides how the cells of a column are read and `reading.rs` reads them (`dress.rs`:
//! numbers, `time.rs`: dates). `fit.rs` fits the features, `apply.rs` computes them for any table.

mod apply;
mod bits;
mod cell;
mod clock;
mod curve;
mod decide;
mod dress;
mod elapsed;
mod fit;
mod forms;
mod means;
mod options;
mod reading;
mod shape;
mod sparse;
mod sums;
mod survey;
mod time;
mod treat;

pub use apply::{Applied, Note};
pub use curve::Curve;
pub(crate) use curve::skewness;
pub(crate) use fit::Training;
pub(crate) use means::{Known, LevelSums};
pub use options::{ColumnOptions, Missing};
pub(crate) use options::{TAKEN, column_of, position};
pub(crate) use reading::{Kind, Marks, Reading};
pub use shape::Shape;
pub(crate) use sparse::{SparseFeatures, refuse_sparse};
pub(crate) use sums::{ColumnSums, MOST_LEVELS, TargetSums};
pub(crate) use survey::{Looked, LookedColumn, ordered};

use crate::error::{Error, Result};
use bits::BitFeatures;
use means::LevelMeans;
use nystrom_data::Table;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
pub(crate) use treat::{LevelFeatures, MeanFeatures, NumberFeatures};

/// How the columns of a table become d features: fitted to one table, applied to any table.
///
/// The cells of a column determine its kind: numbers in any notation (`1,234.5`, `$5`, `12 %`,
/// `4:05:00`), dates and times, categories, or numbers and categories side by side.
///
/// * A number is a feature, possibly transformed by a [`Curve`]. A missing number becomes the
///   median, and one more feature marks the rows where it was missing.
/// * A date becomes the number of its day and, if the column covers them, its position in the year,
///   week and day (a sine and a cosine each). With two to four columns of dates, so do the times
///   between the dates of a row.
/// * A category becomes a feature of 0 and 1 for every frequent level and one for all rare levels
///   together, and possibly the mean of the target in its level. For a level that the table did not
///   have, the features have their mean over its rows.
/// * Features are standardised: numbers one by one, the levels of one category together, so that a
///   category has the same variance as a number.
/// * A column of fingerprints ([`ColumnOptions::fingerprint`]) is the only one: its bits are packed
///   into numbers, 52 each, for the kernel [`Tanimoto`](nystrom::kernels::Tanimoto).
/// * So is a column of sparse rows ([`SparseColumn`](nystrom_data::SparseColumn)): its numbers are
///   the features, neither centred nor scaled, and n·d numbers are not made.
/// * Constant columns and identifiers carry no information about new rows and are left out
///   ([`Dropped`]).
///
/// # Cost
/// O(n log n) operations for each column to fit, O(n·d) to apply.
///
/// ```
/// use nystrom_data::{Column, Csv, Table};
/// use nystrom_pipeline::{ColumnOptions, Columns, Shape};
/// let text = "size,colour,one\n1,red,7\n2,blue,7\n,red,7\n4,red,7\n";
/// let table = Csv::new().missing([""]).text(["colour"]).read(text.as_bytes(), "t.csv").unwrap();
/// let columns = Columns::fit(&table, &ColumnOptions::default(), &[], Shape::PLAIN)?;
/// assert_eq!(columns.features(), ["size", "size is missing", "colour=blue", "colour=red"]);
/// assert_eq!(columns.dropped()[0].column, "one");
/// let new = "colour,size\ngreen,2\n";
/// let new = Csv::new().text(["colour"]).read(new.as_bytes(), "new.csv").unwrap();
/// let applied = columns.apply(&new)?;
/// assert_eq!((applied.x.nrows(), applied.x.ncols()), (1, 4));
/// assert!(applied.notes[0].to_string().contains("green"));
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    #[serde(deserialize_with = "sound")]
    pub(crate) columns: Vec<Treated>,
    pub(crate) dropped: Vec<Dropped>,
    /// Whether a negative feature is an error.
    #[serde(default)]
    pub(crate) counts: bool,
    #[serde(default)]
    pub(crate) marks: Marks,
    /// The readings of the targets that are numbers.
    #[serde(default)]
    pub(crate) targets: Vec<(String, Reading)>,
}

/// The columns in a file; an error for columns that no fit makes.
fn sound<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<Treated>, D::Error> {
    let columns = Vec::<Treated>::deserialize(file)?;
    match columns.iter().find_map(Treated::problem) {
        Some(problem) => Err(serde::de::Error::custom(problem)),
        None => Ok(columns),
    }
}

/// A column that has features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Treated {
    pub name: String,
    pub reading: Reading,
    /// Its features, by aspect.
    pub parts: Vec<Part>,
}

/// Features from one aspect of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub aspect: Aspect,
    pub treatment: Treatment,
}

/// The property of a column that a feature shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Aspect {
    /// The numbers; for dates, the day.
    Number,
    /// The numbers as categories.
    Value,
    /// The texts.
    Text,
    /// Whether there is a text among numbers.
    IsText,
    /// The sine of the position in a period of this many days.
    Sine(f64),
    /// The cosine of the position in a period of this many days.
    Cosine(f64),
    /// The days since the date of another column.
    Since(String),
}

/// How an aspect becomes features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    Number(NumberFeatures),
    Text(LevelFeatures),
    Means(MeanFeatures),
    Bits(BitFeatures),
    Sparse(SparseFeatures),
}

/// A column that is left out, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The name of the column.
    pub column: String,
    /// The reason.
    pub why: Why,
}

/// The reason why a column is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// The column has this value in every row.
    Constant(String),
    /// All values of the column are missing.
    Empty,
    /// The column has a different text in every row.
    Identifier,
    /// The column numbers the rows, and does not reduce the validation error.
    Index,
}

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Dropped { column, why } = self;
        match why {
            Why::Constant(value) => write!(f, "{column:?} ({value}) has one value only"),
            Why::Empty => write!(f, "{column:?} has no value"),
            Why::Identifier => {
                write!(f, "{column:?} names each row, so it is not a feature (--features keeps it)")
            }
            Why::Index => write!(
                f,
                "{column:?} numbers the rows, so it is not a feature unless it reduces the \
                 validation error (--features keeps it)"
            ),
        }
    }
}

impl Columns {
    /// The names of the columns that a table needs for predictions.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The names of the d features; one name for all features of sparse rows.
    pub fn features(&self) -> Vec<String> {
        self.columns.iter().flat_map(Treated::features).collect()
    }

    /// The number of features, d.
    pub fn dim(&self) -> usize {
        self.columns.iter().map(Treated::width).sum()
    }

    /// The column of fingerprints, if the features are the bits of one, with the number of bits.
    pub fn fingerprint(&self) -> Option<(&str, usize)> {
        let bits = |column: &'_ Treated| match column.parts.first()?.treatment {
            Treatment::Bits(BitFeatures { bits }) => Some(bits),
            _ => None,
        };
        self.columns.iter().find_map(|column| Some((column.name.as_str(), bits(column)?)))
    }

    /// The column of sparse rows, if the features are their numbers, with the number of features.
    pub fn sparse(&self) -> Option<(&str, usize)> {
        self.sparse_rows().map(|(name, of)| (name, of.count))
    }

    pub(crate) fn sparse_rows(&self) -> Option<(&str, &SparseFeatures)> {
        self.columns.iter().find_map(|column| match &column.parts.first()?.treatment {
            Treatment::Sparse(of) => Some((column.name.as_str(), of)),
            _ => None,
        })
    }

    /// Whether the cells of this column are categories.
    pub fn is_text(&self, name: &str) -> bool {
        self.find(name).is_some_and(|column| column.reading.kind == Kind::Level)
    }

    /// Whether a reader of files must keep the cells of this column as texts: categories, and
    /// numbers in a notation that only this crate reads.
    pub fn reads_text(&self, name: &str) -> bool {
        self.find(name).is_some_and(|column| column.reading.wants_text())
    }

    /// The numbers of a target in a table, if it has the column.
    pub(crate) fn actual(&self, table: &Table, name: &str) -> Result<Option<Vec<f64>>> {
        let Some(column) = table.columns().iter().find(|column| column.name == name) else {
            return Ok(None);
        };
        let known = self.targets.iter().find(|(other, _)| other == name);
        let reading = known.map_or(Reading::PLAIN, |(_, reading)| reading.clone());
        let series = reading.read(&column.values, &self.marks);
        if let (rows, [example, ..]) = (series.unread.0, &series.unread.1[..]) {
            let what = format!("holds {example} where it held numbers, in {rows} rows");
            return Err(Error::values(name, what, "correct it, or predict without the column"));
        }
        Ok(series.numbers.map(Cow::into_owned))
    }

    /// Whether a reader of files must keep the cells of this target as texts.
    pub fn reads_target_text(&self, name: &str) -> bool {
        self.targets.iter().any(|(other, reading)| other == name && reading.wants_text())
    }

    /// Whether a category has the mean of the target in its level.
    pub(crate) fn has_means(&self) -> bool {
        self.level_means().next().is_some()
    }

    /// The means by level, in the order of the columns.
    pub(crate) fn level_means(&self) -> impl Iterator<Item = &LevelMeans> {
        self.columns.iter().flat_map(|column| &column.parts).filter_map(|part| {
            let Treatment::Means(features) = &part.treatment else { return None };
            Some(&features.of)
        })
    }

    /// Replaces the means by level by these, in the order of the columns.
    pub(crate) fn set_level_means(&mut self, means: impl IntoIterator<Item = LevelMeans>) {
        let parts = self.columns.iter_mut().flat_map(|column| &mut column.parts);
        let of = parts.filter_map(|part| match &mut part.treatment {
            Treatment::Means(features) => Some(&mut features.of),
            _ => None,
        });
        of.zip(means).for_each(|(of, means)| *of = means);
    }

    /// Adds the targets of these rows of a table to the sums of each column that has means by
    /// level, in the order of the columns.
    pub(crate) fn add_to_levels(
        &self,
        table: &Table,
        known: Known<'_>,
        rows: std::ops::Range<usize>,
        sums: &mut [LevelSums],
    ) -> Result<()> {
        let mut sums = sums.iter_mut();
        for column in &self.columns {
            for part in &column.parts {
                let Treatment::Means(MeanFeatures { of, .. }) = &part.treatment else { continue };
                let values = &column_of(table, &column.name)?.values;
                let series = column.reading.read(values, &self.marks);
                if let (Some(text), Some(sums)) = (&series.texts, sums.next()) {
                    sums.add(&of.renamed(text), known, rows.clone());
                    sums.limit(MOST_LEVELS, of);
                }
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Treated> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether new tables may have missing values in columns that had none.
    pub fn fills(&self) -> bool {
        let parts = self.columns.iter().flat_map(|column| &column.parts);
        parts.into_iter().any(|part| match &part.treatment {
            Treatment::Number(number) => number.fill.is_some(),
            Treatment::Text(LevelFeatures { complete, .. })
            | Treatment::Means(MeanFeatures { complete, .. }) => !complete,
            Treatment::Bits(_) | Treatment::Sparse(_) => false,
        })
    }

    /// The columns that were left out because they carry no information about new rows.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// The categories whose rare levels share one feature, with the number of these levels.
    pub fn rare(&self) -> Vec<(&str, usize)> {
        let rare = |column: &'_ Treated| {
            column.parts.iter().find_map(|part| match (&part.aspect, &part.treatment) {
                (Aspect::Text, Treatment::Text(levels)) => levels.rare.as_ref().map(Vec::len),
                _ => None,
            })
        };
        self.columns.iter().filter_map(|c| Some((c.name.as_str(), rare(c)?))).collect()
    }
}

impl Treated {
    fn features(&self) -> Vec<String> {
        self.parts.iter().flat_map(|part| part.features(&self.name)).collect()
    }

    pub(crate) fn width(&self) -> usize {
        self.parts.iter().map(|part| part.treatment.width()).sum()
    }

    /// A description of what is wrong, if no fit makes this column.
    pub(crate) fn problem(&self) -> Option<String> {
        let sound = self.parts.iter().all(|part| part.treatment.is_sound());
        (!sound).then(|| format!("the column {:?} has no sound scale", self.name))
    }
}

impl Part {
    fn features(&self, name: &str) -> Vec<String> {
        let what = match &self.aspect {
            Aspect::Number | Aspect::Value | Aspect::Text => name.to_owned(),
            Aspect::IsText => return vec![format!("{name} is a text")],
            Aspect::Sine(days) => return vec![format!("{name}: sine of {}", period(*days))],
            Aspect::Cosine(days) => return vec![format!("{name}: cosine of {}", period(*days))],
            Aspect::Since(other) => format!("{name} since {other}"),
        };
        match &self.treatment {
            Treatment::Number(number) if number.missing.is_none() => vec![what],
            Treatment::Number(_) => vec![what.clone(), format!("{what} is missing")],
            Treatment::Text(LevelFeatures { levels, rare, .. }) => {
                let rare = rare.iter().map(|_| format!("{what} is rare"));
                levels.iter().map(|level| format!("{what}={level}")).chain(rare).collect()
            }
            Treatment::Means(means) => match means.of.width() {
                1 => vec![format!("{what}: mean")],
                width => (1..=width).map(|j| format!("{what}: mean {j}")).collect(),
            },
            Treatment::Bits(bits) => {
                (1..=bits.width()).map(|j| format!("{what}: bits, part {j}")).collect()
            }
            Treatment::Sparse(SparseFeatures { first, count }) => {
                vec![format!("{what}: f{first} to f{}", first + count - 1)]
            }
        }
    }
}

fn period(days: f64) -> &'static str {
    match days {
        1.0 => "the day",
        7.0 => "the week",
        _ => "the year",
    }
}
