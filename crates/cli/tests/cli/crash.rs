//! A fit that is killed leaves what was there before, and nothing else.

use crate::support::{Bench, table};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[cfg(unix)]
#[test]
fn a_killed_fit_leaves_no_broken_output() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new();
    bench.write("t.csv", table(20_000, 1));
    bench.write("m.json", "what was there before");
    let mut fit = bench.command();
    fit.args("fit t.csv --target y --landmarks uniform:1500 --threads 1 -o m.json".split(' '));
    let mut fit = fit.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(fit.stderr.take().unwrap()).lines();
    // printed right before the work: 2·10¹¹ flops are still to come
    let plan = lines.next().unwrap().unwrap();
    assert!(plan.starts_with("plan: 20000 rows"), "{plan}");
    fit.kill().unwrap(); // SIGKILL
    assert_eq!(fit.wait().unwrap().signal(), Some(9), "the fit must have been under way");
    assert_eq!(bench.read("m.json"), b"what was there before");
    assert_eq!(bench.files(), ["m.json", "t.csv"]);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let bench = Bench::new();
    bench.write("t.csv", table(50, 1));
    let run = bench.run("fit t.csv --lambda auto --target y -o no/such/folder/m.json");
    let run = run.ends(1, &["no/such/folder/m.json"]);
    assert!(!run.err.contains("plan:"), "{run:?}");
    assert_eq!(bench.files(), ["t.csv"]);
}
