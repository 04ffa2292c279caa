//! Archives that are there already, so that nothing is downloaded: what becomes of them.

use std::io::Write;

use nystrom_data::catalog::File;

use super::*;

/// A data set of two rows.
const TINY: &[u8] = b"x,y\n1,2\n3,4\n";

fn tiny() -> Entry {
    static FILES: [File; 1] =
        [File { path: "tiny/tiny.csv.gz", rows: 2, sha256: None, sha256_uncompressed: None }];
    Entry {
        name: "tiny",
        title: "Two rows",
        files: &FILES,
        columns: 2,
        rows: 2,
        features: 1,
        identity: Some("90b21626adc9da2518ad4c90584ddc812644f79139975e98cb3af7e67695dd1d"),
        target: "y",
        source: "Nowhere id 0",
        read: |file, name| Csv::new().read(file, name),
        prepare: Ok,
        ..catalog::find("casp").unwrap().clone()
    }
}

fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    all(GzEncoder::new(bytes, Compression::best())).unwrap()
}

fn tar_gz(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_old(); // as in the nineties
    header.set_size(bytes.len() as u64);
    builder.append_data(&mut header, name, bytes).unwrap();
    gzip(&builder.into_inner().unwrap())
}

/// Fetches [`tiny`] into `data`, where these bytes count as downloaded from `path`.
fn fetch_from(
    data: &Path,
    path: &'static str,
    bytes: &[u8],
    contents: Contents,
) -> anyhow::Result<String> {
    let way = Way { site: "https://nowhere.example/", path, contents };
    let end = if path.ends_with('/') { "tiny.csv" } else { "" };
    let archive = file_name(&format!("{}{path}{end}", way.site));
    atomic::write(&data.join(ARCHIVES).join(archive), bytes)?;
    bring(data, &tiny(), Some(&[way]))
}

#[test]
fn every_packing_becomes_the_files_of_the_catalogue() {
    use Contents::*;
    let (columns, last) = (|| Columns(&["x", "y"]), || TargetLast(&["tiny.data"]));
    let cases = [
        ("folder/", TINY.to_vec(), Catalogue, "tiny.csv.gz"),
        ("a+b.zip", zip("Tiny/tiny.csv", TINY), Catalogue, "tiny.csv.gz"),
        ("a.tar.gz", tar_gz("tiny.csv.gz", &gzip(TINY)), Catalogue, "tiny.csv.gz"),
        ("in.zip", zip("in/a.zip", &zip("tiny.csv", TINY)), Catalogue, "tiny.csv.gz"),
        ("a.zip", zip("tiny.csv", b"A;B\r\n1;2\r\n3;4\r\n"), columns(), "table.csv.gz"),
        ("a.tgz", tar_gz("Tiny/TINY.data", b" 3.0  4 \n 1 2\n"), last(), "table.csv.gz"),
        ("b.tgz", tar_gz("tiny.data", b"1,2\n3,4e0\n"), last(), "table.csv.gz"),
    ];
    for (path, bytes, contents, file) in cases {
        let dir = tempfile::tempdir().unwrap();
        let said = fetch_from(dir.path(), path, &bytes, contents).unwrap();
        assert!(said.contains(file) && said.contains("those of the catalogue"), "{path}: {said}");
        let record = recorded(dir.path()).unwrap();
        assert_eq!((record.len(), &record[0]["status"]), (1, &json!("recognised")));
        assert_eq!(record[0]["downloads"][0]["sha256"], sha256(&bytes));
        let again = bring(dir.path(), &tiny(), Some(&[])).unwrap();
        assert!(again.starts_with("there already"), "{again}");
    }
}

#[test]
fn other_numbers_leave_nothing_behind() {
    let page = b"<!DOCTYPE html>".to_vec();
    let cut = zip("tiny.csv", TINY)[..40].to_vec();
    for bytes in [zip("tiny.csv", b"x,y\n1,2\n3,5\n"), zip("other.csv", TINY), page, cut] {
        let dir = tempfile::tempdir().unwrap();
        let error = fetch_from(dir.path(), "a.zip", &bytes, Contents::Catalogue).unwrap_err();
        assert!(error.to_string().contains("any of its addresses; get it from Nowhere"), "{error}");
        assert_eq!(fs::read_dir(dir.path().join(ARCHIVES)).unwrap().count(), 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn what_is_there_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(RECORD), "notes of mine").unwrap();
    let error = fetch_from(dir.path(), "folder/", TINY, Contents::Catalogue).unwrap_err();
    assert!(error.to_string().contains("move it away"), "{error}");
    assert_eq!(fs::read(dir.path().join(RECORD)).unwrap(), b"notes of mine");
}
