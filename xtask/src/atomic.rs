//! Files that are either the old ones or the new ones, never half of each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file through a temporary one in the same folder: write, fsync, rename, fsync the
/// folder.
///
/// The folder is made if it is not there.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let replaced =
        beside(path, bytes).and_then(|file| Ok(file.persist(path)?)).and_then(|_| settle(path));
    replaced.with_context(|| format!("cannot write {}", path.display()))
}

/// The same for a file that is not there yet; false, and nothing is touched, if one is.
pub fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<bool> {
    let failed = || format!("cannot write {}", path.display());
    match beside(path, bytes).with_context(failed)?.persist_noclobber(path) {
        Ok(_) => settle(path).map(|()| true).with_context(failed),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(failed),
    }
}

/// The bytes in a temporary file in the folder of `path`.
fn beside(path: &Path, bytes: &[u8]) -> anyhow::Result<tempfile::NamedTempFile> {
    let folder = folder(path);
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)] // temporary files are private; a report is to be read by others
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".half-written-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The new name is on the disk, too.
fn settle(path: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    std::fs::File::open(folder(path))?.sync_all()?;
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.txt");
        super::write(&path, b"first, long").unwrap();
        super::write(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert!(
            !super::create(&path, b"third").unwrap()
                && super::create(&dir.path().join("b"), b"fourth").unwrap()
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
