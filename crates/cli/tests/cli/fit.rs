//! `fit` and `predict`: what they write is what the library computes.

use crate::support::{Bench, table};
use nystrom::kernels::median_heuristic;
use nystrom::krr::metrics;
use nystrom::prelude::*;
use nystrom_data::{Csv, Standardize};

#[test]
fn the_error_is_the_librarys_to_the_bit() {
    let bench = Bench::new();
    bench.write("train.csv", table(300, 1));
    bench.write("test.csv", table(100, 2));
    let fitted = bench.json(
        "fit train.csv --target y --landmarks rpcholesky:40 --seed 7 --certify=50 -o \
                    m.json --json -q",
    );
    let predicted = bench.json("predict m.json test.csv -o p.csv --json -q");

    let rng = &mut Pcg64::seed_from_u64(7);
    let read = |name| Csv::new().read_path(bench.path(name)).unwrap().into_dataset("y").unwrap();
    let table = Csv::new().read_path(bench.path("train.csv")).unwrap();
    let train = nystrom_pipeline::Fit::default().prepare(&table, ["y"]).unwrap();
    let y = train.y.as_ref();
    let points = train.x.points();
    let kernel = Gaussian::new(median_heuristic(points, 1000, rng).unwrap()).unwrap();
    let matrix = KernelMatrix::new(kernel, points).unwrap();
    let landmarks = RpCholesky::default().select(&matrix, 40, rng).unwrap();
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(kernel) };
    let path = krr.path((points, y), &landmarks, &grid()).unwrap();
    let model = path.model_at(path.best_by_loo().ridge).unwrap();
    let certificate = Certificate { rows: 50, ..Certificate::default() };
    let certificate = certificate.certify(&model, (points, y), rng).unwrap();

    let test = read("test.csv");
    // standardised as the library does, to rounding
    let (standardised, map) = read("train.csv").standardize(Standardize::default()).unwrap();
    let gap = (train.x.dense().unwrap() - standardised.x.as_ref()).norm_max();
    assert!(gap < 1e-12, "{gap}");
    let new = Csv::new().read_path(bench.path("test.csv")).unwrap();
    let x = train.columns.apply(&new).unwrap().x;
    assert!((x.as_ref() - map.transform(test.x.as_ref()).unwrap().as_ref()).norm_max() < 1e-12);
    let f = model.predict(Points::from_rows(x.as_ref())).unwrap();
    let rmse = metrics::rmse(f.as_ref(), test.targets()).unwrap();
    assert_eq!(bench.column("p.csv", "prediction"), f.col(0).iter().copied().collect::<Vec<_>>());
    assert_eq!(predicted["error"]["rmse"].as_f64(), Some(rmse));
    assert_eq!(fitted["bandwidth"].as_f64(), Some(kernel.length_scale()));
    assert_eq!(fitted["leave_one_out_rmse"].as_f64(), Some(path.best_by_loo().loo.sqrt()));
    assert_eq!(
        fitted["certificate"]["targets"][0]["bound"].as_f64(),
        Some(certificate.targets[0].bound)
    );
    assert!(rmse < 0.2, "{rmse}"); // the noise has a standard deviation of 0.058, y one of 0.8
}

