//! Fingerprints in hexadecimal: a column of bits for the kernel Tanimoto.

use crate::support::Bench;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use serde_json::Value;

/// Molecules with 64 bits each, whose activity is determined by their bits.
struct Molecules {
    hex: Vec<String>,
    activity: Vec<f64>,
}

impl Molecules {
    fn new(n: usize, seed: u64) -> Molecules {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let bytes =
            |_| std::array::from_fn::<u8, 8, _>(|_| rng.random::<u8>() & rng.random::<u8>());
        let rows: Vec<[u8; 8]> = (0..n).map(bytes).collect();
        let hex = |row: &[u8; 8]| row.iter().map(|byte| format!("{byte:02x}")).collect();
        let activity = |row: &[u8; 8]| {
            f64::from(row[..4].iter().map(|byte| byte.count_ones()).sum::<u32>()) + 0.5
        };
        Molecules {
            hex: rows.iter().map(hex).collect(),
            activity: rows.iter().map(activity).collect(),
        }
    }

    fn write(&self, bench: &Bench, name: &str) {
        let line = |(i, (hex, y)): (usize, (&String, &f64))| {
            let class = if *y < 8.0 { "weak" } else { "strong" };
            format!("{i},{hex},{},{y},{class}\n", i % 7)
        };
        let lines: String = self.hex.iter().zip(&self.activity).enumerate().map(line).collect();
        bench.write(name, format!("id,fp,mass,activity,class\n{lines}"));
    }

    fn bits(&self) -> Bits<f64> {
        Bits::from_hex(&self.hex, 64).unwrap()
    }
}

fn bench() -> (Bench, Molecules, Molecules) {
    let (bench, molecules, new) = (Bench::new(), Molecules::new(200, 1), Molecules::new(40, 2));
    molecules.write(&bench, "m.csv");
    new.write(&bench, "new.csv");
    (bench, molecules, new)
}

fn numbers(told: &Value) -> Vec<usize> {
    told.as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect()
}

/// A fit by options is the library's with the same landmarks, and the model is saved and read.
#[test]
fn a_fit_by_options_is_the_librarys() {
    let (bench, molecules, new) = bench();
    let run = bench
        .ok("fit m.csv --fingerprint fp --target activity --landmarks greedy:40 --lambda 1e-3 \
         --no-intercept -o m.bin");
    assert!(run.said().contains("64 bits of \"fp\""), "{run:?}");
    assert!(run.err.contains("only feature"), "{run:?}");
    bench.ok("predict m.bin new.csv -o p.csv");
    let (bits, later) = (molecules.bits(), new.bits());
    let k = KernelMatrix::new(Tanimoto, bits.points()).unwrap();
    let landmarks = Landmarks::from_pivots(&Greedy::default().factor(&k, 40).unwrap()).unwrap();
    let y = Mat::from_fn(200, 1, |i, _| molecules.activity[i]);
    let krr = NystromKrr::new(Tanimoto, Ridge::PerSample(1e-3));
    let model = krr.fit((bits.points(), y.as_ref()), &landmarks).unwrap();
    let expected = model.predict(later.points()).unwrap();
    let predicted = bench.column("p.csv", "prediction");
    for (i, p) in predicted.iter().enumerate() {
        assert!((p - expected[(i, 0)]).abs() < 1e-6, "{i}: {p} {}", expected[(i, 0)]);
    }
    let told = bench.json("inspect m.bin --json");
    assert!(told["kernel"].to_string().contains("tanimoto"), "{told}");
    assert_eq!(told["explanation"], Value::Null);
    assert!(bench.ok("inspect m.bin").said().contains("64 bits of \"fp\""));
    assert_eq!(bench.ok("predict m.bin new.csv --stream").out, bench.text("p.csv"));
}

