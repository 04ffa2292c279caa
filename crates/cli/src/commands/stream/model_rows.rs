//! The columns of a model in tables that are read block by block.

use super::agree::agree;
use super::input::Head;
use super::share::part;
use crate::args::DataArgs;
use crate::commands::arrange::{arrange, libsvm_features};
use crate::failure::Result;
use crate::mixed::Wanted;
use crate::session::Session;
use nystrom_data::{Column, Files, Table};
use nystrom_pipeline::{Model, Ranks};

/// Files in which a model finds its columns.
pub struct ModelRows {
    files: Files,
    /// Where each feature of the model is, and each target that is there.
    features: Vec<usize>,
    targets: Vec<Option<usize>>,
    names: Vec<String>,
    target_names: Vec<String>,
}

impl ModelRows {
    /// On process 0 the session tells notes.
    pub fn open(
        model: &Model,
        args: &DataArgs,
        session: &Session,
        ranks: &dyn Ranks,
    ) -> Result<ModelRows> {
        let mut rows = agree(ranks, ModelRows::of_all(model, args, session))?;
        if ranks.size() > 1 {
            rows.files = part(&rows.files, ranks)?.0;
        }
        rows.files.start(0)?;
        Ok(rows)
    }

    fn of_all(model: &Model, args: &DataArgs, session: &Session) -> Result<ModelRows> {
        let count = libsvm_features(model.layout());
        let head = Head::of(args, count)?;
        let (features, targets) = arrange(&head.input, model)?;
        let names: Vec<String> = model.columns().names().map(str::to_owned).collect();
        let of_text = model.classes().is_some_and(|classes| !classes.numbers);
        let text = targets.first().copied().flatten().filter(|_| of_text);
        let is_text = |name: &str| model.columns().is_text(name);
        let of = |wanted: bool| -> Vec<usize> {
            let columns = names.iter().zip(&features).filter(|(name, _)| is_text(name) == wanted);
            columns.map(|(_, &column)| column).collect()
        };
        let numbers = targets.iter().flatten().copied().filter(|target| Some(*target) != text);
        let wanted = Wanted {
            columns: features.iter().copied().chain(targets.iter().flatten().copied()).collect(),
            numbers: of(false).into_iter().chain(numbers).collect(),
            texts: of(true).into_iter().chain(text).collect(),
            instead: "the model was fitted to them, so correct the file",
            fills: model.columns().fills(),
        };
        let (files, notes) = head.open(&wanted, count)?;
        for note in notes {
            session.say(&format!("note: {note}"));
        }
        let target_names = model.target_names().into_iter().map(str::to_owned).collect();
        Ok(ModelRows { files, features, targets, names, target_names })
    }

    /// The next rows, with the columns under the names that the model knows, and how many bytes
    /// are behind.
    pub fn next(&mut self) -> Result<Option<(Table, u64)>> {
        let Some(block) = self.files.next_block()? else { return Ok(None) };
        let at = |(name, &place): (&String, &usize)| Column {
            name: name.clone(),
            values: block.columns()[place].values.clone(),
        };
        let targets = self.target_names.iter().zip(&self.targets);
        let targets = targets.filter_map(|(name, place)| Some((name, place.as_ref()?)));
        let columns = self.names.iter().zip(&self.features).chain(targets).map(at).collect();
        Ok(Some((Table::new(block.source(), columns)?, self.files.bytes_read())))
    }

    /// Which targets the files hold, by name.
    pub fn known(&self) -> Vec<&str> {
        let known =
            self.target_names.iter().zip(&self.targets).filter(|(_, place)| place.is_some());
        known.map(|(name, _)| name.as_str()).collect()
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(self.files.bytes()?)
    }
}
