//! What the command line wants of the columns of a table.

use crate::args::{Fit, Lambda, TaskName};
use crate::failure::{Failure, Result};
use crate::input::Input;
use nystrom_data::Values;
use nystrom_pipeline::{ColumnOptions, Missing, Split, Task};

/// Up to so many different whole numbers may be classes.
const CLASSES: usize = 10;

/// The fit that is wanted, but for the limits of a search.
pub struct Wanted {
    pub fit: nystrom_pipeline::Fit,
    /// The names of the targets.
    pub targets: Vec<String>,
    /// Columns to read as texts, by position: classes, which are named as they are written.
    pub texts: Vec<usize>,
}

impl Wanted {
    /// `searches`: whether the best fit is sought, which may be one of classes.
    pub fn of(args: &Fit, input: &Input, searches: bool) -> Result<Wanted> {
        let named = &args.regression.target;
        let places = match &named[..] {
            [] => vec![input.target(None)?],
            names => names.iter().map(|text| input.target(Some(text))).collect::<Result<_>>()?,
        };
        if input.kept().iter().all(|column| places.contains(column)) {
            let table = input.table.source().to_owned();
            return Err(nystrom_data::DataError::NoFeatures { table }.into());
        }
        let may_be_classes = |column: &usize| {
            let asked = args.search.task;
            searches
                && places.len() == 1
                && asked != Some(TaskName::Regression)
                && (asked.is_some() || few_integers(&input.table.columns()[*column].values))
        };
        let texts = places.iter().copied().filter(may_be_classes).collect();
        let targets = places.iter().map(|&column| input.name(column).to_owned()).collect();
        let categorical = input.columns(&args.search.categorical)?;
        let texts = [texts, categorical].concat();
        Ok(Wanted { fit: fit(args, input, searches)?, targets, texts })
    }
}

/// Whether these are few different whole numbers.
fn few_integers(values: &Values) -> bool {
    let Values::Numbers(values) = values else { return false };
    let mut seen: Vec<f64> = Vec::new();
    values.iter().filter(|value| !value.is_nan()).all(|value| {
        if !seen.contains(value) {
            seen.push(*value);
        }
        value.fract() == 0.0 && seen.len() <= CLASSES
    })
}

fn fit(args: &Fit, input: &Input, searches: bool) -> Result<nystrom_pipeline::Fit> {
    let search = &args.search;
    let names = |lists: &[String]| -> Result<Vec<String>> {
        Ok(input.columns(lists)?.into_iter().map(|j| input.name(j).to_owned()).collect())
    };
    let name = |text: &Option<String>| -> Result<Option<String>> {
        let column = text.as_deref().map(|text| input.column(text)).transpose()?;
        Ok(column.map(|column| input.name(column).to_owned()))
    };
    let scale = search.scale.iter();
    let scale =
        scale.map(|(text, factor)| Ok((input.name(input.column(text)?).to_owned(), *factor)));
    let columns = ColumnOptions {
        features: names(&search.features)?,
        categorical: names(&search.categorical)?,
        numeric: names(&search.numeric)?,
        not_missing: args.data.not_missing_texts(),
        day_first: search.day_first,
        scale: scale.collect::<Result<_>>()?,
        missing: match (args.data.drop_missing, search.refuse_missing) {
            (true, _) => Missing::DropRows,
            (_, true) => Missing::Refuse,
            _ => Missing::Fill,
        },
        standardize: !args.run.no_standardize,
        ..ColumnOptions::default()
    };
    let split = match (name(&search.group)?, name(&search.time_column)?) {
        (Some(group), _) => Split::Group(group),
        (_, Some(time)) => Split::Time(time),
        _ => Split::Random,
    };
    if !searches && split != Split::Random {
        let text = if args.hold_out.is_none() {
            "where options name kernel, landmarks or λ, --group and --time-column only say which \
             rows --hold-out takes; add --hold-out 0.2, or leave those options out"
        } else if !matches!(args.lambda(), Lambda::Given(_)) {
            "--group and --time-column keep rows together, and λ by auto, gcv or cv:K is chosen by \
             rows that are left out at random; give --lambda a number, or leave out the options on \
             kernel, landmarks and λ: then a search keeps rows together"
        } else {
            ""
        };
        if !text.is_empty() {
            return Err(Failure::Usage(text.into()).into());
        }
    }
    let task = search.task.map_or(Task::Auto, Task::from);
    Ok(nystrom_pipeline::Fit {
        columns,
        weights: name(&search.weights)?,
        task: if searches { task } else { Task::Regression },
        calibrate: search.calibrate,
        deviations: search.std,
        class_weights: search.class_weights.clone().unwrap_or_default(),
        split,
        ..nystrom_pipeline::Fit::default()
    })
}
