//! `nystrom predict` and `nystrom evaluate` block by block.

use super::agree::agree;
use super::job::named;
use super::model_rows::ModelRows;
use super::to::{To, receive};
use super::watch::Watch;
use crate::args::{DataArgs, Evaluate, Predict};
use crate::commands::classes::{self, Named};
use crate::commands::errors::Running;
use crate::commands::predict::{Predicted, Results, check_classes, predicted};
use crate::failure::{Failure, Result, of_pipeline};
use crate::model_file;
use crate::output::{Columns, Values, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::Mat;
use nystrom_data::Table;
use nystrom_pipeline::{Alone, Model, Ranks};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub fn predict(args: &Predict) -> Result<ExitCode> {
    predict_over(args, &Alone)?;
    Ok(ExitCode::SUCCESS)
}

/// The same over the processes of a job: process 0 writes what all predict, in the order of the
/// files. The others keep theirs in temporary files until it is their turn.
pub fn predict_over(args: &Predict, ranks: &dyn Ranks) -> Result<()> {
    let quiet = args.quiet || ranks.rank() > 0;
    let session = Session::new(args.threads, args.json, quiet)?;
    let model = agree(ranks, model_to_predict(args, ranks))?;
    let mut to = To::open(&args.output, ranks)?;
    let mut errors = Known::of(&model);
    let more = (args.interval, args.std);
    let mut rows = each(&model, &args.data, more, (&session, ranks), &mut |predicted| {
        let results = Results::of(&model, predicted, args.probabilities);
        let columns: Vec<(&str, Values<'_>)> = results.columns().collect();
        to.write(&Columns(columns))?;
        errors.add(&model, predicted)
    })?;
    let Some(mut sink) = to.send(ranks)? else {
        return errors.send(rows, ranks);
    };
    for rank in 1..ranks.size() {
        receive(&mut sink, rank, ranks)?;
        rows += errors.receive(rank, ranks)?;
    }
    sink.finish()?;
    let mut summary = Summary::of("predict");
    errors.report(&model, rows, &mut summary)?;
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

fn model_to_predict(args: &Predict, ranks: &dyn Ranks) -> Result<Model> {
    if ranks.rank() == 0 {
        check_writable(&args.output, &[&args.model, &args.data.data])?;
    }
    let model = model_file::load(&args.model)?;
    check_classes(args, &model)?;
    if args.output.is_npy() || (args.json && args.output.is_stdout()) || args.data.drop_missing {
        let text = "block by block predictions are written as CSV, a line for each row: name a \
                    .csv file, and leave out --drop-missing";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(model)
}

pub fn evaluate(args: &Evaluate) -> Result<ExitCode> {
    evaluate_over(args, &Alone)?;
    Ok(ExitCode::SUCCESS)
}

/// The same over the processes of a job.
pub fn evaluate_over(args: &Evaluate, ranks: &dyn Ranks) -> Result<()> {
    let quiet = args.quiet || ranks.rank() > 0;
    let session = Session::new(args.threads, args.json, quiet)?;
    let model = agree(ranks, model_file::load(&args.model))?;
    let mut errors = Known::of(&model);
    let mut rows = each(&model, &args.data, (None, false), (&session, ranks), &mut |predicted| {
        errors.add(&model, predicted)
    })?;
    if ranks.rank() > 0 {
        return errors.send(rows, ranks);
    }
    for rank in 1..ranks.size() {
        rows += errors.receive(rank, ranks)?;
    }
    if let Some(target) = errors.absent(&model) {
        let text = format!(
            "{}: the target {target:?} is in no row, so that there is nothing to compare with; use \
             `predict`",
            args.data.data.display(),
        );
        return Err(Failure::Data(text).into());
    }
    let mut summary = Summary::of("evaluate");
    errors.report(&model, rows, &mut summary)?;
    summary.print(&session, false)
}

/// Predicts every block of this process. Gives the number of rows.
fn each(
    model: &Model,
    data: &DataArgs,
    more: (Option<f64>, bool),
    (session, ranks): (&Session, &dyn Ranks),
    take: &mut dyn FnMut(&Predicted) -> Result<()>,
) -> Result<usize> {
    let mut rows = ModelRows::open(model, data, session, ranks)?;
    let known: Vec<String> = rows.known().into_iter().map(str::to_owned).collect();
    let mut watch = Watch::new(session, &named("predicting", ranks), (None, rows.bytes()?));
    let (mut count, mut notes) = (0, Vec::new());
    while let Some((block, bytes)) = rows.next()? {
        let (actual, named) = truth(model, &block, &known)?;
        let all = (0..block.rows()).collect();
        let (predicted, new) = predicted(model, &block, more, (all, Vec::new(), actual, named))?;
        for note in new {
            if !notes.contains(&note) && notes.len() < 20 {
                session.say(&format!("note: {note}, in a block of {}", block.source()));
                notes.push(note);
            }
        }
        take(&predicted)?;
        count += block.rows();
        watch.rows(block.rows(), bytes);
    }
    watch.end();
    Ok(count)
}

/// What the block says of the targets.
type Truth = (Vec<Option<Vec<f64>>>, Option<Named>);

fn truth(model: &Model, block: &Table, known: &[String]) -> Result<Truth> {
    let is_known = |name: &&str| known.iter().any(|other| other == *name);
    if let Some(classes) = model.classes() {
        let named = Some(classes.target.as_str()).filter(is_known);
        return Ok((Vec::new(), named.map(|name| Named::of(block, name)).transpose()?));
    }
    let numbers = |name: &str| block.numbers(name).map(<[f64]>::to_vec);
    let names = model.target_names();
    let actual = names.iter().map(|name| Some(*name).filter(is_known).map(numbers).transpose());
    Ok((actual.collect::<nystrom_data::Result<_>>()?, None))
}

/// Errors where the truth is known.
#[derive(Serialize, Deserialize)]
struct Known {
    numbers: Vec<Running>,
    /// Of classes: what each row is, and K probabilities for each.
    classes: (Vec<Option<String>>, Vec<f64>),
}

impl Known {
    fn of(model: &Model) -> Known {
        let count = if model.classes().is_some() { 0 } else { model.targets().len() };
        Known { numbers: vec![Running::default(); count], classes: (Vec::new(), Vec::new()) }
    }

    fn add(&mut self, model: &Model, predicted: &Predicted) -> Result<()> {
        for (j, (sums, actual)) in self.numbers.iter_mut().zip(&predicted.actual).enumerate() {
            let known = actual.iter().flatten().enumerate().filter(|(_, y)| !y.is_nan());
            known.for_each(|(i, y)| sums.add(predicted.values[(i, j)], *y));
        }
        if let (Some(classes), Some(named), Some(p)) =
            (model.classes(), &predicted.named, &predicted.probabilities)
        {
            for (i, name) in named.0.iter().enumerate().filter(|(_, name)| name.is_some()) {
                let name = name.as_deref().unwrap_or_default();
                classes.number(name).map_err(of_pipeline)?;
                self.classes.0.push(Some(name.to_owned()));
                self.classes.1.extend((0..p.ncols()).map(|k| p[(i, k)]));
            }
        }
        Ok(())
    }

    /// Sends them to process 0, with the number of rows.
    fn send(self, rows: usize, ranks: &dyn Ranks) -> Result<()> {
        let mut bytes = Vec::new();
        ciborium::into_writer(&(rows, self), &mut bytes)?;
        ranks.send(0, &bytes);
        Ok(())
    }

    /// Adds those of another process. Gives the number of its rows.
    fn receive(&mut self, from: usize, ranks: &dyn Ranks) -> Result<usize> {
        let (rows, other): (usize, Known) = ciborium::from_reader(&ranks.receive(from)[..])?;
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(ours, sums)| ours.merge(sums));
        self.classes.0.extend(other.classes.0);
        self.classes.1.extend(other.classes.1);
        Ok(rows)
    }

    /// A target that no row has.
    fn absent(&self, model: &Model) -> Option<String> {
        match model.classes() {
            Some(classes) => self.classes.0.is_empty().then(|| classes.target.clone()),
            None => {
                let unknown = self.numbers.iter().position(|sums| sums.rows() == 0);
                unknown.map(|j| model.targets()[j].name.clone())
            }
        }
    }

    fn report(self, model: &Model, rows: usize, summary: &mut Summary) -> Result<()> {
        let names = model.target_names();
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        summary
            .line("predicted", format!("{} for {}", quoted.join(", "), text::count(rows, "row")));
        summary.value("rows", rows);
        match names[..] {
            [one] => summary.value("target", one),
            _ => summary.value("targets", &names),
        }
        if let Some(classes) = model.classes() {
            let (named, p) = self.classes;
            let count = classes.names.len();
            let p = Mat::from_fn(named.len(), count, |i, k| p[i * count + k]);
            classes::report(Named(named).errors(classes, p.as_ref()), "error", "error", summary);
            return Ok(());
        }
        let mut all = BTreeMap::new();
        for (name, sums) in names.iter().zip(&self.numbers).filter(|(_, sums)| sums.rows() > 0) {
            let errors = sums.errors();
            if names.len() == 1 {
                errors.report("error", "error", summary);
            } else {
                summary.line("error", format!("{name:?}: RMSE {}", text::number(errors.rmse)));
                all.insert(*name, errors);
            }
        }
        if names.len() > 1 {
            summary.value("errors", all);
        }
        Ok(())
    }
}
