//! Targets and weights of blocks as numbers, in whatever dress they stand there.

use crate::columns::{Marks, Reading};
use crate::error::Result;
use crate::fit::Fit;
use crate::model::Model;
use crate::numbers::Numbered;
use nystrom_data::{Column, Table, Values};
use std::borrow::Cow;

/// How the texts of targets and weights are read as numbers: as the first rows of a table say.
///
/// ```
/// use nystrom_data::{Csv, Format, Origin};
/// use nystrom_pipeline::{Fit, Readings};
/// let bytes = b"a,price\n1,\"$1,250.50\"\n2,$990\n";
/// let head = Format::Csv(Csv::new()).found(Origin::Bytes { bytes, name: "t.csv" }, &[])?;
/// let readings = Readings::of(&Fit::default(), &head, &["price".to_owned()])?;
/// assert_eq!(readings.read(head)?.numbers("price")?, [1250.5, 990.0]);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Readings {
    of: Vec<(String, Reading)>,
    marks: Marks,
    notes: Vec<String>,
}

impl Readings {
    /// For the targets and weights of a fit. Plain texts that may be classes stay as they are.
    ///
    /// # Errors
    /// [`Error::NoColumn`](crate::Error::NoColumn); [`Error::Values`](crate::Error::Values) for
    /// texts where numbers must be.
    pub fn of(fit: &Fit, head: &Table, targets: &[String]) -> Result<Readings> {
        let Numbered { readings, notes, .. } = Numbered::of(fit, head, targets)?;
        let is_text = |name: &str| head.column(name).is_ok_and(is_text);
        let of = readings.into_iter().filter(|(name, _)| is_text(name)).collect();
        Ok(Readings { of, marks: Marks::of(&fit.columns), notes })
    }

    /// What is to be said of them.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The same rows with numbers in these columns, missing where a text is none.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn read(&self, mut block: Table) -> nystrom_data::Result<Table> {
        for (name, reading) in &self.of {
            let place = block.columns().iter().position(|c| c.name == *name && is_text(c));
            let Some(place) = place else { continue };
            let series = reading.read(&block.columns()[place].values, &self.marks);
            let numbers = series.numbers.map(Cow::into_owned).unwrap_or_default();
            block = block.with_column(place, Column::numbers(name.clone(), numbers))?;
        }
        Ok(block)
    }

    /// A model that reads its targets in this way.
    pub fn known_to(&self, mut model: Model) -> Model {
        for (name, reading) in &self.of {
            let known = model.columns.targets.iter_mut().find(|(other, _)| other == name);
            if let Some((_, known)) = known {
                *known = reading.clone();
            }
        }
        model
    }
}

fn is_text(column: &Column) -> bool {
    matches!(column.values, Values::Categories(_))
}
