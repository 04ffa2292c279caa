//! `cargo xtask bench`: runs the benches and, beside them, what a user would pick instead. All
//! that was measured goes to `docs/data/bench.json`, part of it to `docs/performance.md`.
//!
//! `benches/rows.toml` says which of ours is compared with which of the peers' and with which limit
//! of the machine; `rows.rs` reads it. `criterion.rs` reads what criterion measured, `peers.rs`
//! beside this folder runs the peers. `markdown.rs` writes the tables, `scaling.rs` draws the
//! plots.

mod criterion;
mod markdown;
mod rows;
mod scaling;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{atomic, machine, numbers, peers, report, workspace};
use markdown::Page;
use peers::Line;
use rows::Rows;

/// The bench of peaks of memory, which criterion does not time.
const MEMORY: &str = "memory";

/// The lines between which the document is rewritten; `-->` ends the first.
const BEGIN: &str = "<!-- measured by `cargo xtask bench`: begin ";
const END: &str = "<!-- measured by `cargo xtask bench`: end -->";

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench --quick                            every bench, a second each
  cargo xtask bench --only kernel_block,nystrom_fit    two of them; the document is left alone
  cargo xtask bench --million --peers                  all there is, with the peers of benches/peers
  cargo xtask bench --from docs/data/bench.json        the document again, nothing measured

Measure on a machine that does nothing else. The document is rewritten after a whole run only.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Run only these benches
    #[arg(long, value_name = "BENCH", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// A second of measurement each instead of criterion's five and more
    #[arg(long)]
    quick: bool,
    /// Also what takes minutes: fits of a million rows, all the data at a hundred thousand
    #[arg(long)]
    million: bool,
    /// Do not time ours again: take what the benches last measured
    #[arg(long, conflicts_with = "only")]
    keep: bool,
    /// Measure nothing: write the document of what a run has left
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["only", "quick", "million", "keep", "peers"])]
    from: Option<PathBuf>,
    /// Also run the peers, with this Python, which has what benches/peers/requirements.txt lists
    /// [default: that of .venv, if it is there, or python3]
    #[arg(long, value_name = "PYTHON")]
    peers: Option<Option<PathBuf>>,
    /// The document to rewrite; what was measured goes to data/bench.json beside it
    #[arg(long, value_name = "FILE", default_value = "docs/performance.md")]
    out: PathBuf,
}

/// What one run gave, as `docs/data/bench.json` holds it.
#[derive(Serialize, Deserialize)]
struct Run {
    day: String,
    processor: String,
    threads: usize,
    compiler: String,
    /// Seconds of ours by the bench's full name.
    medians: BTreeMap<String, f64>,
    /// Lines of our bench of memory.
    memory: Vec<Line>,
    /// Lines of the peers.
    peers: Vec<Line>,
}

/// Measures, or reads what was measured; then writes.
pub fn run(options: &Options, workspace: &Path) -> anyhow::Result<ExitCode> {
    let out = workspace.join(&options.out);
    let document =
        std::fs::read_to_string(&out).with_context(|| format!("cannot read {}", out.display()))?;
    rewritten(&document, "").with_context(|| format!("{}", out.display()))?; // before any work
    let rows = Rows::read(workspace)?;
    let run = match &options.from {
        Some(file) => atomic::read(&workspace.join(file))?,
        None => measure(options, workspace, &rows)?,
    };
    let page = Page::new(&rows, &run);
    if !options.only.is_empty() {
        println!("{}", page.all());
        return Ok(ExitCode::SUCCESS);
    }
    if options.from.is_none() {
        let raw = serde_json::to_string_pretty(&run)? + "\n";
        atomic::write(&out.with_file_name("data").join("bench.json"), raw.as_bytes())?;
    }
    atomic::write(&out, rewritten(&document, &page.measured())?.as_bytes())?;
    for growth in &rows.plot {
        let path = out.with_file_name("figures").join(&growth.id).with_extension("svg");
        let plot = scaling::plot(growth, &run.medians);
        atomic::write(&path, report::standalone(&plot)?.as_bytes())?;
    }
    println!("wrote {}", out.display());
    Ok(ExitCode::SUCCESS)
}

/// Runs the benches, then the peers.
fn measure(options: &Options, workspace: &Path, rows: &Rows) -> anyhow::Result<Run> {
    let named = options.peers.as_ref();
    let python = named.map(|python| peers::chosen(python.as_deref())).transpose()?;
    let folder = workspace.join("target/criterion");
    let all = !options.keep && options.only.is_empty();
    if all && folder.exists() {
        std::fs::remove_dir_all(&folder).context("cannot remove the last run's measurements")?;
    }
    let memory = cargo_bench(options, workspace)?;
    Ok(Run {
        day: machine::now().split('T').next().unwrap_or_default().into(),
        processor: machine::cpu_model().unwrap_or_else(|| "an unknown processor".into()),
        threads: rayon::current_num_threads(),
        compiler: machine::rustc_version().unwrap_or("an unknown compiler").into(),
        medians: criterion::medians(&folder)?,
        memory,
        peers: match python {
            Some(python) => peers::run(&python, &rows.peer_runs())?,
            None => Vec::new(),
        },
    })
}

/// Runs the benches, shows what they print, and returns the lines of the one that measures memory.
/// If the times of the last run are kept, only that one runs.
fn cargo_bench(options: &Options, workspace: &Path) -> anyhow::Result<Vec<Line>> {
    let names: Vec<&str> = match options.only.as_slice() {
        [] if options.keep => vec![MEMORY],
        [] => vec!["*"], // cargo takes a pattern of names
        only => only.iter().map(String::as_str).collect(),
    };
    let mut command = workspace::cargo();
    command.current_dir(workspace).args(["bench", "--package", "nystrom-benches"]);
    command.args(names.into_iter().flat_map(|name| ["--bench", name]));
    if options.million {
        command.env("NYSTROM_MILLION", "1");
    }
    if options.quick {
        let brief = "-- --warm-up-time 0.2 --measurement-time 1 --sample-size 10";
        command.args(brief.split(' '));
    }
    let mut cargo = command.stdout(Stdio::piped()).spawn().context("cannot run cargo bench")?;
    let mut lines = Vec::new();
    for line in cargo.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()) {
        let line = line?;
        println!("{line}");
        lines.extend(peers::parse(MEMORY, &line));
    }
    ensure!(cargo.wait()?.success(), "cargo bench failed");
    Ok(lines)
}

/// The document with another measured part.
fn rewritten(document: &str, measured: &str) -> anyhow::Result<String> {
    ensure!(document.contains(BEGIN), "there is no line `{BEGIN}-->`");
    numbers::replace(document, BEGIN, END, |_| Ok(format!("\n\n{measured}\n")))
}

#[cfg(test)]
mod tests;
