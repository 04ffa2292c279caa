//! `nystrom fit` in two passes over the rows.

use super::checkpoint::{Folder, identity};
use super::input::{StreamInput, Watched};
use super::sizes::Sizes;
use super::watch::Watch as Passing;
use crate::args::{Bandwidth, Fit, Lambda, Output};
use crate::commands::{auto, auto_report, fit_plan};
use crate::failure::{Failure, Result, of_pipeline};
use crate::model_file;
use crate::search::{Budget, Watch};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe, Report, StreamFit, StreamReport, Summing};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Between checkpoints.
const EVERY: f64 = 60.0;

pub fn run(args: &Fit) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    let output = args.output.as_ref().unwrap_or(&Output::Stdout);
    check(args, output)?;
    crate::output::check_writable(output, &[&args.data.data])?;
    let mut input = StreamInput::of(args)?;
    for note in &input.notes {
        session.say(&format!("note: {note}"));
    }
    let budget = Budget::new(args, session.memory);
    let sizes = Sizes::of(args, &mut input, &budget)?;
    sizes.announce(&input, &budget, args, &session)?;
    if args.plan {
        return Ok(ExitCode::SUCCESS);
    }
    let stream = stream(args, &sizes, &budget);
    stream.check().map_err(of_pipeline)?;
    let folder = Folder::of(args)?;
    let (recipe, bytes, report) = match saved(&folder, &stream, &mut input)? {
        Some((recipe, bytes)) => (recipe, bytes, None),
        None => {
            let (recipe, report) = recipe(args, &stream, &mut input, &budget, &session, &mut rng)?;
            let bytes = match &folder {
                Some(_) => recipe.to_bytes(&identity()).map_err(of_pipeline)?,
                None => Vec::new(),
            };
            if let Some(folder) = &folder {
                folder.save_recipe(&input.files, &bytes)?;
            }
            (recipe, bytes, report)
        }
    };
    let mut sum = recipe.sum().map_err(of_pipeline)?;
    if let Some(folder) = &folder {
        sum = folder.resume(sum, &bytes)?;
        if sum.row() > 0 {
            session.say(&format!("going on from the checkpoint at row {}", sum.row()));
        }
    }
    second_pass(args, &mut sum, &mut input, (folder.as_ref(), &bytes), &session)?;
    session.progress.stage("choosing λ", None);
    let (model, found) = sum.finish(&lambdas(args)).map_err(of_pipeline)?;
    let size = model_file::save(&model, output)?;
    if let Some(folder) = &folder {
        folder.clear();
    }
    let mut summary = Summary::of("fit");
    if let Some(report) = &report {
        auto_report::describe(&model, report, &mut summary);
    }
    describe(&model, &found, &sizes, &mut summary);
    let place = output
        .file()
        .map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
    summary.line("model", format!("{place}, {}", text::bytes(size)));
    summary.value("model", &place);
    summary.value("seed", args.run.seed);
    summary.print(&session, output.is_stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Options that need all rows at once.
fn check(args: &Fit, output: &Output) -> Result<()> {
    let refused = [
        ("--hold-out", args.hold_out.is_some()),
        ("--certify", args.certify.is_some()),
        ("--report", args.report.is_some()),
        ("--tolerance", args.tolerance.is_some()),
        ("--leverage-lambda", args.leverage.leverage_lambda.is_some()),
        ("--no-intercept", args.regression.no_intercept),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
        let text = format!(
            "{option} is for tables in memory, and this one is read block by block; leave it out"
        );
        return Err(Failure::Usage(text).into());
    }
    if args.lambda == Some(Lambda::Auto) {
        let text = "leave-one-out errors need a further pass, which is not there yet; write \
                    --lambda gcv, which the sums give, or a number";
        return Err(Failure::Usage(text.into()).into());
    }
    if args.run.json && output.is_stdout() && !args.plan {
        let text = "standard output cannot take both the model and --json; name a file for the \
                    model";
        return Err(Failure::Usage(text.into()).into());
    }
    args.kernel.check()
}

fn stream(args: &Fit, sizes: &Sizes, budget: &Budget) -> StreamFit {
    let fit = nystrom_pipeline::Fit {
        work: budget.work,
        effort: budget.effort,
        memory: Some(sizes.search),
        columns: auto::column_options(args),
        weights: args.search.weights.clone(),
        task: auto::task(args),
        calibrate: args.search.calibrate,
        deviations: args.search.std,
        class_weights: args.search.class_weights.clone().unwrap_or_default(),
        split: auto::split_by(args),
    };
    StreamFit { fit, reservoir: sizes.reservoir, landmarks: sizes.landmarks }
}

/// The recipe of a run that was killed after its first pass.
fn saved(
    folder: &Option<Folder>,
    stream: &StreamFit,
    input: &mut StreamInput,
) -> Result<Option<(Recipe, Vec<u8>)>> {
    let Some(folder) = folder else { return Ok(None) };
    let Some((record, recipe, bytes)) = folder.recipe(&stream.fit, &identity())? else {
        return Ok(None);
    };
    input.files.restore(record)?;
    Ok(Some((recipe, bytes)))
}

/// The first pass, and the search on its sample.
fn recipe(
    args: &Fit,
    stream: &StreamFit,
    input: &mut StreamInput,
    budget: &Budget,
    session: &Session,
    rng: &mut dyn Rng,
) -> Result<(Recipe, Option<Report>)> {
    let bytes = input.files.bytes()?;
    let watch = Passing::new(session, "pass 1 of 2", (None, bytes));
    let targets = input.targets.clone();
    let mut source = Watched { files: &mut input.files, unwanted: &input.unwanted, watch };
    let survey = stream.survey(&mut source, targets, &mut |_| {}, rng).map_err(of_pipeline)?;
    for note in survey.notes() {
        session.say(&format!("note: {note}"));
    }
    let compressed = input.files.compressed();
    if let (Some(file), Some(_)) = (compressed.first(), &args.stream.checkpoint) {
        session.say(&format!(
            "note: {file} is compressed: going on from a checkpoint inside it reads it from its \
             first byte"
        ));
    }
    let (mut model, report) = if args.kernel.is_given() {
        let scale = match args.kernel.bandwidth {
            Some(Bandwidth::Given(scale)) => Some(scale),
            _ => None,
        };
        let named = (args.kernel.family(), scale);
        (stream.given(&survey, named, rng).map_err(of_pipeline)?, None)
    } else {
        let mut watch = Watch::new(session);
        let fitted = stream.search(&survey, &mut watch, rng).map_err(of_pipeline)?;
        (fitted.model, Some(fitted.report))
    };
    model.made.seed = Some(args.run.seed);
    model.made.settings = budget.settings(args.run.seed);
    Ok((stream.recipe(&survey, model, rng).map_err(of_pipeline)?, report))
}

/// The second pass, saved now and then.
fn second_pass(
    args: &Fit,
    sum: &mut Summing<'_>,
    input: &mut StreamInput,
    (folder, recipe): (Option<&Folder>, &[u8]),
    session: &Session,
) -> Result<()> {
    let every = Duration::from_secs_f64(args.stream.checkpoint_every.unwrap_or(EVERY));
    let rows = input.files.rows();
    let watch = Passing::new(session, "pass 2 of 2", (rows, 0));
    let mut source = Watched { files: &mut input.files, unwanted: &input.unwanted, watch };
    let mut last = Instant::now();
    let mut pause = |sum: &mut Summing<'_>| {
        if let Some(folder) = folder.filter(|_| last.elapsed() >= every) {
            if let Err(error) = folder.save_sums(sum, recipe) {
                // the one before is as it was
                session.warn(&format!("warning: no checkpoint at row {}: {error:#}", sum.row()));
            }
            last = Instant::now();
        }
        Ok(())
    };
    sum.run(&mut source, &mut pause).map_err(of_pipeline)
}

