//! What options mean, and where results and words go.

use crate::support::{Bench, table};
use serde_json::Value;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("t.csv", table(60, 1));
    bench
}

#[test]
fn columns_are_numbered_before_any_is_dropped() {
    let bench = Bench::new();
    let rows: String =
        table(40, 2).lines().skip(1).map(|line| format!("{line},{line}\n")).collect();
    bench.write("t.csv", format!("p1,p2,p3,p4,p5,p6,p7,p8\n{rows}"));
    for (options, target, features) in [
        ("--drop 1,4,5,8 --target 2", "p2", &["p3", "p6", "p7"][..]),
        ("--drop 1,2,-1,-2 --target -3", "p6", &["p3", "p4", "p5"]),
        ("--drop 8 --drop p1,2 --target 3", "p3", &["p4", "p5", "p6", "p7"]),
    ] {
        let fitted = bench.json(&format!("fit t.csv --lambda auto {options} -o m.json --json -q"));
        assert_eq!(fitted["target"], target, "{options}");
        assert_eq!(fitted["features"], serde_json::json!(features), "{options}");
    }
    let run = bench.run("fit t.csv --lambda auto --drop 1,2 --target 2 -o m.json");
    run.ends(2, &["column 2 (\"p2\") is both --target and among those to --drop"]);
}

#[test]
fn a_name_with_a_comma_can_be_dropped() {
    let bench = Bench::new();
    let rows: String = table(40, 2).lines().skip(1).map(|line| format!("{line},x\n")).collect();
    bench.write("t.csv", format!("a,b,y,c,\"colour, shade\"\n{rows}"));
    for drop in ["'colour, shade'", "'\"colour, shade\"'", "'b,\"colour, shade\"'", "5"] {
        bench.ok(&format!("fit t.csv --lambda auto --target y --drop {drop} -o m.json -q"));
    }
}

#[test]
fn a_column_that_is_dropped_may_hold_anything() {
    let bench = Bench::new();
    let rows = table(40, 2).replace("a,b,y,c\n", "");
    let rows: Vec<String> =
        rows.lines().enumerate().map(|(i, line)| format!("{line},{i}\n")).collect();
    // numbers first, then text
    bench.write("t.csv", format!("a,b,y,c,code\n{}1,2,3,4,A7\n", rows.concat()));
    bench.ok("fit t.csv --lambda auto --target y --drop code -o m.json -q");
    // which needs no --drop: the model does not use it
    bench.ok("predict m.json t.csv -o p.csv -q");
}

#[test]
fn fewer_landmarks_than_asked_for_are_explained() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", i, f64::from(i * i % 7) + 0.5)).collect();
    bench.write("smooth.csv", format!("a,y\n{rows}"));
    let run = bench.ok("fit smooth.csv --target y --bandwidth 3 -o m.json");
    let line = run.said().split_once("landmarks ").unwrap().1.to_owned();
    let taken: usize = line.split_once(' ').unwrap().0.parse().unwrap();
    assert!(taken < 40, "{line}");
    let why = format!("the other {} of 40 would add nothing", 40 - taken);
    assert!(line.contains(&why), "{line}");
    let run = bench
        .ok("landmarks smooth.csv --drop y --bandwidth 3 --landmarks rpcholesky:40 -o rows.csv");
    assert!(run.said().contains("of 40 would add nothing"), "{run:?}");
    let run = bench.ok("fit smooth.csv --target y --bandwidth 3 --landmarks uniform:5 -o m.json");
    assert!(run.out.contains("5 by uniform\n"), "{run:?}");
}

