//! The tests of this crate, one program.

mod classes;
mod file;
mod fit;
mod hostile;
mod intervals;
mod split;
