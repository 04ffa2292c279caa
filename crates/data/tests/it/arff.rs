//! ARFF files as Weka, OpenML and KEEL write them.

use nystrom_data::{Arff, Cell, Format, Origin, Table, Values};

fn read(text: &str) -> Table {
    Arff::new().read(text.as_bytes(), "t.arff").unwrap()
}

/// As the program reads it.
fn found(text: &str) -> Table {
    found_with(text, &[])
}

fn found_with(text: &str, texts: &[usize]) -> Table {
    let origin = Origin::Bytes { bytes: text.as_bytes(), name: "t.arff" };
    Format::Arff(Arff::new()).found(origin, texts).unwrap()
}

/// The rows with a `|` between cells, and a blank between rows.
fn rows(table: &Table) -> String {
    let cell = |cell: Cell<'_>| match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => format!("'{text}'"),
        Cell::Missing => "-".to_owned(),
        Cell::Sparse(..) => cell.to_string(),
    };
    let row = |i| table.row(i).map(cell).collect::<Vec<_>>().join("|");
    (0..table.rows()).map(row).collect::<Vec<_>>().join(" ")
}

#[test]
fn types_with_ranges_weights_and_comments() {
    for kind in [
        "INTEGER [0,9]",
        "real[0.0, 1.0]",
        "Numeric [1,5]",
        "real {5}",
        "integer\t% a comment",
        "REAL % a, b",
        "numeric real",
    ] {
        let table = read(&format!("@attribute x {kind}\n@attribute y real\n@data\n7,1\n"));
        assert_eq!(rows(&table), "7|1", "{kind}");
    }
    for kind in ["{ a , b } {0.5}", "{a,b} % } c", "{a b}", "{\ta\tb}", "{'a' 'b'}", "{a,b,}"] {
        let table = read(&format!("@attribute x {kind}\n@data\nb\n"));
        assert_eq!(table.categories(0).unwrap().levels, ["a", "b"], "{kind}");
        assert!(table.notes().is_empty());
    }
}

#[test]
fn headers_of_many_shapes() {
    let text = "\u{feff}%c\r\n\r\n@ATTRIBUTE\tx\tREAL\r\n@attribute 'y z'{p}\r\n@Inputs x\r\n\
                @outputs y\r\n@DATA rows follow\r\n\r\n1,p\r\n  % c\r\n2,p";
    let table = read(text);
    assert_eq!(table.names().collect::<Vec<_>>(), ["x", "y z"]);
    assert_eq!((rows(&table).as_str(), table.line(1)), ("1|'p' 2|'p'", Some(11)));
}

#[test]
fn equal_names_are_numbered_as_in_csv() {
    let table = read("@attribute x real\n@attribute x real\n@attribute x.1 real\n@data\n1,2,3\n");
    assert_eq!(table.names().collect::<Vec<_>>(), ["x", "x.2", "x.1"]);
    assert_eq!(table.notes(), ["columns of the same name are numbered: \"x\""]);
}

#[test]
fn sparse_rows_leave_out_zeros_and_first_values() {
    let header = "@attribute x real\n@attribute c {u, 'v w'}\n@attribute s string\n\
                  @attribute d date\n@attribute y real\n@data\n";
    let table = read(&format!(
        "{header}{{0 1.5, 1 'v w', 4 ?}}\n{{}}\n2, u, t, '2001-02-03T04:05:06', 3\n\
         {{ 2 'a, b' 3 \"2001-02-03\" , 4 -1 }} % c\n"
    ));
    let expected = "1.5|'v w'|-|-|- 0|'u'|-|-|0 2|'u'|'t'|'2001-02-03T04:05:06'|3 \
                    0|'u'|'a, b'|'2001-02-03'|-1";
    assert_eq!(rows(&table), expected);
    assert_eq!(table.notes(), ["texts that sparse rows leave out are missing: \"s\", \"d\""]);
    let table = read(&format!("{header}1,u,a,b,2\n{{2 a,3 b}}\n"));
    assert!(table.notes().is_empty());
}

