//! `--sparse`: rows of libsvm files whose zeros are never stored.

use crate::support::Bench;
use nystrom::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// 90 rows of up to 9 words of 40. Row 44 has none.
fn bench() -> Bench {
    let bench = Bench::new();
    let mut text = String::new();
    for i in 0..90_usize {
        write!(text, "{}", if i % 3 == 0 { 1 } else { -1 }).unwrap();
        let words: BTreeSet<usize> =
            (0..i % 10 * usize::from(i != 44)).map(|t| 1 + (i * i + t * t * 7) % 40).collect();
        words.iter().for_each(|word| write!(text, " {word}:{}", 0.5 + (word % 4) as f64).unwrap());
        text.push('\n');
    }
    bench.write("t.libsvm", text);
    bench
}

/// The results are those of the dense rows in their own units, with the label left out.
#[test]
fn commands_choose_what_they_choose_of_dense_rows() {
    let bench = bench();
    let dense = "--drop label --no-standardize";
    for command in [
        "landmarks t.libsvm --landmarks rpcholesky:12 --bandwidth 4",
        "landmarks t.libsvm --landmarks leverage:12 --kernel laplacian-l1 --bandwidth 9",
        "sample t.libsvm --size 7 --method exact --bandwidth 4",
        "sample t.libsvm --size 7 --method greedy --kernel matern --bandwidth 4",
        "scores t.libsvm --method exact --bandwidth 4",
        "embed t.libsvm --landmarks uniform:30 --bandwidth 4",
        "embed t.libsvm --method kmeans --clusters 3 --bandwidth 4",
    ] {
        bench.ok(&format!("{command} --sparse -o sparse.csv"));
        bench.ok(&format!("{command} {dense} -o dense.csv"));
        let [sparse, dense] = ["sparse.csv", "dense.csv"].map(|file| bench.text(file));
        for (sparse, dense) in sparse.lines().zip(dense.lines()) {
            for (a, b) in sparse.split(',').zip(dense.split(',')) {
                let near = match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) => (a - b).abs() < 1e-8 * (1.0 + b.abs()),
                    _ => a == b,
                };
                assert!(near, "{command}: {sparse} for {dense}");
            }
        }
        assert_eq!(sparse.lines().count(), dense.lines().count());
    }
    bench.ok("sample t.libsvm --sparse --size 6 --quota label:1=2,-1=4 -o q.csv");
    bench.ok("landmarks t.libsvm --sparse --landmarks uniform:12");
}

/// A million features of each of 400 rows are 3.2 GB as numbers.
#[test]
fn wide_rows_take_the_memory_of_the_file() {
    let bench = Bench::new();
    let line = |i: usize| format!("1 {}:1 {}:2 1000000:0.5\n", 1 + i * 2003, 2 + i * 2003);
    bench.write("w.libsvm", (0..400).map(line).collect::<String>());
    bench.ok("sample w.libsvm --sparse --size 5 --seed 1 --memory 100MB");
    bench.run("sample w.libsvm --size 5").ends(3, &["w.libsvm", "--sparse"]);
}

/// The text of n rows with some of 40 words, whose label is `of` their numbers. Some have none.
fn labelled(n: usize, seed: u64, of: impl Fn(&[(usize, f64)]) -> String) -> String {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut line = |i: usize| {
        let count = if i % 13 == 5 { 0 } else { 2 + i % 5 };
        let words: BTreeSet<usize> = (0..count).map(|_| rng.random_range(1..41)).collect();
        let mut value = |word| (word, 0.5 + f64::from(rng.random_range(0..4)));
        let row: Vec<(usize, f64)> = words.into_iter().map(&mut value).collect();
        let pairs = row.iter().map(|(word, value)| format!(" {word}:{value}"));
        format!("{}{}\n", of(&row), pairs.collect::<String>())
    };
    (0..n).map(&mut line).collect()
}

fn sum(row: &[(usize, f64)]) -> f64 {
    row.iter().map(|(word, value)| value * (*word as f64).sin()).sum()
}

/// With kernel, landmarks and λ given, a fit is that of the dense rows in their own units.
#[test]
fn a_fit_is_that_of_dense_rows() {
    let bench = Bench::new();
    bench.write("train.libsvm", labelled(200, 1, |row| sum(row).to_string()));
    bench.write("test.libsvm", labelled(250, 2, |row| sum(row).to_string()));
    for options in [
        "--kernel gaussian --bandwidth 3 --landmarks uniform:60 --lambda 1e-4",
        "--kernel laplacian-l1 --bandwidth 9 --landmarks uniform:60 --lambda auto",
        "--kernel linear --landmarks uniform:30 --lambda 1e-3 --no-intercept --hold-out 0.2",
        "--kernel polynomial --degree 2 --landmarks uniform:60 --accumulate 2 --lambda 1e-3",
    ] {
        bench.ok(&format!("fit train.libsvm --sparse {options} -o sparse.bin -q"));
        bench.ok(&format!("fit train.libsvm --no-standardize {options} -o dense.bin -q"));
        let [sparse, dense] = ["sparse", "dense"].map(|of| {
            bench.ok(&format!("predict {of}.bin test.libsvm -o {of}.csv"));
            bench.column(&format!("{of}.csv"), "prediction")
        });
        for (a, b) in sparse.iter().zip(&dense) {
            assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{options}: {a} for {b}");
        }
        assert_eq!(sparse.len(), 250);
    }
    let certified = "fit train.libsvm --sparse --bandwidth 3 --lambda 1e-3 --certify=50 -o c.bin";
    assert!(bench.ok(certified).said().contains("40 sparse features"));
    bench.ok("fit train.libsvm --sparse --kernel min-max --lambda auto -o m.bin");
}

