//! How a job begins, and how it ends when something fails.

use crate::alike::differs;
use crate::world::World;
use mpi::Threading;
use nystrom_pipeline::Ranks;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

/// The status of a program that panicked, as Rust gives it.
const PANIC: u8 = 101;
/// The environment variable with which tests change the instruction set that this process reports.
const INSTRUCTIONS: &str = "NYSTROM_MPI_INSTRUCTIONS";
/// The environment variable with which tests set the most bytes of a piece of a message.
const LIMIT: &str = "NYSTROM_MPI_MESSAGE";

/// Runs `main` on every process of a job that `mpirun` or a similar program started; without such a
/// program there is one process. Call it once.
///
/// `main` returns the exit status of this process. Its error is the status with which the whole job
/// ends at once. A panic also ends the job, with status 101, so that no process waits for one that
/// has ended.
pub fn run(main: impl FnOnce(&World) -> Result<u8, u8>) -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        tell("error: MPI has been started before");
        return ExitCode::FAILURE;
    };
    let world = World::new(universe.world());
    let world = match environment(LIMIT).and_then(|limit| limit.parse().ok()) {
        Some(limit) => world.with_limit(limit),
        None => world,
    };
    name_panics(world.rank());
    let ours = environment(INSTRUCTIONS);
    let ours = ours.as_deref().unwrap_or(nystrom::linalg_core::instruction_set());
    if let Some(text) = differs(&world, ours) {
        if world.rank() == 0 {
            tell(&format!("error: {text}"));
        }
        return ExitCode::FAILURE;
    }
    // a panic of a thread of the pool arrives here, too
    match std::panic::catch_unwind(AssertUnwindSafe(|| main(&world))) {
        Ok(Ok(status)) => ExitCode::from(status),
        Ok(Err(status)) => world.abort(status),
        Err(_) => world.abort(PANIC),
    }
}

/// Adds the rank of the process to the message of every panic.
#[expect(clippy::disallowed_macros, reason = "a program's way to end")]
fn name_panics(rank: usize) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        eprint!("rank {rank}: ");
        hook(info);
    }));
}

#[expect(clippy::disallowed_macros, reason = "a program's way to end")]
fn tell(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
