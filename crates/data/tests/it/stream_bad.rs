//! Shards that do not belong together, and files that change under the reader.

use crate::common::gzip;
use crate::stream::{csv, folder, read};
use nystrom_data::{Csv, DataError, Files, Format, Problem, find_files, npy_bytes};

/// The error of reading these shards.
fn refused(files: &[(&str, &[u8])]) -> DataError {
    let folder = folder(files);
    let paths = find_files(folder.path()).unwrap();
    let format = Format::of(&paths[0]).unwrap();
    let all = Files::open(paths, &format).and_then(|mut files| {
        files.set_block_rows(2);
        read(&mut files, 0)
    });
    all.expect_err("the shards should be refused")
}

const GOOD: &[u8] = b"a,b\n1,2\n3,4\n5,6\n";

#[test]
fn errors_name_file_line_and_column() {
    let error = refused(&[("1.csv", GOOD), ("2.csv", b"a,b\n7,8\n9,9\n1,x\n")]);
    let place = error.place().unwrap();
    assert!(place.file.ends_with("2.csv"));
    assert_eq!((place.line, place.field, place.column.as_deref()), (Some(4), Some(2), Some("b")));
    assert!(matches!(error.problem(), Some(Problem::NotANumber { .. })));
}

#[test]
fn empty_shards_are_refused() {
    for (text, expected) in
        [(&b"a,b\n"[..], Problem::NoRows), (b"", Problem::Empty { expected: "rows of fields" })]
    {
        for name in ["0.csv", "2.csv"] {
            let error = refused(&[("1.csv", GOOD), (name, text)]);
            assert_eq!(error.problem(), Some(&expected), "{error}");
            assert!(error.to_string().contains(name));
        }
    }
    let none = npy_bytes(0, 2, []);
    let error = refused(&[("1.npy", &npy_bytes(2, 2, [1.0, 2.0, 3.0, 4.0])), ("2.npy", &none)]);
    assert_eq!(error.problem(), Some(&Problem::NoRows));
}

#[test]
fn shards_with_other_columns_are_refused() {
    for (text, found) in [
        ("a,c\n1,2\n", "\"c\" (numbers)"),
        ("b,a\n1,2\n", "\"b\" (numbers)"),
        ("a\n1\n", "absent"),
        ("a,b,c\n1,2,3\n", "\"c\" (numbers)"),
    ] {
        let error = refused(&[("1.csv", GOOD), ("2.csv", text.as_bytes())]);
        let DataError::StackMismatch { first, table, found: what, .. } = &error else {
            panic!("{error}")
        };
        assert!(first.ends_with("1.csv") && table.ends_with("2.csv") && what == found, "{error}");
    }
    let other = npy_bytes(1, 3, [1.0, 2.0, 3.0]);
    let error = refused(&[("1.npy", &npy_bytes(2, 2, [1.0, 2.0, 3.0, 4.0])), ("2.npy", &other)]);
    assert!(matches!(error, DataError::StackMismatch { .. }), "{error}");
}

#[test]
fn shards_that_break_off_are_refused() {
    let error = refused(&[("1.csv", GOOD), ("2.csv", b"a,b\n1,2\n3")]);
    assert!(matches!(error.problem(), Some(Problem::RaggedRow { expected: 2, found: 1 })));
    let error = refused(&[("1.csv", GOOD), ("2.csv", b"a,b\n1,2\n3,\"4")]);
    assert_eq!(error.problem(), Some(&Problem::UnclosedQuote));
    let whole = npy_bytes(4, 2, (0..8).map(f64::from));
    for cut in [1, 8, 20, 64] {
        let error = refused(&[
            ("1.npy", &npy_bytes(1, 2, [1.0, 2.0])),
            ("2.npy", &whole[..whole.len() - cut]),
        ]);
        assert!(matches!(error.problem(), Some(Problem::NpyLength { .. })), "{error}");
    }
    let packed = gzip(&[b"a,b\n".to_vec(), b"1,2\n3,4\n".repeat(500)].concat());
    let error = refused(&[("1.csv.gz", &packed[..packed.len() - 9])]);
    assert!(matches!(error.problem(), Some(Problem::GzipTruncated { .. })), "{error}");
}

#[test]
fn the_same_shard_twice_is_refused() {
    let error = refused(&[("1.csv", GOOD), ("2.csv", b"a,b\n7,8\n"), ("3.csv", GOOD)]);
    let DataError::SameRows { file, other } = &error else { panic!("{error}") };
    assert!(file.ends_with("3.csv") && other.ends_with("1.csv"));
    // also under another name for the same file, before anything is read
    let folder = folder(&[("1.csv", GOOD)]);
    let path = folder.path().join("1.csv");
    let paths = vec![path.clone(), folder.path().join(".").join("1.csv")];
    let error = Files::open(paths, &Format::Csv(Csv::new())).unwrap_err();
    assert!(matches!(error, DataError::SameRows { .. }), "{error}");
}

