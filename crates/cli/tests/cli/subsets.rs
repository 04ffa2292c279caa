//! `nystrom sample` with rows of different quality, with given rows, within quotas, and greedily.

use crate::stream::shards;
use crate::support::{Bench, table};
use nystrom::prelude::*;
use serde_json::Value;

const DROP: &str = "--drop y,quality,kind";

fn quality(row: usize) -> f64 {
    0.5 + (row * 7 % 4) as f64
}

fn kind(row: usize) -> &'static str {
    ["a", "a", "b", "a", "a", "b", "a", "c", "a", "b"][row % 10]
}

/// A table with a quality and a kind of each row: 60 rows of `a`, 30 of `b` and 10 of `c`.
fn molecules(bench: &Bench) {
    let line = |(i, line): (usize, &str)| match i.checked_sub(1) {
        None => format!("{line},quality,kind\n"),
        Some(row) => format!("{line},{},{}\n", quality(row), kind(row)),
    };
    bench.write("m.csv", table(100, 3).lines().enumerate().map(line).collect::<String>());
}

/// The rows of the only subset.
fn rows(told: &Value) -> Vec<usize> {
    let rows = told["subsets"][0].as_array().unwrap();
    rows.iter().map(|row| row.as_u64().unwrap() as usize).collect()
}

fn of_kind(rows: &[usize], name: &str) -> usize {
    rows.iter().filter(|&&row| kind(row) == name).count()
}

/// Columns that say how good a row is, or of which kind, are no features; the subsets are those of
/// the library.
#[test]
fn constraints_are_the_librarys() {
    let bench = Bench::new();
    molecules(&bench);
    let plain = bench.json(&format!("sample m.csv {DROP} --size 8 --method greedy --json"));
    let all = "--size 8 --quality quality --quota kind --drop y";
    let told = bench.json(&format!("sample m.csv {all} --method greedy --json"));
    assert_eq!(plain["bandwidth"], told["bandwidth"]);

    // the features are standardised
    bench.write("numbers.csv", table(100, 3));
    let mut x = Mat::from_fn(100, 3, |_, _| 0.0);
    for (j, name) in ["a", "b", "c"].into_iter().enumerate() {
        let values = bench.column("numbers.csv", name);
        let mean = values.iter().sum::<f64>() / 100.0;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 100.0).sqrt();
        (0..100).for_each(|i| x[(i, j)] = (values[i] - mean) / deviation);
    }
    let kernel = Gaussian::new(told["bandwidth"].as_f64().unwrap()).unwrap();
    let k = KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap();
    let greedy = Greedy::default().factor(&k, 8).unwrap();
    assert_eq!(rows(&plain), greedy.pivots());
    assert!((plain["log_det"].as_f64().unwrap() - greedy.log_det()).abs() < 1e-8);
    let l = Scaled::new(&k, (0..100).map(quality).collect()).unwrap();
    let groups = (0..100).map(|row| ["a", "b", "c"].iter().position(|k| *k == kind(row)).unwrap());
    let quotas = Quotas::proportional(groups.collect(), 8).unwrap();
    assert_eq!(quotas.quotas(), [5, 2, 1]); // 4.8, 2.4 and 0.8 of 8
    let within = GreedyByGroup { quotas }.factor(&l).unwrap();
    assert_eq!(rows(&told), within.pivots());
    assert!((told["log_det"].as_f64().unwrap() - within.log_det()).abs() < 1e-8);
    assert_eq!(told["quotas"], serde_json::json!({"a": 5, "b": 2, "c": 1}));
    assert_eq!((&told["quality"], &told["exact"]), (&"quality".into(), &false.into()));
}

#[test]
fn given_rows_are_in_every_subset() {
    let bench = Bench::new();
    molecules(&bench);
    bench.ok(&format!("landmarks m.csv {DROP} --landmarks uniform:3 -o given.csv -q"));
    let given: Vec<usize> = bench.column("given.csv", "row").iter().map(|r| *r as usize).collect();
    for method in ["exact", "rejection", "swap", "greedy"] {
        let line = format!("sample m.csv {DROP} --size 7 --given given.csv --method {method}");
        let told = bench.json(&format!("{line} --json"));
        let rows = rows(&told);
        assert_eq!((rows.len(), &rows[..3]), (7, &given[..]), "{method}");
        assert_eq!(told["given"], serde_json::json!(given));
        assert_eq!(told["lines"][0][3].as_u64(), Some(rows[3] as u64 + 2));
    }
    // our own results, CSV or .npy, and rows left out since a value is missing
    bench.ok(&format!("landmarks m.csv {DROP} --landmarks uniform:3 -o given.npy -q"));
    let line = format!("sample m.csv {DROP} --size 3 --draws 2 -o all.csv");
    bench.ok(&format!("{line} --given given.npy"));
    assert_eq!(bench.column("all.csv", "row").len(), 6);
    bench.ok(&format!("{line} --given given.csv --method greedy").replace("--draws 2", ""));
    let gap: String = bench.text("m.csv").lines().enumerate().fold(String::new(), |all, (i, l)| {
        all + &(if i == 1 { format!(",{}", l.split_once(',').unwrap().1) } else { l.into() }) + "\n"
    });
    bench.write("gap.csv", gap);
    bench.write("last.csv", "row\n99\n");
    let line = format!("sample gap.csv {DROP} --size 4 --drop-missing --json --given last.csv");
    assert_eq!(rows(&bench.json(&line))[0], 99);
    bench.write("first.csv", "row\n0\n");
    let line = line.replace("last", "first");
    bench.run(&line).ends(3, &["there is no row 0 among the rows used"]);
}