#[test]
fn dates_are_iso_texts_where_their_format_is_declared() {
    let table = read(
        "@attribute a date\n@attribute b DATE 'dd/MM/yyyy HH:mm'\n@data\n\
                      2001-02-03T04:05:06,'31/12/1999 23:59'\n?,1/1/2000 0:00\n",
    );
    let iso = "'2001-02-03T04:05:06'|'1999-12-31T23:59:00' -|'2000-01-01T00:00:00'";
    assert_eq!(rows(&table), iso);
    // what is not written so stays as it is
    let table = read("@attribute a date \"yyyyMMdd\"\n@data\n20190331\nsoon\n");
    assert_eq!(rows(&table), "'2019-03-31T00:00:00' 'soon'");
}

#[test]
fn values_that_are_not_declared_come_behind_the_others() {
    let text =
        "@attribute c {b, a, b}\n@attribute n {NA, x}\n@data\nA,NA\na,x\n'c d',nan\nA,'nan'\n";
    let table = read(text);
    let of = |table: &Table, j: usize| table.categories(j).unwrap().levels.join("|");
    assert_eq!([of(&table, 0), of(&table, 1)], ["b|a|A|c d", "NA|x|nan"]);
    let notes = [
        "\"c\": declared more than once: \"b\"",
        "\"c\": values that are not declared become categories: \"A\", \"c d\"",
        "\"n\": values that are not declared become categories: \"nan\"",
    ];
    assert_eq!(table.notes(), notes);
    // as it is found, a marker is a missing value unless it is declared or quoted
    let table = found(text);
    assert_eq!(rows(&table), "'A'|'NA' 'a'|'x' 'c d'|- 'A'|'nan'");
    assert_eq!(of(&table, 1), "NA|x|nan");
}

#[test]
fn numbers_are_found_as_in_csv() {
    let header = "@attribute x real\n@attribute id integer\n@attribute z real\n@data\n";
    let text = format!(
        "{header}nan,9007199254740992,1\nInf,9007199254740993,?\n1.5,007,+2.50\n{{0 2,2 12kg}}\n"
    );
    assert!(Arff::new().read(text.as_bytes(), "t").is_err());
    let table = found(&text);
    let expected = "-|'9007199254740992'|'1' -|'9007199254740993'|- 1.5|'007'|'+2.50' \
                    2|'0'|'12kg'";
    assert_eq!(rows(&table), expected);
    assert_eq!(table.notes(), ["\"x\": \"Inf\" in 1 row is taken for a missing value"]);
    let table = found_with(&format!("{header}007,1,2\n"), &[0]);
    assert_eq!(rows(&table), "'007'|1|2");
    assert!(matches!(table.columns()[1].values, Values::Numbers(_)));
    // a quoted question mark is text, and so among numbers it makes them texts no more than in CSV
    assert_eq!(rows(&found("@attribute s string\n@data\n'?'\n?\n")), "'?' -");
}

#[test]
fn blanks_and_tabs_separate_where_there_are_no_commas() {
    let header = "@attribute x real\n@attribute s string\n@attribute y real\n@data\n";
    let text = format!("{header}1\t'a b'\t2\n 3   c  4 % c\n5,d e,6,\n");
    assert_eq!(rows(&read(&text)), "1|'a b'|2 3|'c'|4 5|'d e'|6");
    let error = Arff::new().read(format!("{header}1 2\n").as_bytes(), "t").unwrap_err();
    assert_eq!(error.place().unwrap().line, Some(5));
}

#[test]
fn other_encodings_are_noted() {
    let bytes = b"@attribute c {caf\xe9}\n@data\ncaf\xe9\n";
    let table = Arff::new().read(&bytes[..], "t").unwrap();
    assert_eq!((rows(&table).as_str(), table.notes().len()), ("'café'", 1));
}
