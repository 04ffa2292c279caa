//! Malformed CSV: each is refused at the exact line and column, with a remedy.

use crate::common::{Complaint, refused};
use nystrom_data::{Csv, DataError, Problem};

fn csv(reader: &Csv, text: &str) -> Complaint {
    refused(reader.read(text.as_bytes(), "t.csv"), "t.csv")
}

fn not_a_number(complaint: &Complaint, expected: &str) {
    assert!(
        matches!(&complaint.problem, Problem::NotANumber { text, .. } if text == expected),
        "{}",
        complaint.message
    );
}

#[test]
fn text_in_a_numeric_column() {
    let complaint = csv(&Csv::new(), "a,b\n1,2\n3,four\n5,six\n");
    assert_eq!(complaint.at(), (Some(3), Some(2), Some("b")));
    not_a_number(&complaint, "four");
    assert!(complaint.message.contains("Csv::text"));
}

#[test]
fn crlf_and_blank_lines_count_as_an_editor_counts_them() {
    let complaint = csv(&Csv::new(), "a,b\r\n\r\n1,2\r\n\r\n\r\nx,2\r\n");
    assert_eq!(complaint.at(), (Some(6), Some(1), Some("a")));
}

#[test]
fn lone_carriage_returns_count_too() {
    assert_eq!(csv(&Csv::new(), "a,b\r1,2\r3,x\r").at(), (Some(3), Some(2), Some("b")));
}

#[test]
fn line_numbers_after_quoted_line_ends() {
    let reader = Csv::new().text(["s"]);
    let complaint = csv(&reader, "s,x\n\"two\nlines\",1\n\"a\nb\nc\",bad\n");
    assert_eq!(complaint.at(), (Some(4), Some(2), Some("x")));
}

#[test]
fn a_marker_that_was_not_declared() {
    let complaint = csv(&Csv::new(), "a,PM2.5\n1,NA\n");
    assert_eq!(complaint.at(), (Some(2), Some(2), Some("PM2.5")));
    assert!(complaint.message.contains("Csv::missing"));
}

#[test]
fn an_empty_field_that_was_not_declared() {
    let complaint = csv(&Csv::new(), "a,b,c\n1,,3\n");
    assert_eq!(complaint.at(), (Some(2), Some(2), Some("b")));
    not_a_number(&complaint, "");
}

#[test]
fn too_few_and_too_many_fields() {
    for (text, found) in
        [("a,b,c\n1,2,3\n4,5\n", 2), ("a,b,c\n1,2,3\n4,5,6,7\n", 4), ("a,b,c\n1,2,3\n1,2,3,\n", 4)]
    {
        let complaint = csv(&Csv::new(), text);
        assert_eq!(complaint.at(), (Some(3), None, None));
        assert_eq!(complaint.problem, Problem::RaggedRow { expected: 3, found });
    }
}

#[test]
fn ragged_against_the_first_row_without_header() {
    let complaint = csv(&Csv::new().header(false), "1,2\n3\n");
    assert_eq!(complaint.at(), (Some(2), None, None));
    assert_eq!(complaint.problem, Problem::RaggedRow { expected: 2, found: 1 });
}

#[test]
fn ragged_against_given_names() {
    let complaint = csv(&Csv::new().names(["x", "y", "z"]), "1,2\n");
    assert_eq!(complaint.at(), (Some(1), None, None));
    assert_eq!(complaint.problem, Problem::RaggedRow { expected: 3, found: 2 });
}

#[test]
fn nan_and_infinities() {
    for literal in ["NaN", "nan", "inf", "-Infinity", "1e400"] {
        let complaint = csv(&Csv::new(), &format!("a,b\n1,2\n{literal},4\n"));
        assert_eq!(complaint.at(), (Some(3), Some(1), Some("a")));
        assert_eq!(complaint.problem, Problem::NotFinite { text: literal.into() });
    }
}

#[test]
fn nothing_at_all() {
    for text in ["", "\n", "\r\n \r\n", "\u{feff}"] {
        for reader in [
            Csv::new(),
            Csv::new().header(false),
            Csv::new().names(["a"]),
            Csv::new().skip_lines(9),
        ] {
            assert!(matches!(csv(&reader, text).problem, Problem::Empty { .. }), "{text:?}");
        }
    }
}

#[test]
fn header_only() {
    for text in ["a,b", "a,b\n", "a,b\r\n\r\n"] {
        assert_eq!(csv(&Csv::new(), text).problem, Problem::NoRows);
    }
}

#[test]
fn a_header_of_numbers_would_lose_a_row() {
    let complaint = csv(&Csv::new(), "0.5,1\n0.25,2\n");
    assert_eq!((complaint.line, &complaint.problem), (Some(1), &Problem::NumericHeader));
    assert!(complaint.message.contains("header(false)"));
    // The remedy for real numeric names works.
    let table = Csv::new()
        .names(["2001", "2002"])
        .skip_lines(1)
        .read("2001,2002\n1,2\n".as_bytes(), "t")
        .unwrap();
    assert_eq!(table.numbers("2002").unwrap(), [2.0]);
}

