//! A download that may break off: what came is kept, and the next attempt asks for the rest.
//!
//! The bytes go to `NAME.part`, beside which `NAME.part.json` says what they are part of. `NAME`
//! itself appears when all bytes are there, and never before.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::http::HeaderMap;

use crate::atomic;

/// Attempts of one download, as long as each comes further than the last.
const ATTEMPTS: usize = 8;
/// No data set is half as large: a server that sends more sends something else.
const MOST_BYTES: u64 = 1 << 30;

/// What speaks HTTP.
pub struct Client {
    agent: Agent,
}

impl Client {
    /// HTTPS only, through the proxy that the environment names, if it names one. Gives up on a
    /// server that is silent for half a minute.
    pub fn new() -> Client {
        Client::with(Duration::from_secs(30), |config| config.https_only(true))
    }

    /// Plain HTTP on this machine, for tests.
    #[cfg(test)]
    pub fn local(silence: Duration) -> Client {
        Client::with(silence, |config| config.proxy(None))
    }

    fn with(silence: Duration, more: impl Fn(Builder) -> Builder) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("nystrom-xtask/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(silence))
            .timeout_connect(Some(silence))
            .timeout_recv_response(Some(2 * silence))
            .timeout_per_read(Some(silence));
        Client { agent: more(config).build().into() }
    }
}

type Builder = ureq::config::ConfigBuilder<ureq::typestate::AgentScope>;

/// How one attempt ended.
enum Ended {
    /// All bytes are there.
    Whole,
    /// Some are missing.
    BrokeOff(String),
    /// What was kept is of no use: everything must come again.
    StartOver,
}

/// Brings what is at `address` to `target`, which must not exist; `came` is told how many bytes
/// there are, of how many.
///
/// # Errors
/// If the server refuses, or sends something that cannot be joined. Also if it breaks off or falls
/// silent without having sent a byte more than the attempt before. What came is kept beside
/// `target`, and the next call goes on from there.
pub fn download(
    client: &Client,
    address: &str,
    target: &Path,
    came: &mut dyn FnMut(u64, Option<u64>),
) -> anyhow::Result<()> {
    if target.exists() {
        bail!("{} is there already", target.display());
    }
    let part = Part::beside(target, address)?;
    for _ in 0..ATTEMPTS {
        let before = part.length();
        match attempt(client, address, &part, came).with_context(|| format!("from {address}"))? {
            Ended::Whole => return part.finish(target),
            Ended::StartOver => part.remove()?,
            Ended::BrokeOff(_) if part.length() > before => {}
            Ended::BrokeOff(why) => bail!("{address}: {why}; {}", part.kept()),
        }
    }
    bail!("{address}: broke off {ATTEMPTS} times; {}", part.kept())
}

fn attempt(
    client: &Client,
    address: &str,
    part: &Part,
    came: &mut dyn FnMut(u64, Option<u64>),
) -> anyhow::Result<Ended> {
    let (have, note) = (part.length(), part.note());
    if have >= MOST_BYTES {
        part.remove()?;
        bail!("the server sends more than {MOST_BYTES} bytes");
    }
    let mut request = client.agent.get(address).header("Accept-Encoding", "identity");
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
        if let Some(validator) = &note.validator {
            request = request.header("If-Range", validator);
        }
    }
    let response = match request.call() {
        Ok(response) => response,
        Err(error) => return Ok(Ended::BrokeOff(error.to_string())),
    };
    let headers = response.headers().clone();
    let range = Range::of(&headers);
    let (start, total) = match response.status().as_u16() {
        200 => {
            // nothing was asked for by range, or ranges are ignored, or the file has changed
            part.remove()?;
            let total = number(&headers, "content-length");
            part.write_note(&Note {
                address: address.into(),
                validator: validator(&headers),
                total,
            })?;
            (0, total)
        }
        206 if have > 0
            && range.start == Some(have)
            && (note.total.is_none() || note.total == range.total) =>
        {
            (have, range.total)
        }
        416 if have > 0 && range.total == Some(have) => return Ok(Ended::Whole),
        206 | 416 if have > 0 => return Ok(Ended::StartOver),
        _ => bail!("the server answers {}", response.status()),
    };
    let mut body = response.into_body().into_with_config().limit(MOST_BYTES).reader();
    let why = part.append(&mut body, start, total, came)?;
    Ok(match (why, total) {
        (Some(why), _) => Ended::BrokeOff(why),
        (None, Some(total)) if part.length() != total => {
            Ended::BrokeOff(format!("{} bytes came of {total}", part.length()))
        }
        (None, _) => Ended::Whole,
    })
}

