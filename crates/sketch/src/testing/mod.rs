//! The contracts of the traits as tests for any implementation (feature `testing`).

mod sketch;

pub use sketch::check_sketch;
