//! `cargo xtask bench`: runs the benches and, beside them, what a user would pick instead. All
//! that was measured goes to `docs/data/bench.json`, ten rows of it to `docs/performance.md`.
//!
//! `criterion.rs` reads what criterion measured, `memory.rs` measures peaks. `rows.rs` says which
//! of ours stands against which of the peers', and against which limit of the machine.
//! `comparison.rs` has the types for it; `peers.rs` beside this folder runs the peers.
//! `markdown.rs` writes the tables, `scaling.rs` plots.

mod comparison;
mod criterion;
mod markdown;
mod memory;
mod rows;
mod scaling;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{atomic, machine, peers, report, workspace};
use comparison::{Peer, Rival};
use criterion::Measurements;
use peers::Line;

/// The lines between which the document is rewritten.
const BEGIN: &str = "<!-- measured by `cargo xtask bench`: begin -->";
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
    /// Times of ours.
    medians: Measurements,
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
    // before an hour of work, not after
    let (before, after) = split(&document).with_context(|| format!("{}", out.display()))?;
    let run = match &options.from {
        Some(file) => criterion::parse(&workspace.join(file))?,
        None => measure(options, workspace)?,
    };
    if !options.only.is_empty() {
        println!("{}", markdown::all(&run));
        return Ok(ExitCode::SUCCESS);
    }
    if options.from.is_none() {
        let raw = serde_json::to_string_pretty(&run)? + "\n";
        atomic::write(&out.with_file_name("data").join("bench.json"), raw.as_bytes())?;
    }
    let measured = markdown::measured(&run);
    atomic::write(&out, format!("{before}{BEGIN}\n\n{measured}\n{END}{after}").as_bytes())?;
    for plot in scaling::plots(&run.medians) {
        let path = out.with_file_name("figures").join(&plot.id).with_extension("svg");
        atomic::write(&path, report::standalone(&plot)?.as_bytes())?;
    }
    println!("wrote {}", out.display());
    Ok(ExitCode::SUCCESS)
}

/// Runs the benches, then the peers.
fn measure(options: &Options, workspace: &Path) -> anyhow::Result<Run> {
    let python = options
        .peers
        .as_ref()
        .map(|named| named.clone().unwrap_or_else(|| peers::python(workspace)));
    let versions =
        python.as_deref().map(|python| peers::versions(python, workspace)).transpose()?;
    let folder = workspace.join("target/criterion");
    if !options.keep {
        if folder.exists() && options.only.is_empty() {
            std::fs::remove_dir_all(&folder)
                .context("cannot remove the last run's measurements")?;
        }
        cargo_bench(options, workspace)?;
    }
    Ok(Run {
        day: machine::now().split('T').next().unwrap_or_default().into(),
        processor: machine::cpu_model().unwrap_or_else(|| "an unknown processor".into()),
        threads: rayon::current_num_threads(),
        compiler: machine::rustc_version().unwrap_or("an unknown compiler").into(),
        medians: Measurements::read(&folder)?,
        memory: if options.only.is_empty() { memory::run(workspace)? } else { Vec::new() },
        peers: match (&python, versions) {
            (Some(python), Some(versions)) => peers::run(python, workspace, versions, &runs())?,
            _ => Vec::new(),
        },
    })
}

fn cargo_bench(options: &Options, workspace: &Path) -> anyhow::Result<()> {
    let names =
        if options.only.is_empty() { timed_benches(workspace)? } else { options.only.clone() };
    let mut command = workspace::cargo();
    command.current_dir(workspace).args(["bench", "--package", "nystrom-benches"]);
    command.args(names.iter().flat_map(|name| ["--bench", name]));
    if options.million {
        command.env("NYSTROM_MILLION", "1");
    }
    if options.quick {
        command.args([
            "--",
            "--warm-up-time",
            "0.2",
            "--measurement-time",
            "1",
            "--sample-size",
            "10",
        ]);
    }
    if !command.status().context("cannot run cargo bench")?.success() {
        bail!("cargo bench failed");
    }
    Ok(())
}

/// What the peers are measured for: every time of the comparison, every peak of memory.
fn peers_of_ours() -> Vec<Peer> {
    let timed =
        rows::rows().into_iter().flat_map(|row| row.rivals).filter_map(|rival| match rival {
            (Rival::Peer(peer), _) => Some(peer),
            _ => None,
        });
    timed.chain(memory::cases().into_iter().filter_map(|case| Some(case.peer?.0))).collect()
}

/// The runs of the peers that give these, each once, and the machine's product by NumPy.
fn runs() -> Vec<String> {
    let mut runs = vec!["T7 --tool gemm".to_owned()];
    for peer in peers_of_ours() {
        if !runs.contains(&peer.arguments) {
            runs.push(peer.arguments);
        }
    }
    runs
}

/// The benches of time: all but that of memory.
fn timed_benches(workspace: &Path) -> anyhow::Result<Vec<String>> {
    let folder = workspace.join("benches/benches");
    let files =
        std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = files.map(|file| Ok(file?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    let sources = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
    let mut names: Vec<String> = sources
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != "memory")
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// What stands before and after the measured part.
fn split(document: &str) -> anyhow::Result<(&str, &str)> {
    let (before, rest) =
        document.split_once(BEGIN).with_context(|| format!("there is no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("there is no line `{END}`"))?;
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARNESS_TEXT: &str = include_str!("../../../benches/peers/peerbench.py");

    #[test]
    fn the_harness_prints_what_is_read_of_every_peer() {
        for Peer { arguments, tool, key, .. } in peers_of_ours() {
            let prints = |word: &str| HARNESS_TEXT.contains(word);
            assert!(prints(tool) && prints(key), "{arguments}: {tool}, {key}");
        }
    }

    #[test]
    fn the_harness_is_in_the_repository_and_has_every_task_and_tool() {
        assert!(crate::workspace::root().join(peers::HARNESS).is_file());
        for arguments in runs() {
            let mut words = arguments.split(' ');
            let task = words.next().unwrap();
            assert!(HARNESS_TEXT.contains(&format!("{task}=")), "{arguments}");
            while let Some(word) = words.next() {
                let value = words.next().unwrap();
                let known = match word {
                    "--tool" => format!("wanted(\"{value}\")"),
                    _ => format!("\"{word}\""),
                };
                assert!(HARNESS_TEXT.contains(&known), "{arguments}: {known}");
            }
        }
    }

    #[test]
    fn the_document_is_cut_at_its_marks() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nz\n");
        assert_eq!(split(&text).unwrap(), ("a\n", "\nz\n"));
        assert!(split("a").unwrap_err().to_string().contains("begin"));
        assert!(split(&format!("{BEGIN} x")).unwrap_err().to_string().contains("end"));
    }

    #[test]
    fn the_projects_document_has_its_marks() {
        let path = crate::workspace::root().join("docs/performance.md");
        split(&std::fs::read_to_string(path).unwrap()).unwrap();
    }
}
