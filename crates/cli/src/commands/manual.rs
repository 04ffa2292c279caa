//! `nystrom manual`.

use crate::args::{Cli, Manual};
use crate::failure::Result;
use crate::output::failed;
use clap::CommandFactory;
use clap_mangen::Man;

/// The version without the instruction set, so that every machine writes the same pages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn run(args: &Manual) -> Result<()> {
    // `nystrom help` needs no page of its own
    let mut program = Cli::command().version(VERSION).disable_help_subcommand(true);
    program.build(); // names the page of a subcommand, such as `nystrom-fit`
    for command in program.get_subcommands().chain([&program]) {
        let page = Man::new(command.clone()).source(format!("nystrom {VERSION}"));
        page.generate_to(&args.folder).map_err(failed(&args.folder))?;
    }
    Ok(())
}
