//! `nystrom fit` block by block, in two or three passes over the rows.

use super::agree::{agree, share};
use super::certify;
use super::check_again;
use super::checkpoint::{Folder, identity};
use super::input::StreamInput;
use super::iterate;
use super::job::{Job, first_pass, lambdas};
use super::sizes::{Sizes, passes};
use crate::args::{Bandwidth, Fit, Output, Selection};
use crate::commands::fit::{iterated, unconverged};
use crate::commands::select::{self, Setting};
use crate::commands::span;
use crate::commands::{auto_report, certify as certificates, classes};
use crate::failure::{Failure, NOT_CONVERGED, Result, of_pipeline};
use crate::model_file;
use crate::output::{check_stdout, check_writable};
use crate::search::{Budget, Watch};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Ranks, Recipe, Report, StreamFit, StreamReport, Survey};

/// The fit on the processes of a job. Process 0 searches, solves and writes; all return the same
/// status.
pub fn run_over(args: &Fit, ranks: &dyn Ranks) -> Result<u8> {
    let (session, mut rng) = Session::of_process(&args.run, ranks)?;
    let output = args.output.as_ref().unwrap_or(&Output::Stdout);
    let mut input = agree(ranks, open(args, output, ranks))?;
    session.notes(&input.notes);
    let budget = Budget::new(args, session.memory);
    let sizes = agree(ranks, sizes(args, &mut input, &budget, &session, ranks))?;
    if args.plan {
        return Ok(0);
    }
    let sizes = share(ranks, sizes)?;
    input.files.set_block_rows(sizes.shared.block);
    let stream = stream(&input.fit, &sizes, &budget);
    agree(ranks, stream.check().map_err(of_pipeline))?;
    let folder = agree(ranks, Folder::of(args))?;
    let job = Job { args, stream: &stream, budget: &budget, session: &session, ranks };
    let (recipe, bytes, mut report) = match saved(&folder, &stream, &mut input, ranks)? {
        Some((recipe, bytes)) => (recipe, bytes, None),
        None => {
            let (recipe, bytes, report) = job.recipe(&mut input, &mut rng)?;
            if let Some(folder) = folder.as_ref().filter(|_| ranks.rank() == 0) {
                folder.save_recipe(&input.files, &bytes)?;
            }
            (recipe, bytes, report)
        }
    };
    let found = match iterate::lambda_and_options(args)? {
        Some((lambda, options)) => Some(job.iterate(
            (lambda, sizes.within(options)),
            (&recipe, &bytes),
            &mut input,
            folder.as_ref(),
        )?)
        .map(|(model, found, iterations)| (model, found, Some(iterations))),
        None => job
            .sum((&recipe, &bytes), &mut input, folder.as_ref())?
            .map(|(model, found)| (model, found, None)),
    };
    let warning = found.as_ref().and_then(|(.., of)| unconverged(of.as_ref()?));
    let status = warning.as_ref().map_or(0, |_| NOT_CONVERGED);
    // save the model before the passes of the certificate, which may fail
    let size = match &found {
        Some((model, ..)) if ranks.rank() == 0 => model_file::save(model, output)?,
        _ => 0,
    };
    let certificate = job
        .certify(found.as_ref().map(|(model, ..)| model), &recipe, &mut input)
        .map_err(|error| certificates::after(error, output))?;
    let Some((model, found, iterations)) = found.filter(|_| ranks.rank() == 0) else {
        return Ok(status);
    };
    if let Some(folder) = &folder {
        folder.clear();
    }
    let mut summary = Summary::of("fit");
    if let Some(report) = &mut report {
        report.classes = None; // `describe` adds the errors of the model that is saved
        auto_report::describe(&model, report, None, &mut summary);
    }
    describe(&model, (&found, lambdas(args).len() > 1), &sizes, &mut summary);
    if let Some(iterations) = &iterations {
        iterated(iterations, &format!(" in {} passes", iterations.passes), &mut summary);
    }
    if let Some(certificate) = &certificate {
        certificates::describe(certificate, &mut summary);
    }
    summary.value("processes", ranks.size());
    summary.line("model", format!("{output}, {}", text::bytes(size)));
    summary.value("model", output.to_string());
    summary.value("seed", args.run.seed);
    summary.print(&session, output.is_stdout())?;
    warning.iter().for_each(|text| session.warn(text));
    Ok(status)
}

/// Checks the options and opens the files, on every process.
fn open(args: &Fit, output: &Output, ranks: &dyn Ranks) -> Result<StreamInput> {
    check(args, output)?;
    check_again(&args.data)?;
    if ranks.rank() == 0 {
        check_writable(output, &[&args.data.data])?;
    }
    StreamInput::of(args)
}

