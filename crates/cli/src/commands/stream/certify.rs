//! `nystrom fit --certify` block by block: three more passes.

use super::input::StreamInput;
use super::job::Job;
use crate::args::{Certify, Fit};
use crate::failure::{Failure, Result, of_pipeline};
use crate::text;
use nystrom::krr::CertificateReport;
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom_pipeline::{Model, Recipe};

/// The stream of the seed that rows are drawn by.
const STREAM: u64 = 1;

/// The rows to draw, if a certificate is asked for.
pub fn asked(args: &Fit) -> Result<Option<usize>> {
    let text = match args.certify {
        None => return Ok(None),
        Some(Certify::Passes(_)) => {
            "--certify=passes:N takes K for all pairs of rows, and is for tables in memory; write \
             --certify=ROWS"
        }
        Some(Certify::Rows(_)) if args.stream.all_rows => {
            "--certify says how far landmarks are from exact regression, and --all-rows is that; \
             leave one of them out"
        }
        Some(Certify::Rows(rows)) => return Ok(Some(rows.get())),
    };
    Err(Failure::Usage(text.into()).into())
}

/// The error for more rows than the memory allowed holds.
pub fn refuse(rows: u64, memory: u64) -> anyhow::Error {
    let text = format!(
        "--certify={rows} holds that many rows, and kernel values at each, beside the rest; that is \
         above the {} allowed: draw fewer, or allow more --memory",
        text::bytes(memory)
    );
    Failure::Memory(text).into()
}

impl Job<'_> {
    /// The certificate of a model that process 0 has, on every process.
    pub fn certify(
        &self,
        model: Option<&Model>,
        recipe: &Recipe,
        input: &mut StreamInput,
    ) -> Result<Option<CertificateReport>> {
        let Some(rows) = asked(self.args)? else { return Ok(None) };
        let ranks = self.ranks;
        let all = input.files.rows();
        let mut source = input.watched("certifying", all, (self.session, ranks));
        let rng = &mut Streams::from_key(self.args.run.seed).stream(STREAM);
        let certificate = Certificate { rows, ..Certificate::default() };
        let report = recipe.certify_over((ranks, &mut source), model, certificate, rng);
        Ok(Some(report.map_err(of_pipeline)?))
    }
}
