//! `run.json`: the verdicts for programs.

use nystrom::linalg_core::instruction_set;
use serde::Serialize;

use crate::context::Scale;
use crate::datasets::MissingData;
use crate::experiment::Claim;
use crate::machine;
use crate::record::{Entry, Record, Run, Status};

#[derive(Serialize)]
struct RunJson<'a> {
    seed: u64,
    scale: Scale,
    versions: Versions<'a>,
    cpu: Option<&'a str>,
    instruction_set: &'a str,
    threads: usize,
    started: &'a str,
    finished: Option<&'a str>,
    experiments: Vec<ExperimentJson<'a>>,
}

#[derive(Serialize)]
struct Versions<'a> {
    nystrom: &'a str,
    rustc: Option<&'a str>,
    git: Option<&'a str>,
    build: &'a str,
}

#[derive(Serialize)]
struct ExperimentJson<'a> {
    name: &'a str,
    paper: &'a str,
    figure: &'a str,
    status: Status,
    scale: Scale,
    sizes: &'a str,
    seconds: f64,
    peak_mb: Option<f64>,
    threads: usize,
    started: &'a str,
    error: Option<&'a str>,
    claims: &'a [Claim],
    missing: &'a [MissingData],
}

/// The whole run; experiments that have not run are left out.
pub fn run(run: &Run) -> anyhow::Result<Vec<u8>> {
    let json = RunJson {
        seed: run.seed,
        scale: run.scale,
        versions: Versions {
            nystrom: env!("CARGO_PKG_VERSION"),
            rustc: machine::rustc_version(),
            git: run.revision.as_deref(),
            build: &run.build,
        },
        cpu: run.cpu.as_deref(),
        instruction_set: instruction_set(),
        threads: run.threads,
        started: &run.started,
        finished: run.finished.as_deref(),
        experiments: run
            .entries
            .iter()
            .filter_map(|entry| Some(experiment(entry, entry.record.as_ref()?)))
            .collect(),
    };
    Ok(serde_json::to_vec_pretty(&json)?)
}

fn experiment<'a>(entry: &'a Entry, record: &'a Record) -> ExperimentJson<'a> {
    ExperimentJson {
        name: entry.experiment.name,
        paper: entry.experiment.paper.short,
        figure: entry.experiment.figure,
        status: record.status,
        scale: record.scale,
        sizes: &record.outcome.scale_note,
        seconds: record.seconds,
        peak_mb: record.peak_mb,
        threads: record.threads,
        started: &record.started,
        error: record.error.as_deref(),
        claims: &record.outcome.claims,
        missing: &record.outcome.missing,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{record, run_with};

    #[test]
    fn run_json_has_the_agreed_shape() {
        let json: serde_json::Value =
            serde_json::from_slice(&super::run(&run_with(record())).unwrap()).unwrap();
        assert_eq!(json["seed"], 3);
        assert_eq!(json["scale"], "smoke");
        assert_eq!(json["cpu"], "Abacus");
        assert_eq!(json["instruction_set"], super::instruction_set());
        assert_eq!(json["threads"], 2);
        assert_eq!(json["versions"]["nystrom"], env!("CARGO_PKG_VERSION"));
        assert_eq!(json["started"], "2026-01-01T00:00:00Z");
        assert!(json["finished"].is_null());

        let experiments = json["experiments"].as_array().unwrap();
        assert_eq!(experiments.len(), 1, "what has not run is not listed");
        let first = &experiments[0];
        assert_eq!(first["name"], "self-check");
        assert_eq!(first["paper"], "Nobody & No One 1901");
        assert_eq!(first["figure"], "Table 0");
        assert_eq!(first["status"], "done");
        assert_eq!(first["scale"], "smoke");
        assert_eq!(first["seconds"].as_f64(), Some(0.1 + 0.2));
        assert_eq!(first["peak_mb"].as_f64(), Some(12.5));
        let claim = first["claims"][0].as_object().unwrap();
        let mut keys: Vec<_> = claim.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            ["holds", "kind", "measured", "paper", "standard_error", "text", "time", "value"]
        );
        assert_eq!((&claim["holds"], &claim["kind"]), (&true.into(), &"printed".into()));
        assert_eq!(first["claims"][1]["holds"], false, "NaN does not hold");
        assert!(
            first["claims"][2]["holds"].is_null() && first["claims"][2]["standard_error"] == 0.25
        );
    }

    #[test]
    fn statuses_are_the_agreed_words() {
        use crate::record::Status::{Done, Failed, NoData};
        let words = serde_json::to_string(&[Done, NoData, Failed]).unwrap();
        assert_eq!(words, r#"["done","no-data","failed"]"#);
    }
}
