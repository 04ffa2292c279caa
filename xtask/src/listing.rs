//! The list of experiments: on the terminal with what is found, and as docs/EXPERIMENTS.md.

use std::path::Path;

use anyhow::Context;
use nystrom_data::catalog;

use crate::datasets::{self, Place, listed};
use crate::experiment::Experiment;
use crate::record::Run;
use crate::reference::{FULL_REFERENCE, REFERENCE};
use crate::width::wrapped;
use crate::{experiments, numbers};

/// Where the generated list lies in the repository.
pub const DOC_PATH: &str = "docs/EXPERIMENTS.md";

/// One line per experiment, and one per data set it needs.
pub fn table(all: &[Experiment], data_dir: Option<&Path>) -> String {
    let width = all.iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for experiment in all {
        let (name, paper, figure) = (experiment.name, experiment.paper.short, experiment.heading());
        lines += &format!("{name:width$}  {paper}, {figure}\n");
        if experiment.data.is_empty() {
            lines += &format!("{:width$}    needs no data\n", "");
        }
        for data in experiment.data {
            lines += &format!("{:width$}    {data}: {}\n", "", found(data_dir, data));
        }
    }
    if data_dir.is_none() {
        lines += "\nNo data folder was given: `cargo xtask fetch` fills one; use --data DIR, or \
                  set NYSTROM_DATA.\n";
    }
    lines
}

fn found(data_dir: Option<&Path>, name: &str) -> String {
    match datasets::locate(data_dir, name) {
        Ok(Place::Files(paths)) => format!("found, {}", listed(&paths)),
        Ok(Place::Embedded) => "found, embedded in this program".into(),
        Ok(Place::Missing(missing)) => {
            format!("missing ({}); get it from {}", missing.expected_shape, missing.where_to_get)
        }
        Err(error) => error.to_string(),
    }
}

/// The reference runs: of the default scale, and at the papers' own sizes.
type References = [Run; 2];

/// What the reference runs say of an experiment, as items of a list.
fn verdicts([usual, full]: &References, name: &str) -> String {
    let mut text = String::new();
    if let Some(found) = usual.summary(name) {
        text += &wrapped(&format!("- Reference run: {found}."), "  ");
    }
    let absent = match usual.lacks_data(name) {
        true => "its data are missing",
        false => "it did not fit into six hours",
    };
    let found = full.summary(name).unwrap_or_else(|| absent.into());
    let mut line = format!("- At the paper's own sizes (`--full`): {found}.");
    for other in full.other_verdicts(usual, name) {
        line += &format!(" Otherwise than above: {other}.");
    }
    text + &wrapped(&line, "  ")
}

/// The documents that `cargo xtask docs` writes, each with the text that it should have; `read`
/// gives the text of a file.
///
/// # Errors
/// If a file is not there. If a reference is not a `run.json`, or has not a number that a document
/// asks for.
pub fn documents(
    read: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let read = |path: &str| read(path).with_context(|| format!("there is no {path}"));
    let run = |path| serde_json::from_str(&read(path)?).context(path);
    let references = [run(REFERENCE)?, run(FULL_REFERENCE)?];
    let mut all = vec![(DOC_PATH, markdown(experiments::ALL, &references))];
    for path in numbers::DOCUMENTS {
        all.push((path, numbers::fill(&read(path)?, &references).context(path)?));
    }
    Ok(all)
}