#[test]
fn constant_features_are_left_out_with_a_note() {
    let bench = Bench::new();
    let rows: String = table(40, 2).lines().skip(1).map(|line| format!("7,{line}\n")).collect();
    bench.write("t.csv", format!("k,a,b,y,c\n{rows}"));
    bench.write("bare.csv", &rows);
    let run = bench.ok("fit t.csv --lambda auto --target y -o m.json");
    assert!(run.err.contains("note: \"k\" (7) has one value only"), "{run:?}");
    assert!(bench.ok("fit t.csv --lambda auto --target y -o m.json -q").err.is_empty());
    let fitted = bench.json("fit t.csv --lambda auto --target y -o m.json --json -q");
    assert_eq!(
        (&fitted["constant"], &fitted["features"]),
        (&serde_json::json!(["k"]), &serde_json::json!(["a", "b", "c"]))
    );
    let named = bench.ok("predict m.json t.csv").out;
    // by position, the constant column with it
    assert_eq!(bench.ok("predict m.json bare.csv --no-header").out, named);
    bench.write("without.csv", table(40, 2));
    assert_eq!(bench.ok("predict m.json without.csv").out, named);
    bench.ok("scores t.csv --drop y -o s.csv");
}

#[test]
fn columns_that_number_the_rows_are_noted() {
    let bench = Bench::new();
    let rows: String = table(40, 2)
        .lines()
        .skip(1)
        .enumerate()
        .map(|(i, line)| format!("{},{line}\n", i + 1))
        .collect();
    bench.write("t.csv", format!("id,a,b,y,c\n{rows}"));
    let run = bench.ok("fit t.csv --lambda auto --target y -o m.json");
    assert!(run.err.contains("note: \"id\" numbers the rows"), "{run:?}");
    let run = bench.ok("fit t.csv --lambda auto --target y --features id,a -o m.json");
    assert!(!run.err.contains("note:"), "{run:?}");
    assert!(
        !bench.ok("fit t.csv --lambda auto --target y --drop id -o m.json").err.contains("note:")
    );
    // The only feature: without it nothing would be left.
    assert!(
        !bench
            .ok("fit t.csv --lambda auto --target y --drop a,b,c -o m.json")
            .err
            .contains("note:")
    );
}

#[test]
fn predicting_does_not_need_the_target() {
    let bench = bench();
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    let all = bench.ok("predict m.json t.csv").out;
    let with_target = |target: &dyn Fn(usize) -> String| {
        let line = |(i, line): (usize, &str)| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{}\n", fields[0], fields[1], target(i), fields[3])
        };
        format!(
            "a,b,y,c\n{}",
            table(60, 1).lines().skip(1).enumerate().map(line).collect::<String>()
        )
    };
    for target in ["", "?", "unknown"] {
        bench.write("new.csv", with_target(&|_| target.to_owned()));
        let outcome = bench.json("predict m.json new.csv -o p.csv --json");
        assert_eq!(bench.text("p.csv"), all, "{target:?}");
        assert!(outcome.get("error").is_none(), "{outcome}");
    }
    bench
        .write("half.csv", with_target(&|i| if i % 2 == 0 { "0.5".into() } else { String::new() }));
    // the target's gaps are no reason to drop a row
    let outcome = bench.json("predict m.json half.csv --json --drop-missing");
    assert_eq!((&outcome["rows"], &outcome["error"]["rows"]), (&Value::from(60), &Value::from(30)));
    assert_eq!(outcome["predictions"].as_array().unwrap().len(), 60);
}

#[test]
fn a_libsvm_file_is_read_as_the_one_that_was_fitted() {
    let bench = Bench::new();
    let row = |i: usize| format!("{} 1:{} 2:{} 4:{}\n", i * i % 5, i % 7, i % 3, i);
    bench.write("t.libsvm", (0..30).map(row).collect::<String>());
    bench.ok("fit t.libsvm --lambda auto --drop f4 -o m.json -q"); // f3 is 0 everywhere: constant
    bench.ok("predict m.json t.libsvm --drop f4 -o p.csv -q");
    bench.ok("predict m.json t.libsvm -o q.csv -q");
    assert_eq!(bench.read("p.csv"), bench.read("q.csv"));
    bench.write("short.libsvm", "1 1:2\n2 1:3\n"); // the last indices do not occur
    assert_eq!(bench.ok("predict m.json short.libsvm -q").out.lines().count(), 3);
}

