//! How the options of `nystrom fit` use the columns of a table.

use crate::args::{FitArgs, Lambda, lists};
use crate::failure::{Result, usage};
use crate::input::Input;
use nystrom_data::Values;
use nystrom_pipeline::{ColumnOptions, Missing, Split, Task};

/// A column with at most this many different values, all whole numbers, may hold classes.
const CLASSES: usize = 10;

/// The fit that the options ask for, without the limits of a search.
pub struct ColumnUses {
    pub fit: nystrom_pipeline::Fit,
    /// The names of the targets.
    pub targets: Vec<String>,
    /// The positions of the columns to read as texts: categories, and a target that may hold
    /// classes, whose names are then as in the file.
    pub texts: Vec<usize>,
}

impl ColumnUses {
    /// `searches`: whether there is a search; only a search fits classes.
    pub fn of(args: &FitArgs, input: &Input, searches: bool) -> Result<ColumnUses> {
        let named = &args.regression.target;
        let places = match &named[..] {
            [] => vec![input.target(None)?],
            names => names.iter().map(|text| input.target(Some(text))).collect::<Result<_>>()?,
        };
        if input.kept.iter().all(|column| places.contains(column)) {
            let table = input.table.source().to_owned();
            return Err(nystrom_data::DataError::NoFeatures { table }.into());
        }
        let may_be_classes = |column: &usize| {
            let asked = args.search.task;
            searches
                && places.len() == 1
                && asked != Some(Task::Regression)
                && (asked.is_some() || few_integers(&input.table.columns()[*column].values))
        };
        let texts = places.iter().copied().filter(may_be_classes).collect();
        let targets = places.iter().map(|&column| input.name(column).to_owned()).collect();
        let categorical = input.columns(&args.search.categorical)?;
        let fingerprint = args.kernel.fingerprint.iter().map(|text| input.column(text));
        let fingerprint = fingerprint.collect::<Result<Vec<_>>>()?;
        let texts = [texts, categorical, fingerprint].concat();
        Ok(ColumnUses { fit: fit(args, input, searches)?, targets, texts })
    }
}

/// Whether the values are whole numbers, at most [`CLASSES`] different ones.
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

fn fit(args: &FitArgs, input: &Input, searches: bool) -> Result<nystrom_pipeline::Fit> {
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
        not_missing: lists(&args.data.not_missing),
        day_first: search.day_first,
        fingerprint: name(&args.kernel.fingerprint)?,
        counts: args.kernel.family().takes_counts(),
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
            "with kernel, landmark or λ options, --group and --time-column only determine the rows \
             of --hold-out; add --hold-out 0.2, or leave out --group and --time-column"
        } else if !matches!(args.lambda(), Lambda::Given(_)) {
            "--lambda auto, gcv and cv:K leave rows out regardless of --group and --time-column; \
             give --lambda a number, or leave out the kernel, landmark and λ options: a search \
             respects --group and --time-column"
        } else {
            ""
        };
        if !text.is_empty() {
            return Err(usage(text));
        }
    }
    let task = search.task.unwrap_or(Task::Auto);
    Ok(nystrom_pipeline::Fit {
        columns,
        weights: name(&search.weights)?,
        task: if searches { task } else { Task::Regression },
        calibrate: search.calibrate,
        deviations: search.std,
        class_weights: search.class_weights.clone().unwrap_or_default(),
        split,
        target_scale: search.target_scale,
        loss: search.loss.clone().unwrap_or_default(),
        ..nystrom_pipeline::Fit::default()
    })
}
