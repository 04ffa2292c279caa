//! Tables: what is read, selected, dropped, stacked and refused.

use crate::common::{gzip, read_fann};
use nystrom_data::{
    Arff, Cell, Column, ColumnRef, Csv, DataError, Libsvm, Table, Uncompressed, Values, read_path,
};

fn air() -> Table {
    let text = "\"No\",\"PM2.5\",\"wd\",\"station\"\r\n1,4,\"NNW\",\"A, B\"\r\n2,NA,\"N\",\"A, \
                B\"\r\n3,7,NA,\"C \"\"x\"\"\"\r\n";
    Csv::new().missing(["NA"]).text(["wd", "station"]).read(text.as_bytes(), "air.csv").unwrap()
}

#[test]
fn quoted_text_and_missing_values() {
    let table = air();
    assert_eq!(table.names().collect::<Vec<_>>(), ["No", "PM2.5", "wd", "station"]);
    assert_eq!(table.missing(), 2);
    let wind = table.categories("wd").unwrap();
    assert_eq!(
        (wind.levels.as_slice(), wind.get(0), wind.get(2)),
        (&["N".into(), "NNW".into()][..], Some("NNW"), None)
    );
    let row: Vec<Cell<'_>> = table.row(2).collect();
    assert_eq!(row, [Cell::Number(3.0), Cell::Number(7.0), Cell::Missing, Cell::Text("C \"x\"")]);
    assert_eq!(table.row(3).count(), 0);
}

#[test]
fn quoted_fields_may_hold_line_ends() {
    let table = Csv::new().text(["s"]).read("s,x\n\"a\n\nb\",1\n".as_bytes(), "t").unwrap();
    assert_eq!(table.categories("s").unwrap().get(0), Some("a\n\nb"));
    assert_eq!(table.rows(), 1);
}

#[test]
fn blank_lines_are_no_rows_but_empty_fields_are() {
    let text = "a\tb\n1\t2\n\n   \n\t\n";
    let table = Csv::new().delimiter(b'\t').missing([""]).read(text.as_bytes(), "t").unwrap();
    assert_eq!((table.rows(), table.missing()), (2, 2));
}

#[test]
fn inferred_text_waits_for_the_first_value() {
    let text = "a,b,c\nNA,NA,NA\nx,1,NA\nNA,2,NA\n";
    let table = Csv::new().infer_text().missing(["NA"]).read(text.as_bytes(), "t").unwrap();
    assert_eq!(table.categories("a").unwrap().codes, [None, Some(0), None]);
    assert!(table.numbers("b").unwrap()[0].is_nan());
    assert!(table.numbers("c").unwrap().iter().all(|v| v.is_nan()));
}

#[test]
fn rows_with_missing_values_stay_until_dropped() {
    match air().select_columns(["No", "PM2.5"]).unwrap().into_dataset("PM2.5") {
        Err(DataError::MissingValues { column, count: 1, row: 1, .. }) => {
            assert_eq!(column, "PM2.5")
        }
        other => panic!("{other:?}"),
    }
    let data = air()
        .drop_columns(["wd", "station"])
        .unwrap()
        .drop_missing_rows()
        .into_dataset("PM2.5")
        .unwrap();
    assert_eq!((data.y, data.x[(1, 0)]), (vec![4.0, 7.0], 3.0));
}

#[test]
fn rows_keep_their_lines() {
    let text = "a,b,s\n\n1,2,u\n3,NA,v\r\n\"5\",6,\"two\nlines\"\n7,8,u\n";
    let table = Csv::new().missing(["NA"]).text(["s"]).read(text.as_bytes(), "t").unwrap();
    let lines =
        |table: &Table| (0..table.rows()).map(|row| table.line(row).unwrap()).collect::<Vec<_>>();
    assert_eq!(lines(&table), [3, 4, 5, 7]);
    let table = table
        .encode("s", nystrom_data::Encoding::Ordinal)
        .unwrap()
        .rename_column("a", "z")
        .unwrap();
    let table = table.select_columns(["b", "z"]).unwrap();
    assert_eq!(lines(&table.select_rows(&[3, 0]).unwrap()), [7, 3]);
    let error = table.matrix().unwrap_err();
    assert!(matches!(error, DataError::MissingValues { row: 1, line: Some(4), .. }), "{error}");
    assert!(error.to_string().contains("the first in line 4;"), "{error}");
    assert_eq!(lines(&table.clone().drop_missing_rows()), [3, 5, 7]);
    assert_eq!(Table::stack([table.clone(), table]).unwrap().line(0), None); // of which file?
    let unlined = Table::new("t", vec![Column::numbers("x", vec![1.0, f64::NAN])]).unwrap();
    assert!(
        unlined.matrix().unwrap_err().to_string().contains("the first in row 2, counted from 1;")
    );
    let arff = Arff::new().read("@attribute x real\n@data\n% c\n1\n".as_bytes(), "t").unwrap();
    let libsvm = Libsvm::new().read("\n1 1:2\n".as_bytes(), "t").unwrap();
    let fann = read_fann("1 1 1\n\n2\n3\n".as_bytes(), "t").unwrap();
    assert_eq!([&arff, &libsvm, &fann].map(lines), [[4], [2], [3]]);
}

