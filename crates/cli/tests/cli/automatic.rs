//! `fit` that is told nothing but the target.

use crate::support::{Bench, table};

/// Work that is done in a second.
const FIT: &str = "fit t.csv --target y --work 1e9 --memory 200MB";

#[test]
fn it_finds_a_fit_says_what_it_tried_and_repeats_it_to_the_bit() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    bench.write("new.csv", table(100, 2));
    let run = bench.ok(&format!("{FIT} --seed 3 --threads 1 -o m.bin"));
    for part in
        ["error RMSE ", "kernel ", "400 validation rows", "searched ", "holds every training row"]
    {
        assert!(run.said().contains(part), "{part}: {}", run.out);
    }
    let again = run.to_repeat().join(" ");
    let first = bench.read("m.bin");
    bench.ok(&again.replace("--threads 1", "--threads 2").replace("m.bin", "other.bin"));
    assert!(first == bench.read("other.bin"));

    // `tune` is another name for it
    bench.ok(&format!("{} --seed 3 -o tuned.bin", FIT.replace("fit", "tune")));
    assert!(first == bench.read("tuned.bin"));

    let error = bench.rmse("m.bin", "new.csv");
    assert!(error < 0.15, "{error}"); // noise 0.058, y 0.8
    let inspected = bench.ok("inspect m.bin").out;
    assert!(inspected.contains("--work 1e9") && inspected.contains("all rows"), "{inspected}");
}

#[test]
fn a_plan_writes_nothing() {
    let bench = Bench::new();
    bench.write("t.csv", table(100, 1));
    let run = bench.ok(&format!("{FIT} -o m.bin --plan"));
    assert!(run.said().contains("1e9 operations"), "{}", run.out);
    assert_eq!(bench.files(), ["t.csv"]);
}

/// What looked like a column of numbers for 40,000 rows is read as what it is, and said.
#[test]
fn text_among_numbers_far_down_is_said() {
    let bench = Bench::new();
    let row = |i: usize| {
        let b = if i == 40_000 { "broken".to_owned() } else { format!("{}", i % 977) };
        format!("{},{b},{}\n", i % 13, (i % 13) * (i % 977))
    };
    let rows: String = (0..40_010).map(row).collect();
    bench.write("t.csv", format!("a,b,y\n{rows}"));
    let run = bench.ok(&format!("{FIT} -o m.bin"));
    assert!(run.said().contains("\"b\" holds numbers and texts such as \"broken\""), "{run:?}");
}
