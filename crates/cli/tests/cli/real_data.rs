//! CASP and California Housing from the folder that `NYSTROM_DATA` names.

use crate::support::Bench;
use std::path::PathBuf;

/// A file of the data sets.
fn data(file: &str) -> PathBuf {
    let folder = std::env::var_os("NYSTROM_DATA").expect("NYSTROM_DATA names the data's folder");
    std::path::absolute(PathBuf::from(folder).join(file)).unwrap()
}

/// Fits, predicts all rows again, and gives the R² on the rows held out.
fn held_out_r2(file: &str, target: &str) -> f64 {
    let file = data(file);
    let bench = Bench::new();
    let file = file.display();
    let line = format!(
        "fit {file} --target {target} --landmarks uniform:300 --hold-out 0.2 -o m.json --json -q"
    );
    let fitted = bench.json(&line);
    let all = bench.json(&format!("predict m.json {file} -o p.csv --json -q"));
    let (training, all_rmse) =
        (fitted["training"]["rmse"].as_f64().unwrap(), all["error"]["rmse"].as_f64().unwrap());
    let held_out = fitted["held_out"]["rmse"].as_f64().unwrap();
    // all rows are the two parts, to a row in ten thousand
    let mean_square = 0.8 * training.powi(2) + 0.2 * held_out.powi(2);
    assert!((all_rmse.powi(2) / mean_square - 1.0).abs() < 1e-3, "{fitted} {all}");
    fitted["held_out"]["r2"].as_f64().unwrap()
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn casp() {
    let r2 = held_out_r2("casp/CASP.csv.gz", "y");
    assert!(r2 > 0.35, "{r2}"); // linear regression reaches 0.28
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn california_housing() {
    let r2 = held_out_r2("california-housing/california_housing.arff.gz", "-1");
    assert!(r2 > 0.65, "{r2}"); // linear regression reaches 0.6
}
