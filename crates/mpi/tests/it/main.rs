//! Jobs of one to four processes, by `mpirun`. One program, as in the other crates.

mod faults;
mod fit;
mod scores;
mod support;
