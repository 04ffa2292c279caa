//! The program, run as a user runs it: small made-up files always, the papers' where `NYSTROM_DATA`
//! says where they are.

mod accumulate;
mod automatic;
mod classes;
mod columns;
mod commands;
mod counts;
mod crash;
mod embed;
mod fingerprints;
mod fit;
mod formats;
mod guides;
mod hostile;
mod intervals;
mod malformed;
mod mending;
mod options;
mod real_data;
mod report;
mod schema;
mod sparse;
mod stream;
mod stream_all;
mod stream_certify;
mod stream_folds;
mod stream_iterate;
mod stream_memory;
mod stream_scores;
mod subsets;
mod summary;
mod support;
mod two_sample;
