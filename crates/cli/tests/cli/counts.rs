//! `--kernel min-max`: counts in their own units.

use crate::support::Bench;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use std::fmt::Write;

/// The counts of five fragments in n molecules, and an activity by three of them.
fn molecules(n: usize, seed: u64) -> (Mat<f64>, Vec<f64>) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut x = Mat::zeros(n, 5);
    for i in 0..n {
        for (k, most) in [5, 5, 5, 30, 30_u32].into_iter().enumerate() {
            x[(i, k)] = f64::from(rng.random_range(0..most) * rng.random_range(0..2));
        }
    }
    let y = (0..n).map(|i| x[(i, 0)] + 2.0 * x[(i, 1)].min(x[(i, 2)])).collect();
    (x, y)
}

/// As CSV, and as libsvm with the activity as label.
fn write(bench: &Bench, name: &str, (x, y): &(Mat<f64>, Vec<f64>)) {
    let (mut table, mut sparse) = ("a,b,c,d,e,y\n".to_owned(), String::new());
    for (i, y) in y.iter().enumerate() {
        write!(sparse, "{y}").unwrap();
        for k in 0..5 {
            write!(table, "{},", x[(i, k)]).unwrap();
            if x[(i, k)] > 0.0 {
                write!(sparse, " {}:{}", k + 1, x[(i, k)]).unwrap();
            }
        }
        writeln!(table, "{y}").unwrap();
        sparse.push('\n');
    }
    bench.write(&format!("{name}.csv"), table);
    bench.write(&format!("{name}.libsvm"), sparse);
}

/// Of (3, 0, 1, 2) and (1, 2, 1, 2) the kernel has the value 4/8 = ½ with the constant columns;
/// ln det and the scores at 2λ = 1 follow from the eigenvalues 3/2 and 1/2.
#[test]
fn values_are_those_by_hand() {
    let bench = Bench::new();
    bench.write("two.csv", "a,b,c,d\n3,0,1,2\n1,2,1,2\n");
    bench.write("two.libsvm", "0 1:3 3:1 4:2\n0 1:1 2:2 3:1 4:2\n");
    for file in ["two.csv", "two.libsvm --sparse", "two.csv --no-standardize"] {
        let line = format!("sample {file} --kernel min-max --size 2 --method greedy --json");
        let told = bench.json(&line);
        let log_det = told["log_det"].as_f64().unwrap();
        assert!((log_det - 0.75_f64.ln()).abs() < 1e-14, "{file}: {log_det}");
        assert_eq!((&told["constant"], &told["bandwidth"]), (&[0; 0][..].into(), &().into()));
        bench.ok(&format!("scores {file} --kernel min-max --method exact --lambda 0.5 -o s.csv"));
        let expected = 0.5 * (1.5 / 2.5 + 0.5 / 1.5);
        for score in bench.column("s.csv", "score") {
            assert!((score - expected).abs() < 1e-12, "{file}: {score}");
        }
    }
    // a table of one row
    bench.write("one.csv", "a,b\n3,0\n");
    bench.ok("scores one.csv --kernel min-max --method exact --lambda 3 -o s.csv");
    assert_eq!(bench.column("s.csv", "score"), [0.25]);
    let run = bench.ok("landmarks two.csv --kernel min-max --landmarks greedy:2 -o l.csv");
    assert!(run.said().contains("kernel min–max"), "{run:?}");
}

/// Every command takes the kernel, in memory, from sparse rows and in blocks.
#[test]
fn commands_choose_what_the_library_chooses() {
    let bench = Bench::new();
    let all = molecules(300, 1);
    write(&bench, "m", &all);
    write(&bench, "other", &molecules(200, 2));
    let k = KernelMatrix::new(MinMax, Points::from_rows(all.0.as_ref())).unwrap();
    let greedy = Greedy::default().factor(&k, 9).unwrap();
    let pivots: serde_json::Value = greedy.pivots().into();
    for from in ["m.csv --drop y", "m.libsvm --sparse", "m.csv --drop y --stream"] {
        let told =
            bench.json(&format!("landmarks {from} --kernel min-max --landmarks greedy:9 --json"));
        assert_eq!(told["landmarks"], pivots, "{from}");
        let told =
            bench.json(&format!("sample {from} --kernel min-max --size 9 --method greedy --json"));
        assert_eq!(told["subsets"][0], pivots, "{from}");
        let scores = format!("scores {from} --kernel min-max --method recursive --lambda 1e-2");
        bench.ok(&format!("{scores} -o s.csv"));
        bench
            .ok("scores m.csv --drop y --kernel min-max --method recursive --lambda 1e-2 -o t.csv");
        let [s, t] = ["s.csv", "t.csv"].map(|file| bench.column(file, "score"));
        assert!(s.iter().zip(&t).all(|(s, t)| (s - t).abs() < 1e-8), "{from}");
        for method in ["pca", "kmeans --clusters 3"] {
            bench.ok(&format!("embed {from} --kernel min-max --method {method} -o e.csv"));
        }
    }
    let told = bench.json("test m.csv other.csv --kernel min-max --json");
    assert!(told["p_value"].as_f64().unwrap() > 1e-3, "{told}");
}

