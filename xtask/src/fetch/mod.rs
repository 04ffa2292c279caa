//! `cargo xtask fetch`: the data sets that are not embedded, from their publishers.
//!
//! `sources.rs` says where from, `download.rs` has curl bring the bytes, `unpack.rs` opens
//! archives, `bring.rs` does one after the other.

mod bring;
mod download;
mod sources;
mod unpack;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use nystrom_data::catalog::{self, Entry};

const EXAMPLES: &str = "\
Examples:
  cargo xtask fetch                          all data sets that are not embedded, about 40 MB
  cargo xtask fetch casp gas-turbine         two of them
  cargo xtask reproduce --data data          the experiments, with what was fetched

A file that is there is never written over. What breaks off goes on where it stopped when the \
command is run
again; archives are kept in DIR/.fetch, and DIR/fetched.json says what came when, from where, \
with which hashes.
Data sets have licences of their own, which are printed: mind them before you pass anything on.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Names of the catalogue; all that are not embedded without one
    names: Vec<String>,
    /// Folder for the data sets
    #[arg(long, value_name = "DIR", env = "NYSTROM_DATA", default_value = "data")]
    data: PathBuf,
}

/// Fetches what is asked for and not there. The exit code tells whether all of it is there now.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let chosen: Vec<&Entry> = match options.names.as_slice() {
        [] => catalog::entries().filter(|entry| sources::of(entry.name).is_some()).collect(),
        names => names.iter().map(|name| catalog::find(name)).collect::<Result<_, _>>()?,
    };
    let mut code = ExitCode::SUCCESS;
    for entry in chosen {
        println!("{}: {}\n  licence: {}", entry.name, entry.title, entry.licence);
        match bring::bring(&options.data, entry, sources::of(entry.name)) {
            Ok(outcome) => println!("  {outcome}"),
            Err(error) => {
                eprintln!("  error: {error:#}");
                code = ExitCode::FAILURE;
            }
        }
    }
    println!("Use them: cargo xtask reproduce --data {}", options.data.display());
    Ok(code)
}
