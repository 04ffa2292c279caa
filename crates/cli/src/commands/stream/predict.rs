//! `nystrom predict` and `nystrom evaluate` block by block.

use super::input::OpenedFiles;
use super::ordered_output::OrderedOutput;
use super::process_files::part;
use super::watch::PassWatch;
use crate::args::{Evaluate, ModelArgs, Predict};
use crate::commands::classes::NamedClasses;
use crate::commands::coverage::Covered;
use crate::commands::errors::{ErrorSums, ModelErrors};
use crate::commands::evaluate;
use crate::commands::model_columns::{ModelColumns, libsvm, with_class_names};
use crate::commands::predict::{ERROR, Predicted, check_options, copied, describe, results};
use crate::failure::{Result, usage};
use crate::model_file;
use crate::output::{ResultColumns, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use nystrom::faer::Mat;
use nystrom_data::Files;
use nystrom_pipeline::{Error, Model, Ranks};
use serde::{Deserialize, Serialize};

/// Predicts on the processes of a job. Process 0 writes all predictions in the order of the files;
/// the other processes keep theirs in temporary files until their turn.
pub fn predict_on_ranks(args: &Predict, ranks: &dyn Ranks) -> Result<()> {
    let session = Session::of_model(&args.of, ranks)?;
    let model = session.succeeded_on_all(model_to_predict(args, &session))?;
    let mut output = OrderedOutput::open(&args.output, &session)?;
    let wanted = (args.interval, args.std, &args.keep[..]);
    let known = each(&model, &args.of, wanted, &session, &mut |predicted, mut columns| {
        columns.0.extend(results(&model, predicted, args.probabilities).0);
        output.write(&columns)
    })?;
    output.finish(&session)?;
    args.gpu.warn_if_failed(&session);
    let Some(known) = merged(known, &model, &session)? else { return Ok(()) };
    let mut summary = Summary::of("predict");
    describe(&model, known.rows, &mut summary);
    if let Some(level) = args.interval {
        known.covered.report(level, &model.output_names(), &mut summary);
    }
    known.errors(&model).report(&model, ERROR, &mut summary);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

fn model_to_predict(args: &Predict, session: &Session<'_>) -> Result<Model> {
    check_writable(&args.output, &[&args.of.model, &args.of.data.data], session)?;
    let model = of_blocks(model_file::load(&args.of.model)?)?.on(args.gpu.device());
    check_options(args, &model)?;
    let in_json = args.of.json && args.output.is_stdout();
    if args.output.is_npy() || in_json || args.of.data.drop_missing {
        return Err(usage(
            "block by block, predictions are written as CSV with one line for each row; name a \
             .csv file, and leave out --drop-missing",
        ));
    }
    Ok(model)
}

/// The model, unless its rows are sparse, which are read all at once.
fn of_blocks(model: Model) -> Result<Model> {
    match model.columns().sparse() {
        None => Ok(model),
        Some(_) => Err(usage(
            "the model is one of sparse rows (fit --sparse), which are read all at once; name one \
             file, and leave out --stream",
        )),
    }
}

/// Evaluates on the processes of a job. Process 0 prints the errors on all rows.
pub fn evaluate_on_ranks(args: &Evaluate, ranks: &dyn Ranks) -> Result<()> {
    let session = Session::of_model(&args.of, ranks)?;
    let model = model_file::load(&args.of.model).and_then(of_blocks);
    let model = session.succeeded_on_all(model)?;
    let level = session.succeeded_on_all(evaluate::level(args, &model))?;
    let wanted = (level, false, &[][..]);
    let known = each(&model, &args.of, wanted, &session, &mut |_, _| Ok(()))?;
    let Some(mut known) = merged(known, &model, &session)? else { return Ok(()) };
    let covered = level.map(|level| (level, std::mem::take(&mut known.covered)));
    let (rows, errors) = (known.rows, known.errors(&model));
    evaluate::report(args, &model, rows, (errors, covered), &session)
}

/// Predicts every block of this process, with intervals of level `level` and standard deviations if
/// these are wanted, and calls `take` with each and with its columns `keep`.
fn each(
    model: &Model,
    args: &ModelArgs,
    (level, std, keep): (Option<f64>, bool, &[String]),
    session: &Session<'_>,
    take: &mut dyn FnMut(&Predicted, ResultColumns) -> Result<()>,
) -> Result<KnownRows> {
    let opened = session.succeeded_on_all(open(model, args, keep, session))?;
    let (mut files, places, keep) = opened;
    if session.ranks.size() > 1 {
        files = part(&files, session)?.0;
    }
    files.start(0)?;
    let mut watch = PassWatch::new(session, "predicting", (None, files.bytes()?));
    let (mut known, mut notes) = (KnownRows::of(model), Vec::new());
    while let Some(block) = files.next_block()? {
        let kept = copied(&block, &keep);
        let block = places.table(block, model)?;
        let predicted = Predicted::of(model, &block, (level, std));
        let predicted = predicted.map_err(|error| in_file(error, block.source()))?;
        for note in &predicted.notes {
            if !notes.contains(note) && notes.len() < 20 {
                session.say(&format!("note: {note}, in a block of {}", block.source()));
                notes.push(note.clone());
            }
        }
        take(&predicted, kept)?;
        known.add(model, &predicted)?;
        watch.rows(block.rows(), files.bytes_read());
    }
    watch.end();
    Ok(known)
}

/// An error of a row with the file of the row.
fn in_file(error: anyhow::Error, file: &str) -> anyhow::Error {
    match error.downcast_ref() {
        Some(Error::Values { .. } | Error::Fingerprint { .. }) => error.context(file.to_owned()),
        _ => error,
    }
}

/// Opens the files, and finds the columns of the model and the columns `keep` to copy.
fn open(
    model: &Model,
    args: &ModelArgs,
    keep: &[String],
    session: &Session<'_>,
) -> Result<(Files, ModelColumns, Vec<usize>)> {
    let args = with_class_names(&args.data, model);
    let head = OpenedFiles::of(&args, None, libsvm(model.layout()))?;
    let (places, keep) = (ModelColumns::of(&head.input, model)?, head.input.columns(keep)?);
    let files = head.open(&places.texts(model, &keep))?;
    session.notes(files.notes());
    Ok((files, places, keep))
}

/// On process 0, the data of all processes.
fn merged(known: KnownRows, model: &Model, session: &Session<'_>) -> Result<Option<KnownRows>> {
    let classes = model.classes().map_or(0, |classes| classes.names.len());
    let merge = |all: &mut KnownRows, later: KnownRows| all.merge(later, classes);
    Ok(session.ranks.try_merge(known, merge)?)
}

/// The data that determine the errors on rows whose target is known.
#[derive(Serialize, Deserialize)]
struct KnownRows {
    /// The number of rows predicted.
    rows: usize,
    /// The sums of each target.
    numbers: Vec<ErrorSums>,
    /// For classes: the class of each row, and K probabilities for each row.
    classes: (Vec<Option<String>>, Vec<f64>),
    /// The values in their intervals, if there are intervals.
    covered: Covered,
}

impl KnownRows {
    fn of(model: &Model) -> KnownRows {
        let targets = if model.classes().is_some() { &[] } else { model.targets() };
        let numbers =
            targets.iter().map(|target| ErrorSums::new(target.scale, target.share)).collect();
        KnownRows { rows: 0, numbers, classes: Default::default(), covered: Covered::default() }
    }

    fn add(&mut self, model: &Model, predicted: &Predicted) -> Result<()> {
        self.rows += predicted.values.nrows();
        self.covered.add(&predicted.covered());
        for (j, (sums, actual)) in self.numbers.iter_mut().zip(&predicted.actual).enumerate() {
            let known = actual.iter().flatten().enumerate().filter(|(_, y)| !y.is_nan());
            known.for_each(|(i, y)| sums.add(predicted.values[(i, j)], *y, 1.0));
        }
        if let (Some(classes), Some(named), Some(p)) =
            (model.classes(), &predicted.named, &predicted.probabilities)
        {
            for (i, name) in named.0.iter().enumerate().filter(|(_, name)| name.is_some()) {
                let name = name.as_deref().unwrap_or_default();
                classes.number(name)?;
                self.classes.0.push(Some(name.to_owned()));
                self.classes.1.extend((0..p.ncols()).map(|k| p[(i, k)]));
            }
        }
        Ok(())
    }

    /// Adds the data that another process sent, with probabilities of K = `classes` classes.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if they are of another number of targets or classes.
    fn merge(&mut self, other: KnownRows, classes: usize) -> nystrom_pipeline::Result<()> {
        let (named, p) = (other.classes.0.len(), other.classes.1.len());
        let targets = self.numbers.len() == other.numbers.len();
        if !targets || named.checked_mul(classes) != Some(p) {
            let problem = format!(
                "the errors that a process sent are of {} targets, and of {p} probabilities for \
                 {named} rows and {classes} classes; run the same version, with the same model, \
                 on every process",
                other.numbers.len()
            );
            return Err(Error::Checkpoint { problem });
        }
        self.rows += other.rows;
        self.covered.add(&other.covered);
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(ours, sums)| ours.merge(sums));
        self.classes.0.extend(other.classes.0);
        self.classes.1.extend(other.classes.1);
        Ok(())
    }

    fn errors(self, model: &Model) -> ModelErrors {
        let Some(classes) = model.classes() else {
            return ModelErrors::Numbers(self.numbers.iter().map(ErrorSums::errors).collect());
        };
        let (named, p) = self.classes;
        let count = classes.names.len();
        let p = Mat::from_fn(named.len(), count, |i, k| p[i * count + k]);
        ModelErrors::Classes(NamedClasses(named).errors(classes, p.as_ref(), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of three classes.
    fn known() -> KnownRows {
        let classes = (vec![Some("a".to_owned()); 2], vec![0.25; 6]);
        KnownRows { rows: 2, numbers: Vec::new(), classes, covered: Covered::default() }
    }

    /// What another process sends is checked: it would panic when the errors are computed.
    #[test]
    fn rows_of_another_process_are_checked() {
        let merged = |later: KnownRows| {
            let mut all = known();
            all.merge(later, 3).map(|()| all.classes.1.len())
        };
        assert_eq!(merged(known()).unwrap(), 12);
        let few = KnownRows { classes: (known().classes.0, vec![0.5; 4]), ..known() };
        let wide = KnownRows { numbers: vec![ErrorSums::new(1.0, None)], ..known() };
        for later in [few, wide] {
            let error = merged(later).unwrap_err();
            assert!(matches!(error, Error::Checkpoint { .. }), "{error}");
        }
    }
}
