//! `nystrom fit` block by block, in two or three passes over the rows.

use super::block_fit::{BlockFit, first_pass};
use super::certify;
use super::check_again;
use super::checkpoint::{Folder, identity};
use super::input::StreamInput;
use super::iterate;
use super::sizes::{Sizes, passes};
use crate::args::{FitArgs, LandmarkSpec, Selection};
use crate::commands::basis::{self, Basis};
use crate::commands::fit::{iterated, unconverged};
use crate::commands::select::Setting;
use crate::commands::{certify as certificates, classes, fit_output, search_report};
use crate::failure::{NOT_CONVERGED, Result, usage};
use crate::model_file;
use crate::output::{check_stdout, check_writable};
use crate::search::{Budget, SearchWatch};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Ranks, Recipe, Report, StreamFit, StreamReport, TableSurvey};

/// The fit on the processes of a job. Process 0 searches, solves and writes; all return the same
/// status.
pub fn run_on_ranks(args: &FitArgs, ranks: &dyn Ranks) -> Result<u8> {
    let (session, mut rng) = Session::start(&args.run, ranks)?;
    let session = &session;
    let mut input = session.succeeded_on_all(open(args, session))?;
    session.notes(&input.notes);
    let budget = &Budget::new(args, session.memory)?;
    // process 0 plans alone, because the plan depends on clocks and free memory
    let sizes = session.on_first(|| {
        let sizes = Sizes::of(args, &mut input, budget)?;
        sizes.announce(&input, budget, args, session)?;
        Ok(sizes)
    })?;
    if args.plan {
        return Ok(0);
    }
    let sizes: Sizes = session.ranks.share(sizes)?;
    input.files.set_block_rows(sizes.shared.block);
    let limited = budget.fit(&input.fit);
    let device = args.gpu.device();
    let limited = nystrom_pipeline::Fit { memory: Some(sizes.search), device, ..limited };
    let (reservoir, landmarks) = (sizes.shared.reservoir, sizes.landmarks);
    let stream = &StreamFit { fit: limited, reservoir, landmarks };
    session.succeeded_on_all(stream.check())?;
    let folder = session.succeeded_on_all(Folder::of(args, session))?;
    let folder = folder.as_ref();
    let job = BlockFit { args, stream, budget, session };
    // the recipe of a run that was killed after its first pass, if there is one
    let saved = folder.map_or(Ok(None), |folder| folder.recipe(&stream.fit, &identity()))?;
    let (recipe, bytes, mut report) = match saved {
        Some((record, recipe, bytes)) => {
            input.files.restore(record)?;
            (recipe, bytes, None)
        }
        None => {
            let (recipe, bytes, report) = job.recipe(&mut input, &mut rng)?;
            if let Some(folder) = folder.filter(|_| session.is_first()) {
                folder.save_recipe(&input.files, &bytes)?;
            }
            (recipe, bytes, report)
        }
    };
    let saved = (&recipe, &bytes[..]);
    let found = match iterate::lambda_and_options(args)? {
        Some((lambda, options)) => {
            let how = (lambda, sizes.within(options));
            let (model, found, iterations) = job.iterate(how, saved, &mut input, folder)?;
            Some((model, found, Some(iterations)))
        }
        None => {
            let found = job.sum(saved, &mut input, folder)?;
            found.map(|(model, found)| (model, found, None))
        }
    };
    let warning = found.as_ref().and_then(|(.., of)| unconverged(of.as_ref()?));
    // save the model before the passes of the certificate, which may fail
    let size = match &found {
        Some((model, ..)) if session.is_first() => model_file::save(model, args.output())?,
        _ => 0,
    };
    let certificate = job
        .certify(found.as_ref().map(|(model, ..)| model), &recipe, &mut input)
        .map_err(|error| certificates::after(error, args.output()))?;
    let Some((model, found, iterations)) = found.filter(|_| session.is_first()) else {
        return Ok(warning.map_or(0, |_| NOT_CONVERGED));
    };
    if let Some(folder) = folder {
        folder.clear();
    }
    let mut summary = Summary::of("fit");
    if let Some(report) = &mut report {
        if report.classes.take().is_none() {
            // for classes, `describe` adds the errors of the model that is saved
            search_report::errors_of(report, "sample", &mut summary);
        }
        search_report::describe(&model, report, None, &mut summary);
    }
    describe(&model, (&found, args.grid().len() > 1), &sizes, &mut summary);
    if let Some(iterations) = &iterations {
        iterated(iterations, &format!(" in {} passes", iterations.passes), &mut summary);
        if let Some(notice) = &iterations.notice {
            session.warn(&format!("warning: {notice}"));
            summary.value("notice", notice);
        }
    }
    if let Some(certificate) = &certificate {
        certificates::describe(certificate, &mut summary);
    }
    summary.value("processes", ranks.size());
    fit_output::describe(args, size, "", &mut summary);
    fit_output::finish(args, summary, warning, session)
}