#[test]
fn a_search_fits_sparse_rows() {
    let bench = Bench::new();
    bench.write("train.libsvm", labelled(300, 1, |row| sum(row).to_string()));
    // a word that no training row has, and one whose value does not count
    let far = "0 3:1 70000:2\n0 3:1 5:0\n";
    bench.write("test.libsvm", labelled(100, 2, |row| sum(row).to_string()) + far);
    let search = "--sparse --work 1e9 --calibrate 0.2 --std";
    let run =
        bench.ok(&format!("fit train.libsvm {search} -o m.bin --report r.html --hold-out 0.2"));
    let said = run.said();
    assert!(said.contains("sparse features") && said.contains("held out"), "{said}");
    run.fits_80_columns();
    assert!(bench.text("r.html").contains("sparse"));
    bench.ok("predict m.bin test.libsvm --interval 0.8 --std --keep features -o p.csv");
    let rows = bench.text("p.csv");
    assert!(rows.lines().count() == 103 && rows.contains("3:1 70000:2"), "{rows}");
    assert!(bench.rmse("m.bin", "test.libsvm") < 0.3);
    let told = bench.json("inspect m.bin --json");
    assert!(told["features"][0].as_str().unwrap().starts_with("features: f1 to f"));
    assert!(told["explanation"].is_null());
    let again: Vec<String> = run.to_repeat();
    let first = bench.read("m.bin");
    assert!(bench.command().args(again).output().unwrap().status.success());
    assert!(bench.read("m.bin") == first);
    bench.ok("fit train.libsvm --sparse --plan --work 1e8");

    let kind = |row: &[(usize, f64)]| if sum(row) > 0.3 { "spam" } else { "ham" }.to_owned();
    for (name, label) in [
        ("text", &kind as &dyn Fn(&[(usize, f64)]) -> String),
        ("number", &|row| if sum(row) > 0.3 { "+1" } else { "-1" }.to_owned()),
    ] {
        bench.write("train.libsvm", labelled(300, 3, label));
        bench.write("test.libsvm", labelled(100, 4, label));
        bench.ok("fit train.libsvm --sparse --work 1e9 -o c.bin");
        let found = bench.json("evaluate c.bin test.libsvm --json");
        assert!(found["error"]["error_rate"].as_f64().unwrap() < 0.2, "{name}: {found}");
        let classes = bench.ok("predict c.bin test.libsvm").out;
        let first = if name == "text" { "prediction,p_ham,p_spam" } else { "prediction,p_-1,p_1" };
        assert!(classes.starts_with(first), "{classes}");
    }
}

#[test]
fn fits_of_sparse_rows_refuse_what_needs_dense_ones() {
    let bench = bench();
    bench.write("a.csv", "label,b\n1,2\n3,4\n");
    bench.run("fit a.csv --sparse -o m.bin").ends(2, &["--sparse is for libsvm files"]);
    for (options, words) in [
        ("--stream", "leave out --sparse"),
        ("--lambda cv:5", "--lambda auto or gcv"),
        ("--kernel matern --landmarks sa:20", "leave out --sparse"),
        ("--numeric label", "the only feature"),
        ("--target features", "sparse rows"),
        ("--group features", "sparse rows"),
    ] {
        let run = bench.run(&format!("fit t.libsvm --sparse {options} -o m.bin"));
        assert!([2, 3].contains(&run.code.unwrap()) && run.err.contains(words), "{run:?}");
    }
    assert_eq!(bench.files(), ["a.csv", "t.libsvm"]);
    bench.write("one.libsvm", "1 2:3\n");
    bench.run("fit one.libsvm --sparse -o m.bin").ends(3, &["at least 3 are needed"]);
    bench.write("none.libsvm", "1\n2\n3\n");
    bench.run("fit none.libsvm --sparse -o m.bin").ends(3, &["no feature is left"]);
    bench.write("unlabelled.libsvm", "2:3 4:1\n");
    bench.run("fit unlabelled.libsvm --sparse -o m.bin").ends(3, &["label"]);

    bench.ok("fit t.libsvm --sparse --lambda 1e-3 --task regression -o m.bin");
    bench.run("predict m.bin a.csv").ends(2, &["sparse rows", "--format libsvm"]);
    bench.run("predict m.bin t.libsvm --stream").ends(2, &["leave out --stream"]);
    bench.run("evaluate m.bin t.libsvm --stream").ends(2, &["leave out --stream"]);
    bench.ok("predict m.bin one.libsvm -o p.csv");
    assert_eq!(bench.column("p.csv", "prediction").len(), 1);
    bench.pipe("predict m.bin - --format libsvm", b"0 7:1\n0\n").ends(0, &[]);
}

#[test]
fn what_cannot_be_sparse_is_refused() {
    let bench = bench();
    bench.write("a.csv", "a,b\n1,2\n3,4\n");
    bench.run("scores a.csv --sparse").ends(2, &["--sparse is for libsvm files"]);
    bench.run("scores t.libsvm --sparse --drop f3").ends(2, &["leave out --drop"]);
    let blocks = "--sparse reads all rows of one file at once";
    bench.run("scores t.libsvm --sparse --stream").ends(2, &[blocks]);
    bench.run("landmarks '*.libsvm' --landmarks uniform:3 --sparse").ends(2, &[blocks]);
    bench.run("scores t.libsvm --sparse --method sa").ends(2, &["leave out --sparse"]);
    bench.run("sample t.libsvm --sparse --size 3 --quality f9").ends(3, &["label"]);
}
