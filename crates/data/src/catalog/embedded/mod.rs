//! Four of the papers' data sets, inside the library (feature `embedded`), so that real data are
//! available without a download.
//!
//! They are published under the Creative Commons Attribution 4.0 licence, and remain under it.
//! `NOTICE.md` in their folder names the authors and the changes (of the file format, of no
//! number). `cargo run -p nystrom-data --example embed -- DIR` makes these files from the files of
//! the catalog.

use super::load::{Proof, dataset};
use super::{Entry, canonical, find};
use crate::error::Result;
use crate::{Dataset, Table};

/// The names and files: the whole table in the canonical form, compressed with gzip.
const TABLES: [(&str, &[u8]); 4] = [
    ("query-analytics", include_bytes!("query-analytics.csv.gz")),
    ("htru2", include_bytes!("htru2.csv.gz")),
    ("ccpp", include_bytes!("ccpp.csv.gz")),
    ("abalone", include_bytes!("abalone.csv.gz")),
];

/// The embedded data sets.
///
/// ```
/// let names: Vec<&str> =
///     nystrom_data::catalog::embedded::entries().map(|entry| entry.name).collect();
/// assert_eq!(names, ["query-analytics", "htru2", "ccpp", "abalone"]);
/// ```
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    TABLES.iter().filter_map(|(name, _)| find(name).ok())
}

/// The data set `name`, with the features and target that [`load`](super::load) gives; `None` if it
/// is not embedded.
///
/// # Errors
/// [`DataError::UnknownDataset`](crate::DataError::UnknownDataset).
///
/// ```
/// use nystrom_data::catalog::embedded;
///
/// let data = embedded::load("ccpp")?.expect("it is one of the four");
/// assert_eq!((data.x.nrows(), data.x.ncols(), data.target_name.as_str()), (9568, 4, "EP"));
/// assert!(embedded::load("casp")?.is_none());
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn load(name: &str) -> Result<Option<Dataset>> {
    let entry = find(name)?;
    // A test checks that these tables have the identities in the catalog.
    load_table(name)?.map(|table| dataset(entry, table, Proof::Bytes)).transpose()
}

/// All columns of the data set `name`, as [`load_table`](super::load_table) gives them; `None` if
/// it is not embedded.
///
/// # Errors
/// [`DataError::UnknownDataset`](crate::DataError::UnknownDataset).
pub fn load_table(name: &str) -> Result<Option<Table>> {
    let entry = find(name)?;
    let of = |(_, bytes): &(&str, &'static [u8])| {
        canonical::format().read(*bytes, &format!("{} (embedded)", entry.name))
    };
    TABLES.iter().find(|(name, _)| *name == entry.name).map(of).transpose()
}

/// The bytes of the embedded file (gzip-compressed CSV), for callers that need a file.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    let entry = find(name).ok()?;
    TABLES.iter().find(|(name, _)| *name == entry.name).map(|(_, bytes)| *bytes)
}
