//! The files that a path, folder or pattern stands for.

use std::path::{Path, PathBuf};

use crate::error::{DataError, Result};

/// The files that `path` stands for: the file itself, the files directly in a folder, or the files
/// that match a pattern with `*`, `?` or `[…]`, sorted by the bytes of their names. In folders and
/// patterns, names that begin with `.` or `_` are skipped: programs give them to unfinished output.
///
/// # Errors
/// [`DataError::NoFiles`] if a folder or pattern has no files; [`DataError::Io`]. Whether a single
/// file exists is not checked.
///
/// ```
/// use nystrom_data::{DataError, find_files};
/// assert_eq!(find_files("one.csv")?, [std::path::PathBuf::from("one.csv")]);
/// assert!(matches!(find_files("no/such/*.csv"), Err(DataError::NoFiles { .. })));
/// # Ok::<(), DataError>(())
/// ```
#[expect(clippy::disallowed_methods, reason = "loaders read files")]
pub fn find_files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let wrong = DataError::io(&name);
    let is_pattern = name.contains(['*', '?', '[']) && !path.exists();
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(wrong)?;
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<std::result::Result<_, _>>()
            .map_err(wrong)?
    } else if is_pattern {
        let paths = glob::glob(&name).map_err(|error| wrong(std::io::Error::other(error)))?;
        paths.collect::<std::result::Result<_, _>>().map_err(|error| wrong(error.into()))?
    } else {
        return Ok(vec![path.to_owned()]);
    };
    files.retain(|file| file.is_file() && !is_mark(file));
    if files.is_empty() {
        return Err(DataError::NoFiles { pattern: name });
    }
    files.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    Ok(files)
}

fn is_mark(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.as_encoded_bytes());
    name.is_none_or(|name| matches!(name.first(), Some(b'.' | b'_') | None))
}
