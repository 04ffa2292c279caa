//! The compiled half of the Python package `nystrom`: numpy arrays in, numpy arrays out.
//!
//! Everything here is a call of the library. The GIL is released while it works, and errors come
//! back as `ValueError` in the library's own words. Ctrl-C ends the work at the next block of
//! kernel values. Estimators are Python classes over these functions (`python/nystrom/`).
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod array;
mod bytes;
mod callback;
mod dpp;
mod error;
mod features;
mod fitted;
mod kernel;
mod leverage;
mod model;
mod nystroem;
mod passes;
mod pool;
mod regression;
mod report;
mod run;
mod state;
mod stream;
mod table;
mod watched;

use pyo3::prelude::*;

/// Of what Rust holds; arrays are NumPy's.
#[global_allocator]
static ALLOCATOR: nystrom::linalg_core::LargePages = nystrom::linalg_core::LargePages;

/// Functions and classes that the Python half calls; its signatures stand in `_native.pyi`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::dpp::{KDppSampler, RejectionSampler, k_dpp, log_det};
    #[pymodule_export]
    use crate::features::{Features, fit_features};
    #[pymodule_export]
    use crate::fitted::{certificate, predict};
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
    use crate::regression::{exact, falkon, nystrom_path};
    #[pymodule_export]
    use crate::report::Report;
    #[pymodule_export]
    use crate::state::{accumulate, merge, solve};
    #[pymodule_export]
    use crate::stream::{squeak, squeak_merge, squeak_scores};
}
