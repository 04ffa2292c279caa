//! What an experiment is: one figure or table of one paper, run by one function, judged by
//! inequalities.
//!
//! An experiment is a row of the registry in `experiments/mod.rs`, which names a function in a file
//! that figures on the same problem share, and a page in `docs/experiments/`.
//! Everything else (progress, resuming, CSV, plots, HTML) is done for it.

use serde::{Deserialize, Serialize};

pub use crate::claim::{Claim, measured};
pub use crate::context::Context;
use crate::datasets::MissingData;
use crate::pages;
pub use crate::plot::{Axis, Plot, Point};
pub use crate::table::{Cell, Column, Table};

/// One figure or table of a paper.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Name on the command line, `paper-figure` in lower case, e.g. `alaoui-mahoney-fig1-left`.
    pub name: &'static str,
    /// The paper it belongs to.
    pub paper: &'static Paper,
    /// Which figure or table, e.g. `Table 1, Vanilla row`; `none: what it shows` where the paper
    /// has no such thing.
    pub figure: &'static str,
    /// Its page in `docs/experiments/`: what the paper says about it, in a few short sentences with
    /// its printed numbers; then the notes of the report.
    pub page: &'static str,
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

    /// What the paper says about it.
    pub fn says(&self) -> String {
        pages::paragraphs(self.page).0
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

/// What an experiment found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Sizes used against the paper's, and why they differ: `n = 500 as in the paper; 10 of its 100
    /// repetitions`.
    #[serde(rename = "sizes")]
    pub scale_note: String,
    /// Tables, in the order of the report; each becomes a CSV file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Plots, in the order of the report; each becomes an inline SVG and a CSV file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
    /// Statements as checked inequalities, each of its kind.
    pub claims: Vec<Claim>,
    /// Anything else the reader should know, one paragraph each, after the notes of the page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What stands for `{name}` in the notes of the page.
    #[serde(skip)]
    pub values: Vec<(&'static str, String)>,
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

pub use crate::number::number;
