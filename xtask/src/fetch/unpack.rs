//! Files out of archives: zip, tar and gzip, one in another where the publisher packs so.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// Every file of an archive, also of archives in it, with its name. What is no archive is one file.
///
/// Archives are known by the end of their names. The names of files come without folder and without
/// `.gz`.
///
/// # Errors
/// If the archive is damaged.
pub fn unpack(path: &str, bytes: Vec<u8>) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut files = Vec::new();
    if name.ends_with(".zip") {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
        for i in 0..archive.len() {
            let file = archive.by_index(i)?;
            let path = file.name()?.into_owned();
            files.extend(unpack(&path, all(file)?)?);
        }
    } else if name.ends_with(".tgz") || name.ends_with(".tar.gz") {
        for file in tar::Archive::new(MultiGzDecoder::new(&bytes[..])).entries()? {
            let file = file?;
            let path = file.path()?.to_string_lossy().into_owned();
            files.extend(unpack(&path, all(file)?)?);
        }
    } else if let Some(name) = name.strip_suffix(".gz") {
        files.push((name.to_owned(), all(MultiGzDecoder::new(&bytes[..]))?));
    } else {
        files.push((name.to_owned(), bytes));
    }
    Ok(files)
}

/// All that comes.
pub fn all(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok(bytes)
}