/// The probabilities are those of the k-DPP of K with its quality, given the rows to include.
#[test]
fn probabilities_of_rows_are_written() {
    let bench = Bench::new();
    molecules(&bench);
    bench.write("given.csv", "row\n7\n2\n");
    let line = format!("sample m.csv {DROP} --size 6 -o drawn.csv --inclusion often.csv");
    bench.ok(&line);
    let often = bench.column("often.csv", "probability");
    assert_eq!(bench.column("often.csv", "line")[99], 101.0);
    assert!((often.iter().sum::<f64>() - 6.0).abs() < 1e-9 && often.iter().all(|p| *p > 0.0));
    // drawn 2000 times, each row is within five standard errors of its probability
    bench.ok(&format!("{line} --draws 2000 --seed 5"));
    let mut counts = vec![0.0; 100];
    bench.column("drawn.csv", "row").iter().for_each(|row| counts[*row as usize] += 1.0);
    for (row, (count, p)) in counts.iter().zip(&often).enumerate() {
        let error = (2000.0 * p * (1.0 - p)).sqrt();
        assert!((count - 2000.0 * p).abs() < 5.0 * error, "row {row}: {count} of {}", 2000.0 * p);
    }
    bench.ok(&format!("{line} --given given.csv"));
    let often = bench.column("often.csv", "probability");
    assert_eq!((often[7], often[2]), (1.0, 1.0));
    assert!((often.iter().sum::<f64>() - 6.0).abs() < 1e-9);
    for (more, problem) in [
        ("--method swap", "--inclusion needs --method exact"),
        ("--inclusion -", "--inclusion writes a file"),
    ] {
        let line = match more {
            "--inclusion -" => line.replace("--inclusion often.csv", more),
            _ => format!("{line} {more}"),
        };
        bench.run(&line).ends(2, &[problem]);
    }
}

#[test]
fn quotas_are_kept() {
    let bench = Bench::new();
    molecules(&bench);
    bench.write("given.csv", "row\n7\n2\n");
    for options in
        ["", "--method swap --steps 500", "--method exact", "--method greedy", "--given given.csv"]
    {
        let line = format!("sample m.csv --drop y,quality --size 6 --quota kind:a=2,c=4 {options}");
        let told = bench.run(&format!("{line} --json"));
        if options.contains("given") {
            told.ends(2, &["group \"b\" is 0, but 1 of its rows must be included"]);
            continue;
        }
        let rows = rows(&serde_json::from_str(&told.ends(0, &[]).out).unwrap());
        assert_eq!(["a", "b", "c"].map(|name| of_kind(&rows, name)), [2, 0, 4], "{options}");
    }
    let line = "sample m.csv --drop y --quality quality --size 10 --quota kind --given given.csv";
    let told = bench.json(&format!("{line} --draws 3 --json"));
    assert_eq!((told["subsets"].as_array().unwrap().len(), &rows(&told)[..2]), (3, &[7, 2][..]));
    assert_eq!(["a", "b", "c"].map(|name| of_kind(&rows(&told), name)), [6, 3, 1]);
    let shown = bench.ok(line).said();
    for part in ["included 2 rows of --given", "quotas a 6, b 3, c 1", "quality column \"quality\""]
    {
        assert!(bench.ok(&format!("{line} -o s.csv")).said().contains(part), "{part}: {shown}");
    }
    // groups may be numbers, and names may hold commas
    let line = "sample m.csv --size 5 --quota 'quality:3.5=2,0.5=3' --drop y,kind --json";
    let chosen = rows(&bench.json(line));
    assert_eq!(chosen.iter().filter(|&&row| quality(row) == 3.5).count(), 2);
}

