//! Tests of the drawings and pages.

#[path = "../../../data/tests/it/damage.rs"]
mod damage;
#[path = "../../../data/tests/it/damage_json.rs"]
mod damage_json;

mod drawing;
mod fit;
mod fuzz;
mod markup;
