//! The peers: what a user would pick instead, run by `benches/peers/peerbench.py`, one JSON line a
//! result.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::workspace::root;

/// The harness, below the workspace.
pub const HARNESS: &str = "benches/peers/peerbench.py";
/// What it needs.
const NEEDED: &[&str] = &["numpy", "scipy", "sklearn", "dppy"];

/// The run that prints what is installed.
pub const VERSIONS: &str = "versions";

/// One result: the run that gave it and its line.
#[derive(Serialize, Deserialize)]
pub struct Line {
    /// The arguments of its run.
    pub arguments: String,
    /// The JSON object.
    #[serde(flatten)]
    pub value: Value,
}

impl Line {
    /// The peer's name.
    pub fn tool(&self) -> &str {
        self.value["tool"].as_str().unwrap_or_default()
    }

    /// A value of the line as text.
    pub fn text(&self, key: &str) -> Option<String> {
        let value = self.value.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// A number of the line.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value[key].as_f64()
    }
}

/// The Python that is named, or else that of the virtual environment, if there is one; it has what
/// the harness needs.
///
/// # Errors
/// Those of [`versions`].
pub fn chosen(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let own = root().join(".venv/bin/python");
    let own = if own.is_file() { own } else { "python3".into() };
    let python = named.map_or(own, Path::to_owned);
    versions(&python)?;
    Ok(python)
}

/// What is installed, as the line of a run.
///
/// # Errors
/// If Python cannot be run, or has not what the harness needs.
pub fn versions(python: &Path) -> anyhow::Result<Vec<Line>> {
    let (lines, complaint) = harness(python, VERSIONS)?;
    let has = |name: &str| lines.first().is_some_and(|line| !line.value[name].is_null());
    let lacking: Vec<&str> = NEEDED.iter().copied().filter(|name| !has(name)).collect();
    ensure!(
        lacking.is_empty(),
        "{} lacks {}: make a virtual environment in .venv, or name one's Python after --peers, and \
         `.venv/bin/pip install -r benches/peers/requirements.txt`\n{complaint}",
        python.display(),
        lacking.join(", ")
    );
    Ok(lines)
}

/// What is installed, then runs of these arguments, one after another.
///
/// # Errors
/// Those of [`versions`].
pub fn run(python: &Path, runs: &[String]) -> anyhow::Result<Vec<Line>> {
    let mut all = versions(python)?;
    for arguments in runs {
        eprintln!("peers: {arguments}");
        let (lines, complaint) = harness(python, arguments)?;
        if lines.is_empty() {
            eprintln!("peers: `{arguments}` failed:\n{complaint}");
        }
        all.extend(lines);
    }
    Ok(all)
}

/// One run, with OpenBLAS as a user has it: variables that force another processor's code are
/// unset. Also what it said on standard error.
///
/// # Errors
/// If Python cannot be run.
pub fn harness(python: &Path, arguments: &str) -> anyhow::Result<(Vec<Line>, String)> {
    let mut command = Command::new(python);
    command.arg(root().join(HARNESS)).args(arguments.split(' '));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("OPENBLAS_CORETYPE").env_remove("OPENBLAS_L2_SIZE");
    let output = command.output().with_context(|| format!("cannot run {}", python.display()))?;
    let [lines, complaint] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((parse(arguments, &lines), complaint))
}

/// The lines that are JSON objects.
pub fn parse(arguments: &str, stdout: &str) -> Vec<Line> {
    let objects = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = |value| Line { arguments: arguments.into(), value };
    objects.filter(Value::is_object).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_cannot_be_run_is_named_before_anything_is_measured() {
        let error = versions(Path::new("no/such/python")).err().unwrap();
        assert!(format!("{error:#}").contains("no/such/python"), "{error:#}");
    }

    #[test]
    fn lines_that_are_no_objects_are_passed_over() {
        let lines = parse("T1", "warning: x\n{\"tool\": \"numpy\", \"wall_min\": 0.5}\n3\n");
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].tool(), lines[0].number("wall_min")), ("numpy", Some(0.5)));
        assert_eq!(lines[0].number("tool"), None);
    }
}