#[test]
fn a_minus_is_standard_output() {
    let bench = bench();
    let mut fit = bench.command();
    let fit = fit.args("fit t.csv --lambda auto --target y -o -".split(' ')).output().unwrap();
    let words = String::from_utf8(fit.stderr).unwrap();
    assert!(words.contains("training") && fit.stdout.starts_with(b"NYSTROM\n"), "{words}");
    bench.write("m.json", &fit.stdout);
    let predicted = bench.ok("predict m.json t.csv -o - -q").out;
    assert_eq!(predicted, bench.ok("predict m.json t.csv -q").out);
    for command in [
        "scores t.csv --drop y",
        "landmarks t.csv --drop y --landmarks uniform:5",
        "sample t.csv --drop y --size 5",
    ] {
        assert_eq!(
            bench.ok(&format!("{command} -o - -q")).out,
            bench.ok(&format!("{command} -q")).out
        );
    }
    let run = bench.run("fit t.csv --lambda auto --target y -o - --json");
    run.ends(2, &["name a file for the model"]);
    assert_eq!(bench.files(), ["m.json", "t.csv"]);
    let piped = bench.pipe("predict m.json - -o -", table(60, 1).as_bytes());
    assert_eq!(piped.out, predicted);
}

#[test]
fn the_plan_is_a_result_of_its_own() {
    let bench = bench();
    let run = bench.ok("fit t.csv --lambda auto --target y --plan");
    assert!(run.out.starts_with("plan: 60 rows × 3 features") && run.err.is_empty(), "{run:?}");
    assert_eq!(
        bench.ok("fit t.csv --lambda auto --target y --plan -q").out.lines().count(),
        run.out.lines().count()
    );
    let plan = bench.json("fit t.csv --lambda auto --target y --plan --json");
    assert_eq!(
        (&plan["command"], &plan["landmarks"], &plan["rows"]),
        (&"fit".into(), &60.into(), &60.into())
    );
    assert_eq!(plan["plan"].as_array().unwrap().len(), 2);
    assert_eq!(bench.files(), ["t.csv"]);
}

#[test]
fn quiet_does_not_hide_a_fit_that_did_not_converge() {
    let bench = Bench::new();
    bench.write("t.csv", table(2000, 1));
    let line =
        "fit t.csv --target y --landmarks uniform:200 --lambda 1e-12 --memory 2MB -o m.json -q";
    bench.run(line).ends(5, &["warning: stopped after 100 iterations"]);
    assert_eq!(bench.files(), ["m.json", "t.csv"]);
}

#[test]
fn certify_takes_its_number_after_an_equals_sign_only() {
    let bench = bench();
    let rows = |line: &str| bench.json(line)["certificate"]["rows"].as_u64();
    // 1000, but there are 60
    assert_eq!(rows("fit --target y -o m.json --json -q --certify t.csv"), Some(60));
    assert_eq!(rows("fit --target y -o m.json --json -q --certify=20 t.csv"), Some(20));
}

#[test]
fn certify_by_passes_has_two_sides_and_a_step_of_the_plan() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let fit = "fit t.csv --target y --landmarks uniform:4 --lambda 1e-4 -o m.json -q --json";
    let outcome = bench.json(&format!("{fit} --certify=passes:6"));
    let certificate = &outcome["certificate"];
    let side = |name: &str| certificate["targets"][0][name].as_f64().unwrap();
    assert!(0.0 < side("lower") && side("bound") < 1.5 * side("lower"), "{certificate}");
    assert_eq!(
        (certificate["passes"].as_u64(), certificate["rows"].as_u64()),
        (Some(6), Some(300))
    );
    let step = &outcome["plan"][2];
    assert_eq!(step["what"], "certify by 6 passes");
    let planned = step["kernel_values"].as_f64().unwrap();
    // a triangle of 300 rows in blocks of 256 is 300² less one block of 256 × 44
    assert!(planned >= 6.0 * (90_000.0 - 11_264.0), "{planned}");
    assert!(1.2 * planned >= certificate["kernel_entries"].as_f64().unwrap(), "{planned}");
    let said = bench.run("fit t.csv --target y --landmarks uniform:4 -o m.json --certify=passes:6");
    assert!(said.err.contains("certify by 6 passes: "), "{said:?}");
    assert!((said.out.clone() + &said.err).contains(" RMS: not close: "), "{said:?}");
}

