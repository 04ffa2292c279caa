//! Runs experiments one after another: keeps what is finished, survives what fails, writes the
//! report as it goes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use nystrom::linalg_core::instruction_set;

use crate::context::Scale;
use crate::context::{Context, experiment_seed};
use crate::experiment::{Experiment, Outcome};
use crate::lab::Tape;
use crate::machine::{self, now};
use crate::number::duration;
use crate::progress::Progress;
use crate::record::{Entry, Record, Run, Status, Versions};
use crate::resume::{self, Found, Key};
use crate::{datasets, report, workspace};

/// What is to be run, and how.
pub struct Plan {
    /// The registry.
    pub all: &'static [Experiment],
    /// Names of those asked for.
    pub chosen: Vec<&'static str>,
    /// Scale of the run.
    pub scale: Scale,
    /// Seed of the run.
    pub seed: u64,
    /// Where the data sets are.
    pub data_dir: Option<PathBuf>,
    /// The Python of the peers, if they are to be run.
    pub peers: Option<PathBuf>,
    /// Where the report goes.
    pub out: PathBuf,
    /// Recompute what is finished.
    pub fresh: bool,
}

/// Runs the plan. The exit code tells whether any experiment failed.
pub fn run(plan: &Plan, progress: &Progress) -> anyhow::Result<ExitCode> {
    let mut run = start(plan)?;
    for i in 0..run.entries.len() {
        let experiment = run.entries[i].experiment;
        let key = key(plan, &experiment, &run.versions.build);
        let asked = plan.chosen.contains(&experiment.name);
        let kept = if asked && plan.fresh { None } else { look_up(plan, &key, asked, progress) };
        run.entries[i].record = match kept {
            None if asked => Some(execute(plan, &experiment, &key, &run.versions.build, progress)?),
            kept => kept,
        };
        if asked {
            // whoever interrupts the run has a report of what is finished
            report::write(&plan.out, &run)?;
        }
    }
    run.finished = Some(now());
    report::write(&plan.out, &run)?;
    progress.say(&report::summary(&run, &plan.out));
    let failed = run
        .entries
        .iter()
        .flat_map(|entry| &entry.record)
        .any(|record| record.status == Status::Failed);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn start(plan: &Plan) -> anyhow::Result<Run> {
    Ok(Run {
        seed: plan.seed,
        scale: plan.scale,
        versions: Versions {
            nystrom: env!("CARGO_PKG_VERSION"),
            rustc: machine::rustc_version(),
            git: machine::git_revision(&workspace::root()),
            build: build_fingerprint()?,
        },
        cpu: machine::cpu_model(),
        instruction_set: instruction_set(),
        threads: rayon::current_num_threads(),
        started: now(),
        finished: None,
        data_dir: plan.data_dir.as_ref().map(|dir| dir.display().to_string()),
        entries: plan.all.iter().map(|&experiment| Entry { experiment, record: None }).collect(),
    })
}

/// All that the result of this experiment depends on.
fn key(plan: &Plan, experiment: &Experiment, build: &str) -> Key {
    Key {
        name: experiment.name.into(),
        build: build.into(),
        scale: plan.scale,
        seed: plan.seed,
        data: datasets::fingerprint(plan.data_dir.as_deref(), experiment.data),
        peers: plan.peers.is_some(),
    }
}

/// The finished record, if there is one; says so if it was asked for.
fn look_up(plan: &Plan, key: &Key, asked: bool, progress: &Progress) -> Option<Record> {
    match resume::load(&plan.out, key) {
        Found::Kept(record) => {
            if asked {
                let name = &key.name;
                progress.say(&format!(
                    "kept    {name}: finished at {}; --fresh recomputes",
                    record.started
                ));
            }
            Some(*record)
        }
        Found::Nothing => None,
        Found::Unreadable(why) => {
            progress.say(&format!("ignored an unfinished file, {why}"));
            None
        }
    }
}

/// Runs one experiment. Its failure is a record like any other; only a full disk and its like are
/// errors.
fn execute(
    plan: &Plan,
    experiment: &Experiment,
    key: &Key,
    build: &str,
    progress: &Progress,
) -> anyhow::Result<Record> {
    progress.experiment(experiment.name);
    progress.say(&format!(
        "running {}: {}, {}",
        experiment.name,
        experiment.paper.short,
        experiment.heading()
    ));
    let context = Context {
        scale: plan.scale,
        progress,
        data_dir: plan.data_dir.clone(),
        peers: plan.peers.clone(),
        seed: experiment_seed(plan.seed, experiment.name),
        tape: Tape::default(),
    };
    let measures_memory = machine::reset_peak_memory();
    let (started, clock) = (now(), Instant::now());
    let result = catch_unwind(AssertUnwindSafe(|| checked(experiment, &context)));
    let seconds = clock.elapsed().as_secs_f64();
    let peak_mb = if measures_memory { machine::peak_memory_mb() } else { None };

    let (status, error, outcome) = judge(result);
    let record = Record {
        status,
        error,
        scale: plan.scale,
        seconds,
        peak_mb,
        started,
        threads: rayon::current_num_threads(),
        instruction_set: instruction_set().into(),
        build: build.to_owned(),
        outcome,
    };
    if status != Status::Failed {
        resume::save(&plan.out, key, &record)?;
    }
    progress.say(&verdict(experiment.name, &record));
    Ok(record)
}

/// What the experiment found. Of a smoke run, whose verdicts mean nothing, this is checked: each
/// claim could fail.
fn checked(experiment: &Experiment, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let outcome = (experiment.run)(context)?;
    let firm = Tape::unbreakable(experiment, context, &outcome.claims)?;
    ensure!(firm.is_empty(), "no measured values break these claims:\n{}", firm.join("\n"));
    Ok(outcome)
}

type Caught = Result<anyhow::Result<Outcome>, Box<dyn Any + Send>>;

fn judge(result: Caught) -> (Status, Option<String>, Outcome) {
    match result {
        Ok(Ok(outcome)) if outcome.is_no_data() => (Status::NoData, None, outcome),
        Ok(Ok(outcome)) => (Status::Done, None, outcome),
        Ok(Err(error)) => (Status::Failed, Some(format!("{error:#}")), Outcome::default()),
        Err(payload) => {
            (Status::Failed, Some(format!("panicked: {}", message(&*payload))), Outcome::default())
        }
    }
}

/// The text of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// What is said when an experiment has ended.
fn verdict(name: &str, record: &Record) -> String {
    let time = duration(record.seconds);
    let claims = &record.outcome.claims;
    let mut lines = match record.status {
        Status::Failed => vec![format!(
            "FAILED  {name} after {time}: {}",
            record.error.as_deref().unwrap_or_default()
        )],
        Status::NoData => vec![format!("no data {name}")],
        Status::Done => vec![format!("done    {name} in {time}: {}", report::verdicts(claims))],
    };
    let telling = record.scale != Scale::Smoke; // verdicts of a smoke run mean nothing
    for claim in claims.iter().filter(|claim| telling && claim.holds == Some(false)) {
        lines.push(format!(
            "          does not hold ({}): {} (paper {}, measured {})",
            claim.kind.word(),
            claim.text,
            claim.paper,
            claim.measured
        ));
    }
    let mut missing: Vec<&str> =
        record.outcome.missing.iter().map(|data| data.name.as_str()).collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        lines.push(format!("          data missing: {}", missing.join(", ")));
    }
    lines.join("\n")
}

/// The first eight bytes of this program's own SHA-256: tells results of another build from ours.
fn build_fingerprint() -> anyhow::Result<String> {
    // leads to the file that runs even after another build has replaced it
    let own = Path::new("/proc/self/exe");
    let path = if own.exists() { own.to_owned() } else { std::env::current_exe()? };
    let program = std::fs::read(&path)
        .with_context(|| format!("cannot read this program, {}", path.display()))?;
    Ok(datasets::sha256(&program)[..16].to_owned())
}

#[cfg(test)]
mod tests;
