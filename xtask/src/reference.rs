//! The reference runs: what they found, whether another run agrees (times are left out), and how
//! `cargo xtask docs --from REPORT` takes over a run, with the figures of the documents.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use regex_lite::Regex;

use crate::atomic;
use crate::claim::{Claim, Kind, counts, verdict};
use crate::context::Scale;
use crate::number::number;
use crate::record::{Record, Run, Status, folder};

/// Where the reference of the default scale lies in the repository.
pub const REFERENCE: &str = "docs/data/reproduction.json";
/// The same at the papers' own sizes, of the experiments for which there was time.
pub const FULL_REFERENCE: &str = "docs/data/reproduction-full.json";
/// The reference run of a scale; of a smoke run that of the default scale.
pub fn of(scale: Scale) -> &'static str {
    if scale == Scale::Full { FULL_REFERENCE } else { REFERENCE }
}

/// Values may differ by so many standard errors, of the run's or the reference's, whichever is
/// larger.
const ERRORS: f64 = 4.0;
/// Values without a standard error may differ by this share: bits differ across processors.
const SHARE: f64 = 1e-3;
/// Figures of the documents: the name in `docs/figures/`, the experiment, the plot.
const FIGURES: [(&str, &str, &str); 4] = [
    ("chen-yang-boundary", "chen-yang-boundary", "boundary"),
    ("leverage-summary-california-housing", "leverage-summary", "spread-california-housing"),
    ("li-fig1-california-housing", "li-fig1", "error-california-housing"),
    ("li-fig3-california-housing", "li-fig3", "test-california-housing"),
];

impl Record {
    fn claim(&self, text: &str) -> Option<&Claim> {
        self.outcome.claims.iter().find(|claim| claim.text == text)
    }

    /// The claims of the paper.
    fn counted(&self) -> impl Iterator<Item = &Claim> {
        self.outcome.claims.iter().filter(|claim| Kind::COUNTED.contains(&claim.kind))
    }

    fn timeless(&self) -> impl Iterator<Item = &Claim> {
        self.outcome.claims.iter().filter(|claim| !claim.time)
    }
}

impl Run {
    /// Refuses a run that cannot be compared with this one, before it starts.
    ///
    /// # Errors
    /// If scale or seed differ.
    pub fn suits(&self, scale: Scale, seed: u64) -> anyhow::Result<()> {
        ensure!(
            (self.scale, self.seed) == (scale, seed),
            "the reference is of scale {}, seed {}: run the same, the default scale with --data",
            self.scale,
            self.seed
        );
        Ok(())
    }

    /// Whether an experiment could compute nothing, for want of data.
    pub fn lacks_data(&self, name: &str) -> bool {
        self.record(name).is_some_and(|record| record.status == Status::NoData)
    }

    fn done(&self, name: &str) -> Option<&Record> {
        self.record(name).filter(|record| record.status == Status::Done)
    }

    /// Sizes and verdicts of an experiment: `n = 500, 10 draws. Claims that count: 9 hold, 2 do
    /// not`, or that its data are missing. None if it has not run.
    pub fn summary(&self, experiment: &str) -> Option<String> {
        if self.lacks_data(experiment) {
            return Some("its data are missing".into());
        }
        let run = self.done(experiment)?;
        let counts = counts(&run.counted().collect::<Vec<_>>());
        Some(format!(
            "{}. Claims that count: {counts}",
            run.outcome.scale_note.trim_end_matches('.')
        ))
    }

    /// Claims that count whose verdict is another in this run: `x ≤ 2 holds at 1.5, does not hold
    /// at 2.4`. A claim that names its n or N is compared with the same claim at another size.
    pub fn other_verdicts(&self, than: &Run, experiment: &str) -> Vec<String> {
        let (Some(here), Some(there)) = (self.done(experiment), than.done(experiment)) else {
            return vec![];
        };
        let elsewhere = |is: &Claim| {
            let same = |was: &&Claim| {
                here.claim(&was.text).is_none()
                    && without_sizes(&was.text) == without_sizes(&is.text)
            };
            there.counted().find(same)
        };
        let other = |is: &Claim| {
            let was = there.claim(&is.text).or_else(|| elsewhere(is))?;
            let [before, now] =
                [was, is].map(|claim| format!("{} at {}", verdict(claim.holds)[0], claim.measured));
            let size = if was.text == is.text { "" } else { " at the size above" };
            (was.holds != is.holds).then(|| format!("{} {before}{size}, {now}", is.text))
        };
        here.counted().filter_map(other).collect()
    }

    /// The claim of an experiment whose text contains a fragment, if there is exactly one.
    ///
    /// # Errors
    /// If there is no such experiment, or none or several such claims.
    pub fn claim(&self, experiment: &str, fragment: &str) -> anyhow::Result<&Claim> {
        let found = self.record(experiment);
        let found = found.with_context(|| format!("there is no experiment `{experiment}`"))?;
        let claims = found.outcome.claims.iter().filter(|claim| claim.text.contains(fragment));
        match claims.collect::<Vec<_>>()[..] {
            [claim] => Ok(claim),
            ref all => bail!("{} claims of `{experiment}` contain `{fragment}`", all.len()),
        }
    }