#[test]
fn a_survey_lists_what_is_no_number() {
    let text = "a,b,c\n1,x,\"1,5\"\n,y,2\nnan,x,\"2,5\"\nNA,z,\n";
    let survey = Csv::new().missing(["NA"]).survey(text.as_bytes(), "t").unwrap();
    let doubts = |column: usize| -> Vec<(&str, usize, u64)> {
        survey.doubts[column]
            .texts
            .iter()
            .map(|doubt| (doubt.text.as_str(), doubt.cells, doubt.line))
            .collect()
    };
    assert_eq!(doubts(0), [("", 1, 3), ("nan", 1, 4)]);
    assert_eq!(doubts(1), [("x", 2, 2), ("y", 1, 3), ("z", 1, 5)]);
    assert_eq!(doubts(2), [("1,5", 1, 2), ("", 1, 5)]); // one example of a decimal comma
    assert_eq!((survey.doubts[2].cells, survey.doubts[2].decimal_commas), (3, 2));
    assert_eq!(survey.table.missing(), 3 + 4 + 3);
    let commas = Csv::new().decimal_comma().survey(text.as_bytes(), "t").unwrap();
    assert_eq!(commas.table.numbers("c").unwrap()[..3], [1.5, 2.0, 2.5]);
    for (text, line) in [("a\n1,2\n", 2), ("a,b\n1,2\n\"3,4\n", 3)] {
        let error = Csv::new().survey(text.as_bytes(), "t").unwrap_err();
        // what is not about one cell is an error still
        assert_eq!(error.place().unwrap().line, Some(line));
    }
    let nan = nystrom_data::npy_bytes(2, 2, [1.0, f64::INFINITY, 3.0, f64::NAN]);
    let survey = nystrom_data::Npy::new().survey(&nan[..], "t").unwrap();
    assert_eq!(
        (survey.doubts[0].texts[0].text.as_str(), survey.doubts[1].texts[0].line),
        ("inf", 2)
    );
}

#[test]
fn nan_is_missing_in_every_spelling_if_it_is_in_one() {
    let text = "a\n1\nNaN\nnan\n-nan\n";
    for marker in ["nan", "NaN"] {
        assert_eq!(Csv::new().missing([marker]).read(text.as_bytes(), "t").unwrap().missing(), 3);
    }
    assert!(Csv::new().missing(["NA"]).read(text.as_bytes(), "t").is_err());
}

