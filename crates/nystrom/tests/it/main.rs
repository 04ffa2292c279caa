//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

#[path = "../../../data/tests/it/damage.rs"]
mod damage;
#[path = "../../../data/tests/it/damage_json.rs"]
mod damage_json;

mod bits;
mod examples;
mod fuzz;
mod fuzz_plain;
mod theorems;
