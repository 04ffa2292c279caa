//! The option `--gpu`: where it is refused, and what it adds to a command.

use crate::args::{Command, FitArgs, GpuArgs};
use crate::failure::{Result, usage};
use crate::session::Session;
use crate::text::{self, number};
use nystrom_pipeline::SharedDevice;

/// The passes over the kernel matrix that a plan expects of a fit.
const PASSES: f64 = 25.0;

/// Refuses --gpu where it would have no effect: in a program without cards, and for fits to sparse
/// rows or whose centres are landmarks.
pub fn check(command: &Command) -> Result<()> {
    let (args, fit) = match command {
        Command::Fit(args) => (&args.gpu, Some(args)),
        Command::Predict(args) => (&args.gpu, None),
        _ => return Ok(()),
    };
    if args.gpu.is_none() {
        return Ok(());
    }
    if args.card.is_none() {
        return Err(usage(
            "this program computes on the CPU only; run `nystrom-gpu` with the same arguments, or \
             leave out --gpu",
        ));
    }
    if fit.is_some_and(|args| args.rows.sparse) {
        return Err(usage("a card takes no sparse rows; leave out --gpu, or --sparse"));
    }
    let by_landmarks = |args: &FitArgs| args.is_manual() && !args.stream.all_rows;
    if fit.is_some_and(|args| by_landmarks(args)) {
        return Err(usage(
            "--gpu fits all rows as centres, and these options ask for landmarks; add --all-rows \
             and a number for --lambda, leave these options to the search, or leave out --gpu",
        ));
    }
    Ok(())
}

impl GpuArgs {
    /// The card, for the library.
    pub fn device(&self) -> Option<SharedDevice> {
        self.card.as_ref().map(|card| SharedDevice::new(card.clone()))
    }

    /// What the plan says of the card: its name, memory and speed, and the time of a fit of n rows
    /// with d features and this many right-hand sides at a time.
    pub fn plan(
        &self,
        n: f64,
        d: usize,
        sides: usize,
    ) -> Result<Option<(String, serde_json::Value)>> {
        let Some(card) = &self.card else { return Ok(None) };
        let rate = card.values_per_second(d, sides).map_err(usage)?;
        let (bytes, pass) = (card.bytes(n as usize, d, sides), n * n / rate);
        let text = format!(
            "{}: {} of its memory; {} kernel values a second, {} for a pass over all pairs of \
             rows, {} for {PASSES} passes",
            card.name(),
            text::bytes(bytes),
            number(text::rounded(rate, 2)),
            text::duration(pass),
            text::duration(PASSES * pass)
        );
        let of_card = serde_json::json!({
            "name": card.name(), "bytes": bytes, "values_per_second": rate, "seconds_of_pass": pass
        });
        Ok(Some((text, of_card)))
    }

    /// Warns if the card failed, so that the CPU predicted.
    pub fn warn_if_failed(&self, session: &Session<'_>) {
        if let Some(problem) = self.card.as_ref().and_then(|card| card.failure()) {
            session.warn(&format!("warning: {problem}. The CPU predicted instead"));
        }
    }
}
