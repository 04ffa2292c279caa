//! Finished experiments, kept on disk so that an interrupted run continues where it stopped.
//!
//! One file per experiment, `DIR/experiments/<name>/outcome.json`, holding a [`Key`] and a
//! [`Record`]. It is written atomically, so a file is there whole or not at all. One that does not
//! parse, or whose key differs, counts as absent.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::context::Scale;
use crate::record::Record;

/// Raise when the shape of the file changes.
const FORMAT: u32 = 4;

/// All that a result depends on. Results under another key are not this run's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The experiment.
    pub name: String,
    /// Fingerprint of the program: another build may compute something else.
    pub build: String,
    /// Scale of the run.
    pub scale: Scale,
    /// Seed of the run.
    pub seed: u64,
    /// The data it reads: each set's name with the SHA-256 of its files, or `absent`.
    pub data: String,
    /// Whether the peers were run.
    pub peers: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    key: Key,
    record: Record,
}

/// What a look at the disk found.
#[derive(Debug, PartialEq)]
pub enum Found {
    /// The finished record under the same key.
    Kept(Box<Record>),
    /// Nothing, or the result of another setting.
    Nothing,
    /// A file that cannot be read; the reason.
    Unreadable(String),
}

/// The folder of one experiment in the report.
pub fn folder(out: &Path, name: &str) -> PathBuf {
    out.join("experiments").join(name)
}

/// Stores a finished record.
pub fn save(out: &Path, key: &Key, record: &Record) -> anyhow::Result<()> {
    let stored = Stored { format: FORMAT, key: key.clone(), record: record.clone() };
    atomic::write(
        &folder(out, &key.name).join("outcome.json"),
        &serde_json::to_vec_pretty(&stored)?,
    )
}

/// Looks for a finished record under this key.
pub fn load(out: &Path, key: &Key) -> Found {
    let path = folder(out, &key.name).join("outcome.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Nothing,
        Err(error) => return Found::Unreadable(format!("{}: {error}", path.display())),
    };
    match serde_json::from_slice::<Stored>(&bytes) {
        Ok(stored) if stored.format == FORMAT && stored.key == *key => {
            Found::Kept(Box::new(stored.record))
        }
        Ok(_) => Found::Nothing,
        Err(error) => Found::Unreadable(format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, record};

    #[test]
    fn what_was_saved_is_found_again_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let (key, record) = (key(), record());
        assert_eq!(load(dir.path(), &key), Found::Nothing);
        save(dir.path(), &key, &record).unwrap();
        let Found::Kept(back) = load(dir.path(), &key) else { panic!("not found") };
        // NaN is unlike itself: compare what would be written
        assert_eq!(serde_json::to_string(&*back).unwrap(), serde_json::to_string(&record).unwrap());
    }

    #[test]
    fn any_other_key_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let key = key();
        save(dir.path(), &key, &record()).unwrap();
        let others = [
            Key { build: "another".into(), ..key.clone() },
            Key { scale: Scale::Full, ..key.clone() },
            Key { seed: 1, ..key.clone() },
            Key { peers: true, ..key.clone() },
            Key { data: "rqc=absent".into(), ..key.clone() },
        ];
        for other in others {
            assert_eq!(load(dir.path(), &other), Found::Nothing, "{other:?}");
        }
    }

    #[test]
    fn a_file_cut_short_anywhere_is_never_taken_for_finished() {
        let dir = tempfile::tempdir().unwrap();
        let key = key();
        save(dir.path(), &key, &record()).unwrap();
        let path = folder(dir.path(), &key.name).join("outcome.json");
        let whole = std::fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(7) {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(load(dir.path(), &key), Found::Unreadable(_)), "cut at {length}");
        }
    }
}
