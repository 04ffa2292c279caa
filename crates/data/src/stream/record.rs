//! What a first pass records of a file, and how a later one is held against it.

use std::fs::File;
use std::time::UNIX_EPOCH;

use crate::column::Values;
use crate::error::{DataError, Result};
use crate::lines::Spot;
use crate::table::Table;

/// Size and time of a file, as the system tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Stamp {
    pub bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Stamp {
    pub fn of(file: &File, name: &str) -> Result<Stamp> {
        let metadata = file.metadata().map_err(DataError::io(name))?;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| since.as_nanos() as u64);
        Ok(Stamp { bytes: metadata.len(), modified })
    }

    /// Refuses another size or time of modification.
    pub fn check(self, before: Stamp, name: &str) -> Result<()> {
        let what = if self.bytes != before.bytes {
            format!("it has {} bytes, and had {}", self.bytes, before.bytes)
        } else if self.modified != before.modified {
            "it was modified".to_owned()
        } else {
            return Ok(());
        };
        Err(changed(name, what))
    }
}

pub(super) fn changed(name: &str, what: String) -> DataError {
    DataError::Changed { file: name.to_owned(), what }
}

/// The end of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Mark {
    /// Rows of the file up to it.
    pub rows: u64,
    /// Of the piece that ends here.
    pub digest: u64,
    /// Where it is, in a text that can be entered there.
    pub spot: Option<Spot>,
}

/// A file as it was read first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Shard {
    pub name: String,
    pub stamp: Stamp,
    pub marks: Vec<Mark>,
}

impl Shard {
    pub fn rows(&self) -> u64 {
        self.marks.last().map_or(0, |mark| mark.rows)
    }

    /// Refuses a file whose rows are all those of another one.
    pub fn refuse_again(&self, others: &[Shard]) -> Result<()> {
        match others.iter().find(|other| other.holds_rows_of(self)) {
            Some(other) => {
                let (file, other) = (self.name.clone(), other.name.clone());
                Err(DataError::SameRows { file, other })
            }
            None => Ok(()),
        }
    }

    /// Whether all rows are those of another, as far as digests tell.
    fn holds_rows_of(&self, other: &Shard) -> bool {
        let digests = |shard: &Shard| -> Vec<(u64, u64)> {
            shard.marks.iter().map(|mark| (mark.rows, mark.digest)).collect()
        };
        self.rows() == other.rows() && digests(self) == digests(other)
    }
}

/// A number that tells the rows of a table from others; no defence against forgery.
pub(super) fn digest(table: &Table) -> u64 {
    let word =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let text = |text: &str| text.bytes().fold(0, |hash, byte| word(hash, u64::from(byte)));
    let column = |hash: u64, values: &Values| match values {
        Values::Numbers(numbers) => numbers.iter().map(|x| x.to_bits()).fold(hash, word),
        Values::Categories(categories) => {
            let levels: Vec<u64> = categories.levels.iter().map(|level| text(level)).collect();
            let of = |code: &Option<u32>| code.map_or(1, |code| levels[code as usize]);
            categories.codes.iter().map(of).fold(hash, word)
        }
    };
    table.columns().iter().map(|c| &c.values).fold(table.rows() as u64, column)
}
