//! Loading a [`Dataset`] from its files, with checksum and shape verified.

use std::path::{Path, PathBuf};

use super::{
    Entry, File, Form, Located, Recognised, canonical, find, locate_entry, recognise,
    sha256_uncompressed,
};
use crate::error::{DataError, Result};
use crate::open::open;
use crate::{Dataset, Table};

/// The checks that a file is the one of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// The shape, and the SHA-256 of the uncompressed bytes or of the numbers, where the catalog
    /// has them. Bytes that differ are accepted if the [`identity`](super::identity) of the data
    /// set is that of the catalog, and the note of the data set then says so.
    #[default]
    Checksum,
    /// The shape only, for a copy with known and harmless differences. The note of the data set
    /// then says so.
    ShapeOnly,
}

/// Loads the data set `name` from `data_dir`, with checksums verified.
///
/// # Errors
/// [`DataError::UnknownDataset`]; [`DataError::DatasetMissing`], which says where to get the data;
/// [`DataError::ChecksumMismatch`]; [`DataError::IdentityMismatch`] for a copy in the canonical
/// form; [`DataError::ShapeMismatch`]; those of the readers.
///
/// ```no_run
/// let data = nystrom_data::catalog::load("data".as_ref(), "htru2")?;
/// println!("{}: {} × {}, target {}", data.name, data.x.nrows(), data.x.ncols(), data.target_name);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn load(data_dir: &Path, name: &str) -> Result<Dataset> {
    load_with(data_dir, name, Verify::Checksum)
}

/// Like [`load`], with a choice of the checks.
///
/// # Errors
/// Those of [`load`].
pub fn load_with(data_dir: &Path, name: &str, verify: Verify) -> Result<Dataset> {
    load_entry(data_dir, find(name)?, verify)
}

/// All columns of the data set `name` as in its files, for callers that choose features, target or
/// encoding themselves.
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

/// Like [`load_with`], for an entry, e.g. one of the caller's own.
///
/// # Errors
/// Those of [`load`].
pub fn load_entry(data_dir: &Path, entry: &Entry, verify: Verify) -> Result<Dataset> {
    let (table, proof) = read(data_dir, entry, verify)?;
    dataset(entry, table, proof)
}

/// Like [`load_table`], for an entry, e.g. one of the caller's own.
///
/// # Errors
/// Those of [`load`].
pub fn load_table_entry(data_dir: &Path, entry: &Entry, verify: Verify) -> Result<Table> {
    read(data_dir, entry, verify).map(|(table, _)| table)
}

/// How a table that was read has been verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// By the checksums of its files.
    Bytes,
    /// By its numbers.
    Numbers,
    /// By its shape only: the catalog has no checksum.
    Untried,
    /// By its shape only, as the caller chose.
    Shape,
}

/// The data set from a table of all columns.
pub(super) fn dataset(entry: &Entry, table: Table, proof: Proof) -> Result<Dataset> {
    let data = entry.prepared(entry.name, table)?;
    let said = match proof {
        Proof::Bytes => "",
        Proof::Numbers => {
            " Another packing, recognised by its numbers: its rows may stand in another order."
        }
        Proof::Untried => " No checksum is known: only the shape was checked.",
        Proof::Shape => " Only the shape was checked, not the checksum.",
    };
    Ok(Dataset {
        name: entry.name.to_owned(),
        note: format!("{}{said}", entry.note).trim().to_owned(),
        ..data
    })
}

fn read(data_dir: &Path, entry: &Entry, verify: Verify) -> Result<(Table, Proof)> {
    let found = match locate_entry(data_dir, entry) {
        Located::Found(found) => found,
        Located::Missing(missing) => return Err(DataError::DatasetMissing(missing.to_string())),
    };
    let (table, mismatch) = match found.form {
        Form::Files => {
            (stacked(entry, &found.paths)?, first_mismatch(entry, &found.paths, verify)?)
        }
        Form::Canonical => (canonical::format().read_path(&found.paths[0])?, None),
    };
    entry.check_shape(table.source(), (entry.rows_of_files(), entry.columns), &table)?;
    let by_bytes = found.form == Form::Files && entry.checksums_known() && mismatch.is_none();
    let proof = match verify {
        Verify::ShapeOnly => Proof::Shape,
        Verify::Checksum if by_bytes => Proof::Bytes,
        Verify::Checksum => match (recognise(entry, table.clone()), mismatch) {
            (Ok(Recognised::Yes), _) => Proof::Numbers,
            (_, Some(mismatch)) => return Err(mismatch),
            (Ok(Recognised::Untried), None) => Proof::Untried,
            (Err(error), None) => return Err(error),
        },
    };
    Ok((table, proof))
}

/// The rows of all files, each checked for its shape.
fn stacked(entry: &Entry, paths: &[PathBuf]) -> Result<Table> {
    let read = |(file, path): (&File, &PathBuf)| {
        let (mut bytes, name) = open(path)?;
        let table = (entry.read)(&mut bytes, &name)?;
        entry.check_shape(&name, (file.rows, entry.columns), &table)?;
        Ok(table)
    };
    Table::stack(entry.files.iter().zip(paths).map(read).collect::<Result<Vec<_>>>()?)
}

/// An error for the first file whose checksum is not that of the catalog; `None` with
/// [`Verify::ShapeOnly`].
fn first_mismatch(entry: &Entry, paths: &[PathBuf], verify: Verify) -> Result<Option<DataError>> {
    if verify == Verify::ShapeOnly {
        return Ok(None);
    }
    for (file, path) in entry.files.iter().zip(paths) {
        let Some(expected) = file.sha256_uncompressed else { continue };
        let found = sha256_uncompressed(path)?;
        if found != expected {
            return Ok(Some(DataError::ChecksumMismatch {
                file: path.display().to_string(),
                expected: expected.to_owned(),
                found,
                where_to_get: entry.source.to_owned(),
            }));
        }
    }
    Ok(None)
}
