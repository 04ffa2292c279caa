//! The record that a first pass makes of a file, and comparing a later pass with it.

use std::fs::File;
use std::time::UNIX_EPOCH;

use crate::column::Values;
use crate::error::{DataError, Result};
use crate::lines::Spot;
use crate::table::Table;

/// More rows than files have: counts below it do not overflow.
pub(super) const MOST_ROWS: u64 = 1 << 40;

/// Size and time of modification of a file, from the file system.
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

    /// Returns an error if the size or the time of modification has changed.
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
    /// Rows of the file up to this end.
    pub rows: u64,
    /// The digest of the piece that ends here.
    pub digest: u64,
    /// The place in the file; `None` if it cannot be read from there.
    pub spot: Option<Spot>,
}

/// The record of a file.
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

    /// Returns an error for marks that no pass makes.
    pub fn check(&self) -> Result<()> {
        let mut rows = 0;
        for mark in &self.marks {
            let is_inside = |spot: Spot| spot.lines <= spot.byte && spot.byte <= self.stamp.bytes;
            if !(mark.rows > rows && mark.rows <= MOST_ROWS && mark.spot.is_none_or(is_inside)) {
                return Err(changed(&self.name, "its record is damaged".to_owned()));
            }
            rows = mark.rows;
        }
        Ok(())
    }

    /// Returns an error if one of `others` has exactly the same rows.
    pub fn refuse_again(&self, others: &[Shard]) -> Result<()> {
        match others.iter().find(|other| other.holds_rows_of(self)) {
            Some(other) => {
                let (file, other) = (self.name.clone(), other.name.clone());
                Err(DataError::SameRows { file, other })
            }
            None => Ok(()),
        }
    }

    /// Whether `other` has exactly the same rows, judged by digests.
    fn holds_rows_of(&self, other: &Shard) -> bool {
        let digests = |shard: &Shard| -> Vec<(u64, u64)> {
            shard.marks.iter().map(|mark| (mark.rows, mark.digest)).collect()
        };
        self.rows() == other.rows() && digests(self) == digests(other)
    }
}

/// A hash of the values of a table. It is not secure against forgery.
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
        // no file has such a column, whose rows come all at once
        Values::Sparse(rows) => word(hash, rows.len() as u64),
    };
    table.columns().iter().map(|c| &c.values).fold(table.rows() as u64, column)
}