/// What is done to a file between two passes, and what the second says.
#[test]
fn files_that_change_between_passes_are_noticed() {
    let others = b"a,b\n1,2\n3,4\n5,7\n";
    let longer = b"a,b\n1,2\n3,4\n5,6\n7,8\n";
    for new in [&others[..], longer, b"a,b\n1,2\n"] {
        let folder = folder(&[("1.csv", GOOD), ("2.csv", b"a,b\n7,8\n")]);
        let path = folder.path().join("1.csv");
        let stamp = std::fs::metadata(&path).unwrap().modified().unwrap();
        let mut files = csv(&folder);
        files.set_block_rows(2);
        assert_eq!(read(&mut files, 0).unwrap().0.len(), 4);
        assert_eq!(read(&mut files, 0).unwrap().0.len(), 4);
        std::fs::write(&path, new).unwrap();
        for keep_time in [false, true] {
            if keep_time {
                // then the digest tells
                let file = std::fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(stamp).unwrap();
            }
            let error = read(&mut files, 0).unwrap_err();
            let DataError::Changed { file, .. } = &error else { panic!("{error}") };
            assert!(file.ends_with("1.csv"), "{error}");
        }
        // the pass that begins behind it does not look at it
        assert_eq!(read(&mut files, 3).unwrap().0.len(), 1);
    }
}

#[test]
fn files_that_go_or_cannot_be_read_so_are_named() {
    let folder = folder(&[("1.csv", GOOD), ("2.csv", b"a,b\n7,8\n")]);
    let mut files = csv(&folder);
    read(&mut files, 0).unwrap();
    std::fs::remove_file(folder.path().join("2.csv")).unwrap();
    assert!(matches!(read(&mut files, 0), Err(DataError::NotFound { .. })));
    let error = refused(&[("1.arff", b"@relation r\n@attribute a numeric\n@data\n1\n")]);
    assert!(matches!(&error, DataError::NotStreamed { .. }), "{error}");
    assert!(matches!(
        Files::open(vec![], &Format::Csv(Csv::new())),
        Err(DataError::NoFiles { .. })
    ));
}

/// NaN is an error, or missing where that was said; ∞ is an error in any case.
#[test]
fn what_is_not_finite_is_no_number() {
    let nan = npy_bytes(2, 1, [1.0, f64::NAN]);
    let error = refused(&[("1.npy", &nan)]);
    assert_eq!(error.place().unwrap().line, Some(2));
    let folder_of = folder(&[("1.npy", &nan)]);
    let npy = Format::Npy(nystrom_data::Npy::new());
    let open = |folder: &tempfile::TempDir| {
        Files::open(find_files(folder.path()).unwrap(), &npy).unwrap().nan_is_missing()
    };
    assert_eq!(read(&mut open(&folder_of), 0).unwrap().0, [["1.0"], ["-"]]);
    let infinite = folder(&[("1.npy", &npy_bytes(3, 1, [1.0, f64::NAN, f64::INFINITY]))]);
    let paths = find_files(infinite.path()).unwrap();
    let error = Files::open(paths, &npy).unwrap_err();
    assert_eq!(error.place().unwrap().line, Some(3));
}

/// A file of one column of numbers in row groups of these sizes.
#[cfg(feature = "parquet")]
pub fn parquet_file(groups: &[usize], column: &str) -> Vec<u8> {
    use parquet::data_type::DoubleType;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    let schema = format!("message t {{ OPTIONAL DOUBLE {column}; }}");
    let schema = std::sync::Arc::new(parse_message_type(&schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut value = 0.0;
    for &rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = (0..rows).map(|i| i16::from(i % 5 != 3)).collect();
        let count = levels.iter().filter(|level| **level == 1).count();
        let values: Vec<f64> = (0..count).map(|i| value + i as f64 / 7.0).collect();
        value += 1000.0;
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_shards_that_differ_or_are_damaged_are_refused() {
    let (one, other) = (parquet_file(&[5, 6], "x"), parquet_file(&[3], "z"));
    let error = refused(&[("1.parquet", &one), ("2.parquet", &other)]);
    assert!(matches!(error, DataError::StackMismatch { .. }), "{error}");
    for cut in [10, one.len() / 2, one.len() - 3] {
        let error = refused(&[("1.parquet", &parquet_file(&[4], "x")), ("2.parquet", &one[..cut])]);
        assert!(matches!(error.problem(), Some(Problem::Parquet { .. })), "{error}");
    }
    let error = refused(&[("1.parquet", &parquet_file(&[], "x"))]);
    assert_eq!(error.problem(), Some(&Problem::NoRows));
}
