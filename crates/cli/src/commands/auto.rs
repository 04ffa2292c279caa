//! `nystrom fit` without options that say how to fit.

use super::classes::{self, Named};
use super::errors::Errors;
use super::hold_out::hold_out;
use super::page;
use crate::args::{Fit, Output};
use crate::failure::{Result, of_pipeline};
use crate::input::{Input, Source};
use crate::mixed::{self, Mixed, Wanted};
use crate::model_file;
use crate::output::{check_stdout, check_writable};
use crate::search::{Budget, Watch};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_page::FitPage;
use nystrom_pipeline::{ColumnOptions, Fitted, Missing, Model, Split, Task};
use std::time::Instant;

pub fn run(args: &Fit) -> Result<()> {
    let (session, mut rng) = Session::start(&args.run)?;
    let rng = &mut rng;
    let output = args.output.as_ref().unwrap_or(&Output::Stdout);
    check_stdout(output, args.run.json && !args.plan)?;
    check_writable(output, &[&args.data.data])?;
    page::check(args, output)?;
    session.progress.stage("reading", None);
    let (mixed, targets) = read(args)?;
    session.notes(&mixed.notes);
    let (table, held_out) = split(&mixed.table, args.hold_out, rng)?;
    let budget = Budget::new(args, session.memory);
    if args.plan {
        return plan(&session, &table, &budget);
    }
    let fit = options(args, &budget);
    let what = text::count(table.columns().len(), "column");
    session.say(&format!("plan: {} rows × {what}; {}", table.rows(), budget.describe()));
    let mut watch = Watch::new(&session);
    let fitted = fit.table_with(&table, targets.clone(), &mut watch, rng).map_err(of_pipeline)?;
    let Fitted { mut model, report, .. } = fitted;
    model.made.seed = Some(args.run.seed);
    model.made.settings = budget.settings(args.run.seed);

    let mut summary = Summary::of("fit");
    super::auto_report::describe(&model, &report, &mut summary);
    if let Some(table) = held_out {
        errors(&model, &table, &mut summary)?;
    }
    let size = model_file::save(&model, output)?;
    summary.line("model", format!("{output}, {}{}", text::bytes(size), holds(&model, &table)?));
    summary.value("model", output.to_string());
    summary.value("seed", args.run.seed);
    let repeat = repeat(&model.made.settings);
    let page = FitPage { command: Some(&repeat), ..FitPage::of(&model, &report) };
    page::write(args, page, &mut summary)?;
    summary.line("to repeat", &repeat);
    summary.value("command_to_repeat", &repeat);
    summary.print(&session, output.is_stdout())
}

/// The columns that are used, and the names of the targets.
fn read(args: &Fit) -> Result<(Mixed, Vec<String>)> {
    let source = Source::of(&args.data)?;
    let input = Input::of(&source, &args.data, 0)?;
    let (wanted, targets) = wanted(args, &input)?;
    Ok((mixed::read(&source, &args.data, input, &wanted)?, targets))
}

/// The columns that are used and what they hold, and the names of the targets.
pub fn wanted(args: &Fit, input: &Input) -> Result<(Wanted, Vec<String>)> {
    let named = &args.regression.target;
    let mut numbers = match &named[..] {
        [] => vec![input.target(None)?],
        names => names.iter().map(|text| input.target(Some(text))).collect::<Result<_>>()?,
    };
    let targets: Vec<String> =
        numbers.iter().map(|&column| input.name(column).to_owned()).collect();
    if input.kept().iter().all(|column| numbers.contains(column)) {
        let table = input.source().to_owned();
        return Err(nystrom_data::DataError::NoFeatures { table }.into());
    }
    if let Some(name) = &args.search.weights {
        numbers.extend(input.columns(name)?);
    }
    let columns = input.kept().to_vec();
    let is_text = |column: &usize| {
        task(args) != Task::Regression
            && targets.len() == 1
            && mixed::holds_text(input.survey(), *column)
    };
    let (texts, rest): (Vec<usize>, Vec<usize>) =
        numbers[..targets.len()].iter().copied().partition(is_text);
    let numbers = [&rest, &numbers[targets.len()..]].concat();
    let wanted =
        Wanted { columns, numbers, texts, instead: "choose another --target", fills: true };
    Ok((wanted, targets))
}

