//! Recognising a data set in any file format by its numbers.

use sha2::{Digest, Sha256};

use super::Entry;
use crate::error::{DataError, Result};
use crate::{Dataset, Table};

/// The SHA-256 of the numbers of a data set, in lower-case hexadecimal. It is the same for every
/// file format and order of the same rows.
///
/// The hash is of the line `nystrom data set 1`, of n and d as 64-bit integers, and of the n rows
/// in sorted order. A row consists of the bits of its d features, in order, and of its target. All
/// numbers are little-endian, and rows are sorted as lists of unsigned integers. Neither names nor
/// the order of the rows matter; −0 counts as 0. O(n·(d + log n)) time, 8n(d + 1) bytes.
///
/// ```
/// use nystrom_data::{Csv, catalog::identity};
///
/// let of = |text: &str| {
///     identity(&Csv::new().read(text.as_bytes(), "t.csv").unwrap().into_dataset("y").unwrap())
/// };
/// // another header, order of columns and of rows
/// assert_eq!(of("a,y\n1,2\n3,4\n"), of("y,b\r\n4.0,3\r\n2,1e0\r\n"));
/// assert_ne!(of("a,y\n1,2\n3,4\n"), of("a,y\n1,2\n3,5\n"));
/// ```
pub fn identity(data: &Dataset) -> String {
    let (n, d) = (data.x.nrows(), data.x.ncols());
    let bits = |value: f64| (value + 0.0).to_bits(); // −0 + 0 is 0
    let row = |i: usize| {
        (0..d).map(|j| bits(data.x[(i, j)])).chain(data.y.get(i).copied().map(bits)).collect()
    };
    let mut rows: Vec<Vec<u64>> = (0..n).map(row).collect();
    rows.sort_unstable();
    let mut digest = Sha256::new();
    digest.update(b"nystrom data set 1\n");
    digest.update([n as u64, d as u64].map(u64::to_le_bytes).concat());
    for row in rows {
        digest.update(row.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>());
    }
    super::checksum::hexadecimal(&digest.finalize())
}

/// Whether a table was recognised as a data set of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// Its numbers are exactly those of the catalog; its rows may be in another order.
    Yes,
    /// Its shape is right. The catalog has no identity to compare its numbers with, since no copy
    /// was found when the catalog was made.
    Untried,
}

/// Checks whether `table`, which has all columns of the files of a data set, is that data set.
///
/// # Errors
/// [`DataError::ShapeMismatch`]; [`DataError::IdentityMismatch`] if the shape is right but the
/// numbers differ; those of [`Entry::prepare`] and of [`Table::into_dataset`].
pub fn recognise(entry: &Entry, table: Table) -> Result<Recognised> {
    let what = table.source().to_owned();
    let found = identity(&entry.prepared(&what, table)?);
    match entry.identity {
        None => Ok(Recognised::Untried),
        Some(expected) if expected == found => Ok(Recognised::Yes),
        Some(expected) => Err(DataError::IdentityMismatch {
            what: format!("{what}, read as {:?}", entry.name),
            expected: expected.to_owned(),
            found,
            where_to_get: entry.source.to_owned(),
        }),
    }
}
