//! From files to a [`Dataset`], with checksum and shape verified.

use std::path::Path;

use super::{Entry, File, Located, find, locate_entry, sha256_uncompressed};
use crate::error::{DataError, Result};
use crate::{Dataset, Table};

/// How sure one wants to be that a file is the one of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// SHA-256 of the uncompressed bytes (where the catalog knows it) and shape.
    #[default]
    Checksum,
    /// Shape only: for a copy with other line ends or another header. The data set's note then says so.
    ShapeOnly,
}

/// Loads the data set `name` from `data_dir`, with checksums verified.
///
/// # Errors
/// [`DataError::UnknownDataset`]; [`DataError::DatasetMissing`] with where to get it;
/// [`DataError::ChecksumMismatch`]; [`DataError::ShapeMismatch`]; those of the readers.
///
/// ```no_run
/// let data = nystrom_data::catalog::load("data".as_ref(), "htru2")?;
/// println!("{}: {} × {}, target {}", data.name, data.x.nrows(), data.x.ncols(), data.target_name);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn load(data_dir: &Path, name: &str) -> Result<Dataset> {
    load_with(data_dir, name, Verify::Checksum)
}

/// [`load`] with the choice of what is verified.
///
/// # Errors
/// Those of [`load`].
pub fn load_with(data_dir: &Path, name: &str, verify: Verify) -> Result<Dataset> {
    load_entry(data_dir, find(name)?, verify)
}

/// All columns of the data set `name` as they stand in its files, for another choice of features, target or encoding.
///
/// # Errors
/// Those of [`load`].
///
/// ```no_run
/// use nystrom_data::catalog::{Verify, load_table};
///
/// // The class instead of the concentration.
/// let table = load_table("data".as_ref(), "gas-drift-batch2", Verify::Checksum)?;
/// let data = table.drop_columns(["concentration"])?.into_dataset("class")?;
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn load_table(data_dir: &Path, name: &str, verify: Verify) -> Result<Table> {
    load_table_entry(data_dir, find(name)?, verify)
}

/// [`load_with`] for an entry, e.g. one of the caller's own.
///
/// # Errors
/// Those of [`load`].
pub fn load_entry(data_dir: &Path, entry: &Entry, verify: Verify) -> Result<Dataset> {
    let table = (entry.prepare)(load_table_entry(data_dir, entry, verify)?)?;
    check_shape(entry, entry.name, (entry.rows, entry.features + 1), &table)?;
    let data = table.into_dataset(entry.target)?;
    let unverified = match verify {
        Verify::ShapeOnly => " Only the shape was checked, not the checksum.",
        Verify::Checksum if !entry.checksums_known() => " No checksum is known: only the shape was checked.",
        Verify::Checksum => "",
    };
    Ok(Dataset { name: entry.name.to_owned(), note: format!("{}{unverified}", entry.note).trim().to_owned(), ..data })
}

/// [`load_table`] for an entry, e.g. one of the caller's own.
///
/// # Errors
/// Those of [`load`].
pub fn load_table_entry(data_dir: &Path, entry: &Entry, verify: Verify) -> Result<Table> {
    let found = match locate_entry(data_dir, entry) {
        Located::Found(found) => found,
        Located::Missing(missing) => return Err(DataError::DatasetMissing(missing.to_string())),
    };
    let mut parts = Vec::new();
    for (file, path) in entry.files.iter().zip(&found.paths) {
        if verify == Verify::Checksum {
            check_sum(entry, file, path)?;
        }
        let table = (entry.format)().read_path(path)?;
        check_shape(entry, &path.display().to_string(), (file.rows, entry.columns), &table)?;
        parts.push(table);
    }
    Table::stack(parts)
}

fn check_sum(entry: &Entry, file: &File, path: &Path) -> Result<()> {
    let Some(expected) = file.sha256_uncompressed else { return Ok(()) };
    let found = sha256_uncompressed(path)?;
    if found != expected {
        return Err(DataError::ChecksumMismatch {
            file: path.display().to_string(),
            expected: expected.to_owned(),
            found,
            where_to_get: entry.source.to_owned(),
        });
    }
    Ok(())
}

fn check_shape(entry: &Entry, what: &str, (rows, columns): (usize, usize), table: &Table) -> Result<()> {
    let (found_rows, found_columns) = (table.rows(), table.columns().len());
    if (found_rows, found_columns) != (rows, columns) {
        let (what, where_to_get) = (what.to_owned(), entry.source.to_owned());
        return Err(DataError::ShapeMismatch { what, rows, columns, found_rows, found_columns, where_to_get });
    }
    Ok(())
}