/// The search as it is asked for.
pub fn options(args: &Fit, budget: &Budget) -> nystrom_pipeline::Fit {
    nystrom_pipeline::Fit {
        work: budget.work,
        effort: budget.effort,
        memory: budget.memory,
        columns: column_options(args),
        weights: args.search.weights.clone(),
        task: task(args),
        calibrate: args.search.calibrate,
        deviations: args.search.std,
        class_weights: args.search.class_weights.clone().unwrap_or_default(),
        split: split_by(args),
    }
}

fn task(args: &Fit) -> Task {
    args.search.task.map_or(Task::Auto, Task::from)
}

fn column_options(args: &Fit) -> ColumnOptions {
    ColumnOptions {
        features: args.search.features.iter().flat_map(|text| crate::args::list(text)).collect(),
        scale: args.search.scale.clone(),
        missing: match (args.data.drop_missing, args.search.refuse_missing) {
            (true, _) => Missing::DropRows,
            (_, true) => Missing::Refuse,
            _ => Missing::Fill,
        },
        standardize: !args.run.no_standardize,
        ..ColumnOptions::default()
    }
}

fn split_by(args: &Fit) -> Split {
    match (&args.search.group, &args.search.time_column) {
        (Some(group), _) => Split::Group(group.clone()),
        (_, Some(time)) => Split::Time(time.clone()),
        _ => Split::Random,
    }
}

/// The rows to fit, and those held out.
fn split(table: &Table, share: Option<f64>, rng: &mut dyn Rng) -> Result<(Table, Option<Table>)> {
    let Some(share) = share else { return Ok((table.clone(), None)) };
    let fold = hold_out(table.rows(), share, rng)?;
    Ok((table.select_rows(&fold.train)?, Some(table.select_rows(&fold.validation)?)))
}

fn errors(model: &Model, table: &Table, summary: &mut Summary) -> Result<()> {
    let predictions = model.predict(table).map_err(of_pipeline)?;
    if let (Some(classes), Some(p)) = (model.classes(), &predictions.probabilities) {
        let named = Named::of(table, &classes.target)?;
        classes::report(named.errors(classes, p.as_ref()), "held out", "held_out", summary);
        return Ok(());
    }
    let predicted = predictions.values;
    for (j, target) in model.targets().iter().enumerate() {
        let y = table.numbers(target.name.as_str())?;
        if let Some(errors) = Errors::where_known(predicted.subcols(j, 1), |i| y[i])? {
            errors.report("held out", "held_out", summary);
        }
    }
    Ok(())
}

/// That a model on all the data holds them, and how fast it predicts.
fn holds(model: &Model, table: &Table) -> Result<String> {
    const ROWS: usize = 1000;
    let rows: Vec<usize> = (0..table.rows().min(ROWS)).collect();
    let some = table.select_rows(&rows)?;
    let start = Instant::now();
    model.predict(&some).map_err(of_pipeline)?;
    let rate = rows.len() as f64 / start.elapsed().as_secs_f64();
    let all = if model.made.holds_all_rows { ", holds every training row" } else { "" };
    Ok(format!("{all}; predicts some {} rows a second", number(rounded(rate))))
}

/// To one digit.
fn rounded(value: f64) -> f64 {
    format!("{value:.0e}").parse().unwrap_or(value)
}

/// What `--plan` says of a search: only its bounds are known beforehand.
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

/// The command line that repeats the fit to the bit.
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
            None => words.push(crate::diagnosis::shell(&word)),
        }
    }
    format!("{} {settings}", words.join(" "))
}
