//! The integration tests: one program, so that the libraries are linked, and their generic code compiled, once for all of them.

mod contract;
mod errors;
mod high_precision;
mod k_means;
mod saved;
mod spectral;
mod tiles;
