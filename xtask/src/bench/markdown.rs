//! The measured part of `docs/performance.md`.

use std::fmt::Write;

use super::Run;
use super::comparison::{Rates, Rival, Row};
use super::memory::cases;
use super::peers::VERSIONS;
use super::rows::{TEN, rows};
use crate::width::wrapped;

/// A measured ratio of ours to something, and the least or the most that was aimed at.
struct Ratio {
    value: f64,
    to: String,
    aim: Option<(char, f64)>,
}

/// The block of the page: ten rows, every missed aim, peaks of memory.
pub fn measured(run: &Run) -> String {
    let mut ten = rows();
    ten.retain(|row| TEN.contains(&&*row.what));
    format!("{}\n\n{}{}{}", setting(run), table(&ten, run), missed(run), peaks(run))
}

/// Every row and every median.
pub fn all(run: &Run) -> String {
    let mut out = format!("{}\n\n{}", setting(run), table(&rows(), run));
    for (name, seconds) in run.medians.iter() {
        let _ = writeln!(out, "{name}: {}", time(seconds));
    }
    out
}

/// Day, processor, threads and compiler; the machine's rates; the peers' versions.
fn setting(run: &Run) -> String {
    let Run { day, processor, threads, compiler, .. } = run;
    let mut out = format!("Medians of {day}: {processor}, {threads} threads, {compiler}.");
    let rates = Rates(&run.medians);
    let rates = [
        ("a product in f64", rates.product()),
        ("one triangle of a Gram matrix", rates.triangle("f64")),
        ("the same in f32", rates.triangle("f32")),
    ];
    let known = rates.map(|(what, rate)| Some(format!("{what} {:.0}", rate? * 1e-9)));
    let known: Vec<String> = known.into_iter().flatten().collect();
    let _ = write!(out, "\nGF/s: {}.", known.join(", "));
    if let Some(line) = run.peers.iter().find(|line| line.arguments == VERSIONS) {
        let of = |key| format!("{key} {}", line.text(key).unwrap_or_else(|| "?".into()));
        let names = ["python", "numpy", "scipy", "sklearn", "dppy"].map(of);
        let _ = write!(out, "\nPeers: {}.", names.join(", "));
    }
    out
}

/// The rows that were measured, each with the peers that were.
fn table(rows: &[Row], run: &Run) -> String {
    let mut out = String::from(
        "| what | ours | peer | ratio (aim) | × the limit (aim) |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let Some(seconds) = (row.ours)(&run.medians) else { continue };
        let time_of = |ratio: &Ratio| format!("{}: {}", ratio.to, time(ratio.value * seconds));
        let rivals = rivals(row, run);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            row.what,
            time(seconds),
            joined(&rivals, time_of),
            joined(&rivals, Ratio::judged),
            limit(row, run).map_or("–".into(), |ratio| ratio.judged())
        );
    }
    out.push('\n');
    out
}

/// The time over the least that the machine allows.
fn limit(row: &Row, run: &Run) -> Option<Ratio> {
    let value = (row.ours)(&run.medians)? / (row.limit)(&Rates(&run.medians))?;
    Some(Ratio { value, to: "the limit".into(), aim: row.within.map(|aim| ('≤', aim)) })
}

/// Times of others over ours.
fn rivals(row: &Row, run: &Run) -> Vec<Ratio> {
    let ratio = |(rival, aim): &(Rival, f64)| {
        let value = rival.seconds(&run.medians, &run.peers)? / (row.ours)(&run.medians)?;
        Some(Ratio { value, to: rival.name(), aim: Some(('≥', *aim)) })
    };
    row.rivals.iter().filter_map(ratio).collect()
}

impl Ratio {
    fn met(&self) -> bool {
        match self.aim {
            None => true,
            Some(('≤', most)) => self.value <= most,
            Some((_, least)) => self.value >= least,
        }
    }

    /// A missed aim is printed as missed.
    fn judged(&self) -> String {
        let missed = if self.met() { "" } else { ": **missed**" };
        let aim =
            self.aim.map_or(String::new(), |(least, aim)| format!(" ({least} {aim}{missed})"));
        format!("{:.2}{aim}", self.value)
    }
}

