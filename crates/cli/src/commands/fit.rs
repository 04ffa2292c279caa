//! `nystrom fit`: chooses between a search and a fit by options, and does the latter in memory.

use super::auto;
use super::certify;
use super::errors::Errors;
use super::fit_plan::{self, Planned};
use super::hold_out;
use super::page;
use super::select::Setting;
use super::span::{self, Span};
use super::wanted::Wanted;
use crate::args::{Fit, Lambda, Output};
use crate::failure::{Failure, NOT_CONVERGED, Result, of_pipeline};
use crate::kernel::{self, AnyKernel};
use crate::model_file;
use crate::output::{check_stdout, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::krr::{IterationReport, PathPoint, Problem, RowSums, Stop};
use nystrom::prelude::*;
use nystrom_page::FitPage;
use nystrom_pipeline::{Made, Model, Prepared, Target};

/// A model, and how its λ was chosen.
struct Fitted {
    model: KrrModel<AnyKernel, f64>,
    lambda: f64,
    /// The point of the path with the smallest error, and whether its λ is the first or last.
    leave_one_out: Option<(PathPoint<f64>, bool)>,
    /// The root mean square error by cross-validation, and whether its λ is the first or last.
    by_folds: Option<(f64, bool)>,
    iterations: Option<IterationReport>,
    /// Each λ of the path with its root mean square leave-one-out error.
    lambdas: Vec<[f64; 2]>,
}

pub fn run(args: &Fit) -> Result<u8> {
    if !args.is_manual() {
        return super::auto::run(args);
    }
    if let Some(option) = args.search.given() {
        let text = format!(
            "{option} is for a search, which any kernel, landmark or λ option turns off; leave out \
             {option}, or those options"
        );
        return Err(Failure::Usage(text).into());
    }
    fit_by_options(args)
}

/// The fit with the kernel, landmarks and λ that the options name.
fn fit_by_options(args: &Fit) -> Result<u8> {
    let (session, mut rng) = Session::start(&args.run)?;
    let rng = &mut rng;
    // without --output there is only the plan
    let output = args.output.as_ref().unwrap_or(&Output::Stdout);
    check_options(args, output)?;
    check_writable(output, &[&args.data.data])?;
    page::check(args, output)?;
    args.regression.target()?;
    let (table, wanted) = auto::read(args, false, &session)?;
    let Wanted { fit: columns, targets, .. } = &wanted;
    let (table, held_out) = hold_out::split(columns, table, targets, args.hold_out, rng)?;
    let prepared = columns.prepare(&table, targets.clone()).map_err(of_pipeline)?;
    session.notes(&prepared.notes);
    session.notes(prepared.columns.dropped());
    let (target, features) = (targets[0].clone(), prepared.columns.features());
    let Prepared { x, y, weights, .. } = &prepared;
    let points = Points::from_rows(x.as_ref());
    let kernel = kernel::kernel(&args.kernel, points, session.progress.meter(), rng)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
    let planned = fit_plan::announce(args, &session, setting)?;
    let spec = planned.spec;
    if args.plan {
        return only_plan(&planned, (x.nrows(), &features), &session);
    }

    session.progress.step("choosing landmarks", &planned.choose);
    let span = Span::choose(args, spec, setting, rng)?;
    session.progress.step("fitting", &planned.fit);
    let rows = Problem { x: points, y: y.as_ref(), weights: weights.as_deref() };
    let fitted = fit(args, &kernel, rows, &span, rng)?;
    session.progress.stage("evaluating", Some((x.nrows() * span.centers()) as f64));
    let predicted = fitted.model.predict(points)?;
    let training = Errors::of(predicted.as_ref(), y.as_ref(), weights.as_deref())?;

    let mut summary = Summary::of("fit");
    summary.line(
        "fitted",
        format!(
            "{target:?} on {}, {}",
            text::count(x.nrows(), "row"),
            text::count(x.ncols(), "feature")
        ),
    );
    summary.line("kernel", kernel::describe(&kernel));
    span.describe(args, spec, &mut summary);
    describe(&fitted, &mut summary);
    training.report("training", "training", &mut summary);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("landmarks", span.centers());
    summary.value("selection", spec.method.name());
    summary.value("rows", x.nrows());
    summary.value("landmarks_asked", spec.count);
    summary.value("features", &features);
    let dropped = prepared.columns.dropped().iter();
    summary.value("constant", dropped.map(|dropped| &dropped.column).collect::<Vec<_>>());
    summary.value("target", &target);
    summary.value("seed", args.run.seed);
    summary.value("plan", planned.listed());
    summary.value("model", output.to_string());

    let made = Made {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: Some(args.run.seed),
        centers: span::name(spec, args.accumulate),
        lambda: fitted.lambda,
        training_rmse: Some(training.rmse).filter(|rmse| rmse.is_finite()),
        ..Made::default()
    };
    let of_model = vec![Target { name: target.clone(), mean: 0.0, scale: 1.0 }];
    let (of_columns, layout) = (prepared.columns.clone(), prepared.layout.clone());
    let mut model =
        Model::new(of_columns, layout, of_model, None, fitted.model, made).map_err(of_pipeline)?;
    model.explanation = page::explain(&model, &table, args.run.seed)?;
    let mut validation = None;
    if let Some(held_out) = held_out {
        let predicted = hold_out::report(&model, &held_out, &mut summary)?;
        validation = Some(page::held_out(&target, &predicted));
    }
    summary.value("explanation", &model.explanation);
    let size = model_file::save(&model, output)?;
    if let (Some(how), Some(step)) = (args.certify, &planned.certify) {
        session.progress.step("certifying", step);
        let report = certify::certify(how, session.memory, model.regression(), rows, rng)
            .map_err(|error| certify::after(error, output))?;
        certify::describe(&report, &mut summary);
    }
    summary.line("model", format!("{output}, {}", text::bytes(size)));
    let (validation, command) = (validation.as_ref(), crate::session::command_line());
    let (model, lambdas, command) = (&model, &fitted.lambdas, Some(&*command));
    page::write(args, FitPage { model, report: None, validation, lambdas, command }, &mut summary)?;
    summary.print(&session, output.is_stdout())?;
    let warning = fitted.iterations.as_ref().and_then(unconverged);
    warning.iter().for_each(|text| session.warn(text));
    Ok(warning.map_or(0, |_| NOT_CONVERGED))
}

/// Prints the plan for `--plan --json`.
fn only_plan(
    planned: &Planned,
    (rows, features): (usize, &[String]),
    session: &Session,
) -> Result<u8> {
    let mut summary = Summary::of("fit");
    summary.value("rows", rows);
    summary.value("features", features);
    summary.value("landmarks", planned.spec.count);
    summary.value("selection", planned.spec.method.name());
    summary.value("plan", planned.listed());
    if session.json {
        summary.print(session, false)?;
    }
    Ok(0)
}

/// Refuses options that have no effect here, and two results on the same standard output.
fn check_options(args: &Fit, output: &Output) -> Result<()> {
    span::accumulate(args)?;
    let given = matches!(args.lambda(), Lambda::Given(_));
    let text = if given && args.lambdas.is_some() {
        "--lambdas has no effect if --lambda is a number; leave one of them out"
    } else if !given && args.tolerance.is_some() {
        "--tolerance has no effect on a choice from several lambdas, which needs no iterations; \
         leave it out, or give --lambda a number"
    } else {
        return check_stdout(output, args.run.json && !args.plan);
    };
    Err(Failure::Usage(text.into()).into())
}

fn fit(
    args: &Fit,
    kernel: &AnyKernel,
    rows: Problem<'_, f64>,
    span: &Span,
    rng: &mut dyn Rng,
) -> Result<Fitted> {
    if let Lambda::Given(lambda) = args.lambda() {
        let (model, iterations) = span.fit(args, (kernel, lambda), rows, rng)?;
        let (leave_one_out, by_folds, lambdas) = (None, None, Vec::new());
        return Ok(Fitted { model, lambda, leave_one_out, by_folds, iterations, lambdas });
    }
    if let Lambda::Folds(folds) = args.lambda() {
        return by_folds(args, folds, kernel, rows, span, rng);
    }
    let grid: Vec<Ridge<f64>> =
        fit_plan::lambdas(args).values().into_iter().map(Ridge::PerSample).collect();
    let path = span.path(!args.regression.no_intercept, kernel, rows, &grid)?;
    let best = match args.lambda() {
        Lambda::Gcv => path.best_by_gcv(),
        _ => path.best_by_loo(),
    };
    let (model, lambda) = (path.model_at(best.ridge)?, best.ridge.per_sample(rows.x.len())?);
    let n = rows.x.len() as f64;
    let lambdas = path.points().iter().map(|point| [point.mu / n, point.loo.sqrt()]).collect();
    Ok(Fitted {
        model,
        lambda,
        leave_one_out: Some((best.clone(), path.at_edge(best))),
        by_folds: None,
        iterations: None,
        lambdas,
    })
}

/// The fit with λ by cross-validation, from one pass over the rows.
fn by_folds(
    args: &Fit,
    folds: usize,
    kernel: &AnyKernel,
    rows: Problem<'_, f64>,
    span: &Span,
    rng: &mut dyn Rng,
) -> Result<Fitted> {
    let n = rows.x.len();
    let weight = |i: usize| rows.weights.map_or(1.0, |weights| weights[i]);
    let mean = (0..n).map(|i| weight(i) * rows.y[(i, 0)]).sum::<f64>() / n as f64;
    let state = span.state(kernel, rows.x, (!args.regression.no_intercept).then_some(mean))?;
    let mut folded = state.folded(folds, rng)?;
    folded.accumulate(rows)?;
    let values = fit_plan::lambdas(args).values();
    let grid: Vec<Ridge<f64>> = values.iter().copied().map(Ridge::PerSample).collect();
    let scores = folded.scores(&grid)?;
    let known = scores.iter().filter(|of| of.score.mean >= of.rounding);
    let best = known.min_by(|a, b| a.score.mean.total_cmp(&b.score.mean)).unwrap_or(&scores[0]);
    let (at, error) = (best.score.ridge, best.score.mean.sqrt());
    let model = folded.together()?.path(&grid[at..=at])?.model_at(grid[at])?;
    let lambdas = Vec::new(); // no leave-one-out errors
    let by_folds = Some((error, at == 0 || at + 1 == grid.len()));
    let lambda = values[at];
    Ok(Fitted { model, lambda, leave_one_out: None, by_folds, iterations: None, lambdas })
}

fn describe(fitted: &Fitted, summary: &mut Summary) {
    let report = fitted.model.report();
    summary.value("lambda", fitted.lambda);
    summary.value("solver", format!("{:?}", report.solver));
    let chosen = |at_edge: bool| {
        let edge = if at_edge { "; at the edge of --lambdas: widen them" } else { "" };
        format!("{}, chosen from the path{edge}", number(fitted.lambda))
    };
    match (&fitted.leave_one_out, fitted.by_folds) {
        (Some((best, at_edge)), _) => {
            summary.line("lambda", chosen(*at_edge));
            let loo = format!(
                "RMSE {}, effective dimension {}",
                number(best.loo.sqrt()),
                number(best.d_eff)
            );
            summary.line("leave-one-out", loo);
            summary.value("leave_one_out_rmse", best.loo.sqrt());
            summary.value("effective_dimension", best.d_eff);
            summary.value("lambda_at_edge", at_edge);
        }
        (None, Some((error, at_edge))) => {
            summary.line("lambda", chosen(at_edge));
            summary.line("cross-validation", format!("RMSE {}", number(error)));
            summary.value("cross_validation_rmse", error);
            summary.value("lambda_at_edge", at_edge);
        }
        (None, None) => {
            summary.line("lambda", number(fitted.lambda));
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
