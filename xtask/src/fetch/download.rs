//! A download that may break off: what came is kept in `NAME.part`, and the next attempt asks for
//! the rest. `NAME` itself appears when all bytes are there, and never before.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use ureq::Agent;

/// Attempts of one download, as long as each comes further than the last.
const ATTEMPTS: usize = 8;

/// What speaks HTTPS, through the proxy that the environment names, if it names one. Gives up on a
/// server that is silent for half a minute.
pub fn agent() -> Agent {
    let silence = Duration::from_secs(30);
    let config = Agent::config_builder()
        .https_only(true)
        .http_status_as_error(false)
        .user_agent(concat!("nystrom-xtask/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(silence))
        .timeout_connect(Some(silence))
        .timeout_recv_response(Some(2 * silence))
        .timeout_per_read(Some(silence));
    config.build().into()
}

/// Brings what is at `address` to `target`.
///
/// # Errors
/// If the server refuses, breaks off, or falls silent without having sent a byte more than before.
/// What came is kept beside `target`, and the next call asks for the rest.
pub fn download(agent: &Agent, address: &str, target: &Path) -> anyhow::Result<()> {
    let part = target.with_added_extension("part");
    fs::create_dir_all(target.parent().context("an archive lies in a folder")?)?;
    let length = || part.metadata().map_or(0, |part| part.len());
    let mut error = anyhow::anyhow!("nothing came");
    for _ in 0..ATTEMPTS {
        let before = length();
        match attempt(agent, address, &part, before) {
            Ok(()) => return Ok(fs::rename(&part, target)?),
            Err(reason) => error = reason,
        }
        if length() == before {
            break;
        }
    }
    let kept = match length() {
        0 => "nothing is kept".to_owned(),
        bytes => format!("{bytes} bytes are kept in {}: run again for the rest", part.display()),
    };
    bail!("{address}: {error:#}; {kept}")
}

/// Adds to the `have` bytes in `part` what is missing there. Starts over if the server ignores the
/// range that is asked for, or has another one.
fn attempt(agent: &Agent, address: &str, part: &Path, have: u64) -> anyhow::Result<()> {
    let mut request = agent.get(address).header("Accept-Encoding", "identity");
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call()?;
    let range = response.headers().get("content-range").and_then(|range| range.to_str().ok());
    let continues = range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")));
    let mut file = OpenOptions::new().create(true).append(true).open(part)?;
    match response.status().as_u16() {
        206 if continues => {}
        200 => file.set_len(0)?,
        206 | 416 => {
            file.set_len(0)?;
            bail!("the server has no bytes from {have} on");
        }
        _ => bail!("the server answers {}", response.status()),
    }
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template(
        "  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} to go",
    )?);
    bar.set_length(response.body().content_length().unwrap_or(0));
    let mut body = bar.wrap_read(response.into_body().into_reader());
    let copied = std::io::copy(&mut body, &mut file);
    bar.finish_and_clear();
    copied?;
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// What comes of a file of 8 bytes from a server that gives these answers, one a connection.
    fn download_from(answers: &'static [&str]) -> anyhow::Result<Vec<u8>> {
        let server = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}/file", server.local_addr()?);
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = server.accept().unwrap();
                assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
                write!(stream, "HTTP/1.1 {answer}").unwrap();
            }
        });
        let dir = tempfile::tempdir()?;
        let target = dir.path().join("sub/file");
        let agent = Agent::config_builder().http_status_as_error(false).proxy(None).build();
        download(&agent.into(), &address, &target)?;
        Ok(fs::read(target)?)
    }

    #[test]
    fn what_broke_off_is_resumed_or_comes_again() {
        const WHOLE: &str = "200 OK\r\nContent-Length: 8\r\n\r\nabcdefgh";
        const CUT: &str = "200 OK\r\nContent-Length: 8\r\n\r\nabc";
        const REST: &str =
            "206 Part\r\nContent-Range: bytes 3-7/8\r\nContent-Length: 5\r\n\r\ndefgh";
        const OTHER: &str =
            "206 Part\r\nContent-Range: bytes 4-7/8\r\nContent-Length: 4\r\n\r\nefgh";
        const GONE: &str = "404 Not Found\r\nContent-Length: 4\r\n\r\ngone";
        for answers in [&[WHOLE][..], &[CUT, REST], &[CUT, WHOLE], &[CUT, OTHER, WHOLE]] {
            assert_eq!(download_from(answers).unwrap(), b"abcdefgh", "{answers:?}");
        }
        let error = download_from(&[CUT, GONE]).unwrap_err().to_string();
        assert!(error.contains("404") && error.contains("3 bytes are kept in"), "{error}");
    }
}
