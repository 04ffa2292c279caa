//! Models are those of one process, bit for bit.

use crate::support::Bench;

const FIT: &str = "--target y --kernel gaussian --bandwidth 2 --landmarks uniform:60 \
                   --memory 100MB -q";

/// The model file of a job with `size` processes.
fn model(bench: &Bench, size: usize, words: &str) -> Vec<u8> {
    let run = bench.ok(size, &format!("fit {words} -o m.json"));
    assert!(run.err.is_empty(), "quiet is quiet: {}", run.err);
    let model = bench.read("m.json");
    std::fs::remove_file(bench.path("m.json")).unwrap();
    model
}

#[test]
fn any_number_of_processes_gives_the_model_of_one() {
    let bench = Bench::new();
    bench.shards(9000, 5); // five leaves
    bench.alone(&format!("fit shards --stream {FIT} -o alone.json"));
    let alone = bench.read("alone.json");
    for size in 1..=4 {
        assert!(model(&bench, size, &format!("shards/*.csv {FIT}")) == alone, "{size} processes");
    }
    assert!(model(&bench, 2, &format!("shards {FIT} --threads 2")) == alone, "and threads");
    assert!(model(&bench, 3, &format!("shards {FIT} --seed 1")) != alone);
    bench.alone(&format!("fit shards --stream {FIT} --leaves 3 -o three.json"));
    let three = bench.read("three.json");
    assert!(three != alone && model(&bench, 4, &format!("shards {FIT} --leaves 3")) == three);
}

/// Fits with more than two passes: λ by leave-one-out in a third pass, with landmarks or with an
/// accumulation sketch; λ by folds; and iterations with one pass each.
#[test]
fn more_passes_give_the_model_of_one_process_too() {
    let bench = Bench::new();
    bench.shards(9000, 5);
    for options in [
        "--lambda auto --target y --kernel gaussian --landmarks rpcholesky:40",
        "--lambda auto --target y --kernel gaussian --landmarks uniform:40 --accumulate 4",
        "--lambda cv:4 --target y --kernel gaussian --landmarks uniform:40",
        "--lambda 1e-6 --tolerance 1e-6 --target y --kernel gaussian --landmarks uniform:60",
        "--lambda 1e-6 --tolerance 1e-6 --target y --kernel gaussian --landmarks uniform:40 \
         --accumulate 3",
    ] {
        let options = format!("{options} --memory 100MB -q");
        bench.alone(&format!("fit shards --stream {options} -o alone.json"));
        let alone = bench.read("alone.json");
        for size in [1, 3, 4] {
            assert!(model(&bench, size, &format!("shards {options}")) == alone, "{size}");
        }
    }
}

/// Certificates depend only on the seed and the rows, like models.
#[test]
fn a_certificate_is_that_of_one_process_too() {
    let bench = Bench::new();
    bench.shards(9000, 5); // five leaves
    let certificate = |out: &str| {
        let (_, behind) = out.split_once("\"certificate\":").expect("a certificate");
        behind[..behind.find("]").expect("targets")].to_owned()
    };
    for options in ["--certify=300", "--certify=2000 --lambda 1e-5 --tolerance 1e-6"] {
        let options = format!("shards {FIT} {options} --json");
        let alone = certificate(&bench.alone(&format!("fit --stream {options} -o alone.json")).out);
        assert!(alone.contains("\"trace_bound\""), "{alone}");
        for size in 1..=4 {
            let run = bench.ok(size, &format!("fit {options} -o m.json"));
            assert_eq!(certificate(&run.out), alone, "{size} processes");
            assert!(bench.read("m.json") == bench.read("alone.json"), "{size} processes");
        }
        let other = bench.ok(2, &format!("fit {options} --seed 1 -o m.json"));
        assert!(certificate(&other.out) != alone);
    }
}

