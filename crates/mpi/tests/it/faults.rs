//! A job ends if one of its processes fails, and reports the rank of that process.

use crate::support::{Bench, program, wait};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const FIT: &str = "fit shards --target y --kernel gaussian --bandwidth 2 --landmarks uniform:60 \
                   --memory 100MB -q -o m.json";

#[test]
fn a_bad_file_of_one_process_is_told_with_its_rank() {
    let bench = Bench::new();
    bench.shards(6000, 3);
    let good = String::from_utf8(bench.read("shards/2.csv")).unwrap();
    let start = Instant::now();
    // all processes read the first thousand rows of a file; an error there is reported once
    for (text, rank, part) in [
        (good.clone() + "1,2\n", "rank 2: ", "shards/2.csv:"),
        (good.replacen(",red", ",red\n1,2", 1), "", "shards/2.csv:"),
        ("a,b\n1,2\n".to_owned(), "", "shards/2.csv"),
        ("a,b,y,c,kind\n".to_owned(), "", "shards/2.csv"),
    ] {
        bench.write("shards/2.csv", &text);
        let run = bench.job(3, FIT);
        assert_eq!(run.code, Some(3), "{run:?}");
        let error = format!("error: {rank}");
        assert!(run.err.contains(&error) && run.err.contains(part), "{}", run.err);
        assert_eq!(run.err.matches("error: ").count(), 1, "{}", run.err);
        assert!(!bench.path("m.json").exists());
    }
    // whether the target is a number is decided by the rows of all processes
    bench.write("shards/2.csv", good.replacen(",red", ",red\n1,2,x,4,red", 1));
    let run = bench.job(3, FIT);
    assert_eq!(run.code, Some(3), "{run:?}");
    let (text, place) = ("\"x\" in line ", "of shards/2.csv");
    assert!(run.err.contains(text) && run.err.contains(place), "{}", run.err);
    assert!(start.elapsed() < Duration::from_secs(60), "they end at once");
}

/// An error that all processes find is reported once, without a rank.
#[test]
fn a_wrong_command_is_told_once() {
    let bench = Bench::new();
    bench.shards(300, 2);
    for (words, status, part) in [
        ("fit shards --target nothing -o m.json", 3, "nothing"),
        ("fit no/*.csv --target y -o m.json", 3, "no file is there"),
        ("fit shards --target y --hold-out 0.1 -o m.json", 2, "--hold-out"),
        ("fit shards --target y --wrong", 2, "--wrong"),
        ("fit - --target y -o m.json", 2, "standard input"),
        ("sample shards --size 3", 2, "--method greedy"),
        ("inspect shards", 2, "use `nystrom`"),
        ("scores shards --method exact", 2, "needs all rows at once"),
        ("scores shards --memory 20MB --drop y,kind -o s.csv", 4, "work in blocks"),
        ("fit shards --target y --memory 20MB -o m.json", 4, "a fit in blocks"),
    ] {
        let run = bench.job(3, words);
        assert_eq!(run.code, Some(status), "{words}: {run:?}");
        assert_eq!(run.err.matches("error: ").count(), 1, "{words}: {}", run.err);
        assert!(run.err.contains(part), "{words}: {}", run.err);
    }
}

#[test]
fn the_same_rows_twice_are_noticed_across_processes() {
    let bench = Bench::new();
    bench.shards(3000, 3);
    bench.write("shards/2.csv", bench.read("shards/0.csv"));
    let run = bench.job(3, FIT);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("hold the same rows"), "{}", run.err);
}

#[test]
fn a_panic_of_one_process_ends_the_job() {
    let bench = Bench::new();
    for (words, text) in [("panic 2", "on purpose"), ("thread 1", "in a thread")] {
        let run = bench.faults(3, words, &[]);
        let rank = words.split_once(' ').unwrap().1;
        assert_eq!(run.code, Some(101), "{run:?}");
        assert!(run.err.contains(&format!("rank {rank}: ")) && run.err.contains(text), "{run:?}");
    }
}

