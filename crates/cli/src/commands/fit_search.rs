//! `nystrom fit` with a search, in memory.

use super::column_uses::ColumnUses;
use super::{fit_output, hold_out, search_report};
use crate::args::FitArgs;
use crate::failure::Result;
use crate::input::{NOT_LIBSVM, Source};
use crate::model_file;
use crate::search::{Budget, SearchWatch};
use crate::session::{Session, command_line};
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom_data::{Libsvm, Table, Values};
use nystrom_page::FitPage;
use nystrom_pipeline::{Alone, Fit, Fitted, Iterations, Model};
use std::time::Instant;

pub fn run(args: &FitArgs) -> Result<u8> {
    let (session, mut rng) = Session::start(&args.run, &Alone)?;
    let rng = &mut rng;
    fit_output::check(args, &session)?;
    let (table, wanted) = read(args, true, &session)?;
    let ColumnUses { fit, targets, .. } = &wanted;
    let (table, held_out) = hold_out::split(fit, table, targets, args.hold_out, rng)?;
    let budget = Budget::new(args, session.memory)?;
    let d = table.columns().len().saturating_sub(1).max(1);
    let card = args.gpu.plan(table.rows() as f64, d, sides(&table, targets))?;
    let card = card.map(|(text, of_card)| {
        (format!("{text}; the limits count operations as on the CPU"), of_card)
    });
    if args.plan {
        return plan(&session, &table, (&budget, card)).map(|()| 0);
    }
    let fit = Fit { device: args.gpu.device(), ..budget.fit(fit) };
    let what = shape_of(&table);
    let planned = budget.seconds()?;
    let limits = budget.describe(planned);
    session.say(&format!("plan: {} rows × {what}; {limits}", table.rows()));
    if let Some((card, _)) = &card {
        session.say(&format!("card: {card}"));
    }
    let (mut watch, start) = (SearchWatch::new(&session), Instant::now());
    let fitted = fit.table_with(&table, targets.clone(), &mut watch, rng)?;
    let Fitted { mut model, report, .. } = fitted;
    model.made.seed = Some(args.run.seed);
    model.made.settings = budget.settings(args.run.seed);

    let seconds = start.elapsed().as_secs_f64();
    let mut summary = Summary::of("fit");
    if let Some(held_out) = &held_out {
        hold_out::report(&model, held_out, &mut summary)?;
        search_report::errors_of(&report, "validation", &mut summary);
    } else {
        search_report::errors_of(&report, "error", &mut summary);
        summary.line("", "--hold-out 0.2 measures it on rows that the search never sees");
    }
    search_report::describe(&model, &report, fit.calibrate, &mut summary);
    let took = format!("{seconds:.1} s; planned: at most {}", text::duration(planned));
    summary.line("time", took);
    summary.value("seconds", seconds);
    summary.value("planned_seconds", planned);
    let size = model_file::save(&model, args.output())?;
    let used = fit.used_rows(&table, targets)?;
    fit_output::describe(args, size, &holds(&model, &table, &used)?, &mut summary);
    // reproduces the model bit for bit
    let own = ["--seed", "--effort", "--time", "--work", "--memory"];
    let repeat = format!("{} {}", command_line(&own), model.made.settings);
    let page = FitPage { command: Some(&repeat), ..FitPage::of(&model, &report) };
    fit_output::write_page(args, page, &mut summary)?;
    summary.command("to repeat", &repeat);
    summary.value("command_to_repeat", &repeat);
    fit_output::finish(args, summary, report.iterations.as_ref().and_then(unconverged), &session)
}

/// The right-hand sides that a fit to all rows as centres has at a time: for each ridge one for
/// each target, or for each class.
fn sides(table: &Table, targets: &[String]) -> usize {
    const RIDGES: usize = 3;
    let functions = |target: &String| match table.column(&**target).map(|column| &column.values) {
        Ok(Values::Categories(texts)) => texts.levels.len(),
        _ => 1,
    };
    RIDGES * targets.iter().map(functions).sum::<usize>()
}

/// The warning about a final fit whose iterations did not converge.
fn unconverged(report: &Iterations) -> Option<String> {
    let Iterations { iterations, residual, tolerance, converged, .. } = report;
    (!converged).then(|| {
        format!(
            "warning: the final fit stopped after {iterations} iterations at a relative residual \
             of {residual:.1e}; its trial on fewer rows needed {tolerance:.1e}. The model is \
             written. To fit without iterations, add --landmarks rpcholesky:2000 --lambda auto"
        )
    })
}

/// Reads the table, without the columns that --drop names, and how its columns are used.
pub fn read(args: &FitArgs, searches: bool, session: &Session<'_>) -> Result<(Table, ColumnUses)> {
    session.stage("reading", None);
    let source =
        Source::of(&args.data, Libsvm::new())?.with_sparse(args.rows.sparse, NOT_LIBSVM)?;
    let input = source.input(&args.data)?;
    let wanted = ColumnUses::of(args, &input, searches)?;
    let table = source.with_texts(input, &wanted.texts)?.into_kept()?;
    session.notes(table.notes());
    Ok((table, wanted))
}

/// Whether the model holds every training row, and how fast it predicts rows that were fitted.
fn holds(model: &Model, table: &Table, used: &[usize]) -> Result<String> {
    const ROWS: usize = 1000;
    let rows = &used[..used.len().min(ROWS)];
    let some = table.select_rows(rows)?;
    let start = Instant::now();
    model.predict(&some)?;
    let rate = rows.len() as f64 / start.elapsed().as_secs_f64();
    let all = if model.made.holds_all_rows { ", holds every training row" } else { "" };
    Ok(format!("{all}; predicts some {} rows a second", number(text::rounded(rate, 1))))
}

/// The number of columns, or of the numbers in sparse rows.
fn shape_of(table: &Table) -> String {
    let sparse = table.columns().iter().find_map(|column| match &column.values {
        Values::Sparse(rows) => Some((rows.stored() as f64, rows.dim())),
        _ => None,
    });
    match sparse {
        Some((stored, dim)) => {
            let each = number(text::rounded(stored / table.rows() as f64, 2));
            format!("some {each} of {dim} places")
        }
        None => text::count(table.columns().len(), "column"),
    }
}

/// Prints the plan of a search, of which only the limits are known in advance.
fn plan(
    session: &Session<'_>,
    table: &Table,
    (budget, card): (&Budget, Option<(String, serde_json::Value)>),
) -> Result<()> {
    let mut summary = Summary::of("fit");
    let rows = table.rows();
    summary.line("plan", format!("{rows} rows × {}", shape_of(table)));
    summary.line("work", format!("at most {} operations", number(budget.work())));
    summary.line("time", text::duration(budget.seconds()?));
    let memory = budget.memory().map_or_else(|| "no kernel values kept".into(), text::bytes);
    summary.line("memory", memory);
    if let Some((text, of_card)) = card {
        summary.line("card", text);
        summary.value("card", of_card);
    }
    summary.value("rows", rows);
    summary.value("work", budget.work());
    summary.value("memory", budget.memory());
    summary.print(session, false)
}
