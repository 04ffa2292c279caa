//! `cargo xtask fetch`: the data sets that are not embedded, from their publishers.
//!
//! `sources.rs` says where from, `download.rs` brings the bytes, `unpack.rs` opens archives,
//! `bring.rs` does one after the other. They need HTTP, TLS and archives, which nothing else needs:
//! the feature `fetch` compiles them when they are asked for.

#[cfg(feature = "fetch")]
mod bring;
#[cfg(feature = "fetch")]
mod download;
#[cfg(feature = "fetch")]
mod sources;
#[cfg(feature = "fetch")]
mod unpack;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

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
    #[cfg(feature = "fetch")]
    return bring::run(options);
    #[cfg(not(feature = "fetch"))]
    anyhow::bail!("{options:?} needs the feature `fetch`; run `cargo xtask fetch`, which has it");
}