#[test]
fn bad_constraints_are_named() {
    let bench = Bench::new();
    molecules(&bench);
    let edit = |from: &str, to: &str| bench.text("m.csv").replacen(from, to, 1);
    bench.write("zero.csv", edit(",0.5,a\n", ",0,a\n"));
    bench.write("negative.csv", edit(",3.5,c\n", ",-3.5,c\n"));
    bench.write("unknown.csv", edit(",0.5,a\n", ",,a\n"));
    bench.write("nokind.csv", edit(",0.5,a\n", ",0.5,\n"));
    let copies: String = bench.text("m.csv").lines().take(30).fold(String::new(), |all, line| {
        all.clone() + line + "\n" + if all.is_empty() { "" } else { line } + "\n"
    });
    bench.write("copies.csv", copies.replace("\n\n", "\n"));
    for (name, text) in [
        ("twice", "row\n3\n5\n3\n"),
        ("beyond", "row\n3\n100\n"),
        ("half", "row\n0.5\n"),
        ("many", "row\n1\n2\n3\n4\n"),
        ("other", "number\n1\n"),
        ("pair", "row\n0\n1\n"),
    ] {
        bench.write(&format!("{name}.csv"), text);
    }
    for (words, status, part) in [
        ("zero.csv --quality quality --drop kind", 3, "is 0.0 in line 2"),
        ("negative.csv --quality quality --drop kind", 3, "is -3.5 in line"),
        ("unknown.csv --quality quality --drop kind", 3, "is missing in line 2"),
        ("m.csv --quality kind", 3, "not a column of numbers"),
        ("m.csv --quality none", 3, "none"),
        ("nokind.csv --quota kind", 3, "missing in line 2"),
        ("m.csv --given twice.csv", 3, "row 3 is there more than once"),
        ("m.csv --given beyond.csv", 3, "there is no row 100 among the rows used"),
        ("m.csv --given half.csv", 3, "there is no row 0.5"),
        ("m.csv --given other.csv", 3, "no column `row`"),
        ("m.csv --given many.csv", 2, "asked for 4 rows to include"),
        ("copies.csv --given pair.csv", 2, "row 1 (line 3) is a copy"),
        ("m.csv --quota kind:a=2,d=1", 2, "there is no group \"d\"; the groups are a, b, c"),
        ("m.csv --quota kind:a=2", 2, "add up to 2, and --size is 3"),
        ("m.csv --quota kind:a=two", 2, "\"a=two\" is not GROUP=NUMBER"),
        ("m.csv --quota kind:c=11 --size 11", 2, "the quota of group \"c\" is 11, but 10 rows"),
        ("m.csv --quota kind --method rejection", 2, "exact, for a few groups"),
        ("m.csv --quota kind --within 0.1", 2, "--within"),
        ("m.csv --method greedy --draws 2", 2, "one subset"),
        ("m.csv --method greedy --steps 2", 2, "--method swap"),
        ("m.csv --stream", 2, "block by block, choose --method greedy"),
        ("m.csv --stream --method greedy --given pair.csv", 2, "--given needs all rows"),
    ] {
        let size = if words.contains("--size") { "" } else { "--size 3" };
        bench.run(&format!("sample {words} {size}")).ends(status, &[part]);
    }
}

/// The choice from parts of the rows does not depend on files, blocks and threads, and is nearly as
/// good as the choice in memory.
#[test]
fn greedy_choices_come_from_all_files() {
    let bench = Bench::new();
    shards(&bench, 9000, 3);
    let run = |words: &str| {
        let line = format!("sample {words} --drop y --size 12 --method greedy --json -q");
        bench.json(&format!("{line} --bandwidth 1 -o s.csv"))
    };
    let log_det = |told: &Value| told["log_det"].as_f64().unwrap();
    let (whole, memory) = (run("whole.csv --stream --leaves 4"), run("whole.csv"));
    assert_eq!((&whole["parts"], &whole["candidates"]), (&4.into(), &48.into()));
    assert!((log_det(&memory) - log_det(&whole)) / 12.0 <= 0.02, "{whole} against {memory}");
    let one = run("whole.csv --stream");
    assert_eq!((&one["parts"], rows(&one)), (&1.into(), rows(&memory)));
    for words in ["", "--threads 1", "--threads 2", "--memory 60MB"] {
        let told = run(&format!("'shards/*.csv' --leaves 4 {words}"));
        assert_eq!(rows(&told), rows(&whole), "{words}");
        let file = format!("shards/{}.csv", rows(&told)[0] / 3000);
        assert_eq!(told["files"][0], file.as_str());
    }
    let names = bench.column("s.csv", "row");
    assert_eq!(names.len(), 12);
    // more parts than tiles of 1024 rows
    assert_eq!(run("shards --leaves 100")["candidates"], 9 * 12);
    bench
        .run("sample shards --size 9001 --method greedy")
        .ends(2, &["asked for 9001 rows in a subset"]);
}
