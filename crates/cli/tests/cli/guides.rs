//! The commands that README, `docs/start.md` and the guides show run, and print what is shown.

use crate::support::{Bench, table};
use nystrom::prelude::*;
use std::path::{Path, PathBuf};

/// First words of lines in `sh` blocks that are not run: what they need is not there.
const OTHERS: [&str; 3] = ["cargo", "mpirun", "nystrom-gpu"];

/// A job for SLURM, which is not run either.
const JOB: &str = "#!/bin/bash";

/// Numbers shown may be this many times larger or smaller than on another processor.
const FACTOR: f64 = 3.0;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, `docs/start.md` and all guides.
fn pages() -> Vec<PathBuf> {
    let guides = std::fs::read_dir(root().join("docs/guides")).unwrap();
    let mut pages: Vec<_> = guides.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    assert!(pages.len() >= 8, "{pages:?}");
    pages.extend(["README.md", "docs/start.md"].map(|name| root().join(name)));
    pages
}

/// Language and text of each block of code.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    let fences = document.split("\n```").skip(1).step_by(2);
    fences.map(|block| block.split_once('\n').unwrap()).collect()
}

/// The lines of a shell block, without comments; a line that ends with `\` includes the next.
fn lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split(" #").next().unwrap().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Houses with their prices: numbers and texts.
fn houses(n: usize, rng: &mut dyn Rng) -> Vec<(String, f64)> {
    let house = |_| {
        let [size, age, noise] = std::array::from_fn(|_| rng.random::<f64>());
        let (size, age) = (50.0 + 150.0 * size, (100.0 * age).floor());
        let town = ["Brest", "Lille", "Paris"][rng.random_range(0..3)];
        let price = 2.0 * size - 0.5 * age + if town == "Paris" { 100.0 } else { 0.0 };
        (format!("{size:.1},{age},{town}"), price + 2.0 * noise)
    };
    (0..n).map(house).collect()
}

/// Molecules with fingerprints of 64 bits, and an activity by some of them.
fn molecules(n: usize, rng: &mut dyn Rng) -> String {
    let line = |i: usize| {
        let bits = rng.random::<u64>() & rng.random::<u64>();
        let activity = f64::from((bits >> 32).count_ones()) + rng.random::<f64>();
        format!("m{i},{bits:016x},{activity:.2}\n")
    };
    format!("name,fp,activity\n{}", (0..n).map(line).collect::<String>())
}

/// The counts of four fragments in molecules, and an activity by two of them.
fn fragments(n: usize, rng: &mut dyn Rng) -> String {
    let line = |_| {
        let [a, b, c, d] = std::array::from_fn(|_| rng.random_range(0..5_u32));
        format!("{a},{b},{c},{d},{}\n", a + 2 * b.min(c))
    };
    format!("ring,amine,acid,halogen,activity\n{}", (0..n).map(line).collect::<String>())
}

/// Texts of a few of 60 words, with a label that follows from the words.
fn words(n: usize, label: impl Fn(f64) -> String, rng: &mut dyn Rng) -> String {
    let mut line = |_| {
        let words: Vec<u32> = (1..61).filter(|_| rng.random_bool(0.1)).collect();
        let sum: f64 = words.iter().map(|word| f64::from(*word).sin()).sum();
        let pairs: String = words.iter().map(|word| format!(" {word}:1")).collect();
        format!("{}{pairs}\n", label(sum))
    };
    (0..n).map(&mut line).collect()
}

/// A folder with the tables that the pages name.
fn tables() -> Bench {
    let (bench, rng) = (Bench::new(), &mut Pcg64::seed_from_u64(5));
    for (name, n) in [("", 300), ("new-", 100)] {
        let (mut prices, mut classes) =
            ("size,age,town,price\n".to_owned(), "a,b,c,class\n".to_owned());
        for (house, price) in houses(n, rng) {
            let class = if price < 250.0 { "cheap" } else { "dear" };
            prices += &format!("{house},{price:.2}\n");
            classes += &format!("{house},{class}\n");
        }
        bench.write(&format!("{name}houses.csv"), prices);
        bench.write(&format!("{name}stars.csv"), classes);
    }
    for (name, n) in [("", 300), ("new-", 100)] {
        bench.write(&format!("{name}molecules.csv"), molecules(n, rng));
        bench.write(&format!("{name}fragments.csv"), fragments(n, rng));
    }
    for (name, n) in [("", 300), ("new-", 100)] {
        let kind = |sum: f64| if sum > 0.0 { "spam" } else { "ham" }.to_owned();
        bench.write(&format!("{name}mails.libsvm"), words(n, kind, rng));
    }
    bench.write("reviews.libsvm", words(300, |sum| format!("{sum:.2}"), rng));
    std::fs::create_dir(bench.path("shards")).unwrap();
    for seed in 0..4 {
        bench.write(&format!("shards/{seed}.csv"), table(80, seed));
    }
    let plant = root().join("crates/data/src/catalog/embedded/ccpp.csv.gz");
    std::fs::copy(plant, bench.path("ccpp.csv.gz")).unwrap();
    bench
}

/// The command with a small effort where it searches: a page tells of the default, a minute each.
fn small(command: &str) -> String {
    let chosen = ["--kernel", "--landmarks", "--lambda"].iter().any(|o| command.contains(o));
    let searches = command.starts_with("fit ") && !chosen;
    format!("{command}{}", if searches { " --work 1e9" } else { "" })
}

/// What comes before two blanks in a row: the name of a printed line.
fn label(line: &str) -> &str {
    line.split("  ").next().unwrap()
}

fn numbers(line: &str) -> Vec<f64> {
    let words = line.split([' ', ',', '(', ')']);
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Whether a line that a page shows is that which was printed: its name and, on a table that is the
/// same everywhere, about its numbers.
fn agrees(shown: &str, printed: &str, same_table: bool) -> bool {
    let (ours, theirs) = (numbers(shown), numbers(printed));
    let near = |(a, b): (&f64, &f64)| a == b || (1.0 / FACTOR..FACTOR).contains(&(a / b));
    let all_near = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(near);
    label(shown) == label(printed) && (all_near || !same_table)
}

#[test]
fn commands_of_the_pages_run_and_print_what_is_shown() {
    for page in pages() {
        let (bench, text) = (tables(), std::fs::read_to_string(&page).unwrap());
        let (mut printed, mut same_table) = (String::new(), false);
        for (language, block) in blocks(&text) {
            match language {
                "sh" if block.starts_with(JOB) => {}
                "sh" => {
                    printed.clear();
                    for line in lines(block) {
                        let Some(command) = line.strip_prefix("nystrom ") else {
                            let known = OTHERS.contains(&line.split(' ').next().unwrap());
                            assert!(known, "{}: `{line}` is not run", page.display());
                            continue;
                        };
                        same_table = command.contains("ccpp");
                        let run = bench.ok(&small(command));
                        printed += &(run.out + &run.err);
                    }
                    continue;
                }
                "text" if !printed.is_empty() => {
                    for shown in block.lines() {
                        let there = printed.lines().any(|line| agrees(shown, line, same_table));
                        assert!(there, "{}: `{shown}` is not in\n{printed}", page.display());
                    }
                }
                _ => {}
            }
            printed.clear(); // what follows is not of these commands
        }
    }
}
