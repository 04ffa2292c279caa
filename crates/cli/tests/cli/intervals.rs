//! `fit --calibrate` and `predict --interval`.

use crate::support::{Bench, table};

const FIT: &str = "fit t.csv --target y --work 1e8 --memory 200MB";

#[test]
fn intervals_are_columns_with_their_coverage() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    bench.write("new.csv", table(500, 2));
    let run = bench.ok(&format!("{FIT} --calibrate 0.25 -o m.bin"));
    assert!(
        run.said().contains("calibrated on 100 rows kept out of search and fit"),
        "{}",
        run.out
    );
    let run = bench.ok("predict m.bin new.csv --interval 0.8 -o p.csv");
    assert!(run.said().contains("% of 500 rows inside (aim 80 %)"), "{run:?}");
    let [lower, middle, upper] =
        ["lower", "prediction", "upper"].map(|column| bench.column("p.csv", column));
    assert!((0..500).all(|i| lower[i] < middle[i] && middle[i] < upper[i]));
    let said = &bench.json("predict m.bin new.csv --interval 0.8 --json -q");
    // 4 standard deviations of the coverage of one fit: √(0.16 (1/100 + 1/500)) = 0.044
    let coverage = said["coverage"]["y"].as_f64().unwrap();
    assert!((coverage - 0.8).abs() < 0.18, "{coverage}");
    assert_eq!(said["upper"].as_array().unwrap().len(), 500);

    // `evaluate` and blocks count the same rows
    let blocks = "--stream";
    for line in [
        "evaluate m.bin new.csv --interval 0.8",
        &format!("evaluate m.bin new.csv --interval 0.8 {blocks}"),
    ] {
        assert_eq!(bench.json(&format!("{line} --json -q"))["coverage"], said["coverage"]);
    }
    let run = bench.ok(&format!("predict m.bin new.csv --interval 0.8 -o q.csv {blocks}"));
    assert!(run.said().contains("% of 500 rows inside (aim 80 %)"), "{run:?}");
    let usual = bench.json("evaluate m.bin new.csv --json -q");
    assert_eq!(usual["level"], 0.9);
    assert!(usual["coverage"]["y"].as_f64() >= Some(coverage), "{usual}");
}

#[test]
fn levels_and_rows_that_cannot_be_are_refused() {
    let bench = Bench::new();
    bench.write("t.csv", table(100, 1));
    bench.ok(&format!("{FIT} --calibrate 0.1 -o m.bin"));
    bench.ok(&format!("{FIT} -o none.bin"));
    for (line, code, words) in [
        ("predict m.bin t.csv --interval 0", 2, "between 0 and 1"),
        ("predict m.bin t.csv --interval 1", 2, "between 0 and 1"),
        ("predict m.bin t.csv --interval 0.99", 3, "need 99 calibration rows"),
        ("predict none.bin t.csv --interval 0.9", 3, "--calibrate"),
        ("evaluate none.bin t.csv --interval 0.9", 3, "--calibrate"),
        ("predict none.bin t.csv --std", 3, "--std"),
        (&format!("{FIT} --calibrate cv:99 -o x.bin"), 2, "take 2 to 50"),
        (&format!("{FIT} --calibrate half -o x.bin"), 2, "nor cv:10, nor loo"),
        (&format!("{FIT} --calibrate 1 -o x.bin"), 2, "1 is no share of the rows"),
        (&format!("{FIT} --calibrate 0.2 --time-column a -o x.bin"), 2, "split by \"a\""),
    ] {
        bench.run(line).ends(code, &[words]);
    }
}

#[test]
fn models_that_leave_rows_out_and_standard_deviations() {
    let bench = Bench::new();
    bench.write("t.csv", table(200, 1));
    bench.write("new.csv", table(300, 2));
    for how in ["cv:5", "loo"] {
        bench.ok(&format!("{FIT} --calibrate {how} --std -o m.bin"));
        bench.ok("predict m.bin new.csv --interval 0.8 --std -o p.csv");
        let [lower, upper, std, function] = ["lower", "upper", "std", "std_of_function"]
            .map(|column| bench.column("p.csv", column));
        assert!((0..300).all(|i| lower[i] < upper[i] && 0.0 < function[i] && function[i] < std[i]));
    }
    let said = &bench.json("predict m.bin new.csv --std --json -q");
    assert_eq!(said["std"].as_array().unwrap().len(), 300);
}

#[test]
fn losses_are_fitted_reported_and_evaluated() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    bench.write("new.csv", table(500, 2));
    let run = bench.ok(&format!("{FIT} --loss quantile:0.1,0.5,0.9 -o q.bin"));
    assert!(run.said().contains("mean loss"), "{}", run.out);
    bench.ok("predict q.bin new.csv -o p.csv");
    let [low, middle, high] = ["0.1", "0.5", "0.9"]
        .map(|share| bench.column("p.csv", &format!("prediction of y {share}")));
    assert!((0..500).all(|i| low[i] <= middle[i] && middle[i] <= high[i]));
    let run = bench.ok("evaluate q.bin new.csv");
    assert!(run.said().contains("y 0.9: pinball loss"), "{}", run.out);
    let said = &bench.json("evaluate q.bin new.csv --json -q");
    let below = said["errors"]["y 0.9"]["quantile"]["below"].as_f64().unwrap();
    assert!((0.75..=1.0).contains(&below), "{below}");
    // block by block the sums are the same
    let stream = &bench.json("evaluate q.bin 'new*.csv' --json -q");
    let of = |said: &serde_json::Value, key: &str| said["errors"]["y 0.9"][key].as_f64().unwrap();
    assert!((of(said, "mae") - of(stream, "mae")).abs() < 1e-9);

    bench.ok(&format!("{FIT} --loss absolute --calibrate 0.25 -o m.bin"));
    assert!(bench.ok("inspect m.bin").said().contains("absolute"));
    bench.ok("predict m.bin new.csv --interval 0.8 -o p.csv");
    for (line, code, words) in [
        (format!("{FIT} --loss median -o x.bin"), 2, "none of squares"),
        (format!("{FIT} --loss quantile:1.5 -o x.bin"), 2, "not between 0 and 1"),
        (format!("{FIT} --loss huber --std -o x.bin"), 2, "squares"),
        (format!("{FIT} --loss huber --calibrate cv:5 -o x.bin"), 2, "set a share aside"),
        ("fit t.csv --target y --loss huber --kernel gaussian -o x.bin".into(), 2, "--loss"),
    ] {
        bench.run(&line).ends(code, &[words]);
    }
}