/// A search has one kernel, and everything else: classes, intervals, deviations, losses, a page.
#[test]
fn a_search_chooses_ridge_and_centres() {
    let (bench, ..) = bench();
    let fit = "fit m.csv --fingerprint fp --work 1e9";
    let run = bench
        .ok(&format!("{fit} --target activity --calibrate 0.2 --std -o s.bin --report s.html"));
    assert!(run.said().contains("kernel Tanimoto"), "{run:?}");
    assert!(!run.said().contains("bandwidth"), "{run:?}");
    let told = bench.json("evaluate s.bin new.csv --interval 0.8 --json");
    let of = |key: &str| told["error"][key].as_f64().unwrap();
    assert!(of("rmse") < 0.6 * of("mean_rmse"), "{told}");
    bench.ok("predict s.bin new.csv --interval 0.8 --std -o p.csv");
    let [low, high] = ["lower", "upper"].map(|name| bench.column("p.csv", name));
    assert!(low.iter().zip(&high).all(|(low, high)| low < high));
    assert!(bench.column("p.csv", "std").iter().all(|std| *std > 0.0));
    assert!(bench.text("s.html").contains("Tanimoto"));

    bench.ok(&format!("{fit} --target class -o c.bin"));
    let told = bench.json("evaluate c.bin new.csv --json");
    assert!(told["error"]["error_rate"].as_f64().unwrap() < 0.35, "{told}");
    bench.ok(&format!("{fit} --target activity --loss quantile:0.9 -o q.bin"));
    bench.ok(&format!("{fit} --target activity --calibrate cv:5 --target-scale log -o l.bin"));
    bench.ok("predict l.bin new.csv --interval 0.8");
}

/// Commands without a target take the bits as points.
#[test]
fn points_of_other_commands_are_the_bits() {
    let (bench, molecules, _) = bench();
    let bits = molecules.bits();
    let k = KernelMatrix::new(Tanimoto, bits.points()).unwrap();
    let told = bench.json("sample m.csv --fingerprint fp --size 9 --method greedy --json");
    let greedy = Greedy::default().factor(&k, 9).unwrap();
    assert_eq!(numbers(&told["subsets"][0]), greedy.pivots());
    assert_eq!(told["bandwidth"], Value::Null);
    let command = "landmarks m.csv --fingerprint fp --landmarks greedy:9 --json";
    assert_eq!(numbers(&bench.json(command)["landmarks"]), greedy.pivots());
    let weighted = "sample m.csv --fingerprint 2 --size 5 --quality activity --quota mass --json";
    assert_eq!(numbers(&bench.json(weighted)["subsets"][0]).len(), 5);
    bench.ok("scores m.csv --fingerprint fp --method exact --lambda 1e-3 -o s.csv");
    let expected = exact_scores(&k, Ridge::PerSample(1e-3)).unwrap();
    for (found, expected) in bench.column("s.csv", "score").iter().zip(&expected.scores) {
        assert!((found - expected).abs() < 1e-9);
    }
    bench.ok("embed m.csv --fingerprint fp -o e.csv");
    bench.ok("test m.csv new.csv --fingerprint fp");
}

/// Fingerprints of decimal digits keep their zeros, in either case of the digits.
#[test]
fn fingerprints_are_read_as_text() {
    let bench = Bench::new();
    bench.write("d.csv", "fp,y\n0011,1\n0110,2\n1001,4\n0001,3\n0010,5\n");
    let told = bench.json("sample d.csv --fingerprint fp --size 2 --method exact --json");
    assert_eq!(numbers(&told["subsets"][0]).len(), 2);
    let fit = "fit d.csv --fingerprint fp --target y --landmarks uniform:5 --lambda 1e-9 -o d.bin";
    bench.ok(fit);
    bench.write("new.csv", "fp\n0011\n0110\n");
    bench.ok("predict d.bin new.csv -o p.csv");
    for (found, expected) in bench.column("p.csv", "prediction").iter().zip([1.0, 2.0]) {
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }
}

