//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;

mod approximations;
mod diagnostics;
mod dictionary;
mod distributed_greedy;
mod embedding;
mod hostile;
mod hostile_table;
mod kernel_k_means;
mod measures;
mod nystrom;
mod quotas;
mod rp_cholesky;
mod rp_cholesky_ends;
mod select;
mod selectors;
mod sketches;
mod two_sample;
