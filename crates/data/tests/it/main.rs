//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;
mod damage;
mod damage_json;

mod arff;
mod catalog;
#[cfg(feature = "embedded")]
mod embedded;
mod found;
mod fuzz;
mod fuzz_saved;
mod malformed_csv;
mod malformed_other;
mod properties;
mod real_data;
mod stream;
mod stream_bad;
mod tables;
