//! The start of a job, and its end if a process fails.

use crate::alike::differs;
use crate::world::World;
use mpi::Threading;
use nystrom_pipeline::Ranks;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

/// The exit status of a Rust program that panicked.
const PANIC: u8 = 101;
/// The environment variable by which tests set the name of this process's vector instructions.
const INSTRUCTIONS: &str = "NYSTROM_MPI_INSTRUCTIONS";
/// The environment variable by which tests set the largest piece of a message, in bytes.
const LIMIT: &str = "NYSTROM_MPI_MESSAGE";

/// Runs `main` on every process of a job started by `mpirun` or a similar launcher. Without a
/// launcher, the job has one process. Call it once.
///
/// `Ok(status)` from `main` is the exit status of this process. `Err(status)` ends all processes of
/// the job at once with this status, and a panic ends them with status 101. No process therefore
/// waits for one that has failed.
///
/// The exit code is a failure if MPI was already initialised, or if the processes use different
/// vector instructions.
pub fn run(main: impl FnOnce(&World) -> Result<u8, u8>) -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        tell("error: MPI is already initialised; call nystrom_mpi::run once");
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
    // a panic in a thread reaches this one when the thread is joined
    match std::panic::catch_unwind(AssertUnwindSafe(|| main(&world))) {
        Ok(Ok(status)) => ExitCode::from(status),
        Ok(Err(status)) => world.abort(status),
        Err(_) => world.abort(PANIC),
    }
}

/// Adds the rank of the process to the messages of panics.
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
