//! `nystrom completions` and `nystrom manual`, for whoever installs the program.

use crate::args::{Cli, Completions, Manual};
use crate::failure::Result;
use crate::output::failed;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io;
use std::path::Path;

/// The version without the instruction set, so that every machine writes the same pages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn completions(args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nystrom", &mut script);
    crate::output::print(script)
}

pub fn manual(args: &Manual) -> Result<()> {
    // `nystrom help` needs no page of its own
    let mut program = Cli::command().version(VERSION).disable_help_subcommand(true);
    program.build(); // names the page of a subcommand, such as `nystrom-fit`
    for command in program.get_subcommands().chain([&program]) {
        let page = Man::new(command.clone()).source(format!("nystrom {VERSION}"));
        write(&page, &args.folder).map_err(failed(&args.folder))?;
    }
    Ok(())
}

/// Writes a page whose words are neither hyphenated nor spaced out, so that options and commands
/// can be searched for and copied.
fn write(page: &Man, folder: &Path) -> io::Result<()> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8_lossy(&text).replacen("\n.SH", "\n.nh\n.ad l\n.SH", 1);
    std::fs::write(folder.join(page.get_filename()), text)
}
