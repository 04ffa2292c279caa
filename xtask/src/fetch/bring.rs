//! Brings data sets and records in `fetched.json` beside them what came from where.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use flate2::Compression;
use nystrom_data::catalog::{self, Entry, Located, Verify};
use nystrom_data::{Csv, Table};
use serde_json::{Value, json};
use ureq::Agent;

use super::Options;
use super::sources::{self, Contents, Way};
use super::{download, unpack};
use crate::atomic;
use crate::datasets::sha256;

/// Archives, kept so that nothing is downloaded twice, and the beginnings of what broke off.
const ARCHIVES: &str = ".fetch";
/// What was fetched, when, from where, with which hashes.
const RECORD: &str = "fetched.json";

/// Fetches what is asked for and not there. The exit code tells whether all of it is there now.
pub(super) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let chosen: Vec<&Entry> = match options.names.as_slice() {
        [] => catalog::entries().filter(|entry| sources::of(entry.name).is_some()).collect(),
        names => names.iter().map(|name| catalog::find(name)).collect::<Result<_, _>>()?,
    };
    let (agent, mut failed) = (download::agent(), 0);
    for entry in chosen {
        println!("{}: {}\n  licence: {}", entry.name, entry.title, entry.licence);
        match fetch(&agent, &options.data, entry, sources::of(entry.name)) {
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
    agent: &Agent,
    data: &Path,
    entry: &Entry,
    ways: Option<&[Way]>,
) -> anyhow::Result<String> {
    if let Located::Found(found) = catalog::locate_entry(data, entry) {
        return Ok(format!("there already: {}", listed(&found.paths)));
    }
    let Some(ways) = ways else {
        return Ok("embedded in this program: there is nothing to fetch".into());
    };
    let record = recorded(data)?; // before anything is downloaded
    for way in ways {
        let downloaded = archives(agent, data, entry, way);
        match downloaded.and_then(|archives| Ok((write(data, entry, way, &archives)?, archives))) {
            Ok((files, archives)) => return finish(data, entry, &files, &archives, record),
            Err(error) => eprintln!("  {error:#}"),
        }
    }
    bail!("{} could not be had from any of its addresses; get it from {}", entry.name, entry.source)
}

/// What was downloaded, now or before.
struct Archive {
    address: String,
    path: PathBuf,
}

/// Downloads what is not there yet.
fn archives(agent: &Agent, data: &Path, entry: &Entry, way: &Way) -> anyhow::Result<Vec<Archive>> {
    let address = format!("{}{}", way.site, way.path);
    let addresses = match address.ends_with('/') {
        true => wanted(entry, way).iter().map(|name| format!("{address}{name}")).collect(),
        false => vec![address],
    };
    let bring = |address: String| {
        let path = data.join(ARCHIVES).join(file_name(&address));
        if !path.exists() {
            println!("  from {address}");
            download::download(agent, &address, &path)?;
        }
        Ok(Archive { address, path })
    };
    addresses.into_iter().map(bring).collect()
}

/// The end of an address, and a few digits that tell its like at another address apart.
fn file_name(address: &str) -> String {
    let end = address.rsplit('/').next().unwrap_or(address);
    format!("{}-{}", &sha256(address.as_bytes())[..8], end.replace('+', "-"))
}

/// The names of the files that a way has; those of the catalogue without folder and `.gz`.
fn wanted<'a>(entry: &Entry, way: &Way) -> Vec<&'a str> {
    let name = |path: &'static str| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".gz");
    match way.contents {
        Contents::TargetLast(names) => names.to_vec(),
        _ => entry.files.iter().map(|file| name(file.path)).collect(),
    }
}

/// Makes the files of the catalogue of what was downloaded, and returns their paths. Archives that
/// turn out to be something else are removed, so that the next run asks for them anew.
fn write(
    data: &Path,
    entry: &Entry,
    way: &Way,
    archives: &[Archive],
) -> anyhow::Result<Vec<PathBuf>> {
    let read =
        parts(entry, way, archives).and_then(|parts| Ok((table(entry, way, &parts)?, parts)));
    let (table, parts) = read.inspect_err(|_| {
        archives.iter().for_each(|archive| drop(fs::remove_file(&archive.path)));
    })?;
    let (paths, contents): (Vec<PathBuf>, Vec<Vec<u8>>) = match way.contents {
        Contents::Catalogue => (entry.files.iter().map(|file| file.path.into()).collect(), parts),
        _ => (vec![entry.canonical_path()], vec![table.to_csv().into_bytes()]),
    };
    let paths: Vec<PathBuf> = paths.iter().map(|path| data.join(path)).collect();
    for (path, mut bytes) in paths.iter().zip(contents) {
        if path.extension().is_some_and(|end| end == "gz") {
            bytes = gzip(&bytes)?;
        }
        atomic::create(path, &bytes)?; // what is there is not written over
    }
    Ok(paths)
}

/// The uncompressed bytes of the wanted files, the first of each name.
fn parts(entry: &Entry, way: &Way, archives: &[Archive]) -> anyhow::Result<Vec<Vec<u8>>> {
    let wanted = wanted(entry, way);
    let mut found: Vec<Option<Vec<u8>>> = vec![None; wanted.len()];
    for Archive { address, path } in archives {
        let mut file = fs::File::open(path)?;
        let visit = &mut |name: &str, bytes: &mut dyn std::io::Read| {
            let place = wanted.iter().position(|wanted| wanted.eq_ignore_ascii_case(name));
            if let Some(place) = place.filter(|&place| found[place].is_none()) {
                bytes.read_to_end(found[place].insert(Vec::new()))?;
            }
            Ok(())
        };
        unpack::unpack(address, &mut file, visit)
            .with_context(|| format!("{address} is damaged, or something else"))?;
    }
    let part = |(part, name): (Option<Vec<u8>>, &&str)| {
        part.with_context(|| format!("{} does not hold {name}", archives[0].address))
    };
    found.into_iter().zip(&wanted).map(part).collect()
}

/// The parts as one table, which has the numbers that the catalogue knows.
fn table(entry: &Entry, way: &Way, parts: &[Vec<u8>]) -> anyhow::Result<Table> {
    let names: Option<Vec<String>> = match way.contents {
        Contents::Catalogue => None,
        Contents::Columns(names) => Some(names.iter().map(|&name| name.into()).collect()),
        Contents::TargetLast(_) => {
            let features = (1..entry.columns).map(|i| format!("c{i}"));
            Some(features.chain([entry.target.to_owned()]).collect())
        }
    };
    let read = |bytes: &Vec<u8>| match &names {
        None => (entry.read)(&mut &bytes[..], entry.name),
        Some(names) => {
            let first = bytes.trim_ascii_start().first();
            let number = first.is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
            let csv = Csv::new().guess_delimiter().names(names);
            csv.skip_lines(u64::from(!number)).read(&bytes[..], entry.name)
        }
    };
    let table = Table::stack(parts.iter().map(read).collect::<Result<Vec<_>, _>>()?)?;
    catalog::recognise(entry, table.clone())?;
    Ok(table)
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(bytes, Compression::best());
    std::io::Read::read_to_end(&mut encoder, &mut compressed)?;
    Ok(compressed)
}

/// The record; empty if there is none yet. What cannot be read is not written over.
fn recorded(data: &Path) -> anyhow::Result<Vec<Value>> {
    let path = data.join(RECORD);
    if !path.exists() {
        return Ok(vec![]);
    }
    serde_json::from_slice(&fs::read(&path)?)
        .with_context(|| format!("{} is no record of fetched data; move it away", path.display()))
}

/// Loads a data set once, records it and says what it is.
fn finish(
    data: &Path,
    entry: &Entry,
    files: &[PathBuf],
    archives: &[Archive],
    mut record: Vec<Value>,
) -> anyhow::Result<String> {
    let identity = catalog::identity(&catalog::load_entry(data, entry, Verify::Checksum)?);
    let (status, said) = match entry.identity {
        Some(_) => ("recognised", "its numbers are those of the catalogue".to_owned()),
        None => {
            let what = "untried: no copy was seen when the catalogue was made, and only the shape \
                        could be checked";
            ("untried", format!("{what}; identity {identity}"))
        }
    };
    let download = |Archive { address, path }: &Archive| {
        let bytes = fs::read(path)?;
        Ok(json!({"address": address, "bytes": bytes.len(), "sha256": sha256(&bytes)}))
    };
    record.retain(|line| line["name"] != entry.name);
    record.push(json!({
        "name": entry.name,
        "at": crate::machine::now(),
        "licence": entry.licence,
        "files": files,
        "downloads": archives.iter().map(download).collect::<anyhow::Result<Vec<_>>>()?,
        "identity": identity,
        "status": status,
    }));
    atomic::write(&data.join(RECORD), &serde_json::to_vec_pretty(&record)?)?;
    Ok(format!("wrote {}: {said}", listed(files)))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
