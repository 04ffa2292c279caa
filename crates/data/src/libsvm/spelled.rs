//! Labels as written, until all rows were read and it is known whether they are numbers.

use crate::builder::ColumnBuilder;
use crate::column::Column;
use crate::error::Problem;
use crate::number::{is_beyond_exact, number};

/// One text for each row; the empty text is a missing value.
#[derive(Default)]
pub(super) struct Spelled {
    text: String,
    /// The end of each text in `text`.
    ends: Vec<usize>,
}

impl Spelled {
    /// Adds a text. Returns whether it has to stay text: it is not a number, or is a whole number
    /// beyond 2⁵³.
    pub fn push(&mut self, text: &str) -> Result<bool, Problem> {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        match number(text) {
            Ok(_) => Ok(is_beyond_exact(text)),
            Err(Problem::NotANumber { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }

    pub fn push_missing(&mut self) {
        self.ends.push(self.text.len());
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// The column: of text if `holds_texts`, of numbers otherwise.
    pub fn column(&self, name: &str, holds_texts: bool) -> Result<Column, Problem> {
        let name = name.to_owned();
        let mut column =
            if holds_texts { ColumnBuilder::text(name) } else { ColumnBuilder::numbers(name) };
        self.iter().try_for_each(|text| column.push((!text.is_empty()).then_some(text)))?;
        Ok(column.finish())
    }
}