#[test]
fn text_never_becomes_numbers_by_itself() {
    match air().drop_missing_rows().into_dataset("PM2.5") {
        Err(DataError::TextColumn { column, example, .. }) => {
            assert_eq!((column.as_str(), example.as_str()), ("wd", "N"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unknown_columns_and_rows_are_named() {
    let message = air().column("pm2.5").unwrap_err().to_string();
    assert_eq!(
        message,
        "air.csv: there is no column \"pm2.5\"; there are 4: \"No\", \"PM2.5\", \"wd\", \"station\""
    );
    assert!(air().drop_columns([4]).unwrap_err().to_string().contains("no column 4 (from 0)"));
    assert!(matches!(
        air().select_rows(&[0, 3]),
        Err(DataError::NoSuchRow { row: 3, rows: 3, .. })
    ));
    assert!(matches!(air().numbers(ColumnRef::Last), Err(DataError::TextColumn { .. })));
    let data = air()
        .select_columns(["No", "PM2.5"])
        .unwrap()
        .select_rows(&[2, 0])
        .unwrap()
        .into_dataset("No")
        .unwrap();
    assert_eq!(data.y, [3.0, 1.0]);
    assert!(matches!(data.select_rows(&[2]), Err(DataError::NoSuchRow { row: 2, rows: 2, .. })));
}

#[test]
fn datasets_need_rows_and_features() {
    let x = || Column::numbers("x", vec![]);
    let table = Table::new("t", vec![x(), Column::numbers("y", vec![])]).unwrap();
    assert!(matches!(table.into_dataset("y"), Err(DataError::NoRows { .. })));
    let table = Table::new("t", vec![Column::numbers("x", vec![1.0])]).unwrap();
    assert!(matches!(table.into_dataset("x"), Err(DataError::NoFeatures { .. })));
    let table = Table::new("t", vec![]).unwrap();
    assert!(matches!(table.into_dataset(ColumnRef::Last), Err(DataError::UnknownColumn { .. })));
    let uneven = Table::new("t", vec![Column::numbers("x", vec![1.0]), x().rename("y")]);
    assert!(matches!(uneven, Err(DataError::Length { expected: 1, found: 0, .. })));
}

trait Rename {
    fn rename(self, name: &str) -> Self;
}

impl Rename for Column {
    fn rename(self, name: &str) -> Self {
        Column { name: name.to_owned(), ..self }
    }
}

#[test]
fn stacked_categories_are_united() {
    let part = |text: &str| Csv::new().text(["s"]).read(text.as_bytes(), "part").unwrap();
    let all = Table::stack([part("s,x\nb,1\nc,2\n"), part("s,x\na,3\nb,4\n")]).unwrap();
    let text = all.categories("s").unwrap();
    assert_eq!((0..4).map(|i| text.get(i).unwrap()).collect::<String>(), "bcab");
    assert_eq!((all.rows(), all.numbers("x").unwrap()), (4, &[1.0, 2.0, 3.0, 4.0][..]));
}

#[test]
fn tables_with_other_columns_are_not_stacked() {
    let part = |text: &str| Csv::new().infer_text().read(text.as_bytes(), "part").unwrap();
    for (other, position) in [
        ("x,z\n1,2\n", 1),
        ("y,x\n1,2\n", 0),
        ("x\n1\n", 1),
        ("x,y,z\n1,2,3\n", 2),
        ("x,y\n1,a\n", 1),
    ] {
        match Table::stack([part("x,y\n1,2\n"), part(other)]) {
            Err(DataError::StackMismatch { position: found, .. }) => {
                assert_eq!(found, position, "{other}")
            }
            result => panic!("{other}: {result:?}"),
        }
    }
    assert!(matches!(Table::stack([]), Err(DataError::NoRows { .. })));
}

#[test]
fn arff_keeps_declared_order_and_case_rules() {
    let text = "@Relation 'x y'\r\n@ATTRIBUTE size {S, M,'X L'}\r\n@attribute n \
                INTEGER\r\n@attribute t string\r\n\
        @Data\r\n% c\r\n'X L', 3, \"it's\"\r\nS,?,?\r\n";
    let table = Arff::new().read(text.as_bytes(), "t").unwrap();
    let Values::Categories(size) = &table.columns()[0].values else { panic!() };
    assert_eq!(
        (size.levels.join("|"), size.codes.as_slice()),
        ("S|M|X L".to_owned(), &[Some(2), Some(0)][..])
    );
    assert_eq!((table.missing(), table.categories("t").unwrap().get(0)), (2, Some("it's")));
}

#[test]
fn libsvm_fills_zeros_and_pads() {
    let table =
        Libsvm::new().features(4).read("1 2:5 # c\n\n-1\n2 1:-1 3:2\n".as_bytes(), "t").unwrap();
    assert_eq!(table.columns().len(), 5);
    assert_eq!(table.numbers("f1").unwrap(), [0.0, 0.0, -1.0]);
    assert_eq!(table.numbers("f2").unwrap(), [5.0, 0.0, 0.0]);
    assert_eq!(table.numbers("f4").unwrap(), [0.0; 3]);
}

#[test]
fn libsvm_labels_and_queries_keep_their_spelling() {
    let read = |text: &str| Libsvm::new().read(text.as_bytes(), "t").unwrap();
    let texts = |table: &Table, name: &str| {
        let text = table.categories(name).unwrap();
        (0..table.rows()).map(|i| text.get(i).unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read("+1 1:1\n1 1:2\n1.0\n").numbers("label").unwrap(), [1.0; 3]);
    assert_eq!(texts(&read("+1 1:1\n1 1:2\nspam 1:0\n"), "label"), ["+1", "1", "spam"]);
    assert_eq!(texts(&read("1,3 1:1\n2 1:2\n"), "label"), ["1,3", "2"]);
    let wide = "9007199254740993";
    assert_eq!(texts(&read(&format!("{wide} 1:1\n7 1:2\n")), "label"), [wide, "7"]);
    let table = read(&format!("1 qid:{wide} 1:1\n2 1:2\n3 qid:a\n"));
    assert_eq!(texts(&table, "qid"), [wide, "-", "a"]);
    let table = read("1 1:1\n2 qid:7 2:2 1:3\n");
    assert_eq!(table.names().collect::<Vec<_>>(), ["label", "qid", "f1", "f2"]);
    assert!(table.numbers("qid").unwrap()[0].is_nan());
    assert_eq!(table.row(1).collect::<Vec<_>>(), [2.0, 7.0, 3.0, 2.0].map(Cell::Number));
    let parts =
        Libsvm::new().label_parts(';', ["a", "b"]).read("1;x 1:2\n".as_bytes(), "t").unwrap();
    assert_eq!((parts.numbers("a").unwrap(), texts(&parts, "b")), (&[1.0][..], vec!["x".into()]));
}

#[test]
fn libsvm_counts_from_zero_if_a_row_does() {
    let text = "1 1:5 3:6\n2 0:7\n";
    let names = |table: &Table| table.names().collect::<Vec<_>>().join(" ");
    let table = Libsvm::new().read(text.as_bytes(), "t").unwrap();
    assert_eq!(names(&table), "label f0 f1 f2 f3");
    assert_eq!(table.numbers("f0").unwrap(), [0.0, 7.0]);
    assert_eq!(table.numbers("f3").unwrap(), [6.0, 0.0]);
    let table = Libsvm::new().features(4).read(text.as_bytes(), "t").unwrap();
    assert_eq!(names(&table), "label f0 f1 f2 f3 f4");
    assert_eq!(names(&Libsvm::new().read("1 0:1\n".as_bytes(), "t").unwrap()), "label f0");
    assert_eq!(names(&Libsvm::new().read("1\n2\n".as_bytes(), "t").unwrap()), "label");
}

#[test]
fn fann_with_several_outputs() {
    let table = read_fann("1 1 2\n\n0.5\n1 2\n\n".as_bytes(), "t").unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["x1", "y1", "y2"]);
}

#[test]
fn gzip_is_told_by_its_bytes_and_may_have_several_members() {
    let both = [gzip(b"a,b\n1,"), gzip(b"2\n3,4\n")].concat();
    let table = Csv::new().read(&both[..], "named.csv").unwrap();
    assert_eq!(table.numbers("b").unwrap(), [2.0, 4.0]);
    assert!(Uncompressed::new(&both[..]).unwrap().is_gzip());
    assert!(!Uncompressed::new(&b"\x1f"[..]).unwrap().is_gzip());
}

#[test]
fn paths_tell_the_format() {
    let dir = std::env::temp_dir().join(format!("nystrom-data-formats-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let files: [(&str, &[u8]); 4] = [
        ("t.csv", b"x,y\n1,2\n"),
        ("T.TSV.GZ", &gzip(b"x\ty\n1\t2\n")),
        ("t.arff", b"@relation r\n@attribute x real\n@attribute y real\n@data\n1,2\n"),
        ("t.svmlight.gz", b"1 1:2\n"), // not gzip, whatever it is called
    ];
    for (name, bytes) in files {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        let table = read_path(&path).unwrap();
        assert_eq!(
            (table.numbers(0).unwrap(), table.numbers(1).unwrap()),
            (&[1.0][..], &[2.0][..]),
            "{name}"
        );
        assert_eq!(table.source(), path.display().to_string());
    }
    assert!(matches!(read_path(dir.join("t.xlsx")), Err(DataError::UnknownFormat { .. })));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_byte_order_mark_alone_on_a_line_is_a_blank_line() {
    // Found by `near_tables_do_not_panic`: the first line is blank, and the parser took the mark
    // for the end of the file.
    let csv = Csv::new().header(false);
    assert!(csv.read("\n\u{feff}".as_bytes(), "t").is_err());
    let table = csv.read("\n\u{feff}\n1,2\n3,4\n".as_bytes(), "t").unwrap();
    assert_eq!((table.rows(), table.numbers(1).unwrap()), (2, &[2.0, 4.0][..]));
    assert_eq!(csv.read("\n\u{feff}1,2\n".as_bytes(), "t").unwrap().numbers(0).unwrap(), [1.0]);
}
