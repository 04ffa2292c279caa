//! Kernel ridge regression by conjugate gradients.
//!
//! * [`Falkon`], [`Krill`]: f restricted to M centres, O(nM) per iteration and O(M²) memory, with
//!   two preconditioners.
//! * [`FullKrr`]: f over the whole space, O(n²) per iteration and O(nk) memory; `full_system.rs`
//!   is its equations and preconditioner, `full_sizes.rs` its memory.
//! * [`AutoKrr`]: the direct method or one of these, by a [`Plan`].
//!
//! `restricted.rs` puts a restricted fit together from the parts: `tiles.rs` (K_nM),
//! `system.rs` (the equations), `run.rs` (the loop), `memory.rs` (the plan). `passes.rs` and
//! `full_passes.rs` are the same over rows that are read again for every iteration, as `again.rs`
//! says.

mod again;
mod auto;
mod compared;
mod falkon;
mod full;
mod full_passes;
mod full_path;
pub(crate) mod full_sizes;
pub(crate) mod full_system;
mod krill;
mod memory;
mod options;
mod passes;
mod plan;
mod report;
mod restricted;
mod run;
mod system;
#[cfg(test)]
mod tests;
mod tiles;

pub use again::RowPasses;
pub(crate) use again::same_rows;
pub use auto::{AutoKrr, PlannedFit};
pub use falkon::Falkon;
pub use full::FullKrr;
pub use full_path::{FullPath, FullPathFit};
pub use krill::Krill;
pub use memory::MemoryPlan;
pub use options::{Extras, Iteration, IterativeOptions, Monitor, Verdict};
pub use plan::{Estimate, Method, Plan, ProblemSize};
pub use report::{IterationReport, IterativeFit, Stop};
