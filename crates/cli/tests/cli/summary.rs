//! The summary of `fit`: its first lines are the error, compared with that of a constant, and its
//! lines fit 80 columns. The first steps of a newcomer.

use crate::support::{Bench, Run, table};
use serde_json::Value;

const QUICK: &str = "--work 1e9 --memory 200MB";

/// The same fit with and without --json.
#[track_caller]
fn both(bench: &Bench, line: &str) -> (Run, Value) {
    let run = bench.ok(line);
    run.fits_80_columns();
    (run, bench.json(&format!("{line} --json -q")))
}

/// Lines begin with these labels and texts.
#[track_caller]
fn begins(run: &Run, expected: &[(&str, String)]) {
    for ((label, text), line) in expected.iter().zip(run.out.lines()) {
        let said = line.strip_prefix(label).unwrap_or_else(|| panic!("{label}: {}", run.out));
        assert!(said.starts_with(' ') || label.is_empty(), "{label}: {}", run.out);
        assert!(said.trim_start().starts_with(text), "{label} {text}: {}", run.out);
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// `RMSE 0.1234 (y), 85 % below predicting the mean (0.8123)` for these errors in JSON.
fn against_mean(target: &str, errors: &Value) -> String {
    let [rmse, mean] = ["rmse", "mean_rmse"].map(|key| number(&errors[key]));
    let below = 100.0 * (1.0 - rmse / mean);
    assert!(below > 50.0, "{errors}");
    let [rmse, mean] = [rmse, mean].map(four_digits);
    format!("RMSE {rmse} ({target}), {below:.0} % below predicting the mean ({mean})")
}

/// Four significant digits of a number between 0.001 and 1e6.
fn four_digits(value: f64) -> String {
    let decimals = (3 - value.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[test]
fn a_fit_leads_with_the_error_of_rows_held_out() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    let (run, json) =
        both(&bench, &format!("fit t.csv --target y --hold-out 0.2 {QUICK} -o m.bin"));
    let (held_out, search) = (&json["held_out"], &json["search"]["errors"][0]);
    begins(
        &run,
        &[
            ("error", against_mean("y", held_out)),
            ("", "on 80 rows held out, R² 0.9".into()),
            ("validation", against_mean("y", search)),
            ("", "on 320 validation rows".into()),
            ("fitted", "\"y\" on 320 rows, 3 features".into()),
        ],
    );
    // R² is 1 − (RMSE / RMSE of the mean)²
    let ratio = number(&held_out["rmse"]) / number(&held_out["mean_rmse"]);
    assert!((1.0 - ratio.powi(2) - number(&held_out["r2"])).abs() < 1e-12, "{held_out}");
    // in its own units, and as a share of its standard deviation
    let ratio = number(&search["rmse"]) / number(&search["mean_rmse"]);
    assert!((ratio / number(&json["validation_error"]) - 1.0).abs() < 0.02, "{search}");
    let errors = &bench.json("evaluate m.bin t.csv --json")["error"];
    begins(&bench.ok("evaluate m.bin t.csv"), &[("predicted", "\"y\"".into())]);
    assert!(bench.ok("evaluate m.bin t.csv").said().contains(&against_mean("y", errors)));
}

#[test]
fn a_fit_without_rows_held_out_leads_with_the_validation_error() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    let (run, json) = both(&bench, &format!("fit t.csv --target y {QUICK} -o m.bin"));
    let error = against_mean("y", &json["search"]["errors"][0]);
    begins(
        &run,
        &[
            ("error", error),
            ("", "on 400 validation rows".into()),
            ("", "--hold-out 0.2 measures it".into()),
            ("fitted", String::new()),
        ],
    );
    assert_eq!(run.to_repeat()[..4], ["fit", "t.csv", "--target", "y"]);
}

#[test]
fn several_targets_have_a_line_each() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let (run, json) =
        both(&bench, &format!("fit t.csv --target y --target a --hold-out 0.2 {QUICK} -o m.bin"));
    begins(
        &run,
        &[
            ("error", "RMSE".into()),
            ("error", "RMSE".into()),
            ("", "on 60 rows held out".into()),
            ("validation", "RMSE".into()),
        ],
    );
    for target in ["y", "a"] {
        assert!(json["held_out"][target]["mean_rmse"].is_number(), "{json}");
        assert!(run.said().contains(&format!("({target}), ")), "{}", run.out);
    }
}

/// Rows whose class depends on a, but for a tenth of them.
fn classes(n: usize) -> String {
    let row = |i: usize| {
        let (a, b) = ((i * 7919 % n) as f64 / n as f64, i * 31 % 11);
        let class = if i % 10 == 3 {
            "no"
        } else if a > 0.7 {
            "yes"
        } else {
            "no"
        };
        format!("{a:?},{b},{class}\n")
    };
    format!("a,b,kind\n{}", (0..n).map(row).collect::<String>())
}

#[test]
fn a_fit_of_classes_leads_with_error_rate_and_log_loss() {
    let bench = Bench::new();
    bench.write("t.csv", classes(500));
    let fit = format!("fit t.csv --target kind {QUICK} -o m.bin");
    for (options, key, rows) in
        [("", "search", "500 validation rows"), ("--hold-out 0.2", "held_out", "100 rows held out")]
    {
        let (run, json) = both(&bench, &format!("{fit} {options}"));
        let errors = if key == "search" { &json[key]["classes"] } else { &json[key] };
        let value = |name: &str| number(&errors[name]);
        let below = |name: &str, constant: &str| 100.0 * (1.0 - value(name) / value(constant));
        begins(
            &run,
            &[
                (
                    "error",
                    format!(
                        "{} % wrong, {:.0} % below predicting the majority class ({} %)",
                        four_digits(100.0 * value("error_rate")),
                        below("error_rate", "constant_error_rate"),
                        four_digits(100.0 * value("constant_error_rate")),
                    ),
                ),
                (
                    "",
                    format!(
                        "log-loss {}, {:.0} % below predicting the class shares ({})",
                        four_digits(value("log_loss")),
                        below("log_loss", "constant_log_loss"),
                        four_digits(value("constant_log_loss")),
                    ),
                ),
                ("", format!("on {rows}")),
            ],
        );
        assert!(!run.out.contains("validation  RMSE"), "{}", run.out);
        let share = value("constant_error_rate"); // three tenths, a tenth of which are "no"
        assert!((share - 0.27).abs() < 0.02, "{share}");
    }
}

#[test]
fn a_fit_by_options_leads_with_an_error() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 1));
    let fit = "fit t.csv --target y --landmarks rpcholesky:40 -o m.bin";
    let (run, json) = both(&bench, fit);
    let mean = &json["training"]["mean_rmse"];
    let left_out = serde_json::json!({"rmse": json["leave_one_out_rmse"], "mean_rmse": mean});
    begins(
        &run,
        &[
            ("error", against_mean("y", &left_out)),
            ("", "on 400 rows that are left out in turn".into()),
            ("training", against_mean("y", &json["training"])),
            ("", "on 400 rows that are fitted, R² 0.9".into()),
        ],
    );
    let (run, json) = both(&bench, &format!("{fit} --lambda cv:4"));
    let left_out = serde_json::json!({"rmse": json["cross_validation_rmse"], "mean_rmse": mean});
    begins(&run, &[("error", against_mean("y", &left_out)), ("", "on 400 rows".into())]);
    let (run, json) = both(&bench, &format!("{fit} --lambda 1e-5"));
    begins(
        &run,
        &[("error", against_mean("y", &json["training"])), ("", "on 400 rows that".into())],
    );
    let (run, json) = both(&bench, &format!("{fit} --hold-out 0.1"));
    let held_out = against_mean("y", &json["held_out"]);
    begins(
        &run,
        &[("error", held_out), ("", "on 40 rows held".into()), ("leave-one-out", "RMSE".into())],
    );
}