fn lambdas(args: &Fit) -> Vec<f64> {
    match args.lambda {
        Some(Lambda::Given(lambda)) => vec![lambda],
        _ => fit_plan::lambdas(args).values(),
    }
}

fn describe(model: &Model, found: &StreamReport, sizes: &Sizes, summary: &mut Summary) {
    let StreamReport { rows, landmarks, lambda, training, gcv, effective_dimension, .. } = *found;
    let names: Vec<String> = model.target_names().iter().map(|name| format!("{name:?}")).collect();
    let rows_text = text::count(rows as usize, "row");
    summary.line("fitted in blocks", format!("{} on {rows_text}", names.join(", ")));
    summary.line("kernel", crate::kernel::describe(model.regression().kernel()));
    summary.line("centres", format!("{landmarks} rows at random"));
    let edge = if found.at_edge { "; at the edge of --lambdas: widen them" } else { "" };
    summary.line("lambda", format!("{}, by generalised cross-validation{edge}", number(lambda)));
    summary.line(
        "all rows",
        format!(
            "RMSE {} standard deviations of the target, {} by generalised cross-validation, \
             effective dimension {}",
            number(training),
            number(gcv),
            number(effective_dimension)
        ),
    );
    summary.value("fitted_rows", rows);
    summary.value("landmarks", landmarks);
    summary.value("reservoir", sizes.reservoir);
    summary.value("lambda", lambda);
    summary.value("stream", found);
}
