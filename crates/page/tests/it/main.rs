//! Tests of what the crate draws and writes.

#[path = "../../../data/tests/it/damage.rs"]
mod damage;
#[path = "../../../data/tests/it/damage_json.rs"]
mod damage_json;

mod drawing;
mod fit;
mod fuzz;
mod markup;
