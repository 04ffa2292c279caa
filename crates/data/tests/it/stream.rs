//! Files read block by block are the files read whole.

use crate::common::gzip;
use nystrom_data::{
    Cell, Csv, DataError, Files, FilesRecord, Format, Problem, Table, find_files, npy_bytes,
};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

pub fn csv(folder: &TempDir) -> Files {
    let reader = Format::Csv(Csv::new().missing(["NA"]).infer_text());
    Files::open(find_files(folder.path()).unwrap(), &reader).unwrap()
}

/// Every cell as text, row by row.
pub fn cells(table: &Table) -> Vec<Vec<String>> {
    let cell = |cell: Cell<'_>| match cell {
        Cell::Number(x) => format!("{x:?}"),
        Cell::Text(text) => text.to_owned(),
        Cell::Missing => "-".to_owned(),
        Cell::Sparse(..) => cell.to_string(),
    };
    (0..table.rows()).map(|row| table.row(row).map(cell).collect()).collect()
}

/// The rows of a pass from this one on, and the sizes of its blocks.
pub fn read(files: &mut Files, row: u64) -> Result<(Vec<Vec<String>>, Vec<usize>), DataError> {
    let (mut rows, mut sizes) = (Vec::new(), Vec::new());
    files.start(row)?;
    while let Some(block) = files.next_block()? {
        sizes.push(block.rows());
        rows.append(&mut cells(&block));
    }
    Ok((rows, sizes))
}

/// Three texts with quotes over lines, gaps, blank lines and all line ends; the last is not ended.
fn texts() -> [Vec<u8>; 3] {
    let row = |i: usize, end: &str| match i % 7 {
        3 => format!("{i},\"a\n{i}\",NA{end}"),
        5 => format!("{i},NA,{}{end}{end}", 0.5 * i as f64),
        _ => format!("{i},b{},{}{end}", i % 3, 1.0 / (i + 1) as f64),
    };
    let text = |rows: std::ops::Range<usize>, end: &str| {
        let rows: String = rows.map(|i| row(i, end)).collect();
        format!("i,s,x{end}{rows}")
    };
    let last = text(60..75, "\r");
    let last = last.trim_end();
    [text(0..37, "\n"), text(37..60, "\r\n"), last.to_owned()].map(String::into_bytes)
}

/// Every format, in any blocks, from any row: what reading whole gives.
fn check(mut files: Files, whole: &[Table]) {
    let expected: Vec<Vec<String>> = whole.iter().flat_map(cells).collect();
    assert_eq!(files.count_rows().unwrap(), expected.len() as u64);
    for rows in [1, 10, 1 << 16] {
        files.set_block_rows(rows);
        let (all, sizes) = read(&mut files, 0).unwrap();
        assert_eq!(all, expected, "blocks of {rows}");
        assert!(sizes.iter().all(|size| *size <= rows));
        assert_eq!(files.rows(), Some(expected.len() as u64));
        for row in (0..=expected.len()).step_by(3) {
            let (rest, _) = read(&mut files, row as u64).unwrap();
            assert_eq!(rest, expected[row..], "blocks of {rows} from {row}");
        }
        assert!(matches!(files.start(expected.len() as u64 + 1), Err(DataError::NoSuchRow { .. })));
    }
}

#[test]
fn texts_are_the_same_from_anywhere() {
    let texts = texts();
    let named = [("1.csv", &texts[0]), ("2.csv", &texts[1]), ("3.csv", &texts[2])];
    let folder_of = folder(&named.map(|(name, text)| (name, &text[..])));
    let reader = Csv::new().missing(["NA"]).text(["s"]);
    let whole = named.map(|(name, text)| reader.read(&text[..], name).unwrap());
    check(csv(&folder_of), &whole);
}

#[test]
fn compressed_texts_are_the_same_from_anywhere() {
    let texts = texts();
    let packed = texts.clone().map(|text| gzip(&text));
    let folder_of = folder(&[("1.csv.gz", &packed[0]), ("2.csv", &texts[1])]);
    let reader = Csv::new().missing(["NA"]).text(["s"]);
    let whole = [0, 1].map(|i| reader.read(&texts[i][..], "t").unwrap());
    let mut files = csv(&folder_of);
    files.set_block_rows(10);
    read(&mut files, 0).unwrap();
    assert_eq!(files.compressed().len(), 1);
    check(csv(&folder_of), &whole);
}

