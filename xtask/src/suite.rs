//! `cargo xtask test`: every test of the workspace, once, or with new property seeds until a time
//! is up.

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};
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
    let Some(minutes) = options.soak else {
        return Ok(code(tests(&options.args, has_data).status().context("cannot run cargo")?));
    };
    let end = Instant::now() + Duration::from_secs(60 * u64::from(minutes));
    let mut round = |seed: u64| {
        println!("soak: {SEED}={seed}");
        let mut tests = tests(&options.args, has_data);
        let status = tests.env(SEED, seed.to_string()).env(SOAK, "1").status();
        anyhow::Ok(status.context("cannot run cargo")?.success())
    };
    Ok(match soak(new_seed, &mut round, || Instant::now() < end)? {
        (rounds, None) => {
            println!("soak: {rounds} rounds of new seeds passed");
            ExitCode::SUCCESS
        }
        (rounds, Some(seed)) => {
            let again = format!("{SEED}={seed} {SOAK}=1 cargo xtask test");
            eprintln!("soak: round {rounds} failed; `{again}` with its arguments repeats it");
            ExitCode::FAILURE
        }
    })
}

/// Rounds with new seeds, at least one and as long as there is time. Returns the number of rounds,
/// and the seed of the last if it failed.
fn soak(
    mut new_seed: impl FnMut() -> u64,
    round: &mut impl FnMut(u64) -> anyhow::Result<bool>,
    mut goes_on: impl FnMut() -> bool,
) -> anyhow::Result<(usize, Option<u64>)> {
    let mut rounds = 0;
    loop {
        let seed = new_seed();
        rounds += 1;
        if !round(seed)? {
            return Ok((rounds, Some(seed)));
        }
        if !goes_on() {
            return Ok((rounds, None));
        }
    }
}

/// A seed that no run before had: the time in nanoseconds.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |since| since.as_nanos() as u64)
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
        if !args.iter().any(|arg| arg == "--") {
            command.arg("--");
        }
        command.arg("--include-ignored");
    }
    command
}

fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod checks {
    use super::*;

    fn arguments(args: &[&str], has_data: bool) -> Vec<String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let command = tests(&args, has_data);
        command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_workspace_is_tested_unless_a_package_is_named() {
        assert_eq!(arguments(&["matern"], false), ["test", "--workspace", "matern"]);
        assert_eq!(arguments(&["-p", "xtask"], false), ["test", "-p", "xtask"]);
    }

    #[test]
    fn tests_on_data_sets_run_where_these_are() {
        assert_eq!(arguments(&[], true), ["test", "--workspace", "--", "--include-ignored"]);
        let own = ["-p", "xtask", "--", "--nocapture"];
        let expected = ["test", "-p", "xtask", "--", "--nocapture", "--include-ignored"];
        assert_eq!(arguments(&own, true), expected);
    }

    #[test]
    fn a_soak_ends_with_the_time_or_the_seed_that_failed() {
        let mut next = 0;
        let mut seeds = || {
            next += 1;
            next
        };
        let all_pass = soak(&mut seeds, &mut |_| Ok(true), || false).unwrap();
        assert_eq!(all_pass, (1, None), "at least one round");
        let mut seen = Vec::new();
        let mut round = |seed| {
            seen.push(seed);
            Ok(seed < 4)
        };
        assert_eq!(soak(&mut seeds, &mut round, || true).unwrap(), (3, Some(4)));
        assert_eq!(seen, [2, 3, 4]);
    }
}
