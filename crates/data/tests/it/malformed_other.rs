//! Malformed ARFF, libsvm, FANN and gzip: each is refused at the exact line and column, with a
//! remedy.

use crate::common::{Complaint, gzip, read_fann, refused};
use nystrom_data::{Arff, Csv, Libsvm, Problem};

fn arff(text: &str) -> Complaint {
    refused(Arff::new().read(text.as_bytes(), "t.arff"), "t.arff")
}

fn libsvm(text: &str) -> Complaint {
    refused(Libsvm::new().read(text.as_bytes(), "t.svm"), "t.svm")
}

fn fann(text: &str) -> Complaint {
    refused(read_fann(text.as_bytes(), "t.fann"), "t.fann")
}

const HEADER: &str = "% c\n@relation r\n@attribute x numeric\n@attribute s {u, v}\n@data\n";

#[test]
fn arff_without_data_line() {
    assert_eq!(arff("@relation r\n@attribute x real\n").problem, Problem::ArffNoData);
    let complaint = arff("@relation r\n@attribute x real\n1.5\n");
    assert_eq!(
        (complaint.line, complaint.problem),
        (Some(3), Problem::ArffDeclaration { text: "1.5".into() })
    );
}

#[test]
fn arff_without_attributes() {
    let complaint = arff("@relation r\n@data\n1\n");
    assert_eq!((complaint.line, complaint.problem), (Some(2), Problem::ArffNoAttributes));
}

#[test]
fn arff_that_is_empty_or_has_no_rows() {
    assert!(matches!(arff("").problem, Problem::Empty { .. }));
    assert!(matches!(arff("% only\n% comments\n").problem, Problem::Empty { .. }));
    assert_eq!(arff(&format!("{HEADER}% nothing\n")).problem, Problem::NoRows);
}

#[test]
fn arff_attribute_types_that_are_not_read() {
    for kind in ["relational", "numerical", "{a, b", "{}"] {
        let complaint =
            arff(&format!("@relation r\n@attribute x real\n@attribute t {kind}\n@data\n1,2\n"));
        assert_eq!(complaint.at(), (Some(3), Some(2), None), "{}", complaint.message);
        assert_eq!(complaint.problem, Problem::ArffType { text: kind.into() });
    }
}

#[test]
fn arff_attributes_without_name_or_type() {
    for line in ["@attribute", "@attribute x", "@attribute 'open real", "@attributes x real", "x,y"]
    {
        let complaint = arff(&format!("@relation r\n{line}\n@data\n1\n"));
        assert_eq!(complaint.line, Some(2));
        assert!(
            matches!(complaint.problem, Problem::ArffDeclaration { .. }),
            "{}",
            complaint.message
        );
    }
}

#[test]
fn arff_sparse_rows() {
    for (row, problem) in [
        ("{2 1}", Problem::ArffIndex { text: "2".into(), attributes: 2 }),
        ("{0 1, 0 2}", Problem::IndexDuplicate { index: 0 }),
        ("{1 v, 0 2}", Problem::IndexNotIncreasing { index: 0, previous: 1 }),
        ("{0 1, 1}", Problem::ArffSparse { text: "{0 1, 1}".into() }),
        ("{0 1", Problem::ArffSparse { text: "{0 1".into() }),
        ("{x 1}", Problem::ArffSparse { text: "{x 1}".into() }),
        ("{-1 1}", Problem::ArffSparse { text: "{-1 1}".into() }),
        ("{1 'v}", Problem::UnclosedQuote),
        ("{0 1} {2.5}", Problem::ArffWeight { text: "2.5".into() }),
        ("1, u, { 5 } % c", Problem::ArffWeight { text: "5".into() }),
    ] {
        let complaint = arff(&format!("{HEADER}1,u\n{row}\n"));
        assert_eq!((complaint.line, complaint.problem), (Some(7), problem), "{row}");
    }
    let complaint = arff(&format!("{HEADER}{{0 w}}\n"));
    assert_eq!(complaint.at(), (Some(6), Some(1), Some("x")));
    let huge = format!("{HEADER}{{0 99999999999999999999}}\n{{99999999999999999999 1}}\n");
    let complaint = arff(&huge);
    assert!(matches!(complaint.problem, Problem::ArffIndex { .. }), "{}", complaint.message);
}

#[test]
fn arff_rows_that_would_explode_when_dense() {
    let header: String = (0..1000).map(|j| format!("@attribute a{j} real\n")).collect();
    let text = format!("{header}@data\n{}", "{7 1}\n".repeat(100));
    let few = Arff::new().max_zeros(50_000);
    let complaint = refused(few.read(text.as_bytes(), "t.arff"), "t.arff");
    let (rows, features, stored, zeros) = (51, 1000, 51, 50_949);
    assert_eq!(complaint.line, Some(1052));
    assert_eq!(complaint.problem, Problem::TooSparse { rows, features, stored, zeros });
    assert!(Arff::new().read(text.as_bytes(), "t.arff").is_ok());
}

