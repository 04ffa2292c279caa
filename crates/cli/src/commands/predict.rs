//! `nystrom predict`.

use super::arrange::{Places, arrange, libsvm_features};
use super::classes::{Named, likeliest};
use super::errors::{Errors, ModelErrors};
use crate::args::{DataArgs, Predict};
use crate::failure::{Failure, Result, of_pipeline};
use crate::input::{Input, Source};
use crate::mixed::{self, Wanted};
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
    check_classes(args, &model)?;
    let wanted = (args.interval, args.std);
    let predicted = predict(&model, &args.data, wanted, &session)?;
    session.progress.clear();
    let Predicted { rows, lines, .. } = &predicted;
    let results = Results::of(&model, &predicted, args.probabilities);
    let mut columns = if args.data.drop_missing {
        vec![("row", Values::Counts(rows)), (LINE, Values::Counts(lines))]
    } else {
        Vec::new()
    };
    columns.extend(results.columns());
    Columns(columns).write(&args.output, &session)?;

    let mut summary = Summary::of("predict");
    describe(&model, rows.len(), &mut summary);
    coverage(&predicted, &model.target_names(), &mut summary);
    predicted.errors(&model)?.report(&model, &mut summary);
    if args.output.is_stdout() {
        summary.value("row", rows);
        results.values(&mut summary);
    }
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// Probabilities are of classes, and npy files hold numbers.
pub fn check_classes(args: &Predict, model: &Model) -> Result<()> {
    if args.probabilities {
        model.tells_apart().map_err(of_pipeline)?;
    }
    if let Some(level) = args.interval {
        model.has_intervals(level).map_err(of_pipeline)?;
    }
    if args.std {
        model.uncertainty().map_err(of_pipeline)?;
    }
    let of_text = model.classes().is_some_and(|classes| !classes.numbers);
    if of_text && !args.probabilities && args.output.is_npy() {
        let text = "npy files hold numbers, and the classes are text; add --probabilities, or \
                    write CSV";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(())
}

/// What is written for each row: predictions, of classes the likeliest and all probabilities.
pub struct Results {
    classes: Option<Vec<String>>,
    /// Names and columns.
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

    /// For programs.
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

/// Predictions for the rows of a file.
pub struct Predicted {
    /// A column for each target, or for each function of classes.
    pub values: Mat<f64>,
    /// Of classes: a column for each.
    pub probabilities: Option<Mat<f64>>,
    /// Where intervals begin and end, as `values`, if they were asked for.
    pub interval: Option<[Mat<f64>; 2]>,
    /// Standard deviations, if they were asked for.
    pub deviations: Option<Deviations>,
    /// The rows of the file, from 0, and their lines, from 1.
    pub rows: Vec<usize>,
    pub lines: Vec<usize>,
    /// For each target what the file says of it, if it does: NaN where it does not.
    pub actual: Vec<Option<Vec<f64>>>,
    /// Of classes: what the file says of each row in `rows`, if it does.
    pub named: Option<Named>,
}

impl Predicted {
    /// The errors where the truth is known.
    pub fn errors(&self, model: &Model) -> Result<ModelErrors> {
        if let Some(classes) = model.classes() {
            let known = self.named.as_ref().zip(self.probabilities.as_ref());
            let errors = known.map(|(named, p)| named.errors(classes, p.as_ref()));
            return Ok(ModelErrors::Classes(errors.unwrap_or(Ok(None))));
        }
        let of = |(j, actual): (usize, &Option<Vec<f64>>)| match actual {
            Some(actual) => {
                Errors::where_known(self.values.subcols(j, 1), |i| actual[self.rows[i]])
            }
            None => Ok(None),
        };
        let all = self.actual.iter().enumerate().map(of);
        Ok(ModelErrors::Numbers(all.collect::<Result<_>>()?))
    }
}

/// Reads a file, finds the model's columns in it, and predicts.
pub fn predict(
    model: &Model,
    args: &DataArgs,
    (level, std): (Option<f64>, bool),
    session: &Session,
) -> Result<Predicted> {
    session.progress.stage("reading", None);
    let source = Source::of(args)?;
    let input = Input::of(&source, args, libsvm_features(model.layout()))?;
    let places = arrange(&input, model)?;
    let numbers = |target: &Option<usize>| target.and_then(|target| input.numbers(target));
    let actual: Vec<Option<Vec<f64>>> =
        places.targets.iter().map(|target| numbers(target).map(<[f64]>::to_vec)).collect();
    // a class of text is read with the features
    let Found { table, rows, lines } = find(model, args, session, (source, input), &places)?;
    let named = match (model.classes(), places.text, &actual[..]) {
        (Some(classes), Some(_), _) => Some(Named::of(&table, &classes.target)?),
        (Some(_), None, [Some(all)]) => {
            Some(Named::numbers(&rows.iter().map(|&row| all[row]).collect::<Vec<_>>()))
        }
        _ => None,
    };
    let kernel_values = (rows.len() * model.regression().centers().len()) as f64;
    session.progress.stage("predicting", Some(kernel_values));
    let (predicted, notes) = predicted(model, &table, (level, std), (rows, lines, actual, named))?;
    session.notes(notes);
    Ok(predicted)
}

/// Rows and lines of a table, and what is known of the targets.
type Known = (Vec<usize>, Vec<usize>, Vec<Option<Vec<f64>>>, Option<Named>);

/// Predictions for the rows of a table, and what is to be said of them.
pub fn predicted(
    model: &Model,
    table: &Table,
    (level, std): (Option<f64>, bool),
    (rows, lines, actual, named): Known,
) -> Result<(Predicted, Vec<String>)> {
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
    Ok((
        Predicted { values, probabilities, interval, deviations, rows, lines, actual, named },
        notes,
    ))
}

/// The rows of a file that can be predicted.
struct Found {
    /// With the columns under the names that the model knows them by.
    table: Table,
    rows: Vec<usize>,
    lines: Vec<usize>,
}

/// Reads the features, and a target of text, from their places in the file.
fn find(
    model: &Model,
    args: &DataArgs,
    session: &Session,
    (source, input): (Source, Input),
    places: &Places,
) -> Result<Found> {
    let Places { features, text, .. } = places;
    let wanted = places.wanted(model, &[]);
    let columns = wanted.columns.clone();
    let (rows, mixed) = if wanted.fills || !wanted.texts.is_empty() {
        let mixed = mixed::read(&source, args, input, &wanted)?;
        // the class may be missing
        let class = text.map(|text| features.iter().filter(|feature| **feature < text).count());
        let gap = |(j, cell): (usize, Cell<'_>)| cell == Cell::Missing && Some(j) != class;
        let complete = |row: &usize| !mixed.table.row(*row).enumerate().any(gap);
        let all = 0..mixed.table.rows();
        (all.filter(|row| !args.drop_missing || complete(row)).collect::<Vec<_>>(), mixed)
    } else {
        let used =
            crate::diagnosis::Use { features: &[], needed: features, instead: wanted.instead };
        let rows = input.rows(used, args)?;
        (rows, mixed::read(&source, args, input, &Wanted { fills: true, ..wanted })?)
    };
    session.notes(&mixed.notes);
    let class = model.classes().map(|classes| classes.target.as_str()).filter(|_| text.is_some());
    let names: Vec<&str> = model.columns().names().chain(class).collect();
    let table = renamed(&mixed.table, &columns, &names)?.select_rows(&rows)?;
    let lines = rows.iter().map(|&row| mixed.lines[row]).collect();
    Ok(Found { table, rows, lines })
}

/// The columns under the names that the model knows them by. `table` has the columns at `places` of
/// the file, in the file's order.
fn renamed(table: &Table, places: &[usize], names: &[&str]) -> Result<Table> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&i| places[i]);
    let columns = order
        .iter()
        .zip(table.columns())
        .map(|(&i, column)| Column { name: names[i].to_owned(), values: column.values.clone() });
    Ok(Table::new(table.source(), columns.collect())?)
}

/// The rows that were predicted, and of which targets.
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

/// How many of the known targets are in their intervals.
fn coverage(predicted: &Predicted, names: &[&str], summary: &mut Summary) {
    let Some([lower, upper]) = &predicted.interval else { return };
    let mut shares = BTreeMap::new();
    for (j, name) in names.iter().enumerate() {
        let Some(actual) = &predicted.actual[j] else { continue };
        let y = predicted.rows.iter().map(|&row| actual[row]).enumerate();
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
