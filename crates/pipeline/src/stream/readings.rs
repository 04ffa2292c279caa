//! Reading the targets and weights of blocks as numbers, in the notation of the table.

use crate::columns::{Kind, Marks, Reading};
use crate::error::Result;
use crate::fit::Fit;
use crate::model::Model;
use crate::numbers::Numbered;
use nystrom_data::{Cell, Column, DataError, Place, Problem, Table, Values};
use std::borrow::Cow;

/// The notation in which the texts of targets and weights are read as numbers, determined from the
/// first rows of a table.
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
    /// The notation of the targets and weights of a fit, from the first rows `head`. Texts that may
    /// be classes stay texts.
    ///
    /// # Errors
    /// [`Error::NoColumn`](crate::Error::NoColumn); [`Error::Values`](crate::Error::Values) for
    /// texts in a column that must hold numbers.
    pub fn of(fit: &Fit, head: &Table, targets: &[String]) -> Result<Readings> {
        let Numbered { readings, notes, .. } = Numbered::of(fit, head, targets)?;
        let is_text = |name: &str| head.column(name).is_ok_and(is_text);
        let of = readings.into_iter().filter(|(name, _)| is_text(name)).collect();
        Ok(Readings { of, marks: Marks::of(&fit.columns), notes })
    }

    /// Notes for the user about these notations.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The same block with numbers in these columns.
    ///
    /// # Errors
    /// [`DataError::At`] for a text that is not a number in the notation of its column.
    pub fn read(&self, mut block: Table) -> nystrom_data::Result<Table> {
        for (name, reading) in &self.of {
            let place = block.columns().iter().position(|c| c.name == *name && is_text(c));
            let Some(place) = place else { continue };
            let column = &block.columns()[place];
            let series = reading.read(&column.values, &self.marks);
            let forgives = matches!(&reading.kind, Kind::Number(dress) if dress.loose);
            if series.unread.0 > 0 && !forgives {
                return Err(self.stray(&block, column, reading));
            }
            let numbers = series.numbers.map(Cow::into_owned).unwrap_or_default();
            block = block.with_column(place, Column::numbers(name.clone(), numbers))?;
        }
        Ok(block)
    }

    /// The first text of a column that is no number.
    fn stray(&self, block: &Table, column: &Column, reading: &Reading) -> DataError {
        let text = |row: usize| match column.cell(row) {
            Some(Cell::Text(text)) => Some(text),
            _ => None,
        };
        let is_stray =
            |text: &str| reading.number(text).is_none() && !self.marks.is_missing(text, true);
        let row = (0..block.rows()).find(|&row| text(row).is_some_and(is_stray)).unwrap_or(0);
        let place = Place::new(block.source()).column(&column.name);
        let place = block.line(row).map_or(place.clone(), |line| place.line(line));
        let text = text(row).unwrap_or_default().to_owned();
        let remedy = format!(
            "the rows before were read as numbers; correct it, or count such texts as missing \
             (--numeric {:?})",
            column.name
        );
        DataError::At { place: Box::new(place), problem: Problem::NotANumber { text, remedy } }
    }

    /// The same model, which also reads its targets in these notations.
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

/// Whether the cells of a column are texts.
pub(super) fn is_text(column: &Column) -> bool {
    matches!(column.values, Values::Categories(_))
}
