//! The command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::datasets::Folder;
use crate::{atomic, bench, experiments, fetch, listing, reference, runner, tidy, workspace};

const TESTS: &str = "\
`cargo xtask test` runs every test of the workspace, `cargo xtask test --help` says how.";

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's tasks", version)]
#[command(after_help = TESTS)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Rerun the papers' experiments and write a report
    Reproduce(runner::Options),
    /// Check the rules of the house, as docs/ARCHITECTURE.md states them
    Tidy,
    /// List the experiments, the data each needs, and whether it is found
    List {
        #[command(flatten)]
        data: Folder,
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

/// Parses the command line and runs the task.
pub fn run() -> anyhow::Result<ExitCode> {
    match Cli::parse().task {
        Task::Reproduce(options) => return runner::run(&options),
        Task::Tidy => return tidy::run(&workspace::root()),
        Task::Fetch(options) => return fetch::run(&options),
        Task::Bench(options) => return bench::run(&options, &workspace::root()),
        Task::List { data } => print!("{}", listing::table(experiments::ALL, data.path()?)),
        Task::Docs { from } => docs(&workspace::root(), from.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn docs(root: &Path, report: Option<&Path>) -> anyhow::Result<()> {
    if let Some(report) = report {
        let names: Vec<&str> = experiments::ALL.iter().map(|experiment| experiment.name).collect();
        reference::take_over(root, report, &names)?;
    }
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    for (path, text) in listing::documents(read)? {
        if atomic::write(&root.join(path), text.as_bytes())? {
            println!("wrote {}", root.join(path).display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        let fits = |line: &str| Cli::try_parse_from(line.split(' ')).is_ok();
        assert!(!fits("xtask reproduce --full --smoke") && !fits("xtask reproduce --threads 0"));
        assert!(fits("xtask reproduce --check --out x --only a b,c --seed 7"));
    }
}
