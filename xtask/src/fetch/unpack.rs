//! Files out of archives: zip, tar and gzip, one in another where the publisher packs so.

use std::io::{Cursor, Read};

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;

/// No file of a data set is as large: one that unpacks to more is something else.
const MOST_BYTES: u64 = 1 << 30;
/// Archives in archives in archives are not followed any further.
const DEPTH: usize = 3;

/// The uncompressed bytes of the wanted files, in the order of `wanted`.
///
/// A file is known by its name without folder and without `.gz`, in upper or lower case. Bytes that
/// are no archive are one file, whatever it is called.
///
/// # Errors
/// If the bytes are damaged or hold no such file; the message says what is there.
pub fn unpack(bytes: Vec<u8>, wanted: &[&str]) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut search = Search { wanted, found: vec![None; wanted.len()], seen: Vec::new() };
    if !search.archive(&bytes, DEPTH)? {
        let bytes = gunzipped(bytes)?;
        let is_page = bytes.trim_ascii_start().starts_with(b"<");
        if wanted.len() != 1 || is_page {
            bail!("it is no archive and no table; it begins with {:?}", beginning(&bytes));
        }
        return Ok(vec![bytes]);
    }
    let missing: Vec<&str> = search.missing().collect();
    if !missing.is_empty() {
        bail!("it does not hold {}; it holds {}", missing.join(", "), search.seen.join(", "));
    }
    Ok(search.found.into_iter().flatten().collect())
}

struct Search<'a> {
    wanted: &'a [&'a str],
    found: Vec<Option<Vec<u8>>>,
    /// The names of all files, for the message.
    seen: Vec<String>,
}

