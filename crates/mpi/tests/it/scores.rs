//! Leverage scores are those of one process, bit for bit.

use crate::support::Bench;

/// In the tables of these tests y is missing in some rows, and `kind` is text.
const OPTIONS: &str = "--drop kind --missing \"\" --drop-missing --lambda 1e-3 --memory 100MB -q";
/// The same without a ridge.
const COLUMNS: &str = "--drop kind --missing \"\" --drop-missing --memory 100MB -q";

#[test]
fn any_number_of_processes_gives_the_scores_of_one() {
    let bench = Bench::new();
    bench.shards(9000, 5); // five leaves
    for method in ["squeak", "recursive", "bless --reservoir 700"] {
        let words = format!("scores shards --method {method} {OPTIONS}");
        let outcome = bench.alone(&format!("{words} --json -o alone.csv")).out;
        let alone = bench.read("alone.csv");
        let rows = alone.iter().filter(|byte| **byte == b'\n').count() - 1;
        assert_eq!(rows, (0..9000).filter(|i| i % 41 != 7).count(), "{method}");
        for size in 1..=4 {
            let run = bench.ok(size, &format!("{words} --json -o s.csv"));
            assert!(bench.read("s.csv") == alone, "{method} by {size} processes");
            let one = outcome.replace("alone.csv", "s.csv");
            let of_all = format!("\"processes\":{size}");
            assert_eq!(run.out, one.replace("\"processes\":1", &of_all), "{method}");
        }
        let run = bench.ok(2, &words);
        assert!(run.out.as_bytes() == alone, "{method}: to standard output");
    }
}

#[test]
fn any_number_of_processes_chooses_the_same_landmarks() {
    let bench = Bench::new();
    bench.shards(6000, 4);
    for method in ["squeak:50", "rpcholesky:50 --reservoir 500"] {
        let words = format!("landmarks shards --landmarks {method} --drop y,kind -q");
        bench.alone(&format!("{words} -o alone.csv"));
        for size in 1..=3 {
            bench.ok(size, &format!("{words} -o l.csv"));
            assert!(bench.read("l.csv") == bench.read("alone.csv"), "{method} by {size} processes");
        }
    }
}

#[test]
fn any_number_of_processes_gives_the_embedding_of_one() {
    let bench = Bench::new();
    bench.shards(9000, 5);
    for method in ["pca --components 3", "spectral", "kmeans --clusters 3 --reservoir 500"] {
        let words = format!("embed shards --method {method} --landmarks uniform:60 {COLUMNS}");
        let outcome = bench.alone(&format!("{words} --json -o alone.csv")).out;
        for size in 1..=4 {
            let run = bench.ok(size, &format!("{words} --json -o e.csv"));
            assert!(bench.read("e.csv") == bench.read("alone.csv"), "{method}: {size} processes");
            let one = outcome.replace("alone.csv", "e.csv");
            let of_all = format!("\"processes\":{size}");
            assert_eq!(run.out, one.replace("\"processes\":1", &of_all), "{method}");
        }
    }
    let words = format!("test shards/[01].csv shards/[234].csv --landmarks 40 {COLUMNS} --json");
    let alone = bench.alone(&words).out;
    for size in 2..=3 {
        let of_all = format!("\"processes\":{size}");
        let run = bench.ok(size, &words);
        assert_eq!(run.out, alone.replace("\"processes\":1", &of_all));
    }
    let run = bench.job(3, &format!("embed shards --clusters 3 {COLUMNS}"));
    assert_eq!((run.code, run.err.matches("error: ").count()), (Some(2), 1), "{run:?}");
}

/// With two leaves and one file, some of the four processes have no rows.
#[test]
fn processes_without_rows_wait_for_the_others() {
    let bench = Bench::new();
    bench.shards(1500, 1);
    let words = "scores shards/0.csv --stream --method squeak --drop y,kind --lambda 1e-3 -q";
    bench.alone(&format!("{words} -o alone.csv"));
    bench.ok(4, &format!("{words} -o s.csv"));
    assert!(bench.read("s.csv") == bench.read("alone.csv"));
}

#[test]
fn a_bad_row_of_one_process_is_told_with_its_rank() {
    let bench = Bench::new();
    bench.shards(6000, 3);
    // the bad row comes after the first thousand, which all processes read
    let good = String::from_utf8(bench.read("shards/2.csv")).unwrap();
    bench.write("shards/2.csv", good + "1,2\n");
    let run = bench.job(3, "scores shards --method squeak --drop y,kind -q -o s.csv");
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("error: rank 2: ") && run.err.contains("shards/2.csv:"), "{run:?}");
    assert!(!bench.path("s.csv").exists());
}

/// Fingerprints of 104 bits, from several files.
#[test]
fn any_number_of_processes_finds_the_same_fingerprints() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("shards")).unwrap();
    let rows: Vec<String> = (1..=2400_u64)
        .map(|i| {
            let bits = |k: u64| (i + k).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
            let fp = format!("{:016x}{:016x}", bits(0) & bits(7), bits(1) & bits(9));
            format!("{},{i}\n", &fp[..26])
        })
        .collect();
    for (i, part) in rows.chunks(700).enumerate() {
        bench.write(&format!("shards/{i}.csv"), format!("fp,y\n{}", part.concat()));
    }
    let options = "--fingerprint fp --memory 200MB -q";
    for words in [
        "scores shards --method squeak --lambda 1e-2",
        "landmarks shards --landmarks squeak:30 --leverage-lambda 1e-2",
        "sample shards --size 20 --method greedy --leaves 3",
        "embed shards --landmarks uniform:40",
    ] {
        bench.alone(&format!("{words} {options} -o alone.csv"));
        for size in 2..=3 {
            bench.ok(size, &format!("{words} {options} -o s.csv"));
            assert!(bench.read("s.csv") == bench.read("alone.csv"), "{words} by {size} processes");
        }
    }
    let fit = format!("fit shards --target y --landmarks uniform:60 --work 1e8 {options}");
    bench.alone(&format!("{fit} -o alone.bin"));
    bench.ok(3, &format!("{fit} -o m.bin"));
    let fitted = |name: &str| {
        bench.alone(&format!("predict {name} shards -o {name}.csv"));
        bench.read(&format!("{name}.csv"))
    };
    assert!(fitted("m.bin") == fitted("alone.bin"));
    // all texts of one process have another width
    let wide = rows[1400..].iter().map(|row| format!("00{row}")).collect::<String>();
    bench.write("shards/2.csv", format!("fp,y\n{wide}"));
    std::fs::remove_file(bench.path("shards/3.csv")).unwrap();
    let run = bench.job(3, &format!("scores shards {options} -o s.csv"));
    assert_eq!(run.code, Some(3), "{run:?}");
    for part in ["line 2 of shards/2.csv", "28 hexadecimal digits, but 104 bits are 26"] {
        assert!(run.err.contains(part), "{part}: {run:?}");
    }
}
