//! What is kept of one run of one experiment, and of the whole run.

use serde::{Deserialize, Serialize, Serializer};

use crate::claim::Claim;
use crate::context::Scale;
use crate::datasets::MissingData;
use crate::experiment::{Experiment, Outcome};

/// How an experiment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It ran; its claims are checked.
    Done,
    /// Nothing could be computed: its data are missing.
    NoData,
    /// It returned an error or panicked.
    Failed,
}

/// One experiment, run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// How it ended.
    pub status: Status,
    /// Why it failed.
    pub error: Option<String>,
    /// At which scale it ran.
    pub scale: Scale,
    /// Wall time.
    pub seconds: f64,
    /// Peak of resident memory in MB, where the system tells; it includes what the program held
    /// before.
    pub peak_mb: Option<f64>,
    /// When it began (RFC 3339).
    pub started: String,
    /// Threads it ran with.
    pub threads: usize,
    /// Vector registers it ran with: `V4`.
    pub instruction_set: String,
    /// Fingerprint of the program that ran it.
    pub build: String,
    /// What it found; empty if it failed.
    pub outcome: Outcome,
}

/// A whole run: what the report is made from. Its JSON is `run.json`.
#[derive(Serialize)]
pub struct Run {
    /// Seed given on the command line.
    pub seed: u64,
    /// Scale given on the command line.
    pub scale: Scale,
    /// What ran.
    pub versions: Versions,
    /// The processor.
    pub cpu: Option<String>,
    /// Vector registers in use.
    pub instruction_set: &'static str,
    /// Threads in use.
    pub threads: usize,
    /// When the run began (RFC 3339).
    pub started: String,
    /// When it ended; absent while it goes on.
    pub finished: Option<String>,
    /// `--data` as given.
    #[serde(skip)]
    pub data_dir: Option<String>,
    /// Every experiment of the registry in its order, with its record if it has one.
    #[serde(rename = "experiments", serialize_with = "recorded")]
    pub entries: Vec<Entry>,
}

/// The program, and what it was built of.
#[derive(Serialize)]
pub struct Versions {
    /// Version of the workspace.
    pub nystrom: &'static str,
    /// The compiler.
    pub rustc: Option<&'static str>,
    /// The commit of the source.
    pub git: Option<String>,
    /// Fingerprint of this program.
    pub build: String,
}

/// An experiment and its record.
#[derive(Clone)]
pub struct Entry {
    /// What was to be run.
    pub experiment: Experiment,
    /// What came of it; none if it was not asked for, or its turn has not come.
    pub record: Option<Record>,
}

/// One experiment of `run.json`.
#[derive(Serialize)]
struct Recorded<'a> {
    name: &'a str,
    paper: &'a str,
    figure: &'a str,
    status: Status,
    scale: Scale,
    sizes: &'a str,
    seconds: f64,
    peak_mb: Option<f64>,
    threads: usize,
    instruction_set: &'a str,
    started: &'a str,
    error: Option<&'a str>,
    claims: &'a [Claim],
    missing: &'a [MissingData],
}

/// The experiments that have run.
fn recorded<S: Serializer>(entries: &[Entry], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(entries.iter().filter_map(|Entry { experiment, record }| {
        let record = record.as_ref()?;
        Some(Recorded {
            name: experiment.name,
            paper: experiment.paper.short,
            figure: experiment.figure,
            status: record.status,
            scale: record.scale,
            sizes: &record.outcome.scale_note,
            seconds: record.seconds,
            peak_mb: record.peak_mb,
            threads: record.threads,
            instruction_set: &record.instruction_set,
            started: &record.started,
            error: record.error.as_deref(),
            claims: &record.outcome.claims,
            missing: &record.outcome.missing,
        })
    }))
}

impl Run {
    /// What has run.
    pub fn records(&self) -> impl Iterator<Item = (&Experiment, &Record)> {
        self.entries.iter().filter_map(|entry| Some((&entry.experiment, entry.record.as_ref()?)))
    }
}

impl Entry {
    /// The command that computes just this experiment anew, in this run's setting.
    pub fn command(&self, run: &Run) -> String {
        let mut command = format!("cargo xtask reproduce --only {}", self.experiment.name);
        match run.scale {
            Scale::Default => {}
            scale => command += &format!(" --{}", scale.word()),
        }
        if run.seed != 0 {
            command += &format!(" --seed {}", run.seed);
        }
        if !self.experiment.data.is_empty() {
            let dir = run.data_dir.as_deref().unwrap_or("DIR");
            command += &format!(" --data {}", shlex::try_quote(dir).unwrap_or(dir.into()));
        }
        command + " --fresh"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{record, run_with};

    #[test]
    fn run_json_has_the_agreed_shape() {
        let run = serde_json::to_value(run_with(record())).unwrap();
        let has = |value: &Value, keys: &str| {
            let there = value.as_object().unwrap().keys().map(String::as_str);
            assert_eq!(there.collect::<Vec<_>>().join(" "), keys);
        };
        has(&run, "cpu experiments finished instruction_set scale seed started threads versions");
        has(&run["versions"], "build git nystrom rustc");
        let experiments = run["experiments"].as_array().unwrap();
        assert_eq!(experiments.len(), 1, "what has not run is not listed");
        let first = &experiments[0];
        has(
            first,
            "claims error figure instruction_set missing name paper peak_mb scale seconds sizes \
             started status threads",
        );
        let claims = &first["claims"];
        has(&claims[0], "holds kind measured paper standard_error text time value");
        assert_eq!(
            json!([run["scale"], first["status"], first["instruction_set"], claims[0]["kind"]]),
            json!(["smoke", "done", "V3", "printed"])
        );
        let holds: Vec<&Value> = (0..3).map(|i| &claims[i]["holds"]).collect();
        assert_eq!(holds, [&json!(true), &json!(false), &Value::Null]);
    }
}
