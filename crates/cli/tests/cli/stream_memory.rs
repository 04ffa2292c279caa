//! The promise of `--memory`: the most that was ever resident, for a table of several times that.
//!
//! Not the address space: products of matrices reserve twice the third-level cache for each thread
//! and hardly touch it.
#![cfg(target_os = "linux")]

use crate::support::Bench;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MEGABYTES: u64 = 60;

/// Ten files with 11 columns.
fn bench() -> Bench {
    let bench = Bench::new();
    let (n, d) = (220_000, 10);
    let entry = |i: usize, j: usize| ((i * (2 * j + 3)) % 1009) as f64 / 1009.0;
    let y = |i: usize| entry(i, 0) + entry(i, 1) * entry(i, 2);
    let mut bytes = 0;
    for part in 0..10 {
        let row = |i: usize| part * n + i;
        let x = (0..d).flat_map(|j| (0..n).map(move |i| entry(row(i), j)));
        let file = nystrom_data::npy_bytes(n, d + 1, x.chain((0..n).map(|i| y(row(i)))));
        bytes += file.len() as u64;
        bench.write(&format!("{part}.npy"), file);
    }
    assert!(bytes > 3 * MEGABYTES * 1_000_000, "{bytes}");
    bench
}

/// The largest resident memory of a command, in bytes.
fn peak(bench: &Bench, line: &str) -> u64 {
    let mut command = bench.command();
    let mut child =
        command.args(crate::support::words(line)).stdout(Stdio::null()).spawn().unwrap();
    let (start, mut peak) = (Instant::now(), 0);
    let status = loop {
        // VmHWM grows only, so that looking now and then is enough
        let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kibibytes.unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(300));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success() && peak > 1000);
    1024 * peak
}

#[test]
fn a_fit_keeps_it() {
    let line = format!(
        "fit *.npy --target c11 --kernel gaussian --landmarks uniform:20 --memory {MEGABYTES}MB \
         --threads 2 -o m.json -q"
    );
    let peak = peak(&bench(), &line);
    assert!(peak <= MEGABYTES * 1_000_000, "{peak} bytes");
}

/// Fits of 5000 rows of 200 000 numbers, of which few are not 0: 8 GB as dense rows.
#[test]
fn sparse_rows_take_the_memory_of_the_file() {
    let bench = Bench::new();
    let (n, d) = (5000, 200_000);
    let line = |i: usize| {
        let word = |t: usize| 1 + (i * (7 + 6 * t) + t * t * 97) % (d - 1);
        let words: std::collections::BTreeSet<usize> = (0..20).map(word).collect();
        let pairs: String = words.iter().map(|word| format!(" {word}:{}", 1 + word % 3)).collect();
        format!("{}{pairs} {d}:1\n", (i % 17) as f64 + 0.5)
    };
    bench.write("w.libsvm", (0..n).map(line).collect::<String>());
    for options in
        ["--landmarks uniform:100 --lambda auto", "--work 1e10 --memory 100MB", "--kernel linear"]
    {
        let fit = format!("fit w.libsvm --sparse {options} --threads 2 -o m.bin -q");
        let peak = peak(&bench, &fit);
        assert!(peak <= 250_000_000, "{options}: {peak} bytes");
        let predict = "predict m.bin w.libsvm --threads 2 -o p.csv -q";
        let peak = self::peak(&bench, predict);
        assert!(peak <= 250_000_000, "{predict}: {peak} bytes");
    }
}

/// A part of the rows with its columns of the factor takes most of it.
#[test]
fn a_greedy_choice_keeps_it() {
    let line = format!(
        "sample *.npy --size 20 --method greedy --memory {MEGABYTES}MB --threads 2 -o s.csv -q"
    );
    let peak = peak(&bench(), &line);
    assert!(peak <= MEGABYTES * 1_000_000, "{peak} bytes");
}
