//! Tables as they are found.

use nystrom_data::{Cell, Csv, Files, Format, Origin, Table, Values, npy_bytes};

fn csv() -> Format {
    Format::Csv(Csv::new().guess_delimiter())
}

fn found_bytes(bytes: &[u8]) -> Table {
    csv().found(Origin::Bytes { bytes, name: "t.csv" }, &[]).unwrap()
}

fn found(text: &str) -> Table {
    found_bytes(text.as_bytes())
}

/// A row as text.
fn row(table: &Table, row: usize) -> String {
    let cell = |cell: Cell<'_>| match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => format!("'{text}'"),
        Cell::Missing => "-".to_owned(),
        Cell::Sparse(..) => cell.to_string(),
    };
    table.row(row).map(cell).collect::<Vec<_>>().join(" ")
}

#[test]
fn columns_are_numbers_or_the_texts_of_all_their_cells() {
    let table = found("a,b,c,d\n1,00501,x,?\n2.5,1.0,NA,3\n?,1e5,2,4\n3,z,,5\n");
    assert_eq!(row(&table, 0), "1 '00501' 'x' -");
    assert_eq!(row(&table, 1), "2.5 '1.0' - 3");
    assert_eq!(row(&table, 2), "- '1e5' '2' 4");
    assert_eq!(row(&table, 3), "3 'z' - 5");
    assert_eq!(table.notes().len(), 2, "{:?}", table.notes());
}

#[test]
fn a_text_after_markers_takes_them_for_texts() {
    let table = found("a,b\n?,1\nred,2\nnan,3\n");
    assert_eq!([row(&table, 0), row(&table, 2)], ["'?' 1", "- 3"]);
    assert!(table.notes().is_empty());
}

#[test]
fn whole_numbers_beyond_exact_ones_are_texts() {
    let table = found("a,b\n100000000000000001,1\n100000000000000002,2\n7,1e300\n");
    assert_eq!(row(&table, 0), "'100000000000000001' 1");
    assert_eq!(table.categories("a").unwrap().levels.len(), 3);
}

#[test]
fn markers_can_be_taken_off_and_added() {
    let bytes = "a,b\nNA,1\nFR,-9\n".as_bytes();
    let reader = Csv::new().not_missing(["NA"]).missing(["-9"]);
    let table = Format::Csv(reader).found(Origin::Bytes { bytes, name: "t" }, &[]).unwrap();
    assert_eq!([row(&table, 0), row(&table, 1)], ["'NA' 1", "'FR' -"]);
    let texts =
        Format::Csv(Csv::new()).found(Origin::Bytes { bytes: b"a\n007\n", name: "t" }, &[0]);
    assert_eq!(row(&texts.unwrap(), 0), "'007'");
}

#[test]
fn decimal_commas_stay_texts_unless_they_were_said() {
    let text = "a;b\n1,5;2\n2,25;3\n";
    assert_eq!(row(&found(text), 0), "'1,5' 2");
    let bytes = text.as_bytes();
    let said = Format::Csv(Csv::new().guess_delimiter().decimal_comma());
    let table = said.found(Origin::Bytes { bytes, name: "t" }, &[]).unwrap();
    assert_eq!(row(&table, 1), "2.25 3");
}

#[test]
fn headers_and_rows_of_many_shapes() {
    let names = |text: &str| found(text).names().map(str::to_owned).collect::<Vec<_>>().join(" ");
    assert_eq!(names("sep=;\r\na;b\r\n1;2\r\n"), "a b");
    assert_eq!(names("\u{feff}sep=;\na;b\n1;2\n"), "a b");
    assert_eq!(names("The title\n\na,b\n1,2\n3,4\n"), "a b");
    assert_eq!(names("# one\n# two, three\na,b\n1,2\n3,4\n"), "a b");
    assert_eq!(names("a,b,,\n1,2,,\n3,4,,\n"), "a b unnamed 3 unnamed 4");
    assert_eq!(names("a,b,,\n1,2\n3,4,,\n"), "a b unnamed 3 unnamed 4");
    assert_eq!(names("a,b\n1,2,,\n3,4,,\n"), "a b");
    assert_eq!(names("a,a,a,a.1\n1,2,3,4\n"), "a a.2 a.3 a.1");
    assert_eq!(names(",x\n0,1\n1,2\n"), "unnamed 1 x");
    assert_eq!(names("x,y\nr1,0.5,2\nr2,0.25,3\n"), "unnamed 1 x y");
    assert_eq!(names("\"a\nb\",c\n1,2\n"), "a\nb c");
    assert_eq!(row(&found("a,b,,\n1,2\n3,4,,\n"), 0), "1 2 - -");
    assert!(!found("a,a\n1,2\n").notes().is_empty());
    assert!(!found("Title\na,b\n1,2\n3,4\n").notes().is_empty());
}