fn joined<'a>(ratios: &'a [Ratio], print: impl FnMut(&'a Ratio) -> String) -> String {
    if ratios.is_empty() {
        "–".into()
    } else {
        ratios.iter().map(print).collect::<Vec<_>>().join("; ")
    }
}

/// What misses its aim, of all rows.
fn missed(run: &Run) -> String {
    let mut out = String::from(
        "### Missed aims\n\nOf all rows, these ten and the others, with the aim in brackets:\n\n",
    );
    for row in rows() {
        let ratios = limit(&row, run).into_iter().chain(rivals(&row, run));
        let missed: Vec<Ratio> = ratios.filter(|ratio| !ratio.met()).collect();
        if !missed.is_empty() {
            let told = joined(&missed, |Ratio { value, to, aim }| {
                let aim = aim.map_or(String::new(), |(least, aim)| format!("{least} {aim}"));
                format!("{value:.2} × {to} ({aim})")
            });
            out += &wrapped(&format!("- {}: {told}", row.what), "  ");
        }
    }
    out.push('\n');
    out
}

/// Memory beyond the data.
fn peaks(run: &Run) -> String {
    let mut out = String::from(
        "### Peak memory\n\nResident MiB at the peak, beyond what program and data took before.\n\n\
         | what | ours (aim) | peer | share (aim) |\n|---|---|---|---|\n",
    );
    for case in cases() {
        let Some(extra) = case.megabytes(&run.memory) else { continue };
        let ratio = |value: f64, aim: Option<f64>| {
            Ratio { value, to: String::new(), aim: aim.map(|aim| ('≤', aim)) }.judged()
        };
        let own = ratio(extra, case.aim.map(f64::floor));
        let beside = case.peer.as_ref().and_then(|(peer, aim)| {
            let theirs = peer.value(&run.peers)? - peer.base(&run.peers).unwrap_or(0.0);
            Some(format!("{} {theirs:.0} | {}", peer.name, ratio(extra / theirs, Some(*aim))))
        });
        let beside = beside.as_deref().unwrap_or("– | –");
        let _ = writeln!(out, "| {} | {own} | {beside} |", case.what);
    }
    out
}

/// Three digits and a unit.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::super::criterion::Measurements;
    use super::super::peers::Line;
    use super::*;

    /// A product, a kernel block, predictions, one peer, one peak.
    fn run() -> Run {
        let medians = Measurements::from([
            ("gemm_f64/2000", 0.16),
            ("kernel_block_f64/gaussian/d=10", 0.04),
            ("nystrom_predict/2000", 0.05),
        ]);
        let value = serde_json::json!({"tool": "sklearn_rbf_kernel", "wall_min": 0.2});
        let memory = serde_json::json!({"tool": "fit n=50000 m=1000", "base_mb": 10.0,
            "extra_mb": 96.0});
        Run {
            day: "2026-01-01".into(),
            processor: "a processor".into(),
            threads: 2,
            compiler: "rustc".into(),
            medians,
            memory: vec![Line { arguments: "memory".into(), value: memory }],
            peers: vec![Line { arguments: "T1".into(), value }],
        }
    }

    #[test]
    fn a_missed_aim_is_printed_as_missed() {
        let text = measured(&run());
        let has = |part: &str| assert!(text.contains(part), "{part}: {text}");
        has("| Nyström fit, n = 50,000, m = 1000 | 96.00 (≤ 94: **missed**) | – | – |");
        has("| 40.0 ms | scikit-learn: 200 ms | 5.00 (≥ 9: **missed**) |");
        has("| 50.0 ms | – | – | 2.50 (≤ 1.6: **missed**) |");
        has("- predict 10,000 points, m = 2000: 2.50 × the limit (≤ 1.6)\n");
        has("× the limit (≤ 1); 5.00 × scikit-learn (≥ 9)\n");
        assert!(!text.contains("Cholesky"), "what was not measured is not there: {text}");
    }

    #[test]
    fn the_file_of_a_run_gives_its_page_again() {
        let raw = serde_json::to_string(&run()).unwrap();
        assert_eq!(measured(&serde_json::from_str(&raw).unwrap()), measured(&run()));
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            [2.0, 0.0123, 4.56e-5, 7e-9].map(time),
            ["2.00 s", "12.3 ms", "45.6 µs", "7.00 ns"]
        );
    }
}