/// 28 ridges from 1e-1 to 1e-10, to twelve digits.
fn grid() -> Vec<Ridge<f64>> {
    let exponents = (0..28).map(|i| -1.0 - f64::from(i) / 3.0);
    exponents
        .map(|e| Ridge::PerSample(format!("{:.11e}", 10f64.powf(e)).parse().unwrap()))
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_file_at_any_number_of_threads() {
    let bench = Bench::new();
    bench.write("t.csv", table(3000, 3)); // more rows than a tile has
    for method in ["rpcholesky", "uniform", "leverage", "kdpp"] {
        let fit = |threads: usize, seed: usize| {
            bench.ok(&format!(
                "fit t.csv --target y --landmarks {method}:30 --hold-out 0.1 \
                               --threads {threads} --seed {seed} -o m.json -q"
            ));
            bench.read("m.json")
        };
        let (one, two, other) = (fit(1, 5), fit(2, 5), fit(2, 6));
        assert_eq!(one, two, "{method}");
        assert_ne!(one, other, "{method}");
    }
    assert_eq!(bench.files(), ["m.json", "t.csv"]);
}

#[test]
fn every_kernel_can_be_fitted_saved_and_loaded() {
    let bench = Bench::new();
    bench.write("t.csv", table(150, 4));
    let plain =
        ["gaussian", "laplacian", "laplacian-l1", "linear", "matern --nu 2.5", "matern --nu 1.2"];
    for kernel in plain.into_iter().chain(["rational-quadratic --alpha 2", "polynomial --degree 2"])
    {
        let line = format!(
            "fit t.csv --target 3 --kernel {kernel} --lambda 1e-5 --landmarks greedy:20 -o m.json \
             -q --json"
        );
        let training = bench.json(&line)["training"]["rmse"].as_f64().unwrap();
        let again =
            bench.json("predict m.json t.csv -o p.csv --json")["error"]["rmse"].as_f64().unwrap();
        assert_eq!(training, again, "{kernel}: the saved model is the one that was fitted");
    }
}

#[test]
fn every_method_chooses_landmarks() {
    let bench = Bench::new();
    bench.write("t.csv", table(200, 5));
    let by_law = [
        "uniform",
        "diagonal",
        "leverage",
        "leverage-exact",
        "leverage-fast",
        "bless",
        "bless-r",
        "squeak",
        "sa",
    ];
    let others =
        ["rpcholesky", "greedy", "sparse-greedy", "kmeans++", "adaptive", "kdpp", "kdpp-exact"];
    for method in by_law.into_iter().chain(others) {
        // 200 rows show no density in three dimensions
        let drop = if method == "sa" { "y,b,c" } else { "y" };
        bench.ok(&format!(
            "landmarks t.csv --drop {drop} --landmarks {method}:15 -o rows.csv --kernel matern -q"
        ));
        let mut rows = bench.column("rows.csv", "row");
        rows.sort_by(f64::total_cmp);
        rows.dedup();
        assert!(rows.len() == 15 && rows[14] < 200.0, "{method}: {rows:?}");
        let run = bench.run(&format!(
            "landmarks t.csv --drop {drop} --landmarks {method}:15 --weights -o w.csv --kernel \
             matern -q"
        ));
        assert_eq!(
            run.code,
            Some(if by_law.contains(&method) { 0 } else { 2 }),
            "{method}: {run:?}"
        );
        if method == "uniform" {
            assert!((bench.column("w.csv", "weight").iter().sum::<f64>() - 200.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_given_lambda_takes_the_method_that_fits_the_memory() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 6));
    let run = bench.ok("fit t.csv --target y --lambda 1e-4 --landmarks uniform:50 -o m.json");
    assert!(
        run.err.contains("plan: 400 rows × 3 features") && run.err.contains("Direct: "),
        "{}",
        run.err
    );
    assert!(run.out.contains("RMSE") && run.out.contains("m.json"), "{}", run.out);
    let line = "fit t.csv --target y --memory 1kB -o none.json";
    bench.run(&format!("{line} --lambda 1e-4 --landmarks uniform:50")).ends(4, &[]);
    let run = bench.run(&format!("{line} --landmarks rpcholesky:50"));
    run.ends(4, &["above the 1000 allowed"]);
    bench.ok("fit t.csv --target y --landmarks uniform:50 --plan -o none.json");
    assert_eq!(bench.files(), ["m.json", "t.csv"]);
}

#[test]
fn the_path_is_planned_for_the_memory() {
    let bench = Bench::new();
    bench.write("t.csv", table(400, 6));
    let line = "fit t.csv --target y --lambda auto --memory 3MB --json -o m.json";
    let fewer = bench.json(line); // 500 do not fit: as many as do
    let m = fewer["landmarks"].as_u64().unwrap();
    assert!((10..100).contains(&m), "{m}");
    for step in fewer["plan"].as_array().unwrap() {
        assert!(step["bytes"].as_u64().unwrap() <= 3_000_000, "{step}");
    }
    let same = bench.json(&format!("{line} --landmarks rpcholesky:{m}"));
    assert_eq!(same["leave_one_out_rmse"], fewer["leave_one_out_rmse"]);
    let refused = bench.run(&format!("{line} --landmarks rpcholesky:{}", m + 1));
    refused.ends(4, &[&format!("--landmarks rpcholesky:{m} would fit")]);
}

#[test]
fn the_plan_estimates_what_depends_on_the_data() {
    let bench = Bench::new();
    bench.write("t.csv", table(4000, 8));
    for method in ["recursive", "bless", "bless-r", "squeak"] {
        let plan = bench
            .ok(&format!("scores t.csv --drop y --lambda 1e-2 --method {method} -o s.csv"))
            .err;
        let step = plan.lines().nth(1).unwrap();
        let values: f64 = step
            .split(' ')
            .zip(step.split(' ').skip(1))
            .find(|(_, next)| *next == "kernel")
            .unwrap()
            .0
            .parse()
            .unwrap();
        assert!((4e4..1.6e7).contains(&values), "{method}: between 10 and n for each row, {step}");
        assert!(
            step.contains("of memory")
                && (step.contains("about") || step.contains("under a second")),
            "{step}"
        );
    }
    let plan = bench
        .ok("scores t.csv --drop y,b,c --lambda 1e-2 --method sa --kernel matern -o s.csv")
        .err;
    let step = plan.lines().nth(1).unwrap();
    assert!(
        !step.contains("kernel values")
            && (step.contains("about") || step.contains("under a second")),
        "{step}"
    );
    let plan = bench.ok("fit t.csv --target y --landmarks bless:50 --plan").out;
    assert!(
        !plan.contains("depends on the data") && plan.contains("choose 50 landmarks by bless: "),
        "{plan}"
    );
}

#[test]
fn columns_are_found_by_name_or_by_position() {
    let bench = Bench::new();
    bench.write("t.csv", table(120, 7));
    bench.ok("fit t.csv --target y --landmarks uniform:20 -o m.json -q");
    bench.ok("predict m.json t.csv -o all.csv -q");
    let table = Csv::new().read_path(bench.path("t.csv")).unwrap();
    let text = |order: &[&str], header: bool| {
        let mut text = if header { format!("{}\n", order.join(",")) } else { String::new() };
        for row in 0..table.rows() {
            let fields: Vec<String> =
                order.iter().map(|c| format!("{:?}", table.numbers(*c).unwrap()[row])).collect();
            text += &format!("{}\n", fields.join(","));
        }
        text
    };
    bench.write("shuffled.csv", text(&["c", "y", "b", "a"], true));
    bench.write("features.csv", text(&["c", "b", "a"], true));
    bench.write("bare.csv", text(&["a", "b", "c"], false));
    bench.write("bare-with-target.csv", text(&["a", "b", "y", "c"], false));
    for (file, has_target) in [
        ("shuffled", true),
        ("features", false),
        ("bare --no-header", false),
        ("bare-with-target --no-header", true),
    ] {
        let (name, options) = file.split_once(' ').unwrap_or((file, ""));
        let outcome = bench.json(&format!("predict m.json {name}.csv {options} -o p.csv --json"));
        assert_eq!(bench.read("p.csv"), bench.read("all.csv"), "{file}");
        assert_eq!(outcome.get("error").is_some(), has_target, "{file}");
    }
}