#[test]
fn json_says_what_it_is_and_keeps_what_is_not_finite() {
    let bench = bench();
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    for (command, line) in [
        ("fit", "fit t.csv --lambda auto --target y -o m.json --json"),
        ("predict", "predict m.json t.csv --json"),
        ("scores", "scores t.csv --drop y --json"),
        ("landmarks", "landmarks t.csv --drop y --landmarks uniform:5 --json"),
        ("sample", "sample t.csv --drop y --size 5 --json"),
    ] {
        let outcome = bench.json(line);
        assert_eq!(
            (&outcome["schema"], &outcome["command"]),
            (&1.into(), &command.into()),
            "{line}"
        );
        assert_eq!(outcome["version"], env!("CARGO_PKG_VERSION"), "{line}");
    }
    // the error of a target so large that its square overflows is a number all the same
    let huge = table(60, 1)
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>().join(","))
        .collect::<Vec<_>>();
    let huge: String = huge
        .iter()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{},{},{}e300,{}\n", fields[0], fields[1], fields[2], fields[3])
        })
        .collect();
    bench.write("huge.csv", format!("a,b,y,c\n{huge}"));
    let rmse = bench.json("predict m.json huge.csv --json")["error"]["rmse"].as_f64().unwrap();
    assert!(rmse > 1e299 && rmse.is_finite());
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let bench = bench();
    let refused = |line: &str, part: &str| {
        bench.run(&format!("fit t.csv --target y -o m.json {line}")).ends(2, &[part]);
    };
    refused(
        "--lambda 1e-6 --lambdas 1e-1:1e-3:3",
        "--lambdas has no effect if --lambda is a number",
    );
    refused("--tolerance 1e-3", "--tolerance has no effect on a choice");
    assert_eq!(bench.files(), ["t.csv"]);
}

#[test]
fn lambda_is_printed_as_it_is_meant() {
    let bench = bench();
    let line = "fit t.csv --target y --lambdas 1e-4:1e-8:5 --landmarks uniform:20 -o m.json";
    let run = bench.ok(line);
    let printed = run.out.lines().find(|line| line.starts_with("lambda")).unwrap();
    let lambda = printed.split_whitespace().nth(1).unwrap().trim_end_matches(',');
    assert!(["0.0001", "1e-5", "1e-6", "1e-7", "1e-8"].contains(&lambda), "{printed}");
    let found = bench.json(&format!("{line} --json"))["lambda"].as_f64().unwrap();
    assert_eq!(lambda.parse(), Ok(found));
}

#[test]
fn what_is_read_is_not_overwritten() {
    let bench = bench();
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    let (data, model) = (bench.read("t.csv"), bench.read("m.json"));
    for line in [
        "fit t.csv --lambda auto --target y -o t.csv",
        "fit t.csv --lambda auto --target y -o ./t.csv",
        "predict m.json t.csv -o t.csv",
        "predict m.json t.csv -o m.json",
        "scores t.csv --drop y -o t.csv",
    ] {
        bench.run(line).ends(2, &["would overwrite"]);
    }
    assert_eq!((bench.read("t.csv"), bench.read("m.json")), (data, model));
}

#[test]
fn rows_are_told_by_their_lines() {
    let bench = Bench::new();
    // two blank lines after the header
    bench.write("t.csv", table(40, 2).replacen('\n', "\n\n\n", 1));
    bench.ok("scores t.csv --drop y -o s.csv");
    assert_eq!(bench.column("s.csv", "row")[..2], [0.0, 1.0]);
    assert_eq!(bench.column("s.csv", "line")[..2], [4.0, 5.0]);
    let outcome = bench.json("scores t.csv --drop y --json");
    assert_eq!(
        outcome["highest_line"].as_u64().unwrap(),
        outcome["highest_row"].as_u64().unwrap() + 4
    );
    bench.ok("sample t.csv --drop y --size 5 -o d.npy -q");
    let table = nystrom_data::read_path(bench.path("d.npy")).unwrap();
    assert_eq!(table.columns().len(), 2); // draw and row, no line
}
