//! The measured part of `docs/performance.md`.

use std::fmt::Write;

use super::comparison::{QUOTED_PRODUCT, Rates, Row};
use super::criterion::Measurements;
use super::memory::CASES;
use super::peers::{Line, VERSIONS};
use super::quoted::QUOTED;
use super::rows::ROWS;
use crate::lab::statistics::fitted_exponent;
use crate::machine;

/// What one run gave.
pub struct Run {
    /// Times of ours.
    pub ours: Measurements,
    /// Lines of our bench of memory.
    pub memory: Vec<Line>,
    /// Lines of the peers.
    pub theirs: Vec<Line>,
}

/// Everything measured in one run.
pub fn measured(Run { ours, memory, theirs }: &Run) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", setting(ours, theirs));
    out.push_str(&comparison(ours, theirs));
    if !theirs.is_empty() {
        out.push_str(&not_run());
    }
    out.push_str(&peaks(memory, theirs));
    out.push_str(&growth(ours));
    out.push_str(&all(ours));
    out
}

/// Day, processor, threads, compiler, the machine's rates, the peers' versions.
fn setting(ours: &Measurements, theirs: &[Line]) -> String {
    let day = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let cpu = machine::cpu_model().unwrap_or_else(|| "an unknown processor".into());
    let compiler = machine::rustc_version().unwrap_or("an unknown compiler");
    let day = day.split('T').next().unwrap_or_default();
    let mut out = format!(
        "Measured on {day}: {cpu}, {} threads, {compiler}. Medians.",
        rayon::current_num_threads()
    );
    let rates = Rates(ours);
    for (what, rate) in [
        ("a product in f64", rates.product()),
        ("one triangle of a Gram matrix in f64", rates.triangle("f64")),
        ("the same in f32", rates.triangle("f32")),
    ] {
        let _ = rate.map(|rate| write!(out, " {what}: {:.0} GF/s.", rate * 1e-9));
    }
    if let Some(line) = theirs.iter().find(|line| line.arguments == VERSIONS) {
        let of = |key| line.text(key).unwrap_or_else(|| "?".into());
        let names = ["python", "numpy", "scipy", "sklearn", "dppy"];
        let _ =
            write!(out, " Peers: {}.", names.map(|name| format!("{name} {}", of(name))).join(", "));
    }
    out
}

fn comparison(ours: &Measurements, theirs: &[Line]) -> String {
    let mut out = String::from("### Against the limit and the rivals\n\n");
    out.push_str(
        "| what | ours | × the limit (aim) | rival | its time | ratio (aim) \
                  |\n|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let Some(seconds) = (row.ours)(ours) else { continue };
        let head =
            format!("| {} | {} | {} |", row.what, time(seconds), limit(row, seconds, &Rates(ours)));
        let known: Vec<_> = row
            .rivals
            .iter()
            .filter_map(|(rival, aim)| Some((rival, aim, rival.seconds(ours, theirs)?)))
            .collect();
        if known.is_empty() {
            let _ = writeln!(out, "{head} – | – | – |");
        }
        for (rival, aim, theirs) in known {
            let ratio = judged(theirs / seconds, theirs / seconds >= *aim, format!("≥ {aim}"));
            let _ = writeln!(out, "{head} {} | {} | {ratio} |", rival.name(), time(theirs));
        }
    }
    out.push('\n');
    out
}

/// What no package registry has: its times stand alone.
fn not_run() -> String {
    let rate = QUOTED_PRODUCT * 1e-9;
    let mut out = format!(
        "### Not run\n\nNo package registry has these. Their times were taken elsewhere, on two \
         cores whose product in f64 \
         ran at {rate:.0} GF/s, and say nothing of this machine.\n\n| what | code | its time \
         there |\n|---|---|---|\n"
    );
    for quoted in QUOTED {
        let _ = writeln!(out, "| {} | {} | {} |", quoted.what, quoted.name, time(quoted.seconds));
    }
    out.push('\n');
    out
}