#[test]
fn a_fit_block_by_block_leads_with_an_error() {
    let bench = Bench::new();
    bench.write("t.csv", table(2000, 1));
    bench.write("c.csv", classes(2000));
    let fit = |file: &str, target: &str| {
        let (run, _) =
            both(&bench, &format!("fit {file} --stream --target {target} {QUICK} -o m.bin"));
        run
    };
    let run = fit("t.csv", "y");
    begins(&run, &[("error", "RMSE 0.".into()), ("", "on 2000 rows, by".into())]);
    // the standard deviation of the target is that of all rows
    let y = bench.column("t.csv", "y");
    let mean = y.iter().sum::<f64>() / 2000.0;
    let spread = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
    let said = format!(" % below predicting the mean ({})", four_digits(spread));
    assert!(run.said().contains(&said), "{said}: {}", run.out);
    let run = fit("c.csv", "kind");
    begins(&run, &[("error", String::new()), ("", "log-loss 0.".into())]);
    assert!(run.said().contains("below predicting the majority class (26.95 %)"), "{}", run.out);
}

#[test]
fn long_notes_and_commands_are_wrapped() {
    let bench = Bench::new();
    let name = |j: usize| format!("a column with a long name, number {j}");
    let quoted: Vec<String> = (0..4).map(|j| format!("\"{}\"", name(j))).collect();
    let row = |i: usize| format!("{},{},{},{i}\n", i % 17, i * i % 13, i % 2);
    let rows: String = (0..300).map(row).collect();
    bench.write("t.csv", format!("{}\n{rows}", quoted.join(",")));
    let options = "--task regression --hold-out 0.2 --work 1e8 --memory 200MB --seed 5 -o m.bin";
    let run =
        bench.ok(&format!("fit t.csv --target '{}' --drop \'{}\' {options}", name(0), quoted[3])
            .replace("\\'", "'"));
    run.fits_80_columns();
    let again = run.to_repeat();
    assert!(again.contains(&name(0)), "{again:?}");
    let first = bench.read("m.bin");
    assert!(bench.command().args(&again).status().unwrap().success());
    assert!(first == bench.read("m.bin"));
}

#[test]
fn a_pipe_shows_no_progress() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let run = bench.ok(&format!("fit t.csv --target y {QUICK} -o m.bin"));
    let plan = run.err.lines().collect::<Vec<_>>();
    assert!(plan.len() == 1 && plan[0].starts_with("plan: ") && !run.err.contains('\r'), "{run:?}");
    assert_eq!(bench.ok(&format!("fit t.csv --target y {QUICK} -q -o m.bin")).err, "");
}

#[test]
fn without_arguments_the_first_steps_are_shown() {
    let run = Bench::new().run("");
    assert_eq!((run.code, &*run.out), (Some(2), ""), "{run:?}");
    let commands: Vec<&str> =
        run.err.lines().filter_map(|line| line.strip_prefix("  nystrom ")).collect();
    let expected = ["fit houses", "predict houses", "sample houses", "--help", "fit --help"];
    assert_eq!(commands.len(), expected.len());
    for (command, start) in commands.iter().zip(expected) {
        assert!(command.starts_with(start), "{command}");
    }
    assert!(run.err.lines().all(|line| line.len() <= 84) && run.err.lines().count() < 20);
}
