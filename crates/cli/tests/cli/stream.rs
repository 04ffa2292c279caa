//! Tables in several files, or larger than the memory: `fit`, `predict` and `evaluate` in blocks.

use crate::support::{Bench, table};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The rows of `table(n, seed)` in so many files, shards/0.csv and so on.
pub fn shards(bench: &Bench, n: usize, count: usize) {
    std::fs::create_dir(bench.path("shards")).unwrap();
    let text = table(n, 1);
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (i, rows) in rows.chunks(n.div_ceil(count)).enumerate() {
        bench.write(&format!("shards/{i}.csv"), format!("{header}\n{}\n", rows.join("\n")));
    }
    bench.write("whole.csv", text);
}

const KERNEL: &str =
    "--target y --kernel gaussian --bandwidth 2 --landmarks uniform:60 --memory 100MB";

#[test]
fn shards_are_one_table_whatever_their_number_and_the_threads() {
    let bench = Bench::new();
    shards(&bench, 5000, 7);
    let model = |data: &str| {
        bench.ok(&format!("fit {data} {KERNEL} -o m.json -q"));
        bench.read("m.json")
    };
    let whole = model("whole.csv --stream");
    for data in ["shards", "shards/*.csv", "shards/ --threads 1", "shards --threads 2"] {
        assert!(model(data) == whole, "{data}");
    }
    bench.ok(&format!("fit shards {KERNEL} --seed 1 -o m.json -q"));
    assert!(bench.read("m.json") != whole);
    bench.write("new.csv", table(400, 2));
    let [memory, blocks] = ["new.csv", "new.csv --stream"].map(|data| bench.rmse("m.json", data));
    assert!((memory / blocks - 1.0).abs() < 1e-12, "{memory} {blocks}");
    assert!(memory < 0.12, "{memory}");
    bench.ok("predict m.json new.csv -o whole-p.csv -q");
    bench.ok("predict m.json new.csv --stream -o p.csv -q");
    assert!(bench.read("p.csv") == bench.read("whole-p.csv"));
    let all = bench.ok("predict m.json 'shards/*.csv' -q");
    assert_eq!(all.out.lines().count(), 5001);
}

#[test]
fn the_search_works_on_a_sample() {
    let bench = Bench::new();
    shards(&bench, 3000, 2);
    let outcome = bench
        .json("fit shards --target y --work 1e9 --reservoir 600 --lambda gcv -o m.json --json -q");
    assert_eq!(outcome["fitted_rows"], 3000);
    assert_eq!(outcome["search"]["rows"], 600);
    bench.write("new.csv", table(400, 2));
    let error = bench.rmse("m.json", "new.csv");
    assert!(error < 0.1, "{error}: the noise has 0.058");
}

#[test]
fn the_plan_says_passes_bytes_and_seconds() {
    let bench = Bench::new();
    shards(&bench, 3000, 3);
    let plan = bench.json("fit shards --target y --plan --json");
    let bytes: u64 = (0..3)
        .map(|i| std::fs::metadata(bench.path(&format!("shards/{i}.csv"))).unwrap().len())
        .sum();
    assert_eq!(
        (&plan["passes"], &plan["files"], &plan["bytes"]),
        (&2.into(), &3.into(), &bytes.into())
    );
    assert!(plan["rows"].as_f64().is_some_and(|rows| (2700.0..3300.0).contains(&rows)), "{plan}");
    assert_eq!(plan["seconds"].as_array().map(Vec::len), Some(2));
    let told = bench.ok("fit shards --target y --plan").out;
    assert!(told.contains("2 passes over 3 files") && told.contains("landmarks"), "{told}");
    // without a terminal there is a plain line for each pass
    let run = bench.ok(&format!("fit shards {KERNEL} -o m.json"));
    for pass in ["pass 1 of 2: 3000 rows in", "pass 2 of 2: 3000 rows in"] {
        assert!(run.err.contains(pass) && run.err.contains("rows/s"), "{}", run.err);
    }
    assert!(bench.ok(&format!("fit shards {KERNEL} -o m.json -q")).err.is_empty());
}

