//! Opening files.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::{DataError, Result};

/// Opens the file at `path`. Returns the file and its display name.
#[expect(clippy::disallowed_methods, reason = "loaders read files")]
pub(crate) fn open(path: &Path) -> Result<(File, String)> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((file, name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(Path::new(""));
            let looked_in = std::path::absolute(if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            });
            let looked_in = looked_in
                .map_or_else(|_| parent.display().to_string(), |full| full.display().to_string());
            Err(DataError::NotFound { file: name, looked_in })
        }
        Err(source) => Err(DataError::Io { file: name, source }),
    }
}
