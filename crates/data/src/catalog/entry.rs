//! What the catalog knows of a data set.

use std::io::Read;

use crate::error::{DataError, Result};
use crate::{Csv, Dataset, Table};

/// A data set of the catalog. Entries of one's own can be made and used with
/// [`load_entry`](super::load_entry).
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// Other names, e.g. those in papers.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub title: &'static str,
    /// Its files; their rows are put one after the other.
    pub files: &'static [File],
    /// The number of columns of each file.
    pub columns: usize,
    /// The number of rows after [`prepare`](Entry::prepare).
    pub rows: usize,
    /// The number of features (columns beside the target) after [`prepare`](Entry::prepare).
    pub features: usize,
    /// The [`identity`](super::identity) of the data set after [`prepare`](Entry::prepare); `None`
    /// if no copy was found to compute it from.
    pub identity: Option<&'static str>,
    /// The name of the target column.
    pub target: &'static str,
    /// The public source, by name.
    pub source: &'static str,
    /// Under which terms its publisher gives it, as far as known.
    pub licence: &'static str,
    /// What a reader of results should know.
    pub note: &'static str,
    /// How to read a file; the name stands for it in errors.
    pub read: fn(&mut dyn Read, &str) -> Result<Table>,
    /// From the table of the files to one with numbers only, nothing missing. `Ok` for files that
    /// hold features and target and nothing else.
    pub prepare: fn(Table) -> Result<Table>,
}

/// A file of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path below the folder of all data sets, with `/`. With or without `.gz` at the end, the
    /// other form is accepted too.
    pub path: &'static str,
    /// The number of rows of data.
    pub rows: usize,
    /// SHA-256 of the file as it was found, in hexadecimal.
    pub sha256: Option<&'static str>,
    /// SHA-256 of the uncompressed bytes; this is what is verified.
    pub sha256_uncompressed: Option<&'static str>,
}

/// What an entry begins from.
pub(super) const NOTHING: Entry = Entry {
    name: "",
    aliases: &[],
    title: "",
    files: &[],
    columns: 0,
    rows: 0,
    features: 0,
    identity: None,
    target: "",
    source: "",
    licence: "",
    note: "",
    read: |file, name| Csv::new().read(file, name),
    prepare: Ok,
};

impl Entry {
    /// The number of rows of all files together.
    pub(super) fn rows_of_files(&self) -> usize {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// Features and target, of the catalog's shape.
    pub(super) fn prepared(&self, what: &str, table: Table) -> Result<Dataset> {
        let table = (self.prepare)(table)?;
        self.check_shape(what, (self.rows, self.features + 1), &table)?;
        table.into_dataset(self.target)
    }

    pub(super) fn check_shape(
        &self,
        what: &str,
        (rows, columns): (usize, usize),
        table: &Table,
    ) -> Result<()> {
        let (found_rows, found_columns) = (table.rows(), table.columns().len());
        if (found_rows, found_columns) != (rows, columns) {
            return Err(DataError::ShapeMismatch {
                what: what.to_owned(),
                rows,
                columns,
                found_rows,
                found_columns,
                where_to_get: self.source.to_owned(),
            });
        }
        Ok(())
    }

    /// Whether every file has a checksum. It has none if no copy was found to compute it from.
    pub fn checksums_known(&self) -> bool {
        self.files.iter().all(|file| file.sha256_uncompressed.is_some())
    }
}

impl File {
    /// A file that is published uncompressed.
    pub(super) const fn plain(path: &'static str, rows: usize, sha256: &'static str) -> File {
        File { path, rows, sha256: Some(sha256), sha256_uncompressed: Some(sha256) }
    }

    /// A gzip file.
    pub(super) const fn gzip(
        path: &'static str,
        rows: usize,
        sha256: &'static str,
        uncompressed: &'static str,
    ) -> File {
        File { path, rows, sha256: Some(sha256), sha256_uncompressed: Some(uncompressed) }
    }

    /// A file of which no copy was found.
    pub(super) const fn unseen(path: &'static str, rows: usize) -> File {
        File { path, rows, sha256: None, sha256_uncompressed: None }
    }
}
