//! The same table in every format gives the same model.

use crate::support::{Bench, table};
use nystrom_data::{Csv, npy_bytes};

/// The predictions after a fit to this file.
fn predictions(bench: &Bench, file: &str, options: &str) -> Vec<u8> {
    bench.ok(&format!("fit {file} {options} --landmarks kmeans++:25 -o m.json -q"));
    bench.ok(&format!(
        "predict m.json {file} {} -o p.csv -q",
        ["--no-header", "--decimal-comma"]
            .into_iter()
            .find(|option| options.contains(option))
            .unwrap_or_default()
    ));
    bench.read("p.csv")
}

#[test]
fn every_format_is_read() {
    let bench = Bench::new();
    let csv = table(90, 8);
    bench.write("t.csv", &csv);
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    let read = Csv::new().read_path(bench.path("t.csv")).unwrap();
    let columns = ["a", "b", "y", "c"].map(|name| read.numbers(name).unwrap().to_vec());
    bench.write("t.tsv", csv.replace(',', "\t"));
    bench.write("t.npy", npy_bytes(90, 4, columns.iter().flatten().copied()));
    bench.write("bare.csv", rows.join("\n"));
    bench.write(
        "t.arff",
        format!(
            "@relation t\n{}@data\n{}\n",
            ["a", "b", "y", "c"].map(|c| format!("@attribute {c} numeric\n")).concat(),
            rows.join("\n")
        ),
    );
    let libsvm = |row: usize| {
        format!(
            "{:?} 1:{:?} 2:{:?} 3:{:?}\n",
            columns[2][row], columns[0][row], columns[1][row], columns[3][row]
        )
    };
    bench.write("t.libsvm", (0..90).map(libsvm).collect::<String>());
    bench.write("t.semicolons", csv.replace(',', ";"));
    bench.write("tabs.csv", csv.replace(',', "\t"));
    bench.write("t.txt", csv.replace(',', "  "));
    bench.write("decimal.csv", csv.replace(',', ";").replace('.', ","));

    let expected = predictions(&bench, "t.csv", "--target y");
    for (file, options) in [
        ("t.tsv", "--target y"),
        ("t.npy", "--target 3"),
        ("bare.csv", "--no-header --target -2"),
        ("t.arff", "--target y"),
        ("t.libsvm", ""),
        ("tabs.csv", "--target y"),
        ("t.txt", "--target y"),
        ("decimal.csv", "--target y --decimal-comma"),
    ] {
        assert_eq!(predictions(&bench, file, options), expected, "{file}");
    }
    bench.ok("fit t.semicolons --format csv --target y --landmarks kmeans++:25 -o m.json -q");
    bench.ok("predict m.json t.csv -o p.csv -q");
    assert_eq!(bench.read("p.csv"), expected);

    bench.ok("predict m.json t.csv -o p.npy -q"); // and written
    bench.ok("landmarks p.npy --landmarks uniform:3 --bandwidth 1 -o rows.npy -q");
    assert_eq!(
        nystrom_data::read_path(bench.path("p.npy")).unwrap().numbers(0).unwrap(),
        bench.column("p.csv", "prediction")
    );
}

#[test]
fn rows_with_missing_values_are_left_out_when_asked() {
    let bench = Bench::new();
    let text = table(60, 9);
    let fifth = text.lines().nth(5).unwrap();
    let with_gap = format!("NA,{}", fifth.split_once(',').unwrap().1);
    bench.write("t.csv", text.replace(fifth, &with_gap));
    let run = bench.run("fit t.csv --lambda auto --target y --refuse-missing -o m.json -q");
    run.ends(3, &["misses 1 of 60 values"]);
    bench.ok("fit t.csv --lambda auto --target y --missing NA --drop-missing -o m.json -q");
    bench.ok("predict m.json t.csv --missing NA --drop-missing -o p.csv -q");
    let rows = bench.column("p.csv", "row");
    assert_eq!((rows.len(), rows[3], rows[4]), (59, 3.0, 5.0)); // row 4, counted from 0, is gone
    assert_eq!(bench.column("p.csv", "line")[3..5], [5.0, 7.0]); // which is line 6
}
