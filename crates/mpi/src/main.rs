//! The program `nystrom-mpi`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: nystrom_cli::LargePages = nystrom_cli::LargePages;

fn main() -> ExitCode {
    nystrom_mpi::run(|world| nystrom_cli::main_on_ranks(world))
}
