//! What criterion left under `target/criterion`: one estimate per benchmark.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use crate::atomic::read;

/// Median seconds of the latest run of every benchmark below a folder, by its full name
/// `group/function/parameter`.
pub fn medians(folder: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    let (name, estimates) = (folder.join("new/benchmark.json"), folder.join("new/estimates.json"));
    if estimates.is_file() {
        let (name, values): (Value, Value) = (read(&name)?, read(&estimates)?);
        let nanoseconds = values["median"]["point_estimate"].as_f64();
        let median = name["full_id"].as_str().zip(nanoseconds);
        let (name, nanoseconds) =
            median.with_context(|| format!("{} has no median", estimates.display()))?;
        return Ok([(name.into(), nanoseconds * 1e-9)].into());
    }
    let mut found = BTreeMap::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(medians(&path)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_found_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("group/name/10/new");
        std::fs::create_dir_all(&new).unwrap();
        std::fs::write(new.join("benchmark.json"), r#"{"full_id": "group/name/10"}"#).unwrap();
        let estimates = new.join("estimates.json");
        std::fs::write(&estimates, r#"{"median": {"point_estimate": 2.5e9}, "mean": 1}"#).unwrap();
        assert_eq!(medians(folder.path()).unwrap(), [("group/name/10".into(), 2.5)].into());
        std::fs::write(&estimates, "{}").unwrap();
        let error = medians(folder.path()).unwrap_err();
        assert!(format!("{error:#}").contains("estimates.json"), "{error:#}");
    }
}
