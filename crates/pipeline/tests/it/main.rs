//! The tests of this crate, one program.

mod file;
mod fit;
mod hostile;
mod split;
