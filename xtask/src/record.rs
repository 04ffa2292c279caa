//! What is kept of one run of one experiment, and of the whole run.

use serde::{Deserialize, Serialize};

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
    /// Fingerprint of the program that ran it.
    pub build: String,
    /// What it found; empty if it failed.
    pub outcome: Outcome,
}

/// A whole run: what the report and `run.json` are made from.
pub struct Run {
    /// Seed given on the command line.
    pub seed: u64,
    /// Scale given on the command line.
    pub scale: Scale,
    /// Threads in use.
    pub threads: usize,
    /// `--data` as given.
    pub data_dir: Option<String>,
    /// The processor.
    pub cpu: Option<String>,
    /// The commit of the source.
    pub revision: Option<String>,
    /// Fingerprint of this program.
    pub build: String,
    /// When the run began (RFC 3339).
    pub started: String,
    /// When it ended; absent while it goes on.
    pub finished: Option<String>,
    /// Every experiment of the registry in its order, with its record if it has one.
    pub entries: Vec<Entry>,
}

/// An experiment and its record.
#[derive(Clone)]
pub struct Entry {
    /// What was to be run.
    pub experiment: Experiment,
    /// What came of it; none if it was not asked for, or its turn has not come.
    pub record: Option<Record>,
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
