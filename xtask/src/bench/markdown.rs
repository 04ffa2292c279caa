//! The measured part of `docs/performance.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Run;
use super::rows::{Row, Rows, Sum};
use crate::peers::VERSIONS;
use crate::width::wrapped;

/// What is written of a run.
pub struct Page<'a> {
    rows: &'a Rows,
    run: &'a Run,
    values: BTreeMap<String, f64>,
}

/// A ratio to something, and the aim, as in `≤ 1.15`.
struct Ratio<'a> {
    value: f64,
    to: &'a str,
    aim: Option<String>,
    missed: bool,
}

impl Ratio<'_> {
    /// The ratio with its aim; a missed aim is printed as missed.
    fn judged(&self) -> String {
        let missed = if self.missed { ": **missed**" } else { "" };
        let aim = self.aim.as_ref().map_or(String::new(), |aim| format!(" ({aim}{missed})"));
        format!("{:.2}{aim}", self.value)
    }
}

fn at_most(most: Option<f64>, value: f64, to: &str) -> Ratio<'_> {
    let aim = most.map(|most| format!("≤ {most}"));
    Ratio { value, to, aim, missed: most.is_some_and(|most| value > most) }
}

impl<'a> Page<'a> {
    pub fn new(rows: &'a Rows, run: &'a Run) -> Self {
        Page { rows, run, values: rows.values(run) }
    }

    /// The page's block: its rows, every missed aim, peaks of memory.
    pub fn measured(&self) -> String {
        let rows = self.rows.row.iter().filter(|row| row.page);
        format!("{}\n{}\n{}\n{}", self.setting(), self.table(rows), self.missed(), self.peaks())
    }

    /// Every row and every median.
    pub fn all(&self) -> String {
        let times = self.run.medians.iter();
        let times: String = times.map(|(name, s)| format!("{name}: {}\n", time(*s))).collect();
        format!("{}\n{}\n{times}", self.setting(), self.table(&self.rows.row))
    }

    /// A sum of values that were all measured.
    pub fn value(&self, sum: &Sum) -> Option<f64> {
        sum.iter().map(|(name, factor)| Some(factor * self.values.get(name)?)).sum()
    }

    /// Day, processor, threads and compiler; the machine's rates; the peers' versions.
    fn setting(&self) -> String {
        let Run { day, processor, threads, compiler, .. } = self.run;
        let rates = self.rows.rate.iter().filter_map(|rate| {
            Some(format!("{} {:.0}", rate.words.as_ref()?, 1e-9 / self.values.get(&rate.name)?))
        });
        let rates = rates.collect::<Vec<_>>().join(", ");
        let peers = self.run.peers.iter().find(|line| line.arguments == VERSIONS).map(|line| {
            let of = |key| format!("{key} {}", line.text(key).unwrap_or_else(|| "?".into()));
            let names = ["python", "numpy", "scipy", "sklearn", "dppy"].map(of);
            format!("Peers: {}.\n", names.join(", "))
        });
        format!(
            "Medians of {day}: {processor}, {threads} threads, {compiler}.\nGF/s: {rates}.\n{}",
            peers.unwrap_or_default()
        )
    }

    /// The rows that were measured, each with the peers that were.
    fn table<'r>(&self, rows: impl IntoIterator<Item = &'r Row>) -> String {
        let mut out = String::from(
            "| what | ours | peer | ratio (aim) | × the limit (aim) |\n|---|---|---|---|---|\n",
        );
        for row in rows {
            let Some(ours) = self.value(&row.ours) else { continue };
            let rivals = self.rivals(row);
            let times = joined(&rivals, |r| format!("{}: {}", r.to, time(r.value * ours)));
            let ratios = joined(&rivals, Ratio::judged);
            let limit = joined(self.limit(row).as_slice(), Ratio::judged);
            let _ =
                writeln!(out, "| {} | {} | {times} | {ratios} | {limit} |", row.what, time(ours));
        }
        out
    }

    /// Our time over the least that the machine allows.
    fn limit(&self, row: &Row) -> Option<Ratio<'static>> {
        let value = self.value(&row.ours)? / self.value(row.limit.as_ref()?)?;
        Some(at_most(row.within, value, "the limit"))
    }

    /// Times of the rivals over ours.
    fn rivals<'r>(&self, row: &'r Row) -> Vec<Ratio<'r>> {
        let ratios = row.rivals.iter().filter_map(|rival| {
            let value = self.values.get(&rival.of)? / self.value(&row.ours)?;
            let (aim, missed) = (Some(format!("≥ {}", rival.aim)), value < rival.aim);
            Some(Ratio { value, to: &rival.name, aim, missed })
        });
        ratios.collect()
    }

    /// What misses its aim, of all rows.
    fn missed(&self) -> String {
        let mut out = String::from(
            "### Missed aims\n\n\
             Of all rows, these ten and the others, with the aim in brackets:\n\n",
        );
        for row in &self.rows.row {
            let ratios = self.limit(row).into_iter().chain(self.rivals(row));
            let missed: Vec<Ratio> = ratios.filter(|ratio| ratio.missed).collect();
            if !missed.is_empty() {
                let words = joined(&missed, |Ratio { value, to, aim, .. }| {
                    format!("{value:.2} × {to} ({})", aim.as_deref().unwrap_or_default())
                });
                out += &wrapped(&format!("- {}: {words}", row.what), "  ");
            }
        }
        out
    }

    /// Memory beyond the data.
    fn peaks(&self) -> String {
        let mut out = String::from(
            "### Peak memory\n\n\
             Resident MiB at the peak, beyond what program and data took before.\n\n\
             | what | ours (aim) | peer | share (aim) |\n|---|---|---|---|\n",
        );
        for row in &self.rows.memory {
            let Some(ours) = self.value(&row.ours) else { continue };
            let peak = at_most(row.within, ours, "").judged();
            let beside = row.rivals.iter().find_map(|rival| {
                let theirs = self.values.get(&rival.of)?;
                let share = at_most(Some(rival.aim), ours / theirs, "").judged();
                Some(format!("{} {theirs:.0} | {share}", rival.name))
            });
            let beside = beside.as_deref().unwrap_or("– | –");
            let _ = writeln!(out, "| {} | {peak} | {beside} |", row.what);
        }
        out
    }
}

fn joined<'a>(ratios: &[Ratio<'a>], print: impl Fn(&Ratio<'a>) -> String) -> String {
    let parts: Vec<String> = ratios.iter().map(print).collect();
    if parts.is_empty() { "–".into() } else { parts.join("; ") }
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
