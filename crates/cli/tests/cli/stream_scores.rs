//! Leverage scores and landmarks of tables in several files, or larger than the memory.

use crate::stream::shards;
use crate::support::Bench;

const SQUEAK: &str = "--method squeak --drop y --lambda 1e-3 -q";

#[test]
fn scores_do_not_depend_on_files_blocks_or_threads() {
    let bench = Bench::new();
    shards(&bench, 5000, 7);
    let scores = |words: &str| {
        bench.ok(&format!("scores {words} -o s.csv"));
        bench.text("s.csv")
    };
    // `line` is that of each file
    let of = |text: &str| -> Vec<String> {
        let fields = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        fields.map(|fields| [fields[0], fields[2]].join(",")).collect()
    };
    let whole = scores(&format!("whole.csv --stream {SQUEAK}"));
    assert_eq!((whole.lines().next(), whole.lines().count()), (Some("row,line,score"), 5001));
    assert!(whole.lines().nth(1).unwrap().starts_with("0,2,"));
    let shards = scores(&format!("shards {SQUEAK}"));
    assert!(of(&shards) == of(&whole));
    // seven files of 715 rows, below a header
    assert!(shards.lines().nth(716).unwrap().starts_with("715,2,"), "{shards}");
    for words in ["--threads 1", "--threads 2", "--memory 50MB"] {
        assert!(scores(&format!("'shards/*.csv' {SQUEAK} {words}")) == shards, "{words}");
    }
    assert!(of(&scores(&format!("shards {SQUEAK} --seed 1"))) != of(&whole));
    assert!(of(&scores(&format!("shards {SQUEAK} --leaves 2"))) != of(&whole));
}

/// Where the sample holds all rows, settings and scores are those in memory; with many copies
/// squeak's are near the exact ones.
#[test]
fn scores_are_those_in_memory() {
    let bench = Bench::new();
    shards(&bench, 1500, 3);
    let run = |words: &str| bench.json(&format!("scores {words} --drop y --lambda 1e-3 --json -q"));
    let apart = |a: &str, b: &str| {
        let (a, b) = (bench.column(a, "score"), bench.column(b, "score"));
        assert_eq!((a.len(), b.len()), (1500, 1500));
        a.iter().zip(&b).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    };
    for method in ["recursive", "bless", "bless-r"] {
        let blocks = run(&format!("shards --method {method} -o blocks.csv"));
        let memory = run(&format!("whole.csv --method {method} -o memory.csv"));
        for name in ["bandwidth", "effective_dimension", "highest"] {
            let of = |outcome: &serde_json::Value| outcome[name].as_f64().unwrap();
            assert!((of(&blocks) / of(&memory) - 1.0).abs() < 1e-9, "{name}: {blocks} {memory}");
        }
        assert_eq!((&blocks["reservoir"], &blocks["passes"]), (&1500.into(), &2.into()));
        assert!(apart("blocks.csv", "memory.csv") < 1e-8, "{method}");
    }
    run("whole.csv --method exact -o exact.csv");
    let outcome = run("shards --method squeak --copies 3000 -o blocks.csv");
    assert_eq!((outcome["passes"].as_u64(), outcome["rows"].as_u64()), (Some(3), Some(1500)));
    let row = outcome["highest_row"].as_u64().unwrap();
    let file = format!("shards/{}.csv", row / 500);
    assert_eq!(outcome["highest_file"], file.as_str());
    assert_eq!(outcome["highest_line"], row % 500 + 2);
    let many = apart("blocks.csv", "exact.csv");
    run("shards --method squeak --copies 2 -o blocks.csv");
    let few = apart("blocks.csv", "exact.csv");
    assert!(many < 0.5 && few > 0.5, "{many} with many copies, {few} with two");
}

#[test]
fn what_cannot_be_done_block_by_block_is_told_before_reading() {
    let bench = Bench::new();
    shards(&bench, 300, 2);
    for (words, status, part) in [
        ("shards --method exact", 2, "squeak, recursive, bless or bless-r"),
        ("shards --method fast", 2, "needs all rows at once"),
        ("whole.csv --stream --method sa", 2, "needs all rows at once"),
        ("shards -o s.npy", 2, "name a .csv file"),
        ("shards --json", 2, "name a .csv file"),
        ("- --stream", 2, "standard input cannot be read twice"),
        ("shards --copies 3", 2, "--copies has no effect on this method"),
        ("whole.csv --copies 3", 2, "--copies has no effect on this method"),
        ("shards --drop a,b,c,y", 2, "no column is left"),
        ("shards --memory 39MB", 4, "work in blocks"),
        ("shards --reservoir 100000000", 2, "write at most --reservoir"),
        ("shards --method squeak --memory 49MB --lambda 1e-12 --copies 500", 4, "--memory"),
    ] {
        bench.run(&format!("scores {words} -q")).ends(status, &[part]);
    }
}

