//! From the columns of a table to numbers, and the same again for other tables.

mod apply;
mod curve;
mod dates;
mod fit;
mod options;
mod sums;

pub use apply::{Applied, Note};
pub use curve::{Curve, Shape};
pub(crate) use options::position;
pub use options::{ColumnOptions, Missing};
pub(crate) use sums::{ColumnSums, TargetSums};

use serde::{Deserialize, Serialize};

/// How the columns of a table become d features: fitted to one table, applied to any.
///
/// * Numbers stand as they are, or on a [`Curve`]; missing ones become the median, and one more
///   feature says where they were.
/// * Text becomes one feature of 0 and 1 for every level (the frequent ones; the rest together is
///   one more). A level that was not there when this was fitted is 0 in all of them.
/// * Features are standardised: numbers each, the levels of one text together, so that a text
///   weighs as much as a number.
/// * Constant columns and identifiers say nothing of new rows and are left out ([`Dropped`]).
///
/// # Cost
/// O(n log n) a column to fit, O(n·d) to apply.
///
/// ```
/// use nystrom_data::{Column, Csv, Table};
/// use nystrom_pipeline::{ColumnOptions, Columns, Shape};
/// let text = "size,colour,one\n1,red,7\n2,blue,7\n,red,7\n4,red,7\n";
/// let table = Csv::new().missing([""]).text(["colour"]).read(text.as_bytes(), "t.csv").unwrap();
/// let columns = Columns::fit(&table, &ColumnOptions::default(), &[], Shape::Plain)?;
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
    pub(crate) columns: Vec<Treated>,
    pub(crate) dropped: Vec<Dropped>,
}

/// A column that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Treated {
    pub name: String,
    pub treatment: Treatment,
}

/// How one column becomes features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    Number {
        curve: Curve,
        /// What stands for a missing value; none: it is an error.
        fill: Option<f64>,
        /// (value − mean)/scale, on the curve.
        mean: f64,
        scale: f64,
        /// Of the feature that says where values are missing, if there is one.
        missing: Option<(f64, f64)>,
    },
    Text {
        levels: Vec<String>,
        /// Whether levels not listed share a feature: those that were rare.
        rare: Option<Vec<String>>,
        /// The share of every feature, and the scale of all.
        means: Vec<f64>,
        scale: f64,
        /// Whether a missing text is an error; else all its features are 0.
        complete: bool,
    },
}

/// A column that is left out, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dropped {
    /// Its name.
    pub column: String,
    /// Why.
    pub why: Why,
}

/// Why a column says nothing of new rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// It has this value in every row.
    Constant(String),
    /// It has no value at all.
    Empty,
    /// It numbers the rows, or has another text in every row.
    Identifier,
}

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Dropped { column, why } = self;
        match why {
            Why::Constant(value) => write!(f, "{column:?} ({value}) has one value only"),
            Why::Empty => write!(f, "{column:?} has no value"),
            Why::Identifier => write!(f, "{column:?} names each row: it is no feature"),
        }
    }
}

impl Columns {
    /// The names of the columns that a table must have to be predicted from.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The names of the d features.
    pub fn features(&self) -> Vec<String> {
        self.columns.iter().flat_map(Treated::features).collect()
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.columns.iter().map(Treated::width).sum()
    }

    /// Whether this column holds text.
    pub fn is_text(&self, name: &str) -> bool {
        let text = |column: &Treated| matches!(column.treatment, Treatment::Text { .. });
        self.columns.iter().any(|column| column.name == name && text(column))
    }

    /// Whether missing values may stand where there were none.
    pub fn fills(&self) -> bool {
        self.columns.iter().any(|column| match &column.treatment {
            Treatment::Number { fill, .. } => fill.is_some(),
            Treatment::Text { complete, .. } => !complete,
        })
    }

    /// The columns that were left out for saying nothing.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Columns of text whose rare levels are taken together, and how many levels those are.
    pub fn rare(&self) -> Vec<(&str, usize)> {
        let rare = |column: &'_ Treated| match &column.treatment {
            Treatment::Text { rare: Some(rare), .. } => Some(rare.len()),
            _ => None,
        };
        self.columns.iter().filter_map(|c| Some((c.name.as_str(), rare(c)?))).collect()
    }
}

impl Treated {
    fn features(&self) -> Vec<String> {
        let name = &self.name;
        match &self.treatment {
            Treatment::Number { missing: None, .. } => vec![name.clone()],
            Treatment::Number { .. } => vec![name.clone(), format!("{name} is missing")],
            Treatment::Text { levels, rare, .. } => {
                let rare = rare.iter().map(|_| format!("{name} is rare"));
                levels.iter().map(|level| format!("{name}={level}")).chain(rare).collect()
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        match &self.treatment {
            Treatment::Number { missing, .. } => 1 + usize::from(missing.is_some()),
            Treatment::Text { levels, rare, .. } => levels.len() + usize::from(rare.is_some()),
        }
    }

    /// What no fit would have written, in words.
    pub(crate) fn problem(&self) -> Option<String> {
        let positive = |scale: f64| scale.is_finite() && scale > 0.0;
        let sound = match &self.treatment {
            Treatment::Number { curve, fill, mean, scale, missing } => {
                curve.is_sound()
                    && fill.is_none_or(f64::is_finite)
                    && mean.is_finite()
                    && positive(*scale)
                    && missing.is_none_or(|(mean, scale)| mean.is_finite() && positive(scale))
            }
            Treatment::Text { means, scale, .. } => {
                means.len() == self.width()
                    && means.iter().all(|mean| mean.is_finite())
                    && positive(*scale)
            }
        };
        (!sound).then(|| format!("the column {:?} has no sound scale", self.name))
    }
}
