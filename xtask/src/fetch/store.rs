//! From the bytes of a publisher's files to the files of the catalogue: read, recognised, and only
//! then written.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use flate2::{Compression, write::GzEncoder};
use nystrom_data::catalog::{self, Entry, Recognised, Verify};
use nystrom_data::{Csv, Table};

use super::sources::Layout;
use crate::atomic;

/// What was written.
pub struct Stored {
    /// The new files.
    pub files: Vec<PathBuf>,
    /// Whether the numbers are known to be right.
    pub recognised: Recognised,
    /// The identity of the data set as it is loaded.
    pub identity: String,
}

/// Reads the uncompressed bytes of the files of a data set, makes sure of what it is, and writes it
/// below `data`.
///
/// # Errors
/// If the bytes do not parse, have another shape or other numbers than the catalogue knows; then
/// nothing is written. If a file cannot be written, or what is there afterwards is not the data
/// set; then what was written is removed again.
pub fn store(
    data: &Path,
    entry: &Entry,
    layout: Layout,
    parts: &[Vec<u8>],
) -> anyhow::Result<Stored> {
    let read = |(i, bytes): (usize, &Vec<u8>)| {
        table(entry, layout, bytes, &format!("{}, file {}", entry.name, i + 1))
    };
    let table =
        Table::stack(parts.iter().enumerate().map(read).collect::<anyhow::Result<Vec<_>>>()?)?;
    let recognised = catalog::recognise(entry, table.clone())?;
    let mut files = Vec::new();
    let written = write(data, entry, layout, parts, &table, &mut files);
    let loaded = written.and_then(|()| Ok(catalog::load_entry(data, entry, Verify::Checksum)?));
    match loaded {
        Ok(set) => Ok(Stored { files, recognised, identity: catalog::identity(&set) }),
        Err(error) => {
            for file in files {
                std::fs::remove_file(&file)
                    .with_context(|| format!("cannot remove {}", file.display()))?;
            }
            Err(error)
        }
    }
}

/// The catalogue's own files where the bytes are those, one canonical file where they are packed
/// otherwise.
fn write(
    data: &Path,
    entry: &Entry,
    layout: Layout,
    parts: &[Vec<u8>],
    table: &Table,
    new: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    let mut create = |path: PathBuf, bytes: &[u8]| {
        let compress = path.extension().is_some_and(|end| end == "gz");
        let bytes = if compress { gzip(bytes)? } else { bytes.to_vec() };
        if atomic::create(&path, &bytes)? {
            new.push(path);
        }
        anyhow::Ok(())
    };
    match layout {
        Layout::Catalogue => {
            ensure!(
                parts.len() == entry.files.len(),
                "{} files for {}",
                parts.len(),
                entry.files.len()
            );
            entry
                .files
                .iter()
                .zip(parts)
                .try_for_each(|(file, bytes)| create(data.join(file.path), bytes))
        }
        _ => create(data.join(entry.canonical_path()), table.to_csv().as_bytes()),
    }
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, bytes)?;
    encoder.finish()
}

/// One file of a publisher as a table with the catalogue's columns.
fn table(entry: &Entry, layout: Layout, mut bytes: &[u8], name: &str) -> anyhow::Result<Table> {
    let names: Vec<String> = match layout {
        Layout::Catalogue => return Ok((entry.read)(&mut bytes, name)?),
        Layout::Columns(names) => names.iter().map(|&name| name.to_owned()).collect(),
        Layout::TargetLast => {
            (1..entry.columns).map(|i| format!("c{i}")).chain([entry.target.to_owned()]).collect()
        }
    };
    let first =
        bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default()).into_owned();
    let delimiter = [',', ';', '\t'].into_iter().find(|&delimiter| first.contains(delimiter));
    let field = first
        .split(|c: char| delimiter.map_or(c.is_whitespace(), |delimiter| c == delimiter))
        .next();
    let header = field.is_none_or(|field| field.trim().trim_matches('"').parse::<f64>().is_err());
    let reader = match delimiter {
        Some(delimiter) => Csv::new().delimiter(delimiter as u8),
        None => Csv::new().white_space(),
    };
    Ok(reader.skip_lines(header.into()).names(names).read(bytes, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::testing::{TINY, tiny};

    /// What lies in a folder, as paths below it.
    fn listing(folder: &Path) -> Vec<String> {
        let mut paths = vec![];
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { paths.push(path) }
            }
        }
        let mut names: Vec<String> = paths
            .iter()
            .map(|path| path.strip_prefix(folder).unwrap().display().to_string())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_layout_of_the_same_numbers_becomes_the_data_set() {
        let columns = Layout::Columns(&["x", "y"]);
        let cases: [(Layout, &str, &str); 7] = [
            (Layout::Catalogue, TINY, "tiny/tiny.csv"),
            (columns, "1,2\n3,4\n", "tiny/table.csv.gz"),
            (columns, "A,B\r\n1,2\r\n3,4\r\n", "tiny/table.csv.gz"),
            (columns, "\"a\"\t\"b\"\n3\t4\n1\t2\n", "tiny/table.csv.gz"),
            (columns, "1.0;2\n3;4e0\n", "tiny/table.csv.gz"),
            (Layout::TargetLast, " 1  2 \n 3 4\n", "tiny/table.csv.gz"),
            (Layout::TargetLast, "1,2\n3,4\n", "tiny/table.csv.gz"),
        ];
        for (layout, text, path) in cases {
            let dir = tempfile::tempdir().unwrap();
            let stored = store(dir.path(), &tiny(), layout, &[text.into()])
                .unwrap_or_else(|e| panic!("{text:?}: {e}"));
            assert_eq!(stored.recognised, Recognised::Yes);
            assert_eq!(Some(stored.identity.as_str()), tiny().identity);
            assert_eq!(listing(dir.path()), [path], "{text:?}");
            let data = catalog::load_entry(dir.path(), &tiny(), Verify::Checksum).unwrap();
            assert_eq!(data.y.iter().sum::<f64>(), 6.0);
        }
    }

    #[test]
    fn other_numbers_leave_nothing_behind() {
        for text in ["x,y\n1,2\n3,5\n", "x,y\n1,2\n", "x,y\n1,2\n3,four\n", "<html>"] {
            for layout in [Layout::Catalogue, Layout::Columns(&["x", "y"])] {
                let dir = tempfile::tempdir().unwrap();
                assert!(store(dir.path(), &tiny(), layout, &[text.into()]).is_err(), "{text:?}");
                assert_eq!(listing(dir.path()), [""; 0], "{text:?}");
            }
        }
    }

    #[test]
    fn files_that_are_there_are_never_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tiny/tiny.csv");
        atomic::write(&path, b"mine").unwrap();
        assert!(
            store(dir.path(), &tiny(), Layout::Catalogue, &[TINY.into()]).is_err(),
            "mine is not the data set"
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(listing(dir.path()), ["tiny/tiny.csv"]);
    }

    #[test]
    fn numbers_that_nobody_knows_are_stored_as_untried() {
        let dir = tempfile::tempdir().unwrap();
        let unknown = Entry { identity: None, ..tiny() };
        let stored =
            store(dir.path(), &unknown, Layout::TargetLast, &[b"5,6\n7,8\n".to_vec()]).unwrap();
        assert_eq!((stored.recognised, stored.identity.len()), (Recognised::Untried, 64));
    }
}
