//! Targets that are classes.

use crate::support::Bench;
use nystrom::prelude::*;
use std::fmt::Write;

/// Work that is done in a second.
const FIT: &str = "fit t.csv --target kind --work 1e9 --memory 200MB";

/// Points in the unit square; their class says in which band of a + b they are, `noise` of them by
/// chance.
fn bands(n: usize, seed: u64, names: [&str; 3], noise: f64) -> String {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut text = String::from("a,kind,b\n");
    for _ in 0..n {
        let [a, b, chance, other] = std::array::from_fn(|_| rng.random::<f64>());
        let sum = if chance < noise { 2.0 * other } else { a + b };
        let class = usize::from(sum > 0.8) + usize::from(sum > 1.2);
        writeln!(text, "{a:?},{},{b:?}", names[class]).unwrap();
    }
    text
}

#[test]
fn a_target_of_text_gets_classes_and_probabilities() {
    let bench = Bench::new();
    let names = ["low", "mid, dle", "top"];
    let quoted = ["low", "\"mid, dle\"", "top"];
    bench.write("t.csv", bands(500, 1, quoted, 0.1));
    bench.write("new.csv", bands(400, 2, quoted, 0.1));
    let run = bench.ok(&format!("{FIT} -o m.bin"));
    for part in ["holds text", "--task regression", "low, mid, dle, top", "log-loss"] {
        assert!(run.said().contains(part), "{part}: {}", run.out);
    }
    let errors = &bench.json("evaluate m.bin new.csv --json -q")["error"];
    let value = |key: &str| errors[key].as_f64().unwrap();
    // a twentieth and more of the rows are wrong by chance; 4 standard errors are 0.05
    assert!(value("error_rate") < 0.16 && value("log_loss") < 0.5, "{errors}");
    assert!(errors["auc"].is_null() && value("calibration_error") < 0.1, "{errors}");

    let header = "prediction,p_low,\"p_mid, dle\",p_top";
    bench.ok("predict m.bin new.csv -o p.csv");
    let written = bench.text("p.csv");
    assert_eq!(written.lines().next(), Some(header));
    let table =
        nystrom_data::Csv::new().text(["prediction"]).read(written.as_bytes(), "p").unwrap();
    let p: Vec<&[f64]> =
        names.iter().map(|name| table.numbers(format!("p_{name}").as_str()).unwrap()).collect();
    let predicted = table.categories("prediction").unwrap();
    let in_row = |row: usize| [p[0][row], p[1][row], p[2][row]];
    for row in 0..table.rows() {
        let all = in_row(row);
        assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let likeliest = (0..3).max_by(|&a, &b| all[a].total_cmp(&all[b])).unwrap();
        assert_eq!(predicted.get(row), Some(names[likeliest]));
    }
    // without the class, and as numbers alone
    let features = "a,b\n0.1,0.1\n0.9,0.9\n";
    bench.write("two.csv", features);
    let both = bench.ok("predict m.bin two.csv -q").out;
    assert!(both.lines().nth(1).unwrap().starts_with("low,"), "{both}");
    bench.run("predict m.bin two.csv -o p.npy").ends(2, &["--probabilities"]);
    bench.ok("predict m.bin two.csv -o p.npy --probabilities");
    let values = nystrom_data::Npy::new().read_path(bench.path("p.npy")).unwrap();
    assert_eq!((values.rows(), values.columns().len()), (2, 3));
    assert!(bench.ok("inspect m.bin").out.contains("low, mid, dle, top"));
}

