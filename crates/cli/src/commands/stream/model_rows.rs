//! Reading the columns of a model block by block.

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

/// Files with the positions of the columns of a model.
pub struct ModelRows {
    files: Files,
    places: Places,
    /// The positions of the columns to copy.
    keep: Vec<usize>,
}

impl ModelRows {
    /// Opens the files, or with several processes the share of this process.
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

    /// The next block: the columns of the model under its names, the columns to copy, and the
    /// number of bytes read so far.
    pub fn next(&mut self, model: &Model) -> Result<Option<(Table, Kept, u64)>> {
        let Some(block) = self.files.next_block()? else { return Ok(None) };
        let kept = Kept::of(&block, &self.keep);
        Ok(Some((self.places.table(block, model)?, kept, self.files.bytes_read())))
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(self.files.bytes()?)
    }
}
