//! `cargo xtask fetch`: the data sets that are not embedded, from their publishers.
//!
//! `sources.rs` says where from, `download.rs` brings the bytes, `unpack.rs` opens archives,
//! `store.rs` makes the catalogue's files of them. What was fetched is recorded in `fetched.json`
//! beside the data.

mod download;
mod sources;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use nystrom_data::catalog::{self, Entry, Located, Recognised};
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::datasets::sha256;
use download::Client;
use sources::{From, Way};
use store::Stored;

/// Archives, kept so that nothing is downloaded twice, and the beginnings of what broke off.
const ARCHIVES: &str = ".fetch";
/// What was fetched, when, from where, with which hashes.
const RECORD: &str = "fetched.json";

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

#[derive(Args)]
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
    let (client, mut failed) = (Client::new(), 0);
    for entry in chosen {
        println!("{}: {}\n  licence: {}", entry.name, entry.title, entry.licence);
        match fetch(&client, &options.data, entry, sources::of(entry.name)) {
            Ok(outcome) => println!("  {outcome}"),
            Err(error) => {
                eprintln!("  error: {error:#}");
                failed += 1;
            }
        }
    }
    println!("Use them: cargo xtask reproduce --data {}", options.data.display());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Brings one data set, in words; `ways` is `None` for one that is embedded.
fn fetch(
    client: &Client,
    data: &Path,
    entry: &Entry,
    ways: Option<&[Way]>,
) -> anyhow::Result<String> {
    if let Located::Found(found) = catalog::locate_entry(data, entry) {
        let paths: Vec<String> =
            found.paths.iter().map(|path| path.display().to_string()).collect();
        return Ok(format!("there already: {}", paths.join(", ")));
    }
    let Some(ways) = ways else {
        return Ok("embedded in this program: there is nothing to fetch".into());
    };
    let record = recorded(data)?; // before anything is downloaded
    for way in ways {
        match along(client, data, entry, way) {
            Ok((stored, archives)) => return finished(data, entry, &stored, archives, record),
            Err(error) => eprintln!("  {error:#}"),
        }
    }
    bail!("{} could not be had from any of its addresses; get it from {}", entry.name, entry.source)
}

/// What was downloaded.
#[derive(Serialize, Deserialize)]
struct Download {
    address: String,
    bytes: usize,
    sha256: String,
}

/// Tries one way. An archive that turns out to be something else is not kept.
fn along(
    client: &Client,
    data: &Path,
    entry: &Entry,
    way: &Way,
) -> anyhow::Result<(Stored, Vec<Download>)> {
    let (addresses, names): (Vec<String>, Vec<&[&str]>) = match way.from {
        From::Archive(address) => (vec![address.into()], vec![way.files]),
        From::Folder(folder) => {
            way.files.chunks(1).map(|file| (format!("{folder}{}", file[0]), file)).unzip()
        }
    };
    let (mut parts, mut downloads, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (address, names) in addresses.into_iter().zip(names) {
        let path = data.join(ARCHIVES).join(file_name(&address));
        if !path.exists() {
            bring(client, &address, &path)?;
        }
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let (length, sha256) = (bytes.len(), sha256(&bytes));
        downloads.push(Download { address: address.clone(), bytes: length, sha256 });
        kept.push(path.clone());
        parts.extend(
            unpack::unpack(bytes, names)
                .with_context(|| address.clone())
                .inspect_err(|_| drop_all(&kept))?,
        );
    }
    let stored =
        store::store(data, entry, way.layout, &parts).with_context(|| downloads[0].address.clone());
    Ok((stored.inspect_err(|_| drop_all(&kept))?, downloads))
}

/// Removes what is of no use, so that the next run asks for it anew; if it stays, the next run says
/// the same again.
fn drop_all(paths: &[PathBuf]) {
    for path in paths {
        let _ = std::fs::remove_file(path);
    }
}

/// Downloads with a bar, on a terminal.
fn bring(client: &Client, address: &str, path: &Path) -> anyhow::Result<()> {
    println!("  from {address}");
    let bar = ProgressBar::no_length();
    if let Ok(style) =
        ProgressStyle::with_template("  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} to go")
    {
        bar.set_style(style);
    }
    let came = &mut |bytes, total: Option<u64>| {
        bar.set_length(total.unwrap_or(bytes));
        bar.set_position(bytes);
    };
    let result = download::download(client, address, path, came);
    bar.finish_and_clear();
    result
}

/// A name for the archive: the end of the address, and a few digits that tell its like at another
/// address apart.
fn file_name(address: &str) -> String {
    let end = address.rsplit('/').next().unwrap_or(address);
    let end: String = end
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect();
    format!("{}-{end}", &sha256(address.as_bytes())[..8])
}

/// A line of the record.
#[derive(Serialize, Deserialize)]
struct Fetched {
    name: String,
    at: String,
    licence: String,
    files: Vec<String>,
    downloads: Vec<Download>,
    /// The identity of the numbers.
    identity: String,
    /// `recognised` if the catalogue knows this identity, `untried` if it knows none.
    status: String,
}

/// The record; empty if there is none yet. What cannot be read is not written over.
fn recorded(data: &Path) -> anyhow::Result<Vec<Fetched>> {
    let path = data.join(RECORD);
    match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).with_context(|| {
            format!("{} is no record of fetched data; move it away", path.display())
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Records a data set and says what it is.
fn finished(
    data: &Path,
    entry: &Entry,
    stored: &Stored,
    downloads: Vec<Download>,
    mut record: Vec<Fetched>,
) -> anyhow::Result<String> {
    let files: Vec<String> = stored.files.iter().map(|path| path.display().to_string()).collect();
    let (status, said) = match stored.recognised {
        Recognised::Yes => ("recognised", "its numbers are those of the catalogue".to_owned()),
        Recognised::Untried => {
            let what = "untried: no copy was seen when the catalogue was made, and only the shape \
                        could be checked";
            ("untried", format!("{what}; identity {}", stored.identity))
        }
    };
    let line = Fetched {
        name: entry.name.into(),
        at: crate::machine::now(),
        licence: entry.licence.into(),
        files: files.clone(),
        downloads,
        identity: stored.identity.clone(),
        status: status.into(),
    };
    record.retain(|other| other.name != entry.name);
    record.push(line);
    atomic::write(&data.join(RECORD), &serde_json::to_vec_pretty(&record)?)?;
    Ok(format!("wrote {}: {said}", files.join(", ")))
}