    /// Compares the named experiments of a run with this reference.
    pub fn compare(&self, run: &Run, names: &[&str]) -> Comparison {
        let mut found = Comparison::default();
        for name in names {
            match (self.record(name), run.record(name)) {
                (None, _) => found.left_out.push(format!("{name}: not in the reference")),
                (_, None) => found.differ.push(format!("{name}: not in the run")),
                (_, Some(is)) if is.status == Status::Failed => {
                    found.differ.push(format!("{name}: failed"));
                }
                (Some(was), Some(is)) => found.claims(was, is),
            }
        }
        found
    }
}

/// What a comparison found.
#[derive(Default, Debug)]
pub struct Comparison {
    agree: usize,
    /// What differs, a line each.
    pub differ: Vec<String>,
    /// What could not be compared, and why.
    left_out: Vec<String>,
}

impl Comparison {
    fn claims(&mut self, reference: &Record, run: &Record) {
        let line = |claim: &Claim, what: &str| format!("{}: {}: {what}", run.name, claim.text);
        for was in reference.timeless() {
            match run.claim(&was.text).map(|is| difference(was, is)) {
                Some(None) => self.agree += 1,
                Some(Some(what)) => self.differ.push(line(was, &what)),
                None if run.outcome.missing.is_empty() => {
                    self.differ.push(line(was, "not claimed any more"));
                }
                None => {
                    let sets: Vec<&str> =
                        run.outcome.missing.iter().map(|set| set.name.as_str()).collect();
                    let what = format!("data missing ({})", sets.join(", "));
                    self.left_out.push(line(was, &what));
                }
            }
        }
        let new = run.timeless().filter(|is| reference.claim(&is.text).is_none());
        let list = if reference.outcome.missing.is_empty() {
            &mut self.differ
        } else {
            &mut self.left_out
        };
        list.extend(new.map(|is| line(is, "not in the reference")));
    }

    /// For people.
    pub fn report(&self) -> String {
        let left_out = self.left_out.iter().map(|line| format!("not compared: {line}\n"));
        let differ = self.differ.iter().map(|line| format!("differs: {line}\n"));
        let counts = format!(
            "{} claims agree with the reference, {} differ, {} could not be compared",
            self.agree,
            self.differ.len(),
            self.left_out.len()
        );
        left_out.chain(differ).chain([counts]).collect()
    }
}

/// The text of a claim without the numbers of points in it.
fn without_sizes(text: &str) -> String {
    let size = Regex::new(r"\b([nN] = )\d+").expect("it is valid");
    size.replace_all(text, "$1").into_owned()
}

/// What differs between two measurements of one claim.
fn difference(was: &Claim, is: &Claim) -> Option<String> {
    if was.holds != is.holds {
        let [before, now] = [was, is].map(|claim| verdict(claim.holds)[0]);
        return Some(format!("was: {before}, is: {now} ({}, {})", was.measured, is.measured));
    }
    let (Some(a), Some(b)) = (was.value, is.value) else {
        return None; // verdicts on words
    };
    let errors = was.standard_error.into_iter().chain(is.standard_error).fold(0.0, f64::max);
    let allowed = if errors > 0.0 { ERRORS * errors } else { SHARE * a.abs().max(b.abs()) };
    let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= allowed;
    let [a, b, allowed] = [a, b, allowed].map(number);
    (!same).then(|| format!("was {a}, is {b}, more than {allowed} apart"))
}

