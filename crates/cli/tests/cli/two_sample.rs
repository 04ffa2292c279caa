//! `nystrom test`: block by block as in memory.

use crate::support::{Bench, table};

/// Two tables of 900 and 1500 rows, each in a file and in a folder of three; with a gap in every
/// hundredth row. The second has another mean of the first column, by `shift`.
fn tables(shift: f64) -> Bench {
    let bench = Bench::new();
    for (name, n, seed, by) in [("a", 900, 1, 0.0), ("b", 1500, 2, shift)] {
        let text = table(n, seed);
        let (head, rows) = text.split_once('\n').unwrap();
        let moved = |(i, row): (usize, &str)| {
            let (first, rest) = row.split_once(',').unwrap();
            if i % 100 == 50 {
                return format!(",{rest}");
            }
            format!("{},{rest}", first.parse::<f64>().unwrap() + by)
        };
        let rows: Vec<String> = rows.lines().enumerate().map(moved).collect();
        bench.write(&format!("{name}.csv"), format!("{head}\n{}\n", rows.join("\n")));
        std::fs::create_dir(bench.path(name)).unwrap();
        for (i, rows) in rows.chunks(n / 3 + 1).enumerate() {
            let text = format!("{head}\n{}\n", rows.join("\n"));
            bench.write(&format!("{name}/{i}.csv"), text);
        }
    }
    bench
}

/// The distance does not depend on the bins if no row is left out, and the sample has all rows, so
/// that the landmarks are the same.
#[test]
fn blocks_give_the_distance_in_memory() {
    let bench = tables(0.0);
    let options = "--drop y --missing \"\" --drop-missing --landmarks 50 --bins 264 --json";
    let memory = bench.json(&format!("test a.csv b.csv {options}"));
    assert_eq!((&memory["rows"][0], &memory["rows"][1]), (&891.into(), &1485.into()));
    assert_eq!(memory["left_out"], serde_json::json!([0, 0]));
    for line in ["test a b", "test a.csv b", "test a b.csv", "test a.csv b.csv --stream"] {
        let told = bench.json(&format!("{line} {options}"));
        for key in ["rows", "bins", "rows_of_bin", "left_out", "landmarks"] {
            assert_eq!(told[key], memory[key], "{line}: {key}");
        }
        let [ours, theirs] = [&told, &memory].map(|told| told["mmd"].as_f64().unwrap());
        assert!((ours / theirs - 1.0).abs() < 1e-6, "{line}: {ours} {theirs}");
        assert!(told["p_value"].as_f64().unwrap() > 0.001, "{line}");
        assert_eq!(told["passes"], 2, "{line}");
    }
}

#[test]
fn blocks_find_a_difference() {
    let bench = tables(0.5);
    let options = "--drop y --missing \"\" --drop-missing --landmarks 50 --reservoir 200 --json";
    let told = bench.json(&format!("test a b {options}"));
    assert_eq!((told["p_value"].as_f64(), told["reservoir"].as_u64()), (Some(0.001), Some(200)));
    let again = bench.json(&format!("test a b {options} --threads 1 --memory 100MB"));
    assert_eq!(told["mmd"], again["mmd"]);
}

#[test]
fn what_blocks_cannot_do_is_refused() {
    let bench = tables(0.0);
    bench.write("one.csv", table(1, 3));
    bench.write("other.csv", "x,z\n1,2\n2,1\n");
    for (line, status, words) in [
        ("test a -", 2, "standard input"),
        ("test - b", 2, "standard input"),
        ("test a one.csv --drop y --missing \"\" --drop-missing", 2, "at least 2"),
        ("test a b --drop y --missing \"\" --drop-missing --landmarks 0", 2, "landmarks"),
        ("test a other.csv", 3, "other.csv"),
        ("test a nothing/*.csv", 3, "nothing"),
    ] {
        bench.run(line).ends(status, &[words]);
    }
}
