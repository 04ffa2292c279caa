//! Kernel ridge regression by conjugate gradients.
//!
//! * [`Falkon`], [`Krill`]: f restricted to m centres, O(nm) flops per iteration and O(m²) memory,
//!   with different preconditioners.
//! * [`FullKrr`]: f over the whole space, O(n²) per iteration and O(nk) memory; `full_system.rs`
//!   is its equations and preconditioner, `full_memory.rs` its memory: how much of K is kept.
//! * [`AutoKrr`]: the direct method or one of these, by a [`Plan`].
//!
//! `restricted.rs` assembles a restricted fit from `system.rs` (the equations), `preconditioner.rs`
//! and `run.rs` (the loop). `in_memory.rs` calls it for rows in memory, with products by
//! `tiles.rs`, or by a device (`device_rows.rs`); `restricted_passes.rs` for rows that are read
//! again in every iteration. `full.rs` and `full_passes.rs` do the same on all the data.
//! `memory_plan.rs` counts the bytes of a restricted fit before it begins;
//! `direct_or_iterative.rs` compares costs for [`AutoKrr`].

mod auto;
mod device_rows;
mod direct_or_iterative;
mod falkon;
mod full;
pub(crate) mod full_memory;
mod full_passes;
mod full_path;
pub(crate) mod full_system;
mod in_memory;
mod krill;
mod memory_plan;
mod options;
mod preconditioner;
mod report;
mod restricted;
mod restricted_passes;
mod row_passes;
mod run;
mod system;
#[cfg(test)]
mod tests;
mod tiles;
mod validation;

pub use auto::{AutoKrr, PlannedFit};
pub use direct_or_iterative::{Estimate, Method, Plan, ProblemSize};
pub use falkon::Falkon;
pub use full::FullKrr;
pub use full_path::{FullPath, FullPathFit};
pub use krill::Krill;
pub use memory_plan::MemoryPlan;
pub use options::{Extras, Iteration, IterativeOptions, Monitor, Verdict};
pub use report::{IterationReport, IterativeFit};
pub use row_passes::RowPasses;
pub(crate) use row_passes::same_rows;
