//! The reference runs: `cargo xtask docs --from REPORT` takes a run's verdicts over into `docs/`,
//! and of the default scale the figures of the documents.

use std::path::Path;

use anyhow::{Context, ensure};

use crate::atomic;
use crate::check::{FULL_REFERENCE, REFERENCE, Reference};
use crate::context::Scale;
use crate::resume::folder;

/// Figures of the documents: the name in `docs/figures/`, the experiment, the plot.
const FIGURES: [(&str, &str, &str); 4] = [
    ("chen-yang-boundary", "chen-yang-boundary", "boundary"),
    ("leverage-summary-california-housing", "leverage-summary", "spread-california-housing"),
    ("li-fig1-california-housing", "li-fig1", "error-california-housing"),
    ("li-fig3-california-housing", "li-fig3", "test-california-housing"),
];

/// Takes over the run whose report is in `report`. One of the full scale may be in part.
///
/// # Errors
/// If the run is of the smoke scale or another seed. At the default scale, if an experiment failed
/// or has not run, or a figure is not there.
pub fn take_over(root: &Path, report: &Path, experiments: &[&str]) -> anyhow::Result<()> {
    let run = report.join("run.json");
    let reference = Reference::read(&run)?;
    if reference.suits(Scale::Full, 0).is_ok() {
        atomic::write(&root.join(FULL_REFERENCE), &std::fs::read(&run)?)?;
        println!("wrote {}", root.join(FULL_REFERENCE).display());
        return Ok(());
    }
    reference.suits(Scale::Default, 0)?;
    let lacking: Vec<&str> =
        experiments.iter().copied().filter(|name| !reference.has_run(name)).collect();
    ensure!(
        lacking.is_empty(),
        "{}: failed or not run: {}; a reference has all experiments",
        run.display(),
        lacking.join(", ")
    );
    for (name, experiment, plot) in FIGURES {
        let from = folder(report, experiment).join(format!("{plot}.svg"));
        let bytes = std::fs::read(&from)
            .with_context(|| format!("cannot read the figure {}", from.display()))?;
        atomic::write(&root.join(format!("docs/figures/{name}.svg")), &bytes)?;
    }
    atomic::write(&root.join(REFERENCE), &std::fs::read(&run)?)?;
    println!("wrote {} and {} figures", root.join(REFERENCE).display(), FIGURES.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(report: &Path, scale: &str, status: &str) {
        let text = format!(
            r#"{{"scale": "{scale}", "seed": 0, "experiments": [{{"name": "one",
                "status": "{status}", "claims": [], "missing": []}}]}}"#
        );
        atomic::write(&report.join("run.json"), text.as_bytes()).unwrap();
    }

    #[test]
    fn a_whole_run_of_the_default_scale_is_taken_over() {
        let (root, report) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(report.path(), "default", "done");
        let take = |names: &[&str]| take_over(root.path(), report.path(), names);
        let error = take(&["one"]).unwrap_err().to_string();
        assert!(error.contains("boundary.svg"), "{error}");
        for (_, experiment, plot) in FIGURES {
            let figure = folder(report.path(), experiment).join(format!("{plot}.svg"));
            atomic::write(&figure, plot.as_bytes()).unwrap();
        }
        take(&["one"]).unwrap();
        assert!(Reference::read(&root.path().join(REFERENCE)).unwrap().has_run("one"));
        for (name, _, plot) in FIGURES {
            let path = root.path().join(format!("docs/figures/{name}.svg"));
            assert_eq!(std::fs::read_to_string(path).unwrap(), plot);
        }
    }

    #[test]
    fn a_run_in_part_or_of_another_scale_is_not() {
        let (root, report) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let refused =
            |names: &[&str]| take_over(root.path(), report.path(), names).unwrap_err().to_string();
        assert!(refused(&["one"]).contains("run.json"), "no run at all");
        write(report.path(), "smoke", "done");
        assert!(refused(&["one"]).contains("scale"));
        write(report.path(), "default", "failed");
        assert!(refused(&["one"]).contains("not run: one"));
        write(report.path(), "default", "done");
        assert!(refused(&["one", "two"]).contains("not run: two"));
        assert!(!root.path().join(REFERENCE).exists());
    }

    #[test]
    fn a_run_at_the_papers_sizes_may_be_in_part_and_has_its_own_place() {
        let (root, report) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(report.path(), "full", "done");
        take_over(root.path(), report.path(), &["one", "two"]).unwrap();
        assert!(Reference::read(&root.path().join(FULL_REFERENCE)).unwrap().has_run("one"));
        assert!(!root.path().join(REFERENCE).exists());
    }

    #[test]
    fn the_figures_are_those_that_the_documents_show() {
        let root = crate::workspace::root();
        let mut shown: Vec<String> = std::fs::read_dir(root.join("docs/figures"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("scaling-")) // of the benches
            .collect();
        shown.sort_unstable();
        assert_eq!(shown, FIGURES.map(|(name, ..)| format!("{name}.svg")));
        let known = |name| crate::experiments::ALL.iter().any(|e| e.name == name);
        assert!(FIGURES.iter().all(|(_, experiment, _)| known(*experiment)));
    }
}
