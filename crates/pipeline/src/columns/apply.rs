//! The features of a table whose columns are treated as those that were fitted.

use super::options::position;
use super::{Columns, Treated, Treatment};
use crate::error::{Error, Result};
use nystrom::faer::{Mat, MatMut};
use nystrom_data::{Categories, Table, Values};
use std::collections::HashMap;
use std::fmt;

/// The features of a table, and what was met on the way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Applied {
    /// n × d.
    pub x: Mat<f64>,
    /// What a reader of predictions should know.
    pub notes: Vec<Note>,
}

/// Something in a table that the one that was fitted did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Texts that are no level: all features of the column are 0 there.
    UnknownLevels {
        /// The column.
        column: String,
        /// Some of the texts.
        examples: Vec<String>,
        /// In how many rows.
        rows: usize,
    },
    /// Missing values in a column that missed none: they became the median.
    Filled {
        /// The column.
        column: String,
        /// In how many rows.
        rows: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::UnknownLevels { column, examples, rows } => write!(
                f,
                "{column:?} has levels that the model does not know in {rows} rows, such as {}",
                examples.join(", ")
            ),
            Note::Filled { column, rows } => write!(
                f,
                "{column:?} misses {rows} values, where the training table missed none: they \
                 count as its median"
            ),
        }
    }
}

impl Columns {
    /// The features of `table`, whose columns are found by name. O(n·d).
    ///
    /// # Errors
    /// [`Error::NoColumn`]; [`Error::Values`] for text where numbers were or the other way round,
    /// for infinities, and for missing values if they were to be refused.
    pub fn apply(&self, table: &Table) -> Result<Applied> {
        let mut x = Mat::zeros(table.rows(), self.dim());
        let (mut notes, mut start) = (Vec::new(), 0);
        for column in &self.columns {
            let values = &table.columns()[position(table, &column.name)?].values;
            let out = x.as_mut().subcols_mut(start, column.width());
            notes.extend(column.apply(values, out)?);
            start += column.width();
        }
        Ok(Applied { x, notes })
    }
}

impl Treated {
    /// The features of one column.
    pub(crate) fn apply(&self, values: &Values, out: MatMut<'_, f64>) -> Result<Option<Note>> {
        match (&self.treatment, values) {
            (Treatment::Number { .. }, Values::Numbers(values)) => self.numbers(values, out),
            (Treatment::Text { .. }, Values::Categories(text)) => self.text(text, out),
            // a text of digits alone reads as a column of numbers
            (Treatment::Text { .. }, Values::Numbers(values)) => {
                self.text(&categories(values), out)
            }
            (Treatment::Number { .. }, Values::Categories(text)) => {
                match text.codes.iter().position(Option::is_some) {
                    None => self.numbers(&vec![f64::NAN; text.codes.len()], out),
                    Some(row) => {
                        let what = format!("holds {:?}", text.get(row).unwrap_or_default());
                        Err(self.wrong(what, "the model was fitted to numbers there"))
                    }
                }
            }
        }
    }

    fn numbers(&self, values: &[f64], mut out: MatMut<'_, f64>) -> Result<Option<Note>> {
        let Treatment::Number { curve, fill, mean, scale, missing } = &self.treatment else {
            return Ok(None);
        };
        let mut filled = 0;
        for (i, &value) in values.iter().enumerate() {
            if value.is_infinite() {
                let what = format!("has the value {value} in row {}", i + 1);
                return Err(self.wrong(what, "correct it, or make it a missing value"));
            }
            let Some(known) = Some(value).filter(|v| !v.is_nan()).or(*fill) else {
                let what = format!("misses its value in row {}", i + 1);
                return Err(self.wrong(what, "fill it in, or leave out the row"));
            };
            out[(i, 0)] = (curve.at(known) - mean) / scale;
            if let Some((mean, scale)) = missing {
                out[(i, 1)] = (f64::from(u8::from(value.is_nan())) - mean) / scale;
            }
            filled += usize::from(value.is_nan());
        }
        let note = || Note::Filled { column: self.name.clone(), rows: filled };
        Ok((filled > 0 && missing.is_none()).then(note))
    }

    fn text(&self, text: &Categories, mut out: MatMut<'_, f64>) -> Result<Option<Note>> {
        let Treatment::Text { levels, rare, means, scale, complete } = &self.treatment else {
            return Ok(None);
        };
        let rare_at = rare.iter().flatten().map(|level| (level.as_str(), levels.len()));
        let place: HashMap<&str, usize> = levels
            .iter()
            .enumerate()
            .map(|(j, level)| (level.as_str(), j))
            .chain(rare_at)
            .collect();
        let places: Vec<Option<usize>> =
            text.levels.iter().map(|level| place.get(level.as_str()).copied()).collect();
        let (mut examples, mut rows) = (Vec::new(), 0);
        for (i, code) in text.codes.iter().enumerate() {
            if code.is_none() && *complete {
                let what = format!("misses its value in row {}", i + 1);
                return Err(self.wrong(what, "fill it in, or leave out the row"));
            }
            let at = code.and_then(|code| places[code as usize]);
            for (j, mean) in means.iter().enumerate() {
                out[(i, j)] = (f64::from(u8::from(at == Some(j))) - mean) / scale;
            }
            if let (Some(code), None) = (code, at) {
                rows += 1;
                let example = format!("{:?}", text.levels[*code as usize]);
                if examples.len() < 3 && !examples.contains(&example) {
                    examples.push(example);
                }
            }
        }
        let note = || Note::UnknownLevels { column: self.name.clone(), examples, rows };
        Ok((rows > 0).then(note))
    }

    fn wrong(&self, what: String, remedy: &'static str) -> Error {
        Error::values(&self.name, what, remedy)
    }
}

/// Numbers as the texts that they were read from, as far as that can be known.
fn categories(values: &[f64]) -> Categories {
    let mut levels: Vec<String> =
        values.iter().filter(|v| !v.is_nan()).map(f64::to_string).collect();
    levels.sort();
    levels.dedup();
    let code = |value: &f64| levels.binary_search(&value.to_string()).ok().map(|code| code as u32);
    let codes = values.iter().map(code).collect();
    Categories { levels, codes }
}
