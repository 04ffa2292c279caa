//! `nystrom fit --certify` block by block, in three more passes over the rows.

use super::block_fit::BlockFit;
use super::input::StreamInput;
use crate::args::{Certify, FitArgs};
use crate::failure::{Failure, Result, usage};
use crate::text;
use nystrom::krr::CertificateReport;
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe};

/// The number of the random stream that draws the rows.
const STREAM: u64 = 1;

/// The number of rows to draw, with `--certify=ROWS`; an error for a certificate that needs the
/// table in memory.
pub fn rows_to_draw(args: &FitArgs) -> Result<Option<usize>> {
    let text = match args.certify {
        None => return Ok(None),
        Some(Certify::Passes(_)) => {
            "--certify=passes:N evaluates all pairs of rows and needs the table in memory; write \
             --certify=ROWS"
        }
        Some(Certify::Rows(_)) if args.stream.all_rows => {
            "--certify bounds the distance of a fit with landmarks to exact regression, and a fit \
             with --all-rows is exact; leave one of them out"
        }
        Some(Certify::Rows(rows)) => return Ok(Some(rows.get())),
    };
    Err(usage(text))
}

/// The error for a certificate from more rows than the memory allowed holds.
pub fn refuse(rows: u64, memory: u64) -> anyhow::Error {
    let text = format!(
        "--certify={rows} holds that many rows and their kernel values, which is more than the {} \
         allowed; write a smaller number, or allow more --memory",
        text::bytes(memory)
    );
    Failure::Memory(text).into()
}

impl BlockFit<'_> {
    /// The certificate, on every process, of a model that process 0 has.
    pub fn certify(
        &self,
        model: Option<&Model>,
        recipe: &Recipe,
        input: &mut StreamInput,
    ) -> Result<Option<CertificateReport>> {
        let Some(rows) = rows_to_draw(self.args)? else { return Ok(None) };
        let mut source = input.later_pass("certifying", self.session);
        let rng = &mut Streams::from_key(self.args.run.seed).stream(STREAM);
        let certificate = Certificate { rows, ..Certificate::default() };
        let ranks = self.session.ranks;
        Ok(Some(recipe.certify_over((ranks, &mut source), model, certificate, rng)?))
    }
}
