//! The public data sets of the papers: where to get them, how to verify them, how to load them.
//!
//! The crate downloads nothing and, without the feature `embedded`, contains no data. Put the files
//! into one folder, at the paths that [`entries`] lists (plain or gzip, with or without the
//! sub-folders), and pass that folder:
//!
//! ```
//! use std::path::Path;
//! use nystrom_data::catalog::{self, Located};
//!
//! match catalog::locate(Path::new("no/such/folder"), "htru2")? {
//!     Located::Found(found) => println!("{:?}", found.paths),
//!     Located::Missing(missing) => {
//!         assert_eq!(missing.expected_shape(), "17898 rows × 8 features");
//!         assert!(missing.where_to_get().starts_with("UCI ML Repository id 372"));
//!     }
//! }
//! # Ok::<(), nystrom_data::DataError>(())
//! ```
//!
//! ```no_run
//! let data = nystrom_data::catalog::load("data".as_ref(), "ccpp")?;
//! assert_eq!((data.x.nrows(), data.x.ncols()), (9568, 4));
//! # Ok::<(), nystrom_data::DataError>(())
//! ```
//!
//! A file is verified by the SHA-256 of its bytes. A file whose bytes differ, because of its line
//! ends or the way its numbers are written, is verified by its numbers: see [`identity`].

mod canonical;
mod checksum;
#[cfg(feature = "embedded")]
pub mod embedded;
mod entry;
mod fann;
mod identity;
mod load;
mod locate;
mod pumadyn;
mod torgo;
mod uci;
mod uci_large;

pub use checksum::sha256_uncompressed;
pub use entry::{Entry, File};
pub use identity::{Recognised, identity, recognise};
pub use load::{Verify, load, load_entry, load_table, load_table_entry, load_with};
pub use locate::{Form, Found, Located, Missing, locate, locate_entry};

use crate::error::{DataError, Result};

/// All data sets, including those of which no public copy is known.
///
/// ```
/// let absent: Vec<&str> = nystrom_data::catalog::entries()
///     .filter(|entry| !entry.checksums_known())
///     .map(|entry| entry.name)
///     .collect();
/// assert_eq!(absent, ["pumadyn-32fh", "query-analytics-rqa"]);
/// ```
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [pumadyn::ENTRIES, torgo::ENTRIES, uci::ENTRIES, uci_large::ENTRIES].into_iter().flatten()
}

/// The data set with this name or alias, in any case.
///
/// # Errors
/// [`DataError::UnknownDataset`], with the names that exist.
///
/// ```
/// use nystrom_data::catalog;
///
/// assert_eq!(catalog::find("puma32H")?.name, "pumadyn-32nh");
/// assert!(catalog::find("mnist").unwrap_err().to_string().contains("\"htru2\""));
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry> {
    let called = |entry: &&Entry| {
        std::iter::once(&entry.name)
            .chain(entry.aliases)
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    entries().find(called).ok_or_else(|| DataError::UnknownDataset {
        name: crate::error::place::excerpt(name),
        known: entries().map(|entry| format!("{:?}", entry.name)).collect::<Vec<_>>().join(", "),
    })
}
