//! `nystrom predict` and `nystrom evaluate` block by block.

use super::agree::{agree, together};
use super::model_rows::ModelRows;
use super::ordered_output::OrderedOutput;
use super::watch::{Watch, named};
use crate::args::{DataArgs, Evaluate, Predict};
use crate::commands::classes::Named;
use crate::commands::errors::{ModelErrors, Running};
use crate::commands::evaluate;
use crate::commands::predict::{ERROR, Kept, Predicted, Results, check_options, describe};
use crate::failure::{Failure, Result, of_pipeline};
use crate::model_file;
use crate::output::{Columns, Values, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use nystrom::faer::Mat;
use nystrom_pipeline::{Model, Ranks};
use serde::{Deserialize, Serialize};

/// Predicts on the processes of a job. Process 0 writes all predictions in the order of the files;
/// the other processes keep theirs in temporary files until their turn.
pub fn predict_over(args: &Predict, ranks: &dyn Ranks) -> Result<()> {
    let quiet = args.quiet || ranks.rank() > 0;
    let session = Session::new(args.threads, args.json, quiet)?;
    let model = agree(ranks, model_to_predict(args, ranks))?;
    let mut to = OrderedOutput::open(&args.output, ranks)?;
    let mut known = Known::of(&model);
    let more = (args.interval, args.std);
    let data = (&args.data, &args.keep[..]);
    each(&model, data, more, (&session, ranks), &mut |predicted, kept| {
        let results = Results::of(&model, predicted, args.probabilities);
        let columns: Vec<(&str, Values<'_>)> = kept.columns().chain(results.columns()).collect();
        to.write(&Columns(columns))?;
        known.add(&model, predicted)
    })?;
    to.finish(ranks)?;
    let Some(known) = together(ranks, known, Known::merge)? else { return Ok(()) };
    let mut summary = Summary::of("predict");
    describe(&model, known.rows, &mut summary);
    known.errors(&model).report(&model, ERROR, &mut summary);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

fn model_to_predict(args: &Predict, ranks: &dyn Ranks) -> Result<Model> {
    if ranks.rank() == 0 {
        check_writable(&args.output, &[&args.model, &args.data.data])?;
    }
    let model = model_file::load(&args.model)?;
    check_options(args, &model)?;
    if args.output.is_npy() || (args.json && args.output.is_stdout()) || args.data.drop_missing {
        let text = "block by block, predictions are written as CSV with one line for each row; \
                    name a .csv file, and leave out --drop-missing";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(model)
}

/// Evaluates on the processes of a job. Process 0 prints the errors on all rows.
pub fn evaluate_over(args: &Evaluate, ranks: &dyn Ranks) -> Result<()> {
    let quiet = args.quiet || ranks.rank() > 0;
    let session = Session::new(args.threads, args.json, quiet)?;
    let model = agree(ranks, model_file::load(&args.model))?;
    let mut known = Known::of(&model);
    each(&model, (&args.data, &[]), (None, false), (&session, ranks), &mut |predicted, _| {
        known.add(&model, predicted)
    })?;
    let Some(known) = together(ranks, known, Known::merge)? else { return Ok(()) };
    evaluate::report(args, &model, known.rows, known.errors(&model), &session)
}

/// Predicts every block of this process, and calls `take` with each.
fn each(
    model: &Model,
    data: (&DataArgs, &[String]),
    more: (Option<f64>, bool),
    (session, ranks): (&Session, &dyn Ranks),
    take: &mut dyn FnMut(&Predicted, &Kept) -> Result<()>,
) -> Result<()> {
    let mut rows = ModelRows::open(model, data, session, ranks)?;
    let mut watch = Watch::new(session, &named("predicting", ranks), (None, rows.bytes()?));
    let mut notes = Vec::new();
    while let Some((block, kept, bytes)) = rows.next(model)? {
        let predicted = Predicted::of(model, &block, more)?;
        for note in &predicted.notes {
            if !notes.contains(note) && notes.len() < 20 {
                session.say(&format!("note: {note}, in a block of {}", block.source()));
                notes.push(note.clone());
            }
        }
        take(&predicted, &kept)?;
        watch.rows(block.rows(), bytes);
    }
    watch.end();
    Ok(())
}

/// The data that determine the errors on rows whose target is known.
#[derive(Serialize, Deserialize)]
struct Known {
    /// The number of rows predicted.
    rows: usize,
    /// The sums of each target.
    numbers: Vec<Running>,
    /// For classes: the class of each row, and K probabilities for each row.
    classes: (Vec<Option<String>>, Vec<f64>),
}

impl Known {
    fn of(model: &Model) -> Known {
        let targets = if model.classes().is_some() { &[] } else { model.targets() };
        let numbers = targets.iter().map(|target| Running::new(target.scale)).collect();
        Known { rows: 0, numbers, classes: (Vec::new(), Vec::new()) }
    }

    fn add(&mut self, model: &Model, predicted: &Predicted) -> Result<()> {
        self.rows += predicted.values.nrows();
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

    /// Adds the data of another process.
    fn merge(&mut self, other: Known) {
        self.rows += other.rows;
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(ours, sums)| ours.merge(sums));
        self.classes.0.extend(other.classes.0);
        self.classes.1.extend(other.classes.1);
    }

    fn errors(self, model: &Model) -> ModelErrors {
        let Some(classes) = model.classes() else {
            return ModelErrors::Numbers(self.numbers.iter().map(Running::errors).collect());
        };
        let (named, p) = self.classes;
        let count = classes.names.len();
        let p = Mat::from_fn(named.len(), count, |i, k| p[i * count + k]);
        ModelErrors::Classes(Named(named).errors(classes, p.as_ref(), None))
    }
}
