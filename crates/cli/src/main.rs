//! The program `nystrom`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: nystrom_cli::LargePages = nystrom_cli::LargePages;

fn main() -> ExitCode {
    nystrom_cli::main()
}
