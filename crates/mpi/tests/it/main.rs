//! Tests with jobs of one to four processes, started by `mpirun`. They are one program, as in the
//! other crates.

mod faults;
mod fit;
mod scores;
mod support;
