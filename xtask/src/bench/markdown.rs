//! The measured part of `docs/performance.md`.

use std::fmt::Write;

use super::comparison::{ROWS, Rates, Row};
use super::criterion::Measurements;
use super::peers::Line;
use crate::experiments::statistics::fitted_exponent;
use crate::machine;

/// Everything measured in one run.
pub fn measured(ours: &Measurements, theirs: &[Line]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", setting());
    out.push_str(&comparison(ours, theirs));
    out.push_str(&growth(ours));
    out.push_str(&all(ours));
    out
}

/// Day, processor, threads, compiler.
fn setting() -> String {
    let day = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let cpu = machine::cpu_model().unwrap_or_else(|| "an unknown processor".into());
    let compiler = machine::rustc_version().unwrap_or("an unknown compiler");
    let day = day.split('T').next().unwrap_or_default();
    format!("Measured on {day}: {cpu}, {} threads, {compiler}. Medians.", rayon::current_num_threads())
}

fn comparison(ours: &Measurements, theirs: &[Line]) -> String {
    let mut out = String::from("### Against the limit and the peers\n\n");
    out.push_str("| what | ours | × the limit (aim) | peer | peer's time | ratio (aim) |\n|---|---|---|---|---|---|\n");
    for row in ROWS {
        let Some(seconds) = row.seconds(ours) else { continue };
        let head = format!("| {} | {} | {} |", row.what, time(seconds), limit(row, seconds, &Rates(ours)));
        let known: Vec<_> = row.peers.iter().filter_map(|peer| Some((peer, peer.seconds(theirs)?))).collect();
        if known.is_empty() {
            let _ = writeln!(out, "{head} – | – | – |");
        }
        for (peer, theirs) in known {
            let ratio = judged(theirs / seconds, theirs / seconds >= peer.aim, format!("≥ {}", peer.aim));
            let _ = writeln!(out, "{head} {} | {} | {ratio} |", peer.name, time(theirs));
        }
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
    let mut out = String::from("### Growth\n\nTime ∝ size^b, b fitted by least squares over the sizes named.\n\n");
    out.push_str("| what | sizes | b |\n|---|---|---|\n");
    for (name, points) in &series {
        let sizes: Vec<String> = points.iter().map(|(size, _)| size.to_string()).collect();
        let _ = writeln!(out, "| `{name}` | {} | {:.2} |", sizes.join(", "), fitted_exponent(points));
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
        let text = measured(&ours, &[Line { arguments: "T1", value }]);
        assert!(text.contains("| scikit-learn | 200 ms | 5.00 (≥ 9: **missed**) |"), "{text}");
        assert!(text.contains("| 50.0 ms | 2.50 (≤ 1.6: **missed**) | – | – | – |"), "{text}");
        assert!(!text.contains("Nyström fit"), "what was not measured is not in the table");
    }

    #[test]
    fn times_have_units() {
        assert_eq!([2.0, 0.0123, 4.56e-5, 7e-9].map(time), ["2.00 s", "12.3 ms", "45.6 µs", "7.00 ns"]);
    }
}
