//! What is wrong with a table is said at once, and the options that the message names mend it.

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

/// Fits, is refused, adds what the help says, and fits. Gives the message of the refusal.
fn mend(text: &str, options: &str) -> String {
    let bench = Bench::new();
    bench.write("t.csv", text);
    let line = format!("fit t.csv --lambda auto --target y -o m.json {options}");
    let run = bench.run(&line).ends(3, &[]);
    assert!(!run.err.contains("::") && !run.err.contains("from 0"), "{run:?}");
    let help = run
        .err
        .lines()
        .find_map(|line| line.strip_prefix("help: add "))
        .unwrap_or_else(|| panic!("{run:?}"));
    let help = help.split(" (").next().unwrap();
    bench.ok(&format!("{line} {help}"));
    run.err
}

#[test]
fn every_kind_of_trouble_in_one_message() {
    let text = spoiled(|line, f| {
        let number = (line - 1).to_string();
        match line {
            1 => abyc(&f, &["id", "name", "one", "gaps", "mixed", "no"]),
            5 => abyc(&f, &["A5", "Anna", "1", "NA", "12", &number]),
            7 => abyc(&f, &["A7", "Bert", "1", "", "x12", &number]),
            9 => abyc(&f, &["A9", "Carl", "1", "NA", "y12", &number]),
            11 => abyc(&f, &["A11", "Dora", "1", "3", "z12", &number]),
            13 => abyc(&f, &["A13", "Emil", "1", "4", "w12", &number]),
            _ => abyc(&f, &[&format!("A{line}"), "Fritz", "1", f[1], f[0], &number]),
        }
    });
    let message = mend(&text, "");
    for part in [
        "column 5 (\"id\") holds text, such as \"A2\" in line 2",
        "column 6 (\"name\") holds text",
        "column 8 (\"gaps\") has 3 cells that are not numbers: \"NA\" in line 5 (\"NA\", \"\")",
        "column 9 (\"mixed\") holds text, such as \"x12\" in line 7",
        "note: column 10 (\"no\") numbers the rows; if that is no feature, say --drop no",
        "help: add --drop id,name,mixed --missing NA, --drop-missing",
    ] {
        assert!(message.contains(part), "lacks {part}: {message}");
    }
}

#[test]
fn each_trouble_alone() {
    let last = |cell: &'static str, at: usize| {
        spoiled(
            move |line, f| {
                if line == at { abyc(&[f[0], f[1], f[2], cell], &[]) } else { abyc(&f, &[]) }
            },
        )
    };
    for (cell, part) in [
        ("nan", "\"nan\" in line 9"),
        ("NaN", "\"NaN\" in line 9"),
        ("-nan", "\"-nan\" in line 9"),
        ("inf", "\"inf\" in line 9"),
        ("1e400", "\"1e400\" in line 9"),
        ("", "\"\" in line 9"),
        ("?", "\"?\" in line 9"),
        ("not known", "\"not known\" in line 9"),
        ("it's", "\"it's\" in line 9"),
    ] {
        let message = mend(&last(cell, 9), "");
        assert!(message.contains(part), "{cell}: {message}");
    }
    assert!(
        mend(&last("NA", 9), "--missing NA").contains("has 1 missing value, the first in line 9")
    );
    assert!(mend(&last("?", 9), "--drop-missing").ends_with("help: add --missing '?'\n"));
    // NaN declared in one spelling is declared in all
    let bench = Bench::new();
    let text = last("nan", 9);
    bench.write("t.csv", text);
    bench.ok("fit t.csv --lambda auto --target y -o m.json --missing NaN --drop-missing");
}

#[test]
fn decimal_commas_are_offered() {
    let text = table(40, 3).replace(',', ";").replace('.', ",");
    let message = mend(&text, "");
    assert!(message.contains("add --decimal-comma") && !message.contains("--drop"), "{message}");
    let with_gap = text + "NA;1,5;1,25;2\n";
    let message = mend(&with_gap, "");
    assert!(message.contains("--decimal-comma --missing NA --drop-missing"), "{message}");
    let bench = Bench::new();
    bench.write("t.csv", table(40, 3));
    let run = bench.run("fit t.csv --lambda auto --target y --decimal-comma -o m.json");
    run.ends(3, &["leave out --decimal-comma"]);
}

#[test]
fn a_column_that_is_mostly_empty_is_dropped_rather_than_the_rows() {
    let text = spoiled(|line, f| match line {
        1 => abyc(&f, &["rare"]),
        9 => abyc(&f, &["3.5"]),
        _ => abyc(&f, &[""]),
    });
    let message = mend(&text, "");
    assert!(message.contains("help: add --drop rare"), "{message}");
    // gaps in turn: no row is complete
    let text = spoiled(|line, f| match line {
        1 => abyc(&f, &[]),
        _ if line % 2 == 0 => abyc(&["", f[1], f[2], f[3]], &[]),
        _ => abyc(&[f[0], "", f[2], f[3]], &[]),
    });
    let message = mend(&text, "");
    assert!(message.contains("--drop a,b"), "{message}");
}

#[test]
fn the_target_is_never_dropped() {
    let bench = Bench::new();
    bench.write(
        "t.csv",
        spoiled(
            |line, f| {
                if line == 1 { abyc(&f, &[]) } else { abyc(&[f[0], f[1], "high", f[3]], &[]) }
            },
        ),
    );
    let run = bench.run("fit t.csv --lambda auto --target y -o m.json");
    let run = run.ends(3, &["(\"y\") must hold numbers: choose another --target"]);
    assert!(!run.err.contains("--drop"), "{run:?}");
}

#[test]
fn names_taken_for_data_are_recognised() {
    let bench = Bench::new();
    bench.write("t.csv", table(40, 3));
    let run = bench.run("fit t.csv --lambda auto --no-header --target 3 -o m.json");
    run.ends(3, &["leave out --no-header"]);
}

#[test]
fn nan_in_npy_can_be_declared_missing() {
    let bench = Bench::new();
    let mut values: Vec<f64> = (0..120).map(|i| f64::from(i * i % 37)).collect();
    values[50] = f64::NAN;
    bench.write("t.npy", nystrom_data::npy_bytes(40, 3, values));
    let run = bench.run("fit t.npy --lambda auto --target 3 -o m.json");
    run.ends(3, &["column 2 (\"c2\")", "row 11", "add --missing NaN --drop-missing"]);
    bench.ok("fit t.npy --lambda auto --target 3 -o m.json --missing nan --drop-missing");
    bench.ok("predict m.json t.npy -o p.csv --missing NaN --drop-missing");
}
