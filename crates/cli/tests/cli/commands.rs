//! The other commands: against the library, and the words of the command line.

use crate::support::{Bench, table, words};
use nystrom::kernels::median_heuristic;
use nystrom::prelude::*;
use nystrom_data::{Csv, Standardize, Standardizer};

const COMMANDS: [&str; 11] = [
    "fit",
    "predict",
    "evaluate",
    "inspect",
    "scores",
    "landmarks",
    "sample",
    "test",
    "embed",
    "completions",
    "manual",
];

/// The standardised features of a file, and the Gaussian kernel at their median distance.
fn features(bench: &Bench, rng: &mut Pcg64) -> (Mat<f64>, Gaussian) {
    let x = Csv::new()
        .read_path(bench.path("t.csv"))
        .unwrap()
        .drop_columns(["y"])
        .unwrap()
        .matrix()
        .unwrap();
    let x = Standardizer::fit(x.as_ref(), &[], Standardize::default())
        .unwrap()
        .transform(x.as_ref())
        .unwrap();
    let kernel =
        Gaussian::new(median_heuristic(Points::from_rows(x.as_ref()), 1000, rng).unwrap()).unwrap();
    (x, kernel)
}

#[test]
fn scores_are_the_librarys() {
    let bench = Bench::new();
    bench.write("t.csv", table(150, 1));
    let rng = &mut Pcg64::seed_from_u64(0);
    let (x, kernel) = features(&bench, rng);
    let exact = exact_scores(
        &KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap(),
        Ridge::PerSample(1e-3),
    )
    .unwrap();
    let outcome = bench.json("scores t.csv --drop y --method exact --lambda 1e-3 -o s.csv --json");
    assert_eq!(bench.column("s.csv", "score"), exact.scores);
    assert_eq!(bench.column("s.csv", "row"), (0..150).map(f64::from).collect::<Vec<_>>());
    for method in ["fast", "recursive", "bless", "bless-r", "squeak"] {
        let estimated =
            bench.json(&format!("scores t.csv --drop y --method {method} --lambda 1e-3 --json"));
        assert_eq!(estimated["scores"].as_array().unwrap().len(), 150);
        let ratio = estimated["effective_dimension"].as_f64().unwrap()
            / outcome["effective_dimension"].as_f64().unwrap();
        assert!((0.3..3.0).contains(&ratio), "{method}: {ratio}");
    }
    let line =
        bench.json("scores t.csv --drop y,b,c --method sa --lambda 1e-3 --kernel matern --json");
    let exact =
        bench.json("scores t.csv --drop y,b,c --method exact --lambda 1e-3 --kernel matern --json");
    let [a, b] = [line, exact].map(|outcome| outcome["effective_dimension"].as_f64().unwrap());
    assert!((0.5..2.0).contains(&(a / b)), "sa: {a} against {b}");
    // 150 rows in three dimensions show none
    bench.run("scores t.csv --drop y --method sa --lambda 1e-3").ends(2, &["density"]);
}

#[test]
fn samples_are_the_librarys() {
    let bench = Bench::new();
    bench.write("t.csv", table(100, 2));
    bench.ok("sample t.csv --drop y --size 6 --draws 3 --seed 4 -o exact.csv -q");
    let rng = &mut Pcg64::seed_from_u64(4);
    let (x, kernel) = features(&bench, rng);
    let ensemble =
        LEnsemble::new(&KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap()).unwrap();
    let k_dpp = ensemble.k_dpp(6).unwrap();
    let drawn: Vec<f64> =
        (0..3).flat_map(|_| k_dpp.sample(rng).into_indices()).map(|i| i as f64).collect();
    assert_eq!(bench.column("exact.csv", "row"), drawn);
    bench.ok("sample t.csv --drop y --size 6 --draws 3 --seed 4 --method rejection -o r.csv -q");
    let rng = &mut Pcg64::seed_from_u64(4);
    let (x, kernel) = features(&bench, rng);
    let k = KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap();
    let mut k_dpp = RejectionKDpp::new(&k, 6, Rejection::of_size(6), rng).unwrap();
    let drawn: Vec<f64> =
        (0..3).flat_map(|_| k_dpp.sample(rng).unwrap().into_indices()).map(|i| i as f64).collect();
    assert_eq!(bench.column("r.csv", "row"), drawn);
    let line = "sample t.csv --drop y --size 6 --method rejection --seed 4 --json";
    let told = bench.json(line);
    assert!(told["exact"] == true && told["trials"].as_u64() >= Some(1), "{told}");
    let chain =
        bench.json("sample t.csv --drop y --size 6 --draws 2 --method swap --steps 200 --json");
    assert_eq!(
        (chain["subsets"].as_array().unwrap().len(), chain["subsets"][1].as_array().unwrap().len()),
        (2, 6)
    );
}

