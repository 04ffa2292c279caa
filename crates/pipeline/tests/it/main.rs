//! The tests of this crate, one program.

mod classes;
mod columns;
mod columns_read;
mod deviations;

mod explain;
mod file;
mod fit;
mod hold_out;
mod hostile;
mod intervals;
mod ranks;
mod ranks_all;
mod ranks_certify;
mod ranks_span;
mod repeats;
mod scores;
mod split;
mod stream;
mod stream_classes;
mod stream_levels;