#[test]
fn leave_one_out_takes_a_third_pass_and_landmarks_any_method() {
    let bench = Bench::new();
    shards(&bench, 5000, 3);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --memory 100MB";
    bench.write("new.csv", table(400, 2));
    let mut models = Vec::new();
    for method in ["uniform", "rpcholesky", "kmeans++", "leverage --leverage-lambda 1e-3", "bless"]
    {
        let (method, options) = method.split_once(' ').unwrap_or((method, ""));
        let line = format!("{line} --landmarks {method}:50 {options} --lambda auto -o m.json");
        let outcome = bench.json(&format!("{line} --json -q"));
        let stream = &outcome["stream"];
        let of = |name: &str| stream[name].as_f64().unwrap();
        assert!((of("leave_one_out") / of("gcv") - 1.0).abs() < 0.02, "{method}: {stream}");
        assert!(of("leave_one_out") > of("training") && of("landmarks") <= 50.0, "{stream}");
        let error = bench.rmse("m.json", "new.csv");
        assert!(error < 0.15, "{method}: {error}");
        models.push(bench.read("m.json"));
    }
    assert!((1..models.len()).all(|i| !models[..i].contains(&models[i])));
    let run = bench.ok(&format!("{line} --landmarks uniform:50 --lambda auto -o m.json"));
    let told = run.err + &run.out;
    for part in ["3 passes over 3 files", "pass 3 of 3: 5000 rows in", "by leave-one-out"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(bench.read("m.json") == models[0]);
}

#[test]
fn what_needs_all_rows_is_refused_before_it_starts() {
    let bench = Bench::new();
    shards(&bench, 300, 2);
    for (options, status, part) in [
        ("--hold-out 0.2", 2, "--hold-out"),
        ("--kernel gaussian --certify=passes:3", 2, "--certify"),
        ("--calibrate 0.1", 2, "calibrate"),
        ("--group a", 2, "group"),
        ("--memory 20MB", 4, "a fit in blocks"),
        ("--memory 100MB --landmarks uniform:5000", 4, "landmarks"),
        ("--memory 60MB --reservoir 3000 --landmarks leverage-exact:50", 4, "from the sample"),
        ("--reservoir 2", 2, "reservoir"),
        ("--kernel gaussian --tolerance 1e-3", 2, "--lambda NUMBER"),
        ("--all-rows", 2, "--lambda NUMBER"),
        ("--all-rows --lambda 1e-6 --landmarks uniform:50", 2, "--landmarks"),
        ("--checkpoint-every 5s", 2, "--checkpoint"),
    ] {
        let run = bench.run(&format!("fit shards --target y {options} -o m.json"));
        run.ends(status, &[part]);
    }
    let run = bench.pipe("fit - --stream --target y -o m.json", table(300, 1).as_bytes());
    run.ends(2, &[]);
    let run = bench.run("fit 'no/*.csv' --target y -o m.json");
    run.ends(3, &["no/*.csv: no file is there"]);
}

#[test]
fn a_bad_shard_is_named_with_line_and_column() {
    let bench = Bench::new();
    shards(&bench, 300, 3);
    let good = bench.read("shards/1.csv");
    for (text, part) in [
        ("a,b,y,c\n", "shards/1.csv"),
        ("a,b,y\n1,2,3\n", "shards/1.csv"),
        ("a,b,y,c\n1,2,3,4\n1,2,x,4\n", "\"y\""),
        ("a,b,y,c\n1,2,3,4\n1,2", "shards/1.csv:3"),
    ] {
        bench.write("shards/1.csv", text);
        bench.run(&format!("fit shards {KERNEL} -o m.json -q")).ends(3, &[part]);
    }
    bench.write("shards/1.csv", &good);
    bench.write("shards/2.csv", &good);
    bench.run(&format!("fit shards {KERNEL} -o m.json -q")).ends(3, &["hold the same rows"]);
    assert!(!bench.files().contains(&"m.json".to_owned()));
}

/// Killed many times at random moments after its first checkpoint (fifty times in a soak), the fit
/// gives the file of an undisturbed run.
#[test]
fn killed_at_any_moment_it_continues_to_the_same_bits() {
    use nystrom::prelude::*;
    let wanted = if std::env::var_os("NYSTROM_SOAK").is_some() { 50 } else { 12 };
    let bench = Bench::new();
    shards(&bench, 20_000, 3);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:200 \
                --memory 200MB -q";
    let start = Instant::now();
    bench.ok(&format!("{line} -o undisturbed.json"));
    let whole = start.elapsed().as_millis() as u64;
    let fit = || {
        let mut command = bench.command();
        let options = "-o m.json --checkpoint state --checkpoint-every 0.02s";
        command.args(crate::support::words(&format!("{line} {options}")));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let rng = &mut Pcg64::seed_from_u64(8);
    let (mut kills, mut with_sums, mut longest) = (0, 0, whole / 2);
    while kills < wanted {
        let mut child = fit();
        // until the recipe is there, or a sum, then a random while
        let first = if kills % 2 == 0 { "state/recipe" } else { "state/sums" };
        let start = Instant::now();
        while !bench.path(first).exists() && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(300));
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(rng.random_range(0..=longest)));
        if child.try_wait().unwrap().is_some() {
            let end = child.wait_with_output().unwrap();
            assert!(end.status.success(), "{}", String::from_utf8_lossy(&end.stderr));
            assert!(bench.read("m.json") == bench.read("undisturbed.json"));
            longest = longest * 3 / 4 + 1; // it was faster: begin again
            continue;
        }
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        longest = (longest * 9 / 8 + 1).min(whole / 2); // late moments come again
        kills += 1;
        with_sums += usize::from(bench.path("state/sums").exists());
    }
    assert!(with_sums >= wanted / 3, "{with_sums} of {wanted} had begun to sum");
    // the last kill may have come when all was done
    std::fs::create_dir_all(bench.path("state")).unwrap();
    bench.write("state/.nystrom-cut", "what a kill in the midst of a write leaves");
    let end = fit().wait_with_output().unwrap();
    assert!(end.status.success());
    assert!(bench.read("m.json") == bench.read("undisturbed.json"));
    assert!(!bench.path("state").exists(), "nothing is left to go on from");
}