/// Takes over the run whose report is in `report`. One of the full scale may be in part.
///
/// # Errors
/// If the run is of the smoke scale or another seed. At the default scale, if an experiment failed
/// or has not run, or a figure is not there.
pub fn take_over(root: &Path, report: &Path, experiments: &[&str]) -> anyhow::Result<()> {
    let path = report.join("run.json");
    let run: Run = atomic::read(&path)?;
    let copy = |from: &Path, to: &str| {
        let bytes =
            std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        atomic::write(&root.join(to), &bytes)
    };
    if run.suits(Scale::Full, 0).is_ok() {
        copy(&path, FULL_REFERENCE)?;
        println!("wrote {}", root.join(FULL_REFERENCE).display());
        return Ok(());
    }
    run.suits(Scale::Default, 0)?;
    let ran = |name: &str| run.record(name).is_some_and(|e| e.status != Status::Failed);
    let lacking: Vec<&str> = experiments.iter().copied().filter(|name| !ran(name)).collect();
    ensure!(
        lacking.is_empty(),
        "{}: failed or not run: {}; a reference has all experiments",
        path.display(),
        lacking.join(", ")
    );
    for (name, experiment, plot) in FIGURES {
        let figure = folder(report, experiment).join(format!("{plot}.svg"));
        copy(&figure, &format!("docs/figures/{name}.svg"))?;
    }
    copy(&path, REFERENCE)?;
    println!("wrote {} and {} figures", root.join(REFERENCE).display(), FIGURES.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::MissingData;
    use crate::experiment::{Outcome, measured};
    use crate::testing::{estimate, missing, record, run_with};

    fn run(claims: Vec<Claim>, missing: Vec<MissingData>) -> Run {
        let outcome = Outcome { claims, missing, ..Outcome::default() };
        let one = Record { name: "one".into(), outcome, ..record() };
        Run { scale: Scale::Default, seed: 0, ..run_with(one) }
    }

    fn claim(value: f64, error: f64) -> Claim {
        measured("x", estimate(value, error)).at_most("", 1.0)
    }

    #[test]
    fn values_may_differ_by_four_standard_errors_and_verdicts_not_at_all() {
        let differences = |was: Claim, is: Claim| {
            run(vec![was], vec![]).compare(&run(vec![is], vec![]), &["one"]).differ.len()
        };
        assert_eq!(differences(claim(0.5, 0.01), claim(0.539, 0.01)), 0);
        assert_eq!(differences(claim(0.5, 0.01), claim(0.541, 0.01)), 1);
        assert_eq!(differences(claim(0.97, 0.01), claim(0.99, 0.01)), 1, "holds, then undecided");
        assert_eq!(differences(claim(0.5, 0.0), claim(0.5004, 0.0)), 0);
        assert_eq!(differences(claim(0.5, 0.0), claim(0.501, 0.0)), 1);
        let timed = |value| Claim { time: true, ..claim(value, 0.01) };
        assert_eq!(differences(timed(0.5), timed(5.0)), 0, "times are left out");
    }

    #[test]
    fn what_lacks_data_is_left_out_and_what_has_gone_differs() {
        let (reference, none) = (run(vec![claim(0.5, 0.01)], vec![]), run(vec![], vec![]));
        let without = reference.compare(&run(vec![], vec![missing()]), &["one"]);
        assert_eq!((without.differ.len(), without.left_out.len()), (0, 1));
        let gone = reference.compare(&none, &["one"]).report();
        assert!(gone.contains("differs: one: x ≤ 1: not claimed any more\n0 claims agree"));
        assert_eq!(reference.compare(&none, &["two"]).left_out.len(), 1);
        assert!(none.compare(&reference, &["one"]).differ[0].contains("not in the reference"));
        assert!(none.suits(Scale::Default, 0).is_ok());
        assert!(none.suits(Scale::Smoke, 0).is_err() && none.suits(Scale::Default, 1).is_err());
    }

    #[test]
    fn a_run_json_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        crate::report::write(dir.path(), &run_with(record())).unwrap();
        let back: Run = atomic::read(&dir.path().join("run.json")).unwrap();
        let same = back.compare(&back, &["self-check"]);
        assert_eq!((same.agree, same.differ.len()), (3, 0), "{same:?}");
        assert!(back.claim("self-check", "risk ratio").unwrap().value.unwrap().is_nan());
        assert!(back.claim("self-check", "").is_err() && back.claim("other", "").is_err());
    }

    #[test]
    fn a_whole_run_of_the_default_scale_is_taken_over_and_of_the_full_scale_also_a_part() {
        use {Scale::*, Status::*};
        let (root, report) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let take = |scale, status, names: &[&str]| {
            let one = Record { name: "one".into(), status, ..record() };
            let run = Run { scale, seed: 0, ..run_with(one) };
            let path = report.path().join("run.json");
            std::fs::write(path, serde_json::to_vec(&run).unwrap()).unwrap();
            take_over(root.path(), report.path(), names).map_err(|error| error.to_string())
        };
        let refused = |scale, status, names: &[&str]| take(scale, status, names).unwrap_err();
        assert!(refused(Smoke, Done, &["one"]).contains("scale"));
        assert!(refused(Default, Failed, &["one"]).contains("not run: one"));
        assert!(refused(Default, Done, &["one", "two"]).contains("not run: two"));
        assert!(refused(Default, Done, &["one"]).contains("boundary.svg"));
        let taken = |path: &str| root.path().join(path).exists();
        take(Full, Done, &["one", "two"]).unwrap();
        assert!(taken(FULL_REFERENCE) && !taken(REFERENCE));
        for (_, experiment, plot) in FIGURES {
            let figure = folder(report.path(), experiment).join(format!("{plot}.svg"));
            atomic::write(&figure, plot.as_bytes()).unwrap();
        }
        take(Default, Done, &["one"]).unwrap();
        let reference: Run = atomic::read(&root.path().join(REFERENCE)).unwrap();
        assert!(reference.done("one").is_some());
        assert!(FIGURES.iter().all(|(name, ..)| taken(&format!("docs/figures/{name}.svg"))));
    }

    #[test]
    fn the_figures_are_those_that_the_documents_show() {
        let files = std::fs::read_dir(crate::workspace::root().join("docs/figures")).unwrap();
        let mut shown: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("scaling-")) // of the benches
            .collect();
        shown.sort_unstable();
        assert_eq!(shown, FIGURES.map(|(name, ..)| format!("{name}.svg")));
        let known = |name| crate::experiments::ALL.iter().any(|e| e.name == name);
        assert!(FIGURES.iter().all(|(_, experiment, _)| known(*experiment)));
    }
}
