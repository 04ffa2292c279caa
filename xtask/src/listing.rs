//! The list of experiments: on the terminal with what is found, and as docs/EXPERIMENTS.md.

use std::path::Path;

use nystrom_data::catalog;

use crate::datasets::{self, Place};
use crate::experiment::Experiment;
use crate::width::wrapped;

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
        Ok(Place::Files(_, paths)) => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("found, {}", paths.join(", "))
        }
        Ok(Place::Embedded(_)) => "found, embedded in this program".into(),
        Ok(Place::Missing(missing)) => {
            format!("missing ({}); get it from {}", missing.expected_shape, missing.where_to_get)
        }
        Err(error) => error.to_string(),
    }
}

/// docs/EXPERIMENTS.md.
pub fn markdown(all: &[Experiment]) -> String {
    let mut text = String::from(
        "# Experiments\n\n\
         Written by `cargo xtask docs` from the registry in `xtask/src/experiments/mod.rs`; do \
         not edit.\n\n",
    );
    text += &wrapped(
        "Each experiment reruns one figure or table of a paper and checks what the paper says \
         about it. `cargo xtask reproduce` runs them all, `cargo xtask reproduce --only NAME` one \
         of them, `cargo xtask list --data DIR` tells whose data are there.",
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
            "\n### {}\n\n{}\n- Name: `{}`\n{}",
            experiment.heading(),
            wrapped(experiment.says, ""),
            experiment.name,
            wrapped(&format!("- Data: {data}"), "  ")
        );
    }
    text
}

/// A data set in docs/EXPERIMENTS.md. What needs one that cannot be had is missing in every run.
fn named(name: &str) -> String {
    let absent = catalog::find(name).is_ok_and(|entry| !entry.checksums_known());
    format!("`{name}`{}", if absent { " (absent: no public copy is known)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SELF_CHECK;

    #[test]
    fn the_list_says_what_is_needed_and_what_is_missing() {
        let needy = Experiment { name: "needy", data: &["htru2", "casp"], ..SELF_CHECK };
        let lines = table(&[SELF_CHECK, needy], None);
        assert!(lines.contains("self-check  Nobody & No One 1901, Table 0\n"), "{lines}");
        assert!(lines.contains("needs no data") && lines.contains("casp: missing"), "{lines}");
        assert!(lines.contains("htru2: found, embedded"), "{lines}");
        assert!(lines.contains("NYSTROM_DATA"), "{lines}");
    }

    #[test]
    fn the_document_groups_by_paper() {
        let needy = Experiment { name: "needy", data: &["htru2", "ccpp"], ..SELF_CHECK };
        let text = markdown(&[SELF_CHECK, needy]);
        assert_eq!(text.matches("\n## Nobody").count(), 1);
        assert!(text.contains("- Name: `needy`\n- Data: `htru2`, `ccpp`\n"), "{text}");
        let absent = markdown(&[Experiment { data: &["pumadyn-32fh"], ..SELF_CHECK }]);
        assert!(absent.contains("`pumadyn-32fh` (absent: no public copy is known)"), "{absent}");
    }
}