#[test]
fn a_process_that_is_killed_ends_the_job() {
    let bench = Bench::new();
    bench.shards(100_000, 4);
    let words = FIT.replace("uniform:60", "uniform:900");
    let job = bench.start(3, &program(), &words, &[]);
    let last = *ranks(&job, 3).last().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    kill(last);
    let run = wait(job, &words);
    assert!(run.code.is_none_or(|code| code != 0), "{run:?}");
    assert!(!bench.path("m.json").exists(), "it was not done before: {run:?}");
}

/// A fit that is killed repeatedly and continued with different numbers of processes gives the
/// model of an undisturbed run.
#[test]
fn a_killed_job_continues_with_any_number_of_processes() {
    let bench = Bench::new();
    bench.shards(60_000, 5); // eight leaves
    let fit = FIT.replace("uniform:60", "uniform:500").replace(" -o m.json", "");
    bench.alone(&format!("{fit} -o alone.json"));
    let line = format!("{fit} -o m.json --checkpoint state --checkpoint-every 0.01s");
    let sums = || -> Vec<String> {
        let entries = std::fs::read_dir(bench.path("state")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("sums")).collect()
    };
    // jobs with 3, 2, 4, 3, … processes; a job that ends before it is killed resets the count
    let mut kills = 0;
    for (attempt, size) in [3, 2, 4].into_iter().cycle().take(36).enumerate() {
        let before = sums().len();
        let mut job = bench.start(size, &program(), &line, &[]);
        let last = *ranks(&job, size).last().unwrap();
        let start = Instant::now();
        while sums().len() <= before && job.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(60), "a process saves its sums");
            std::thread::sleep(Duration::from_millis(2));
        }
        kill(last);
        let is_killed = wait(job, &line).code != Some(0);
        kills = if is_killed { kills + 1 } else { 0 };
        let enough = if attempt < 12 { 2 } else { 1 };
        if kills >= enough && !sums().is_empty() {
            break;
        }
    }
    assert!(kills >= 1 && !sums().is_empty(), "{kills} kills, {:?}", sums());
    // `nystrom` continues from the same checkpoint
    let run = bench.alone(&line.replace(" -q", ""));
    assert!(run.err.contains("going on from the checkpoint"), "{}", run.err);
    assert!(bench.read("m.json") == bench.read("alone.json"));
    assert!(!bench.path("state").exists(), "nothing is left to go on from");
}

/// The processes of a job, in the order of their ranks.
fn ranks(job: &Child, size: usize) -> Vec<u32> {
    let (id, start) = (job.id(), Instant::now());
    loop {
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let ranks: Vec<u32> = children.split_whitespace().map(|id| id.parse().unwrap()).collect();
        if ranks.len() == size {
            return ranks;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{size} processes start");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends SIGKILL to a process, which may have ended already.
fn kill(process: u32) {
    let killed = Command::new("kill").args(["-9", &process.to_string()]).output();
    assert!(killed.is_ok(), "kill is there");
}

/// Messages that are cut into pieces of seven bytes, or of one, arrive.
#[test]
fn messages_of_any_length_arrive() {
    let bench = Bench::new();
    for (size, limit) in [(1, "7"), (2, "7"), (4, "7"), (3, "1")] {
        let limit = format!("NYSTROM_MPI_MESSAGE={limit}");
        let run = bench.faults(size, "messages", &["-x", &limit]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.out.contains("all messages came"), "{run:?}");
    }
}

#[test]
fn mixed_processors_are_reported() {
    let bench = Bench::new();
    let (with, program) = ("NYSTROM_MPI_INSTRUCTIONS", crate::support::program());
    let [one, other] = ["V4", "V3"].map(|name| format!("{with}={name}"));
    let program = program.to_str().unwrap();
    let rest = ["-x", &one, program, "--help", ":", "-n", "1", "-x", &other];
    let run = wait(bench.start(2, program.as_ref(), "--help", &rest), "--help");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("rank 0 computes with V4, rank 2 with V3"), "{}", run.err);
}
