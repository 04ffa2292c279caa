//! Compares a run with a reference: verdicts, and values within their standard errors. Times are
//! left out.

use std::path::Path;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::claim::{Claim, Kind};
use crate::context::Scale;
use crate::datasets::MissingData;
use crate::number::number;
use crate::record::Status;

/// Where the reference of the default scale lies in the repository.
pub const REFERENCE: &str = "docs/data/reproduction.json";
/// The same at the papers' own sizes, of the experiments for which there was time.
pub const FULL_REFERENCE: &str = "docs/data/reproduction-full.json";
/// Values may differ by so many standard errors, of the run's or the reference's, whichever is
/// larger.
const ERRORS: f64 = 4.0;
/// Values without a standard error may differ by this share: bits differ across processors.
const SHARE: f64 = 1e-3;

/// What `run.json` says, as far as it is compared.
#[derive(Deserialize)]
pub struct Reference {
    /// Scale of the run.
    pub scale: Scale,
    /// Seed of the run.
    pub seed: u64,
    experiments: Vec<Reproduced>,
}

#[derive(Deserialize)]
struct Reproduced {
    name: String,
    status: Status,
    #[serde(default)]
    sizes: String,
    claims: Vec<Claim>,
    missing: Vec<MissingData>,
}

/// What a comparison found.
#[derive(Default, Debug)]
pub struct Comparison {
    /// Claims that agree.
    pub agree: usize,
    /// What differs, a line each.
    pub differ: Vec<String>,
    /// What could not be compared, and why.
    pub left_out: Vec<String>,
}

impl Reference {
    /// Reads a `run.json`.
    ///
    /// # Errors
    /// If it is not there, or is not such a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is not a run.json", path.display()))
    }

    /// Refuses a run that cannot be compared with this one, before it starts.
    ///
    /// # Errors
    /// If scale or seed differ.
    pub fn suits(&self, scale: Scale, seed: u64) -> anyhow::Result<()> {
        let ours = (self.scale.word(), self.seed);
        ensure!(
            (self.scale, self.seed) == (scale, seed),
            "the reference is of scale {}, seed {}: run the same",
            ours.0,
            ours.1
        );
        Ok(())
    }

    /// Whether an experiment has run and did not fail.
    pub fn has_run(&self, experiment: &str) -> bool {
        self.experiments.iter().any(|e| e.name == experiment && e.status != Status::Failed)
    }

    /// Sizes and verdicts of an experiment: `n = 500, 10 draws. Of 12 claims that count 9 hold, 1
    /// does not, 2 are open.` None if it has not run.
    pub fn summary(&self, experiment: &str) -> Option<String> {
        let run = self.done(experiment)?;
        let counted = || run.claims.iter().filter(|claim| Kind::COUNTED.contains(&claim.kind));
        let are = |holds| counted().filter(|claim| claim.holds == holds).count();
        Some(format!(
            "{}. Of {} claims that count {} hold, {} do not, {} are open",
            run.sizes.trim_end_matches('.'),
            counted().count(),
            are(Some(true)),
            are(Some(false)),
            are(None)
        ))
    }

    /// Claims that count whose verdict is another in this run: `x ≤ 2: 1.5 in the one, 2.4 in the
    /// other`.
    pub fn other_verdicts(&self, than: &Reference, experiment: &str) -> Vec<String> {
        let (Some(here), Some(there)) = (self.done(experiment), than.done(experiment)) else {
            return vec![];
        };
        let counted = here.claims.iter().filter(|claim| Kind::COUNTED.contains(&claim.kind));
        let pairs = counted.filter_map(|is| {
            let was = there.claims.iter().find(|claim| claim.text == is.text)?;
            (was.holds != is.holds).then_some((was, is))
        });
        pairs
            .map(|(was, is)| {
                let [before, now] = [was, is].map(|claim| verdict(claim.holds));
                format!("{} {before} at {}, {now} at {}", is.text, was.measured, is.measured)
            })
            .collect()
    }

    fn done(&self, experiment: &str) -> Option<&Reproduced> {
        self.experiments.iter().find(|e| e.name == experiment && e.status == Status::Done)
    }

    /// The claim of an experiment whose text contains a fragment, if there is exactly one.
    ///
    /// # Errors
    /// If there is no such experiment, or none or several such claims.
    pub fn claim(&self, experiment: &str, fragment: &str) -> anyhow::Result<&Claim> {
        let found = self.experiments.iter().find(|e| e.name == experiment);
        let found = found.with_context(|| format!("there is no experiment `{experiment}`"))?;
        let claims: Vec<&Claim> =
            found.claims.iter().filter(|claim| claim.text.contains(fragment)).collect();
        ensure!(
            claims.len() == 1,
            "{} claims of `{experiment}` contain `{fragment}`",
            claims.len()
        );
        Ok(claims[0])
    }

    /// Compares the named experiments of a run with this reference.
    pub fn compare(&self, run: &Reference, names: &[&str]) -> Comparison {
        let mut found = Comparison::default();
        for name in names {
            let of = |all: &'_ [Reproduced]| all.iter().position(|e| e.name == *name);
            match (of(&self.experiments), of(&run.experiments)) {
                (None, _) => found.left_out.push(format!("{name}: not in the reference")),
                (_, None) => found.differ.push(format!("{name}: not in the run")),
                (Some(i), Some(j)) => found.experiment(&self.experiments[i], &run.experiments[j]),
            }
        }
        found
    }
}

