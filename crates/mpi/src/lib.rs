//! The processes of an MPI job, for the commands of `nystrom` on files that the processes share.
//!
//! [`World`] sends the messages of a fit ([`Ranks`]). Each leaf of one tree has the sums ΦᵀΦ and
//! Φᵀy over its rows. They are added along that tree, so that the bits are those of one process.
//! [`run`] starts the job, and ends all of it when one process fails.
//!
//! The program `nystrom-mpi` is
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     nystrom_mpi::run(|world| nystrom_cli::main_on_ranks(world))
//! }
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod alike;
mod job;
mod world;

pub use job::run;
pub use world::World;

#[doc(no_inline)]
pub use nystrom_pipeline::Ranks;
