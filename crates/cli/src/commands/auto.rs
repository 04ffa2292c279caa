//! `nystrom fit` with a search, in memory.

use super::wanted::Wanted;
use super::{hold_out, page};
use crate::args::{Fit, Output};
use crate::failure::{NOT_CONVERGED, Result, of_pipeline};
use crate::input::Source;
use crate::model_file;
use crate::output::{check_stdout, check_writable};
use crate::search::{Budget, Watch};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom_data::{Libsvm, Table};
use nystrom_page::FitPage;
use nystrom_pipeline::{Fitted, Iterations, Model};
use std::time::Instant;

pub fn run(args: &Fit) -> Result<u8> {
    let (session, mut rng) = Session::start(&args.run)?;
    let rng = &mut rng;
    let output = args.output.as_ref().unwrap_or(&Output::Stdout);
    check_stdout(output, args.run.json && !args.plan)?;
    check_writable(output, &[&args.data.data])?;
    page::check(args, output)?;
    let (table, wanted) = read(args, true, &session)?;
    let Wanted { fit, targets, .. } = &wanted;
    let (table, held_out) = hold_out::split(fit, table, targets, args.hold_out, rng)?;
    let budget = Budget::new(args, session.memory);
    if args.plan {
        return plan(&session, &table, &budget).map(|()| 0);
    }
    let fit = budget.fit(fit);
    let what = text::count(table.columns().len(), "column");
    session.say(&format!("plan: {} rows × {what}; {}", table.rows(), budget.describe()));
    let mut watch = Watch::new(&session);
    let fitted = fit.table_with(&table, targets.clone(), &mut watch, rng).map_err(of_pipeline)?;
    let Fitted { mut model, report, .. } = fitted;
    model.made.seed = Some(args.run.seed);
    model.made.settings = budget.settings(args.run.seed);

    let mut summary = Summary::of("fit");
    super::auto_report::describe(&model, &report, fit.calibrate, &mut summary);
    if let Some(held_out) = held_out {
        hold_out::report(&model, &held_out, &mut summary)?;
    }
    let size = model_file::save(&model, output)?;
    let used = fit.used_rows(&table, targets).map_err(of_pipeline)?;
    summary
        .line("model", format!("{output}, {}{}", text::bytes(size), holds(&model, &table, &used)?));
    summary.value("model", output.to_string());
    summary.value("seed", args.run.seed);
    let repeat = repeat(&model.made.settings);
    let page = FitPage { command: Some(&repeat), ..FitPage::of(&model, &report) };
    page::write(args, page, &mut summary)?;
    summary.line("to repeat", &repeat);
    summary.value("command_to_repeat", &repeat);
    summary.print(&session, output.is_stdout())?;
    let warning = report.iterations.as_ref().and_then(unconverged);
    warning.iter().for_each(|text| session.warn(text));
    Ok(warning.map_or(0, |_| NOT_CONVERGED))
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
pub fn read(args: &Fit, searches: bool, session: &Session) -> Result<(Table, Wanted)> {
    session.progress.stage("reading", None);
    let source = Source::of(&args.data, Libsvm::new())?;
    let input = source.input(&args.data)?;
    let wanted = Wanted::of(args, &input, searches)?;
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
    model.predict(&some).map_err(of_pipeline)?;
    let rate = rows.len() as f64 / start.elapsed().as_secs_f64();
    let all = if model.made.holds_all_rows { ", holds every training row" } else { "" };
    Ok(format!("{all}; predicts some {} rows a second", number(rounded(rate))))
}

/// Rounds to one significant digit.
fn rounded(value: f64) -> f64 {
    format!("{value:.0e}").parse().unwrap_or(value)
}

/// Prints the plan of a search, of which only the limits are known in advance.
fn plan(session: &Session, table: &Table, budget: &Budget) -> Result<()> {
    let mut summary = Summary::of("fit");
    let (rows, columns) = (table.rows(), table.columns().len());
    let work = budget.work.unwrap_or(budget.effort.work());
    summary.line("plan", format!("{rows} rows × {}", text::count(columns, "column")));
    summary.line("work", format!("at most {} operations", number(work)));
    summary.line("time", text::duration(work / Budget::speed()));
    let memory = budget.memory.map_or_else(|| "no kernel values kept".into(), text::bytes);
    summary.line("memory", memory);
    summary.value("rows", rows);
    summary.value("work", work);
    summary.value("memory", budget.memory);
    summary.print(session, false)
}

/// The command line that reproduces the model bit for bit.
fn repeat(settings: &str) -> String {
    let said: Vec<String> = std::env::args().skip(1).collect();
    let mut words = vec!["nystrom".to_owned()];
    let mut skip = false;
    for word in said {
        let own = ["--seed", "--effort", "--time", "--work", "--memory"];
        match own.iter().find(|option| word == **option || word.starts_with(&format!("{option}=")))
        {
            Some(option) => skip = word == **option,
            None if skip => skip = false,
            None => words.push(text::shell(&word)),
        }
    }
    format!("{} {settings}", words.join(" "))
}
