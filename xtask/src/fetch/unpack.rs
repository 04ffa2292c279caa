//! Files out of archives: zip, tar and gzip, one in another where the publisher packs so.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;

/// Shows every file of an archive, also of archives in it, to `visit`, with its name. What is no
/// archive is one file.
///
/// Names end as their packing says. `visit` is given names without folder and without `.gz`.
///
/// # Errors
/// If the archive is damaged; those of `visit`.
pub fn unpack(
    path: &str,
    bytes: &mut dyn Read,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.ends_with(".zip") {
        let mut whole = Vec::new();
        bytes.read_to_end(&mut whole)?;
        let mut archive = zip::ZipArchive::new(Cursor::new(whole))?;
        for i in 0..archive.len() {
            let mut file = archive.by_index(i)?;
            let path = file.name()?.into_owned();
            unpack(&path, &mut file, visit)?;
        }
    } else if name.ends_with(".tgz") || name.ends_with(".tar.gz") {
        for file in tar::Archive::new(MultiGzDecoder::new(bytes)).entries()? {
            let mut file = file?;
            let path = file.path()?.to_string_lossy().into_owned();
            unpack(&path, &mut file, visit)?;
        }
    } else if let Some(name) = name.strip_suffix(".gz") {
        visit(name, &mut MultiGzDecoder::new(bytes))?;
    } else {
        visit(name, bytes)?;
    }
    Ok(())
}
