//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod adaptors;
mod factorisations;
mod gram_sums;
mod hostile;
mod random;
mod solve;
mod symmetric;
mod threads;
