//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod bits;
mod contract;
mod errors;
mod gradients;
mod high_precision;
mod hostile;
mod hostile_beside;
mod hostile_inputs;
mod k_means;
mod min_max;
mod saved;
mod sparse;
mod spectral;
mod symmetry;
mod tiles;