/// The plan, made by process 0 alone because it depends on clocks and free memory.
fn sizes(
    args: &Fit,
    input: &mut StreamInput,
    budget: &Budget,
    session: &Session,
    ranks: &dyn Ranks,
) -> Result<Option<Sizes>> {
    if ranks.rank() > 0 {
        return Ok(None);
    }
    let sizes = Sizes::of(args, input, budget)?;
    sizes.announce(input, budget, args, session)?;
    Ok(Some(sizes))
}

/// Refuses options that need all rows at once.
fn check(args: &Fit, output: &Output) -> Result<()> {
    let refused = [
        ("--hold-out", args.hold_out.is_some()),
        ("--report", args.report.is_some()),
        ("--no-intercept", args.regression.no_intercept),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
        let text = format!(
            "{option} needs the table in memory, and this table is read block by block; leave out \
             {option}"
        );
        return Err(Failure::Usage(text).into());
    }
    iterate::lambda_and_options(args)?;
    certify::rows_to_draw(args)?;
    span::accumulate(args)?;
    check_stdout(output, args.run.json && !args.plan)?;
    args.kernel.check()
}

fn stream(fit: &nystrom_pipeline::Fit, sizes: &Sizes, budget: &Budget) -> StreamFit {
    let fit = nystrom_pipeline::Fit { memory: Some(sizes.search), ..budget.fit(fit) };
    StreamFit { fit, reservoir: sizes.shared.reservoir, landmarks: sizes.landmarks }
}

/// The saved recipe of a run that was killed after its first pass, if there is one.
fn saved(
    folder: &Option<Folder>,
    stream: &StreamFit,
    input: &mut StreamInput,
    ranks: &dyn Ranks,
) -> Result<Option<(Recipe, Vec<u8>)>> {
    let Some(folder) = folder else { return Ok(None) };
    let Some((record, recipe, bytes)) = folder.recipe(&stream.fit, &identity(), ranks)? else {
        return Ok(None);
    };
    input.files.restore(record)?;
    Ok(Some((recipe, bytes)))
}

impl Job<'_> {
    /// The first pass, and the search on its sample, which process 0 does for all. Returns the
    /// recipe, its bytes (empty for one process without checkpoints) and, on process 0, the report.
    fn recipe(
        &self,
        input: &mut StreamInput,
        rng: &mut dyn Rng,
    ) -> Result<(Recipe, Vec<u8>, Option<Report>)> {
        let (ranks, identity) = (self.ranks, identity());
        let mut bytes = Vec::new();
        let survey = self.survey(input, rng)?;
        let found = survey.as_ref().map(|survey| self.search(survey, rng)).transpose()?;
        let (model, report) = found.map_or((None, None), |(model, report)| (Some(model), report));
        let model = self.level_means(survey.as_ref().zip(model), input)?;
        let found = match survey.zip(model) {
            Some((survey, model)) => {
                let model = input.readings.known_to(model);
                let recipe = self.landmarks(&survey, model, rng)?;
                let recipe = match self.args.stream.leaves {
                    Some(leaves) => recipe.with_leaves(leaves),
                    None => recipe,
                };
                if ranks.size() > 1 || self.args.stream.checkpoint.is_some() {
                    bytes = recipe.to_bytes(&identity).map_err(of_pipeline)?;
                }
                Some((recipe, report))
            }
            None => None,
        };
        let bytes = ranks.broadcast(bytes);
        if let Some((recipe, report)) = found {
            return Ok((recipe, bytes, report));
        }
        let recipe = Recipe::from_bytes(&self.stream.fit, &identity, &bytes);
        Ok((recipe.map_err(of_pipeline)?, bytes, None))
    }

    /// The first pass; its survey is on process 0.
    fn survey(&self, input: &mut StreamInput, rng: &mut dyn Rng) -> Result<Option<Survey>> {
        let (session, ranks, targets) = (self.session, self.ranks, input.targets.clone());
        let survey = first_pass(input, passes(self.args), (session, ranks), |of| {
            self.stream.survey_over(ranks, of, targets, &mut |_| {}, rng)
        })?;
        let compressed = input.files.compressed();
        if let (Some(file), Some(_)) = (compressed.first(), &self.args.stream.checkpoint) {
            session.say(&format!(
                "note: {file} is compressed: a run that continues from a checkpoint inside it must \
                 read it from its first byte"
            ));
        }
        Ok(survey)
    }

    /// The model of the sample, by a search or with the given kernel.
    fn search(&self, survey: &Survey, rng: &mut dyn Rng) -> Result<(Model, Option<Report>)> {
        let (args, stream) = (self.args, self.stream);
        let (mut model, report) = if args.kernel.is_given() {
            let scale = match args.kernel.bandwidth {
                Some(Bandwidth::Given(scale)) => Some(scale),
                _ => None,
            };
            let named = (args.kernel.family(), scale);
            let (model, notes) = stream.given(survey, named, rng).map_err(of_pipeline)?;
            self.session.notes(&notes);
            (model, None)
        } else {
            let mut watch = Watch::new(self.session);
            let fitted = stream.search(survey, &mut watch, rng).map_err(of_pipeline)?;
            (fitted.model, Some(fitted.report))
        };
        model.made.seed = Some(args.run.seed);
        model.made.settings = self.budget.settings(args.run.seed);
        Ok((model, report))
    }

    /// On process 0, the model with the target means by level of all rows, if it uses such means.
    fn level_means(
        &self,
        found: Option<(&Survey, Model)>,
        input: &mut StreamInput,
    ) -> Result<Option<Model>> {
        let rows = input.files.rows();
        let mut source = input.watched("means by level", rows, (self.session, self.ranks));
        let model = self.stream.level_means_over(self.ranks, &mut source, found);
        model.map_err(of_pipeline)
    }

    /// The recipe that adds landmarks to this model of the sample.
    fn landmarks(&self, survey: &Survey, model: Model, rng: &mut dyn Rng) -> Result<Recipe> {
        let (args, stream) = (self.args, self.stream);
        if args.stream.all_rows {
            return stream.recipe_of_all(survey, model).map_err(of_pipeline);
        }
        if let (Some(each), Some(spec)) = (args.accumulate, args.landmarks) {
            let rows = stream.reservoir(survey, &model).map_err(of_pipeline)?.nrows();
            let sketch = Accumulation::uniform(each).sample(rows, spec.count, rng)?;
            let name = span::name(spec, args.accumulate);
            return stream.recipe_in_span(survey, model, &sketch, &name).map_err(of_pipeline);
        }
        let Some(spec) = args.landmarks.filter(|spec| spec.method != Selection::Uniform) else {
            return stream.recipe(survey, model, rng).map_err(of_pipeline);
        };
        self.session.progress.stage("choosing landmarks", None);
        let x = stream.reservoir(survey, &model).map_err(of_pipeline)?;
        let (kernel, points) = (model.regression().kernel().clone(), Points::from_rows(x.as_ref()));
        let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
        let matrix = KernelMatrix::new(&kernel, points)?;
        let m = spec.count.min(points.len());
        let chosen = select::selector(spec, setting)?.select(&matrix, m, rng)?;
        let centers = Mat::from_fn(chosen.len(), x.ncols(), |j, k| x[(chosen.indices()[j], k)]);
        stream.recipe_at(survey, model, centers.as_ref(), &spec.method.name()).map_err(of_pipeline)
    }
}

