//! `nystrom predict`.

use super::arrange::{Places, libsvm, with_class_names};
use super::classes::{Named, likeliest};
use super::errors::{Errors, ModelErrors};
use crate::args::{DataArgs, Predict};
use crate::failure::{Failure, Result, of_pipeline};
use crate::input::{Source, lines};
use crate::model_file;
use crate::output::{Columns, LINE, Values, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::Mat;
use nystrom_data::{Cell, Column, Table};
use nystrom_pipeline::{Deviations, Model};
use std::collections::BTreeMap;

pub fn run(args: &Predict) -> Result<()> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    check_writable(&args.output, &[&args.model, &args.data.data])?;
    let model = model_file::load(&args.model)?;
    check_options(args, &model)?;
    let file = Rows::of(&model, &args.data, &args.keep, &session)?;
    let predicted = file.predict(&model, (args.interval, args.std), &session)?;
    session.progress.clear();
    let Rows { rows, lines, kept, .. } = &file;
    let results = Results::of(&model, &predicted, args.probabilities);
    let mut columns = if args.data.drop_missing {
        vec![("row", Values::Counts(rows)), (LINE, Values::Counts(lines))]
    } else {
        Vec::new()
    };
    columns.extend(kept.columns().chain(results.columns()));
    Columns(columns).write(&args.output, &session)?;

    let mut summary = Summary::of("predict");
    describe(&model, rows.len(), &mut summary);
    coverage(&predicted, &model.target_names(), &mut summary);
    predicted.errors(&model, None)?.report(&model, ERROR, &mut summary);
    if args.output.is_stdout() {
        summary.value("row", rows);
        if !kept.0.is_empty() {
            summary.value("kept", kept.0.iter().cloned().collect::<BTreeMap<_, _>>());
        }
        results.values(&mut summary);
    }
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// The label and the JSON keys of errors on rows with a known target.
pub const ERROR: (&str, &str, &str) = ("error", "error", "errors");

/// Refuses output that the model does not have, and text in `.npy` files.
pub fn check_options(args: &Predict, model: &Model) -> Result<()> {
    if args.probabilities {
        model.tells_apart().map_err(of_pipeline)?;
    }
    if let Some(level) = args.interval {
        model.has_intervals(level).map_err(of_pipeline)?;
    }
    if args.std {
        model.uncertainty().map_err(of_pipeline)?;
    }
    if !args.keep.is_empty() && args.output.is_npy() {
        let text = "npy files hold only numbers, and --keep copies texts; name a .csv file, or \
                    leave out --keep";
        return Err(Failure::Usage(text.into()).into());
    }
    let of_text = model.classes().is_some_and(|classes| !classes.numbers);
    if of_text && !args.probabilities && args.output.is_npy() {
        let text = "npy files hold only numbers, and the classes are text; add --probabilities, or \
                    name a .csv file";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(())
}

/// The columns that are written: predictions; for classes, the likeliest class and all
/// probabilities.
pub struct Results {
    /// The likeliest class of each row, if it is written.
    classes: Option<Vec<String>>,
    /// The other columns, with their names.
    numbers: Vec<(String, Vec<f64>)>,
}

impl Results {
    pub fn of(model: &Model, predicted: &Predicted, only_probabilities: bool) -> Results {
        let named = |names: Vec<String>, values: &Mat<f64>| {
            let columns = (0..names.len()).map(|j| values.col(j).iter().copied().collect());
            names.into_iter().zip(columns).collect()
        };
        if let (Some(classes), Some(p)) = (model.classes(), &predicted.probabilities) {
            let names = classes.names.iter().map(|name| format!("p_{name}")).collect();
            let likeliest = (!only_probabilities).then(|| likeliest(classes, p.as_ref()));
            return Results { classes: likeliest, numbers: named(names, p) };
        }
        let mut numbers: Vec<(String, Vec<f64>)> = Vec::new();
        let values = [("prediction", &predicted.values)].into_iter();
        let ends = ["lower", "upper"].into_iter().zip(predicted.interval.iter().flatten());
        let deviations = predicted.deviations.iter();
        let of_values = deviations.clone().map(|found| ("std", &found.of_value));
        let of_functions = deviations.map(|found| ("std_of_function", &found.of_function));
        for (what, values) in values.chain(ends).chain(of_values).chain(of_functions) {
            let names = match &model.target_names()[..] {
                [_] => vec![what.to_owned()],
                several => several.iter().map(|target| format!("{what} of {target}")).collect(),
            };
            numbers.append(&mut named(names, values));
        }
        Results { classes: None, numbers }
    }

    pub fn columns(&self) -> impl Iterator<Item = (&str, Values<'_>)> {
        let classes = self.classes.iter().map(|names| ("prediction", Values::Texts(names)));
        let numbers = self.numbers.iter().map(|(name, v)| (name.as_str(), Values::Numbers(v)));
        classes.chain(numbers)
    }

    /// Adds the results as JSON keys.
    fn values(&self, summary: &mut Summary) {
        let of_classes = self.numbers.first().is_some_and(|(name, _)| name.starts_with("p_"));
        if of_classes {
            summary
                .value("probabilities", self.numbers.iter().cloned().collect::<BTreeMap<_, _>>());
        }
        match (&self.classes, &self.numbers[..]) {
            (Some(classes), _) => summary.value("predictions", classes),
            (None, _) if of_classes => {}
            (None, [(name, one), others @ ..]) if name == "prediction" => {
                summary.value("predictions", one);
                for (name, column) in others {
                    summary.value(name, column);
                }
            }
            (None, several) => {
                let columns: Vec<&Vec<f64>> = several.iter().map(|(_, column)| column).collect();
                summary.value("predictions", columns);
            }
        }
    }
}

/// Predictions for the rows of a table, and the true values in the table.
pub struct Predicted {
    /// n × t, one column for each target; for classes, one for each function.
    pub values: Mat<f64>,
    /// For classes: n × K, one column for each class.
    pub probabilities: Option<Mat<f64>>,
    /// The lower and upper ends of the intervals, n × t each, if requested.
    pub interval: Option<[Mat<f64>; 2]>,
    /// Standard deviations, if requested.
    pub deviations: Option<Deviations>,
    /// The true values of each target, NaN where missing; none for a target that the table lacks.
    pub actual: Vec<Option<Vec<f64>>>,
    /// The true classes, if the table has them.
    pub named: Option<Named>,
    pub notes: Vec<String>,
}

impl Predicted {
    /// Predicts the rows of a table, whose columns have the names of the model: with intervals of
    /// level `level`, if any, and with standard deviations if `std`.
    pub fn of(
        model: &Model,
        table: &Table,
        (level, std): (Option<f64>, bool),
    ) -> Result<Predicted> {
        let (values, probabilities, interval, notes) = match level {
            Some(level) => {
                let found = model.intervals(table, level).map_err(of_pipeline)?;
                (found.values, None, Some([found.lower, found.upper]), found.notes)
            }
            None => {
                let found = model.predict(table).map_err(of_pipeline)?;
                (found.values, found.probabilities, None, found.notes)
            }
        };
        let deviations = std.then(|| model.deviations(table).map_err(of_pipeline)).transpose()?;
        let notes = notes.iter().map(ToString::to_string).collect();
        let there = |name: &&str| table.names().any(|other| other == *name);
        let (mut actual, mut named) = (Vec::new(), None);
        if let Some(classes) = model.classes() {
            let target = Some(classes.target.as_str()).filter(there);
            named = target.map(|target| Named::of(table, target)).transpose()?;
        } else {
            actual = model.actual(table).map_err(of_pipeline)?;
        }
        Ok(Predicted { values, probabilities, interval, deviations, actual, named, notes })
    }

    /// The errors on the rows whose target is known, weighted if rows have weights.
    pub fn errors(&self, model: &Model, weights: Option<&[f64]>) -> Result<ModelErrors> {
        if let Some(classes) = model.classes() {
            let known = self.named.as_ref().zip(self.probabilities.as_ref());
            let errors = known.map(|(named, p)| named.errors(classes, p.as_ref(), weights));
            return Ok(ModelErrors::Classes(errors.unwrap_or(Ok(None))));
        }
        let of = |(j, actual): (usize, &Option<Vec<f64>>)| match actual {
            Some(actual) => Errors::where_known(self.values.subcols(j, 1), actual, weights),
            None => Ok(None),
        };
        let all = self.actual.iter().enumerate().map(of);
        Ok(ModelErrors::Numbers(all.collect::<Result<_>>()?))
    }
}

/// The rows of a file that can be predicted.
pub struct Rows {
    /// The columns of the model, under the names of the model.
    pub table: Table,
    /// The number of each row in the file, from 0.
    pub rows: Vec<usize>,
    /// The line of each row in the file, from 1.
    pub lines: Vec<usize>,
    pub kept: Kept,
}

impl Rows {
    /// Reads a file, and finds the columns of the model and the columns `keep` to copy.
    pub fn of(model: &Model, args: &DataArgs, keep: &[String], session: &Session) -> Result<Rows> {
        session.progress.stage("reading", None);
        let source = Source::of(&with_class_names(args, model), libsvm(model.layout()))?;
        let input = source.input(args)?;
        let (places, keep) = (Places::of(&input, model)?, input.columns(keep)?);
        let table = source.with_texts(input, &places.texts(model, &keep))?.table;
        session.notes(table.notes());
        let (lines, kept) = (lines(&table), Kept::of(&table, &keep));
        let table = places.table(table, model)?;
        if !args.drop_missing {
            return Ok(Rows { rows: (0..table.rows()).collect(), table, lines, kept });
        }
        let rows = model.columns().complete_rows(&table).map_err(of_pipeline)?;
        let lines = rows.iter().map(|&row| lines[row]).collect();
        Ok(Rows { table: table.select_rows(&rows)?, lines, kept: kept.rows(&rows), rows })
    }

    pub fn predict(
        &self,
        model: &Model,
        wanted: (Option<f64>, bool),
        session: &Session,
    ) -> Result<Predicted> {
        let kernel_values = (self.rows.len() * model.regression().centers().len()) as f64;
        session.progress.stage("predicting", Some(kernel_values));
        let predicted = Predicted::of(model, &self.table, wanted)?;
        session.notes(&predicted.notes);
        Ok(predicted)
    }
}

/// Columns that are copied beside the predictions, with their names.
pub struct Kept(Vec<(String, Vec<String>)>);

impl Kept {
    /// These columns of a table.
    pub fn of(table: &Table, columns: &[usize]) -> Kept {
        let text = |column: &Column, row: usize| match column.cell(row) {
            Some(Cell::Text(text)) => text.to_owned(),
            Some(Cell::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let of = |&j: &usize| {
            let column = &table.columns()[j];
            (column.name.clone(), (0..table.rows()).map(|row| text(column, row)).collect())
        };
        Kept(columns.iter().map(of).collect())
    }

    /// The columns at these rows only.
    fn rows(self, rows: &[usize]) -> Kept {
        let of = |texts: Vec<String>| rows.iter().map(|&row| texts[row].clone()).collect();
        Kept(self.0.into_iter().map(|(name, texts)| (name, of(texts))).collect())
    }

    pub fn columns(&self) -> impl Iterator<Item = (&str, Values<'_>)> {
        self.0.iter().map(|(name, texts)| (name.as_str(), Values::Texts(texts)))
    }
}

/// Adds the number of predicted rows and the targets.
pub fn describe(model: &Model, rows: usize, summary: &mut Summary) {
    let names = model.target_names();
    let count = text::count(rows, "row");
    summary.line("predicted", format!("{} for {count}", text::names(&names)));
    summary.value("rows", rows);
    match names[..] {
        [one] => summary.value("target", one),
        _ => summary.value("targets", &names),
    }
}

/// Adds the share of the known values of each target that are in their intervals.
fn coverage(predicted: &Predicted, names: &[&str], summary: &mut Summary) {
    let Some([lower, upper]) = &predicted.interval else { return };
    let mut shares = BTreeMap::new();
    for (j, name) in names.iter().enumerate() {
        let Some(actual) = &predicted.actual[j] else { continue };
        let y = actual.iter().copied().enumerate();
        let known: Vec<(usize, f64)> = y.filter(|(_, y)| !y.is_nan()).collect();
        let inside = |(i, y): &&(usize, f64)| (lower[(*i, j)]..=upper[(*i, j)]).contains(y);
        if !known.is_empty() {
            let share = known.iter().filter(inside).count() as f64 / known.len() as f64;
            let text = format!(
                "{} of {} of {name:?}",
                text::number(share),
                text::count(known.len(), "row")
            );
            summary.line("in the interval", text);
            shares.insert(*name, share);
        }
    }
    summary.value("coverage", shares);
}
