//! Fits in the span of sums of rows.

use crate::stream::shards;
use crate::support::{Bench, table};

const LINE: &str = "--target y --kernel gaussian --bandwidth 2 --landmarks uniform:40";

/// Nearer to exact regression than as many landmarks, with every way to choose λ; in memory, and
/// block by block, where files, blocks and threads leave no trace.
#[test]
fn sums_of_rows_are_better_than_rows() {
    let bench = Bench::new();
    shards(&bench, 5000, 3);
    bench.write("new.csv", table(400, 2));
    for lambda in ["auto", "gcv", "cv:4", "1e-6"] {
        let line = format!("{LINE} --lambda {lambda} -q --json");
        bench.ok(&format!("fit whole.csv {line} -o landmarks.json"));
        let memory = bench.json(&format!("fit whole.csv {line} --accumulate 5 -o memory.json"));
        let blocks = bench.json(&format!("fit shards {line} --accumulate 5 -o blocks.json"));
        assert_eq!((&memory["columns"], &memory["landmarks_asked"]), (&40.into(), &40.into()));
        for landmarks in [&memory["landmarks"], &blocks["landmarks"]] {
            assert!(landmarks.as_u64().is_some_and(|u| (180..=200).contains(&u)), "{landmarks}");
        }
        let [plain, memory, of_blocks] = ["landmarks.json", "memory.json", "blocks.json"]
            .map(|model| bench.rmse(model, "new.csv"));
        assert!(memory < plain && of_blocks < plain, "{lambda}: {plain} {memory} {of_blocks}");
        let whole = format!("fit whole.csv --stream {line} --accumulate 5 --threads 1 -o w.json");
        bench.ok(&whole);
        assert!(bench.read("w.json") == bench.read("blocks.json"), "{lambda}");
    }
    // how far the space of its rows is from all, and the fit from the best in it
    for data in ["whole.csv", "shards"] {
        let line = format!("fit {data} {LINE} --lambda 1e-3 --accumulate 5 --certify -o m.json");
        let told = bench.ok(&line).out;
        for part in ["40 sums of 5 rows", "exact regression differs by at most"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    // iterations, a pass each, end at the sums' own fit
    let line = format!("fit shards {LINE} --lambda 1e-6 --accumulate 5 -q --json");
    bench.ok(&format!("{line} -o direct.json"));
    let told = bench.json(&format!("{line} --tolerance 1e-9 -o blocks.json"));
    assert!(told["residual"].as_f64().is_some_and(|residual| residual <= 1e-9), "{told}");
    let [direct, iterated] =
        ["direct.json", "blocks.json"].map(|model| bench.rmse(model, "new.csv"));
    assert!((iterated / direct - 1.0).abs() < 1e-5, "{direct} {iterated}");
    for model in ["m.json", "blocks.json"] {
        assert!(bench.ok(&format!("inspect {model}")).out.contains("40 sums of 5 rows"));
    }
}

/// About as many as the report of the fit counts.
#[test]
fn the_plan_counts_kernel_values() {
    let bench = Bench::new();
    shards(&bench, 5000, 3);
    // few rows: two passes for a path, one for a given λ; then more than a quarter, which is kept
    for (lambda, columns, values) in [
        ("auto", 40, 2.0 * 196.0 * 5000.0 + 196.0 * 196.0),
        ("1e-3", 40, 196.0 * 5000.0 + 196.0 * 196.0),
        ("cv:3", 40, 196.0 * 5000.0 + 196.0 * 196.0),
        ("auto", 500, 1967.0 * 5000.0),
    ] {
        let line = LINE.replace(":40", &format!(":{columns}"));
        let line = format!("fit whole.csv {line} --lambda {lambda} --accumulate 5 --plan --json");
        let plan = bench.json(&line);
        let counted = plan["plan"][1]["kernel_values"].as_f64().unwrap();
        assert!((counted / values - 1.0).abs() < 0.002, "{lambda}: {counted} {values}");
    }
    let plan = bench.ok(&format!("fit shards {LINE} --accumulate 5 --plan")).out;
    assert!(plan.contains("40 sums of 5 rows"), "{plan}");
}

#[test]
fn what_cannot_be_summed_is_refused_before_it_starts() {
    let bench = Bench::new();
    shards(&bench, 300, 2);
    for data in ["whole.csv", "shards"] {
        for (options, part) in [
            ("--landmarks rpcholesky:40", "uniform:COUNT"),
            ("--kernel gaussian", "--landmarks"),
            ("--all-rows --lambda 1e-3", "--all-rows"),
            ("--landmarks uniform:400", "400"),
        ] {
            let line = format!("fit {data} --target y {options} --accumulate 3 -o m.json");
            bench.run(&line).ends(2, &[part]);
        }
    }
    let line = LINE.replace("uniform:40", "uniform:900");
    let line = format!("fit shards {line} --memory 60MB --accumulate 9 -o m.json");
    bench.run(&line).ends(4, &[]);
    assert!(!bench.files().contains(&"m.json".to_owned()));
}