#[test]
fn what_is_no_fingerprint_is_refused_with_its_line() {
    let bench = Bench::new();
    let cases = [
        ("0011ff", "line 4", "6 hexadecimal digits, but 16 bits are 4"),
        ("00g1", "line 4", "'g' at position 2"),
        ("", "line 4", "misses its value"),
    ];
    for (cell, place, problem) in cases {
        bench.write("bad.csv", format!("fp,y\n00ff,1\nff00,2\n{cell},3\nf00f,4\n0ff0,5\n"));
        for command in [
            "fit bad.csv --fingerprint fp --target y --landmarks uniform:2 -o m.bin",
            "fit bad.csv --fingerprint fp --target y --work 1e8 -o m.bin",
            "sample bad.csv --fingerprint fp --drop y --size 2",
        ] {
            bench.run(command).ends(3, &[place, problem, "\"fp\""]);
        }
    }
    // only the missing one can be left out
    bench.ok("sample bad.csv --fingerprint fp --size 2 --drop-missing");
    bench.ok(
        "fit bad.csv --fingerprint fp --target y --landmarks uniform:2 --drop-missing -o m.bin",
    );
    bench.write("short.csv", "fp\nff\n");
    bench.run("predict m.bin short.csv").ends(3, &["line 2", "16 bits are 4"]);
    bench.write("odd.csv", "fp,y\nf00,1\n0f0,2\n00f,3\n");
    bench.run("sample odd.csv --fingerprint fp --size 2").ends(3, &["line 2", "two digits"]);
    bench.write("same.csv", "fp,y\nff,1\nff,2\nff,3\n");
    bench.run("sample same.csv --fingerprint fp --size 2").ends(3, &["same value"]);
}

#[test]
fn options_that_have_no_effect_on_bits_are_refused() {
    let (bench, ..) = bench();
    let fit = "fit m.csv --target activity --fingerprint fp -o m.bin";
    for (options, part) in [
        ("--kernel matern", "--kernel"),
        ("--bandwidth 2", "--bandwidth"),
        ("--features mass", "mass"),
        ("--scale mass=2", "mass"),
        ("--landmarks sa:20", "stationary"),
    ] {
        bench.run(&format!("{fit} {options}")).ends(2, &[part]);
    }
    bench.run("fit m.csv --target fp --fingerprint fp -o m.bin").ends(2, &["two uses"]);
    for command in ["sample m.csv --size 3 --method greedy", "landmarks m.csv --landmarks greedy:3"]
    {
        for stream in ["", "--stream"] {
            let run = bench.run(&format!("{command} --fingerprint fp --drop fp {stream}"));
            run.ends(2, &["--drop"]);
            let run = bench.run(&format!("{command} --fingerprint nothing {stream}"));
            run.ends(3, &["nothing"]);
        }
    }
}

/// The rows of `m.csv` in the files of the folder `parts`.
fn in_parts(bench: &Bench) {
    let all = bench.text("m.csv");
    let (head, rest) = all.split_once('\n').unwrap();
    let lines: Vec<&str> = rest.lines().collect();
    std::fs::create_dir(bench.path("parts")).unwrap();
    for (i, part) in lines.chunks(700).enumerate() {
        bench.write(&format!("parts/{i}.csv"), format!("{head}\n{}\n", part.join("\n")));
    }
}

/// If the sample has all rows, results in blocks are those in memory.
#[test]
fn blocks_give_what_memory_gives() {
    let bench = Bench::new();
    Molecules::new(1500, 1).write(&bench, "m.csv");
    in_parts(&bench);
    let both = |command: &str, file: &str| {
        let run = |from: &str| {
            let line = format!("{command} {from} --fingerprint fp --seed 3 --json -q");
            (bench.json(&format!("{line} -o {file}")), bench.text(file))
        };
        [run("parts"), run("'parts/*.csv' --memory 200MB"), run("m.csv")]
    };
    for method in ["recursive", "bless"] {
        let found = both(&format!("scores --lambda 1e-2 --method {method}"), "s.csv");
        let [blocks, pattern, memory] = found;
        assert_eq!(blocks.1, pattern.1);
        bench.write("blocks.csv", blocks.1);
        let [ours, theirs] = ["blocks.csv", "s.csv"].map(|file| bench.column(file, "score"));
        assert!(ours.len() == 1500 && ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-8));
        assert_eq!(blocks.0["constant"], memory.0["constant"]);
        assert_eq!(blocks.0["reservoir"], 1500);
    }
    for (command, key) in [
        ("landmarks --landmarks rpcholesky:30", "landmarks"),
        ("landmarks --landmarks bless:30 --leverage-lambda 1e-2", "landmarks"),
        ("sample --size 20 --method greedy", "subsets"),
    ] {
        let [blocks, pattern, memory] = both(command, "l.csv");
        assert!(blocks.0[key] == memory.0[key] && pattern.0[key] == memory.0[key], "{command}");
    }
    let [blocks, _, memory] = both("embed --landmarks uniform:40 --components 2", "e.csv");
    let bound = blocks.0["left_over"].as_f64().unwrap() / memory.0["left_over"].as_f64().unwrap();
    assert!((bound - 1.0).abs() < 1e-9, "{bound}");
    bench.write("blocks.csv", blocks.1);
    let [ours, theirs] = ["blocks.csv", "e.csv"].map(|file| bench.column(file, "component_1"));
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-6));
    // by the scores of all rows
    let squeak = "landmarks parts --fingerprint fp --landmarks squeak:40 --leverage-lambda 1e-2";
    let told = bench.json(&format!("{squeak} --json -q"));
    assert_eq!(
        (told["passes"].as_u64(), told["landmarks"].as_array().unwrap().len()),
        (Some(3), 40)
    );
}

