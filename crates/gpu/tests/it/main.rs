//! Tests on the adapter that `NYSTROM_GPU` names, or on Mesa's software adapter.

mod errors;
mod fits;
mod precision;
#[cfg(feature = "program")]
mod program;
mod shapes;
mod support;