#[test]
fn arrays_are_the_same_from_anywhere() {
    let by_columns = npy_bytes(40, 3, (0..120).map(f64::from));
    let mut by_rows = npy_bytes(30, 3, (0..90).map(|x| f64::from(x) / 3.0));
    let header = String::from_utf8_lossy(&by_rows[..128]).replace("True, ", "False,");
    let header = header.split_once('\u{fffd}').map_or(header.as_str(), |(_, rest)| rest).to_owned();
    let start = by_rows.len() - 720 - header.len();
    by_rows.splice(start..by_rows.len() - 720, header.into_bytes());
    let packed = gzip(&by_rows);
    let reader = nystrom_data::Npy::new();
    let folder_of = folder(&[("1.npy", &by_columns), ("2.npy", &by_rows)]);
    let open = |folder: &TempDir| {
        Files::open(find_files(folder.path()).unwrap(), &Format::Npy(reader.clone()))
    };
    let whole = [&by_columns, &by_rows].map(|bytes| reader.read(&bytes[..], "t").unwrap());
    assert_ne!(cells(&whole[1])[0], cells(&reader.read(&by_columns[..], "t").unwrap())[0]);
    check(open(&folder_of).unwrap(), &whole);
    check(open(&folder(&[("3.npy.gz", &packed)])).unwrap(), &whole[1..]);
    let packed = gzip(&by_columns);
    let refused = open(&folder(&[("1.npy.gz", &packed)])).unwrap_err();
    assert!(matches!(&refused, DataError::NotStreamed { .. }), "{refused}");
}

#[test]
fn arrays_of_times_are_the_same_from_anywhere() {
    let counts = (0..40).map(|i| if i % 3 == 0 { i64::MIN } else { i64::from(i) << 40 });
    let bytes = npy_bytes(40, 1, counts.map(|count| f64::from_bits(count as u64)));
    for descr in [b"<M8[us]", b"<m8[us]"] {
        let bytes = crate::fuzz::with_type(&bytes, descr);
        let reader = nystrom_data::Npy::new();
        let whole = reader.read(&bytes[..], "t").unwrap();
        assert_eq!(whole.missing(), 14);
        let folder_of = folder(&[("1.npy", &bytes)]);
        let paths = find_files(folder_of.path()).unwrap();
        check(Files::open(paths, &Format::Npy(reader)).unwrap(), &[whole]);
    }
}

#[test]
fn sparse_rows_are_the_same_from_anywhere() {
    let row = |i: usize| format!("{i} {}:{i} # c\n\n", 1 + i % 5);
    let texts = [0..31, 31..50].map(|rows| rows.map(row).collect::<String>());
    let last = "7 6:1\n";
    let folder_of = folder(&[
        ("1.svm", texts[0].as_bytes()),
        ("2.svm", texts[1].as_bytes()),
        ("3.svm", last.as_bytes()),
    ]);
    let reader = nystrom_data::Libsvm::new();
    let open = Files::open(find_files(folder_of.path()).unwrap(), &Format::Libsvm(reader.clone()));
    let wide = reader.features(6);
    let whole =
        [&texts[0], &texts[1], &last.to_owned()].map(|t| wide.read(t.as_bytes(), "t").unwrap());
    check(open.unwrap(), &whole);
}

