//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;

mod approximations;
mod diagnostics;
mod dictionary;
mod hostile;
mod hostile_table;
mod measures;
mod nystrom;
mod rp_cholesky;
mod rp_cholesky_ends;
mod select;
mod selectors;
mod sketches;
mod two_sample;
