//! `nystrom predict`.

use super::classes::{NamedClasses, likeliest};
use super::coverage::Covered;
use super::errors::{Errors, ModelErrors};
use super::model_columns::{ModelColumns, libsvm, with_class_names};
use crate::args::{DataArgs, Predict};
use crate::failure::{Result, usage};
use crate::input::{Source, lines};
use crate::model_file;
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::Mat;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Alone, Deviations, Model};
use std::collections::BTreeMap;

pub fn run(args: &Predict) -> Result<()> {
    let session = Session::of_model(&args.of, &Alone)?;
    check_writable(&args.output, &[&args.of.model, &args.of.data.data], &session)?;
    let model = model_file::load(&args.of.model)?.on(args.gpu.device());
    check_options(args, &model)?;
    let file = ReadRows::of(&model, &args.of.data, &args.keep, &session)?;
    let predicted = file.predict(&model, (args.interval, args.std), &session)?;
    session.clear();
    args.gpu.warn_if_failed(&session);
    let results = results(&model, &predicted, args.probabilities);
    let ReadRows { rows, lines, kept, .. } = file;
    let (mut summary, count) = (Summary::of("predict"), rows.len());
    if args.output.is_stdout() {
        summary.value("row", &rows);
        if !kept.0.is_empty() {
            summary.value("kept", kept.0.iter().cloned().collect::<BTreeMap<_, _>>());
        }
        add_values(&results, &model, &mut summary);
    }
    let mut columns = match args.of.data.drop_missing {
        true => ResultColumns::of_rows(rows, lines),
        false => ResultColumns::default(),
    };
    columns.0.extend(kept.0.into_iter().chain(results.0));
    columns.write(&args.output, &session)?;

    describe(&model, count, &mut summary);
    if let Some(level) = args.interval {
        predicted.covered().report(level, &model.output_names(), &mut summary);
    }
    predicted.errors(&model, None).report(&model, ERROR, &mut summary);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// The words for the rows, and the JSON keys, of errors on rows with a known target.
pub const ERROR: (&str, &str, &str) = ("", "error", "errors");

/// Refuses output that the model does not have, and text in `.npy` files.
pub fn check_options(args: &Predict, model: &Model) -> Result<()> {
    if args.probabilities {
        model.tells_apart()?;
    }
    if let Some(level) = args.interval {
        model.has_intervals(level)?;
    }
    if args.std {
        model.uncertainty()?;
    }
    let of_text = model.classes().is_some_and(|classes| !classes.numbers);
    let text = if !args.output.is_npy() {
        return Ok(());
    } else if !args.keep.is_empty() {
        "npy files hold only numbers, and --keep copies texts; name a .csv file, or leave out \
         --keep"
    } else if of_text && !args.probabilities {
        "npy files hold only numbers, and the classes are text; add --probabilities, or name a \
         .csv file"
    } else {
        return Ok(());
    };
    Err(usage(text))
}

/// The columns that are written: predictions; for classes, the likeliest class, unless there are to
/// be `only_probabilities`, and the probability of each class.
pub fn results(model: &Model, predicted: &Predicted, only_probabilities: bool) -> ResultColumns {
    let mut columns = ResultColumns::default();
    let numbers =
        |values: &Mat<f64>, j| ResultValues::Numbers(values.col(j).iter().copied().collect());
    if let (Some(classes), Some(p)) = (model.classes(), &predicted.probabilities) {
        if !only_probabilities {
            columns.push(PREDICTION, ResultValues::Texts(likeliest(classes, p.as_ref())));
        }
        for (k, name) in classes.names.iter().enumerate() {
            columns.push(format!("p_{name}"), numbers(p, k));
        }
        return columns;
    }
    let others = predicted.others.iter().map(|(what, values)| (*what, values));
    let targets = model.output_names();
    for (what, values) in [(PREDICTION, &predicted.values)].into_iter().chain(others) {
        for (j, target) in targets.iter().enumerate() {
            let several = targets.len() > 1;
            let name = if several { format!("{what} of {target}") } else { what.to_owned() };
            columns.push(name, numbers(values, j));
        }
    }
    columns
}

const PREDICTION: &str = "prediction";

/// Adds the results as JSON keys.
fn add_values(results: &ResultColumns, model: &Model, summary: &mut Summary) {
    let columns = results.0.iter().map(|(name, values)| (&name[..], values));
    if model.classes().is_none() && model.targets().len() > 1 {
        return summary.value("predictions", columns.map(|(_, values)| values).collect::<Vec<_>>());
    }
    let (predictions, others): (Vec<_>, Vec<_>) =
        columns.partition(|(name, _)| *name == PREDICTION);
    predictions.iter().for_each(|(_, values)| summary.value("predictions", values));
    if model.classes().is_some() {
        return summary.value("probabilities", BTreeMap::from_iter(others));
    }
    others.iter().for_each(|(name, values)| summary.value(name, values));
}

/// Predictions for the rows of a table, and the true values in the table.
pub struct Predicted {
    /// n × t, one column for each target; for classes, one for each function.
    pub values: Mat<f64>,
    /// For classes: n × K, one column for each class.
    pub probabilities: Option<Mat<f64>>,
    /// What else was requested, n × t each, with names: the lower and upper ends of the intervals,
    /// then the standard deviations.
    others: Vec<(&'static str, Mat<f64>)>,
    /// The true values of each target, NaN where missing; none for a target that the table lacks.
    pub actual: Vec<Option<Vec<f64>>>,
    /// The true classes, if the table has them.
    pub named: Option<NamedClasses>,
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
        let (values, probabilities, mut others, notes) = match level {
            Some(level) => {
                let found = model.intervals(table, level)?;
                let ends = vec![("lower", found.lower), ("upper", found.upper)];
                (found.values, None, ends, found.notes)
            }
            None => {
                let found = model.predict(table)?;
                (found.values, found.probabilities, Vec::new(), found.notes)
            }
        };
        if std {
            let Deviations { of_value, of_function, .. } = model.deviations(table)?;
            others.extend([("std", of_value), ("std_of_function", of_function)]);
        }
        let notes = notes.iter().map(ToString::to_string).collect();
        let there = |name: &&str| table.names().any(|other| other == *name);
        let (mut actual, mut named) = (Vec::new(), None);
        if let Some(classes) = model.classes() {
            let target = Some(classes.target.as_str()).filter(there);
            named = target.map(|target| NamedClasses::of(table, target)).transpose()?;
        } else {
            actual = model.actual(table)?;
        }
        Ok(Predicted { values, probabilities, others, actual, named, notes })
    }

    /// The known values that are in their intervals.
    pub fn covered(&self) -> Covered {
        let ends = match &self.others[..] {
            [("lower", lower), ("upper", upper), ..] => Some([lower, upper]),
            _ => None,
        };
        Covered::of(ends, &self.actual)
    }

    /// The errors on the rows whose target is known, weighted if rows have weights.
    pub fn errors(&self, model: &Model, weights: Option<&[f64]>) -> ModelErrors {
        if let Some(classes) = model.classes() {
            let known = self.named.as_ref().zip(self.probabilities.as_ref());
            let errors = known.map(|(named, p)| named.errors(classes, p.as_ref(), weights));
            return ModelErrors::Classes(errors.unwrap_or(Ok(None)));
        }
        let of = |(j, actual): (usize, &Option<Vec<f64>>)| {
            let share = model.targets()[j].share;
            Errors::of(self.values.subcols(j, 1), actual.as_ref()?, weights, share)
        };
        ModelErrors::Numbers(self.actual.iter().enumerate().map(of).collect())
    }
}

/// The error for a file of another format.
const NOT_SPARSE: &str = "the model is one of sparse rows (fit --sparse), which libsvm files hold; \
                          name a libsvm file, or its format with --format libsvm";

/// The rows of a file that can be predicted.
pub struct ReadRows {
    /// The columns of the model, under the names of the model.
    table: Table,
    /// The number of each row in the file, from 0.
    pub rows: Vec<usize>,
    /// The line of each row in the file, from 1.
    lines: Vec<usize>,
    /// The columns that are copied beside the predictions.
    kept: ResultColumns,
}

impl ReadRows {
    /// Reads a file, and finds the columns of the model and the columns `keep` to copy.
    pub fn of(
        model: &Model,
        args: &DataArgs,
        keep: &[String],
        session: &Session<'_>,
    ) -> Result<ReadRows> {
        session.stage("reading", None);
        let source = Source::of(&with_class_names(args, model), libsvm(model.layout()))?
            .with_sparse(model.columns().sparse().is_some(), NOT_SPARSE)?;
        let input = source.input(args)?;
        let (places, keep) = (ModelColumns::of(&input, model)?, input.columns(keep)?);
        let table = source.with_texts(input, &places.texts(model, &keep))?.table;
        session.notes(table.notes());
        let (lines, mut kept) = (lines(&table), copied(&table, &keep));
        let table = places.table(table, model)?;
        if !args.drop_missing {
            return Ok(ReadRows { rows: (0..table.rows()).collect(), table, lines, kept });
        }
        let rows = model.columns().complete_rows(&table)?;
        let lines = rows.iter().map(|&row| lines[row]).collect();
        for (_, values) in &mut kept.0 {
            if let ResultValues::Texts(texts) = values {
                *texts = rows.iter().map(|&row| texts[row].clone()).collect();
            }
        }
        Ok(ReadRows { table: table.select_rows(&rows)?, lines, kept, rows })
    }

    pub fn predict(
        &self,
        model: &Model,
        wanted: (Option<f64>, bool),
        session: &Session<'_>,
    ) -> Result<Predicted> {
        let kernel_values = (self.rows.len() * model.regression().centers().len()) as f64;
        session.stage("predicting", Some(kernel_values));
        let predicted = Predicted::of(model, &self.table, wanted)?;
        session.notes(&predicted.notes);
        Ok(predicted)
    }
}

/// These columns of a table as texts.
pub fn copied(table: &Table, columns: &[usize]) -> ResultColumns {
    let text = |column: &Column, row: usize| {
        column.cell(row).map_or_else(String::new, |cell| cell.to_string())
    };
    let of = |&j: &usize| {
        let column = &table.columns()[j];
        let texts = (0..table.rows()).map(|row| text(column, row)).collect();
        (column.name.clone(), ResultValues::Texts(texts))
    };
    ResultColumns(columns.iter().map(of).collect())
}

/// Adds the number of predicted rows and the targets.
pub fn describe(model: &Model, rows: usize, summary: &mut Summary) {
    let names = model.target_names();
    let count = text::count(rows, "row");
    summary.line("predicted", format!("{} for {count}", text::names(&names)));
    summary.value("rows", rows);
    summary.targets(&names);
}
