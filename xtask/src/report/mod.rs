//! The report, made from a [`Run`]: `index.html`, `run.json`, and a CSV file per table and plot.

mod article;
mod csv;
mod page;

use std::collections::BTreeSet;
use std::path::Path;

use crate::atomic;
use crate::claim::{Claim, Kind, counts};
use crate::method;
use crate::plot::Plot;
use crate::record::{Record, Run, folder};

/// Writes the whole report. Files that would not change are left alone.
pub fn write(out: &Path, run: &Run) -> anyhow::Result<()> {
    for Record { name, outcome, .. } in &run.records {
        let folder = folder(out, name);
        let write = |file: String, bytes: &[u8]| atomic::write(&folder.join(file), bytes);
        for table in &outcome.tables {
            write(format!("{}.csv", table.id), &csv::table(table)?)?;
        }
        for plot in &outcome.plots {
            write(format!("{}.csv", plot.id), &csv::table(&csv::points(plot))?)?;
            write(format!("{}.svg", plot.id), standalone(plot)?.as_bytes())?;
        }
    }
    atomic::write(&out.join("run.json"), &serde_json::to_vec_pretty(run)?)?;
    atomic::write(&out.join("index.html"), page::page(run)?.as_bytes()).map(drop)
}

/// A plot as a file of its own.
pub fn standalone(plot: &Plot) -> anyhow::Result<String> {
    Ok(nystrom_page::legend::standalone(plot, method::look)?)
}

/// The class of a verdict's badge.
fn class(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

/// The claims of these kinds in these records.
fn claims<'a>(records: impl IntoIterator<Item = &'a Record>, kinds: &[Kind]) -> Vec<&'a Claim> {
    let claims = records.into_iter().flat_map(|record| &record.outcome.claims);
    claims.filter(|claim| kinds.contains(&claim.kind)).collect()
}

/// How many data sets are missing; a set that two experiments need counts once.
fn sets_missing<'a>(records: impl IntoIterator<Item = &'a Record>) -> usize {
    let missing = records.into_iter().flat_map(|record| &record.outcome.missing);
    missing.map(|data| &data.name).collect::<BTreeSet<_>>().len()
}

/// One line of the terminal, `printed: 3 hold; picture: 1 does not`, with our own claims last.
pub fn verdicts(claims: &[Claim]) -> String {
    let of = |kind: Kind| {
        let claims: Vec<&Claim> = claims.iter().filter(|claim| claim.kind == kind).collect();
        (!claims.is_empty()).then(|| format!("{kind}: {}", counts(&claims)))
    };
    let parts: Vec<String> = Kind::COUNTED.into_iter().chain([Kind::Ours]).filter_map(of).collect();
    if parts.is_empty() { "no claims".into() } else { parts.join("; ") }
}

/// The last lines on the terminal.
pub fn summary(run: &Run, out: &Path) -> String {
    let of = |kind: Kind| format!("{kind}: {}", counts(&claims(&run.records, &[kind])));
    let failures = run.records.iter().filter_map(|Record { name, error, .. }| {
        Some(format!("\n  failed: {name}: {}", error.as_deref()?))
    });
    let failures: Vec<String> = failures.collect();
    format!(
        "claims {}\ndata sets missing: {}; experiments failed: {}{}\nreport: {}",
        Kind::COUNTED.map(of).join("; "),
        sets_missing(&run.records),
        failures.len(),
        failures.concat(),
        out.join("index.html").display()
    )
}

#[cfg(test)]
mod tests;
