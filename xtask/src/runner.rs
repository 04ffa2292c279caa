//! `cargo xtask reproduce`: runs experiments one after another, keeps what is finished, survives
//! what fails, writes the report as it goes.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::Args;
use nystrom::linalg_core::instruction_set;
use serde_json::json;

use crate::context::{Context, Scale, experiment_seed};
use crate::datasets::{self, Folder};
use crate::experiment::{Experiment, Outcome};
use crate::lab::unbreakable;
use crate::machine::{self, now};
use crate::number::duration;
use crate::progress::Progress;
use crate::record::{Record, Run, Status, Versions};
use crate::reference::REFERENCE;
use crate::{atomic, experiments, pages, peers, reference, report, workspace};

const EXAMPLES: &str = "\
Examples:
  cargo xtask reproduce                          what needs no data but the embedded; 5 minutes
  cargo xtask reproduce --data data              all whose data are in that folder; half an hour
  cargo xtask reproduce --only NAME --full       one experiment at the paper's own sizes
  cargo xtask reproduce --smoke --out smoke      every experiment, tiny, to see that all run

`cargo xtask list` prints the names. An interrupted run continues where it stopped: finished
experiments are kept as long as scale, seed, program and data are the same. The report is
DIR/index.html; DIR/run.json holds the same verdicts for programs.
Exit status: 0 if every experiment ran (a claim may fail to hold), 1 if one failed.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Run only these experiments
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    data: Folder,
    /// The paper's own sizes: hours rather than minutes
    #[arg(long, conflicts_with = "smoke")]
    full: bool,
    /// Tiny sizes: the same code in seconds; verdicts mean nothing
    #[arg(long)]
    smoke: bool,
    /// Seed of all random numbers; the same seed gives the same numbers at any thread count
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = "report")]
    out: PathBuf,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Compute anew what an earlier run has finished
    #[arg(long)]
    fresh: bool,
    /// Also time the peers where an experiment compares, with this Python. It must have what
    /// benches/peers/requirements.txt lists [default: that of .venv, if it is there, or python3]
    #[arg(long, value_name = "PYTHON", num_args = 0..=1)]
    peers: Option<Option<PathBuf>>,
    /// Compare with a reference run [default: docs/data/reproduction.json]: verdicts, and values
    /// within four standard errors
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    check: Option<Option<PathBuf>>,
}

impl Options {
    fn scale(&self) -> Scale {
        match self.data.path() {
            _ if self.smoke => Scale::Smoke,
            _ if self.full => Scale::Full,
            Ok(None) => Scale::Short,
            _ => Scale::Default,
        }
    }

    /// The experiments asked for, in the order of the registry; all if none is named.
    fn chosen(&self, all: &[Experiment]) -> anyhow::Result<Vec<&'static str>> {
        let names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
        if let Some(unknown) = self.only.iter().find(|name| !names.contains(&name.as_str())) {
            bail!("there is no experiment `{unknown}`; the names are:\n  {}", names.join("\n  "));
        }
        let asked = |name: &&str| self.only.is_empty() || self.only.iter().any(|own| own == name);
        Ok(names.into_iter().filter(asked).collect())
    }
}

