//! `--hold-out`.

use crate::failure::{Failure, Result, of_pipeline};
use nystrom::prelude::*;
use nystrom_pipeline::Fold;

/// The rows held out, as validation, and the others; both keep the order of the file.
pub fn hold_out(n: usize, share: f64, rng: &mut dyn Rng) -> Result<Fold> {
    Fold::at_random(n, share, rng).map_err(of_pipeline)?.ok_or_else(|| {
        let text = format!(
            "--hold-out {share} of {n} rows leaves no row on one side; take a share such as 0.2"
        );
        Failure::Usage(text).into()
    })
}