/// A fit is the library's, and its model is saved and predicts, also new molecules in blocks.
#[test]
fn a_saved_model_predicts() {
    let bench = Bench::new();
    let (all, new) = (molecules(200, 1), molecules(40, 3));
    write(&bench, "m", &all);
    write(&bench, "new", &new);
    let run = bench
        .ok("fit m.csv --target y --kernel min-max --landmarks greedy:50 --lambda 1e-4 \
         --no-intercept -o m.bin");
    assert!(run.said().contains("kernel min–max"), "{run:?}");
    bench.ok("predict m.bin new.csv -o p.csv");
    let x = Points::from_rows(all.0.as_ref());
    let k = KernelMatrix::new(MinMax, x).unwrap();
    let landmarks = Landmarks::from_pivots(&Greedy::default().factor(&k, 50).unwrap()).unwrap();
    let y = Mat::from_fn(200, 1, |i, _| all.1[i]);
    let krr = NystromKrr::new(MinMax, Ridge::PerSample(1e-4));
    let model = krr.fit((x, y.as_ref()), &landmarks).unwrap();
    let expected = model.predict(Points::from_rows(new.0.as_ref())).unwrap();
    for (i, p) in bench.column("p.csv", "prediction").iter().enumerate() {
        assert!((p - expected[(i, 0)]).abs() < 1e-6, "{i}: {p} {}", expected[(i, 0)]);
    }
    assert_eq!(bench.ok("predict m.bin new.csv --stream").out, bench.text("p.csv"));
    let told = bench.json("inspect m.bin --json");
    assert!(told["kernel"].to_string().contains("min-max"), "{told}");
    assert_eq!(told["explanation"], serde_json::Value::Null);
    bench.ok("fit m.csv --target y --kernel min-max --hold-out 0.2 --report m.html -o h.bin");
    let fit = "fit m.csv --target y --kernel min-max --landmarks uniform:150";
    bench.ok(&format!("{fit} -o f.bin"));
    bench.ok(&format!("{fit} --stream -o s.bin"));
    let [memory, blocks] = ["f.bin", "s.bin"].map(|model| bench.rmse(model, "new.csv"));
    assert!(blocks < 1.3 * memory, "{blocks} in blocks, {memory} in memory");
    // new rows are checked, too
    bench.write("bad.csv", "a,b,c,d,e\n1,0,2,0,1\n1,0,2,0,-4\n");
    for stream in ["", "--stream"] {
        let run = bench.run(&format!("predict m.bin bad.csv {stream}"));
        run.ends(3, &["\"e\"", "-4", "line 3", "at least 0"]);
    }
}

#[test]
fn negative_numbers_are_refused_with_their_place() {
    let bench = Bench::new();
    write(&bench, "m", &molecules(60, 1));
    let text = bench.text("m.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[41] = "1,0,-2.5,0,1,3";
    bench.write("bad.csv", lines.join("\n"));
    bench.write("bad.libsvm", "1 1:3\n2 2:-2.5 3:1\n3 4:1\n");
    for command in [
        "landmarks bad.csv --landmarks greedy:3",
        "scores bad.csv",
        "sample bad.csv --size 3",
        "embed bad.csv",
        "test m.csv bad.csv",
        "fit bad.csv --target y -o m.bin",
    ] {
        let run = bench.run(&format!("{command} --kernel min-max"));
        run.ends(3, &["\"c\"", "-2.5", "min-max", "at least 0", "--drop"]);
    }
    bench.run("scores bad.csv --kernel min-max").ends(3, &["line 42"]);
    let blocks = bench.run("scores bad.csv --kernel min-max --stream");
    blocks.ends(3, &["\"c\" has the value -2.5", "at least 0"]);
    bench.ok("scores bad.csv --kernel min-max --drop c,y");
    for command in ["scores bad.libsvm", "landmarks bad.libsvm --landmarks greedy:2"] {
        let run = bench.run(&format!("{command} --kernel min-max --sparse"));
        run.ends(3, &["row 1", "-2.5", "feature 2", "laplacian-l1"]);
    }
    for (options, part) in [
        ("--bandwidth 2", "--bandwidth has no effect"),
        ("--degree 2", "--degree has no effect"),
        ("--fingerprint a", "--fingerprint"),
    ] {
        bench.run(&format!("scores m.csv --kernel min-max {options}")).ends(2, &[part]);
    }
    bench.run("scores m.csv --kernel min-max --method sa").ends(2, &["stationary"]);
}