impl Comparison {
    fn experiment(&mut self, reference: &Reproduced, run: &Reproduced) {
        let name = &reference.name;
        if run.status == Status::Failed {
            self.differ.push(format!("{name}: failed"));
            return;
        }
        for was in &reference.claims {
            match run.claims.iter().find(|claim| claim.text == was.text) {
                _ if was.time => {}
                Some(is) => match difference(was, is) {
                    None => self.agree += 1,
                    Some(what) => self.differ.push(format!("{name}: {}: {what}", was.text)),
                },
                None if !run.missing.is_empty() => {
                    let sets: Vec<&str> =
                        run.missing.iter().map(|data| data.name.as_str()).collect();
                    self.left_out.push(format!(
                        "{name}: {}: data missing ({})",
                        was.text,
                        sets.join(", ")
                    ));
                }
                None => self.differ.push(format!("{name}: {}: not claimed any more", was.text)),
            }
        }
        let known = |claim: &&Claim| {
            !claim.time && reference.claims.iter().all(|was| was.text != claim.text)
        };
        for claim in run.claims.iter().filter(known) {
            let list =
                if reference.missing.is_empty() { &mut self.differ } else { &mut self.left_out };
            list.push(format!("{name}: {}: not in the reference", claim.text));
        }
    }

    /// For people.
    pub fn report(&self) -> String {
        let lines = |head: &str, all: &[String]| {
            all.iter().map(|line| format!("{head}: {line}\n")).collect::<String>()
        };
        let (differ, left_out) =
            (lines("differs", &self.differ), lines("not compared", &self.left_out));
        let counts = format!(
            "{} claims agree with the reference, {} differ, {} could not be compared",
            self.agree,
            self.differ.len(),
            self.left_out.len()
        );
        left_out + &differ + &counts
    }
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "is open",
    }
}

/// What differs between two measurements of one claim.
fn difference(was: &Claim, is: &Claim) -> Option<String> {
    if was.holds != is.holds {
        let numbers = format!("({}, {})", was.measured, is.measured);
        return Some(format!("was: {}, is: {} {numbers}", verdict(was.holds), verdict(is.holds)));
    }
    let (Some(a), Some(b)) = (was.value, is.value) else {
        return None; // verdicts on words
    };
    let errors = was.standard_error.into_iter().chain(is.standard_error).fold(0.0, f64::max);
    let allowed = if errors > 0.0 { ERRORS * errors } else { SHARE * a.abs().max(b.abs()) };
    let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= allowed;
    (!same).then(|| {
        format!("was {}, is {}, more than {} apart", number(a), number(b), number(allowed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Estimate;

    fn run(claims: Vec<Claim>, missing: Vec<MissingData>) -> Reference {
        let (name, sizes) = ("one".into(), "n = 2.".into());
        let one = Reproduced { name, status: Status::Done, sizes, claims, missing };
        Reference { scale: Scale::Default, seed: 0, experiments: vec![one] }
    }

    fn claim(value: f64, error: f64) -> Claim {
        Claim::at_most("x", "", Estimate { value, error: Some(error), time: false }, 1.0)
    }

    fn differences(was: Claim, is: Claim) -> usize {
        run(vec![was], vec![]).compare(&run(vec![is], vec![]), &["one"]).differ.len()
    }

    #[test]
    fn values_may_differ_by_four_standard_errors_and_verdicts_not_at_all() {
        assert_eq!(differences(claim(0.5, 0.01), claim(0.539, 0.01)), 0);
        assert_eq!(differences(claim(0.5, 0.01), claim(0.541, 0.01)), 1);
        assert_eq!(differences(claim(0.97, 0.01), claim(0.99, 0.01)), 1, "holds, then undecided");
        assert_eq!(differences(claim(0.5, 0.0), claim(0.5004, 0.0)), 0);
        assert_eq!(differences(claim(0.5, 0.0), claim(0.501, 0.0)), 1);
    }

    #[test]
    fn times_are_left_out() {
        let timed = |value| Claim { time: true, ..claim(value, 0.01) };
        assert_eq!(differences(timed(0.5), timed(5.0)), 0);
    }

    #[test]
    fn what_lacks_data_is_left_out_and_what_has_gone_differs() {
        let reference = run(vec![claim(0.5, 0.01)], vec![]);
        let without = reference.compare(&run(vec![], vec![crate::testing::missing()]), &["one"]);
        assert_eq!((without.differ.len(), without.left_out.len()), (0, 1));
        let gone = reference.compare(&run(vec![], vec![]), &["one"]);
        assert!(gone.report().contains("not claimed any more"), "{}", gone.report());
        assert_eq!(reference.compare(&run(vec![], vec![]), &["two"]).left_out.len(), 1);
        let new = run(vec![], vec![]).compare(&reference, &["one"]);
        assert!(new.differ[0].contains("not in the reference"));
    }

    #[test]
    fn a_run_of_another_scale_or_seed_is_refused() {
        let reference = run(vec![], vec![]);
        assert!(reference.suits(Scale::Default, 0).is_ok());
        assert!(
            reference.suits(Scale::Smoke, 0).is_err()
                && reference.suits(Scale::Default, 1).is_err()
        );
    }

    #[test]
    fn a_run_json_reads_back() {
        let run = crate::testing::run_with(crate::testing::record());
        let dir = tempfile::tempdir().unwrap();
        crate::report::write(dir.path(), &run).unwrap();
        let back = Reference::read(&dir.path().join("run.json")).unwrap();
        let same =
            back.compare(&Reference::read(&dir.path().join("run.json")).unwrap(), &["self-check"]);
        assert_eq!((same.agree, same.differ.len()), (3, 0), "{same:?}");
        assert!(back.claim("self-check", "risk ratio").unwrap().value.unwrap().is_nan());
        assert!(back.claim("self-check", "").is_err() && back.claim("other", "").is_err());
    }
}
