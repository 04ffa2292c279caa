//! The catalog's description of a data set.

use std::io::Read;

use crate::error::{DataError, Result};
use crate::{Csv, Dataset, Table};

/// A data set of the catalog. Callers can make entries of their own and use them with
/// [`load_entry`](super::load_entry).
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name by which it is found.
    pub name: &'static str,
    /// Other names, e.g. those in papers.
    pub aliases: &'static [&'static str],
    /// A title.
    pub title: &'static str,
    /// Its files, whose rows are concatenated.
    pub files: &'static [File],
    /// The number of columns of each file.
    pub columns: usize,
    /// The number of rows after [`prepare`](Entry::prepare).
    pub rows: usize,
    /// The number of features (columns other than the target) after [`prepare`](Entry::prepare).
    pub features: usize,
    /// The [`identity`](super::identity) of the data set after [`prepare`](Entry::prepare); `None`
    /// if no copy was found to compute it from.
    pub identity: Option<&'static str>,
    /// The name of the target column.
    pub target: &'static str,
    /// The name of the public source.
    pub source: &'static str,
    /// The publisher's licence, as far as known.
    pub licence: &'static str,
    /// A remark that readers of results should know; may be empty.
    pub note: &'static str,
    /// Reads a file; the `&str` is its name in errors.
    pub read: fn(&mut dyn Read, &str) -> Result<Table>,
    /// Turns the table of the files into features and target: numbers only, without missing values.
    /// `Ok` for files that already have this form.
    pub prepare: fn(Table) -> Result<Table>,
}

/// A file of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path below the folder of all data sets, with `/`. A file with `.gz` added to, or removed
    /// from, its name is accepted too.
    pub path: &'static str,
    /// The number of rows of data.
    pub rows: usize,
    /// SHA-256 of the file as it was found when the catalog was made, in hexadecimal; `None` if no
    /// copy was found.
    pub sha256: Option<&'static str>,
    /// SHA-256 of the uncompressed bytes, which is the one that is verified; `None` if no copy was
    /// found.
    pub sha256_uncompressed: Option<&'static str>,
}

/// The default values of the fields of an entry.
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
    /// The total number of rows of the files, before [`prepare`](Entry::prepare).
    pub(super) fn rows_of_files(&self) -> usize {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// Features and target; an error if they do not have the catalog's shape.
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

    /// Whether the catalog has a checksum for every file. It has none for files of which no copy
    /// was found.
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
