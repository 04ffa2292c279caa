//! The integration tests: one program, so that the libraries are linked, and their generic code
//! compiled, once for all of them.

mod common;

mod audit_scores;
mod bless_ends;
mod bless_path;
mod conformance;
mod exact;
mod fast;
mod guarantees;
mod hostile;
#[path = "../../../sketch/tests/it/hostile_table.rs"]
mod hostile_table;
mod projector;
mod recursive_sampling;
mod selectors;
mod spectral_leverage;
mod spectral_local_score;
mod spectral_point_density;
mod spectral_rate;
mod spectral_real_data;
mod spectral_scores;
mod squeak_costs;
mod squeak_ink;
#[cfg(feature = "serde")]
mod squeak_saved;
mod squeak_statistics;
mod squeak_stream;
mod squeak_tree;
