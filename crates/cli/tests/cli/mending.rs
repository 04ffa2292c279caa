//! Tables with troubles that people's tables have are read, and what was made of them is said.

use crate::support::{Bench, table};

/// A table made from a sound one by `spoil`, which is given each line's fields; the header's line
/// number is 1.
fn spoiled(spoil: impl Fn(usize, Vec<&str>) -> String) -> String {
    let text = table(40, 3);
    text.lines()
        .enumerate()
        .map(|(i, line)| spoil(i + 1, line.split(',').collect()) + "\n")
        .collect()
}

fn abyc(f: &[&str], extra: &[&str]) -> String {
    [f, extra].concat().join(",")
}

const FIT: &str = "fit t.csv --lambda auto --target y -o m.json";

/// What is said of a fit, and its predictions for the same table.
fn fitted(text: &str, options: &str) -> (String, Vec<f64>) {
    let bench = Bench::new();
    bench.write("t.csv", text);
    let run = bench.ok(&format!("{FIT} {options}"));
    bench.ok(&format!("predict m.json t.csv -o p.csv -q {options}"));
    let predictions = bench.column("p.csv", "prediction");
    assert!(predictions.iter().all(|value| value.is_finite()));
    (format!("{} {}", run.said(), run.err), predictions)
}

#[test]
fn every_kind_of_trouble_in_one_table() {
    let text = spoiled(|line, f| {
        let number = (line - 1).to_string();
        let mixed = format!("{}", 7 * line);
        match line {
            1 => abyc(&f, &["id", "name", "one", "gaps", "mixed", "no", "day"]),
            5 => abyc(&f, &["A5", "Anna", "1", "NA", "12", &number, "2020-01-05"]),
            7 => abyc(&f, &["A7", "Bert", "1", "?", "x12", &number, "2020-01-07"]),
            9 => abyc(&f, &["A9", "Carl", "1", "NA", "y12", &number, ""]),
            _ => {
                abyc(&f, &[&format!("A{line}"), "Fritz", "1", f[1], &mixed, &number, "2020-01-01"])
            }
        }
    });
    let (said, _) = fitted(&text, "");
    for part in [
        "\"id\" names each row",
        "\"one\" (1) has one value only",
        "\"gaps\": \"?\" in 1 row is taken for a missing value",
        "\"mixed\" holds numbers and texts such as \"x12\"",
        "\"no\" numbers the rows",
        "\"day\" holds dates, read as year, month, day",
    ] {
        assert!(said.contains(part), "lacks {part}: {said}");
    }
}

#[test]
fn each_trouble_alone() {
    let last = |cell: &'static str| {
        spoiled(
            move |line, f| {
                if line == 9 { abyc(&[f[0], f[1], f[2], cell], &[]) } else { abyc(&f, &[]) }
            },
        )
    };
    for cell in ["nan", "NaN", "-nan", "inf", "1e400", "", "?", "not known", "it's", "1,5"] {
        let cell = if cell.contains(',') { "\"1,5\"" } else { cell };
        fitted(&last(cell), "");
    }
    for (cell, part) in [
        ("?", "\"?\" in 1 row is taken for a missing value"),
        ("not known", "holds numbers and texts such as \"not known\""),
    ] {
        let (said, _) = fitted(&last(cell), "");
        assert!(said.contains(part), "{cell}: {said}");
    }
    let (_, declared) = fitted(&last("-999"), "--missing=-999");
    let (_, marked) = fitted(&last("NA"), "");
    assert_eq!(declared, marked);
}

/// The same table in another dress has the same predictions.
#[test]
fn decimal_commas_are_read() {
    let plain = table(40, 3);
    let commas = plain.replace(',', ";").replace('.', ",");
    let (_, wanted) = fitted(&plain, "");
    let (said, found) = fitted(&commas, "");
    assert!(said.contains("\"y\" holds numbers such as \"-0,01"), "{said}");
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert!(wanted.iter().zip(&found).all(near));
    let (_, told) = fitted(&commas, "--decimal-comma");
    assert!(wanted.iter().zip(&told).all(near));
}

#[test]
fn a_column_that_is_mostly_empty_is_filled() {
    let text = spoiled(|line, f| match line {
        1 => abyc(&f, &["rare"]),
        9 => abyc(&f, &["3.5"]),
        _ => abyc(&f, &[""]),
    });
    fitted(&text, "");
    // gaps in turn: no row is complete
    let text = spoiled(|line, f| match line {
        1 => abyc(&f, &[]),
        _ if line % 2 == 0 => abyc(&["", f[1], f[2], f[3]], &[]),
        _ => abyc(&[f[0], "", f[2], f[3]], &[]),
    });
    fitted(&text, "");
    let bench = Bench::new();
    bench.write("t.csv", text);
    bench.run(&format!("{FIT} --refuse-missing")).ends(3, &["misses 20 of 40 values"]);
    bench.run(&format!("{FIT} --drop-missing")).ends(3, &["nothing to learn from 0 rows"]);
}

#[test]
fn a_target_of_texts_is_named_with_its_line() {
    let bench = Bench::new();
    bench.write(
        "t.csv",
        spoiled(
            |line, f| {
                if line == 1 { abyc(&f, &[]) } else { abyc(&[f[0], f[1], "high", f[3]], &[]) }
            },
        ),
    );
    bench.run(FIT).ends(3, &["column \"y\"", "\"high\" in line 2"]);
    let one =
        spoiled(
            |line, f| {
                if line == 7 { abyc(&[f[0], f[1], "high", f[3]], &[]) } else { abyc(&f, &[]) }
            },
        );
    bench.write("t.csv", one);
    let run = bench.run("fit t.csv --target y -o m.json --work 1e8");
    run.ends(3, &["\"high\" in line 7", "--numeric"]);
    bench.ok("fit t.csv --target y -o m.json --work 1e8 --numeric y");
}

#[test]
fn names_taken_for_data_are_named() {
    let bench = Bench::new();
    bench.write("t.csv", table(40, 3));
    let run = bench.run("fit t.csv --lambda auto --no-header --target 3 -o m.json");
    run.ends(3, &["\"y\" in line 1"]);
}

#[test]
fn nan_in_npy_is_missing() {
    let bench = Bench::new();
    let mut values: Vec<f64> = (0..120).map(|i| f64::from(i * i % 37)).collect();
    values[50] = f64::NAN;
    bench.write("t.npy", nystrom_data::npy_bytes(40, 3, values));
    bench.ok("fit t.npy --lambda auto --target 3 -o m.json");
    bench.ok("predict m.json t.npy -o p.csv --drop-missing");
}