/// Checks the options and opens the files, on every process.
fn open(args: &FitArgs, session: &Session<'_>) -> Result<StreamInput> {
    check(args)?;
    check_again(&args.data.data)?;
    check_writable(args.output(), &[&args.data.data], session)?;
    StreamInput::of(args)
}

/// Refuses options that need all rows at once.
fn check(args: &FitArgs) -> Result<()> {
    let refused = [
        ("--hold-out", args.hold_out.is_some()),
        ("--report", args.report.is_some()),
        ("--no-intercept", args.regression.no_intercept),
        ("--sparse", args.rows.sparse),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(usage(format!(
            "{option} needs the table in memory, and this table is read block by block; leave out \
             {option}"
        )));
    }
    if args.gpu.gpu.is_some() && !args.stream.all_rows {
        return Err(usage(
            "block by block, --gpu computes fits in which every row is a centre; add --all-rows \
             and a number for --lambda, or leave out --gpu",
        ));
    }
    iterate::lambda_and_options(args)?;
    certify::rows_to_draw(args)?;
    basis::accumulate(args)?;
    check_stdout(args.output(), args.run.json && !args.plan)?;
    args.kernel.check()
}

impl BlockFit<'_> {
    /// The first pass, and the search on its sample, which process 0 does for all. Returns the
    /// recipe, its bytes (empty for one process without checkpoints) and, on process 0, the report.
    fn recipe(
        &self,
        input: &mut StreamInput,
        rng: &mut dyn Rng,
    ) -> Result<(Recipe, Vec<u8>, Option<Report>)> {
        let (ranks, identity) = (self.session.ranks, identity());
        let mut bytes = Vec::new();
        let survey = self.survey(input, rng)?;
        let found = survey.as_ref().map(|survey| self.search(survey, rng)).transpose()?;
        let (model, report) = found.map_or((None, None), |(model, report)| (Some(model), report));
        let mut source = input.later_pass("means by level", self.session);
        let found = survey.as_ref().zip(model);
        let model = self.stream.level_means_over(ranks, &mut source, found)?;
        let found = match survey.zip(model) {
            Some((survey, model)) => {
                let model = input.readings.known_to(model);
                let recipe = self.landmarks(&survey, model, rng)?;
                let recipe = match self.args.stream.leaves {
                    Some(leaves) => recipe.with_leaves(leaves),
                    None => recipe,
                };
                if ranks.size() > 1 || self.args.stream.checkpoint.is_some() {
                    bytes = recipe.to_bytes(&identity)?;
                }
                Some((recipe, report))
            }
            None => None,
        };
        let bytes = ranks.broadcast(bytes);
        if let Some((recipe, report)) = found {
            return Ok((recipe, bytes, report));
        }
        Ok((Recipe::from_bytes(&self.stream.fit, &identity, &bytes)?, bytes, None))
    }

    /// The first pass; its survey is on process 0.
    fn survey(&self, input: &mut StreamInput, rng: &mut dyn Rng) -> Result<Option<TableSurvey>> {
        let (session, targets) = (self.session, input.targets.clone());
        let survey = first_pass(input, passes(self.args), session, |of| {
            self.stream.survey_over(session.ranks, of, targets, rng)
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
    fn search(&self, survey: &TableSurvey, rng: &mut dyn Rng) -> Result<(Model, Option<Report>)> {
        let (args, stream) = (self.args, self.stream);
        let (mut model, report) = if args.kernel.is_given() {
            let named = (args.kernel.family(), args.kernel.scale());
            let (model, notes) = stream.with_kernel(survey, named, rng)?;
            self.session.notes(&notes);
            (model, None)
        } else {
            let mut watch = SearchWatch::new(self.session);
            let fitted = stream.search(survey, &mut watch, rng)?;
            (fitted.model, Some(fitted.report))
        };
        model.made.seed = Some(args.run.seed);
        model.made.settings = self.budget.settings(args.run.seed);
        Ok((model, report))
    }

    /// The recipe that adds landmarks to this model of the sample.
    fn landmarks(&self, survey: &TableSurvey, model: Model, rng: &mut dyn Rng) -> Result<Recipe> {
        let (args, stream) = (self.args, self.stream);
        if args.stream.all_rows {
            return Ok(stream.recipe_of_all(survey, model)?);
        }
        let sums = args.accumulate.is_some();
        let given = args.landmarks.filter(|spec| sums || spec.method != Selection::Uniform);
        let Some(spec) = given else { return Ok(stream.recipe(survey, model, rng)?) };
        self.session.stage("choosing landmarks", None);
        let x = stream.reservoir(survey, &model)?;
        let (kernel, points) = (model.regression().kernel().clone(), Points::from_rows(x.as_ref()));
        let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
        let count = if sums { spec.count } else { spec.count.min(points.len()) };
        Ok(match Basis::choose(args, LandmarkSpec { count, ..spec }, setting, rng)? {
            Basis::Sums(sketch) => {
                let name = basis::name(spec, args.accumulate);
                stream.recipe_in_span(survey, model, &sketch, &name)?
            }
            Basis::Landmarks(chosen) => {
                let centers =
                    Mat::from_fn(chosen.len(), x.ncols(), |j, k| x[(chosen.indices()[j], k)]);
                stream.recipe_at(survey, model, centers.as_ref(), &text::option(&spec.method))?
            }
        })
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
    summary.line("in blocks", format!("{names} on {rows_text}"));
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
    if let Some((by, error)) = by {
        summary.lead(|summary| all_rows(model, error, &format!("{rows_text}, by {by}"), summary));
    }
    if let (Some(training), Some(d_eff)) = (found.training, found.effective_dimension) {
        let training = format!("RMSE {} standard deviations of the target", number(training));
        summary.line("training", format!("{training}, effective dimension {}", number(d_eff)));
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
        let on = text::rows_of(errors.rows, "left out");
        summary.lead(|summary| classes::describe(errors, "error", &on, summary));
    }
    summary.value("fitted_rows", rows);
    summary.value("landmarks", landmarks);
    summary.value("reservoir", sizes.shared.reservoir);
    summary.value("lambda", lambda);
    summary.value("stream", found);
}

/// Adds the error on all rows, each predicted by a fit to others, from standard deviations of the
/// target. One target is in its own units. Classes have other errors.
fn all_rows(model: &Model, error: f64, on: &str, summary: &mut Summary) {
    if model.classes().is_some() {
        return;
    }
    summary.line(
        "error",
        match model.targets() {
            [target] => text::against_mean(&target.name, error * target.scale, target.scale),
            _ => format!("RMSE {} standard deviations of the targets", number(error)),
        },
    );
    summary.line("", format!("on {on}"));
}
