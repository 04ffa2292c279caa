//! Files of a run: written whole or not at all, and read as JSON.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::de::DeserializeOwned;

/// Writes a file through a temporary one in the same folder: write, fsync, rename. A file that has
/// these bytes already is left alone. Whether it was written.
///
/// The folder is made if it is not there.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<bool> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    let write = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)] // temporary files are private; a report is to be read by others
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file = builder.prefix(".half-written-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        anyhow::Ok(file.persist(path)?)
    };
    write().map(|_| true).with_context(|| format!("cannot write {}", path.display()))
}

/// What a run has written as JSON.
pub fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is not what a run writes", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.txt");
        assert!(super::write(&path, b"first, long").unwrap());
        assert!(super::write(&path, b"second").unwrap());
        assert!(!super::write(&path, b"second").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
