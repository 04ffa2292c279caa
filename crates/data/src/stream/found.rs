//! Files whose columns are read as they are found.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Files;
use crate::Format;
use crate::error::Result;
use crate::open::open;

/// The rows of the first file and of each other file that decide the kinds of columns, and the most
/// files that do.
const HEADS: (usize, usize, usize) = (10_000, 1000, 17);

impl Files {
    /// Like [`open`](Self::open), with columns read as they are [found](Format::found). Whether a
    /// column is text is decided by the first 10,000 rows of the first file and the first 1000 of
    /// up to 16 others. A later cell that is not a number in a column of numbers is missing, and
    /// counted in [`strays`](Self::strays). Other files may have the columns of the first in any
    /// order.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_found(paths: Vec<PathBuf>, format: &Format, asked: &[usize]) -> Result<Files> {
        let Format::Csv(csv) = format else {
            return Files::opened(paths, format, true);
        };
        let mut csv = csv.clone().taking_all().text(asked.iter().copied());
        let few = paths.len().div_ceil(HEADS.2).max(1);
        let heads = paths.iter().step_by(few).enumerate();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        let (mut notes, mut first) = (Vec::new(), None);
        for (k, path) in heads {
            let (file, name) = open(path)?;
            let rows = if k == 0 { HEADS.0 } else { HEADS.1 };
            let head = csv.found_head(file, &name, rows)?;
            texts.extend(head.columns.iter().filter(|c| c.is_text()).map(|c| c.name.clone()));
            if k == 0 {
                notes = head.notes;
                let columns: Vec<String> = head.columns.into_iter().map(|c| c.name).collect();
                // positions are those of the first file
                csv = csv.text(asked.iter().filter_map(|&j| columns.get(j).cloned()));
                first = Some(columns);
            }
        }
        let names = first.unwrap_or_default();
        let known = texts.into_iter().filter(|name| names.contains(name));
        let format = Format::Csv(csv.only_text_named(known));
        let mut files = Files::open(paths, &format)?;
        files.found = true;
        files.notes = notes;
        Ok(files)
    }
}
