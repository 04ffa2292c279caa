//! What criterion left under `target/criterion`: one estimate per benchmark.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Seconds by full name, `group/function/parameter`, in alphabetical order.
#[derive(Serialize, Deserialize)]
pub struct Measurements(BTreeMap<String, f64>);

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

impl Measurements {
    /// Medians of the latest run of every benchmark below `folder`.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut found = BTreeMap::new();
        collect(folder, &mut found)?;
        Ok(Measurements(found))
    }

    /// The median time of one, in seconds.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, seconds)| (name.as_str(), *seconds))
    }

    /// Series whose names differ in a last part that is a number, at least three sizes of it: what
    /// a growth exponent is fitted to.
    pub fn series(&self) -> BTreeMap<&str, Vec<(f64, f64)>> {
        let mut series: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (name, seconds) in self.iter() {
            let size =
                name.rsplit_once('/').and_then(|(head, last)| Some((head, number_at_end(last)?)));
            if let Some((head, size)) = size {
                series.entry(head).or_default().push((size, seconds));
            }
        }
        series.retain(|_, points| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points.len() >= 3
        });
        series
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, f64); N]> for Measurements {
    fn from(pairs: [(&str, f64); N]) -> Self {
        Measurements(pairs.map(|(name, seconds)| (name.to_owned(), seconds)).into())
    }
}

/// `50000`, `n=50000`, `c100`.
fn number_at_end(part: &str) -> Option<f64> {
    part.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

fn collect(folder: &Path, found: &mut BTreeMap<String, f64>) -> anyhow::Result<()> {
    let latest = folder.join("new");
    if latest.join("estimates.json").is_file() {
        let id: Benchmark = parse(&latest.join("benchmark.json"))?;
        let estimates: Estimates = parse(&latest.join("estimates.json"))?;
        // criterion counts nanoseconds
        found.insert(id.full_id, estimates.median.point_estimate * 1e-9);
        return Ok(());
    }
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}

/// A file of JSON.
pub fn parse<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is not what a run writes", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_found_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("group/name/10/new");
        std::fs::create_dir_all(&new).unwrap();
        std::fs::write(
            new.join("benchmark.json"),
            r#"{"full_id":"group/name/10","value_str":"10"}"#,
        )
        .unwrap();
        std::fs::write(
            new.join("estimates.json"),
            r#"{"median":{"point_estimate":2.5e9},"mean":{"point_estimate":1}}"#,
        )
        .unwrap();
        let read = Measurements::read(folder.path()).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), [("group/name/10", 2.5)]);
        std::fs::write(new.join("estimates.json"), "{}").unwrap();
        assert!(
            Measurements::read(folder.path())
                .is_err_and(|e| format!("{e:#}").contains("estimates.json"))
        );
    }

    #[test]
    fn series_need_three_sizes() {
        let all = Measurements::from([
            ("a/n=100", 1.0),
            ("a/n=20", 0.1),
            ("a/n=3", 0.01),
            ("b/1", 1.0),
            ("c", 1.0),
        ]);
        let series = all.series();
        assert_eq!(series.len(), 1);
        assert_eq!(series["a"], [(3.0, 0.01), (20.0, 0.1), (100.0, 1.0)]);
    }
}
