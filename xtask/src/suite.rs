//! `cargo xtask test`: every test of the workspace, once, or with new property seeds until a time
//! is up.

use std::ffi::OsString;
use std::io::{self, Error, ErrorKind};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};

use crate::{ended, workspace};

/// The seed of all property tests; `.cargo/config.toml` fixes it.
const SEED: &str = "PROPTEST_RNG_SEED";
/// Tests that draw 1000 samples draw 100,000 where this is set.
const SOAK: &str = "NYSTROM_SOAK";
/// The folder of the data sets; tests that need them are ignored without it.
const DATA: &str = "NYSTROM_DATA";

const HELP: &str = "\
Run every test of the workspace, or soak the property tests in new seeds

Usage: cargo xtask test [--soak MINUTES] [ARGS of cargo test]...

Examples:
  cargo xtask test                                 every test, as the seed of the repository has it
  cargo xtask test -p nystrom-kernels matern       arguments of `cargo test --workspace`
  cargo xtask test --soak 60                       an hour of new seeds for the property tests
  cargo xtask test --soak 60 -p nystrom-dpp        the same for one crate

--soak repeats the property tests for so many minutes; a failure names its seed. Tests on the
papers' data sets run where NYSTROM_DATA names their folder, and count as ignored elsewhere.";

/// Runs the tests.
///
/// # Errors
/// If cargo cannot be started, or the minutes are no number.
pub fn run(args: &[OsString]) -> io::Result<ExitCode> {
    if args.first().is_some_and(|arg| arg == "--help" || arg == "-h") {
        println!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let (minutes, args) = soak(args)?;
    let has_data = std::env::var_os(DATA).is_some_and(|folder| !folder.is_empty());
    let mut command = tests(args, has_data);
    let Some(minutes) = minutes else { return ended(&mut command) };
    let end = Instant::now() + Duration::from_secs(60 * u64::from(minutes));
    for round in 1.. {
        let since = SystemTime::UNIX_EPOCH.elapsed().map_err(Error::other)?;
        let seed = since.as_nanos() as u64; // no earlier run had it
        println!("soak: {SEED}={seed}");
        command.env(SEED, seed.to_string()).env(SOAK, "1");
        if !command.status()?.success() {
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

/// The minutes of `--soak`, if it is the first argument, and the other arguments.
fn soak(args: &[OsString]) -> io::Result<(Option<u32>, &[OsString])> {
    let Some((_, args)) = args.split_first().filter(|(first, _)| *first == "--soak") else {
        return Ok((None, args));
    };
    let minutes = args.first().and_then(|arg| arg.to_str()?.parse().ok());
    let wrong = || Error::new(ErrorKind::InvalidInput, "--soak needs a number of minutes: 60");
    Ok((Some(minutes.ok_or_else(wrong)?), &args[1..]))
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
mod tests {
    use super::*;

    #[test]
    fn minutes_are_a_number() {
        let of = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            soak(&args).map(|(minutes, rest)| (minutes, rest.len())).ok()
        };
        assert_eq!(of("--soak 9 --lib -q"), Some((Some(9), 2)));
        assert_eq!(of("--lib -q"), Some((None, 2)));
        assert!(of("--soak x").is_none() && of("--soak").is_none());
    }

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
