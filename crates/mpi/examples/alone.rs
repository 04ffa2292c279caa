//! The program `nystrom`, with which tests compare `nystrom-mpi`.

fn main() -> std::process::ExitCode {
    nystrom_cli::main()
}
