//! Finished experiments, kept on disk so that an interrupted run continues where it stopped.
//!
//! One file per experiment, `DIR/experiments/<name>/outcome.json`, holding a key, of all that the
//! result depends on (the program too), and a [`Record`]. It is written atomically, so a file is there whole or not
//! at all. One that does not parse, or whose key differs, counts as absent.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use crate::record::Record;

/// The folder of one experiment in the report.
pub fn folder(out: &Path, name: &str) -> PathBuf {
    out.join("experiments").join(name)
}

/// Stores the finished record of an experiment.
pub fn save(out: &Path, name: &str, key: &Value, record: &Record) -> anyhow::Result<()> {
    let path = folder(out, name).join("outcome.json");
    crate::atomic::write(&path, &serde_json::to_vec_pretty(&(key, record))?)
}

/// Looks for the finished record of an experiment under this key.
///
/// # Errors
/// If there is a file that cannot be read.
pub fn load(out: &Path, name: &str, key: &Value) -> anyhow::Result<Option<Record>> {
    let path = folder(out, name).join("outcome.json");
    if !path.exists() {
        return Ok(None);
    }
    let read = || anyhow::Ok(serde_json::from_slice(&std::fs::read(&path)?)?);
    let (of, record): (Value, Record) = read().with_context(|| path.display().to_string())?;
    Ok((of == *key).then_some(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn what_was_saved_is_found_again_to_the_bit_and_never_in_part() {
        let (dir, key) = (tempfile::tempdir().unwrap(), Value::from("key"));
        let load = |key: &Value| load(dir.path(), "one", key);
        assert_eq!(load(&key).unwrap(), None);
        save(dir.path(), "one", &key, &record()).unwrap();
        let back = load(&key).unwrap().unwrap();
        // NaN is unlike itself: compare what would be written
        assert_eq!(
            serde_json::to_string(&back).unwrap(),
            serde_json::to_string(&record()).unwrap()
        );
        assert_eq!(load(&Value::from("another")).unwrap(), None);
        let path = folder(dir.path(), "one").join("outcome.json");
        let whole = std::fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(7) {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(load(&key).is_err(), "cut at {length}");
        }
    }
}