/// A search in blocks predicts about as well as one in memory.
#[test]
fn a_fit_in_blocks_predicts() {
    let bench = Bench::new();
    Molecules::new(1500, 1).write(&bench, "m.csv");
    Molecules::new(300, 2).write(&bench, "new.csv");
    in_parts(&bench);
    let fit = "--fingerprint fp --landmarks uniform:300 --work 1e9";
    let run = bench.ok(&format!("fit parts {fit} --target activity -o b.bin"));
    assert!(run.said().contains("kernel Tanimoto"), "{run:?}");
    bench.ok("fit m.csv --fingerprint fp --work 1e9 --target activity -o m.bin");
    let [blocks, memory] = ["b.bin", "m.bin"].map(|model| bench.rmse(model, "new.csv"));
    assert!(blocks < 1.2 * memory, "{blocks} in blocks, {memory} in memory");
    let whole = bench.text("m.csv");
    bench.ok(&format!("fit m.csv --stream {fit} --target activity -o w.bin"));
    let [b, w] = ["b.bin", "w.bin"].map(|model| {
        bench.ok(&format!("predict {model} new.csv -o p.csv"));
        bench.text("p.csv")
    });
    assert_eq!(b, w);
    bench.ok(&format!("fit parts {fit} --target class -o c.bin"));
    let told = bench.json("evaluate c.bin new.csv --json");
    assert!(told["error"]["error_rate"].as_f64().unwrap() < 0.35, "{told}");
    // a width that differs, in the second file
    let part = bench.text("parts/1.csv");
    let mut lines: Vec<&str> = part.lines().collect();
    let wrong = "5,00ff,1,3.5,weak";
    lines[500] = wrong;
    bench.write("parts/1.csv", lines.join("\n"));
    let memory = whole.replacen(&part.lines().nth(500).unwrap().to_owned(), wrong, 1);
    bench.write("bad.csv", memory);
    let problem = "4 hexadecimal digits, but 64 bits are 16; all rows need the same number of bits";
    for command in [
        "scores -o s.csv",
        "landmarks --landmarks uniform:9 -o s.csv",
        "sample --size 9 --method greedy -o s.csv",
        "embed -o s.csv",
        "fit --target activity --work 1e9 -o m.bin",
    ] {
        let told = ["\"fp\"", "line 501 of parts/1.csv", problem];
        bench.run(&format!("{command} parts --fingerprint fp")).ends(3, &told);
        let told = ["\"fp\"", "line 1201", problem];
        bench.run(&format!("{command} bad.csv --fingerprint fp")).ends(3, &told);
    }
    for (from, file, line) in [("parts", "parts/1.csv", 501), ("bad.csv --stream", "bad.csv", 1201)]
    {
        let run = bench.run(&format!("predict b.bin {from}"));
        run.ends(3, &[&format!("{file}: the column \"fp\""), &format!("line {line}"), problem]);
    }
}