#[test]
fn bad_rows_are_told_with_their_place() {
    let bench = Bench::new();
    shards(&bench, 900, 3);
    let good = bench.text("shards/1.csv");
    let with = |cell: &str| {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        let rest = lines[99].split_once(',').unwrap().1.to_owned();
        lines[99] = format!("{cell},{rest}");
        bench.write("shards/1.csv", lines.join("\n"));
    };
    let run = |words: &str| bench.run(&format!("scores shards {SQUEAK} -o s.csv {words}"));
    for cell in ["x", "", "nan", "inf"] {
        with(cell);
        assert_eq!(run("").code, Some(0), "{cell}");
    }
    with("NA");
    assert_eq!(run("--drop-missing").code, Some(0));
    let rows = bench.column("s.csv", "row");
    let gap = 300 + 98; // a header, and lines from 1
    assert!(rows.len() == 899 && rows.iter().all(|row| *row != f64::from(gap)));
    bench.write("shards/1.csv", "a,b,c,y\n");
    run("").ends(3, &["no rows"]);
}

/// By the scores of all rows, or as in memory from a sample that holds all.
#[test]
fn landmarks_come_from_all_files() {
    let bench = Bench::new();
    shards(&bench, 1500, 3);
    let run = |words: &str| {
        bench.json(&format!("landmarks {words} --drop y -o l.csv --json -q --leverage-lambda 1e-3"))
    };
    let outcome = run("shards --landmarks squeak:40");
    assert_eq!(outcome["passes"], 3);
    let (rows, lines) = (bench.column("l.csv", "row"), bench.column("l.csv", "line"));
    assert_eq!(rows.len(), 40);
    for (i, (row, line)) in rows.iter().zip(&lines).enumerate() {
        assert_eq!(*line, row % 500.0 + 2.0);
        assert_eq!(outcome["files"][i], format!("shards/{}.csv", (row / 500.0) as usize).as_str());
    }
    let left = |outcome: &serde_json::Value| outcome["relative_trace_error"].as_f64().unwrap();
    assert!(left(&outcome) < 0.5, "{outcome}");
    assert_eq!(run("whole.csv --stream --landmarks squeak:40")["landmarks"], outcome["landmarks"]);
    assert!(run("shards --landmarks squeak:200")["relative_trace_error"].as_f64() < Some(0.1));
    for method in ["rpcholesky:50", "uniform:50", "bless:50 --weights", "leverage-exact:50"] {
        let blocks = run(&format!("shards --landmarks {method}"));
        let memory = run(&format!("whole.csv --landmarks {method}"));
        assert_eq!(blocks["landmarks"], memory["landmarks"], "{method}");
        assert_eq!((&blocks["passes"], &blocks["reservoir"]), (&1.into(), &1500.into()));
        let of = |outcome: &serde_json::Value| -> Vec<f64> {
            let weights = outcome["weights"].as_array();
            weights.into_iter().flatten().filter_map(|w| w.as_f64()).collect()
        };
        let pairs = of(&blocks).into_iter().zip(of(&memory));
        let apart = pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        let traces = (left(&blocks) / left(&memory) - 1.0).abs();
        assert!(apart < 1e-8 && traces < 1e-6, "{method}: {apart}, {traces}");
    }
    let few = run("shards --landmarks rpcholesky:50 --reservoir 300");
    assert_eq!(
        (few["landmarks"].as_array().map(Vec::len), &few["reservoir"]),
        (Some(50), &300.into())
    );
    for (words, status, part) in [
        ("--landmarks squeak:40 --weights", 2, "leave out --weights"),
        ("--landmarks squeak:1501", 2, "1501"),
        ("--landmarks uniform:400 --reservoir 300", 2, "400"),
    ] {
        let run = bench.run(&format!("landmarks shards {words} --drop y -q"));
        run.ends(status, &[part]);
    }
}