#[test]
fn few_whole_numbers_are_classes_unless_told() {
    let bench = Bench::new();
    bench.write("t.csv", bands(300, 3, ["0", "1", "1"], 0.1));
    let run = bench.ok(&format!("{FIT} -o m.bin"));
    assert!(run.said().contains("2 different whole numbers"), "{}", run.out);
    let errors = &bench.json("evaluate m.bin t.csv --json -q")["error"];
    assert!(errors["auc"].as_f64().unwrap() > 0.8, "{errors}");
    let predictions = &bench.json("predict m.bin t.csv --json -q");
    assert!(predictions["predictions"][0].is_string(), "{predictions}");
    assert_eq!(predictions["probabilities"]["p_1"].as_array().unwrap().len(), 300);

    let run = bench.ok(&format!("{FIT} --task regression -o r.bin"));
    assert!(!run.said().contains("classes"), "{}", run.out);
    assert!(bench.json("evaluate r.bin t.csv --json -q")["error"]["rmse"].is_number());
    let run = bench.run("predict r.bin t.csv --probabilities");
    run.ends(3, &["only classes have probabilities", "--task classification"]);
}

#[test]
fn weights_of_classes_move_probabilities() {
    let bench = Bench::new();
    bench.write("t.csv", bands(400, 4, ["no", "no", "yes"], 0.2));
    let mean = |options: &str| {
        bench.ok(&format!("{FIT} {options} -o m.bin"));
        bench.ok("predict m.bin t.csv --probabilities -o p.csv");
        let p = bench.column("p.csv", "p_yes");
        p.iter().sum::<f64>() / p.len() as f64
    };
    let (equal, balanced, given) =
        (mean(""), mean("--class-weights balanced"), mean("--class-weights yes=8"));
    assert!(equal < balanced && balanced < given, "{equal} {balanced} {given}");
    let run = bench.run(&format!("{FIT} --class-weights maybe=2 -o m.bin"));
    run.ends(2, &["no class \"maybe\"", "\"no\", \"yes\""]);
    bench.write("t.csv", bands(60, 4, ["0.5", "1.5", "2.5"], 0.0));
    let run = bench.run(&format!("{FIT} --class-weights balanced -o m.bin"));
    run.ends(2, &["is a number and has no classes"]);
}

#[test]
fn bad_classes_are_named() {
    let bench = Bench::new();
    let fit = || bench.run(&format!("{FIT} -o m.bin"));
    let table = bands(60, 5, ["low", "mid", "top"], 0.0);
    let noted = |words: &[&str]| {
        let run = bench.ok(&format!("{FIT} -o m.bin"));
        words.iter().for_each(|word| assert!(run.said().contains(word), "{word}: {}", run.out));
    };
    bench.write("t.csv", format!("{table}0.5,odd,0.5\n"));
    noted(&["the class \"odd\" of the target \"kind\"", "too few different rows", "mid, odd, top"]);
    bench.write("t.csv", format!("{table}0.5,Top,0.5\n0.6,Top,0.5\n"));
    noted(&["spells the class \"top\" as \"Top\" too", "low, mid, top"]);
    let names: String = (0..60_000).map(|i| format!("0.5,name {i},{i}\n")).collect();
    bench.write("t.csv", format!("a,kind,b\n{names}"));
    fit().ends(3, &["\"kind\" holds 60000 different values", "at most 100", "as \"other\""]);
    bench.write("t.csv", bands(60, 5, ["low"; 3], 0.0));
    fit().ends(3, &["\"low\" in every row", "another target"]);

    bench.write("t.csv", &table);
    assert_eq!(fit().code, Some(0));
    bench.write("new.csv", format!("{table}0.5,odd,0.5\n"));
    let words = ["\"odd\"", "no row that was fitted", "fit the model again"];
    bench.run("evaluate m.bin new.csv").ends(3, &words);
    let run = bench.ok("predict m.bin new.csv -o p.csv"); // predicts, and reports no error
    assert!(run.said().contains("no row that was fitted"), "{run:?}");
    bench.write("new.csv", "a,b\n0.5,0.5\n");
    bench.run("evaluate m.bin new.csv").ends(3, &["no row has a value of the target \"kind\""]);
    // a class may be unknown in some rows
    bench.write("new.csv", format!("{table}0.5,,0.5\n"));
    let rows = &bench.json("evaluate m.bin new.csv --json -q")["error"]["rows"];
    assert_eq!(rows.as_u64(), Some(60), "{rows}");
}
