//! `fit --report`, and what `inspect` tells of columns.

use crate::support::{Bench, table};

const FIT: &str = "fit t.csv --target y --work 1e8 --memory 200MB";

#[test]
fn a_page_is_written_beside_the_model() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let run = bench.ok(&format!("{FIT} -o m.bin --report r.html"));
    assert!(run.out.contains("r.html"), "{run:?}");
    let page = bench.text("r.html");
    let again = run.to_repeat().join(" ");
    assert!(page.contains(&again) && page.contains("Predicted against actual"));
    assert_eq!(bench.files(), ["m.bin", "r.html", "t.csv"]);

    // the same model without a page
    bench.ok(&format!("{FIT} -o other.bin"));
    assert!(bench.json("inspect m.bin --json") == bench.json("inspect other.bin --json"));
}

#[test]
fn a_fit_that_is_told_how_has_a_page() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let fit = "fit t.csv --target y --landmarks uniform:50 --seed 4";
    bench.ok(&format!("{fit} --hold-out 0.2 -o m.bin --report r.html"));
    let page = bench.text("r.html");
    for part in ["60 rows that were held out", "Leave-one-out error against λ", "uniform:50"] {
        assert!(page.contains(part), "{part}");
    }
    let said = bench.ok("inspect m.bin").out;
    assert!(said.contains("importance") && said.contains("squared slopes"), "{said}");
}

#[test]
fn inspect_tells_which_columns_matter() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    bench.ok(&format!("{FIT} -o m.bin"));
    let said = bench.ok("inspect m.bin").out;
    let listed = said.lines().skip_while(|line| !line.starts_with("importance"));
    let first = listed.skip(1).find(|line| line.contains('%')).unwrap();
    assert!(first.trim_start().starts_with('a') && first.contains('±'), "{said}");
    let explanation = &bench.json("inspect m.bin --json")["explanation"];
    assert_eq!(explanation["outputs"][0], "y");
    let column = &explanation["columns"][0];
    assert_eq!(column["column"], "a");
    assert!(column["effects"][0]["mean"].is_number(), "{column}");
    let dependence = &column["dependence"];
    let (at, means) = (&dependence["at"]["numbers"], &dependence["means"][0]);
    assert_eq!(at.as_array().unwrap().len(), means.as_array().unwrap().len());
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_work() {
    let bench = Bench::new();
    bench.write("t.csv", table(50, 1));
    for (report, code, words) in [
        ("none/r.html", 1, "cannot be written"),
        ("m.bin", 2, "overwrite"),
        ("t.csv", 2, "overwrite"),
        ("-", 2, "needs a file"),
        (".", 2, "folder"),
    ] {
        for how in ["--work 1e15", "--landmarks uniform:20"] {
            let run = bench.run(&format!("fit t.csv --target y {how} -o m.bin --report {report}"));
            run.ends(code, &[words]);
            assert_eq!(bench.files(), ["t.csv"]);
        }
    }
}
