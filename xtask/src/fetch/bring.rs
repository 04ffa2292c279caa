//! Brings data sets and records in `fetched.json` beside them what came from where.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::read::GzEncoder;
use nystrom_data::catalog::{self, Entry, Located, Verify};
use nystrom_data::{Csv, Table};
use serde_json::{Value, json};

use super::download::download;
use super::sources::{Contents, Way};
use super::unpack::{all, unpack};
use crate::atomic;
use crate::datasets::{listed, sha256};

/// Archives, kept so that nothing is downloaded twice, and the beginnings of what broke off.
const ARCHIVES: &str = ".fetch";
/// What was fetched, when, from where, with which hashes.
const RECORD: &str = "fetched.json";

/// Brings one data set, in words; `ways` is `None` for one that is embedded.
pub fn bring(data: &Path, entry: &Entry, ways: Option<&[Way]>) -> anyhow::Result<String> {
    if let Located::Found(found) = catalog::locate_entry(data, entry) {
        return Ok(format!("there already: {}", listed(&found.paths)));
    }
    let Some(ways) = ways else {
        return Ok("embedded in this program: there is nothing to fetch".into());
    };
    let record = recorded(data)?; // before anything is downloaded
    for way in ways {
        let archives = archives(data, entry, way);
        match write(data, entry, way, &archives) {
            Ok(files) => return finish(data, entry, &files, &archives, record),
            Err(error) => eprintln!("  {error:#}"),
        }
    }
    bail!("{} could not be had from any of its addresses; get it from {}", entry.name, entry.source)
}

/// The address of a download, and where it is kept.
type Archive = (String, PathBuf);

/// What a way downloads: an archive, or each of the files.
fn archives(data: &Path, entry: &Entry, way: &Way) -> Vec<Archive> {
    let address = format!("{}{}", way.site, way.path);
    let addresses = match address.ends_with('/') {
        true => wanted(entry, way).iter().map(|name| format!("{address}{name}")).collect(),
        false => vec![address],
    };
    let kept = |address: String| {
        let path = data.join(ARCHIVES).join(file_name(&address));
        (address, path)
    };
    addresses.into_iter().map(kept).collect()
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

/// Downloads what is not there yet, makes the files of the catalogue of it, and returns their
/// paths. Archives that turn out to be something else are removed, so that the next run asks for
/// them anew.
fn write(
    data: &Path,
    entry: &Entry,
    way: &Way,
    archives: &[Archive],
) -> anyhow::Result<Vec<PathBuf>> {
    for (address, path) in archives.iter().filter(|(_, path)| !path.exists()) {
        println!("  from {address}");
        download(address, path)?;
    }
    let parts = parts(entry, way, archives);
    let read = parts.and_then(|parts| Ok((table(entry, way, &parts)?, parts)));
    let (table, parts) = read.inspect_err(|_| {
        archives.iter().for_each(|(_, path)| drop(fs::remove_file(path)));
    })?;
    let (paths, contents): (Vec<PathBuf>, Vec<Vec<u8>>) = match way.contents {
        Contents::Catalogue => (entry.files.iter().map(|file| file.path.into()).collect(), parts),
        _ => (vec![entry.canonical_path()], vec![table.to_csv().into_bytes()]),
    };
    let paths: Vec<PathBuf> = paths.iter().map(|path| data.join(path)).collect();
    for (path, mut bytes) in paths.iter().zip(contents) {
        if path.extension().is_some_and(|end| end == "gz") {
            bytes = all(GzEncoder::new(&bytes[..], Compression::best()))?;
        }
        if !path.exists() {
            atomic::write(path, &bytes)?;
        }
    }
    Ok(paths)
}

/// The uncompressed bytes of the wanted files, the first of each name.
fn parts(entry: &Entry, way: &Way, archives: &[Archive]) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for (address, path) in archives {
        let inside = unpack(address, fs::read(path)?);
        files.extend(inside.with_context(|| format!("{address} is damaged, or something else"))?);
    }
    let part = |wanted: &str| {
        let place = files.iter().position(|(name, _)| wanted.eq_ignore_ascii_case(name));
        let place = place.with_context(|| format!("{} does not hold {wanted}", archives[0].0))?;
        Ok(files.remove(place).1)
    };
    wanted(entry, way).into_iter().map(part).collect()
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

/// The record; empty if there is none yet. What cannot be read is not written over.
fn recorded(data: &Path) -> anyhow::Result<Vec<Value>> {
    let path = data.join(RECORD);
    if !path.exists() {
        return Ok(vec![]);
    }
    atomic::read(&path)
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
    let download = |(address, path): &Archive| {
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

#[cfg(test)]
mod tests;