#[test]
fn arff_rows_that_do_not_fit_the_declaration() {
    let complaint = arff(&format!("{HEADER}1,u\n% c\n2\n"));
    assert_eq!(complaint.at(), (Some(8), None, None));
    assert_eq!(complaint.problem, Problem::RaggedRow { expected: 2, found: 1 });
    let complaint = arff(&format!("{HEADER}u,1\n"));
    assert_eq!(complaint.at(), (Some(6), Some(1), Some("x")));
    assert!(matches!(complaint.problem, Problem::NotANumber { text, .. } if text == "u"));
    let complaint = arff(&format!("{HEADER}inf,u\n"));
    assert_eq!(
        (complaint.at(), complaint.problem.clone()),
        ((Some(6), Some(1), Some("x")), Problem::NotFinite { text: "inf".into() })
    );
}

#[test]
fn arff_unclosed_quote() {
    let complaint = arff(&format!("{HEADER}1,'u\n"));
    assert_eq!((complaint.line, complaint.problem), (Some(6), Problem::UnclosedQuote));
}

#[test]
fn libsvm_indices_that_occur_twice() {
    for (row, field, index) in [
        ("1 2:1 2:4", 3, 2),
        ("1 3:1 2:1 5:1 3:4 2:2", 6, 2),
        ("1 qid:1 2:1 3:4 2:4 3:4 3:5", 5, 2),
        ("1 0:1 0:1", 3, 0),
    ] {
        let complaint = libsvm(&format!("1 2:1\n{row}\n"));
        assert_eq!(
            (complaint.at(), complaint.problem.clone()),
            ((Some(2), Some(field), None), Problem::IndexDuplicate { index }),
            "{row}"
        );
    }
}

#[test]
fn libsvm_huge_indices_are_not_allocated() {
    for index in ["4000000000", "1048577", "99999999999999999999999999"] {
        let complaint = libsvm(&format!("1 1:1\n1 {index}:1\n"));
        assert_eq!(complaint.at(), (Some(2), Some(2), None));
        assert_eq!(
            complaint.problem,
            Problem::IndexTooLarge { text: index.into(), limit: 1 << 20 }
        );
    }
    let complaint = refused(Libsvm::new().features(3).read("1 4:1\n".as_bytes(), "t.svm"), "t.svm");
    assert_eq!(complaint.problem, Problem::IndexTooLarge { text: "4".into(), limit: 3 });
}

#[test]
fn libsvm_rows_that_would_explode_when_dense() {
    let text = "1 1000000:1\n".repeat(1000); // 12 kB of text, 8 GB when dense
    let complaint = libsvm(&text);
    assert_eq!(
        complaint.problem,
        Problem::TooSparse { rows: 1000, features: 1_000_000, stored: 1000, zeros: 999_999_000 }
    );
}

#[test]
fn libsvm_fields_that_are_not_pairs() {
    for field in ["7", "a:1", ":1", "-1:2", "1.5:2", "qid:", "qid", "QID:1", "+1:1"] {
        let complaint = libsvm(&format!("# c\n1 {field}\n"));
        assert_eq!(complaint.at(), (Some(2), Some(2), None));
        assert_eq!(complaint.problem, Problem::NotAPair { text: field.into() });
    }
    let complaint = libsvm("1 qid:3 1:2 qid:3\n");
    assert_eq!(complaint.at(), (Some(1), Some(4), None));
    assert_eq!(complaint.problem, Problem::NotAPair { text: "qid:3".into() });
}

#[test]
fn libsvm_values_that_are_not_numbers() {
    let complaint = libsvm("1 1:2 2:\n");
    assert_eq!(complaint.at(), (Some(1), Some(3), None));
    assert!(matches!(complaint.problem, Problem::NotANumber { text, .. } if text.is_empty()));
    let complaint = libsvm("1 1:nan\n");
    assert_eq!(complaint.problem, Problem::NotFinite { text: "nan".into() });
    assert!(
        matches!(libsvm("1 1:2:3\n").problem, Problem::NotANumber { text, .. } if text == "2:3")
    );
}

#[test]
fn libsvm_labels() {
    let complaint = libsvm("1 1:1\n1:1 2:2\n");
    assert_eq!(complaint.at(), (Some(2), Some(1), Some("label")));
    assert!(complaint.message.contains("starts with its label"), "{}", complaint.message);
    for text in ["a,y\n1,2\n", "1\n2\nx\n"] {
        let complaint = libsvm(text);
        assert!(complaint.message.contains("is not a number"), "{}", complaint.message);
        assert!(complaint.message.contains("name the format"), "{}", complaint.message);
        assert!(complaint.line.is_some());
    }
    assert_eq!(libsvm("inf 1:1\n").problem, Problem::NotFinite { text: "inf".into() });
    let gas = Libsvm::new().label_parts(';', ["class", "concentration"]);
    let complaint = refused(gas.read("1;10 1:1\n2 1:1\n".as_bytes(), "t.svm"), "t.svm");
    assert_eq!(
        (complaint.at(), complaint.problem.clone()),
        ((Some(2), Some(1), None), Problem::LabelParts { text: "2".into(), expected: 2, found: 1 })
    );
    let complaint = refused(gas.read("1;nan 1:1\n".as_bytes(), "t.svm"), "t.svm");
    assert_eq!(complaint.at(), (Some(1), Some(1), Some("concentration")));
}

