//! The integration tests: one program, so that the libraries are linked, and their generic code compiled, once for all of them.

mod factorisations;
mod random;
mod symmetric;
mod threads;
