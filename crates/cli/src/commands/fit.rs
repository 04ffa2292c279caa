//! `nystrom fit`: chooses between a search and a fit by options, and does the latter in memory.

use super::basis::{self, Basis};
use super::certify;
use super::column_uses::ColumnUses;
use super::errors::Errors;
use super::fit_output;
use super::fit_plan::{self, Planned};
use super::fit_search;
use super::hold_out;
use super::search_report;
use super::select::Setting;
use crate::args::{FitArgs, Lambda};
use crate::failure::{Result, data, usage};
use crate::kernel::{self, AnyKernel};
use crate::model_file;
use crate::session::{Session, command_line};
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::krr::{IterationReport, PathPoint, Problem, RowSums, Stop};
use nystrom::prelude::*;
use nystrom_page::FitPage;
use nystrom_pipeline::{Alone, Made, Model, Prepared, Target};

/// A model, and how its λ was chosen.
struct ChosenFit {
    model: KrrModel<AnyKernel, f64>,
    lambda: f64,
    choice: LambdaChoice,
    iterations: Option<IterationReport>,
    /// Each λ of the path with its root mean square leave-one-out error.
    lambdas: Vec<[f64; 2]>,
}

/// How λ was chosen, and whether it is the first or last of `--lambdas`.
enum LambdaChoice {
    Given,
    /// The point of the path with the smallest error.
    Path(PathPoint<f64>, bool),
    /// The root mean square error by cross-validation.
    Folds(f64, bool),
}

pub fn run(args: &FitArgs) -> Result<u8> {
    if !args.is_manual() {
        return super::fit_search::run(args);
    }
    if let Some(option) = args.search.given() {
        return Err(usage(format!(
            "{option} is for a search, which any kernel, landmark or λ option turns off; leave out \
             {option}, or those options"
        )));
    }
    fit_by_options(args)
}

/// The fit with the kernel, landmarks and λ that the options name.
fn fit_by_options(args: &FitArgs) -> Result<u8> {
    let (session, mut rng) = Session::start(&args.run, &Alone)?;
    let rng = &mut rng;
    check_options(args)?;
    fit_output::check(args, &session)?;
    args.regression.target()?;
    let (table, wanted) = fit_search::read(args, false, &session)?;
    let ColumnUses { fit: columns, targets, .. } = &wanted;
    let (table, held_out) = hold_out::split(columns, table, targets, args.hold_out, rng)?;
    let prepared = columns.prepare(&table, targets.clone())?;
    session.notes(&prepared.notes);
    session.notes(prepared.columns.dropped());
    let (target, features) = (targets[0].clone(), prepared.columns.features());
    let Prepared { x, y, weights, .. } = &prepared;
    let points = x.points();
    let kernel = kernel::kernel(&args.kernel, points, session.meter(), rng)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
    let planned = fit_plan::announce(args, &session, setting)?;
    let spec = planned.spec;
    if args.plan {
        return only_plan(&planned, (points.len(), &features), &session);
    }

    session.step("choosing landmarks", &planned.steps[0]);
    let basis = Basis::choose(args, spec, setting, rng)?;
    session.step("fitting", &planned.steps[1]);
    let rows = Problem { x: points, y: y.as_ref(), weights: weights.as_deref() };
    let fitted = fit(args, &kernel, rows, &basis, rng)?;
    session.stage("evaluating", Some((points.len() * basis.centers()) as f64));
    let predicted = fitted.model.predict(points)?;
    let actual = y.col_as_slice(0);
    let training = Errors::of(predicted.as_ref(), actual, weights.as_deref(), None);
    let training = training.ok_or_else(|| data("there are no rows"))?;

    let mut summary = Summary::of("fit");
    summary.line(
        "fitted",
        format!(
            "{target:?} on {}, {}",
            text::count(points.len(), "row"),
            search_report::features(&prepared.columns)
        ),
    );
    summary.line("kernel", kernel::describe(&kernel));
    basis.describe(args, spec, &mut summary);
    describe(&fitted, &mut summary);
    let is_first = held_out.is_none();
    summary.lead(|summary| errors(&fitted.choice, (&target, &training), is_first, summary));
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("landmarks", basis.centers());
    summary.value("selection", text::option(&spec.method));
    summary.value("rows", points.len());
    summary.value("landmarks_asked", spec.count);
    summary.value("features", &features);
    let dropped = prepared.columns.dropped().iter();
    summary.value("constant", dropped.map(|dropped| &dropped.column).collect::<Vec<_>>());
    summary.value("target", &target);
    summary.value("plan", &planned.steps);

    let made = Made {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: Some(args.run.seed),
        centers: basis::name(spec, args.accumulate),
        lambda: fitted.lambda,
        training_rmse: Some(training.rmse).filter(|rmse| rmse.is_finite()),
        ..Made::default()
    };
    let of_model = vec![Target::plain(&target, 0.0, 1.0)];
    let (of_columns, layout) = (prepared.columns.clone(), prepared.layout.clone());
    let mut model = Model::new(of_columns, layout, of_model, None, fitted.model, made)?;
    model.explanation = fit_output::explain(&model, &table, args.run.seed)?;
    let mut validation = None;
    if let Some(held_out) = held_out {
        let predicted = summary.lead(|summary| hold_out::report(&model, &held_out, summary))?;
        validation = Some(fit_output::held_out(&target, &predicted));
    }
    summary.value("explanation", &model.explanation);
    let size = model_file::save(&model, args.output())?;
    if let (Some(how), Some(step)) = (args.certify, planned.steps.get(2)) {
        session.step("certifying", step);
        let report = certify::certify(how, session.memory, model.regression(), rows, rng)
            .map_err(|error| certify::after(error, args.output()))?;
        certify::describe(&report, &mut summary);
    }
    fit_output::describe(args, size, "", &mut summary);
    let (validation, command) = (validation.as_ref(), command_line(&[]));
    let (model, lambdas, command) = (&model, &fitted.lambdas, Some(&*command));
    let page = FitPage { model, report: None, validation, lambdas, command };
    fit_output::write_page(args, page, &mut summary)?;
    fit_output::finish(args, summary, fitted.iterations.as_ref().and_then(unconverged), &session)
}