/// Process 0 warns, and all processes end with the same status.
#[test]
fn iterations_that_do_not_converge_end_with_a_status() {
    let bench = Bench::new();
    bench.shards(3000, 3);
    let options = "--lambda 1e-12 --tolerance 1e-14";
    let run = bench.job(3, &format!("fit shards {FIT} {options} -o m.json"));
    assert_eq!(run.code, Some(5), "{run:?}");
    assert_eq!(run.err.matches("warning: stopped after ").count(), 1, "{}", run.err);
    assert!(bench.path("m.json").exists());
}

/// Regression with all rows as centres, also if a process has no file to read in the first pass.
#[test]
fn all_rows_as_centres_give_the_model_of_one_process_too() {
    let bench = Bench::new();
    bench.shards(3500, 3); // four leaves
    let options = "--all-rows --lambda 1e-5 --target y --kernel gaussian --memory 100MB -q";
    bench.alone(&format!("fit shards {options} -o alone.json"));
    let alone = bench.read("alone.json");
    for size in 1..=4 {
        assert!(model(&bench, size, &format!("shards {options}")) == alone, "{size}");
    }
}

/// In the first pass only one process reads, because there is one file. In the second pass the
/// leaves are shared.
#[test]
fn processes_without_rows_wait_for_the_others() {
    let bench = Bench::new();
    bench.shards(2500, 1); // three leaves
    bench.alone(&format!("fit shards --stream {FIT} -o alone.json"));
    assert!(model(&bench, 4, &format!("shards/0.csv {FIT}")) == bench.read("alone.json"));
}

#[test]
fn a_search_is_that_of_one_process() {
    let bench = Bench::new();
    bench.shards(5000, 3);
    let options = "shards --target y --work 1e8 --reservoir 400 --memory 100MB -q";
    bench.alone(&format!("fit --stream {options} -o alone.json"));
    assert!(model(&bench, 3, options) == bench.read("alone.json"));
}

#[test]
fn only_process_0_speaks() {
    let bench = Bench::new();
    bench.shards(3000, 4);
    let words = FIT.replace(" -q", "");
    let run = bench.ok(3, &format!("fit shards {words} -o m.json"));
    for part in ["pass 1 of 2, process 0 of 3", "pass 2 of 2, process 0 of 3", "2 passes over"] {
        assert_eq!(run.err.matches(part).count(), 1, "{part}: {}", run.err);
    }
    assert_eq!(run.out.matches("in blocks ").count(), 1, "{}", run.out);
    let plan = bench.ok(2, &format!("fit shards {FIT} --plan --json"));
    assert_eq!(plan.out.lines().count(), 1, "{}", plan.out);
    let help = bench.ok(2, "--help");
    assert_eq!(help.out.matches("mpirun -n").count(), 1, "{}", help.out);
}

/// Predictions and errors are those of one process, also if some processes have no file to read.
#[test]
fn predictions_come_in_the_order_of_the_files() {
    let bench = Bench::new();
    bench.shards(3000, 3);
    bench.alone(&format!("fit shards {FIT} -o m.json"));
    bench.alone("predict m.json shards -o p.csv -q");
    let alone = bench.alone("evaluate m.json shards --json -q").out;
    for size in [1, 2, 4] {
        bench.ok(size, "predict m.json shards/*.csv -o q.csv -q");
        assert!(bench.read("q.csv") == bench.read("p.csv"), "{size} processes");
        assert_eq!(bench.ok(size, "evaluate m.json shards --json -q").out, alone);
    }
    bench.alone("predict m.json shards/0.csv --stream -o p.csv -q");
    let run = bench.ok(3, "predict m.json shards/0.csv -q");
    assert_eq!(run.out.as_bytes(), bench.read("p.csv"));
}

#[test]
fn classes_are_told_apart_by_all() {
    let bench = Bench::new();
    bench.shards(3000, 3);
    let options = "shards --target kind --work 1e8 --reservoir 400 --memory 100MB -q";
    bench.alone(&format!("fit --stream {options} -o alone.json"));
    bench.ok(3, &format!("fit {options} -o m.json"));
    assert!(bench.read("m.json") == bench.read("alone.json"));
    let alone = bench.alone("evaluate m.json shards --json -q").out;
    assert_eq!(bench.ok(3, "evaluate m.json shards --json -q").out, alone);
}