#[test]
fn what_has_no_reading_is_an_error_with_its_place() {
    for (text, line) in
        [("a,b\n1,2\n3\n", Some(3)), ("a,b\n1,2\n\"3,4\n", Some(3)), ("a,b\n1,2,3\n4,5\n", Some(2))]
    {
        let bytes = text.as_bytes();
        let error = csv().found(Origin::Bytes { bytes, name: "t.csv" }, &[]).unwrap_err();
        assert_eq!(error.place().and_then(|place| place.line), line, "{text:?}: {error}");
    }
    for text in ["", "a,b\n", "\n\n"] {
        let bytes = text.as_bytes();
        assert!(csv().found(Origin::Bytes { bytes, name: "t.csv" }, &[]).is_err(), "{text:?}");
    }
}

#[test]
fn other_encodings_are_read_and_said() {
    let text = "größe,b\n1,rot\n2,grün\n";
    let utf_16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(found_bytes(&utf_16), found(text));
    let windows: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    let table = found_bytes(&windows);
    assert_eq!(table.categories("b").unwrap().get(1), Some("grün"));
    assert_eq!(table.names().next(), Some("größe"));
    assert!(table.notes()[0].contains("Windows-1252"), "{:?}", table.notes());
    let mut late = b"a,b\n".to_vec();
    (0..30_000).for_each(|i| late.extend(format!("{i},x\n").bytes()));
    late.extend(b"1,caf\xe9\n");
    let table = found_bytes(&late);
    assert_eq!(table.categories("b").unwrap().get(30_000), Some("café"));
    assert!(table.notes()[0].starts_with("line 30002"), "{:?}", table.notes());
    assert_eq!(row(&found("a,b\n1\0,2\n"), 0), "1 2");
}

#[test]
fn blocks_have_the_kinds_of_their_heads_and_count_strays() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let rows = |n: usize| (0..n).map(|i| format!("{i},{}\n", i % 3)).collect::<String>();
    let first = write("1.csv", &format!("a,b\n{}", rows(12_000)));
    let second = write("2.csv", &format!("b,a\n{}1,oops\n2,-\n", rows(2000)));
    let mut files = Files::open_found(vec![first, second], &csv(), &[]).unwrap();
    for _ in 0..2 {
        let (mut count, mut sum) = (0, 0.0);
        files.start(0).unwrap();
        while let Some(block) = files.next_block().unwrap() {
            assert_eq!(block.names().collect::<Vec<_>>(), ["a", "b"]);
            count += block.rows();
            sum += block.numbers("b").unwrap().iter().sum::<f64>();
        }
        assert_eq!(count, 14_002);
        assert_eq!(sum, 12_000.0 + 1999.0 * 1000.0 + 3.0);
        let strays = files.strays();
        assert_eq!((strays.len(), strays["a"].cells), (1, 1));
        assert_eq!(strays["a"].texts[0].text, "oops");
    }
    // a pass that starts in the middle of the second file knows its order of columns
    files.set_block_rows(1024);
    files.start(0).unwrap();
    while files.next_block().unwrap().is_some() {}
    files.start(12_000 + 1500).unwrap();
    let block = files.next_block().unwrap().unwrap();
    assert_eq!((block.numbers("a").unwrap()[0], block.numbers("b").unwrap()[0]), (0.0, 1500.0));
    // a text in the head of the other file makes a column of texts
    let third = write("3.csv", "a,b\nx,1\n");
    let fourth = write("0.csv", "a,b\n1,1\n");
    let mut files = Files::open_found(vec![fourth, third], &csv(), &[]).unwrap();
    files.start(0).unwrap();
    let block = files.next_block().unwrap().unwrap();
    assert!(matches!(block.columns()[0].values, Values::Categories(_)));
    // positions are those of the first file
    let [first, second] =
        [("5.csv", "a,b\n1,2\n"), ("6.csv", "b,a\n2,1\n")].map(|(name, text)| write(name, text));
    let mut files = Files::open_found(vec![first, second], &csv(), &[0]).unwrap();
    files.start(0).unwrap();
    while let Some(block) = files.next_block().unwrap() {
        assert_eq!(block.categories("a").unwrap().get(0), Some("1"));
        assert_eq!(block.numbers("b").unwrap(), [2.0]);
    }
}

/// In memory and in blocks infinities are missing values, and that is said; NaN is one silently.
#[test]
fn infinities_are_missing_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1.npy");
    let values = [1.0, f64::NAN, f64::INFINITY, 2.0, f64::NEG_INFINITY, 3.0];
    std::fs::write(&path, npy_bytes(6, 1, values)).unwrap();
    let npy = Format::Npy(nystrom_data::Npy::new());
    let table = npy.found(Origin::Path(&path), &[]).unwrap();
    assert_eq!(table.notes(), ["\"c1\": \"inf\", \"-inf\" in 2 rows are taken for missing values"]);
    let mut files = Files::open_found(vec![path], &npy, &[]).unwrap();
    files.start(0).unwrap();
    let block = files.next_block().unwrap().unwrap();
    for table in [&table, &block] {
        let missing = table.numbers("c1").unwrap().iter().filter(|value| value.is_nan()).count();
        assert_eq!(missing, 3);
    }
    assert_eq!(files.strays()["c1"].cells, 2);
}
