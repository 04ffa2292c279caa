//! The options of the commands for whoever installs the program.

use clap::Args;
use std::path::PathBuf;

const COMPLETIONS: &str = "\
Examples:
  nystrom completions bash > ~/.local/share/bash-completion/completions/nystrom
  nystrom completions fish > ~/.config/fish/completions/nystrom.fish";

/// Print a completion script
#[derive(Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

const MANUAL: &str = "\
Examples:
  mkdir -p ~/.local/share/man/man1
  nystrom manual ~/.local/share/man/man1
  man nystrom-fit

The folder gets nystrom.1 and a page for each command, such as nystrom-fit.1, with the text of \
--help. Pages that are there are replaced.";

/// Write the manual pages
#[derive(Args)]
#[command(after_help = MANUAL)]
pub struct Manual {
    /// Folder for the pages, which must exist
    pub folder: PathBuf,
}