/// Memory beyond the data.
fn peaks(ours: &[Line], theirs: &[Line]) -> String {
    let known: Vec<_> =
        CASES.iter().filter_map(|case| Some((case, case.megabytes(ours)?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "### Peak memory\n\nResident MiB at the peak, beyond what program and data took before \
         the work.\n\n",
    );
    out.push_str(
        "| what | before | beyond (aim) | peer, beyond its data | share (aim) \
                  |\n|---|---|---|---|---|\n",
    );
    for (case, (before, extra)) in known {
        let own = case.aim.map_or(format!("{extra:.0}"), |aim| {
            judged(extra, extra <= aim, format!("≤ {aim:.0}"))
        });
        let beside = case.peer.as_ref().and_then(|(peer, aim)| {
            let theirs = peer.value(theirs)? - peer.base(theirs).unwrap_or(0.0);
            let share = judged(extra / theirs, extra / theirs <= *aim, format!("≤ {aim}"));
            Some(format!("{} {theirs:.0} | {share}", peer.name))
        });
        let _ = writeln!(
            out,
            "| {} | {before:.0} | {own} | {} |",
            case.what,
            beside.as_deref().unwrap_or("– | –")
        );
    }
    out.push('\n');
    out
}

fn limit(row: &Row, seconds: f64, rates: &Rates<'_>) -> String {
    let times = (row.limit)(rates).map(|limit| seconds / limit);
    match (times, row.within) {
        (Some(times), Some(aim)) => judged(times, times <= aim, format!("≤ {aim}")),
        (Some(times), None) => format!("{times:.2}"),
        _ => "–".into(),
    }
}

/// A missed aim is printed as missed.
fn judged(value: f64, met: bool, aim: String) -> String {
    if met { format!("{value:.2} ({aim})") } else { format!("{value:.2} ({aim}: **missed**)") }
}

fn growth(ours: &Measurements) -> String {
    let series = ours.series();
    if series.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "### Growth\n\nTime ∝ size^b, b fitted by least squares over the sizes named.\n\n",
    );
    out.push_str(
        "![time against n](figures/scaling-n.svg)\n![time against c](figures/scaling-c.svg)\n\n",
    );
    out.push_str("| what | sizes | b |\n|---|---|---|\n");
    for (name, points) in &series {
        let sizes: Vec<String> = points.iter().map(|(size, _)| size.to_string()).collect();
        let _ =
            writeln!(out, "| `{name}` | {} | {:.2} |", sizes.join(", "), fitted_exponent(points));
    }
    out.push('\n');
    out
}

fn all(ours: &Measurements) -> String {
    let mut out = String::from("### Every benchmark\n\n| benchmark | median |\n|---|---|\n");
    for (name, seconds) in ours.iter() {
        let _ = writeln!(out, "| `{name}` | {} |", time(seconds));
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
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::super::peers::Line;
    use super::*;

    #[test]
    fn a_missed_aim_is_printed_as_missed() {
        let ours = Measurements::from([
            ("gemm_f64/2000", 0.16),
            ("kernel_block_f64/gaussian/d=10", 0.04),
            ("nystrom_predict/2000", 0.05),
        ]);
        let value = serde_json::json!({"tool": "sklearn_rbf_kernel", "wall_min": 0.2});
        let memory =
            serde_json::json!({"tool": "fit n=50000 m=1000", "base_mb": 10.0, "extra_mb": 95.0});
        let memory = vec![Line { arguments: "memory", value: memory }];
        let text = measured(&Run { ours, memory, theirs: vec![Line { arguments: "T1", value }] });
        assert!(
            text.contains("| Nyström fit, n = 50,000, m = 1000 | 10 | 95.00 (≤ 95: **missed**) |"),
            "{text}"
        );
        assert!(text.contains("| scikit-learn | 200 ms | 5.00 (≥ 9: **missed**) |"), "{text}");
        assert!(text.contains("| 50.0 ms | 2.50 (≤ 1.6: **missed**) | – | – | – |"), "{text}");
        let (_, quoted) = text.split_once("### Not run").unwrap();
        let (quoted, measured) = quoted.split_once("### Peak memory").unwrap();
        assert!(quoted.contains("| the authors' RPCholesky | 7.20 s |\n"), "{text}");
        assert!(!measured.contains("Cholesky"), "what was not measured is not in the table");
        let (before, _) = text.split_once("### Not run").unwrap();
        assert!(
            !before.contains("Cholesky") && !before.contains("authors'"),
            "nor is what was not run: {text}"
        );
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            [2.0, 0.0123, 4.56e-5, 7e-9].map(time),
            ["2.00 s", "12.3 ms", "45.6 µs", "7.00 ns"]
        );
    }
}
