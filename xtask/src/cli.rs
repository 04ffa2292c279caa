//! The command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};

use crate::check::{REFERENCE, Reference};
use crate::context::Scale;
use crate::experiment::Experiment;
use crate::{
    bench, experiments, fetch, listing, numbers, peers, reference, runner, suite, tidy, workspace,
};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's tasks", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Rerun the papers' experiments and write a report
    Reproduce(Reproduce),
    /// Run every test of the workspace, or soak the property tests in new seeds
    Test(suite::Options),
    /// Check the rules of the house, as docs/ARCHITECTURE.md states them
    Tidy,
    /// List the experiments, the data each needs, and whether it is found
    List {
        #[command(flatten)]
        data: Data,
    },
    /// Download the data sets that are not embedded, from their publishers
    Fetch(fetch::Options),
    /// Write docs/EXPERIMENTS.md from the registry and the reference runs, and the measured numbers
    /// in README and docs/CHOOSING.md from the reference run
    Docs {
        /// First take over this report's run as the reference of its scale; of the default scale,
        /// its figures too
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
    },
    /// Run the benches, beside the peers if asked, and rewrite the measured part of
    /// docs/performance.md
    Bench(bench::Options),
}

/// Where the data sets are.
#[derive(Args, Clone)]
struct Data {
    /// Folder with the data sets; without it, those that are not embedded are reported as missing
    #[arg(long, value_name = "DIR", env = "NYSTROM_DATA")]
    data: Option<PathBuf>,
}

impl Data {
    /// The folder, known to exist if one was named.
    fn folder(&self) -> anyhow::Result<Option<&Path>> {
        match self.data.as_deref() {
            Some(dir) if !dir.is_dir() => bail!("--data {}: no such folder", dir.display()),
            dir => Ok(dir),
        }
    }
}

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  cargo xtask reproduce                          all that needs no more data than is embedded
  cargo xtask reproduce --data data              all whose data are in that folder
  cargo xtask reproduce --only NAME --full       one experiment at the paper's own sizes
  cargo xtask reproduce --smoke --out smoke      every experiment, tiny, to see that all run

`cargo xtask list` prints the names. An interrupted run continues where it stopped: finished
experiments are kept as long as scale, seed, program and data are the same. The report is
DIR/index.html; DIR/run.json holds the same verdicts for programs.
Exit status: 0 if every experiment ran (a claim may fail to hold), 1 if one failed.";

#[derive(Args)]
#[command(after_help = REPRODUCE_EXAMPLES)]
pub struct Reproduce {
    /// Run only these experiments
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    data: Data,
    /// The paper's own sizes: hours rather than minutes
    #[arg(long, conflicts_with = "smoke")]
    full: bool,
    /// Tiny sizes: the same code in seconds; verdicts mean nothing
    #[arg(long)]
    smoke: bool,
    /// Seed of all random numbers; the same seed gives the same numbers at any thread count
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = "report")]
    out: PathBuf,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Compute anew what an earlier run has finished
    #[arg(long)]
    fresh: bool,
    /// Also time the peers where an experiment compares, with this Python. It must have what
    /// benches/peers/requirements.txt lists [default: that of .venv, if it is there, or python3]
    #[arg(long, value_name = "PYTHON", num_args = 0..=1)]
    peers: Option<Option<PathBuf>>,
    /// Compare with a reference run [default: docs/data/reproduction.json]: verdicts, and values
    /// within four standard errors
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    check: Option<Option<PathBuf>>,
}

/// Parses the command line and runs the task.
pub fn run() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Reproduce(options) => reproduce(&options),
        Task::Test(options) => suite::run(&options),
        Task::Tidy => tidy::run(&workspace::root()),
        Task::List { data } => {
            print!("{}", listing::table(experiments::ALL, data.folder()?));
            Ok(ExitCode::SUCCESS)
        }
        Task::Fetch(options) => fetch::run(&options),
        Task::Bench(options) => bench::run(&options, &workspace::root()),
        Task::Docs { from } => docs(from.as_deref()),
    }
}

