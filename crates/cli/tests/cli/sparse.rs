//! `--sparse`: rows of libsvm files whose zeros are never stored.

use crate::support::Bench;
use std::fmt::Write;

/// 90 rows of up to 9 words of 40. Row 44 has none.
fn bench() -> Bench {
    let bench = Bench::new();
    let mut text = String::new();
    for i in 0..90_usize {
        write!(text, "{}", if i % 3 == 0 { 1 } else { -1 }).unwrap();
        let words: std::collections::BTreeSet<usize> =
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