#[test]
fn a_chain_says_how_close_it_is() {
    let bench = Bench::new();
    bench.write("t.csv", table(40, 2));
    let line = "sample t.csv --drop y --size 3 --draws 2 --method swap --within 0.05 --json";
    let told = bench.json(line);
    let (steps, distance) = (&told["steps"], told["distance"].as_f64().unwrap());
    assert!(steps.as_u64() >= Some(3000) && distance <= 0.05 && told["exact"] == false, "{told}");
    assert_eq!(told["subsets"].as_array().unwrap().len(), 2);
    for (line, word) in [
        ("sample t.csv --drop y --size 3 --method exact --within 0.1", "--method swap"),
        ("sample t.csv --drop y --size 3 --method swap --within 1.5", "between 0.001 and 1"),
    ] {
        bench.run(line).ends(2, &[word]);
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let bench = Bench::new();
    for option in ["-h", "--help"] {
        let run = bench.ok(option);
        for command in COMMANDS {
            let run = bench.ok(&format!("{command} {option}"));
            assert!(
                run.out.contains("Examples:")
                    && run.out.contains(&format!("\n  nystrom {command} ")),
                "{}",
                run.out
            );
        }
        assert!(run.out.contains("Exit status:"), "{}", run.out);
    }
}

#[test]
fn the_version_says_which_instruction_set_runs() {
    let (version, set) = (env!("CARGO_PKG_VERSION"), nystrom::linalg_core::instruction_set());
    let expected = format!("nystrom {version} (instruction set {set})\n");
    assert_eq!(Bench::new().ok("--version").out, expected);
}

#[test]
fn completions_are_printed_for_every_shell() {
    let bench = Bench::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.ok(&format!("completions {shell}")).out;
        assert!(
            COMMANDS.iter().all(|command| script.contains(command)) && script.contains("landmarks"),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("man1")).unwrap();
    let run = bench.ok("manual man1");
    assert!(run.out.is_empty() && run.err.is_empty(), "{run:?}");
    for command in COMMANDS {
        let page = bench.text(&format!("man1/nystrom-{command}.1"));
        let has = |text: &str| assert!(page.contains(text), "{text}: {page}");
        has(&format!("\nnystrom\\-{command} \\- "));
        has("\nExamples:\n");
        has("\n.nh\n.ad l\n.SH NAME\n");
    }
    let page = bench.text("man1/nystrom.1");
    assert!(page.contains("Exit status:") && !page.contains("instruction set V"), "{page}");
    assert_eq!(std::fs::read_dir(bench.path("man1")).unwrap().count(), COMMANDS.len() + 1);
    bench.write("file", "");
    for folder in ["absent", "file"] {
        let parts = [&format!("error: {folder}: cannot be written"), "check the folder"];
        bench.run(&format!("manual {folder}")).ends(1, &parts);
    }
    assert_eq!(bench.files(), ["file", "man1"]);
}

#[test]
fn a_table_on_standard_output_is_nothing_but_the_table() {
    let bench = Bench::new();
    bench.write("t.csv", table(60, 5));
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    let run = bench.ok("predict m.json t.csv");
    assert_eq!(run.out.lines().count(), 61);
    assert!(run.err.contains("RMSE"), "{run:?}");
    assert_eq!(bench.ok("scores t.csv --drop y -q").out.lines().count(), 61);
    assert!(bench.ok("scores t.csv --drop y -q").err.is_empty());
}

/// Nothing is renamed over a pipe, a device such as `/dev/null`, a link or what is open.
#[cfg(unix)]
#[test]
fn an_output_may_be_a_pipe_or_a_link() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let bench = Bench::new();
    bench.write("t.csv", table(60, 5));
    bench.write("linked.csv", "old");
    symlink("linked.csv", bench.path("link.csv")).unwrap();
    symlink("absent.csv", bench.path("dangling.csv")).unwrap();
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    // written at once, and block by block
    for line in ["scores t.csv --drop y", "predict m.json t.csv --stream"] {
        bench.ok(&format!("{line} -o file.csv"));
        let file = bench.text("file.csv");
        for (link, target) in [("link.csv", "linked.csv"), ("dangling.csv", "absent.csv")] {
            bench.ok(&format!("{line} -o {link}"));
            assert!(bench.path(link).is_symlink() && bench.text(target) == file, "{line}: {link}");
        }
        let pipe = bench.path("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        bench.ok(&format!("{line} -o pipe"));
        assert!(pipe.metadata().unwrap().file_type().is_fifo(), "{line}");
        assert_eq!(reader.join().unwrap(), file);
        std::fs::remove_file(&pipe).unwrap();
        std::fs::remove_file(bench.path("absent.csv")).unwrap();
        // standard output under another name, behind what is there
        bench.write("log", "a line\n");
        let log = std::fs::File::options().append(true).open(bench.path("log")).unwrap();
        let mut command = bench.command();
        command.args(words(&format!("{line} -q -o /dev/stdout"))).stdout(log);
        assert!(command.status().unwrap().success());
        assert_eq!(bench.text("log"), format!("a line\n{file}"));
    }
}
