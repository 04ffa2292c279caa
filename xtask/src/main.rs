//! `cargo xtask <task>`: the small program that cargo builds first. It runs the tests. For every
//! other task it has cargo build `tasks.rs`, which needs the libraries, and runs that.

mod suite;
mod workspace;

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = match args.split_first() {
        Some((task, args)) if task == "test" => suite::run(args),
        _ => other_task(&args),
    };
    code.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Runs the program of the other tasks, which lies beside this one once it has been built.
fn other_task(args: &[OsString]) -> io::Result<ExitCode> {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--profile", "tasks", "--package", "xtask", "--bin", "tasks"]);
    cargo.arg("--manifest-path");
    cargo.arg(workspace::root().join("Cargo.toml"));
    let name = format!("tasks{}", std::env::consts::EXE_SUFFIX);
    if std::env::current_exe()?.with_file_name(name).exists() {
        cargo.arg("--quiet");
    } else {
        eprintln!("building the tasks; it takes minutes, once");
    }
    ended(cargo.arg("--").args(args))
}

/// Runs a command, and passes its exit status on.
fn ended(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
