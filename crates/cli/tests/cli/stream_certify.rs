//! The distance to exact regression, block by block.

use crate::stream::shards;
use crate::support::{Bench, words};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn blocks_have_a_certificate() {
    let bench = Bench::new();
    shards(&bench, 4000, 3);
    let line = "--target y --kernel gaussian --bandwidth 2 --landmarks uniform:60 --memory 200MB";
    let fit = |data: &str, options: &str| {
        bench.json(&format!("fit {data} {line} {options} -o m.json --json -q"))
    };
    let whole = &fit("whole.csv --stream", "--certify")["certificate"];
    assert_eq!((&whole["n"], &whole["rows"]), (&4000.into(), &1000.into()));
    assert_eq!(fit("shards", "--certify --threads 1")["certificate"], *whole);
    assert!(fit("shards", "--certify --seed 1")["certificate"] != *whole);
    let [bound, trace] = ["bound", "trace_bound"].map(|at| whole["targets"][0][at].as_f64());
    assert!(bound < trace && bound > Some(0.0), "{whole}");
    let iterated = fit("shards", "--certify=9999 --lambda 1e-4 --tolerance 1e-9");
    assert_eq!(iterated["certificate"]["confidence"], 1.0);
    let text = bench.ok(&format!("fit shards {line} --certify=200 -o m.json"));
    for part in ["from 200 rows: three more passes", "exact regression differs by at most"] {
        assert!((text.err.clone() + &text.out).contains(part), "{part}: {text:?}");
    }
}

#[test]
fn certificates_that_cannot_be_are_refused() {
    let bench = Bench::new();
    shards(&bench, 300, 2);
    for (options, code, part) in [
        ("--kernel gaussian --certify=passes:3", 2, "write --certify=ROWS"),
        ("--kernel gaussian --all-rows --lambda 1e-3 --certify", 2, "--all-rows"),
        ("--landmarks uniform:9 --memory 100MB --certify=99999", 4, "--certify=99999 holds"),
    ] {
        let run = bench.run(&format!("fit shards --target y {options} -o m.json"));
        run.ends(code, &[part]);
    }
}

/// The model is there before the passes of the certificate, and stays if one of them fails. The
/// same command makes up for it.
#[test]
fn a_certificate_that_fails_leaves_the_model() {
    let bench = Bench::new();
    shards(&bench, 30_000, 3);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:200 \
                --memory 200MB -q";
    bench.ok(&format!("{line} -o whole.json"));
    let line = format!("{line} --certify -o m.json --checkpoint state");
    let mut command = bench.command();
    command.args(words(&line)).stdout(Stdio::null()).stderr(Stdio::piped());
    let (child, start) = (command.spawn().unwrap(), Instant::now());
    while !bench.path("m.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(100), "a model is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let [shard, away] = ["shards/2.csv", "away.csv"].map(|name| bench.path(name));
    std::fs::rename(&shard, &away).unwrap();
    let run = child.wait_with_output().unwrap();
    let told = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(3), "{told}");
    for part in ["the model is written to m.json, but not certified: ", "shards/2.csv"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(bench.read("m.json") == bench.read("whole.json"));
    std::fs::rename(&away, &shard).unwrap();
    let again = bench.ok(&format!("{} --json", line.replace(" -q", "")));
    assert!(again.err.contains("going on from the checkpoint at row 30000"), "{}", again.err);
    assert!(again.out.contains("\"certificate\""), "{}", again.out);
    assert!(bench.read("m.json") == bench.read("whole.json") && !bench.path("state").exists());
}
