//! The program `nystrom`, for tests that compare with it.

fn main() -> std::process::ExitCode {
    nystrom_cli::main()
}
