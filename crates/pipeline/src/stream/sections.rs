//! The layout of checkpoints (sections and a checksum) and of messages between processes.

use crate::error::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use std::fmt::Display;

const MAGIC: &[u8; 8] = b"NYSTRCKP";
/// Raised whenever a layout changes.
const VERSION: u32 = 5;
const CHECKSUM: usize = 32;

/// The content of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Recipe = 1,
    Sums = 2,
    Solve = 3,
}

/// The bytes of a checkpoint: sections with their lengths, and a checksum.
pub(super) fn pack(kind: Content, sections: &[Vec<u8>]) -> Vec<u8> {
    let length: usize = sections.iter().map(|section| 8 + section.len()).sum();
    let mut bytes = Vec::with_capacity(16 + length + CHECKSUM);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((kind as u32).to_le_bytes());
    for section in sections {
        bytes.extend((section.len() as u64).to_le_bytes());
        bytes.extend(section);
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// The sections of a checkpoint with this content.
///
/// # Errors
/// [`Error::Checkpoint`] for other bytes.
pub(super) fn unpack(kind: Content, bytes: &[u8]) -> Result<Vec<&[u8]>> {
    let cut = || wrong("it is cut off");
    if !bytes.starts_with(MAGIC) {
        return Err(wrong("it does not begin as a checkpoint does"));
    }
    let word =
        |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    match (word(8), word(12)) {
        (Some(VERSION), Some(found)) if found == kind as u32 => {}
        (Some(VERSION), Some(_)) => return Err(wrong("it holds something else")),
        (Some(version), Some(_)) => {
            let problem = format!(
                "it has layout {version}, this program reads {VERSION}; use the version that \
                 wrote it, or name another folder"
            );
            return Err(wrong(problem));
        }
        _ => return Err(cut()),
    }
    let end = bytes.len().checked_sub(CHECKSUM).filter(|end| *end >= 16).ok_or_else(cut)?;
    if Sha256::digest(&bytes[..end])[..] != bytes[end..] {
        return Err(wrong("its checksum is wrong: it is damaged"));
    }
    let (mut rest, mut sections) = (&bytes[16..end], Vec::new());
    while let Some((length, behind)) = rest.split_at_checked(8) {
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        let length = usize::try_from(length).map_err(|_| cut())?;
        let (section, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
        sections.push(section);
        rest = behind;
    }
    Ok(sections)
}

/// The bytes of a value for another process of the same program.
pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // JSON would lose NaN
    ciborium::into_writer(value, &mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// Reads a value that [`write`] wrote.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    ciborium::from_reader(bytes).map_err(wrong)
}

pub(super) fn wrong(problem: impl Display) -> Error {
    Error::Checkpoint { problem: problem.to_string() }
}