/// Prints the plan for `--plan --json`.
fn only_plan(
    planned: &Planned,
    (rows, features): (usize, &[String]),
    session: &Session<'_>,
) -> Result<u8> {
    let mut summary = Summary::of("fit");
    summary.value("rows", rows);
    summary.value("features", features);
    summary.value("landmarks", planned.spec.count);
    summary.value("selection", text::option(&planned.spec.method));
    summary.value("plan", &planned.steps);
    if session.json {
        summary.print(session, false)?;
    }
    Ok(0)
}

/// Refuses options that have no effect here.
fn check_options(args: &FitArgs) -> Result<()> {
    basis::accumulate(args)?;
    let given = matches!(args.lambda(), Lambda::Given(_));
    let text = if args.rows.sparse && matches!(args.lambda(), Lambda::Folds(_)) {
        "--lambda cv:K sums over blocks of dense rows; with --sparse, write --lambda auto or gcv"
    } else if given && args.lambdas.is_some() {
        "--lambdas has no effect if --lambda is a number; leave one of them out"
    } else if !given && args.tolerance.is_some() {
        "--tolerance has no effect on a choice from several lambdas, which needs no iterations; \
         leave it out, or give --lambda a number"
    } else {
        return Ok(());
    };
    Err(usage(text))
}

fn fit(
    args: &FitArgs,
    kernel: &AnyKernel,
    rows: Problem<'_, f64>,
    basis: &Basis,
    rng: &mut dyn Rng,
) -> Result<ChosenFit> {
    if let Lambda::Given(lambda) = args.lambda() {
        let (model, iterations) = basis.fit(args, (kernel, lambda), rows, rng)?;
        let (choice, lambdas) = (LambdaChoice::Given, Vec::new());
        return Ok(ChosenFit { model, lambda, choice, iterations, lambdas });
    }
    if let Lambda::Folds(folds) = args.lambda() {
        return by_folds(args, folds, kernel, rows, basis, rng);
    }
    let grid: Vec<Ridge<f64>> = args.grid().into_iter().map(Ridge::PerSample).collect();
    let path = basis.path(!args.regression.no_intercept, kernel, rows, &grid)?;
    let best = match args.lambda() {
        Lambda::Gcv => path.best_by_gcv(),
        _ => path.best_by_loo(),
    };
    let (model, lambda) = (path.model_at(best.ridge)?, best.ridge.per_sample(rows.x.len())?);
    let n = rows.x.len() as f64;
    let lambdas = path.points().iter().map(|point| [point.mu / n, point.loo.sqrt()]).collect();
    let choice = LambdaChoice::Path(best.clone(), path.at_edge(best));
    Ok(ChosenFit { model, lambda, choice, iterations: None, lambdas })
}

