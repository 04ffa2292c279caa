//! Regression on all the data, block by block.

use crate::stream::shards;
use crate::stream_iterate::goes_on;
use crate::support::{Bench, table};

const KERNEL: &str = "--target y --kernel gaussian --bandwidth 2 --lambda 1e-6 --memory 100MB";

/// It is the fit with every row as a landmark, in the bits of any blocks and files.
#[test]
fn every_row_is_a_centre() {
    let bench = Bench::new();
    shards(&bench, 1500, 3);
    let line = format!("{KERNEL} --all-rows");
    let outcome = bench.json(&format!("fit shards {line} --json -o m.json -q"));
    assert_eq!(outcome["landmarks"].as_u64(), Some(1500), "{outcome}");
    assert!(outcome["residual"].as_f64().is_some_and(|residual| residual <= 1e-6), "{outcome}");
    // one file, which is read in blocks as the option asks
    let run = bench.ok(&format!("fit whole.csv {line} --threads 1 -o whole.json"));
    assert!(bench.read("whole.json") == bench.read("m.json"));
    let told = run.err + &run.out;
    for part in
        ["and one for each iteration", "all pairs of rows", "iteration 1: relative residual"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let more = KERNEL.replace("100MB", "1GB");
    bench.ok(&format!("fit shards {more} --landmarks uniform:1500 -o direct.json -q"));
    bench.write("new.csv", table(400, 2));
    let rmse = |model: &str| bench.rmse(model, "new.csv");
    assert!((rmse("m.json") / rmse("direct.json") - 1.0).abs() < 1e-4);
    assert!(bench.ok("inspect m.json").out.contains("the file holds every training row"));
}

/// With the kernel of a search on the sample.
#[test]
fn a_search_finds_the_kernel() {
    let bench = Bench::new();
    shards(&bench, 1500, 3);
    let line = "fit shards --target y --all-rows --lambda 1e-5 --work 1e8 --memory 100MB -q";
    bench.ok(&format!("{line} -o m.json"));
    bench.write("new.csv", table(400, 2));
    let error = bench.rmse("m.json", "new.csv");
    assert!(error < 0.3, "{error}"); // at a λ that nobody chose
}

#[test]
fn iterations_on_all_rows_go_on_from_a_checkpoint() {
    let bench = Bench::new();
    shards(&bench, 6000, 3);
    let line = format!("fit shards {KERNEL} --all-rows --tolerance 1e-9 -q");
    bench.ok(&format!("{line} -o whole.json"));
    goes_on(&bench, &line);
}

/// This program has no code for cards, and names the one that has.
#[test]
fn a_card_needs_another_program() {
    let bench = Bench::new();
    bench.write("few.csv", table(100, 1));
    for line in ["fit few.csv --target y --gpu -o m.json", "predict m.json few.csv --gpu=nvidia"] {
        bench.run(line).ends(2, &["nystrom-gpu", "leave out --gpu"]);
    }
}

#[test]
fn what_cannot_be_held_is_refused_before_it_starts() {
    let bench = Bench::new();
    shards(&bench, 60_000, 3);
    let little = KERNEL.replace("100MB", "49MB");
    for more in ["", "--plan"] {
        let run = bench.run(&format!("fit shards {little} --all-rows {more} -o m.json"));
        let run = run.ends(4, &["on all rows"]);
        assert!(!run.err.contains("pass 1"), "{run:?}");
    }
    let plan = bench.ok(&format!("fit shards {KERNEL} --all-rows --plan -o m.json"));
    assert!(plan.out.contains("all pairs of rows"), "{plan:?}");
    assert!(!bench.files().contains(&"m.json".to_owned()));
}

#[test]
fn bad_values_are_told_with_their_line() {
    let bench = Bench::new();
    shards(&bench, 900, 3);
    bench.write("shards/1.csv", "a,b,y,c\n1,2,3,4\n1,2,inf,4\n");
    let run = bench.run(&format!("fit shards {KERNEL} --all-rows -o m.json -q"));
    assert!(run.code == Some(0), "{run:?}");
    let run = bench.ok(&format!("fit shards {KERNEL} --all-rows -o m.json"));
    assert!(run.out.contains("602 rows") || run.err.contains("miss the target"), "{run:?}");
}
