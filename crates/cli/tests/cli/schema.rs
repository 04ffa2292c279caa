//! What `--json` prints is what docs/JSON.md says.

use crate::support::{Bench, table};
use serde_json::Value;
use std::collections::BTreeSet;

const DOCUMENT: &str = include_str!("../../../../docs/JSON.md");
const QUICK: &str = "--work 1e8 --memory 200MB --json -q";

/// Fields of the tables under the headings with this word, and of every command: path and type.
fn documented(heading: &str) -> Vec<(&'static str, &'static str)> {
    let parts = DOCUMENT.split("\n## ").skip(1);
    let own = parts.filter(|part| {
        let title = part.lines().next().unwrap();
        title.starts_with("Every command") || title.contains(heading)
    });
    let rows = own.flat_map(str::lines).filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].trim_matches('`'), cells[2])
    })
    .collect()
}

/// Paths to all values that have no parts.
fn leaves(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(value, &format!("{path}{dot}{key}"), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().for_each(|item| leaves(item, &format!("{path}[]"), found));
        }
        _ => _ = found.insert(path.to_owned()),
    }
}

/// Whether `whole` is `part`, or goes on from it.
fn begins(whole: &str, part: &str) -> bool {
    whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Everything printed is documented, and everything documented is printed by one of the runs.
fn check(heading: &str, outputs: &[Value]) {
    let documented = documented(heading);
    let mut printed = BTreeSet::new();
    outputs.iter().for_each(|output| leaves(output, "", &mut printed));
    for leaf in &printed {
        let known = documented.iter().any(|(path, kind)| {
            // null or an empty list where there could be something
            leaf == path
                || begins(path, leaf)
                || (["any", "map"].contains(kind) && begins(leaf, path))
        });
        assert!(known, "{heading}: {leaf} is not documented");
    }
    for (path, _) in &documented {
        let found = |leaf: &String| begins(leaf, path) || path.strip_suffix("[]") == Some(leaf);
        assert!(printed.iter().any(found), "{heading}: no run prints {path}");
    }
}

#[test]
fn the_document_says_what_is_printed() {
    let bench = Bench::new();
    let numbers = table(200, 1);
    bench.write("t.csv", &numbers);
    bench.write("large.csv", table(900, 3));
    let mixed = |(i, line): (usize, &str)| match i {
        0 => format!("{line},one,colour,kind\n"),
        _ => format!("{line},7,{},{}\n", ["red", "blue"][i % 2], ["no", "yes"][i / 3 % 2]),
    };
    bench.write("mixed.csv", numbers.lines().enumerate().map(mixed).collect::<String>());

    let fits = [
        bench.json(&format!(
            "fit t.csv --target y --calibrate 0.2 --std --hold-out 0.2 -o m.bin --report r.html {QUICK}"
        )),
        bench.json("fit mixed.csv --target kind -o c.bin --work 1e9 --json -q"),
        bench.json(&format!("fit t.csv --target y --loss quantile:0.9 -o q.bin {QUICK}")),
        bench.json("fit large.csv --target y -o f.bin --work 1e10 --json -q"), // iterates
    ];
    check("which searches", &fits);
    let iterative = "--landmarks uniform:200 --lambda 1e-2 --memory 2MB";
    let direct = "--landmarks uniform:20 --hold-out 0.2 --certify=50 --drop colour,kind";
    bench.write("long.csv", table(2000, 2));
    let told = [
        bench
            .json(&format!("fit mixed.csv --target y {direct} -o l.bin --report r.html --json -q")),
        bench.json(&format!("fit long.csv --target y {iterative} -o i.bin --json -q")),
        bench.json("fit long.csv --target y --lambda cv:3 -o i.bin --json -q"),
        bench.json(
            "fit long.csv --landmarks uniform:9 --accumulate 3 --target y -o i.bin --json -q",
        ),
    ];
    check("without a search", &told);
    let blocks = "fit t.csv --stream --target y --kernel gaussian --landmarks uniform:20 --json -q";
    let iterates = "--lambda 1e-4 --tolerance 1e-4 -o s.bin";
    let streamed =
        ["--lambda auto --certify=50 -o s.bin", "--lambda cv:3 -o s.bin", iterates, "--plan"]
            .map(|o| bench.json(&format!("{blocks} {o}")));
    check("block by block", &streamed);
    check("inspect", &["m.bin", "c.bin"].map(|m| bench.json(&format!("inspect {m} --json"))));
    check(
        "predict",
        &[
            bench.json("predict m.bin t.csv --interval 0.8 --std --json -q"),
            bench.json("predict c.bin mixed.csv --json -q"),
            bench.json("evaluate q.bin t.csv --json -q"),
            bench.json("predict m.bin t.csv -o p.csv --json -q"),
        ],
    );
    bench.write("given.csv", "row\n3\n8\n");
    let rest = [
        "scores t.csv",
        "scores t.csv --stream --method squeak -o blocks.csv",
        "scores t.csv --stream -o blocks.csv",
        "landmarks t.csv --stream --landmarks squeak:9 -o blocks.csv",
        "landmarks t.csv --landmarks leverage-fast:10 --weights",
        "sample t.csv --size 5 --method rejection",
        "sample t.csv --size 5 --method swap --within 0.5",
        "sample mixed.csv --size 6 --quality one --given given.csv --quota colour",
        "sample t.csv --stream --size 5 --method greedy",
    ];
    check("scores", &rest.map(|line| bench.json(&format!("{line} --json -q"))));
    let tests = ["", "--stream"]
        .map(|o| bench.json(&format!("test t.csv large.csv --landmarks 20 --json -q {o}")));
    check("test", &tests);
    let rest = ["pca", "spectral -o e.csv", "kmeans --clusters 3"];
    let embed =
        |how| bench.json(&format!("embed t.csv --landmarks uniform:40 --json -q --method {how}"));
    let blocks = bench.json("embed t.csv --landmarks uniform:40 --stream -o e.csv --json -q");
    check("embed", &[&rest.map(embed)[..], &[blocks]].concat());
}