#[test]
fn checkpoints_of_other_data_or_options_are_refused() {
    let bench = Bench::new();
    shards(&bench, 40_000, 2);
    let fit = |options: &str| {
        let checkpoint = "--checkpoint state --checkpoint-every 0.001s";
        bench.run(&format!("fit shards {KERNEL} {checkpoint} {options}"))
    };
    let run = bench.run(&format!("fit shards {KERNEL} --checkpoint deep/state -o m.json"));
    assert_eq!(run.code, Some(0), "folders are made: {run:?}");
    // killed as soon as there is something to go on from
    let line = format!("fit shards {KERNEL} --checkpoint state -o out.json -q");
    for _ in 0..20 {
        let mut command = bench.command();
        let mut child =
            command.args(crate::support::words(&line)).stdout(Stdio::null()).spawn().unwrap();
        while !bench.path("state/recipe").exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if bench.path("state/recipe").exists() {
            break;
        }
    }
    fit("--seed 1 -o m.json").ends(3, &["other data or options"]);
    let recipe = bench.read("state/recipe");
    let mut damaged = recipe.clone();
    damaged[40] ^= 1;
    bench.write("state/recipe", &damaged);
    fit("-o out.json").ends(3, &["checksum"]);
    bench.write("state/recipe", &recipe);
    let shard = bench.text("shards/1.csv");
    bench.write("shards/1.csv", format!("{shard}1,2,3,4\n"));
    fit("-o out.json").ends(3, &["has changed since"]);
}

/// Where sums cannot be saved the fit goes on, and says so; where the recipe cannot it stops.
#[test]
fn a_checkpoint_that_cannot_be_written_is_said() {
    let bench = Bench::new();
    shards(&bench, 3000, 2);
    std::fs::create_dir_all(bench.path("state/recipe")).unwrap();
    let fit = || {
        let options = "--checkpoint state --checkpoint-every 0.001s -o m.json";
        bench.run(&format!("fit shards {KERNEL} {options}"))
    };
    let run = fit();
    assert!(run.code != Some(0) && run.err.contains("state/recipe"), "{run:?}");
}

/// A disk on which no file may grow beyond 64 kB: the sums do not fit, and the model does. Then one
/// beyond 512 bytes: the model does not fit, and nothing is left of it.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_the_checkpoint_and_not_the_fit() {
    let bench = Bench::new();
    shards(&bench, 20_000, 2);
    let line = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:200 \
                --memory 200MB --lambda auto";
    bench.ok(&format!("{line} -o undisturbed.json -q"));
    let limited = |blocks: u32, options: &str| {
        let program = env!("CARGO_BIN_EXE_nystrom");
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {line} {options}");
        let mut shell = std::process::Command::new("sh");
        let run = shell.arg("-c").arg(limit).current_dir(bench.path("")).output().unwrap();
        (run.status.code(), String::from_utf8(run.stderr).unwrap())
    };
    let (code, told) = limited(128, "--checkpoint state --checkpoint-every 0.01s -o m.json");
    assert!(code == Some(0) && told.contains("warning: no checkpoint at row"), "{code:?} {told}");
    assert!(bench.read("m.json") == bench.read("undisturbed.json"));
    let before = bench.files();
    let (code, told) = limited(1, "-o n.json -q");
    assert!(code != Some(0) && told.contains("n.json"), "{code:?} {told}");
    assert_eq!(bench.files(), before);
}

/// Cells that are no numbers in a column of numbers are missing, which is said by every pass over
/// all rows.
#[test]
fn strays_are_told() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("s")).unwrap();
    for file in 0..2 {
        let row = |i: usize| {
            let x = if i == 2500 { "broken".to_owned() } else { (i * 37 % 101).to_string() };
            format!("{x},{},{}\n", i % 7, (i * i) % 11)
        };
        let rows: String = (1500 * file..1500 * (file + 1)).map(row).collect();
        bench.write(&format!("s/{file}.csv"), format!("x,z,y\n{rows}"));
    }
    for command in [
        "fit s --target y --kernel gaussian --landmarks uniform:20 -o m.json",
        "landmarks s --drop y --landmarks uniform:5 --kernel gaussian -o l.csv",
    ] {
        let run = bench.ok(command);
        let note = "\"x\": 1 cells are no numbers, such as \"broken\" in line 1002";
        assert!(run.err.contains(note), "{command}: {run:?}");
    }
}
