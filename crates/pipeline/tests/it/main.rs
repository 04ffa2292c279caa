//! The tests of this crate, one program.

#[path = "../../../data/tests/it/damage.rs"]
mod damage;
#[path = "../../../data/tests/it/damage_json.rs"]
mod damage_json;
#[path = "../../../data/tests/it/damage_words.rs"]
mod damage_words;

mod bits;
mod classes;
mod columns;
mod columns_read;
mod counts;
mod deviations;
mod device;
mod elapsed;
mod explain;
mod file;
mod fit;
mod fuzz;
mod fuzz_stream;
mod hold_out;
mod hostile;
mod intervals;
mod levels;
mod losses;
mod ranks;
mod ranks_all;
mod ranks_certify;
mod ranks_span;
mod repeats;
mod scores;
mod sparse;
mod split;
mod stream;
mod stream_bits;
mod stream_classes;
mod stream_damaged;
mod stream_levels;
mod target_scale;
