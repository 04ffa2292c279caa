//! The table of candidates.

use crate::figure;
use crate::number::number;
use crate::table::{Cell, Column, Table};
use maud::{Markup, html};
use nystrom_pipeline::{Centers, Report, Trial};

/// At most this many lines are shown.
const SHOWN: usize = 40;

/// Trials with the same columns' treatment, kernel family, kind of metric, rows, centres and
/// targets. They may differ in length scale, in the learned map and in λ.
struct Line<'a> {
    best: &'a Trial,
    trials: usize,
    work: f64,
}

fn lines(report: &Report) -> Vec<Line<'_>> {
    let key = |trial: &Trial| {
        let sizes = (trial.rows, trial.centers, trial.combined);
        (trial.shape, trial.family, trial.metric, sizes)
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for trial in &report.trials {
        match lines.iter_mut().find(|line| key(line.best) == key(trial)) {
            Some(line) => {
                line.trials += 1;
                line.work += trial.work;
                if trial.error < line.best.error {
                    line.best = trial;
                }
            }
            None => lines.push(Line { best: trial, trials: 1, work: trial.work }),
        }
    }
    lines.sort_by(|a, b| b.best.rows.cmp(&a.best.rows).then(a.best.error.total_cmp(&b.best.error)));
    lines
}

pub fn table(report: &Report) -> Markup {
    let columns = [
        "rows",
        "centres",
        "least error",
        "kernel",
        "metric",
        "columns",
        "length scale",
        "λ",
        "trials",
        "operations",
    ];
    let title = format!(
        "Candidates, with the best trial of each: {} trials, {} operations in all",
        report.trials.len(),
        number(report.work)
    );
    let mut table = Table::new("tried", &title, columns.map(Column::new));
    let lines = lines(report);
    for Line { best, trials, work } in lines.iter().take(SHOWN) {
        let centres = match best.centers {
            Centers::All => "all rows".to_owned(),
            Centers::Uniform(m) | Centers::Pivots(m) => format!("{} landmarks", m.min(best.rows)),
        };
        table.push([
            Cell::from(best.rows),
            centres.into(),
            best.error.into(),
            best.family.to_string().into(),
            best.metric.to_string().into(),
            best.shape.to_string().into(),
            best.bandwidth.into(),
            (best.mu / best.rows as f64).into(),
            (*trials).into(),
            (*work).into(),
        ]);
    }
    html! {
        (figure::table(&table, &html! {}))
        @if lines.len() > SHOWN {
            p.note { "The first " (SHOWN) " of " (lines.len()) " candidates." }
        }
    }
}
