//! What is kept of one run of one experiment, and of the whole run; finished experiments also on
//! disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::atomic;
use crate::context::Scale;
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
    /// The experiment's name.
    pub name: String,
    /// Short citation of its paper.
    pub paper: String,
    /// Which figure or table.
    pub figure: String,
    /// How it ended.
    pub status: Status,
    /// At which scale it ran.
    pub scale: Scale,
    /// Wall time.
    pub seconds: f64,
    /// Peak of resident memory in MB, where the system tells; it includes what the program held
    /// before.
    pub peak_mb: Option<f64>,
    /// Threads it ran with.
    pub threads: usize,
    /// Vector registers it ran with: `V4`.
    #[serde(default)]
    pub instruction_set: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// Why it failed.
    pub error: Option<String>,
    /// What it found; empty if it failed.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A whole run: what the report is made from, and what is compared with another. Its JSON is
/// `run.json`.
#[derive(Serialize, Deserialize)]
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
    pub instruction_set: String,
    /// Threads in use.
    pub threads: usize,
    /// When the run began (RFC 3339).
    pub started: String,
    /// When it ended; absent while it goes on.
    pub finished: Option<String>,
    /// `--data` as given.
    #[serde(skip)]
    pub data_dir: Option<String>,
    /// Every experiment there is; none in a run that was read from a file.
    #[serde(skip)]
    pub registry: &'static [Experiment],
    /// What has run, in the order of the registry.
    #[serde(rename = "experiments", serialize_with = "without_figures")]
    pub records: Vec<Record>,
}

/// The program, and what it was built of.
#[derive(Serialize, Deserialize)]
pub struct Versions {
    /// Version of the workspace.
    pub nystrom: String,
    /// The compiler.
    pub rustc: Option<String>,
    /// The commit of the source.
    pub git: Option<String>,
    /// Fingerprint of this program.
    pub build: String,
}

/// The records without tables, plots and notes, which the report has in files of their own.
fn without_figures<S: Serializer>(records: &[Record], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(records.iter().cloned().map(|record| {
        let Outcome { scale_note, claims, missing, .. } = record.outcome;
        Record { outcome: Outcome { scale_note, claims, missing, ..Outcome::default() }, ..record }
    }))
}

impl Run {
    /// The record of an experiment, if it has run.
    pub fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name == name)
    }

    /// The experiments that have run, with their records.
    pub fn ran<'a>(
        &'a self,
        experiments: &'a [Experiment],
    ) -> impl Iterator<Item = (&'a Experiment, &'a Record)> {
        experiments.iter().filter_map(|e| Some((e, self.record(e.name)?)))
    }

    /// The command that computes just this experiment anew, in this run's setting.
    pub fn command(&self, experiment: &Experiment) -> String {
        let mut command = format!("cargo xtask reproduce --only {}", experiment.name);
        if let Scale::Smoke | Scale::Full = self.scale {
            command += &format!(" --{}", self.scale);
        }
        if self.seed != 0 {
            command += &format!(" --seed {}", self.seed);
        }
        let needs_data = self.scale != Scale::Short && !experiment.data.is_empty();
        if needs_data || self.scale == Scale::Default {
            let dir = self.data_dir.as_deref().unwrap_or("DIR");
            command += &format!(" --data {}", shlex::try_quote(dir).unwrap_or(dir.into()));
        }
        command + " --fresh"
    }
}

/// The folder of one experiment in the report.
pub fn folder(out: &Path, name: &str) -> PathBuf {
    out.join("experiments").join(name)
}

/// Where the record of a finished experiment lies with its key, of all that the result depends on
/// (the program too). It is written atomically, so it is there whole or not at all.
fn stored(out: &Path, name: &str) -> PathBuf {
    folder(out, name).join("outcome.json")
}

impl Record {
    /// Stores the record, so that an interrupted run continues where it stopped.
    pub fn save(&self, out: &Path, key: &Value) -> anyhow::Result<()> {
        atomic::write(&stored(out, &self.name), &serde_json::to_vec_pretty(&(key, self))?).map(drop)
    }

    /// Looks for the finished record of an experiment under this key.
    ///
    /// # Errors
    /// If there is a file that cannot be read.
    pub fn load(out: &Path, name: &str, key: &Value) -> anyhow::Result<Option<Record>> {
        let path = stored(out, name);
        if !path.exists() {
            return Ok(None);
        }
        let (of, record): (Value, Record) = atomic::read(&path)?;
        Ok((of == *key).then_some(record))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
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

    #[test]
    fn what_was_saved_is_found_again_to_the_bit_and_never_in_part() {
        let (dir, key) = (tempfile::tempdir().unwrap(), Value::from("key"));
        let one = Record { name: "one".into(), ..record() };
        let load = |key: &Value| Record::load(dir.path(), "one", key);
        assert_eq!(load(&key).unwrap(), None);
        one.save(dir.path(), &key).unwrap();
        let back = load(&key).unwrap().unwrap();
        // NaN is unlike itself: compare what would be written
        assert_eq!(serde_json::to_string(&back).unwrap(), serde_json::to_string(&one).unwrap());
        assert_eq!(load(&Value::from("another")).unwrap(), None);
        let path = folder(dir.path(), "one").join("outcome.json");
        let whole = std::fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(7) {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(load(&key).is_err(), "cut at {length}");
        }
    }
}
