//! The columns of a model in tables that are read block by block.

use super::agree::agree;
use super::input::Head;
use super::share::part;
use crate::args::DataArgs;
use crate::commands::arrange::{Places, arrange, libsvm_features};
use crate::failure::Result;
use crate::session::Session;
use nystrom_data::{Column, Files, Table};
use nystrom_pipeline::{Model, Ranks};

/// Files in which a model finds its columns.
pub struct ModelRows {
    files: Files,
    places: Places,
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
        let places = arrange(&head.input, model)?;
        let is_text = |target: &usize| Some(*target) == places.text;
        let targets = places.targets.iter().flatten().copied();
        let numbers: Vec<usize> = targets.filter(|target| !is_text(target)).collect();
        let (files, notes) = head.open(&places.wanted(model, &numbers), count)?;
        session.notes(notes);
        let names = model.columns().names().map(str::to_owned).collect();
        let target_names = model.target_names().into_iter().map(str::to_owned).collect();
        Ok(ModelRows { files, places, names, target_names })
    }

    /// The next rows, with the columns under the names that the model knows, and how many bytes
    /// are behind.
    pub fn next(&mut self) -> Result<Option<(Table, u64)>> {
        let Some(block) = self.files.next_block()? else { return Ok(None) };
        let at = |(name, &place): (&String, &usize)| Column {
            name: name.clone(),
            values: block.columns()[place].values.clone(),
        };
        let Places { features, targets, .. } = &self.places;
        let targets = self.target_names.iter().zip(targets);
        let targets = targets.filter_map(|(name, place)| Some((name, place.as_ref()?)));
        let columns = self.names.iter().zip(features).chain(targets).map(at).collect();
        Ok(Some((Table::new(block.source(), columns)?, self.files.bytes_read())))
    }

    /// Which targets the files hold, by name.
    pub fn known(&self) -> Vec<&str> {
        let targets = self.target_names.iter().zip(&self.places.targets);
        let known = targets.filter(|(_, place)| place.is_some());
        known.map(|(name, _)| name.as_str()).collect()
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(self.files.bytes()?)
    }
}
