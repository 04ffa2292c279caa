//! The program `nystrom-gpu`, run as a user runs it.

use crate::support::{name, normal};
use nystrom_gpu::{DeviceKernel, GpuError, GpuProducts};
use nystrom_kernels::{
    Gaussian, LaplacianL1, Matern, PowerExponential, PowerExponentialL1, RationalQuadratic,
};
use nystrom_pipeline::Family;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs the program in a folder: its status, and all that it prints.
fn run(folder: &Path, line: &str) -> (i32, String) {
    let program = env!("CARGO_BIN_EXE_nystrom-gpu");
    let words = line.split_whitespace().map(|word| word.replace("CARD", &name()));
    let run = Command::new(program).args(words).current_dir(folder).output().unwrap();
    let text = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    // lines of prose are broken where they are long
    let text = text.replace("\n        ", " ");
    (run.status.code().unwrap(), text)
}

fn ok(folder: &Path, line: &str) -> String {
    let (status, text) = run(folder, line);
    assert_eq!(status, 0, "{line}: {text}");
    text
}

/// A folder with a table of `a`, `b` and `y`, a smooth function with noise.
fn bench() -> TempDir {
    let (folder, x, mut text) =
        (tempfile::tempdir().unwrap(), normal(900, 3, 7), String::from("a,b,y\n"));
    for i in 0..900 {
        let (a, b, noise) = (x[(i, 0)], x[(i, 1)], x[(i, 2)]);
        writeln!(text, "{a},{b},{}", (3.0 * a).sin() * b + 0.3 * noise).unwrap();
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    folder
}

fn rmse(folder: &Path, model: &str) -> f64 {
    let text = ok(folder, &format!("evaluate {model} t.csv --json -q"));
    let outcome: serde_json::Value = serde_json::from_str(&text).unwrap();
    outcome["error"]["rmse"].as_f64().unwrap_or_else(|| panic!("{outcome}"))
}

#[test]
fn devices_are_listed() {
    let text = ok(Path::new("."), "devices");
    assert!(text.to_lowercase().contains(&name().to_lowercase()), "{text}");
}

#[test]
fn all_rows_are_fitted_and_predicted_on_a_card() {
    let (bench, line) = (bench(), "fit t.csv --target y --bandwidth 1 --lambda 1e-3 --all-rows");
    let folder = bench.path();
    let told = ok(folder, &format!("{line} --tolerance 1e-6 --gpu=CARD -o m.model"));
    for part in ["card", "kernel values a second", "of its memory", "on the card"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    ok(folder, &format!("{line} --tolerance 1e-6 -q -o cpu.model"));
    let [on_card, by_cpu] = ["m.model", "cpu.model"].map(|model| rmse(folder, model));
    assert!((on_card / by_cpu - 1.0).abs() < 1e-3, "{on_card} {by_cpu}");
    ok(folder, "predict m.model t.csv --gpu=CARD -q -o card.csv");
    ok(folder, "predict m.model t.csv -q -o cpu.csv");
    let read = |file: &str| -> Vec<f64> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        text.lines().skip(1).map(|line| line.parse().unwrap()).collect()
    };
    let (a, b) = (read("card.csv"), read("cpu.csv"));
    assert_eq!(a.len(), 900);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4) && a != b);
}

#[test]
fn a_search_fits_on_a_card() {
    let bench = bench();
    let line = "fit t.csv --target y --work 4e9 --gpu=CARD";
    let plan = ok(bench.path(), &format!("{line} --plan"));
    assert!(plan.contains("kernel values a second") && plan.contains("as on the CPU"), "{plan}");
    let plan = ok(bench.path(), &format!("{line} --plan --json -q"));
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    // three ridges at a time, which are multiplied as eight right-hand sides
    assert_eq!(plan["card"]["bytes"], GpuProducts::bytes(900, None, 2, 8));
    let told = ok(bench.path(), &format!("{line} -o m.model"));
    assert!(told.contains("all rows") && told.contains("nystrom-gpu fit"), "{told}");
    assert!(!told.contains("in place of"), "{told}");
    assert!(rmse(bench.path(), "m.model") < 0.4, "{told}");
}

#[test]
fn what_has_no_effect_is_refused() {
    let bench = bench();
    for (line, part) in [
        ("fit t.csv --target y --landmarks uniform:50 --gpu=CARD -o m.model", "--all-rows"),
        ("fit t.csv --target y --stream --gpu=CARD -o m.model", "--all-rows"),
        ("fit t.csv --target y --sparse --gpu=CARD -o m.model", "--sparse"),
        ("fit t.csv --target y --gpu=abacus -o m.model", "abacus"),
        ("predict m.model t.csv --gpu=abacus", "abacus"),
    ] {
        let (status, text) = run(bench.path(), line);
        assert!(status == 2 && text.contains(part), "{status} {text}");
    }
    let line =
        "fit t.csv --target y --kernel linear --lambda 1e-3 --all-rows --gpu=CARD -o m.model";
    let (status, text) = run(bench.path(), line);
    assert!(status == 1 && text.contains("does not evaluate"), "{status} {text}");
}

/// The parts of `measure.sh` in small sizes.
#[test]
fn measurements_are_lines_of_json() {
    for line in ["time --rows 700", "centres --rows 500 --centres 300"] {
        let text = ok(Path::new("."), &format!("measure {line} --name CARD"));
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["part"], line.split_whitespace().next().unwrap());
        assert!(last["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{text}");
    }
    for (line, part) in [("abacus", "centres"), ("time --row 700", "--rows"), ("", "Usage")] {
        let (status, text) = run(Path::new("."), &format!("measure {line}"));
        assert!(status == 2 && text.contains(part), "{status} {text}");
    }
}

#[test]
fn the_kernels_of_the_program_are_those_of_the_library() {
    let same = |family: Family, kernel: &dyn DeviceKernel| {
        let any = family.kernel(1.7, 3).unwrap();
        assert_eq!(any.formula().unwrap(), kernel.formula().unwrap(), "{family}");
    };
    same(Family::Gaussian, &Gaussian::new(1.7).unwrap());
    same(Family::Matern { nu: 1.5 }, &Matern::new(1.5, 1.7).unwrap());
    same(Family::LaplacianL1, &LaplacianL1::new(1.7).unwrap());
    same(Family::RationalQuadratic { alpha: 2.0 }, &RationalQuadratic::new(2.0, 1.7).unwrap());
    same(Family::PowerExponential { power: 1.3 }, &PowerExponential::new(1.3, 1.7).unwrap());
    let l1 = PowerExponentialL1::new(0.8, 1.7).unwrap();
    same(Family::PowerExponentialL1 { power: 0.8 }, &l1);
    let linear = Family::Linear.kernel(1.0, 3).unwrap();
    assert!(matches!(linear.formula(), Err(GpuError::Unsupported { .. })));
}
