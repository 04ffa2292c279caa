//! The report: `index.html`, a page per paper, `run.json`, and a CSV file per table and plot, made from a [`Run`].

mod csv;
mod draw;
mod html;
mod json;
pub mod legend;
mod scale;
mod style;

use std::collections::BTreeSet;
use std::path::Path;

use crate::atomic;
use crate::record::{Entry, Run, Status};
use crate::resume::folder;

/// Writes the whole report. Files that would not change are left alone.
pub fn write(out: &Path, run: &Run) -> anyhow::Result<()> {
    for entry in &run.entries {
        let Some(record) = &entry.record else { continue };
        let folder = folder(out, entry.experiment.name);
        for table in &record.outcome.tables {
            update(&folder.join(format!("{}.csv", table.id)), &csv::table(table)?)?;
        }
        for plot in &record.outcome.plots {
            update(&folder.join(format!("{}.csv", plot.id)), &csv::plot(plot)?)?;
            update(&folder.join(format!("{}.svg", plot.id)), legend::standalone(plot)?.as_bytes())?;
        }
    }
    update(&out.join("run.json"), &json::run(run)?)?;
    for (name, text) in html::pages(run)? {
        update(&out.join(name), text.as_bytes())?;
    }
    Ok(())
}

fn update(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { atomic::write(path, bytes) }
}

/// How many claims hold and do not, data sets are missing, experiments failed.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Default)]
struct Count {
    hold: usize,
    do_not: usize,
    lack_data: usize,
    failed: usize,
}

impl Count {
    fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut count = Count::default();
        let mut missing = BTreeSet::new(); // a set that two experiments need is missing once
        for record in entries.into_iter().filter_map(|entry| entry.record.as_ref()) {
            let held = record.outcome.claims.iter().filter(|claim| claim.holds).count();
            count.hold += held;
            count.do_not += record.outcome.claims.len() - held;
            missing.extend(record.outcome.missing.iter().map(|data| &data.name));
            count.failed += usize::from(record.status == Status::Failed);
        }
        count.lack_data = missing.len();
        count
    }
}

fn count(run: &Run) -> Count {
    Count::of(&run.entries)
}

/// The last lines on the terminal.
pub fn summary(run: &Run, out: &Path) -> String {
    let Count { hold, do_not, lack_data, failed } = count(run);
    let mut lines =
        format!("claims: {hold} hold, {do_not} do not; data sets missing: {lack_data}; experiments failed: {failed}");
    for entry in &run.entries {
        if let Some(record) = &entry.record
            && let Some(error) = &record.error
        {
            lines += &format!("\n  failed: {}: {error}", entry.experiment.name);
        }
    }
    lines + &format!("\nreport: {}", out.join("index.html").display())
}

#[cfg(test)]
mod tests;
