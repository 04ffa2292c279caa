//! The report: `index.html`, a page per paper, `run.json`, and a CSV file per table and plot, made
//! from a [`Run`].

mod csv;
mod html;
mod json;
mod thumbnail;

use std::collections::BTreeSet;
use std::path::Path;

use crate::atomic;
use crate::claim::{Claim, Kind};
use crate::method;
use crate::plot::Plot;
use crate::record::{Entry, Record, Run, Status};
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
            update(&folder.join(format!("{}.svg", plot.id)), standalone(plot)?.as_bytes())?;
        }
    }
    update(&out.join("run.json"), &json::run(run)?)?;
    for (name, text) in html::pages(run)? {
        update(&out.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// A plot as a file of its own.
pub fn standalone(plot: &Plot) -> anyhow::Result<String> {
    Ok(nystrom_page::legend::standalone(plot, method::look)?)
}

fn update(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        Ok(())
    } else {
        atomic::write(path, bytes)
    }
}

/// How many claims of one sort hold, do not, and are open.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Default)]
struct Tally {
    hold: usize,
    do_not: usize,
    open: usize,
}

impl Tally {
    fn of<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Self {
        let mut tally = Tally::default();
        for claim in claims {
            match claim.holds {
                Some(true) => tally.hold += 1,
                Some(false) => tally.do_not += 1,
                None => tally.open += 1,
            }
        }
        tally
    }

    fn total(&self) -> usize {
        self.hold + self.do_not + self.open
    }

    /// The class of each verdict that there is, its number and its word.
    fn parts(&self) -> impl Iterator<Item = (&'static str, usize, &'static str)> {
        let all = [
            ("holds", self.hold, "holds", "hold"),
            ("fails", self.do_not, "does not", "do not"),
            ("open", self.open, "undecided", "undecided"),
        ];
        let there = all.into_iter().filter(|(_, number, ..)| *number > 0);
        there
            .map(|(class, number, one, many)| (class, number, if number == 1 { one } else { many }))
    }

    /// `3 hold, 1 does not, 1 undecided`, without what there is none of.
    fn words(&self) -> String {
        let parts: Vec<String> = self.parts().map(|(_, n, word)| format!("{n} {word}")).collect();
        if parts.is_empty() { "none".into() } else { parts.join(", ") }
    }
}

/// Verdicts by kind, data sets that are missing, experiments that failed. Claims of our own are not
/// counted.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Default)]
struct Count {
    /// In the order of [`Kind::COUNTED`].
    kinds: [Tally; 3],
    lack_data: usize,
    failed: usize,
}

impl Count {
    fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let records: Vec<&Record> =
            entries.into_iter().filter_map(|entry| entry.record.as_ref()).collect();
        let claims = |kind| {
            records.iter().flat_map(|r| &r.outcome.claims).filter(move |claim| claim.kind == kind)
        };
        // a set that two experiments need is missing once
        let missing: BTreeSet<_> =
            records.iter().flat_map(|r| &r.outcome.missing).map(|data| &data.name).collect();
        Count {
            kinds: Kind::COUNTED.map(|kind| Tally::of(claims(kind))),
            lack_data: missing.len(),
            failed: records.iter().filter(|record| record.status == Status::Failed).count(),
        }
    }

    /// All three kinds together.
    fn sum(&self) -> Tally {
        self.kinds.iter().fold(Tally::default(), |sum, tally| Tally {
            hold: sum.hold + tally.hold,
            do_not: sum.do_not + tally.do_not,
            open: sum.open + tally.open,
        })
    }
}

fn count(run: &Run) -> Count {
    Count::of(&run.entries)
}

/// `printed: 3 hold; picture: 1 does not`, and ours last, for a line of the terminal.
pub fn verdicts(claims: &[Claim]) -> String {
    let of = |kind: Kind| {
        let tally = Tally::of(claims.iter().filter(|claim| claim.kind == kind));
        (tally.total() > 0).then(|| format!("{}: {}", kind.word(), tally.words()))
    };
    let kinds = Kind::COUNTED.into_iter().chain([Kind::Ours]);
    let parts: Vec<String> = kinds.filter_map(of).collect();
    if parts.is_empty() { "no claims".into() } else { parts.join("; ") }
}

/// The last lines on the terminal.
pub fn summary(run: &Run, out: &Path) -> String {
    let Count { kinds, lack_data, failed } = count(run);
    let words = Kind::COUNTED
        .iter()
        .zip(kinds)
        .map(|(kind, tally)| format!("{}: {}", kind.word(), tally.words()));
    let words = words.collect::<Vec<_>>().join("; ");
    let mut lines =
        format!("claims {words}\ndata sets missing: {lack_data}; experiments failed: {failed}");
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
