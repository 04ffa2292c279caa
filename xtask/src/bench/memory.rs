//! Peak memory: our bench `memory`, each case in a process of its own, beside what the same fit
//! takes elsewhere.

use std::path::Path;

use anyhow::{Context, bail};

use super::comparison::Peer;
use super::peers::{Line, parse};

/// The name under which our lines are kept.
const OURS: &str = "memory";

/// One line of the table.
pub struct Case {
    /// What is done.
    pub what: &'static str,
    /// The name of the case in the bench.
    pub ours: &'static str,
    /// At most so many megabytes beyond the data; none where no aim was set.
    pub aim: Option<f64>,
    /// Whose memory stands beside ours, and which share of it is aimed at.
    pub peer: Option<(Peer, f64)>,
}

/// In the order of the document.
pub fn cases() -> Vec<Case> {
    let case = |what, ours| Case { what, ours, aim: None, peer: None };
    // 4·m²·8 bytes and 64 MiB
    let fit = |what, ours, m: f64| Case {
        aim: Some(32.0 * m * m / 1_048_576.0 + 64.0),
        ..case(what, ours)
    };
    let beside = |case: Case, share: f64, name, run, tool| Case {
        peer: Some((Peer::new(name, run, tool, "peak_rss_mb"), share)),
        ..case
    };
    let scikit = |case, run| beside(case, 0.2, "scikit-learn", run, "sklearn_Nystroem+Ridge");
    let scipy = |case, run, tool| beside(case, 0.5, "SciPy", run, tool);
    vec![
        scikit(
            fit("Nyström fit, n = 50,000, m = 1000", "fit n=50000 m=1000", 1e3),
            "T2 --tool sklearn --n 50000 --m 1000",
        ),
        scikit(
            fit("Nyström fit, n = 50,000, m = 2000", "fit n=50000 m=2000", 2e3),
            "T2 --tool sklearn --n 50000 --m 2000 --repeat 1",
        ),
        fit("Nyström fit, n = 50,000, m = 4000", "fit n=50000 m=4000", 4e3),
        fit("Nyström fit, n = 200,000, m = 2000", "fit n=200000 m=2000", 2e3),
        case("the same in f32", "fit f32 n=200000 m=2000"),
        case("Falkon, n = 200,000, m = 1000", "falkon n=200000 m=1000"),
        scipy(
            case("exact regression, n = 10,000", "exact krr n=10000"),
            "T3 --tool scipy --n 10000 --repeat 2",
            "scipy_cho_factor",
        ),
        scipy(
            case("exact scores, n = 10,000", "exact scores n=10000"),
            "T4 --tool exact --n 10000 --repeat 2",
            "scipy_potrf_potri",
        ),
    ]
}

impl Case {
    /// Megabytes of ours at the peak, beyond those before the work.
    pub fn megabytes(&self, ours: &[Line]) -> Option<f64> {
        ours.iter().find(|line| line.tool() == self.ours)?.number("extra_mb")
    }
}

/// Runs our bench of it.
pub fn run(workspace: &Path) -> anyhow::Result<Vec<Line>> {
    let mut command = crate::workspace::cargo();
    command.current_dir(workspace).args(["bench", "--package", "nystrom-benches", "--bench", OURS]);
    let output = command.output().context("cannot run cargo bench")?;
    if !output.status.success() {
        bail!("the bench `{OURS}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(parse(OURS, &String::from_utf8_lossy(&output.stdout)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_the_bench() {
        let bench = include_str!("../../../benches/benches/memory.rs");
        for case in cases() {
            assert!(bench.contains(&format!("\"{}\"", case.ours)), "{}", case.ours);
        }
    }

    #[test]
    fn a_case_reads_its_line() {
        let line =
            r#"{"tool": "fit n=50000 m=1000", "base_mb": 10.0, "peak_mb": 35.5, "extra_mb": 25.5}"#;
        assert_eq!(cases()[0].megabytes(&parse(OURS, line)), Some(25.5));
    }
}
