//! The program `nystrom-gpu`: `nystrom` with graphics cards.

use crate::args::{Cli, Command};
use crate::card::OpenCard;
use crate::commands;
use crate::failure::{Result, usage};
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

/// The description of the program in its help.
const ABOUT: &str = "\
All commands of `nystrom`. With --gpu, `fit` and `predict` compute products with the kernel matrix
on a graphics card; `nystrom-gpu devices` lists the cards.

  nystrom-gpu fit houses.csv --target price --all-rows --lambda 1e-6 --gpu -o houses.model";

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
    args.card = Some(card.map_err(usage)?);
    Ok(())
}
