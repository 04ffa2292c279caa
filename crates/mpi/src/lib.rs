//! Fits of `nystrom` by the processes of an MPI job, which share the reading of the files.
//!
//! [`World`] implements [`Ranks`], the interface between a fit and a job. The rows are divided
//! among the leaves of a binary tree that does not depend on the number of processes. Each leaf has
//! sums over its rows, ΦᵀΦ and Φᵀy, which are merged up the tree; the result is therefore that of
//! one process bit for bit. [`run`] starts the job, and ends all its processes if one fails.
//!
//! The program `nystrom-mpi` is
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     nystrom_mpi::run(|world| nystrom_cli::main_over(world))
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