fn docs(report: Option<&Path>) -> anyhow::Result<ExitCode> {
    let root = workspace::root();
    if let Some(report) = report {
        reference::take_over(&root, report, &choose(experiments::ALL, &[])?)?;
    }
    let path = root.join(listing::DOC_PATH);
    let references =
        listing::References::find(|path| std::fs::read_to_string(root.join(path)).ok())?;
    crate::atomic::write(&path, listing::markdown(experiments::ALL, &references).as_bytes())?;
    println!("wrote {}", path.display());
    numbers::fill_all(&root)?;
    Ok(ExitCode::SUCCESS)
}

fn reproduce(options: &Reproduce) -> anyhow::Result<ExitCode> {
    start_threads(options.threads)?;
    let plan = runner::Plan {
        all: experiments::ALL,
        chosen: choose(experiments::ALL, &options.only)?,
        scale: match (options.smoke, options.full) {
            (true, _) => Scale::Smoke,
            (_, true) => Scale::Full,
            _ => Scale::Default,
        },
        seed: options.seed,
        data_dir: options.data.folder()?.map(Path::to_owned),
        out: options.out.clone(),
        fresh: options.fresh,
        peers: options.peers.as_ref().map(|named| peers::chosen(named.as_deref())).transpose()?,
    };
    let path = options
        .check
        .as_ref()
        .map(|file| file.clone().unwrap_or_else(|| workspace::root().join(REFERENCE)));
    let reference = path.map(|path| Reference::read(&path)).transpose()?;
    if let Some(reference) = &reference {
        reference.suits(plan.scale, plan.seed)?;
    }
    let code = runner::run(&plan, &crate::progress::Progress::new())?;
    let Some(reference) = reference else { return Ok(code) };
    let found = reference.compare(&Reference::read(&plan.out.join("run.json"))?, &plan.chosen);
    println!("{}", found.report());
    Ok(if found.differ.is_empty() { code } else { ExitCode::FAILURE })
}

/// The experiments named, in the order of the registry; all if none is named.
fn choose(all: &[Experiment], only: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let names: Vec<&'static str> = all.iter().map(|experiment| experiment.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no experiment `{unknown}`; the names are:\n  {}", names.join("\n  "));
    }
    Ok(names
        .into_iter()
        .filter(|name| only.is_empty() || only.iter().any(|wanted| wanted == name))
        .collect())
}

/// Sets rayon's global pool, which faer uses too and this thread is of.
fn start_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let threads = threads.map_or(0, usize::from); // 0: as many as there are cores
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
    pool.build_global().context("cannot start the threads")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SELF_CHECK;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_names() {
        let error = choose(&[SELF_CHECK], &["self-chek".into()]).unwrap_err().to_string();
        assert!(error.contains("`self-chek`") && error.contains("self-check"), "{error}");
        assert_eq!(choose(&[SELF_CHECK], &[]).unwrap(), ["self-check"]);
        assert_eq!(choose(&[SELF_CHECK], &["self-check".into()]).unwrap(), ["self-check"]);
    }

    #[test]
    fn scales_exclude_each_other_and_only_takes_several_names() {
        assert!(Cli::try_parse_from(["xtask", "reproduce", "--full", "--smoke"]).is_err());
        assert!(Cli::try_parse_from(["xtask", "reproduce", "--threads", "0"]).is_err());
        assert!(Cli::try_parse_from(["xtask", "reproduce", "--check", "--out", "x"]).is_ok());
        assert!(Cli::try_parse_from(["xtask", "test", "--soak", "x"]).is_err());
        assert!(Cli::try_parse_from(["xtask", "test", "--soak", "9", "--lib", "-q"]).is_ok());
        let Task::Reproduce(options) =
            Cli::try_parse_from(["xtask", "reproduce", "--only", "a", "b,c", "--seed", "7"])
                .unwrap()
                .task
        else {
            panic!("another task")
        };
        assert_eq!(options.only, ["a", "b", "c"]);
        assert_eq!((options.seed, options.out), (7, PathBuf::from("report")));
    }

    #[test]
    fn a_data_folder_that_is_not_there_is_an_error() {
        let data = Data { data: Some("/no/such/folder".into()) };
        assert!(data.folder().unwrap_err().to_string().contains("/no/such/folder"));
    }
}
