//! What an experiment is: one figure or table of one paper, run by one function, judged by
//! inequalities.
//!
//! An experiment lives in its own file under `experiments/`, exports `pub const EXPERIMENT:
//! Experiment`, and is listed in the registry `experiments::ALL`. Everything else (progress,
//! resuming, CSV, plots, HTML) is done for it.

use serde::{Deserialize, Serialize};

pub use crate::claim::Claim;
pub use crate::context::{Context, Lookup};
pub use crate::plot::{Axis, Plot, Point};
pub use crate::table::{Cell, Column, Table};

/// One figure or table of a paper.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Name on the command line, `paper-figure` in lower case, e.g. `alaoui-mahoney-fig1-left`.
    pub name: &'static str,
    /// The paper it belongs to; one of `experiments::papers`.
    pub paper: &'static Paper,
    /// Which figure or table, e.g. `Table 1, Vanilla row`; `none: what it shows` where the paper
    /// has no such thing.
    pub figure: &'static str,
    /// What the paper says about it, in a sentence or two, with its printed numbers.
    pub says: &'static str,
    /// Every data set it reads, by its name in `nystrom_data::catalog`; empty if it needs none.
    pub data: &'static [&'static str],
    /// The experiment itself. A data set that is absent goes into [`Outcome::missing`], never into
    /// an error.
    pub run: fn(&Context) -> anyhow::Result<Outcome>,
}

impl Experiment {
    /// The heading in the report: the figure's name, or that there is none in the paper.
    pub fn heading(&self) -> String {
        match self.figure.strip_prefix("none: ") {
            Some(subject) => format!("Beyond the paper: {subject}"),
            None => self.figure.into(),
        }
    }
}

/// A paper, as the report and `run.json` cite it.
#[derive(Debug, PartialEq, Eq)]
pub struct Paper {
    /// Short citation, e.g. `Alaoui & Mahoney 2015`.
    pub short: &'static str,
    /// Full citation: authors, title, venue.
    pub full: &'static str,
    /// Where to read it.
    pub url: &'static str,
}

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Seconds: the same code on tiny sizes, so that no experiment rots.
    Smoke,
    /// Minutes on two cores.
    Default,
    /// The paper's own sizes.
    Full,
}

impl Scale {
    /// The word used in `run.json` and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Scale::Smoke => "smoke",
            Scale::Default => "default",
            Scale::Full => "full",
        }
    }
}

/// What an experiment found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Sizes used against the paper's, and why they differ: `n = 500 as in the paper; 10 of its 100
    /// repetitions`.
    pub scale_note: String,
    /// Tables, in the order of the report; each becomes a CSV file.
    pub tables: Vec<Table>,
    /// Plots, in the order of the report; each becomes an inline SVG and a CSV file.
    pub plots: Vec<Plot>,
    /// Statements as checked inequalities, each of its kind.
    pub claims: Vec<Claim>,
    /// Anything else the reader should know, one paragraph each.
    pub notes: Vec<String>,
    /// Data sets that were not found; [`Context::dataset`] makes these.
    pub missing: Vec<MissingData>,
}

impl Outcome {
    /// True if nothing could be computed for want of data.
    pub fn is_no_data(&self) -> bool {
        !self.missing.is_empty()
            && self.claims.is_empty()
            && self.plots.is_empty()
            && self.tables.is_empty()
    }
}

/// A data set that is absent: the reader learns what to fetch and how to know it is the right file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingData {
    /// Its name in the catalog.
    pub name: String,
    /// What could not be computed without it: `row "Pumadyn-32fh"`; empty for the whole experiment.
    pub needed_for: String,
    /// Where to get it.
    pub where_to_get: String,
    /// Its files, as paths below the data folder.
    pub files: Vec<String>,
    /// Rows and columns it must have.
    pub expected_shape: String,
    /// SHA-256 of the uncompressed files, where known.
    pub checksum: Option<String>,
}

impl std::fmt::Display for MissingData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "data set `{}` is missing; get it from {}", self.name, self.where_to_get)
    }
}

impl std::error::Error for MissingData {}

impl MissingData {
    /// The same, saying which part of the experiment needs it.
    pub fn needed_for(mut self, part: impl Into<String>) -> Self {
        self.needed_for = part.into();
        self
    }
}

pub use crate::number::number;
