//! Fits that iterate block by block.

use crate::stream::shards;
use crate::support::{Bench, table};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Falkon in passes: as good as the normal equations, and killed in the midst of its iterations it
/// goes on to the same bits.
#[test]
fn iterations_over_files_go_on_from_a_checkpoint() {
    let bench = Bench::new();
    shards(&bench, 20_000, 3);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:200 \
                --memory 100MB --lambda 1e-7";
    bench.ok(&format!("{line} -o direct.json -q"));
    let outcome = bench.json(&format!("{line} --tolerance 1e-7 -o whole.json --json -q"));
    assert!(outcome["iterations"].as_u64().is_some_and(|count| count > 3), "{outcome}");
    assert!(outcome["residual"].as_f64().is_some_and(|residual| residual <= 1e-7), "{outcome}");
    bench.write("new.csv", table(400, 2));
    let rmse = |model: &str| bench.rmse(model, "new.csv");
    assert!((rmse("whole.json") / rmse("direct.json") - 1.0).abs() < 1e-3);
    goes_on(&bench, &format!("{line} --tolerance 1e-7 -q"));
}

/// Killed five times in the midst of its iterations, a fit gives the file whole.json.
pub fn goes_on(bench: &Bench, line: &str) {
    let saved = "-o m.json --checkpoint state --checkpoint-every 0.001s";
    let (mut kills, mut with_vectors) = (0, 0);
    while kills < 5 {
        let mut command = bench.command();
        command.args(crate::support::words(&format!("{line} {saved}")));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while !bench.path("state/solve").exists() && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(300));
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(7 * kills));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        with_vectors += u64::from(bench.path("state/solve").exists());
    }
    assert!(with_vectors > 1, "{with_vectors}");
    if bench.path("state/solve").exists() {
        let vectors = bench.read("state/solve");
        let half = &vectors[..vectors.len() / 2];
        for (other, part) in [(&b"{\"x\":{\"nrows\":200"[..], "begin as a"), (half, "checksum")] {
            bench.write("state/solve", other); // as versions before wrote it, or cut off
            let run = bench.run(&format!("{line} {saved}"));
            run.ends(3, &["state/solve", part, "remove it"]);
        }
        bench.write("state/solve", vectors);
    }
    bench.ok(&format!("{line} {saved}"));
    assert!(bench.read("m.json") == bench.read("whole.json"));
    assert!(!bench.path("state").exists());
}

/// As in memory: the model is kept, and the status says so, quiet or not.
#[test]
fn iterations_that_do_not_converge_end_with_a_status() {
    let bench = Bench::new();
    shards(&bench, 2000, 3);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:200 \
                --memory 100MB --lambda 1e-12 --tolerance 1e-14 -o m.json -q";
    bench.run(line).ends(5, &["warning: stopped after ", "the model is written"]);
    bench.write("new.csv", table(400, 2));
    bench.ok("evaluate m.json new.csv");
}
