//! `nystrom completions`.

use crate::args::{Cli, Completions};
use crate::failure::Result;
use clap::CommandFactory;

pub fn run(args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nystrom", &mut script);
    crate::output::print(script)
}