/// docs/EXPERIMENTS.md.
fn markdown(all: &[Experiment], references: &References) -> String {
    let mut text = String::from(
        "# Experiments\n\n\
         Written by `cargo xtask docs` from the registry in `xtask/src/experiments/mod.rs`; do \
         not edit.\n\n",
    );
    text += &wrapped(
        "Each experiment reruns one figure or table of a paper and checks what the paper says \
         about it. `cargo xtask reproduce` runs them all, `cargo xtask reproduce --only NAME` one \
         of them, `cargo xtask list --data DIR` tells whose data are there. The reference run is \
         that of the default scale. Claims count that a paper prints, shows or proves; one is open \
         where two standard errors cover its bound. What a figure shows counts also where our copy \
         of the paper does not tell the figure's setting and one of ours stands in; the experiment \
         then says so.",
        "",
    );
    text += "\n";
    text += &wrapped(
        "The run at the papers' own sizes was made in parts, six hours in all, on machines with \
         different processors and beside other work; its file has the date of each part. Claims \
         about time compare methods within one part.",
        "",
    );
    let mut paper = "";
    for experiment in all {
        if experiment.paper.short != paper {
            paper = experiment.paper.short;
            text +=
                &format!("\n## {paper}\n\n[{}]({})\n", experiment.paper.full, experiment.paper.url);
        }
        let data = match experiment.data {
            [] => "none; the problem is synthetic".to_owned(),
            names => names.iter().map(|name| named(name)).collect::<Vec<_>>().join(", "),
        };
        text += &format!(
            "\n### {}\n\n{}\n- Name: `{}`\n{}{}",
            experiment.heading(),
            wrapped(&experiment.says(), ""),
            experiment.name,
            wrapped(&format!("- Data: {data}"), "  "),
            verdicts(references, experiment.name)
        );
    }
    text
}

/// A data set in docs/EXPERIMENTS.md. One whose checksums are not known was in no reference run:
/// what needs it is missing there.
fn named(name: &str) -> String {
    let absent = catalog::find(name).is_ok_and(|entry| !entry.checksums_known());
    let how = format!(" (absent here: no copy could be fetched; try `cargo xtask fetch {name}`)");
    format!("`{name}`{}", if absent { &how } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Outcome, measured};
    use crate::record::Record;
    use crate::testing::{SELF_CHECK, record, run_with};

    #[test]
    fn the_list_says_what_is_needed_and_what_is_missing() {
        let needy = Experiment { name: "needy", data: &["htru2", "casp"], ..SELF_CHECK };
        let lines = table(&[SELF_CHECK, needy], None);
        for part in [
            "self-check  Nobody & No One 1901, Table 0\n              needs no data\n",
            "              htru2: found, embedded in this program\n",
            "casp: missing (45730 rows × 9 features); get it from `cargo xtask fetch casp`, or UCI",
            "use --data DIR, or set NYSTROM_DATA.\n",
        ] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
    }

    /// A run without experiments.
    fn empty() -> Run {
        Run { records: vec![], ..run_with(record()) }
    }

    #[test]
    fn the_document_groups_by_paper() {
        let needy = Experiment { data: &["htru2", "pumadyn-32fh"], ..SELF_CHECK };
        let text = markdown(&[SELF_CHECK, needy], &[empty(), empty()]).replace("\n  ", " ");
        assert_eq!(text.matches("\n## Nobody").count(), 1);
        let absent = "- Name: `self-check`\n- Data: `htru2`, `pumadyn-32fh` (absent here: no copy \
                      could be fetched; try `cargo xtask fetch pumadyn-32fh`)\n";
        assert!(text.contains(absent), "{text}");
    }

    #[test]
    fn the_document_has_the_verdicts_of_both_references() {
        let run = |value: f64| {
            let claim = |text: &str, value: f64| measured(text, value).at_most("", 2.0).theorem();
            let n = if value > 2.0 { 20 } else { 10 };
            let claims = vec![claim("x", value), claim(&format!("n = {n}, y"), 4.0 - value)];
            let outcome = Outcome { scale_note: "n = 10".into(), claims, ..Outcome::default() };
            run_with(Record { outcome, ..record() })
        };
        let text = |full| markdown(&[SELF_CHECK], &[run(1.5), full]).replace("\n  ", " ");
        let (both, one) = (text(run(2.5)), text(empty()));
        let line = "- Reference run: n = 10. Claims that count: 1 holds, 1 does not.";
        assert!(both.contains(line), "{both}");
        assert!(both.contains("than above: x ≤ 2 holds at 1.5, does not hold at 2.5."), "{both}");
        let at_other = "n = 20, y ≤ 2 does not hold at 2.5 at the size above, holds at 1.5.";
        assert!(both.contains(at_other), "{both}");
        assert!(one.contains("(`--full`): it did not fit into six hours."), "{one}");
    }
}