/// A `qid`, an index 0, and labels that are texts show in some rows only: all blocks know of them.
#[test]
fn sparse_rows_of_all_kinds_are_the_same_from_anywhere() {
    let reader = nystrom_data::Libsvm::new();
    let zero = |i: usize| if i == 33 { "0:7" } else { "2:1" };
    let query = |i: usize| if i % 4 == 1 { String::new() } else { format!("qid:{i} ") };
    let label = |i: usize| if i == 37 { "spam" } else { "+1" };
    let wide = |i: usize| if i == 38 { 1 << 60 } else { i };
    let texts: [String; 6] = [
        (0..40).map(|i| format!("{i} {}5:{i} 1:{i}\n", query(i))).collect(),
        (0..40).map(|i| format!("{i} 3:{i} {}\n", zero(i))).collect(),
        (0..40).map(|i| format!("{} 1:{i}\n", label(i))).collect(),
        (0..40).map(|i| format!("{},3 1:{i}\n", i % 3)).collect(),
        (0..40).map(|i| format!("1 qid:{} 1:{i}\n", wide(i))).collect(),
        (0..40).map(|i| format!("{} 1:{i}\n", wide(i))).collect(),
    ];
    for text in texts {
        let whole = reader.read(text.as_bytes(), "t").unwrap();
        for (name, bytes) in
            [("t.svm", text.as_bytes().to_vec()), ("t.svm.gz", gzip(text.as_bytes()))]
        {
            let folder_of = folder(&[(name, &bytes)]);
            let paths = find_files(folder_of.path()).unwrap();
            let mut files = Files::open(paths, &Format::Libsvm(reader.clone())).unwrap();
            assert!(files.names().eq(whole.names()), "{:?}", files.names().collect::<Vec<_>>());
            files.set_block_rows(10);
            files.start(0).unwrap();
            while let Some(block) = files.next_block().unwrap() {
                assert_eq!(Table::stack([whole.clone(), block]).unwrap().rows(), 50);
            }
            check(files, std::slice::from_ref(&whole));
        }
    }
}

