//! λ by cross-validation, in memory and block by block.

use crate::stream::shards;
use crate::support::Bench;

#[test]
fn folds_choose_lambda_in_one_pass() {
    let bench = Bench::new();
    shards(&bench, 4000, 3);
    let line = "--target y --kernel gaussian --bandwidth 2 --landmarks uniform:50 --memory 200MB";
    let streamed = |options: &str| {
        bench.json(&format!("fit shards {line} {options} -o m.json --json -q"))["stream"].clone()
    };
    let found = streamed("--lambda cv:5");
    let [cv, gcv, training] =
        ["cross_validation", "gcv", "training"].map(|name| found[name].as_f64().unwrap());
    assert!((cv / gcv - 1.0).abs() < 0.02 && cv > training, "{found}");
    let model = bench.read("m.json");
    assert!(streamed("--lambda cv:5 --checkpoint state") == found && bench.read("m.json") == model);
    assert!(streamed("--lambda cv:5 --seed 1") != found, "other landmarks and folds");
    let told = bench.ok(&format!("fit shards {line} --lambda cv:3 -o m.json"));
    let told = told.err + &told.out;
    for part in ["2 passes over 3 files", "by cross-validation"] {
        assert!(told.contains(part), "{part}: {told}");
    }

    let memory =
        |options: &str| bench.json(&format!("fit whole.csv {line} {options} -o m.json --json -q"));
    let (folds, loo) = (memory("--lambda cv:10"), memory("--lambda auto"));
    let of = |outcome: &serde_json::Value, name: &str| outcome[name].as_f64().unwrap();
    let (cv, loo) = (of(&folds, "cross_validation_rmse"), of(&loo, "leave_one_out_rmse"));
    assert!((cv / loo - 1.0).abs() < 0.02, "{folds}");
    assert_eq!(memory("--lambda cv:10 --threads 1")["lambda"], folds["lambda"]);
}

#[test]
fn folds_that_cannot_be_are_refused() {
    let bench = Bench::new();
    shards(&bench, 300, 2);
    let line = "fit shards --target y --kernel gaussian --landmarks uniform:20 -o m.json -q";
    for (options, status, part) in [
        ("--lambda cv:1", 2, "cv:5"),
        ("--lambda cv:1000", 2, "folds but only"),
        ("--lambda cv:5 --tolerance 1e-3", 2, "--lambda NUMBER"),
        ("--lambda cv:100 --landmarks uniform:250 --memory 60MB", 4, "landmarks"),
    ] {
        let run = bench.run(&format!("{line} {options}").replace(
            if options.contains("250") { "--landmarks uniform:20 " } else { "no such words" },
            "",
        ));
        run.ends(status, &[part]);
    }
}