#[test]
fn a_header_where_none_was_expected() {
    let complaint = csv(&Csv::new().header(false), "x,y\n1,2\n");
    assert_eq!(complaint.at(), (Some(1), Some(1), Some("c1")));
    assert!(complaint.message.contains("header(true)"), "{}", complaint.message);
}

#[test]
fn duplicate_names() {
    let complaint = csv(&Csv::new(), "\na,b,a\n1,2,3\n");
    assert_eq!(complaint.at(), (Some(2), Some(3), None));
    assert_eq!(complaint.problem, Problem::DuplicateColumn { name: "a".into(), first: 1 });
}

#[test]
fn quotes_that_never_close() {
    let complaint = csv(&Csv::new().text(["s"]), "s,x\nok,1\n\"open,2\nmore,3\n");
    assert_eq!((complaint.line, complaint.problem), (Some(3), Problem::UnclosedQuote));
}

#[test]
fn the_wrong_delimiter() {
    let complaint = csv(&Csv::new(), "B\tG\n85\t123\n");
    assert_eq!(complaint.at(), (Some(2), Some(1), Some("B\tG")));
    assert!(complaint.message.contains("tabs"), "{}", complaint.message);
}

#[test]
fn decimal_commas() {
    let complaint = csv(&Csv::new().delimiter(b';'), "a;b\n1;2,5\n");
    assert_eq!(complaint.at(), (Some(2), Some(2), Some("b")));
    assert!(
        complaint.message.contains("decimal commas")
            && complaint.message.contains("Csv::decimal_comma")
    );
    let complaint = csv(&Csv::new().delimiter(b';').decimal_comma(), "a;b\n1;2.5\n");
    assert_eq!(complaint.at(), (Some(2), Some(2), Some("b")));
    assert!(
        complaint.message.contains("the meaning of a point is unclear"),
        "{}",
        complaint.message
    );
}

#[test]
fn text_after_numbers_is_refused_even_when_text_is_inferred() {
    let complaint = csv(&Csv::new().infer_text(), "s,x\nu,1\nv,w\n");
    assert_eq!(complaint.at(), (Some(3), Some(2), Some("x")));
}

#[test]
fn bytes_that_are_not_utf8() {
    let table = Csv::new().text(["b"]).read(&b"a,b\n1,2\n1,\xe9t\n"[..], "t.csv").unwrap();
    assert_eq!(table.categories("b").unwrap().get(1), Some("ét"));
}

#[test]
fn utf16_with_byte_order_mark() {
    for bytes in [&b"\xff\xfea\0\n\x001\0"[..], b"\xfe\xff\0a\0\n\x001"] {
        assert_eq!(Csv::new().read(bytes, "t.csv").unwrap().numbers("a").unwrap(), [1.0]);
    }
}

#[test]
fn endless_lines() {
    let complaint = refused(Csv::new().read(std::io::repeat(b'1'), "t.csv"), "t.csv");
    assert_eq!(
        (complaint.line, complaint.problem),
        (Some(1), Problem::LineTooLong { limit: 16 << 20 })
    );
}

#[test]
fn endless_quotes() {
    let text = format!("a,b\n1,\"{}", "x\n".repeat(9 << 20));
    assert_eq!(csv(&Csv::new(), &text).at(), (Some(2), None, None));
}

#[test]
fn long_offending_text_is_shortened() {
    let complaint = csv(&Csv::new(), &format!("a\n{}\n", "é".repeat(10_000)));
    assert!(complaint.message.len() < 400, "{}", complaint.message);
}

#[test]
fn options_that_cannot_work() {
    for delimiter in [b'"', b'\n', b'\r', 0xff] {
        let error = Csv::new().delimiter(delimiter).read("a\n1\n".as_bytes(), "t.csv").unwrap_err();
        assert!(matches!(error, DataError::BadDelimiter { delimiter: d } if d == delimiter));
    }
    let error = Csv::new().text(["sex"]).read("Sex,b\nM,2\n".as_bytes(), "t.csv").unwrap_err();
    assert_eq!(error.to_string(), "t.csv: there is no column \"sex\"; there are 2: \"Sex\", \"b\"");
}

#[test]
fn files_that_are_not_there() {
    let error = Csv::new().read_path("no/such/dir/x.csv").unwrap_err();
    let DataError::NotFound { file, looked_in } = error else { panic!("{error}") };
    assert_eq!(file, "no/such/dir/x.csv");
    assert!(looked_in.ends_with("no/such/dir") && std::path::Path::new(&looked_in).is_absolute());
    assert!(
        matches!(Csv::new().read_path("."), Err(DataError::Io { .. })),
        "a folder is not a file"
    );
}
