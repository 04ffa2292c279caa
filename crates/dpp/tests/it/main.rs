//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;

mod chain;
mod concentration;
mod diagnostics;
mod down_up;
mod drift;
mod exact;
mod hostile;
#[path = "../../../sketch/tests/it/hostile_table.rs"]
mod hostile_table;
mod indefinite;
mod log_det;
mod once;
mod rejection;
mod subsets;
mod truncation;
