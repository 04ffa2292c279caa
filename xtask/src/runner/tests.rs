use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::*;
use crate::testing::{SELF_CHECK, self_check};

fn plan(all: &'static [Experiment], out: &Path) -> Plan {
    Plan {
        all,
        chosen: all.iter().map(|experiment| experiment.name).collect(),
        scale: Scale::Smoke,
        seed: 0,
        data_dir: None,
        peers: None,
        out: out.to_owned(),
        fresh: false,
    }
}

fn run_json(out: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_failure_and_a_panic_are_recorded_and_the_rest_goes_on() {
    const ALL: &[Experiment] = &[
        Experiment { name: "errs", run: |_| anyhow::bail!("no <luck>"), ..SELF_CHECK },
        Experiment { name: "panics", run: |_| panic!("index {} out of bounds", 7), ..SELF_CHECK },
        SELF_CHECK,
    ];
    let dir = tempfile::tempdir().unwrap();
    let progress = Progress::captured();
    let code = run(&plan(ALL, dir.path()), &progress).unwrap();
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::FAILURE));
    let json = run_json(dir.path());
    let status: Vec<_> = json["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["status"].as_str().unwrap())
        .collect();
    assert_eq!(status, ["failed", "failed", "done"]);
    assert!(json["experiments"][0]["error"] == "no <luck>");
    assert!(json["experiments"][1]["error"].as_str().unwrap().contains("index 7 out of bounds"));
    let html = std::fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert!(html.contains("no &lt;luck&gt;") && !html.contains("no <luck>"));
    assert!(progress.lines().iter().any(|line| line.contains("FAILED  panics")));
}

#[test]
fn a_second_run_keeps_what_is_finished_and_retries_what_failed() {
    static FINE: AtomicUsize = AtomicUsize::new(0);
    static BAD: AtomicUsize = AtomicUsize::new(0);
    const ALL: &[Experiment] = &[
        Experiment {
            name: "fine",
            run: |context| {
                FINE.fetch_add(1, SeqCst);
                self_check(context)
            },
            ..SELF_CHECK
        },
        Experiment {
            name: "bad",
            run: |_| {
                BAD.fetch_add(1, SeqCst);
                anyhow::bail!("not today")
            },
            ..SELF_CHECK
        },
    ];
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(ALL, dir.path());
    let counts = || (FINE.load(SeqCst), BAD.load(SeqCst));
    run(&plan, &Progress::captured()).unwrap();
    assert_eq!(counts(), (1, 1));

    let progress = Progress::captured();
    run(&plan, &progress).unwrap();
    assert_eq!(counts(), (1, 2));
    assert!(progress.lines().iter().any(|line| line.starts_with("kept    fine")));

    let stored = resume::folder(dir.path(), "fine").join("outcome.json");
    let whole = std::fs::read(&stored).unwrap();
    std::fs::write(&stored, &whole[..whole.len() / 2]).unwrap();
    let progress = Progress::captured();
    run(&plan, &progress).unwrap();
    assert_eq!(counts(), (2, 3));
    assert!(progress.lines().iter().any(|line| line.starts_with("ignored an unfinished file")));

    plan.seed = 5;
    run(&plan, &Progress::captured()).unwrap();
    assert_eq!(counts(), (3, 4));

    plan.fresh = true;
    run(&plan, &Progress::captured()).unwrap();
    assert_eq!(counts(), (4, 5));
}

#[test]
fn one_alone_gives_the_same_bits_and_the_report_keeps_the_others() {
    const ALL: &[Experiment] =
        &[Experiment { name: "first", ..SELF_CHECK }, Experiment { name: "second", ..SELF_CHECK }];
    let (together, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&plan(ALL, together.path()), &Progress::captured()).unwrap();
    let mut only = plan(ALL, alone.path());
    only.chosen = vec!["second"];
    run(&only, &Progress::captured()).unwrap();

    let csv = |dir: &Path| std::fs::read(resume::folder(dir, "second").join("draws.csv")).unwrap();
    assert_eq!(csv(together.path()), csv(alone.path()));
    let names = |dir: &Path| {
        run_json(dir)["experiments"].as_array().unwrap().iter().map(|e| e["name"].clone()).collect()
    };
    let (all, one): (Vec<_>, Vec<_>) = (names(together.path()), names(alone.path()));
    assert_eq!((all.len(), one.len()), (2, 1));

    only.out = together.path().to_owned();
    only.fresh = true;
    run(&only, &Progress::captured()).unwrap();
    let after: Vec<_> = names(together.path());
    assert_eq!(after, all);
}

#[test]
fn the_seed_and_the_name_change_the_bits() {
    const ALL: &[Experiment] =
        &[Experiment { name: "first", ..SELF_CHECK }, Experiment { name: "second", ..SELF_CHECK }];
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(ALL, dir.path());
    let csv = |name| std::fs::read(resume::folder(dir.path(), name).join("draws.csv")).unwrap();
    run(&plan, &Progress::captured()).unwrap();
    let (first, second) = (csv("first"), csv("second"));
    assert_ne!(first, second);
    plan.seed = 1;
    run(&plan, &Progress::captured()).unwrap();
    assert_ne!(first, csv("first"));
}