fn describe(
    model: &Model,
    (found, several): (&StreamReport, bool),
    sizes: &Sizes,
    summary: &mut Summary,
) {
    let StreamReport { rows, landmarks, lambda, gcv, leave_one_out, cross_validation, .. } = *found;
    let (names, rows_text) =
        (text::names(&model.target_names()), text::count(rows as usize, "row"));
    summary.line("fitted in blocks", format!("{names} on {rows_text}"));
    summary.line("kernel", crate::kernel::describe(model.regression().kernel()));
    summary.line("centres", &model.made.centers);
    let edge = if found.at_edge { "; at the edge of --lambdas: widen them" } else { "" };
    let by = [
        ("leave-one-out", leave_one_out),
        ("cross-validation", cross_validation),
        ("generalised cross-validation", gcv),
    ];
    let by = by.into_iter().find_map(|(by, error)| Some((by, error?)));
    let how = match by {
        Some((by, _)) if several => format!(", by {by}{edge}"),
        _ => String::new(),
    };
    summary.line("lambda", format!("{}{how}", number(lambda)));
    if let (Some((by, error)), Some(training), Some(d_eff)) =
        (by, found.training, found.effective_dimension)
    {
        summary.line(
            "all rows",
            format!(
                "RMSE {} standard deviations of the target, {} by {by}, effective dimension {}",
                number(training),
                number(error),
                number(d_eff)
            ),
        );
    }
    if let (Some(squares), Some(errors)) = (found.squares_log_loss, &found.classes) {
        let taken = if model.made.logistic { "logistic" } else { "squares" };
        let [squares, errors] = [squares, errors.log_loss].map(number);
        let loss = match model.made.logistic {
            true => format!("{taken}: log-loss {errors}, {squares} by squares, on validation rows"),
            false => format!("{taken}: the logistic loss is not better on validation rows"),
        };
        summary.line("loss", loss);
    }
    if let Some(errors) = &found.classes {
        summary.line("validation", classes::describe(errors));
    }
    summary.value("fitted_rows", rows);
    summary.value("landmarks", landmarks);
    summary.value("reservoir", sizes.shared.reservoir);
    summary.value("lambda", lambda);
    summary.value("stream", found);
}
