use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use clap::FromArgMatches;

use super::*;
use crate::record::folder;
use crate::testing::{SELF_CHECK, self_check};

const TWO: &[Experiment] =
    &[Experiment { name: "first", ..SELF_CHECK }, Experiment { name: "second", ..SELF_CHECK }];

/// The options of this command line.
fn options(line: &str) -> Options {
    let command = Options::augment_args(clap::Command::new("reproduce"));
    let matches = command.get_matches_from(line.split(' '));
    Options::from_arg_matches(&matches).unwrap()
}

/// A smoke run with these options into a folder, and what it said.
fn smoke(all: &'static [Experiment], out: &Path, line: &str) -> (Run, Vec<String>) {
    let options = Options { smoke: true, out: out.to_owned(), ..options(line) };
    let (chosen, progress) = (options.chosen(all).unwrap(), Progress::captured());
    (reproduce(all, &chosen, &options, &progress).unwrap(), progress.lines())
}

fn draws(out: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder(out, name).join("draws.csv")).unwrap()
}

#[test]
fn a_failure_and_a_panic_are_recorded_and_the_rest_goes_on() {
    const ALL: &[Experiment] = &[
        Experiment { name: "errs", run: |_| bail!("no <luck>"), ..SELF_CHECK },
        Experiment { name: "panics", run: |_| panic!("index {} out of bounds", 7), ..SELF_CHECK },
        SELF_CHECK,
    ];
    let dir = tempfile::tempdir().unwrap();
    let (run, said) = smoke(ALL, dir.path(), "reproduce");
    let [errs, panics, fine] = [0, 1, 2].map(|i| &run.records[i]);
    assert_eq!((errs.status, errs.error.as_deref()), (Status::Failed, Some("no <luck>")));
    assert_eq!(panics.error.as_deref(), Some("panicked: index 7 out of bounds"));
    assert_eq!((panics.status, fine.status), (Status::Failed, Status::Done));
    let html = std::fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert!(html.contains("no &lt;luck&gt;") && !html.contains("no <luck>"));
    assert!(said.iter().any(|line| line.starts_with("FAILED  panics")), "{said:?}");
}

#[test]
fn a_second_run_keeps_what_is_finished_and_retries_what_failed() {
    static RUNS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    const ALL: &[Experiment] = &[
        Experiment {
            name: "fine",
            run: |context| {
                // not when its claims are judged on other values
                let measures = context.tape.lock().unwrap().playing.is_none();
                RUNS[0].fetch_add(usize::from(measures), SeqCst);
                self_check(context)
            },
            ..SELF_CHECK
        },
        Experiment {
            name: "bad",
            run: |_| {
                RUNS[1].fetch_add(1, SeqCst);
                bail!("not today")
            },
            ..SELF_CHECK
        },
    ];
    let dir = tempfile::tempdir().unwrap();
    let runs = |line, first: &str| {
        let said = smoke(ALL, dir.path(), line).1;
        assert!(said[0].starts_with(first), "{said:?}");
        RUNS.each_ref().map(|runs| runs.load(SeqCst))
    };
    assert_eq!(runs("reproduce", "running fine"), [1, 1]);
    assert_eq!(runs("reproduce", "kept    fine"), [1, 2]);
    let stored = folder(dir.path(), "fine").join("outcome.json");
    let whole = std::fs::read(&stored).unwrap();
    std::fs::write(&stored, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(runs("reproduce", "ignored an unfinished file"), [2, 3]);
    assert_eq!(runs("reproduce --seed 5", "running fine"), [3, 4]);
    assert_eq!(runs("reproduce --seed 5 --fresh", "running fine"), [4, 5]);
}

#[test]
fn one_alone_gives_the_same_bits_and_the_report_keeps_the_others() {
    let (together, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let records = |out: &Path, line| smoke(TWO, out, line).0.records.len();
    assert_eq!(records(together.path(), "reproduce"), 2);
    assert_eq!(records(alone.path(), "reproduce --only second"), 1);
    let [first, second] = ["first", "second"].map(|name| draws(together.path(), name));
    assert_eq!(draws(alone.path(), "second"), second);
    assert_eq!(records(together.path(), "reproduce --only second --fresh"), 2);
    assert_ne!(first, second, "the name changes the bits");
    assert_eq!(records(together.path(), "reproduce --seed 1"), 2);
    assert_ne!(first, draws(together.path(), "first"), "so does the seed");
}

#[test]
fn an_unknown_name_is_answered_with_the_names() {
    let error = options("reproduce --only frist").chosen(TWO).unwrap_err().to_string();
    assert!(error.contains("`frist`") && error.contains("first\n  second"), "{error}");
}