#[test]
fn libsvm_empty() {
    assert!(matches!(libsvm("").problem, Problem::Empty { .. }));
    assert!(matches!(libsvm("# nothing\n\n").problem, Problem::Empty { .. }));
}

#[test]
fn fann_headers() {
    for header in ["1 2", "1 2 3 4", "a 2 1", "-1 2 1", "0 2 1", "1 0 1", "1 2 0", "1.0 2 1"] {
        let complaint = fann(&format!("\n{header}\n1 2\n3\n"));
        assert_eq!(
            (complaint.line, complaint.problem),
            (Some(2), Problem::FannHeader { text: header.into() })
        );
    }
    assert!(matches!(fann("").problem, Problem::Empty { .. }));
}

#[test]
fn fann_lines_with_other_counts() {
    let complaint = fann("2 2 1\n1 2\n3\n4 5 6\n7\n");
    assert_eq!(
        (complaint.line, complaint.problem),
        (Some(4), Problem::FannValues { what: "inputs", expected: 2, found: 3 })
    );
    let complaint = fann("1 2 1\n1 2\n3 4\n");
    assert_eq!(
        (complaint.line, complaint.problem),
        (Some(3), Problem::FannValues { what: "outputs", expected: 1, found: 2 })
    );
    // Claimed, not there, and so not allocated.
    let complaint = fann("4000000000 4000000000 4000000000\n1 2\n3\n");
    assert_eq!(complaint.line, Some(2));
}

#[test]
fn fann_with_other_numbers_of_rows() {
    let complaint = fann("3 1 1\n1\n2\n3\n");
    assert_eq!(
        complaint.problem,
        Problem::FannRows { expected: 3, found: "1 and a line of inputs follow".into() }
    );
    let complaint = fann("1 1 1\n1\n2\n\n3\n4\n");
    assert_eq!(
        (complaint.line, complaint.problem),
        (Some(5), Problem::FannRows { expected: 1, found: "more lines follow".into() })
    );
}

#[test]
fn fann_text_and_infinities() {
    let complaint = fann("1 3 1\n1 two 3\n4\n");
    assert_eq!(complaint.at(), (Some(2), Some(2), None));
    assert!(matches!(complaint.problem, Problem::NotANumber { text, .. } if text == "two"));
    let complaint = fann("1 1 1\n1\n-inf\n");
    assert_eq!(
        (complaint.at(), complaint.problem.clone()),
        ((Some(3), Some(1), None), Problem::NotFinite { text: "-inf".into() })
    );
}

/// Rows whose digits vary, so that the compressed data are long.
fn long_csv() -> String {
    let row = |i: u64| {
        format!(
            "{},{}\n",
            i.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            i.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        )
    };
    std::iter::once("a,b\n".to_owned()).chain((0..20_000).map(row)).collect()
}

#[test]
fn gzip_broken_off_anywhere() {
    let whole = gzip(long_csv().as_bytes());
    for end in
        [2, 3, 9, 10, 11, 1000, whole.len() / 2, whole.len() - 9, whole.len() - 8, whole.len() - 1]
    {
        let complaint = refused(Csv::new().read(&whole[..end], "t.csv.gz"), "t.csv.gz");
        assert!(
            matches!(complaint.problem, Problem::GzipTruncated { .. }),
            "{end}: {}",
            complaint.message
        );
    }
    let complaint = refused(Csv::new().read(&whole[..whole.len() / 2], "t.csv.gz"), "t.csv.gz");
    assert!(complaint.line.unwrap() > 5_000);
}

#[test]
fn gzip_damaged() {
    let whole = gzip(long_csv().as_bytes());
    let n = whole.len();
    // The method in the header, the checksum, and the length.
    for position in [2, n - 8, n - 1] {
        let mut bytes = whole.clone();
        bytes[position] ^= 0x55;
        let complaint = refused(Csv::new().read(&bytes[..], "t.csv"), "t.csv");
        assert!(
            matches!(complaint.problem, Problem::GzipCorrupt { .. }),
            "{position}: {}",
            complaint.message
        );
    }
    let mut trailing = whole;
    trailing.extend_from_slice(b"garbage after the end");
    let complaint = refused(Csv::new().read(&trailing[..], "t.csv"), "t.csv");
    assert!(matches!(complaint.problem, Problem::GzipCorrupt { .. }), "{}", complaint.message);
}

#[test]
fn gzip_of_nothing() {
    let complaint = refused(Csv::new().read(&gzip(b"")[..], "t.csv"), "t.csv");
    assert!(matches!(complaint.problem, Problem::Empty { .. }));
}