/// Columns that one file shows are those of all; a `qid` has to be in all of them.
#[test]
fn sparse_files_have_the_columns_of_all() {
    let open = |texts: [&str; 2]| {
        let folder = folder(&[("1.svm", texts[0].as_bytes()), ("2.svm", texts[1].as_bytes())]);
        let paths = find_files(folder.path()).unwrap();
        let mut files = Files::open(paths, &Format::Libsvm(nystrom_data::Libsvm::new()))?;
        Ok::<_, DataError>(read(&mut files, 0)?.0.concat().join(" "))
    };
    let cells = open(["1 2:5\n", "x 0:3 3:4\n"]).unwrap();
    assert_eq!(cells, "1 0.0 0.0 5.0 0.0 x 3.0 0.0 0.0 4.0");
    for texts in [["1 qid:1 1:1\n", "1 1:2\n"], ["1 1:2\n", "1 qid:1 1:1\n"]] {
        let error = open(texts).unwrap_err();
        assert!(matches!(&error, DataError::StackMismatch { position: 1, .. }), "{error}");
        assert!(error.to_string().contains("no \"qid\""), "{error}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn row_groups_are_the_same_from_anywhere() {
    let bytes = crate::stream_bad::parquet_file(&[23, 40, 7], "x");
    let reader = nystrom_data::Parquet::new();
    let whole = reader.read(&bytes[..], "t").unwrap();
    let folder_of = folder(&[("1.parquet", &bytes)]);
    let paths = find_files(folder_of.path()).unwrap();
    let files = Files::open(paths, &Format::Parquet(reader)).unwrap();
    // 32 numbers of the group of 40 rows, indices into them and levels
    assert!((256..2000).contains(&files.page_bytes().unwrap()), "{:?}", files.page_bytes());
    check(files, &[whole]);
}

#[test]
fn folders_and_patterns_are_sorted_by_bytes() {
    let folder = folder(&[
        ("b.csv", b"x"),
        ("a10.csv", b"x"),
        ("B.csv", b"x"),
        ("a9.csv", b"x"),
        ("_SUCCESS", b""),
        (".part", b""),
        ("é.csv", b"x"),
    ]);
    std::fs::create_dir(folder.path().join("c.csv")).unwrap();
    let names = |paths: Vec<PathBuf>| -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        paths.iter().map(name).collect()
    };
    let all = names(find_files(folder.path()).unwrap());
    assert_eq!(all, ["B.csv", "a10.csv", "a9.csv", "b.csv", "é.csv"]);
    assert_eq!(names(find_files(folder.path().join("a*.csv")).unwrap()), ["a10.csv", "a9.csv"]);
    assert_eq!(names(find_files(folder.path().join("[aB]*.csv")).unwrap()).len(), 3);
    assert!(matches!(find_files(folder.path().join("z*")), Err(DataError::NoFiles { .. })));
    // a file whose name looks like a pattern is that file
    std::fs::write(folder.path().join("[1].csv"), "x").unwrap();
    assert_eq!(names(find_files(folder.path().join("[1].csv")).unwrap()), ["[1].csv"]);
}

#[test]
fn a_record_finds_the_rows_of_another_program() {
    let texts = texts();
    let folder = folder(&[("1.csv", &texts[0]), ("2.csv", &texts[1])]);
    let mut files = csv(&folder);
    files.set_block_rows(8);
    let (expected, _) = read(&mut files, 0).unwrap();
    let json = serde_json::to_string(&files.record().unwrap()).unwrap();
    let record: FilesRecord = serde_json::from_str(&json).unwrap();
    let mut again = csv(&folder);
    assert_eq!(again.rows(), None);
    again.restore(record.clone()).unwrap();
    assert_eq!((again.rows(), again.block_rows()), (Some(60), 8));
    assert_eq!(read(&mut again, 41).unwrap().0, expected[41..]);
    std::fs::write(folder.path().join("0.csv"), &texts[2]).unwrap();
    let refused = csv(&folder).restore(record.clone()).unwrap_err();
    assert!(matches!(&refused, DataError::Changed { .. }), "{refused}");
    std::fs::remove_file(folder.path().join("0.csv")).unwrap();
    std::fs::remove_file(folder.path().join("2.csv")).unwrap();
    let refused = csv(&folder).restore(record).unwrap_err();
    assert!(matches!(&refused, DataError::Changed { .. }), "{refused}");
}

/// Three programs read some of the files each; together they know what one knows that read all.
#[test]
fn parts_join_to_the_record_of_all() {
    let texts = texts();
    let folder = folder(&[("1.csv", &texts[0]), ("2.csv", &texts[1]), ("3.csv", &texts[2])]);
    let mut files = csv(&folder);
    files.set_block_rows(8);
    let (expected, _) = read(&mut files, 0).unwrap();
    let (mut rows, mut records) = (Vec::new(), Vec::new());
    for range in [0..1, 1..1, 1..3] {
        let mut part = files.part(range);
        let before = part.count_rows().unwrap();
        let (read, _) = read(&mut part, 0).unwrap();
        assert_eq!(read.len() as u64, before);
        rows.extend(read);
        records.push(part.record().unwrap());
    }
    assert_eq!(rows, expected);
    let joined = FilesRecord::join(records.clone()).unwrap();
    assert_eq!(joined, files.record().unwrap());
    let mut again = csv(&folder);
    again.restore(joined).unwrap();
    assert_eq!(read(&mut again, 41).unwrap().0, expected[41..]);
    let twice = FilesRecord::join([&records[0], &records[0]].map(Clone::clone)).unwrap_err();
    assert!(matches!(&twice, DataError::SameRows { .. }), "{twice}");
}

#[test]
fn a_pass_may_be_left_at_any_block() {
    let texts = texts();
    let folder = folder(&[("1.csv", &texts[0]), ("2.csv", &texts[1])]);
    let mut files = csv(&folder);
    files.set_block_rows(4);
    for blocks in 0..6 {
        files.start(0).unwrap();
        (0..blocks).for_each(|_| assert!(files.next_block().unwrap().is_some()));
        assert_eq!(files.rows(), None, "not all rows were seen");
    }
    drop(files); // the reading thread ends
}

/// Zstandard frames one after another are one text; cut or damaged ones are said to be so.
#[test]
fn zstandard_is_read_and_its_damage_noticed() {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    let text = texts()[0].clone();
    let (start, rest) = text.split_at(text.len() / 2);
    let frame = |part: &[u8]| compress_to_vec(part, CompressionLevel::Fastest);
    let packed = [frame(start), frame(rest)].concat();
    let reader = Csv::new().missing(["NA"]).text(["s"]);
    let whole = reader.read(&text[..], "t").unwrap();
    assert_eq!(cells(&reader.read(&packed[..], "t").unwrap()), cells(&whole));
    check(csv(&folder(&[("1.csv.zst", &packed)])), &[whole]);
    for cut in [5, 20, packed.len() - 3] {
        let error = reader.read(&packed[..cut], "t").unwrap_err();
        assert!(matches!(error.problem(), Some(Problem::Zstd { .. })), "{error}");
    }
}