/// Runs what is asked for. The exit code tells whether any experiment failed, or differs from the
/// reference.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    // rayon's global pool, which faer uses too and this thread is of; 0: as many as there are cores
    let threads = options.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
    pool.build_global().context("cannot start the threads")?;
    let chosen = options.chosen(experiments::ALL)?;
    let reference = options.check.as_ref().map(|file| {
        let path = file.clone().unwrap_or_else(|| workspace::root().join(REFERENCE));
        let reference: Run = atomic::read(&path)?;
        reference.suits(options.scale(), options.seed).map(|()| reference)
    });
    let reference = reference.transpose()?;
    let run = reproduce(experiments::ALL, &chosen, options, &Progress::default())?;
    let mut failed = run.records.iter().any(|record| record.status == Status::Failed);
    if let Some(reference) = reference {
        let found = reference.compare(&run, &chosen);
        println!("{}", found.report());
        failed |= !found.differ.is_empty();
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the chosen experiments. The report also has what earlier runs left of the others.
fn reproduce(
    all: &'static [Experiment],
    chosen: &[&str],
    options: &Options,
    progress: &Progress,
) -> anyhow::Result<Run> {
    let (data_dir, scale, out) = (options.data.path()?, options.scale(), &options.out);
    let python = options.peers.as_ref().map(|named| peers::chosen(named.as_deref())).transpose()?;
    let mut run = Run {
        seed: options.seed,
        scale,
        threads: rayon::current_num_threads(),
        data_dir: data_dir.map(|dir| dir.display().to_string()),
        versions: Versions {
            nystrom: env!("CARGO_PKG_VERSION").into(),
            rustc: machine::rustc_version().map(Into::into),
            git: machine::git_revision(&workspace::root()),
            build: build_fingerprint()?,
        },
        cpu: machine::cpu_model(),
        instruction_set: instruction_set().into(),
        started: now(),
        finished: None,
        registry: all,
        records: vec![],
    };
    for experiment in cheapest_first(all, scale) {
        let name = experiment.name;
        let asked = chosen.contains(&name);
        let data = datasets::fingerprint(data_dir, experiment.data);
        let key = json!({"name": name, "build": run.versions.build, "scale": scale,
            "seed": run.seed, "data": data, "peers": python.is_some()});
        let stored = if asked && options.fresh { Ok(None) } else { Record::load(out, name, &key) };
        let mut record = stored.unwrap_or_else(|error| {
            progress.say(&format!("ignored an unfinished file, {error:#}"));
            None
        });
        if asked && let Some(Record { started, .. }) = &record {
            progress.say(&format!("kept    {name}: finished at {started}; --fresh recomputes"));
        } else if asked {
            let (paper, figure) = (experiment.paper.short, experiment.heading());
            progress.say(&format!("running {name}: {paper}, {figure}"));
            let found = execute(
                experiment,
                &Context {
                    scale,
                    progress: &progress.of(name),
                    data_dir: data_dir.map(Path::to_owned),
                    peers: python.clone(),
                    seed: experiment_seed(run.seed, name),
                    tape: Mutex::default(),
                },
            );
            if found.status != Status::Failed {
                found.save(out, &key)?;
            }
            progress.say(&verdict(&found));
            record = Some(found);
        }
        run.records.extend(record);
        let place = |record: &Record| all.iter().position(|other| other.name == record.name);
        run.records.sort_by_key(place);
        if asked {
            report::write(out, &run)?; // an interrupted run leaves a report of what is finished
        }
    }
    run.finished = Some(now());
    report::write(out, &run)?;
    progress.say(&report::summary(&run, out));
    match scale {
        Scale::Short => progress.say(
            "a longer run adds:\n  --data DIR   the experiments on data sets that \
             `cargo xtask fetch` brings; half an hour\n  --full       the papers' own sizes; hours",
        ),
        Scale::Default => progress.say("a longer run, --full, has the papers' own sizes; hours"),
        Scale::Smoke | Scale::Full => {}
    }
    Ok(run)
}

/// The experiments in the order of the seconds that they took in the reference run of this scale;
/// those that it lacks come last. The first verdicts come at once.
fn cheapest_first(all: &'static [Experiment], scale: Scale) -> Vec<&'static Experiment> {
    let reference: Option<Run> = atomic::read(&workspace::root().join(reference::of(scale))).ok();
    let seconds = |experiment: &Experiment| {
        let record = reference.as_ref().and_then(|run| run.record(experiment.name));
        record.map_or(f64::INFINITY, |record| record.seconds)
    };
    let mut ordered: Vec<&Experiment> = all.iter().collect();
    ordered.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    ordered
}

/// Runs one experiment. Its failure is a record like any other.
fn execute(experiment: &Experiment, context: &Context) -> Record {
    let measures_memory = machine::reset_peak_memory();
    let (started, clock) = (now(), Instant::now());
    let result = catch_unwind(AssertUnwindSafe(|| checked(experiment, context)));
    let result = result.unwrap_or_else(|panic| Err(anyhow!("panicked: {}", message(&*panic))));
    let seconds = clock.elapsed().as_secs_f64();
    let peak_mb = if measures_memory { machine::peak_memory_mb() } else { None };
    let (status, error, outcome) = match result {
        Ok(outcome) if outcome.is_no_data() => (Status::NoData, None, outcome),
        Ok(outcome) => (Status::Done, None, outcome),
        Err(error) => (Status::Failed, Some(format!("{error:#}")), Outcome::default()),
    };
    Record {
        name: experiment.name.into(),
        paper: experiment.paper.short.into(),
        figure: experiment.figure.into(),
        status,
        scale: context.scale,
        seconds,
        peak_mb,
        threads: rayon::current_num_threads(),
        instruction_set: instruction_set().into(),
        started,
        error,
        outcome,
    }
}

/// What the experiment found, with the notes of its page. Of a smoke run, whose verdicts mean
/// nothing, this is checked: each claim could fail.
fn checked(experiment: &Experiment, context: &Context) -> anyhow::Result<Outcome> {
    let mut outcome = (experiment.run)(context)?;
    if context.scale == Scale::Smoke {
        let firm = unbreakable(experiment, context, &outcome.claims)?;
        ensure!(firm.is_empty(), "no measured values break these claims:\n{}", firm.join("\n"));
    }
    outcome.notes.splice(..0, pages::notes(experiment.page, &outcome.values)?);
    Ok(outcome)
}

/// The text of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// What is said when an experiment has ended.
fn verdict(record: &Record) -> String {
    let Record { name, outcome: Outcome { claims, missing, .. }, .. } = record;
    let time = duration(record.seconds);
    let mut text = match record.status {
        Status::Failed => {
            let error = record.error.as_deref().unwrap_or_default();
            format!("FAILED  {name} after {time}: {error}")
        }
        Status::NoData => format!("no data {name}"),
        Status::Done => format!("done    {name} in {time}: {}", report::verdicts(claims)),
    };
    let telling = record.scale != Scale::Smoke; // verdicts of a smoke run mean nothing
    for claim in claims.iter().filter(|claim| telling && claim.holds == Some(false)) {
        text += &format!(
            "\n          does not hold ({}): {} (paper {}, measured {})",
            claim.kind, claim.text, claim.paper, claim.measured
        );
    }
    let missing: BTreeSet<&str> = missing.iter().map(|data| data.name.as_str()).collect();
    if !missing.is_empty() {
        text += &format!("\n          data missing: {}", Vec::from_iter(missing).join(", "));
    }
    text
}

/// The first eight bytes of this program's own SHA-256: tells results of another build from ours.
fn build_fingerprint() -> anyhow::Result<String> {
    // leads to the file that runs even after another build has replaced it
    let own = std::fs::read("/proc/self/exe");
    let program = own.or_else(|_| std::fs::read(std::env::current_exe()?));
    let program = program.context("cannot read this program")?;
    Ok(datasets::sha256(&program)[..16].to_owned())
}

#[cfg(test)]
mod tests;
