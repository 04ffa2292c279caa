//! Files that are either the old ones or the new ones, never half of each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use tempfile::NamedTempFile;

/// Writes a file through a temporary one in the same folder: write, fsync, rename.
///
/// The folder is made if it is not there.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || anyhow::Ok(beside(path, bytes)?.persist(path)?);
    write().map(drop).with_context(|| format!("cannot write {}", path.display()))
}

/// The same, unless that is the file's text already; whether it was written.
pub fn update(path: &Path, bytes: &[u8]) -> anyhow::Result<bool> {
    let same = std::fs::read(path).is_ok_and(|old| old == bytes);
    if same { Ok(false) } else { write(path, bytes).map(|()| true) }
}

/// The same for a file that is not there yet; false, and nothing is touched, if one is.
#[cfg(any(test, feature = "fetch"))]
pub fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<bool> {
    let create = || match beside(path, bytes)?.persist_noclobber(path) {
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => anyhow::Ok(false),
        created => Ok(created.map(|_| true)?),
    };
    create().with_context(|| format!("cannot write {}", path.display()))
}

/// The bytes in a temporary file in the folder of `path`.
fn beside(path: &Path, bytes: &[u8]) -> anyhow::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)] // temporary files are private; a report is to be read by others
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".half-written-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.txt");
        assert!(super::create(&path, b"first, long").unwrap());
        super::write(&path, b"second").unwrap();
        assert!(!super::create(&path, b"third").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
