//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;
#[path = "../../../data/tests/it/damage.rs"]
mod damage;
#[path = "../../../data/tests/it/damage_words.rs"]
mod damage_words;

mod bad_input;
mod certificate;
mod certificate_passes;
mod cross_validation;
mod device;
mod dictionary;
mod divide_and_conquer;
mod exact;
mod falkon;
mod falkon_sketch;
mod falkon_stops;
mod folded;
mod full;
mod full_passes;
mod fuzz;
mod gradient;
mod hostile;
mod lambda_path;
mod lambda_path_ends;
mod lambda_path_single;
mod logistic;
mod losses;
mod metric;
mod nystrom;
mod plan;
mod posterior;
mod refined;
#[cfg(feature = "serde")]
mod resume;
mod risk;
#[cfg(feature = "serde")]
mod saved;
mod sketched;
mod sketched_contract;
mod sketched_theory;
mod small_lambda;
mod source;
mod sparse;
mod state;
mod state_onto;
mod state_sketched;
mod threads;
mod tight_certificate;
