//! Graphics cards: what the program `nystrom-gpu` adds to `nystrom`.
//!
//! This crate knows no card. `crates/gpu` opens one and passes it here, so that no other program
//! has to be built with the libraries for cards.

use crate::args::{Cli, Command, FitArgs, GpuArgs};
use crate::commands;
use crate::failure::{Result, usage};
use crate::session::Session;
use crate::text::{self, number};
use clap::{CommandFactory, FromArgMatches};
use nystrom::krr::Device;
use nystrom_pipeline::{AnyKernel, SharedDevice};
use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

/// The passes over the kernel matrix that a plan expects of a fit.
const PASSES: f64 = 25.0;

/// The description of the program in its help.
const ABOUT: &str = "\
All commands of `nystrom`. With --gpu, `fit` and `predict` compute products with the kernel matrix
on a graphics card; `nystrom-gpu devices` lists the cards.

  nystrom-gpu fit houses.csv --target price --all-rows --lambda 1e-6 --gpu -o houses.model";

/// A graphics card that is open, for the commands of this program.
pub trait Card: Device<AnyKernel, f64> + Send {
    /// Its name, with what its driver says about it.
    fn name(&self) -> String;

    /// Bytes of its memory that products with K of n points in d dimensions take.
    fn bytes(&self, n: usize, d: usize) -> u64;

    /// Kernel values a second for points in d dimensions, by products that take some 0.2 s.
    ///
    /// # Errors
    /// The message of a card that fails.
    fn values_per_second(&self, d: usize) -> std::result::Result<f64, String>;

    /// What happened to it, if it is lost.
    fn lost(&self) -> Option<String>;
}

/// Opens the card whose name contains a text, or the best one.
///
/// # Errors
/// A message with the cards found and the remedy.
pub type OpenCard<'a> = &'a dyn Fn(Option<&str>) -> std::result::Result<Arc<dyn Card>, String>;

/// A card that commands share.
#[derive(Clone)]
pub struct SharedCard(pub Arc<dyn Card>);

impl fmt::Debug for SharedCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedCard({:?})", self.0.name())
    }
}

/// The program `nystrom-gpu`: runs the command of the command line, with the card that `--gpu`
/// names, and returns the exit status.
pub fn main_with_cards(open: OpenCard<'_>) -> ExitCode {
    let name = "nystrom-gpu";
    let command = Cli::command().name(name).bin_name(name).about(ABOUT).after_help(None::<&str>);
    let parsed = command.try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let mut cli = match parsed {
        Ok(cli) => cli,
        Err(error) => error.exit(), // with status 2 if the command line is wrong
    };
    crate::ended(open_for(&mut cli.command, open).and_then(|()| commands::run(&cli.command)))
}

/// Opens the card that a command asks for.
fn open_for(command: &mut Command, open: OpenCard<'_>) -> Result<()> {
    let args = match command {
        Command::Fit(args) => &mut args.gpu,
        Command::Predict(args) => &mut args.gpu,
        _ => return Ok(()),
    };
    let Some(name) = &args.gpu else { return Ok(()) };
    let card = open(Some(&**name).filter(|name| !name.is_empty()));
    args.card = Some(SharedCard(card.map_err(usage)?));
    Ok(())
}

/// Refuses --gpu where it would have no effect: in a program without cards, and for fits whose
/// centres are landmarks.
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
        self.card.as_ref().map(|card| SharedDevice::new(Arc::clone(&card.0)))
    }

    /// What the plan says of the card: its name, memory and speed, and the time of a fit of n rows
    /// with d features.
    pub fn plan(&self, n: f64, d: usize) -> Result<Option<(String, serde_json::Value)>> {
        let Some(SharedCard(card)) = &self.card else { return Ok(None) };
        let rate = card.values_per_second(d).map_err(usage)?;
        let (bytes, pass) = (card.bytes(n as usize, d), n * n / rate);
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

    /// Warns if the card was lost.
    pub fn warn_if_lost(&self, session: &Session<'_>) {
        if let Some(problem) = self.card.as_ref().and_then(|card| card.0.lost()) {
            session.warn(&format!(
                "warning: the graphics card was lost ({problem}); the CPU computed the rest"
            ));
        }
    }
}
