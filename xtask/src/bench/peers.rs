//! The peers: what a user would pick instead, run by the harness `peerbench.py`, one JSON line a result.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

/// The run that prints what is installed.
pub const VERSIONS: &str = "versions";

/// One run of the harness.
pub struct Run {
    /// Its arguments.
    pub arguments: &'static str,
}

/// Every run that some row of the comparison needs.
pub const RUNS: &[Run] = &[
    Run { arguments: VERSIONS },
    Run { arguments: "T7 --tool gemm" },
    Run { arguments: "T7 --tool potrf" },
    Run { arguments: "T1" },
    Run { arguments: "T2 --tool numpy_blocked --n 50000 --m 1000" },
    Run { arguments: "T2 --tool numpy_blocked --n 50000 --m 2000" },
    Run { arguments: "T2 --tool numpy_blocked --n 200000 --m 1000" },
    Run { arguments: "T2 --tool numpy_blocked --n 200000 --m 2000" },
    Run { arguments: "T2 --tool sklearn --n 50000 --m 1000" },
    Run { arguments: "T2 --tool sklearn --n 50000 --m 2000 --repeat 1" },
    Run { arguments: "T3 --tool scipy --n 10000 --repeat 2" },
    Run { arguments: "T4 --tool exact --n 10000 --repeat 2" },
    Run { arguments: "T4 --tool rls_numpy --n 50000" },
    Run { arguments: "T4 --tool rls_numpy --n 200000" },
    Run { arguments: "T4 --tool dppy_bless --n 10000 --repeat 1" },
    Run { arguments: "T5 --tool exact --n 4000 --k 100 --repeat 1" },
    Run { arguments: "T5 --tool mcmc --n 4000 --k 50" },
    Run { arguments: "T5 --tool mcmc --n 4000 --k 100" },
    Run { arguments: "T5 --tool mcmc --n 4000 --k 200" },
];

/// One result: the run that gave it and its line.
pub struct Line {
    /// The arguments of its run.
    pub arguments: &'static str,
    /// The JSON object.
    pub value: Value,
}

impl Line {
    /// The peer's name.
    pub fn tool(&self) -> &str {
        self.value.get("tool").and_then(Value::as_str).unwrap_or_default()
    }

    /// A value of the line as text.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.value.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// A number of the line.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value.get(key).and_then(Value::as_f64)
    }
}

/// Runs them all, one after another, with OpenBLAS as a user has it: variables that force another processor's code are unset.
pub fn run(python: &Path, harness: &Path) -> anyhow::Result<Vec<Line>> {
    let script = harness.join("peerbench.py");
    if !script.is_file() {
        bail!("--harness {}: there is no peerbench.py in it", harness.display());
    }
    let mut lines = Vec::new();
    for Run { arguments } in RUNS {
        eprintln!("peers: {arguments}");
        let output = Command::new(python)
            .arg(&script)
            .args(arguments.split(' '))
            .env_remove("OPENBLAS_CORETYPE")
            .env_remove("OPENBLAS_L2_SIZE")
            .output()
            .with_context(|| format!("cannot run {}", python.display()))?;
        if !output.status.success() {
            eprintln!("peers: `{arguments}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        lines.extend(parse(arguments, &String::from_utf8_lossy(&output.stdout)));
    }
    Ok(lines)
}

/// The lines that are JSON objects.
pub fn parse(arguments: &'static str, stdout: &str) -> Vec<Line> {
    let objects = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.filter(Value::is_object).map(|value| Line { arguments, value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_objects_are_passed_over() {
        let lines = parse("T1", "warning: x\n{\"tool\": \"numpy\", \"wall_min\": 0.5}\n3\n");
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].tool(), lines[0].number("wall_min")), ("numpy", Some(0.5)));
        assert_eq!(lines[0].number("tool"), None);
    }
}
