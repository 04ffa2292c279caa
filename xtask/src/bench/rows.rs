//! `benches/rows.toml`: what is compared with what, and what is aimed at. The comments there say
//! how measured values are named.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use super::Run;

/// The file, below the workspace.
const PATH: &str = "benches/rows.toml";

/// Names of measured values, each with its factor.
pub type Sum = BTreeMap<String, f64>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    pub rate: Vec<Rate>,
    pub row: Vec<Row>,
    pub memory: Vec<Row>,
    pub plot: Vec<Growth>,
}

/// Work that the machine does in a second.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    pub name: String,
    /// What the page calls it; none if the page does not name it.
    pub words: Option<String>,
    bench: String,
    work: f64,
}

/// A time, or a peak of memory in MiB, and what it is compared with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub what: String,
    /// Whether the page's table has it.
    #[serde(default)]
    pub page: bool,
    pub ours: Sum,
    /// The least time the machine allows, where it is known.
    pub limit: Option<Sum>,
    /// At most this multiple of the limit is the aim; of memory, this many MiB.
    pub within: Option<f64>,
    #[serde(default)]
    pub rivals: Vec<Rival>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    pub name: String,
    /// At least this ratio, theirs over ours, is the aim; of memory, at most this one, ours over
    /// theirs.
    pub aim: f64,
    /// The name of its value.
    pub of: String,
}

/// A plot of time against size.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    pub id: String,
    pub title: String,
    pub x: String,
    pub y: String,
    pub curves: Vec<Curve>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    pub name: String,
    /// The key of the method that it looks like.
    pub look: String,
    /// The names of its benches, up to the size at their end.
    pub bench: String,
}

impl Rows {
    /// Reads the file of the workspace.
    pub fn read(workspace: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(workspace.join(PATH));
        toml::from_str(&text.with_context(|| format!("cannot read {PATH}"))?).context(PATH)
    }

    /// The runs of the peers that the rows need, each once, and the machine's product by NumPy.
    pub fn peer_runs(&self) -> Vec<String> {
        let mut runs = vec!["T7 --tool gemm".to_owned()];
        for rival in self.row.iter().chain(&self.memory).flat_map(|row| &row.rivals) {
            if let Some((run, _)) = rival.of.split_once(": ")
                && !runs.iter().any(|known| known == run)
            {
                runs.push(run.to_owned());
            }
        }
        runs
    }

    /// Every value of a run by its name.
    pub fn values(&self, run: &Run) -> BTreeMap<String, f64> {
        let mut values = run.medians.clone();
        for line in run.memory.iter().chain(&run.peers) {
            let size = match (line.text("dtype"), line.text("size")) {
                (Some(scalar), Some(size)) => format!(" {scalar} {size}"),
                _ => String::new(),
            };
            for key in line.value.as_object().into_iter().flat_map(|object| object.keys()) {
                let held = if key == "peak_rss_mb" { line.number("base_rss_mb") } else { None };
                let name = format!("{}: {}{size}: {key}", line.arguments, line.tool());
                values.extend(line.number(key).map(|value| (name, value - held.unwrap_or(0.0))));
            }
        }
        for rate in &self.rate {
            let seconds = values.get(&rate.bench).map(|seconds| seconds / rate.work);
            values.extend(seconds.map(|seconds| (rate.name.clone(), seconds)));
        }
        values
    }
}