impl Search<'_> {
    /// Looks through an archive; false if the bytes are none.
    fn archive(&mut self, bytes: &[u8], depth: usize) -> anyhow::Result<bool> {
        if depth == 0 {
            bail!("archives are packed into one another more than {DEPTH} deep");
        }
        if bytes.starts_with(b"PK\x03\x04") {
            self.zip(bytes, depth)?;
        } else if is_gzip(bytes) {
            let inner = gunzipped(bytes.to_vec())?;
            if !is_tar(&inner) {
                return Ok(false);
            }
            self.tar(&inner, depth)?;
        } else if is_tar(bytes) {
            self.tar(bytes, depth)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn zip(&mut self, bytes: &[u8], depth: usize) -> anyhow::Result<()> {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
            .context("the zip archive is damaged or cut short")?;
        for i in 0..archive.len() {
            let mut file = archive.by_index(i).context("the zip archive is damaged")?;
            let name =
                file.name().context("a file in the zip archive has no readable name")?.into_owned();
            if !file.is_dir() {
                self.file(&name, &mut file, depth)?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, bytes: &[u8], depth: usize) -> anyhow::Result<()> {
        for entry in tar::Archive::new(bytes).entries().context("the tar archive is damaged")? {
            let mut entry = entry.context("the tar archive is damaged or cut short")?;
            let name = entry
                .path()
                .context("a file in the tar archive has no name")?
                .to_string_lossy()
                .into_owned();
            if entry.header().entry_type().is_file() {
                self.file(&name, &mut entry, depth)?;
            }
        }
        Ok(())
    }

    /// Keeps a file if it is wanted; opens it if it is an archive.
    fn file(&mut self, path: &str, reader: &mut dyn Read, depth: usize) -> anyhow::Result<()> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
        self.seen.push(path.to_owned());
        let place = self.wanted.iter().position(|wanted| same(wanted, &name));
        let nested = [".zip", ".tgz", ".tar.gz", ".tar"].iter().any(|end| name.ends_with(end));
        if place.is_none() && !nested {
            return Ok(());
        }
        let bytes = read(reader).with_context(|| format!("{path} is damaged"))?;
        match place {
            Some(place) => {
                if self.found[place].is_none() {
                    self.found[place] = Some(gunzipped(bytes).with_context(|| path.to_owned())?);
                }
            }
            None => {
                self.archive(&bytes, depth - 1).with_context(|| path.to_owned())?;
            }
        }
        Ok(())
    }

    fn missing(&self) -> impl Iterator<Item = &str> {
        self.wanted
            .iter()
            .zip(&self.found)
            .filter(|(_, found)| found.is_none())
            .map(|(name, _)| *name)
    }
}

fn same(wanted: &str, name: &str) -> bool {
    let wanted = wanted.to_lowercase();
    wanted.trim_end_matches(".gz") == name.trim_end_matches(".gz")
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Whether the first block has the checksum of a tar header: the tars of the nineties have no magic
/// number.
fn is_tar(bytes: &[u8]) -> bool {
    let Some(block) = bytes.get(..512) else { return false };
    let byte = |(i, &byte): (usize, &u8)| {
        if (148..156).contains(&i) { u32::from(b' ') } else { u32::from(byte) }
    };
    let sum: u32 = block.iter().enumerate().map(byte).sum();
    tar::Header::from_byte_slice(block).cksum().is_ok_and(|stored| stored == sum)
}

fn gunzipped(bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    if !is_gzip(&bytes) {
        return Ok(bytes);
    }
    read(&mut MultiGzDecoder::new(&bytes[..])).context("the gzip file is damaged or cut short")
}

fn read(reader: &mut dyn Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("it unpacks to more than {MOST_BYTES} bytes");
    }
    Ok(bytes)
}

/// The first characters, for a message: a page of HTML gives itself away.
fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::testing::{gzip, tar, tar_with, zip};

    fn texts(bytes: Vec<u8>, wanted: &[&str]) -> anyhow::Result<Vec<String>> {
        Ok(unpack(bytes, wanted)?
            .into_iter()
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .collect())
    }

    #[test]
    fn files_are_found_in_every_packing() {
        let files = [("Folder/A.data", "1"), ("Folder/b.test", "2"), ("readme", "3")]
            .map(|(n, t)| (n, t.as_bytes()));
        let nested = zip(&[("inner.zip", &zip(&files)), ("other.csv", b"4")]);
        let twice = zip(&[("inner.tgz", &gzip(&tar(&files)))]);
        let old = gzip(&tar_with(&tar::Header::new_old(), &files));
        let compressed = gzip(&tar(&[("x/a.data.gz", &gzip(b"1")), ("b.TEST", b"2")]));
        for archive in
            [zip(&files), tar(&files), gzip(&tar(&files)), nested, twice, old, compressed]
        {
            assert_eq!(texts(archive, &["a.data", "b.test"]).unwrap(), ["1", "2"]);
        }
        assert_eq!(texts(b"1,2\n".to_vec(), &["whatever.csv"]).unwrap(), ["1,2\n"]);
        assert_eq!(texts(gzip(b"1,2\n"), &["whatever.csv"]).unwrap(), ["1,2\n"]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let message =
            |bytes: Vec<u8>, wanted: &[&str]| format!("{:#}", unpack(bytes, wanted).unwrap_err());
        let text = message(zip(&[("x/c.csv", b"")]), &["a.csv", "c.csv"]);
        assert!(text.contains("does not hold a.csv") && text.contains("x/c.csv"), "{text}");
        for wanted in [&["a", "b"][..], &["a"]] {
            let text = message(b" <!DOCTYPE html><p>Moved".to_vec(), wanted);
            assert!(text.contains("<!DOCTYPE html>"), "{text}");
        }
        let deep = (0..4).fold(zip(&[("a.csv", b"1")]), |inner, _| zip(&[("in.zip", &inner)]));
        assert!(message(deep, &["a.csv"]).contains("deep"));
    }

    #[test]
    fn an_archive_cut_anywhere_is_refused() {
        let files = [("a.csv", b"1,2,3\n".repeat(50)), ("b.csv", b"4,5,6\n".repeat(50))];
        let files = [(files[0].0, files[0].1.as_slice()), (files[1].0, files[1].1.as_slice())];
        for whole in [zip(&files), gzip(&tar(&files))] {
            for length in (0..whole.len()).step_by(11) {
                assert!(
                    unpack(whole[..length].to_vec(), &["a.csv", "b.csv"]).is_err(),
                    "cut at {length}"
                );
            }
        }
    }
}
