//! A download that may break off: what came is kept in `NAME.part`, and the next attempt asks for
//! the rest. `NAME` itself appears when all bytes are there, and never before.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Attempts of one download, as long as each comes further than the last.
const ATTEMPTS: usize = 8;
/// Continues where the file ends; gives up on a server that is silent for half a minute.
const CURL: &str = "--continue-at - --fail --location --proto-redir =https --progress-bar \
                    --connect-timeout 30 --speed-limit 1 --speed-time 30 --write-out %{errormsg}";
const AGENT: &str = concat!("nystrom-xtask/", env!("CARGO_PKG_VERSION"));
/// The exit status of curl if the server has no bytes from there on, or sends all of them.
const NO_RANGE: i32 = 33;

/// Has curl bring what is at `address` to `target`, through the proxy that the environment names,
/// if it names one.
///
/// # Errors
/// If the server refuses, breaks off, or falls silent without having sent a byte more than before.
/// What came is kept beside `target`, and the next call asks for the rest.
pub fn download(address: &str, target: &Path) -> anyhow::Result<()> {
    let part = target.with_added_extension("part");
    fs::create_dir_all(target.parent().context("an archive lies in a folder")?)?;
    let length = || part.metadata().map_or(0, |part| part.len());
    let mut reason = String::new();
    for _ in 0..ATTEMPTS {
        let before = length();
        let mut curl = Command::new("curl");
        curl.args(CURL.split(' ')).args(["--user-agent", AGENT, address, "--output"]);
        let ended = curl.arg(&part).stderr(Stdio::inherit()).output();
        let ended = ended.context("cannot run curl, which brings the files: install it")?;
        reason = format!("{}, {}", String::from_utf8_lossy(&ended.stdout), ended.status);
        match ended.status.code() {
            Some(0) => return Ok(fs::rename(&part, target)?),
            Some(NO_RANGE) => drop(fs::File::create(&part)?),
            _ if length() == before => break,
            _ => {}
        }
    }
    let kept = match length() {
        0 => "nothing is kept".to_owned(),
        bytes => format!("{bytes} bytes are kept in {}: run again for the rest", part.display()),
    };
    bail!("{address}: {reason}; {kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_broke_off_is_resumed() {
        let dir = tempfile::tempdir().unwrap();
        let [source, target] = ["source", "sub/file"].map(|name| dir.path().join(name));
        let address = format!("file://{}", source.display());
        let part = target.with_extension("part");
        fs::create_dir_all(part.parent().unwrap()).unwrap();
        fs::write(&part, "ab").unwrap();
        let error = download(&address, &target).unwrap_err().to_string();
        assert!(error.contains("open file") && error.contains("2 bytes are kept in"), "{error}");
        fs::write(source, "??cdefgh").unwrap();
        download(&address, &target).unwrap();
        assert_eq!(fs::read(target).unwrap(), b"abcdefgh");
        assert!(!part.exists());
    }
}
