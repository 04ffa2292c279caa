//! Peak memory: our bench `memory`, each case in a process of its own, beside what the same fit
//! takes elsewhere.

use std::path::Path;
use std::process::Command;

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

/// 4·m²·8 bytes and 64 MiB.
const fn fit(m: f64) -> Option<f64> {
    Some(32.0 * m * m / 1_048_576.0 + 64.0)
}

const fn scikit(arguments: &'static str) -> Option<(Peer, f64)> {
    let tool = "sklearn_Nystroem+Ridge";
    Some((Peer { name: "scikit-learn", arguments, tool, only: &[], key: "peak_rss_mb" }, 0.2))
}

const fn scipy(arguments: &'static str, tool: &'static str) -> Option<(Peer, f64)> {
    Some((Peer { name: "SciPy", arguments, tool, only: &[], key: "peak_rss_mb" }, 0.5))
}

/// In the order of the document.
pub const CASES: &[Case] = &[
    Case {
        what: "Nyström fit, n = 50,000, m = 1000",
        ours: "fit n=50000 m=1000",
        aim: fit(1e3),
        peer: scikit("T2 --tool sklearn --n 50000 --m 1000"),
    },
    Case {
        what: "Nyström fit, n = 50,000, m = 2000",
        ours: "fit n=50000 m=2000",
        aim: fit(2e3),
        peer: scikit("T2 --tool sklearn --n 50000 --m 2000 --repeat 1"),
    },
    Case {
        what: "Nyström fit, n = 50,000, m = 4000",
        ours: "fit n=50000 m=4000",
        aim: fit(4e3),
        peer: None,
    },
    Case {
        what: "Nyström fit, n = 200,000, m = 2000",
        ours: "fit n=200000 m=2000",
        aim: fit(2e3),
        peer: None,
    },
    Case { what: "the same in f32", ours: "fit f32 n=200000 m=2000", aim: None, peer: None },
    Case {
        what: "Falkon, n = 200,000, m = 1000",
        ours: "falkon n=200000 m=1000",
        aim: None,
        peer: None,
    },
    Case {
        what: "exact regression, n = 10,000",
        ours: "exact krr n=10000",
        aim: None,
        peer: scipy("T3 --tool scipy --n 10000 --repeat 2", "scipy_cho_factor"),
    },
    Case {
        what: "exact scores, n = 10,000",
        ours: "exact scores n=10000",
        aim: None,
        peer: scipy("T4 --tool exact --n 10000 --repeat 2", "scipy_potrf_potri"),
    },
];

impl Case {
    /// Megabytes of ours at the peak, beyond those before the work.
    pub fn megabytes(&self, ours: &[Line]) -> Option<f64> {
        ours.iter().find(|line| line.tool() == self.ours)?.number("extra_mb")
    }
}

/// Runs our bench of it.
pub fn run(workspace: &Path) -> anyhow::Result<Vec<Line>> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace).args(["bench", "--package", "nystrom-benches", "--bench", OURS]);
    let output = command.output().context("cannot run cargo bench")?;
    if !output.status.success() {
        bail!("the bench `{OURS}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(parse(OURS, &String::from_utf8_lossy(&output.stdout)))
}

#[cfg(test)]
mod tests {
    use super::super::peers::RUNS;
    use super::*;

    #[test]
    fn every_case_is_in_the_bench_and_every_peer_is_run() {
        let bench = include_str!("../../../benches/benches/memory.rs");
        for case in CASES {
            assert!(bench.contains(&format!("\"{}\"", case.ours)), "{}", case.ours);
            let known = |peer: &Peer| RUNS.iter().any(|run| run.arguments == peer.arguments);
            assert!(case.peer.as_ref().is_none_or(|(peer, _)| known(peer)), "{}", case.ours);
        }
    }

    #[test]
    fn a_case_reads_its_line() {
        let line =
            r#"{"tool": "fit n=50000 m=1000", "base_mb": 10.0, "peak_mb": 35.5, "extra_mb": 25.5}"#;
        assert_eq!(CASES[0].megabytes(&parse(OURS, line)), Some(25.5));
    }
}