/// What the bytes kept so far are part of.
#[derive(Default, Serialize, Deserialize)]
struct Note {
    address: String,
    /// The server's name for this version of the file: a strong `ETag`, or `Last-Modified`.
    validator: Option<String>,
    total: Option<u64>,
}

/// The file of the bytes that came.
struct Part {
    path: PathBuf,
    note: PathBuf,
}

impl Part {
    /// That of `target`; bytes of another address are removed.
    fn beside(target: &Path, address: &str) -> anyhow::Result<Part> {
        let named = |end: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let part = Part { path: named(".part"), note: named(".part.json") };
        if part.note().address != address {
            part.remove()?;
        }
        Ok(part)
    }

    fn length(&self) -> u64 {
        self.path.metadata().map_or(0, |metadata| metadata.len())
    }

    fn note(&self) -> Note {
        let text = std::fs::read(&self.note).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write_note(&self, note: &Note) -> anyhow::Result<()> {
        atomic::write(&self.note, &serde_json::to_vec(note)?)
    }

    /// Adds the body; the reason if it breaks off. Only what fails on this machine's side is an
    /// error.
    fn append(
        &self,
        body: &mut dyn Read,
        start: u64,
        total: Option<u64>,
        came: &mut dyn FnMut(u64, Option<u64>),
    ) -> anyhow::Result<Option<String>> {
        let failed = || format!("cannot write {}", self.path.display());
        let mut file =
            OpenOptions::new().create(true).append(true).open(&self.path).with_context(failed)?;
        let (mut buffer, mut length) = (vec![0; 1 << 16], start);
        let ended = loop {
            match body.read(&mut buffer) {
                Ok(0) => break None,
                Ok(n) => {
                    file.write_all(&buffer[..n]).with_context(failed)?;
                    length += n as u64;
                    came(length, total);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        file.sync_all().with_context(failed)?;
        Ok(ended)
    }

    fn remove(&self) -> anyhow::Result<()> {
        for path in [&self.path, &self.note] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What is left for the next run, in words.
    fn kept(&self) -> String {
        match self.length() {
            0 => "nothing came; run again".to_owned(),
            length => format!(
                "{length} bytes are kept in {}: run again to go on from there",
                self.path.display()
            ),
        }
    }

    fn finish(&self, target: &Path) -> anyhow::Result<()> {
        // An empty body leaves no file where 416 is answered, and is no data set anyway.
        File::open(&self.path).and_then(|file| file.sync_all()).context("nothing came")?;
        std::fs::rename(&self.path, target)
            .with_context(|| format!("cannot write {}", target.display()))?;
        self.remove()
    }
}

/// `Content-Range: bytes 100-199/200`, or `bytes */200`.
#[derive(Debug, PartialEq)]
struct Range {
    start: Option<u64>,
    total: Option<u64>,
}

impl Range {
    fn of(headers: &HeaderMap) -> Range {
        let text =
            headers.get("content-range").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (span, total) =
            text.trim_start_matches("bytes").trim().split_once('/').unwrap_or_default();
        let start = span.split_once('-').and_then(|(start, _)| start.parse().ok());
        Range { start, total: total.parse().ok() }
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

fn validator(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    text("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| text("last-modified"))
}
