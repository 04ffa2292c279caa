//! Files that are either the old ones or the new ones, never half of each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file through a temporary one in the same folder: write, fsync, rename, fsync the folder.
///
/// The folder is made if it is not there.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    try_write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn try_write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)] // temporary files are private; a report is to be read by others
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".half-written-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    Ok(())
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
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
