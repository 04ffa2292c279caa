//! The compiled half of the Python package `nystrom`. Its functions take and return NumPy arrays.
//!
//! The functions call the library with the GIL released. Errors of the library become `ValueError`
//! with the same message. Ctrl-C interrupts a computation before its next block of kernel values.
//! The estimators are Python classes that use these functions (`python/nystrom/`).
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod array;
mod bits;
mod bytes;
mod callback;
mod dpp;
mod embedding;
mod error;
mod features;
mod fitted;
mod gpu;
mod kernel;
mod leverage;
mod model;
mod nystroem;
mod passes;
mod pool;
mod regression;
mod report;
mod rows;
mod run;
mod state;
mod stream;
mod table;
mod two_sample;
mod watched;

use pyo3::prelude::*;

/// The allocator of Rust's memory. NumPy allocates its arrays itself.
#[global_allocator]
static ALLOCATOR: nystrom::linalg_core::LargePages = nystrom::linalg_core::LargePages;

/// The functions and classes for the Python half. `_native.pyi` has their signatures.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::bits::pack_bits;
    #[pymodule_export]
    use crate::dpp::{KDppSampler, RejectionSampler, k_dpp, log_det, subsets};
    #[pymodule_export]
    use crate::embedding::{kernel_k_means, kernel_pca, spectral_embedding};
    #[pymodule_export]
    use crate::error::in_python;
    #[pymodule_export]
    use crate::features::{Features, fit_features};
    #[pymodule_export]
    use crate::fitted::{certificate, predict};
    #[pymodule_export]
    use crate::gpu::exact_on_gpu;
    #[pymodule_export]
    use crate::kernel::{kernel_block, kernel_diagonal};
    #[pymodule_export]
    use crate::leverage::{audit, landmarks, leverage_scores, rp_cholesky};
    #[pymodule_export]
    use crate::model::{Model, fit_table, work_in};
    #[pymodule_export]
    use crate::nystroem::{nystroem_factor, nystroem_features};
    #[pymodule_export]
    use crate::passes::{falkon_passes, merge_row_sums, row_sums};
    #[pymodule_export]
    use crate::pool::threads;
    #[pymodule_export]
    use crate::regression::{exact, falkon, nystrom_path};
    #[pymodule_export]
    use crate::report::Report;
    #[pymodule_export]
    use crate::state::{accumulate, merge, solve};
    #[pymodule_export]
    use crate::stream::{squeak, squeak_merge, squeak_scores};
    #[pymodule_export]
    use crate::two_sample::two_sample;

    /// The instruction set in use, which determines how sums are rounded.
    #[pyo3::pyfunction]
    fn instruction_set() -> &'static str {
        nystrom::linalg_core::instruction_set()
    }

    /// Half of the memory that this process can still get, in bytes; None if the system does not
    /// tell.
    #[pyo3::pyfunction]
    fn half_of_free_memory() -> Option<u64> {
        nystrom_pipeline::half_of_free_memory()
    }
}
