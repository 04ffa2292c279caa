//! Columns from a file: nothing that a fit could not have made is loaded.

use super::{Columns, Dropped, Marks, Reading, Treated};
use serde::Deserialize;

/// [`Columns`] as a file holds them.
#[derive(Deserialize)]
pub(super) struct Saved {
    columns: Vec<Treated>,
    dropped: Vec<Dropped>,
    #[serde(default)]
    marks: Marks,
    #[serde(default)]
    targets: Vec<(String, Reading)>,
}

impl TryFrom<Saved> for Columns {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let Saved { columns, dropped, marks, targets } = saved;
        match columns.iter().find_map(Treated::problem) {
            None => Ok(Columns { columns, dropped, marks, targets }),
            Some(problem) => Err(problem),
        }
    }
}
