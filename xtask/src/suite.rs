//! `cargo xtask test`: every test of the workspace, once, or with new property seeds until a time
//! is up.

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use clap::Args;

use crate::workspace;

/// The seed of all property tests; `.cargo/config.toml` fixes it.
const SEED: &str = "PROPTEST_RNG_SEED";
/// Tests that draw 1000 samples draw 100,000 where this is set.
const SOAK: &str = "NYSTROM_SOAK";
/// The folder of the data sets; tests that need them are ignored without it.
const DATA: &str = "NYSTROM_DATA";

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                                 every test, as the seed of the repository has it
  cargo xtask test -p nystrom-kernels matern       arguments of `cargo test --workspace`
  cargo xtask test --soak 60                       an hour of new seeds for the property tests
  cargo xtask test --soak 60 -p nystrom-dpp        the same for one crate

Tests on the papers' data sets run where NYSTROM_DATA names their folder, and count as ignored
elsewhere.";

/// What is asked for.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Repeat the property tests with new seeds for so many minutes; a failure names its seed
    #[arg(long, value_name = "MINUTES")]
    soak: Option<u32>,
    /// Arguments for `cargo test`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs the tests.
///
/// # Errors
/// If cargo cannot be started.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let has_data = std::env::var_os(DATA).is_some_and(|folder| !folder.is_empty());
    let mut command = tests(&options.args, has_data);
    let Some(minutes) = options.soak else {
        let status = command.status().context("cannot run cargo")?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
    };
    let end = Instant::now() + Duration::from_secs(60 * u64::from(minutes));
    for round in 1.. {
        let seed = SystemTime::UNIX_EPOCH.elapsed()?.as_nanos() as u64; // no earlier run had it
        println!("soak: {SEED}={seed}");
        command.env(SEED, seed.to_string()).env(SOAK, "1");
        if !command.status().context("cannot run cargo")?.success() {
            let again = format!("{SEED}={seed} {SOAK}=1 cargo xtask test");
            eprintln!("soak: round {round} failed; `{again}` with its arguments repeats it");
            return Ok(ExitCode::FAILURE);
        }
        if Instant::now() >= end {
            println!("soak: {round} rounds of new seeds passed");
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `cargo test` with these arguments: of the workspace unless they name a package, and with the
/// tests on data sets if those are there.
fn tests(args: &[OsString], has_data: bool) -> Command {
    let mut command = workspace::cargo();
    command.arg("test").current_dir(workspace::root());
    if !args.iter().any(|arg| arg == "-p" || arg == "--package") {
        command.arg("--workspace");
    }
    command.args(args);
    if has_data {
        let separator = args.iter().all(|arg| arg != "--").then_some("--");
        command.args(separator).arg("--include-ignored");
    }
    command
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn the_workspace_is_tested_unless_a_package_is_named_and_data_sets_where_they_are() {
        for (args, has_data, expected) in [
            ("matern", false, "test --workspace matern"),
            ("-p xtask", false, "test -p xtask"),
            ("-q", true, "test --workspace -q -- --include-ignored"),
            ("-p xtask -- --nocapture", true, "test -p xtask -- --nocapture --include-ignored"),
        ] {
            let args: Vec<OsString> = args.split(' ').map(OsString::from).collect();
            let command = tests(&args, has_data);
            assert!(command.get_args().eq(expected.split(' ')), "{command:?}");
        }
    }
}