/// The fit with λ by cross-validation, from one pass over the rows.
fn by_folds(
    args: &FitArgs,
    folds: usize,
    kernel: &AnyKernel,
    rows: Problem<'_, f64>,
    basis: &Basis,
    rng: &mut dyn Rng,
) -> Result<ChosenFit> {
    let n = rows.x.len();
    let weight = |i: usize| rows.weights.map_or(1.0, |weights| weights[i]);
    let mean = (0..n).map(|i| weight(i) * rows.y[(i, 0)]).sum::<f64>() / n as f64;
    let state = basis.state(kernel, rows.x, (!args.regression.no_intercept).then_some(mean))?;
    let mut folded = state.folded(folds, rng)?;
    folded.accumulate(rows)?;
    let values = args.grid();
    let grid: Vec<Ridge<f64>> = values.iter().copied().map(Ridge::PerSample).collect();
    let scores = folded.scores(&grid)?;
    let known = scores.iter().filter(|of| of.score.mean >= of.rounding);
    let best = known.min_by(|a, b| a.score.mean.total_cmp(&b.score.mean)).unwrap_or(&scores[0]);
    let (at, error) = (best.score.ridge, best.score.mean.sqrt());
    let model = folded.together()?.path(&grid[at..=at])?.model_at(grid[at])?;
    let choice = LambdaChoice::Folds(error, at == 0 || at + 1 == grid.len());
    let lambdas = Vec::new(); // no leave-one-out errors
    Ok(ChosenFit { model, lambda: values[at], choice, iterations: None, lambdas })
}

/// Adds the errors on fitted rows: of fits that leave them out, if λ was chosen by these, and of
/// the fit itself. The first has the label `error` if it `is_first` of all errors.
fn errors(
    choice: &LambdaChoice,
    (target, training): (&str, &Errors),
    is_first: bool,
    summary: &mut Summary,
) {
    let rows = text::count(training.rows, "row");
    let left_out = match choice {
        LambdaChoice::Given => None,
        LambdaChoice::Path(best, _) => Some((best.loo.sqrt(), "leave-one-out", "in turn")),
        LambdaChoice::Folds(error, _) => Some((*error, "cross-validation", "by folds")),
    };
    if let Some((error, name, how)) = left_out {
        let label = if is_first { "error" } else { name };
        summary.line(label, text::against_mean(target, error, training.mean_rmse));
        summary.line("", format!("on {rows} that are left out {how}"));
    }
    let label = if is_first && left_out.is_none() { "error" } else { "training" };
    training.describe(label, target, &format!("{rows} that are fitted"), summary);
    summary.value("training", training);
}

fn describe(fitted: &ChosenFit, summary: &mut Summary) {
    let (report, lambda) = (fitted.model.report(), number(fitted.lambda));
    summary.value("lambda", fitted.lambda);
    summary.value("solver", format!("{:?}", report.solver));
    let chosen = |at_edge: bool, summary: &mut Summary| {
        let edge = if at_edge { "; at the edge of --lambdas: widen them" } else { "" };
        summary.line("lambda", format!("{lambda}, chosen from the path{edge}"));
        summary.value("lambda_at_edge", at_edge);
    };
    match &fitted.choice {
        LambdaChoice::Path(best, at_edge) => {
            chosen(*at_edge, summary);
            summary.line("", format!("effective dimension {}", number(best.d_eff)));
            summary.value("leave_one_out_rmse", best.loo.sqrt());
            summary.value("effective_dimension", best.d_eff);
        }
        LambdaChoice::Folds(error, at_edge) => {
            chosen(*at_edge, summary);
            summary.value("cross_validation_rmse", error);
        }
        LambdaChoice::Given => {
            summary.line("lambda", &lambda);
            summary.line("solver", format!("{:?}: {}", report.solver, report.reason));
        }
    }
    if let Some(iterations) = &fitted.iterations {
        iterated(iterations, "", summary);
    }
}

/// Adds the number of iterations, followed by `said`, and the relative residual.
pub fn iterated(report: &IterationReport, said: &str, summary: &mut Summary) {
    let IterationReport { iterations, residual, stop, .. } = report;
    let text = format!("{iterations}{said}, relative residual {} ({stop:?})", number(*residual));
    summary.line("iterations", text);
    summary.value("iterations", iterations);
    summary.value("residual", residual);
}

/// The warning about a fit that did not converge. Its model is written, and the exit status is
/// [`NOT_CONVERGED`].
pub fn unconverged(report: &IterationReport) -> Option<String> {
    let IterationReport { iterations, residual, tolerance, stop, .. } = report;
    (!matches!(stop, Stop::Converged | Stop::Asked)).then(|| {
        format!(
            "warning: stopped after {iterations} iterations at a relative residual of \
             {residual:.1e}, above --tolerance {tolerance:.1e}; the model is written. Raise \
             --lambda or --tolerance; with --all-rows, more --memory helps, too"
        )
    })
}
