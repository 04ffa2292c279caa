//! The catalog without its data: small files written here, under entries of one's own or with the
//! shape only checked.

use std::path::{Path, PathBuf};

use crate::common::gzip;
use nystrom_data::catalog::{self, Entry, File, Form, Located, Recognised, Verify};
use nystrom_data::{Csv, DataError};

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nystrom-data-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn clear(&self) {
        std::fs::remove_dir_all(&self.0).unwrap();
        std::fs::create_dir_all(&self.0).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `sha256sum` of "x,y\n1,2\n3,4\n".
const SHA: &str = "2a2b86e74ffd5e6a9b75e52a105cf9d02920837179f8e8961aa15411d380f7a3";
const TEXT: &str = "x,y\n1,2\n3,4\n";
/// Of its numbers, in Python: `hashlib.sha256(b"nystrom data set 1\n" + struct.pack("<2Q4d", 2, 1,
/// 1, 2, 3, 4))`.
const IDENTITY: &str = "90b21626adc9da2518ad4c90584ddc812644f79139975e98cb3af7e67695dd1d";

static FILES: [File; 1] =
    [File { path: "tiny/tiny.csv.gz", rows: 2, sha256: None, sha256_uncompressed: Some(SHA) }];

fn entry() -> Entry {
    Entry {
        name: "tiny",
        aliases: &[],
        title: "Two rows",
        files: &FILES,
        columns: 2,
        rows: 2,
        features: 1,
        identity: None,
        target: "y",
        source: "Nowhere id 0",
        licence: "Public domain.",
        note: "Made up.",
        read: |file, name| Csv::new().read(file, name),
        prepare: Ok,
    }
}

#[test]
fn plain_and_gzip_copies_pass_in_every_place() {
    let folder = Folder::new("places");
    let places = ["tiny/tiny.csv.gz", "tiny/tiny.csv", "tiny.csv.gz", "tiny.csv"];
    for (i, place) in places.into_iter().enumerate() {
        folder.clear();
        // Half of them with a name that says the opposite of what they are.
        let bytes = if i % 3 == 0 { gzip(TEXT.as_bytes()) } else { TEXT.as_bytes().to_vec() };
        folder.write(place, &bytes);
        let data = catalog::load_entry(&folder.0, &entry(), Verify::Checksum).unwrap();
        assert_eq!(
            (data.y.as_slice(), data.name.as_str(), data.note.as_str()),
            (&[2.0, 4.0][..], "tiny", "Made up.")
        );
    }
}

#[test]
fn other_bytes_are_refused_unless_the_caller_says_so() {
    let folder = Folder::new("bytes");
    let crlf = TEXT.replace('\n', "\r\n");
    folder.write("tiny.csv", crlf.as_bytes());
    match catalog::load_entry(&folder.0, &entry(), Verify::Checksum) {
        Err(error @ DataError::ChecksumMismatch { .. }) => {
            let message = error.to_string();
            for part in ["tiny.csv", SHA, "Nowhere id 0", "Verify::ShapeOnly"] {
                assert!(message.contains(part), "{message}");
            }
        }
        other => panic!("{other:?}"),
    }
    let data = catalog::load_entry(&folder.0, &entry(), Verify::ShapeOnly).unwrap();
    assert_eq!(
        (data.y, data.note.as_str()),
        (vec![2.0, 4.0], "Made up. Only the shape was checked, not the checksum.")
    );
}

#[test]
fn another_packing_is_recognised_by_its_numbers() {
    let folder = Folder::new("packing");
    let entry = Entry { identity: Some(IDENTITY), ..entry() };
    let other = "Another packing, recognised by its numbers: its rows may stand in another order.";
    for text in ["x,y\r\n1,2\r\n3,4\r\n", "x,y\n3.0,4\n1e0,2\n", "x, y\n1,2\n3,4"] {
        folder.write("tiny.csv", text.as_bytes());
        let data = catalog::load_entry(&folder.0, &entry, Verify::Checksum).unwrap();
        assert_eq!(data.note, format!("Made up. {other}"), "{text:?}");
        assert_eq!(
            catalog::load_table_entry(&folder.0, &entry, Verify::Checksum).unwrap().rows(),
            2
        );
    }
    folder.write("tiny.csv", TEXT.as_bytes());
    assert_eq!(catalog::load_entry(&folder.0, &entry, Verify::Checksum).unwrap().note, "Made up.");
    folder.write("tiny.csv", b"x,y\n1,2\n3,5\n");
    let refused = catalog::load_entry(&folder.0, &entry, Verify::Checksum).unwrap_err();
    assert!(matches!(&refused, DataError::ChecksumMismatch { .. }), "{refused}");
    assert!(refused.to_string().contains("its numbers differ, too"), "{refused}");
}

#[test]
fn the_canonical_form_stands_in_for_the_files() {
    let folder = Folder::new("canonical");
    let known = Entry { identity: Some(IDENTITY), ..entry() };
    for (place, bytes) in
        [("tiny/table.csv", TEXT.as_bytes().to_vec()), ("tiny/table.csv.gz", gzip(TEXT.as_bytes()))]
    {
        folder.clear();
        folder.write(place, &bytes);
        let Located::Found(found) = catalog::locate_entry(&folder.0, &known) else {
            panic!("{place} is not seen")
        };
        assert_eq!(found.form, Form::Canonical);
        let data = catalog::load_entry(&folder.0, &known, Verify::Checksum).unwrap();
        assert!(
            data.y == [2.0, 4.0] && data.note.contains("recognised by its numbers"),
            "{}",
            data.note
        );
    }
    // The files go before it; other numbers are refused; where no identity is known, it is said.
    folder.write("tiny.csv", TEXT.as_bytes());
    assert_eq!(catalog::load_entry(&folder.0, &known, Verify::Checksum).unwrap().note, "Made up.");
    folder.clear();
    folder.write("tiny/table.csv", b"x,y\n1,2\n3,5\n");
    let refused = catalog::load_entry(&folder.0, &known, Verify::Checksum).unwrap_err();
    assert!(matches!(&refused, DataError::IdentityMismatch { .. }), "{refused}");
    for part in ["table.csv", "\"tiny\"", IDENTITY, "Nowhere id 0"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    assert!(catalog::load_entry(&folder.0, &known, Verify::ShapeOnly).is_ok());
    let data = catalog::load_entry(&folder.0, &entry(), Verify::Checksum).unwrap();
    assert_eq!(data.note, "Made up. No checksum is known: only the shape was checked.");
    folder.write("tiny/table.csv", b"x,y\n1,2\n");
    assert!(matches!(
        catalog::load_entry(&folder.0, &known, Verify::ShapeOnly),
        Err(DataError::ShapeMismatch { found_rows: 1, .. })
    ));
}

#[test]
fn the_identity_is_that_of_the_numbers_alone() {
    let read = |text: &str| Csv::new().read(text.as_bytes(), "t.csv").unwrap();
    let of = |text: &str| catalog::identity(&read(text).into_dataset("y").unwrap());
    assert_eq!(of(TEXT), IDENTITY);
    for same in ["b,y\n3,4\n1,2\n", "y,x\n2,1\n4,3\n", "x,y\n1.000,2e0\n30e-1,4\n"] {
        assert_eq!(of(same), IDENTITY, "{same:?}");
    }
    // One bit of one number; a row twice; the columns exchanged; two rows that exchange their
    // targets.
    let ulp = format!("x,y\n{},2\n3,4\n", 1.0_f64.next_up());
    for other in [ulp.as_str(), "x,y\n1,2\n3,4\n3,4\n", "y,x\n1,2\n3,4\n", "x,y\n1,4\n3,2\n"] {
        assert_ne!(of(other), IDENTITY, "{other:?}");
    }
    assert_eq!(of("x,y\n0,-0\n"), of("x,y\n-0.0,0\n"));
    let known = Entry { identity: Some(IDENTITY), ..entry() };
    assert_eq!(catalog::recognise(&known, read(TEXT)).unwrap(), Recognised::Yes);
    assert_eq!(catalog::recognise(&entry(), read(TEXT)).unwrap(), Recognised::Untried);
}

#[test]
fn other_shapes_are_refused_always() {
    let folder = Folder::new("shapes");
    for (text, found) in [
        ("x,y\n1,2\n", (1, 2)),
        ("x,y\n1,2\n3,4\n5,6\n", (3, 2)),
        ("x,y,z\n1,2,3\n3,4,5\n", (2, 3)),
    ] {
        folder.write("tiny.csv", text.as_bytes());
        match catalog::load_entry(&folder.0, &entry(), Verify::ShapeOnly) {
            Err(DataError::ShapeMismatch {
                rows: 2,
                columns: 2,
                found_rows,
                found_columns,
                ..
            }) => {
                assert_eq!((found_rows, found_columns), found);
            }
            other => panic!("{other:?}"),
        }
    }
    // A preparation that does not give what the entry promises.
    folder.write("tiny.csv", TEXT.as_bytes());
    let entry = Entry { prepare: |table| table.select_rows(&[0]), ..entry() };
    assert!(matches!(
        catalog::load_entry(&folder.0, &entry, Verify::ShapeOnly),
        Err(DataError::ShapeMismatch { found_rows: 1, .. })
    ));
}

#[test]
fn truncated_gzip_is_named_as_such() {
    let folder = Folder::new("truncated");
    let whole = gzip(TEXT.as_bytes());
    folder.write("tiny.csv.gz", &whole[..whole.len() - 3]);
    let error = catalog::load_entry(&folder.0, &entry(), Verify::Checksum).unwrap_err();
    assert!(error.to_string().contains("break off after"), "{error}");
}

#[test]
fn unknown_checksums_are_admitted() {
    let folder = Folder::new("unknown");
    static UNSEEN: [File; 1] =
        [File { path: "tiny/t.csv", rows: 2, sha256: None, sha256_uncompressed: None }];
    let entry = Entry { files: &UNSEEN, ..entry() };
    folder.write("t.csv", TEXT.as_bytes());
    // Without a checksum only the full path tells that this is the right file.
    assert!(matches!(catalog::locate_entry(&folder.0, &entry), Located::Missing(_)));
    folder.write("tiny/t.csv", TEXT.as_bytes());
    let data = catalog::load_entry(&folder.0, &entry, Verify::Checksum).unwrap();
    assert_eq!(data.note, "Made up. No checksum is known: only the shape was checked.");
}

#[test]
fn what_is_missing_is_told_in_full() {
    let folder = Folder::new("missing");
    folder.write("gt_2011.csv", b"1\n");
    let Located::Missing(missing) = catalog::locate(&folder.0, "GAS-TURBINE").unwrap() else {
        panic!()
    };
    let files: Vec<&str> = missing.files.iter().map(|file| file.path).collect();
    assert_eq!(files, [2012, 2013, 2014, 2015].map(|year| format!("gas-turbine/gt_{year}.csv")));
    let error = catalog::load(&folder.0, "gas-turbine").unwrap_err();
    assert_eq!(error.to_string(), missing.to_string());
    for part in [
        "gt_2015.csv",
        "UCI ML Repository id 551",
        "36733 rows × 9 features",
        "8c13f655a3e9164c",
        "missing-",
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let Located::Missing(missing) = catalog::locate(Path::new("."), "rqa").unwrap() else {
        panic!()
    };
    assert_eq!(
        (missing.checksum(), missing.expected_shape()),
        (None, "200000 rows × 4 features".into())
    );
    assert!(missing.to_string().ends_with("not known"));
    assert!(matches!(
        catalog::locate(Path::new("."), "iris"),
        Err(DataError::UnknownDataset { .. })
    ));
}

#[test]
fn entries_are_sound() {
    let mut names = Vec::new();
    for entry in catalog::entries() {
        names.extend(entry.aliases.iter().chain([&entry.name]).map(|name| name.to_lowercase()));
        assert!(!entry.source.is_empty() && !entry.licence.is_empty() && !entry.files.is_empty());
        let rows: usize = entry.files.iter().map(|file| file.rows).sum();
        assert!(entry.rows <= rows, "{}", entry.name);
        assert_eq!(entry.identity.is_some(), entry.checksums_known(), "{}", entry.name);
        let of_files = entry.files.iter().flat_map(|file| [file.sha256, file.sha256_uncompressed]);
        for sum in of_files.chain([entry.identity]).flatten() {
            assert!(
                sum.len() == 64
                    && sum.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()),
                "{sum}"
            );
        }
        for file in entry.files {
            let equal = file.sha256 == file.sha256_uncompressed;
            assert_eq!(equal, !file.path.ends_with(".gz"), "{}", file.path);
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "a name stands for two data sets");
}

#[test]
fn expected_layouts_of_sets_that_were_not_found() {
    let folder = Folder::new("expected");
    let header = ",x,y,x_range,y_range,count,sum_,avg\n";
    let rows: String = (0..200_000)
        .map(|i| format!("{i},1.5,2,3,4,{},0,{}\n", i % 3, if i % 3 == 0 { "" } else { "1" }))
        .collect();
    folder.write(
        "query-analytics/Range-Queries-Aggregates.csv.gz",
        &gzip(format!("{header}{rows}").as_bytes()),
    );
    let data = catalog::load(&folder.0, "rqa").unwrap();
    assert_eq!((data.feature_names.join(" "), data.y[2]), ("x y x_range y_range".into(), 2.0));
    assert!(data.note.ends_with("No checksum is known: only the shape was checked."));

    let row: String = (0..33).map(|j| format!(" {j}.5 ")).collect();
    folder.write("pumadyn-32fh/Dataset.data.gz", &gzip(format!("{row}\n").repeat(8192).as_bytes()));
    let data = catalog::load(&folder.0, "pumadyn-32fh").unwrap();
    assert_eq!((data.x.nrows(), data.x.ncols(), data.y[0]), (8192, 32, 32.5));
}
