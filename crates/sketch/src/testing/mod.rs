//! Tests of the contracts of this crate's traits, for any implementation (feature `testing`).

mod selector;
mod sketch;

pub use selector::{Promise, check_selector};
pub use sketch::check_sketch;
