//! The columns of a model in tables that are read block by block.

use super::agree::agree;
use super::input::Head;
use super::share::part;
use crate::args::DataArgs;
use crate::commands::arrange::{Places, libsvm, with_class_names};
use crate::commands::predict::Kept;
use crate::failure::Result;
use crate::session::Session;
use nystrom_data::{Files, Table};
use nystrom_pipeline::{Model, Ranks};

/// Files in which a model finds its columns.
pub struct ModelRows {
    files: Files,
    places: Places,
    /// Columns to copy.
    keep: Vec<usize>,
}

impl ModelRows {
    /// On process 0 the session tells notes.
    pub fn open(
        model: &Model,
        (args, keep): (&DataArgs, &[String]),
        session: &Session,
        ranks: &dyn Ranks,
    ) -> Result<ModelRows> {
        let mut rows = agree(ranks, ModelRows::of_all(model, args, keep, session))?;
        if ranks.size() > 1 {
            rows.files = part(&rows.files, ranks)?.0;
        }
        rows.files.start(0)?;
        Ok(rows)
    }

    fn of_all(
        model: &Model,
        args: &DataArgs,
        keep: &[String],
        session: &Session,
    ) -> Result<ModelRows> {
        let args = with_class_names(args, model);
        let head = Head::of(&args, libsvm(model.layout()))?;
        let (places, keep) = (Places::of(&head.input, model)?, head.input.columns(keep)?);
        let files = head.open(&places.texts(model, &keep))?;
        session.notes(files.notes());
        Ok(ModelRows { files, places, keep })
    }

    /// The next rows, with the columns under the names that the model knows, the columns to copy,
    /// and how many bytes are behind.
    pub fn next(&mut self, model: &Model) -> Result<Option<(Table, Kept, u64)>> {
        let Some(block) = self.files.next_block()? else { return Ok(None) };
        let kept = Kept::of(&block, &self.keep);
        Ok(Some((self.places.table(block, model)?, kept, self.files.bytes_read())))
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(self.files.bytes()?)
    }
}
